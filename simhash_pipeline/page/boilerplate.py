"""A page's tree in, its main text out: no menus, no comments, no second article.

Running text weighs its UTF-8 bytes, so that a Chinese character counts three and no language has
to be known. Boxes that call themselves boilerplate go, unless too much of the page's weight is in
them; then the innermost box that still holds most of the weight is the main text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import accumulate, compress, islice
from urllib.parse import urljoin

from lxml.etree import _Element

from simhash_pipeline import native
from simhash_pipeline.page.blocks import Blocks, Box, read
from simhash_pipeline.page.bounds import has_long_host
from simhash_pipeline.page.elements import Elements

# Chosen on labelled pages (articles, forums, listings, documentation; English and Chinese): for the
# same text out of two templates first, for agreement with hand-made main text second.
_LONG_BYTES = 100  # a block this long is running text; a shorter one needs a sentence's punctuation
_SENTENCE_BYTES = 20
_MAX_LINK_SHARE = 0.75  # of a block's characters; above it the block is a menu
_TITLE_WEIGHT = 2  # times the weight where a word of the title occurs
_REPEATED_BYTES = 60  # a block this long seen before on the page is a carousel's or caption's copy
_FORUM_SHARE = 0.4  # of the weight, in boxes that call themselves a forum's
# Of the page's weight: a box with that hint that holds more stays.
_MAX_SHARES = {"comment": 1.0, "consent": 0.8, "footer": 1.0, "furniture": 0.25}
_MIN_BESIDE_COMMENTS = 1_000  # weight left without comments; below it the page is a forum's
_BOX_SHARE = 0.6  # of the weight of the box around it, for a box inside to be the page's text
_HEADED_BOX_SHARE = 0.4  # the same for a box that begins within a tenth of the weight after an h1
_HEADED_WITHIN = 0.1
_MIN_HEADED_BLOCKS = 3  # of running text in such a box: a note under the heading is no article
_MAX_HEADINGS = 5
_LONE_BOX_SHARE = 0.35  # the same for the only article, or the only main, of the page
_MIN_BOXED_WEIGHT = 300  # below it the whole page is taken: what stands outside a box is much of it
_MIN_MAIN_SHARE = 0.25  # of the unlinked text; below it the page is a list
# Of running text. A page with less is an article only if the main text is a fair part of all its
# text: links are a list's content, and beside a long article they say nothing.
_SHORT_ARTICLE_BYTES = 700
_MIN_SHORT_ARTICLE_SHARE = 0.2
_MIN_UNLINKED_SHARE = 0.5  # of the box's text; below it its links are the page
# Below it every short line of the box counts, the h1 and those above the first paragraph too.
_SHORT_TEXT_BYTES = 1_000
_MAX_MENU_SHARES = {"consent": 0.5, "footer": 1.0, "furniture": 0.5}  # of all unlinked text

_SENTENCE = re.compile(r"[.!?。！？…][\"'”’」』）)]*(?:\s|$)|[,，、；。！？：]")
_TITLE_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]{4,}|[\u3040-\u30ff\u3400-\u9fff]{2,}")
_MAX_TITLES = 5  # empty ones to look at; each may hold the next, and all that follows
_MAX_TITLE_CHARS = 200
_MAX_TITLE_WORDS = 24
_SHORT_POST_TAGS = frozenset(
    ["h1", "h2", "h3", "h4", "h5", "h6", "caption", "dd", "dt", "li", "p", "pre", "td", "th"]
)
_SHORT_TEXT_TAGS = _SHORT_POST_TAGS | {"body", "div", "section"}  # a forum's are names and dates
_MAX_TITLE_H1S = 2  # with more of them they head a page's sections
_SECTION_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_LISTS = frozenset(["dl", "ol", "ul"])  # a list is a part of a text, never the box around it
_CELLS = frozenset(["table", "td", "th"])  # columns of a layout: a menu's, the text's
_EQUAL_SHARE = 0.5  # of a box's weight, for what others of its kind hold to be the text's too


# As in _rules.c, whose copies of the numbers above a test holds to these.
_TRAITS = (
    {"h1"},
    _SECTION_HEADINGS,
    {"pre"},
    _SHORT_POST_TAGS,
    _SHORT_TEXT_TAGS,
    _LISTS,
    _CELLS,
    {"article"},
    {"main"},
    {"section"},
)
_HINTS = ("comment", "consent", "footer", "furniture", "forum")


def visible_blocks(elements: Elements) -> Blocks:
    """All blocks of the page's body."""
    body = elements.elements[0].find("body")
    return read(elements, 0 if body is None else elements.elements.index(body))


def main_blocks(page: Blocks, title: str) -> list[int]:
    """The numbers of the blocks that are the main text, rising.

    All but menus when nothing stands out; none only when there are none.
    """
    title_words = _title_words(title)
    if native.kernel is not None:
        _set_up()
        columns = (page.texts, page.tags, page.sizes, page.link_shares, page.boxes, page.hints)
        return native.kernel.main_blocks(*columns, title_words)
    weights = _weights(page, title_words)
    forum = _is_forum(page, weights)
    gone = _boilerplate(page, weights, forum)
    weights = [0 if out else weight for weight, out in zip(weights, gone, strict=True)]
    blocks = [i for i in range(*_densest(page, weights, forum)) if not gone[i]]
    main = _without_links(page, weights, blocks, _SHORT_POST_TAGS if forum else _SHORT_TEXT_TAGS)
    if not _is_enough(page, weights, gone, main):
        main = _without_menus(page)
    return main


@cache
def _set_up() -> None:
    if native.kernel is not None:
        tags = frozenset[str]().union(*_TRAITS)
        traits = {tag: sum(1 << i for i, of in enumerate(_TRAITS) if tag in of) for tag in tags}
        native.kernel.set_rules(traits, {hint: number for number, hint in enumerate(_HINTS)})


def title_of(root: _Element) -> str:
    """The page's title, white space collapsed: its title element, og:title or first h1; else ""."""
    return next(filter(None, (" ".join(text.split()) for text in _titles(root))), "")


def canonical_url(root: _Element, url: str | None) -> str | None:
    """What the link rel="canonical" in the page's head says, made absolute; None without one."""
    for link in root.iterfind("head/link"):
        href = link.get("href", "").strip()
        if href and "canonical" in link.get("rel", "").lower().split():
            bases = (base.get("href", "").strip() for base in root.iterfind("head/base"))
            base = next(filter(None, bases), "")
            if any(map(has_long_host, (url or "", base, href))):
                return None
            try:
                return urljoin(urljoin(url or "", base), href)
            except ValueError:  # it is no URL
                return None
    return None


def _titles(root: _Element) -> Iterator[str]:
    # The common case first: a search of the whole page costs a tenth of the parse.
    yield root.findtext("head/title") or ""
    for element in islice(root.iter("title"), _MAX_TITLES):
        parent = element.getparent()
        if parent is None or parent.tag in ("head", "html", "body"):  # not an image's
            yield "".join(map(str, element.itertext()))
    for element in root.iter("meta"):
        if element.get("property") == "og:title":
            yield element.get("content") or ""
    for element in islice(root.iter("h1"), _MAX_TITLES):
        yield "".join(map(str, element.itertext()))


def _title_words(text: str) -> list[str]:
    """Words of four letters or more; of Han and kana, which have no spaces, each pair."""
    words: dict[str, None] = {}
    for word in _TITLE_WORD.findall(text[:_MAX_TITLE_CHARS]):
        pairs = [word[i : i + 2] for i in range(len(word) - 1)] if word[0] > "\u3000" else [word]
        words.update(dict.fromkeys(pairs))
    return list(words)[:_MAX_TITLE_WORDS]


def _weights(page: Blocks, title_words: list[str]) -> list[int]:
    """Unlinked bytes of running text, more where a word of the title occurs; else 0."""
    weights = []
    for text, size, link_share in zip(page.texts, page.sizes, page.link_shares, strict=True):
        weight = 0
        if link_share <= _MAX_LINK_SHARE and (
            size >= _LONG_BYTES or (size >= _SENTENCE_BYTES and _SENTENCE.search(text))
        ):
            weight = int(size * (1 - link_share))
            for word in title_words:
                if word in text:
                    weight *= _TITLE_WEIGHT
                    break
        weights.append(weight)
    return weights


def _is_forum(page: Blocks, weights: list[int]) -> bool:
    """Whether posts are the page's text: boxes call themselves a forum's, or all is comments."""
    weight = sum(weights)
    comments = _weight_within(page, weights, "comment")
    if comments and weight - comments < _MIN_BESIDE_COMMENTS:
        return True
    return _weight_within(page, weights, "forum") >= _FORUM_SHARE * weight > 0


def _weight_within(page: Blocks, weights: list[int], hint: str) -> int:
    return sum(sum(weights[start:end]) for start, end in _in_boxes(page, weights, {hint: 1.0}))


def _sums(numbers: Iterable[int]) -> list[int]:
    """Sums of the first 0, 1, 2, ... numbers, so that a range's sum is one subtraction."""
    return list(accumulate(numbers, initial=0))


def _boilerplate(page: Blocks, weights: list[int], forum: bool) -> list[bool]:
    """Which blocks are copies, or in a box that is boilerplate by its own words.

    A forum's comments are its text, and its posts quote one another.
    """
    gone = [False] * len(weights) if forum else _copies(page)
    weights = [0 if out else weight for weight, out in zip(weights, gone, strict=True)]
    shares = {**_MAX_SHARES, "comment": 0.0} if forum else _MAX_SHARES
    for start, end in _in_boxes(page, weights, shares):
        gone[start:end] = [True] * (end - start)
    return gone


def _copies(page: Blocks) -> list[bool]:
    long = [i for i, size in enumerate(page.sizes) if size >= _REPEATED_BYTES]
    copies = [False] * len(page.sizes)
    if len({page.texts[i] for i in long}) < len(long):
        seen: set[str] = set()
        for i in long:
            copies[i] = page.texts[i] in seen
            seen.add(page.texts[i])
    return copies


def _in_boxes(
    page: Blocks, sizes: list[int], max_shares: Mapping[str, float]
) -> Iterator[tuple[int, int]]:
    """Ranges of blocks in a box of one of these hints that holds at most its share of all."""
    asked = [box for box in page.hints if box[2] in max_shares]
    if not asked:
        return
    before = _sums(sizes)
    last = 0
    for start, end, hint in asked:
        if end > last and before[end] - before[start] <= max_shares[hint] * before[-1]:
            yield max(start, last), end
            last = end


def _densest(page: Blocks, weights: list[int], forum: bool) -> tuple[int, int]:
    """The range of blocks of the innermost box that still holds most of the box around it.

    One pass will do: a box inside one that was refused holds less still. One of several boxes of a
    kind is a part of the text, and so is what is inside it; but for the page's only article.
    """
    headings: list[int] = []
    if not forum:  # its first post follows the heading as an article does
        headings = [i for i, tag in enumerate(page.tags) if tag == "h1"][:_MAX_HEADINGS]
        # Code is no evidence of where the article is: one long sample outweighs a page of prose.
        weights = [0 if tag == "pre" else w for w, tag in zip(weights, page.tags, strict=True)]
    before = _sums(weights)
    start, end = 0, len(weights)
    if before[-1] < _MIN_BOXED_WEIGHT:
        return start, end
    running = _sums([weight > 0 for weight in weights])
    box_tags = [box[2] for box in page.boxes]
    lone = [tag for tag in ("article", "main") if box_tags.count(tag) == 1]
    part_end = 0
    for number, (s, e, tag, _, _) in _outside_comments(page) if forum else enumerate(page.boxes):
        around = before[end] - before[start]
        weight = before[e] - before[s]
        if s < start or e > end or weight < _LONE_BOX_SHARE * around or tag in _LISTS:
            continue
        if tag in lone:
            share = _LONE_BOX_SHARE
        elif s < part_end:
            continue
        elif running[e] - running[s] >= _MIN_HEADED_BLOCKS and any(
            h < e and before[s] - before[h] <= _HEADED_WITHIN * around for h in headings
        ):
            share = _HEADED_BOX_SHARE
        else:
            share = _BOX_SHARE
        if weight < share * around:
            continue
        if tag not in lone and not forum and _is_part(page, number, before, (start, end)):
            part_end = e
        else:
            start, end = s, e
    return start, end


def _is_part(page: Blocks, number: int, before: list[int], around: tuple[int, int]) -> bool:
    """Whether the box is one of several of its kind, which together are the text.

    Others have running text under a heading of the same level, or half as much of it. The box with
    the page's heading is no part.
    """
    start, end, tag, _, _ = page.boxes[number]
    several = page.tags.count("h1") > _MAX_TITLE_H1S
    if tag in _CELLS or (not several and "h1" in page.tags[start:end]):
        return False
    heading = page.tags[start]
    beside = 0
    for s, e in _siblings(page, number, around):
        weight = before[e] - before[s]
        if weight and heading == page.tags[s] and heading in _SECTION_HEADINGS:
            return True
        beside += weight
    return beside > _EQUAL_SHARE * (before[end] - before[start])


def _siblings(page: Blocks, number: int, around: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The ranges of the boxes beside a box that have its tag and class, or are sections as it is.

    A site names its sections by what they are about.
    """
    boxes = page.boxes
    _, end, tag, depth, name = boxes[number]
    behind = bisect_left(boxes, (end,))  # what is inside the box lies between
    for neighbours in (range(number - 1, -1, -1), range(behind, len(boxes))):
        for i in neighbours:
            s, e, other_tag, other_depth, other_name = boxes[i]
            if s < around[0] or e > around[1] or other_depth < depth:
                break
            alike = other_name == name or tag in ("article", "section")
            if other_depth == depth and other_tag == tag and alike:
                yield s, e


def _outside_comments(page: Blocks) -> Iterator[tuple[int, Box]]:
    """The boxes in no comment, numbered: most of a thread may be answers inside the first."""
    comments = {(start, end) for start, end, hint in page.hints if hint == "comment"}
    last = 0
    for number, box in enumerate(page.boxes):
        if box[:2] in comments:
            last = max(last, box[1])
        if box[0] >= last:
            yield number, box


def _without_links(
    page: Blocks, weights: list[int], blocks: list[int], short_tags: frozenset[str]
) -> list[int]:
    """Running text and the short lines after it; all the blocks where links are most of them."""
    unlinked = [
        i
        for i in blocks
        if weights[i]
        or (
            page.tags[i] in short_tags
            and page.link_shares[i] <= _MAX_LINK_SHARE
            and not _is_byline(page, weights, i)
        )
    ]
    if page.bytes_of(unlinked) < _MIN_UNLINKED_SHARE * page.bytes_of(blocks):
        return blocks
    running = [i for i in blocks if weights[i]]
    if page.bytes_of(running) < _SHORT_TEXT_BYTES:
        return unlinked
    title_tag = "h1" if page.tags.count("h1") <= _MAX_TITLE_H1S else ""
    return [i for i in unlinked if i >= running[0] and page.tags[i] != title_tag]


def _is_byline(page: Blocks, weights: list[int], i: int) -> bool:
    """Whether it is the only line between the page's heading and a paragraph, and none itself."""
    if page.tags[i] in _SHORT_POST_TAGS or not 0 < i < len(weights) - 1:
        return False
    return page.tags[i - 1] == "h1" and weights[i + 1] > 0


def _is_enough(page: Blocks, weights: list[int], gone: list[bool], main: list[int]) -> bool:
    """Whether the main text is a fair part of what isn't linked; of all text where it is short."""
    running = sum(compress(page.sizes, weights))
    sizes, share = page.sizes, _MIN_SHORT_ARTICLE_SHARE
    if running >= _SHORT_ARTICLE_BYTES:
        sizes, share = _unlinked(page), _MIN_MAIN_SHARE
    text = sum(size for size, out in zip(sizes, gone, strict=True) if not out)
    return running > 0 and page.bytes_of(main) >= share * text


def _unlinked(page: Blocks) -> list[int]:
    """Bytes outside links of each block, 0 for a menu's."""
    return [
        int(size * (1 - share)) if share <= _MAX_LINK_SHARE else 0
        for size, share in zip(page.sizes, page.link_shares, strict=True)
    ]


def _without_menus(page: Blocks) -> list[int]:
    """All blocks but those of menus and footers; simply all where nothing else is left."""
    blocks = range(len(page.texts))
    menus = {i for ends in _in_boxes(page, _unlinked(page), _MAX_MENU_SHARES) for i in range(*ends)}
    return [i for i in blocks if i not in menus] or list(blocks)
