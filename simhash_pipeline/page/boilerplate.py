"""A page's tree in, its main text out: no menus, no comments, no second article.

Running text weighs its UTF-8 bytes, so that a Chinese character counts three and no language has
to be known. How long a block is is counted in characters, each of Han and kana three. Boxes that
call themselves boilerplate go, unless too much of the page's weight is in them, and so does what
stands outside the only box that calls itself main; then the innermost box that still holds most of
the weight is the main text.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import accumulate, compress

from simhash_pipeline import native
from simhash_pipeline.page.blocks import Blocks, Box

# Chosen on labelled pages (articles, forums, listings, documentation; English and Chinese): for the
# same text out of two templates first, for agreement with hand-made main text second.
_LONG_CHARS = 100  # a block this long is running text; a shorter one needs a sentence's punctuation
# Han, kana and their marks: all from the first on but what lies between the others, as Hangul.
_WIDE_FROM, _NARROW_FROM, _NARROW_TO = 0x2E80, 0xA000, 0xD7FF
_SENTENCE_BYTES = 20
MAX_LINK_SHARE = 0.75  # of a block's characters; above it the block is a menu
_TITLE_WEIGHT = 2  # times the weight where a word of the title occurs
_REPEATED_BYTES = 60  # a block this long seen before on the page is a carousel's or caption's copy
_FORUM_SHARE = 0.4  # of the weight, in boxes that call themselves a forum's
# Of the page's weight: a box with that hint that holds more stays.
_MAX_SHARES = {"comment": 1.0, "consent": 0.8, "footer": 1.0, "furniture": 0.25, "outside": 1.0}
_MIN_BESIDE_COMMENTS = 1_000  # weight left without comments; below it the page is a forum's
_BOX_SHARE = 0.6  # of the weight of the box around it, for a box inside to be the page's text
_HEADED_BOX_SHARE = 0.4  # the same for a box that begins within a tenth of the weight after an h1
_HEADED_WITHIN = 0.1
_MIN_HEADED_BLOCKS = 3  # of running text in such a box: a note under the heading is no article
_MAX_HEADINGS = 5
_LONE_BOX_SHARE = 0.35  # the same for the only article of the page
_MIN_BOXED_WEIGHT = 300  # below it the whole page is taken: what stands outside a box is much of it
_MIN_MAIN_SHARE = 0.25  # of the unlinked text; below it the page is a list
# Of running text. A page with less is an article only if the main text is a fair part of all its
# text: links are a list's content, and beside a long article they say nothing.
_SHORT_ARTICLE_BYTES = 700
_MIN_SHORT_ARTICLE_SHARE = 0.2
_MIN_UNLINKED_SHARE = 0.5  # of the box's text; below it its links are the page
# The same of all unlinked text.
_MAX_MENU_SHARES = {"consent": 0.5, "footer": 1.0, "furniture": 0.5, "outside": 1.0}

# What ends a part of a sentence: full stops of Latin where a word ends, all else anywhere (commas;
# Chinese, Arabic, Urdu, Hindi, Tibetan, Burmese, Amharic, Khmer, Armenian). All begin in one class
# of characters, so that the search for them is quick.
_MARKS, _FULL_STOPS, _CLOSING = ",，、；。！？：،؛؟۔।॥།༎၊။።፣፤፧។៕։", ".!?…", "\"'”’」』）)"
_SENTENCE = re.compile(rf"[{_MARKS}{_FULL_STOPS}](?:(?<=[{_MARKS}])|[{_CLOSING}]*(?:\s|$))")
_TITLE_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]{4,}|[\u3040-\u30ff\u3400-\u9fff]{2,}")
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
# Below an article in Chinese: who edited it, whence it is, who may copy it, and where to go on.
_MAX_CREDIT_BYTES = 160
_CREDIT = re.compile(
    r"[责責]任?[编編][辑輯]?\s*[:：]|^\W*(?:[编編][辑輯]|(?:文章|稿件)?[来來]源)\s*[:：]"
    r"|[转轉][载載].{0,6}[注註]明|(?:未[经經]|[谢謝][绝絕]|[请請]勿).{0,12}[转轉][载載]"
    r"|版[权權](?:[声聲]明|所有)|免[责責][声聲]明|二[维維][码碼]"
    r"|^\W*(?:分享[到至]|[扫掃](?:码|碼|一[扫掃])|[上下]一[篇页頁]|返回(?:[页頁]首|[顶頂]部|列表))"
    r"|^\W*(?:(?:相[关關]|延伸)(?:阅读|閱讀|报道|報導|新闻|新聞|文章|[链鏈連][接結])|打印|列印)\W*$"
)

# What _rules.c is given, in its order.
_NUMBERS = (
    _LONG_CHARS,
    _WIDE_FROM,
    _NARROW_FROM,
    _NARROW_TO,
    _SENTENCE_BYTES,
    MAX_LINK_SHARE,
    _TITLE_WEIGHT,
    _REPEATED_BYTES,
    _FORUM_SHARE,
    _MIN_BESIDE_COMMENTS,
    _BOX_SHARE,
    _HEADED_BOX_SHARE,
    _HEADED_WITHIN,
    _MIN_HEADED_BLOCKS,
    _MAX_HEADINGS,
    _LONE_BOX_SHARE,
    _MIN_BOXED_WEIGHT,
    _MIN_MAIN_SHARE,
    _SHORT_ARTICLE_BYTES,
    _MIN_SHORT_ARTICLE_SHARE,
    _MIN_UNLINKED_SHARE,
    _MAX_TITLE_H1S,
    _EQUAL_SHARE,
)
_HINTS = ("comment", "consent", "footer", "furniture", "forum", "outside")
_TRAITS = (
    {"h1"},
    _SECTION_HEADINGS,
    {"pre"},
    _SHORT_POST_TAGS,
    _SHORT_TEXT_TAGS,
    _LISTS,
    _CELLS,
    {"article"},
    {"section"},
)


def main_blocks(page: Blocks, title: str) -> list[int]:
    """The numbers of the blocks that are the main text, rising.

    All but menus when nothing stands out; none only when there are none.
    """
    title_words = _title_words(title)
    if native.kernel is None:
        main = _main_blocks(page, title_words)
    else:
        _set_up()
        columns = (page.texts, page.tags, page.sizes, page.link_shares, page.boxes, page.hints)
        main = native.kernel.main_blocks(*columns, title_words)
    while _is_credit(page, main):
        main.pop()
    return main


def _main_blocks(page: Blocks, title_words: list[str]) -> list[int]:
    """As the kernel's."""
    unlinked = _unlinked(page)
    weights = _weights(page, unlinked, title_words)
    before = _sums(weights)
    forum = _is_forum(page, before)
    gone = [False] * len(weights) if forum else _copies(page)
    if True in gone:
        weights = [0 if out else weight for weight, out in zip(weights, gone, strict=True)]
        before = _sums(weights)
    for start, end in _boilerplate(page, before, forum):
        gone[start:end] = [True] * (end - start)
        weights[start:end] = [0] * (end - start)
    headings = [i for i, tag in enumerate(page.tags) if tag == "h1"]
    blocks = [i for i in range(*_densest(page, weights, headings, forum)) if not gone[i]]
    short_tags = _SHORT_POST_TAGS if forum else _SHORT_TEXT_TAGS
    main = _without_links(page, weights, blocks, headings, short_tags)
    if not _is_enough(page, unlinked, weights, gone, main):
        main = _without_menus(page, unlinked)
    return main


@cache
def _set_up() -> None:
    """Give the kernel these rules: it has none of its own."""
    if native.kernel is not None:
        tags = frozenset[str]().union(*_TRAITS)
        traits = {tag: sum(1 << i for i, of in enumerate(_TRAITS) if tag in of) for tag in tags}
        shares = [of.get(hint, -1.0) for of in (_MAX_SHARES, _MAX_MENU_SHARES) for hint in _HINTS]
        numbers = array("d", [*_NUMBERS, *shares]).tobytes()
        hints = {hint: number for number, hint in enumerate(_HINTS)}
        native.kernel.set_rules(numbers, traits, hints, _MARKS, _FULL_STOPS, _CLOSING)


def _is_credit(page: Blocks, main: list[int]) -> bool:
    """Whether a text of several blocks ends with a credit."""
    return (
        len(main) > 1
        and page.sizes[main[-1]] <= _MAX_CREDIT_BYTES
        and _CREDIT.search(page.texts[main[-1]]) is not None
    )


def _title_words(text: str) -> list[str]:
    """Words of four letters or more; of Han and kana, which have no spaces, each pair."""
    words: dict[str, None] = {}
    for word in _TITLE_WORD.findall(text[:_MAX_TITLE_CHARS]):
        pairs = [word[i : i + 2] for i in range(len(word) - 1)] if word[0] > "\u3000" else [word]
        words.update(dict.fromkeys(pairs))
    return list(words)[:_MAX_TITLE_WORDS]


def _unlinked(page: Blocks) -> list[int]:
    """Bytes outside links of each block, 0 for a menu's."""
    return [
        (int(size * (1 - share)) if share <= MAX_LINK_SHARE else 0) if share else size
        for size, share in zip(page.sizes, page.link_shares, strict=True)
    ]


def _weights(page: Blocks, unlinked: list[int], title_words: list[str]) -> list[int]:
    """Unlinked bytes of running text, more where a word of the title occurs; else 0."""
    weights = [0] * len(unlinked)
    for i, size in enumerate(page.sizes):
        if size < _SENTENCE_BYTES or not unlinked[i]:
            continue
        text = page.texts[i]
        if _is_long(text, size) or _SENTENCE.search(text):
            weight = unlinked[i]
            for word in title_words:
                if word in text:
                    weight *= _TITLE_WEIGHT
                    break
            weights[i] = weight
    return weights


def _is_long(text: str, size: int) -> bool:
    """Whether it has 100 characters, three for one of Han or kana; `size` is in bytes."""
    if size < _LONG_CHARS or size >= 3 * _LONG_CHARS or size == len(text):
        return size >= _LONG_CHARS
    return sum(3 if _is_wide(ord(character)) else 1 for character in text) >= _LONG_CHARS


def _is_wide(code: int) -> bool:
    return code >= _WIDE_FROM and not _NARROW_FROM <= code <= _NARROW_TO


def running_text(page: Blocks) -> list[int]:
    """Unlinked bytes of running text of each block, 0 for menus and short lines."""
    return _weights(page, _unlinked(page), [])


def _sums(numbers: Iterable[int]) -> list[int]:
    """Sums of the first 0, 1, 2, ... numbers, so that a range's sum is one subtraction."""
    return list(accumulate(numbers, initial=0))


def _is_forum(page: Blocks, before: list[int]) -> bool:
    """Whether posts are the page's text: boxes call themselves a forum's, or all is comments."""
    weight = before[-1]
    comments = _weight_within(page, before, "comment")
    if comments and weight - comments < _MIN_BESIDE_COMMENTS:
        return True
    return _weight_within(page, before, "forum") >= _FORUM_SHARE * weight > 0


def _weight_within(page: Blocks, before: list[int], hint: str) -> int:
    return sum(before[end] - before[start] for start, end in _in_boxes(page, before, {hint: 1.0}))


def _boilerplate(page: Blocks, before: list[int], forum: bool) -> Iterator[tuple[int, int]]:
    """Ranges of blocks in a box that is boilerplate by its own words.

    A forum's comments are its text.
    """
    return _in_boxes(page, before, {**_MAX_SHARES, "comment": 0.0} if forum else _MAX_SHARES)


def _copies(page: Blocks) -> list[bool]:
    """Which blocks repeat an earlier one. (A forum's posts quote one another.)"""
    long = [i for i, size in enumerate(page.sizes) if size >= _REPEATED_BYTES]
    copies = [False] * len(page.sizes)
    if len({page.texts[i] for i in long}) < len(long):
        seen: set[str] = set()
        for i in long:
            copies[i] = page.texts[i] in seen
            seen.add(page.texts[i])
    return copies


def _in_boxes(
    page: Blocks, before: list[int], max_shares: Mapping[str, float]
) -> Iterator[tuple[int, int]]:
    """Ranges of blocks in a box of one of these hints that holds at most its share of all.

    `before` are the `_sums` of what the blocks hold.
    """
    asked = [box for box in page.hints if box[2] in max_shares]
    last = 0
    for start, end, hint in asked:
        if end > last and before[end] - before[start] <= max_shares[hint] * before[-1]:
            yield max(start, last), end
            last = end


def _densest(page: Blocks, weights: list[int], headings: list[int], forum: bool) -> tuple[int, int]:
    """The range of blocks of the innermost box that still holds most of the box around it.

    One pass will do: a box inside one that was refused holds less still. One of several boxes of a
    kind is a part of the text, and so is what is inside it; but for the page's only article.
    """
    # Code is no evidence of where the article is: one long sample outweighs a page of prose.
    if not forum and "pre" in page.tags:
        weights = [0 if tag == "pre" else w for w, tag in zip(weights, page.tags, strict=True)]
    before = _sums(weights)
    start, end = 0, len(weights)
    around = before[-1]
    if around < _MIN_BOXED_WEIGHT:
        return start, end
    lone = "article" if [box[2] for box in page.boxes].count("article") == 1 else None
    part_end = 0
    for number, (s, e, tag, _, _) in _outside_comments(page) if forum else enumerate(page.boxes):
        if s >= end:  # so are all that follow
            break
        weight = before[e] - before[s]
        if weight < _LONE_BOX_SHARE * around or s < start or e > end or tag in _LISTS:
            continue
        if tag == lone:
            share = _LONE_BOX_SHARE
        elif s < part_end:
            continue
        elif (
            not forum  # its first post follows the heading as an article does
            and e - s - weights[s:e].count(0) >= _MIN_HEADED_BLOCKS
            and any(
                h < e and before[s] - before[h] <= _HEADED_WITHIN * around
                for h in headings[:_MAX_HEADINGS]
            )
        ):
            share = _HEADED_BOX_SHARE
        else:
            share = _BOX_SHARE
        if weight < share * around:
            continue
        if not (tag == lone or forum) and _is_part(page, number, before, (start, end), headings):
            part_end = e
        else:
            start, end, around = s, e, weight
    return start, end


def _is_part(
    page: Blocks, number: int, before: list[int], around: tuple[int, int], headings: list[int]
) -> bool:
    """Whether the box is one of several of its kind, which together are the text.

    Others have running text under a heading of the same level, or half as much of it. The box with
    the page's heading is no part.
    """
    start, end, tag, _, _ = page.boxes[number]
    if tag in _CELLS:
        return False
    if len(headings) <= _MAX_TITLE_H1S and any(start <= h < end for h in headings):
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
    page: Blocks,
    weights: list[int],
    blocks: list[int],
    headings: list[int],
    short_tags: frozenset[str],
) -> list[int]:
    """Running text and the short lines after it; all the blocks where links are most of them.

    Each template puts its own bylines, dates and captions above the first paragraph, and the title
    within the box or outside it.
    """
    unlinked = [
        i
        for i in blocks
        if weights[i] or (page.tags[i] in short_tags and page.link_shares[i] <= MAX_LINK_SHARE)
    ]
    if page.bytes_of(unlinked) < _MIN_UNLINKED_SHARE * page.bytes_of(blocks):
        return blocks
    paragraphs = (i for i in blocks if weights[i] and page.tags[i] not in _SECTION_HEADINGS)
    first = next(paragraphs, len(weights))
    titles = headings if len(headings) <= _MAX_TITLE_H1S else []
    return [i for i in unlinked if i >= first and i not in titles]


def _is_enough(
    page: Blocks, unlinked: list[int], weights: list[int], gone: list[bool], main: list[int]
) -> bool:
    """Whether the main text is a fair part of what isn't linked; of all text where it is short."""
    running = sum(compress(page.sizes, weights))
    sizes, share = page.sizes, _MIN_SHORT_ARTICLE_SHARE
    if running >= _SHORT_ARTICLE_BYTES:
        sizes, share = unlinked, _MIN_MAIN_SHARE
    text = sum(sizes) - sum(compress(sizes, gone))
    return running > 0 and page.bytes_of(main) >= share * text


def _without_menus(page: Blocks, unlinked: list[int]) -> list[int]:
    """All blocks but those of menus and footers; simply all where nothing else is left."""
    left = [True] * len(unlinked)
    for start, end in _in_boxes(page, _sums(unlinked), _MAX_MENU_SHARES):
        left[start:end] = [False] * (end - start)
    blocks = range(len(left))
    return list(compress(blocks, left)) or list(blocks)
