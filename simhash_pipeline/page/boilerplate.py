"""An lxml tree in, the page's main text out: no menus, no comments, no second article.

One walk cuts the body into *blocks*, runs of text between block-level tags, and *boxes*, elements
that hold a range of blocks. Running text weighs its UTF-8 bytes, so a Chinese character counts
three and no language has to be known. Boxes that call themselves boilerplate go if they weigh
little enough. Then the innermost box that still holds most of the weight is the main text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lxml.etree import _Element

# What an element is to the reader; one whose tag isn't named here is a box.
_INLINE, _SPAN, _LINK, _BREAK, _HIDDEN, _BLOCK, _BOX = range(7)
_TAGS = {
    _INLINE: "abbr acronym b bdi bdo big cite code data del dfn em font i img input ins kbd label"
    " mark math mi mn mo mrow nobr output q rb rp rt ruby s samp small strike strong sub sup time"
    " tt u var wbr",
    _SPAN: "span",
    _LINK: "a button",
    _BREAK: "br",
    _HIDDEN: "audio canvas datalist embed head iframe map noscript object option script select"
    " style svg template textarea title video",
    _BLOCK: "address blockquote caption dd dt figcaption h1 h2 h3 h4 h5 h6 hr li p pre summary"
    " tbody th tr",
}
_KINDS: dict[object, int] = {
    etree.Comment: _HIDDEN,
    etree.ProcessingInstruction: _HIDDEN,
    **{tag: kind for kind, tags in _TAGS.items() for tag in tags.split()},
}
_HIDING = frozenset(["aria-hidden", "hidden", "style"])
_DISPLAY_NONE = re.compile(r"display\s*:\s*none", re.IGNORECASE)

# What a box calls itself: by its tag, else by the first of these words in its class and id.
_TAG_HINTS = {
    "aside": "furniture",
    "dialog": "consent",
    "footer": "footer",
    "form": "furniture",
    "header": "furniture",
    "nav": "furniture",
}
_HINT_WORDS = {
    "comment": "comment comments commentlist disqus liuyan pinglun replies respond",
    "consent": "consent cookie cookies gdpr privacy",
    "footer": "copyright foot footer",
    "forum": "answer answers bbs board discussion discussions forum forums luntan qa question"
    " questions reply thread threads tiezi topic topics viewtopic wenda",
    "furniture": "ad ads advert advertisement advertising aside author banner breadcrumb"
    " breadcrumbs byline crumb crumbs daohang fenxiang guanggao head header login masthead menu"
    " menus meta modal nav navbar navigation newsletter overlay pager pagination popular popup"
    " promo recommend recommendation recommendations recommended related share sharing sidebar"
    " signup social sponsor sponsored subscribe subscription tag tags toolbar trending tuijian"
    " xiangguan",
}
_WORD_HINTS = {word: hint for hint, words in _HINT_WORDS.items() for word in words.split()}
_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_MAX_NAME_CHARS = 200

# Measured on labelled pages (articles, forums, lists, documentation, articles set into the
# templates of other sites; English and Chinese), where a quarter more or less of any one number
# moves the share of articles recognised in another template by a hundredth, rarely more.
_LONG_BYTES = 100  # a block this long is running text; a shorter one needs punctuation
_SENTENCE_BYTES = 20
_MAX_LINK_SHARE = 0.6  # of a block's characters; above it the block is a menu
_TITLE_WEIGHT = 2  # times the weight where a word of the title occurs
_REPEATED_BYTES = 60  # a block this long that came before is a carousel's or a caption's copy
_FORUM_SHARE = 0.4  # of the weight, in a box that calls itself a forum's
_MAX_SHARES = {"comment": 1.0, "consent": 0.8, "footer": 0.7, "furniture": 0.25}  # of the weight
_MIN_WEIGHT_BESIDE_COMMENTS = 1_000  # or comments are what the page is for
_INNER_SHARE = 0.6  # of a box's weight: a box inside with this much is the page's text
_LONE_SHARE = 0.35  # the same for the page's only article or main element
_MIN_RUNNING_BYTES = 400  # of running text; below it the page is no article
_MIN_MAIN_SHARE = 0.25  # of all unlinked text; below it the page is a list
_MAX_MENU_SHARES = {"consent": 0.5, "footer": 0.5, "furniture": 0.5}  # of all text
_MIN_BODY_SHARE = 0.2  # of all text, to be left over when menus are

_PUNCTUATION = re.compile(r"[.!?。！？…][\"'”’」』）)]*(?:\s|$)|[,，、；。！？：]")
_SHORT_TEXT_TAGS = frozenset(
    ["caption", "dd", "dt", "h2", "h3", "h4", "h5", "h6", "li", "p", "pre", "td", "th"]
)
_TITLE_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]{4,}|[\u3040-\u30ff\u3400-\u9fff]{2,}")
_MAX_TITLE_CHARS = 200
_MAX_TITLE_WORDS = 24


_Block = tuple[str, int, int, str]
"""Text, its UTF-8 bytes, those outside links (0 in a menu's block), and tag."""


def main_text(root: _Element) -> str:
    """The page's main text, its blocks joined by newlines; "" only when no text is visible.

    The whole body without its menus when nothing stands out.
    """
    body = root.find("body")
    page = _read(root if body is None else body)
    weights = _weights(page, _title_words(title(root)[:_MAX_TITLE_CHARS]))
    gone = _boilerplate(page, weights)
    weights = [0 if out else weight for weight, out in zip(weights, gone, strict=True)]
    start, end = _main_range(page, weights)
    main = [i for i in _running_text(page, weights, start, end) if not gone[i]]
    if not _stands_out(page, weights, main, gone):
        main = _all_but_menus(page)
    return "\n".join(page.blocks[i][0] for i in main)


def title(root: _Element) -> str:
    """The page's title in one line: title element, else og:title, else the first h1, else ""."""
    return next(filter(None, (" ".join(text.split()) for text in _titles(root))), "")


def _titles(root: _Element) -> Iterator[str]:
    for element in root.iter("title"):
        parent = element.getparent()
        if parent is None or parent.tag in ("head", "html", "body"):  # not an image's
            yield "".join(map(str, element.itertext()))
    for element in root.iter("meta"):
        if element.get("property") == "og:title":
            yield element.get("content") or ""
    for element in root.iter("h1"):
        yield "".join(map(str, element.itertext()))


@dataclass(slots=True)
class _Page:
    """Blocks in reading order, and the boxes around them as ranges of blocks, outer ones first."""

    blocks: list[_Block] = field(default_factory=list)
    boxes: list[tuple[int, int, str]] = field(default_factory=list)  # start, end, tag
    hints: list[tuple[int, int, str]] = field(default_factory=list)  # start, end, hint

    def add_block(self, text: str, linked: int, tag: str) -> None:
        text = " ".join(text.split())
        if text:
            size = unlinked = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
            if linked:
                share = linked / len(text)
                unlinked = int(size * (1 - share)) if share <= _MAX_LINK_SHARE else 0
            self.blocks.append((text, size, unlinked, tag))

    def close(self, element: _Element, start: int, kind: int) -> None:
        """Keeps the box of all blocks since `start`; forgets them when the element is hidden."""
        names = element.keys()
        if names and not _HIDING.isdisjoint(names) and _is_hidden(element):
            del self.blocks[start:]
            for boxes in (self.boxes, self.hints):
                while boxes and boxes[-1][0] >= start:
                    boxes.pop()
        elif kind == _BOX:
            self.boxes.append((start, len(self.blocks), element.tag))
            if hint := _hint(element):
                self.hints.append((start, len(self.blocks), hint))


def _read(body: _Element) -> _Page:
    """One walk in document order: an element is closed when its last descendant has been read.

    It is one long loop because a call per element would cost more than the work. Attributes are
    read on closing, since nearly half of all boxes turn out to be empty.
    """
    page = _Page()
    kind_of, blocks = _KINDS.get, page.blocks
    path: list[tuple[_Element, int, int]] = []  # open elements, each with its parent's `unread`
    starts: list[int] = []  # of the open blocks and boxes
    unread = len(body) + 1  # children of the innermost open element, the one being read included
    parts = [body.text or ""]
    links = linked = 0
    tag = "body"
    hidden = False
    for node in body.iterdescendants():
        element = node
        kind = _INLINE if hidden else kind_of(element.tag, _BOX)
        if kind:
            if kind >= _BLOCK:
                if parts:
                    page.add_block("".join(parts), linked, tag)
                    parts.clear()
                    linked = 0
                tag = element.tag
                starts.append(len(blocks))
            elif kind == _LINK:
                links += 1
            elif kind == _BREAK:
                parts.append(" ")
            elif kind == _HIDDEN or _is_not_displayed(element):
                kind = _HIDDEN
                hidden = True
        if not hidden and (text := element.text) and (parts or not text.isspace()):
            parts.append(text)
            if links:
                linked += len(text.strip())
        if children := len(element):
            path.append((element, kind, unread))
            unread = children
            continue
        while True:
            if kind:
                if kind >= _BLOCK:
                    if parts:
                        page.add_block("".join(parts), linked, tag)
                        parts.clear()
                        linked = 0
                    tag = "div"
                    if (start := starts.pop()) < len(blocks):
                        page.close(element, start, kind)
                elif kind == _LINK:
                    links -= 1
                elif kind == _HIDDEN:
                    hidden = False
            if not hidden and (text := element.tail) and (parts or not text.isspace()):
                parts.append(text)
                if links:
                    linked += len(text.strip())
            unread -= 1
            if unread:
                break
            element, kind, unread = path.pop()
    page.add_block("".join(parts), linked, tag)
    page.boxes.sort(key=_outer_first)
    page.hints.sort(key=_outer_first)
    return page


def _outer_first(box: tuple[int, int, str]) -> tuple[int, int]:
    return box[0], -box[1]


def _is_hidden(element: _Element) -> bool:
    return (
        element.get("hidden") is not None
        or element.get("aria-hidden") == "true"
        or _is_not_displayed(element)
    )


def _is_not_displayed(element: _Element) -> bool:
    style = element.get("style")
    return style is not None and _DISPLAY_NONE.search(style) is not None


def _hint(element: _Element) -> str | None:
    if element.tag in _TAG_HINTS:
        return _TAG_HINTS[element.tag]
    name, ident = element.get("class", ""), element.get("id", "")
    return _named_hint(name[:_MAX_NAME_CHARS], ident[:_MAX_NAME_CHARS])


@lru_cache(maxsize=4096)  # a site's pages share their names
def _named_hint(name: str, ident: str) -> str | None:
    """The first hint in a class and id; forum only when there is no other."""
    words = _WORD.findall(f"{name} {ident}")
    hints = [hint for word in words if (hint := _WORD_HINTS.get(word.lower()))]
    return min(hints, key="forum".__eq__, default=None)


def _title_words(text: str) -> list[str]:
    """Words of four letters or more; of Han and kana, which have no spaces, each pair."""
    words: dict[str, None] = {}
    for word in _TITLE_WORD.findall(text):
        pairs = [word[i : i + 2] for i in range(len(word) - 1)] if word[0] > "\u3000" else [word]
        words.update(dict.fromkeys(pairs))
    return list(words)[:_MAX_TITLE_WORDS]


def _weights(page: _Page, title_words: list[str]) -> list[int]:
    """Unlinked bytes of running text; 0 for any other block."""
    weights = []
    for text, size, unlinked, _ in page.blocks:
        weight = unlinked
        if size < _LONG_BYTES and (size < _SENTENCE_BYTES or not _PUNCTUATION.search(text)):
            weight = 0
        elif weight:
            for word in title_words:
                if word in text:
                    weight *= _TITLE_WEIGHT
                    break
        weights.append(weight)
    return weights


def _boilerplate(page: _Page, weights: list[int]) -> list[bool]:
    """Which blocks are in a box that calls itself boilerplate, or copies of earlier ones.

    A forum's comments are its text, and its posts quote one another.
    """
    forum = _is_forum(page, weights)
    copies = [False] * len(weights) if forum else _copies(page)
    weights = [0 if copy else weight for weight, copy in zip(weights, copies, strict=True)]
    shares = dict(_MAX_SHARES)
    if forum or _is_all_comments(page, weights):
        shares["comment"] = 0.0
    inside = _inside_boxes(page, weights, shares)
    return [copy or out for copy, out in zip(copies, inside, strict=True)]


def _is_forum(page: _Page, weights: list[int]) -> bool:
    before = _sums(weights)
    return any(
        before[end] - before[start] >= _FORUM_SHARE * before[-1]
        for start, end, hint in page.hints
        if hint == "forum"
    )


def _sums(numbers: Iterable[int]) -> list[int]:
    """Sums of the first 0, 1, 2, ... numbers: a range's sum is one subtraction."""
    return list(accumulate(numbers, initial=0))


def _copies(page: _Page) -> list[bool]:
    seen: set[str] = set()
    copies = []
    for text, size, _, _ in page.blocks:
        copies.append(text in seen)
        if size >= _REPEATED_BYTES:
            seen.add(text)
    return copies


def _is_all_comments(page: _Page, weights: list[int]) -> bool:
    commented = _inside_boxes(page, weights, {"comment": 1.0})
    beside = sum(weight for weight, out in zip(weights, commented, strict=True) if not out)
    return beside < _MIN_WEIGHT_BESIDE_COMMENTS


def _inside_boxes(page: _Page, sizes: list[int], shares: Mapping[str, float]) -> list[bool]:
    """Which blocks are in a box of one of these hints that holds at most its share of all."""
    before = _sums(sizes)
    inside = [False] * len(sizes)
    last = 0
    for start, end, hint in page.hints:
        if end <= last or hint not in shares:
            continue
        if before[end] - before[start] <= shares[hint] * before[-1]:
            first = max(start, last)
            inside[first:end] = [True] * (end - first)
            last = end
    return inside


def _main_range(page: _Page, weights: list[int]) -> tuple[int, int]:
    """The blocks of the innermost box that still holds most of the box around it.

    One pass in document order will do: what is inside a box that was refused weighs less still.
    """
    before = _sums(weights)
    tags = [tag for _, _, tag in page.boxes]
    lone = [tag for tag in ("article", "main") if tags.count(tag) == 1]
    first, stop = 0, len(weights)
    for start, end, tag in page.boxes:
        share = _LONE_SHARE if tag in lone else _INNER_SHARE
        enough = share * (before[stop] - before[first])
        if first <= start and end <= stop and before[end] - before[start] >= enough:
            first, stop = start, end
    return first, stop


def _running_text(page: _Page, weights: list[int], start: int, end: int) -> Iterator[int]:
    """The range's blocks that weigh, and after the first of them short ones that aren't links."""
    begun = False
    for i in range(start, end):
        _, _, unlinked, tag = page.blocks[i]
        if weights[i]:
            begun = True
            yield i
        elif begun and unlinked and tag in _SHORT_TEXT_TAGS:
            yield i


def _stands_out(page: _Page, weights: list[int], main: list[int], gone: list[bool]) -> bool:
    running = unlinked_total = 0
    for (_, size, unlinked, _), weight, out in zip(page.blocks, weights, gone, strict=True):
        if weight:
            running += size
        if not out:
            unlinked_total += unlinked
    found = sum(page.blocks[i][1] for i in main)
    return running >= _MIN_RUNNING_BYTES and found >= _MIN_MAIN_SHARE * unlinked_total


def _all_but_menus(page: _Page) -> list[int]:
    """Every block outside menus, or simply every block where menus are nearly all there is."""
    sizes = [size for _, size, _, _ in page.blocks]
    menus = _inside_boxes(page, sizes, _MAX_MENU_SHARES)
    left = [i for i, menu in enumerate(menus) if not menu]
    if sum(sizes[i] for i in left) < _MIN_BODY_SHARE * sum(sizes):
        return list(range(len(sizes)))
    return left
