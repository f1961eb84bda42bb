"""What a page says of itself: its title, its headings and its address."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from urllib.parse import urljoin

from lxml.etree import _Element

from simhash_pipeline.native import Head
from simhash_pipeline.page.blocks import Blocks
from simhash_pipeline.page.boilerplate import MAX_LINK_SHARE
from simhash_pipeline.page.bounds import has_long_host
from simhash_pipeline.page.visible import box_around

MAX_TITLES = 5  # empty ones to look at; each may hold the next, and all that follows
_MAX_HEADINGS = 5
_TITLE = re.compile(r"(?i)(?<![a-z])(?:title|heading|headline)(?![a-z])")  # of a class


def head_of(root: _Element) -> Head:
    """What stands in the page's head."""
    return [
        (
            child.tag,
            child.get("rel"),
            child.get("href"),
            child.get("property"),
            _text_of(child) if child.tag == "title" else child.get("content"),
        )
        for head in islice(root.iterchildren("head"), 1)
        for child in head
    ]


def title_of(root: _Element, head: Head | None = None) -> str:
    """The page's title, white space collapsed: its title element, og:title or first h1; else ""."""
    return title_among(head or head_of(root), _titles(root))


def title_among(head: Head, texts: Iterable[str]) -> str:
    """As `title_of`, of a head and what else may be the title, best first."""
    said = (text for tag, _, _, _, text in head if tag == "title")
    return next(
        filter(None, (" ".join((text or "").split()) for text in chain(islice(said, 1), texts))), ""
    )


def canonical_url(head: Head, url: str | None) -> str | None:
    """What the page's head says is its address, made absolute; None where it says nothing.

    It is the link rel="canonical", or else og:url.
    """
    declared = next(filter(None, _declared(head)), None)
    if declared is None:
        return None
    bases = ((href or "").strip() for tag, _, href, _, _ in head if tag == "base")
    base = next(filter(None, bases), "")
    if any(map(has_long_host, (url or "", base, declared))):
        return None
    try:
        return urljoin(urljoin(url or "", base), declared)
    except ValueError:  # it is no URL
        return None


def _titles(root: _Element) -> Iterator[str]:
    for element in islice(root.iter("title"), MAX_TITLES):
        parent = element.getparent()
        if parent is None or parent.tag in ("head", "html", "body"):  # not an image's
            yield _text_of(element)
    for element in root.iter("meta"):
        if element.get("property") == "og:title":
            yield element.get("content") or ""
    for element in islice(root.iter("h1"), MAX_TITLES):
        yield _text_of(element)


def _text_of(element: _Element) -> str:
    return "".join(map(str, element.itertext()))


def _declared(head: Head) -> Iterator[str]:
    for tag, rel, href, _, _ in head:
        if tag == "link" and rel and href and "canonical" in rel.lower().split():
            yield href.strip()
    for tag, _, _, said, content in head:
        if tag == "meta" and said == "og:url" and content:
            yield content.strip()


def headings(blocks: Blocks, title: str) -> list[str]:
    """The first h1s, else what its box calls a title, else the first h2; and a line of the title.

    That is the longest other line that the title holds: an h1 may name the site or a section, and
    the headline may stand in any box. A link names another page or the site.
    """
    own = _unlinked(blocks)
    h1, h2 = ([at for at in own if blocks.tags[at] == tag] for tag in ("h1", "h2"))
    called = [box[0] for box in blocks.boxes if box[1] == box[0] + 1 and _TITLE.search(box[3])]
    found = [blocks.texts[at] for at in h1[:_MAX_HEADINGS] or called[:1] or h2[:1]]
    others = (blocks.texts[at] for at in own if blocks.texts[at] in title)
    line = max((text for text in others if text not in found), key=len, default="")
    return [*found, line] if line else found


def first_line(blocks: Blocks, is_main: Sequence[bool]) -> str:
    """The first line in the box around the main text, if it stands above that; else ""."""
    if True not in is_main:
        return ""
    start, _ = box_around(blocks, is_main)
    at = next((at for at in _unlinked(blocks) if at >= start), None)
    return "" if at is None or is_main[at] else blocks.texts[at]


def _unlinked(blocks: Blocks) -> list[int]:
    # A text without a page has no shares, and so no heading.
    return [at for at, share in enumerate(blocks.link_shares) if share <= MAX_LINK_SHARE]
