"""An lxml tree in, the page's main text out: no menus, no comments, no second article.

The body is read once, into *blocks* (the text between two block-level tags) and *boxes* (ranges of
blocks: the elements that hold them). Running text weighs its bytes, so that a Chinese character
counts three and no language needs a switch. Boxes that say they are boilerplate go, unless too much
of the page's text is in them; then the innermost box that still holds most of the text is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, chain

from lxml.etree import _Element

# What an element is to the reader. A block ends a run of text; a box is a block that holds others.
_INLINE, _LINK, _BREAK, _HIDDEN, _BLOCK, _BOX = range(6)
_KIND_TAGS = {
    _INLINE: """abbr acronym b bdi bdo big cite code data del dfn em font i img input ins kbd label
        mark math mi mn mo mrow nobr output q rb rp rt ruby s samp small span strike strong sub sup
        time tt u var wbr""",
    _LINK: "a button",
    _BREAK: "br",
    _HIDDEN: """audio canvas datalist embed head iframe map noscript object option script select
        style svg template textarea title video""",
    _BLOCK: """address blockquote caption dd dt figcaption h1 h2 h3 h4 h5 h6 hr li p pre summary
        tbody td th tr""",
}
_KINDS: dict[object, int] = {tag: kind for kind, tags in _KIND_TAGS.items() for tag in tags.split()}
_DISPLAY_NONE = re.compile(r"display\s*:\s*none", re.IGNORECASE)

# What a box says it is: a word of its class or id, its tag, its ARIA role.
_WORD = re.compile("[A-Z]?[a-z]+")
_HINT_WORDS = {
    "comment": "comment comments commentlist disqus liuyan pinglun replies respond",
    "consent": "consent cookie cookies gdpr privacy",
    "footer": "copyright foot footer",
    "furniture": """ad ads advert advertisement advertising aside author banner breadcrumb
        breadcrumbs byline crumb crumbs daohang fenxiang guanggao head header login masthead menu
        menus meta modal nav navbar navigation newsletter overlay pager pagination popular popup
        promo recommend recommendation recommendations recommended related share sharing sidebar
        signup social sponsor sponsored subscribe subscription tag tags toolbar trending tuijian
        xiangguan""",
}
_WORD_HINTS = {word: hint for hint, words in _HINT_WORDS.items() for word in words.split()}
_TAG_HINTS = {
    "aside": "furniture",
    "dialog": "consent",
    "footer": "footer",
    "form": "furniture",
    "header": "furniture",
    "nav": "furniture",
}
_ROLE_HINTS = {
    "alertdialog": "consent",
    "banner": "furniture",
    "complementary": "furniture",
    "contentinfo": "footer",
    "dialog": "consent",
    "navigation": "furniture",
    "search": "furniture",
}

# Chosen on labelled pages (articles, forums, listings, documentation; English and Chinese): for the
# same text out of two templates first, for agreement with hand-made main text second.
_LONG_BYTES = 100  # a block this long is running text; a shorter one needs a sentence's punctuation
_SENTENCE_BYTES = 25
_MAX_LINK_SHARE = 0.5  # of a block's characters; above it the block is a menu
_REPEATED_BYTES = 60  # a block this long seen before on the page is a carousel's or caption's copy
# Of the page's weight: a box with that hint that holds more stays.
_MAX_HINTED_SHARE = {"consent": 0.8, "footer": 1.0, "furniture": 0.25}
_MIN_BESIDE_COMMENTS = 1_000  # weight left without comments; below it the page is a forum's
_BOX_SHARE = 0.6  # of the weight of the box around it, for a box inside to be the page's text
_HEADED_BOX_SHARE = 0.4  # the same for a box that begins within a tenth of the weight after an h1
_HEADED_WITHIN = 0.1
_MIN_HEADED_BLOCKS = 3  # of running text in such a box: a note under the heading is no article
_MAX_HEADINGS = 5
_ARTICLE_SHARE = 0.35  # the same for the only article, or the only main, of the page
_MIN_BOXED_WEIGHT = 750  # below it the whole page is taken: what stands outside a box is much of it
_MIN_RUNNING_BYTES = 400  # below it the page is no article
_MIN_MAIN_SHARE = 0.25  # of the unlinked text; below it the page is a list
_MIN_UNLINKED_SHARE = 0.5  # of the box's text; below it its links are the page
# Below it every short line of the box counts, the h1 and those above the first paragraph too.
_SHORT_TEXT_BYTES = 1_000
_MAX_MENU_SHARE = 0.5  # of all unlinked text, for a hinted box to be left out of the whole page

_SENTENCE = re.compile(r"[.!?。！？…][\"'”’」』）)]*(?:\s|$)|[,，、；。！？：]")
_TITLE_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]{4,}|[\u3040-\u30ff\u3400-\u9fff]{2,}")
_MAX_TITLE_WORDS = 24
_SHORT_TEXT_TAGS = frozenset(
    ["h1", "h2", "h3", "h4", "h5", "h6", "caption", "dd", "dt", "li", "p", "pre", "td", "th"]
)


def main_text(root: _Element) -> str:
    """The page's main text, its blocks joined by newlines.

    The whole body without its menus when nothing stands out; "" only when no text is visible.
    """
    body = root.find("body")
    page = _read(root if body is None else body)
    weights = _weights(page, _title_words(title(root)))
    gone = _boilerplate(page, weights)
    weights = [0 if out else weight for weight, out in zip(weights, gone, strict=True)]
    blocks = [i for i in range(*_densest(page, weights)) if not gone[i]]
    main = _without_links(page, weights, blocks)
    if not _is_enough(page, weights, gone, main):
        main = _whole(page)
    return "\n".join(page.texts[i] for i in main)


def title(root: _Element) -> str:
    """The page's title, white space collapsed: its title element, og:title or first h1; else ""."""
    return next(filter(None, map(_collapsed, _titles(root))), "")


def _titles(root: _Element) -> Iterator[str]:
    for element in root.iter("title"):
        parent = element.getparent()
        if parent is None or parent.tag in ("head", "html", "body"):
            yield "".join(map(str, element.itertext()))
    for element in root.iter("meta"):
        if element.get("property") == "og:title":
            yield element.get("content") or ""
    for element in root.iter("h1"):
        yield "".join(map(str, element.itertext()))


def _collapsed(text: str) -> str:
    return " ".join(text.split())


@dataclass(slots=True)
class _Page:
    """Blocks in reading order, and boxes as ranges of blocks in the order they open."""

    texts: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # UTF-8 bytes: a Chinese character counts 3
    link_shares: list[float] = field(default_factory=list)  # of the characters, 0-1
    tags: list[str] = field(default_factory=list)
    box_starts: list[int] = field(default_factory=list)
    box_ends: list[int] = field(default_factory=list)
    box_tags: list[str] = field(default_factory=list)
    box_hints: list[str | None] = field(default_factory=list)

    def add_block(self, parts: list[str], linked: int, tag: str) -> None:
        text = " ".join("".join(parts).split())
        if text:
            size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
            self.texts.append(text)
            self.sizes.append(size)
            self.link_shares.append(min(1.0, linked / len(text)))
            self.tags.append(tag)

    def add_box(self, tag: str, hint: str | None) -> int:
        self.box_starts.append(len(self.texts))
        self.box_ends.append(len(self.texts))
        self.box_tags.append(tag)
        self.box_hints.append(hint)
        return len(self.box_ends) - 1

    def bytes_of(self, blocks: Iterable[int]) -> int:
        return sum(self.sizes[i] for i in blocks)

    def hinted(self) -> Iterator[tuple[int, int, str]]:
        for start, end, hint in zip(self.box_starts, self.box_ends, self.box_hints, strict=True):
            if hint is not None:
                yield start, end, hint


def _read(body: _Element) -> _Page:
    """One walk over the tree, in one function: a call per element would cost more than its work."""
    page = _Page()
    kind_of = _KINDS.get
    names: dict[str, str | None] = {}
    path, kinds, boxes = [body], [_BOX], [page.add_box("body", None)]
    parts: list[str] = []
    linked = links = 0
    hidden = False
    tag = "body"
    text = body.text
    if text:
        parts.append(text)
    for element in chain(body.iterdescendants(), [None]):
        parent = body if element is None else element.getparent()
        while path[-1] is not parent:
            text = path.pop().tail
            kind = kinds.pop()
            if kind:
                if kind >= _BLOCK:
                    if parts:
                        page.add_block(parts, linked, tag)
                        parts.clear()
                        linked = 0
                    tag = "div"
                    if kind == _BOX:
                        page.box_ends[boxes.pop()] = len(page.texts)
                elif kind == _LINK:
                    links -= 1
                elif kind == _HIDDEN:
                    hidden = False
            if text and not hidden and (parts or not text.isspace()):
                parts.append(text)
                if links:
                    linked += len(text.strip())
        if element is None:
            break
        path.append(element)
        if hidden:
            kinds.append(_INLINE)
            continue
        kind = kind_of(element.tag, _BOX)
        if kind:
            if kind == _BOX and _is_hidden(element):
                kind = _HIDDEN
            if kind == _HIDDEN:
                kinds.append(kind)
                hidden = True
                continue
            if kind >= _BLOCK:
                if parts:
                    page.add_block(parts, linked, tag)
                    parts.clear()
                    linked = 0
                tag = element.tag
                if kind == _BOX:
                    boxes.append(page.add_box(tag, _hint(element, tag, names)))
            elif kind == _LINK:
                links += 1
            else:
                parts.append(" ")
        kinds.append(kind)
        text = element.text
        if text and (parts or not text.isspace()):
            parts.append(text)
            if links:
                linked += len(text.strip())
    if parts:
        page.add_block(parts, linked, tag)
    page.box_ends[0] = len(page.texts)
    return page


def _is_hidden(element: _Element) -> bool:
    style = element.get("style")
    return (style is not None and _DISPLAY_NONE.search(style) is not None) or (
        element.get("hidden") is not None
    )


def _hint(element: _Element, tag: str, names: dict[str, str | None]) -> str | None:
    """What the box says it is; `names` remembers the class and id pairs met so far."""
    if tag in _TAG_HINTS:
        return _TAG_HINTS[tag]
    role = element.get("role")
    if role in _ROLE_HINTS:
        return _ROLE_HINTS[role]
    name = f"{element.get('class', '')} {element.get('id', '')}"
    if name not in names:
        hints = (_WORD_HINTS.get(word.lower()) for word in _WORD.findall(name))
        names[name] = next(filter(None, hints), None)
    return names[name]


def _title_words(text: str) -> list[str]:
    """Words of four letters or more; of Han and kana, which have no spaces, each pair."""
    words: dict[str, None] = {}
    for word in _TITLE_WORD.findall(text):
        pairs = [word[i : i + 2] for i in range(len(word) - 1)] if word[0] > "\u3000" else [word]
        words.update(dict.fromkeys(pairs))
    return list(words)[:_MAX_TITLE_WORDS]


def _weights(page: _Page, title_words: list[str]) -> list[int]:
    """Unlinked bytes of running text, doubled where a word of the title occurs; else 0."""
    weights = []
    for text, size, link_share in zip(page.texts, page.sizes, page.link_shares, strict=True):
        weight = 0
        if link_share <= _MAX_LINK_SHARE and (
            size >= _LONG_BYTES or (size >= _SENTENCE_BYTES and _SENTENCE.search(text))
        ):
            weight = int(size * (1 - link_share))
            if any(word in text for word in title_words):
                weight *= 2
        weights.append(weight)
    return weights


def _boilerplate(page: _Page, weights: list[int]) -> list[bool]:
    """Which blocks are copies, captions, or in a box that is boilerplate by its own words."""
    gone = _copies(page)
    before = _sums(0 if out else weight for weight, out in zip(weights, gone, strict=True))
    limits = {hint: share * before[-1] for hint, share in _MAX_HINTED_SHARE.items()}
    beside_comments = before[-1] - _weight_of_comments(page, before)
    limits["comment"] = before[-1] if beside_comments >= _MIN_BESIDE_COMMENTS else 0
    last = 0
    for start, end, hint in page.hinted():
        if end > last and before[end] - before[start] <= limits[hint]:
            gone[max(start, last) : end] = [True] * (end - max(start, last))
            last = end
    return gone


def _weight_of_comments(page: _Page, before: list[int]) -> int:
    comments = last = 0
    for start, end, hint in page.hinted():
        if hint == "comment" and start >= last:
            comments += before[end] - before[start]
            last = end
    return comments


def _copies(page: _Page) -> list[bool]:
    seen: set[str] = set()
    copies = []
    for text, size, tag in zip(page.texts, page.sizes, page.tags, strict=True):
        copies.append(tag == "figcaption" or text in seen)
        if size >= _REPEATED_BYTES:
            seen.add(text)
    return copies


def _sums(numbers: Iterable[int]) -> list[int]:
    """Sums of the first 0, 1, 2, ... numbers, so that a range's sum is one subtraction."""
    return list(accumulate(numbers, initial=0))


def _densest(page: _Page, weights: list[int]) -> tuple[int, int]:
    """The range of blocks of the innermost box that still holds most of the box around it.

    One pass will do: a box inside one that was refused holds less still.
    """
    # Code is no evidence of where the article is: one long sample outweighs a page of prose.
    prose = (0 if tag == "pre" else w for w, tag in zip(weights, page.tags, strict=True))
    before = _sums(prose)
    if before[-1] < _MIN_BOXED_WEIGHT:
        return 0, len(weights)
    running = _sums(weight > 0 for weight in weights)
    headings = [i for i, tag in enumerate(page.tags) if tag == "h1"][:_MAX_HEADINGS]
    lone = [tag for tag in ("article", "main") if page.box_tags.count(tag) == 1]
    start, end = 0, len(weights)
    for s, e, tag in zip(page.box_starts, page.box_ends, page.box_tags, strict=True):
        around = before[end] - before[start]
        if tag in lone:
            share = _ARTICLE_SHARE
        elif running[e] - running[s] >= _MIN_HEADED_BLOCKS and any(
            h < e and before[s] - before[h] <= _HEADED_WITHIN * around for h in headings
        ):
            share = _HEADED_BOX_SHARE
        else:
            share = _BOX_SHARE
        if start <= s and e <= end and before[e] - before[s] >= share * around:
            start, end = s, e
    return start, end


def _without_links(page: _Page, weights: list[int], blocks: list[int]) -> list[int]:
    """Running text and the short lines after it; all the blocks where links are most of them."""
    unlinked = [
        i
        for i in blocks
        if weights[i]
        or (page.tags[i] in _SHORT_TEXT_TAGS and page.link_shares[i] <= _MAX_LINK_SHARE)
    ]
    if page.bytes_of(unlinked) < _MIN_UNLINKED_SHARE * page.bytes_of(blocks):
        return blocks
    running = [i for i in blocks if weights[i]]
    if page.bytes_of(running) < _SHORT_TEXT_BYTES:
        return unlinked
    return [i for i in unlinked if i >= running[0] and page.tags[i] != "h1"]


def _is_enough(page: _Page, weights: list[int], gone: list[bool], main: list[int]) -> bool:
    """Whether the page has running text, and the main text a fair part of what isn't linked."""
    running = page.bytes_of(i for i, weight in enumerate(weights) if weight)
    unlinked = page.bytes_of(
        i
        for i, link_share in enumerate(page.link_shares)
        if link_share <= _MAX_LINK_SHARE and not gone[i]
    )
    return running >= _MIN_RUNNING_BYTES and page.bytes_of(main) >= _MIN_MAIN_SHARE * unlinked


def _whole(page: _Page) -> list[int]:
    """All blocks but those of menus and footers; simply all where nothing else is left."""
    unlinked = zip(page.sizes, page.link_shares, strict=True)
    before = _sums(int(size * (1 - link_share)) for size, link_share in unlinked)
    gone = [False] * len(page.texts)
    last = 0
    for start, end, hint in page.hinted():
        share = 1.0 if hint == "footer" else _MAX_MENU_SHARE
        small = before[end] - before[start] <= share * before[-1]
        if hint != "comment" and end > last and small:
            gone[max(start, last) : end] = [True] * (end - max(start, last))
            last = end
    return [i for i, out in enumerate(gone) if not out] or list(range(len(gone)))
