"""A body in, its text out in *blocks*, runs between block-level tags, and in *boxes* of blocks.

One walk in document order leaves out hidden blocks and boxes, and writes down what boxes call
themselves; what to make of that is for boilerplate.py to decide.

Hidden words within a block are read: scripts choose among them (a manual's for each system, a long
text's end).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain, islice
from operator import itemgetter, mul

from lxml.etree import _Element

from simhash_pipeline.page.parse import NO_DEPTH, Elements

# What an element is to the reader. A block ends a run of text; a box is a block that may hold
# others, as does every tag that isn't named here.
_INLINE, _LINK, _BREAK, _HIDDEN, _BLOCK, BOX = range(6)
_KIND_TAGS = {
    # libxml2 puts what follows a bgsound, embed, image, keygen, source, track or wbr into it: it
    # doesn't know that they have no end tags.
    _INLINE: """abbr acronym area b bdi bdo bgsound big cite code data del dfn em embed font i image
        img input ins kbd keygen label map mark math mi mn mo mrow nobr output q rb rp rt ruby s
        samp small source span strike strong sub sup time track tt u var wbr""",
    _LINK: "a button",
    _BREAK: "br",
    _HIDDEN: """audio canvas datalist head iframe noscript object option script select style svg
        template textarea title video""",
    _BLOCK: """address blockquote caption dd dt figcaption h1 h2 h3 h4 h5 h6 hr li p pre summary
        tbody th tr""",
}
KINDS = {tag: kind for kind, tags in _KIND_TAGS.items() for tag in tags.split()}
_HIDES = re.compile(r"display\s*:\s*none", re.IGNORECASE)
hides = _HIDES.search  # of a style

# What a box calls itself: by its tag, its ARIA role, or a word of its class or id. The words under
# "links" name parts of a text too: they mean boilerplate only where links fill the box. What
# stands before and behind the page's only "main" box is "outside". Words are English, pinyin, and
# what German, French, Spanish, Portuguese, Italian, Dutch, Polish and Turkish sites write.
TAG_HINTS = {
    **dict.fromkeys(("aside", "form", "header", "nav"), "boilerplate"),
    "dialog": "consent",
    "footer": "footer",
    "main": "main",
}
_ROLE_HINTS = {
    **dict.fromkeys(("banner", "complementary", "navigation", "search"), "boilerplate"),
    **dict.fromkeys(("alertdialog", "dialog"), "consent"),
    "contentinfo": "footer",
    "main": "main",
}
_HINT_WORDS = {
    "comment": """comentario comentarios comment commentaire commentaires commentarea commentbox
        commenti commentlist comments disqus kommentar kommentare komentarze liuyan pinglun
        reacties replies respond yorumlar""",
    "consent": "consent cookie cookies datenschutz gdpr privacidad privacy",
    "footer": "copyright foot footer fusszeile rodape stopka",
    "forum": """answer answers bbs board discussion discussions forum forums luntan qa question
        questions reply thread threads tiezi topic topics viewtopic wenda""",
    "links": "author header tag tags",
    "boilerplate": """ad ads advert advertisement advertising aside banner breadcrumb
        breadcrumbs busca buscador byline compartir crumb crumbs daohang empfehlungen fenxiang
        guanggao head login masthead menu menus meta modal nav navbar navigation newsletter overlay
        pager pagination partage popular popup promo publicidad publicidade publicite pubblicita
        recherche recommend recommendation recommendations recommended reklam reklama related
        ricerca share sharing sidebar signup social sponsor sponsored subscribe subscription suche
        szukaj toolbar trending tuijian werbung xiangguan zoeken""",
}
_WORD_HINTS = {word: hint for hint, words in _HINT_WORDS.items() for word in words.split()}
_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
PERMALINK_LEVELS = 3  # that are looked up from a link for the element that it points to
MAX_NAME_CHARS = 200  # of a role, a class and an id; bounds what is remembered

_Range = tuple[int, int, str]
Box = tuple[int, int, str, str]


@dataclass(slots=True)
class Blocks:
    """Blocks in reading order, and boxes as ranges of blocks, outer ones first."""

    texts: list[str] = field(default_factory=list)  # white space collapsed; never empty
    tags: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # UTF-8 bytes
    link_shares: list[float] = field(default_factory=list)  # of the characters, 0-1
    boxes: list[Box] = field(default_factory=list)  # start, end (exclusive), tag, class
    hints: list[_Range] = field(default_factory=list)  # start, end (exclusive), hint
    hidden: list[str] = field(default_factory=list)  # texts of hidden boxes, which scripts may show

    def bytes_of(self, blocks: Iterable[int]) -> int:
        """UTF-8 bytes of these blocks together."""
        return sum(map(self.sizes.__getitem__, blocks))

    def add(self, parts: Iterable[str], linked: int, tag: str) -> None:
        """Makes a block of parts that hold some text, `linked` of their characters in links."""
        text = " ".join("".join(parts).split())
        self.texts.append(text)
        self.tags.append(tag)
        self.sizes.append(len(text) if text.isascii() else len(text.encode("utf-8", "replace")))
        self.link_shares.append(min(1.0, linked / len(text)) if linked else 0.0)

    def close(self, element: _Element, tag: str, start: int, kind: int) -> None:
        """Makes a box of all blocks since `start`; sets them aside where the element is hidden."""
        names = element.keys()
        is_hidden = "hidden" in names or element.get("aria-hidden") == "true"
        if is_hidden or hides(element.get("style", "")):
            self.hidden += self.texts[start:]
            for column in (self.texts, self.tags, self.sizes, self.link_shares):
                del column[start:]
            for ranges in (self.boxes, self.hints):
                while ranges and ranges[-1][0] >= start:
                    ranges.pop()
        elif kind == BOX:
            name = element.get("class", "") if "class" in names else ""
            self.boxes.append((start, len(self.texts), tag, name))
            said = (element.get("role", ""), name, element.get("id", ""))
            if (any(said) or tag in TAG_HINTS) and (
                hint := hint_of(tag, *[text[:MAX_NAME_CHARS] for text in said])
            ):
                self.hints.append((start, len(self.texts), hint))

    def finish(self) -> None:
        """Decides what the hints mean, when all blocks are there."""
        self.hints = _decided_hints(self, _sorted(self.hints))


def read(page: Elements) -> Blocks:
    """All blocks of the page's body.

    In one function: a call per element would cost more than its work. Attributes are read when an
    element closes: more than half of them turn out to be empty.
    """
    found = Blocks()
    texts, kind_of = found.texts, KINDS.get
    found_body = page[0][0].find("body")
    body = page[0][0] if found_body is None else found_body
    start, level = next((at, row[2]) for at, row in enumerate(page) if row[0] is body)
    inside = islice(page, start + 1, None)
    # Of each open element: itself, its tag, its kind, and its first block.
    path: list[tuple[_Element, str, int, int]] = []
    parts = [body.text] if body.text and not body.text.isspace() else []
    linked = links = 0
    block_tag = "body"
    hidden = NO_DEPTH

    def end_block() -> None:
        nonlocal linked
        found.add(parts, linked, block_tag)
        parts.clear()
        linked = 0

    for element, tag, depth in chain(inside, [(body, "", level)]):
        if depth > hidden:
            continue
        while len(path) >= depth - level and path:
            closed, closed_tag, kind, first = path.pop()
            if kind:
                if kind >= _BLOCK:
                    if parts:
                        end_block()
                    block_tag = "div"
                    if first < len(texts):
                        found.close(closed, closed_tag, first, kind)
                elif kind == _LINK:
                    links -= 1
            text = closed.tail
            if text and (parts or not text.isspace()):
                parts.append(text)
                if links:
                    linked += len(text.strip())
        if depth <= level:
            break
        kind = kind_of(tag, BOX)
        hidden = depth if kind == _HIDDEN else NO_DEPTH
        if kind:
            if kind >= _BLOCK:
                if parts:
                    end_block()
                block_tag = tag
            elif kind == _LINK:
                href = element.get("href", "#")
                if href[:1] == "#" and tag == "a" and not _leads_away(element, path):
                    kind = _INLINE
                else:
                    links += 1
            elif kind == _BREAK and parts:
                parts.append(" ")
        path.append((element, tag, kind, len(texts)))
        if kind != _HIDDEN:
            text = element.text
            if text and (parts or not text.isspace()):
                parts.append(text)
                if links:
                    linked += len(text.strip())
    if parts:
        found.add(parts, linked, block_tag)
    found.boxes.reverse()  # an outer box before those inside it, which of one start stays so
    found.boxes.sort(key=itemgetter(0))
    found.finish()
    return found


def _sorted(ranges: list[_Range]) -> list[_Range]:
    """By their starts; of one start the longest first, in the order that they had."""
    return sorted(ranges, key=lambda each: (each[0], -each[1]))


def _decided_hints(page: Blocks, found: list[_Range]) -> list[_Range]:
    """The hints, "links" made boilerplate where links fill the box, and "main" made "outside".

    Elsewhere both are left out. An aside of the article is made a footer, which goes however
    much of the page it is.
    """
    hints = [each for each in found if each[2] != "main"]
    if any(hint == "links" for _, _, hint in hints):
        links_fill = _links_fill(page)
        hints = [
            (start, end, "boilerplate" if hint == "links" else hint)
            for start, end, hint in hints
            if hint != "links" or links_fill(start, end)
        ]
    mains = [(start, end) for start, end, hint in found if hint == "main"]
    is_one = mains and max(end for _, end in mains) == mains[0][1]  # it holds all others
    if is_one and _holds_the_text(page, hints, *mains[0]):
        (start, end), last = mains[0], len(page.texts)
        hints += [(0, start, "outside")] * (start > 0) + [(end, last, "outside")] * (end < last)
    return _sorted(hints + _asides(page))


def _asides(page: Blocks) -> list[_Range]:
    """Those beside the article with the page's heading, in it or just above, as footers.

    In sentences a short article may be the least of its page.
    """
    if not (asides := [box[:2] for box in page.boxes if box[2] == "aside"]):
        return []
    headings = [i for i, tag in enumerate(page.tags) if tag == "h1"][:5]  # more head sections
    for first, last, tag, _ in page.boxes:
        if tag == "article" and any(first - 1 <= heading < last for heading in headings):
            return [(s, e, "footer") for s, e in asides if e <= first or s >= last]
    return []


def _holds_the_text(page: Blocks, hints: list[_Range], start: int, end: int) -> bool:
    """Whether a main box has half of what is in no link and in no box of another hint.

    Of 458 labelled pages with one such box, the 439 whose main text is in it have 86 % and more.
    """
    sizes = zip(page.sizes, page.link_shares, strict=True)
    unlinked = [int(size * (1 - share)) if share else size for size, share in sizes]
    for first, last, hint in hints:
        if hint != "forum" and (last <= start or first >= end):
            unlinked[first:last] = [0] * (last - first)
    return 2 * sum(unlinked[start:end]) >= sum(unlinked)


def _links_fill(page: Blocks) -> Callable[[int, int], bool]:
    """Says of a range of blocks whether more than half of its text is linked."""
    sizes = [0, *accumulate(page.sizes)]
    linked = [0, *accumulate(map(mul, page.sizes, page.link_shares))]
    return lambda start, end: 2 * (linked[end] - linked[start]) > sizes[end] - sizes[start]


def _leads_away(link: _Element, path: Sequence[tuple[_Element, str, int, int]]) -> bool:
    """Whether it is a link: no anchor that is only a target, no heading's link to itself."""
    href = link.get("href")
    if href is None:  # without a target's name it is a script's button
        return link.get("name") is None and link.get("id") is None
    if href[:1] != "#" or href == "#":
        return True
    around = (element for element, _, _, _ in path[-PERMALINK_LEVELS:])
    return href[1:] not in (link.get("name"), link.get("id"), *(e.get("id") for e in around))


def menu_blocks(page: Blocks) -> set[int]:
    """The numbers of the blocks in boilerplate and outside the main box that links fill."""
    boxes = [(start, end) for start, end, hint in page.hints if hint in ("boilerplate", "outside")]
    links_fill = _links_fill(page)
    return {i for box in boxes if links_fill(*box) for i in range(*box)}


@lru_cache(maxsize=4096)  # the pages of a site share their names
def hint_of(tag: str, role: str, name: str, ident: str) -> str | None:
    """What a box calls itself by its tag, its role, or its class and id; None if nothing.

    Of words in a class and id the first counts; forum only where there is no other.
    """
    if tag in TAG_HINTS:
        return TAG_HINTS[tag]
    if role in _ROLE_HINTS:
        return _ROLE_HINTS[role]
    words = _WORD.findall(f"{name} {ident}")
    hints = [hint for word in words if (hint := _WORD_HINTS.get(word.lower()))]
    return min(hints, key="forum".__eq__, default=None)
