"""A tree in, its elements out as columns in document order, which all readers of the page share.

What lxml makes of an element on demand it makes once here; to read a list is several times faster.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from lxml.etree import _Element

NO_DEPTH = 2**31  # deeper than any element

# HTML's elements that are never in an svg, by the HTML standard ("parsing foreign content").
END_SVG_TAGS = """b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head
    hr i img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u
    ul var"""
END_SVG = frozenset(END_SVG_TAGS.split())
HOLD_HTML = frozenset(["desc", "foreignobject", "title"])  # an svg's, in which they may be


@dataclass(frozen=True, slots=True)
class Elements:
    """A tree's elements, each before its children; the root is number 0, its depth too."""

    elements: list[_Element]
    tags: list[str]
    depths: list[int]  # what is inside an element follows it, deeper than it

    def rows(self) -> Iterator[tuple[_Element, str, int]]:
        """Each element with its tag and depth."""
        return zip(self.elements, self.tags, self.depths, strict=True)


def elements_of(root: _Element) -> Elements:
    """The columns of a tree as it is now: without comments, as parse.py leaves it.

    An svg that an HTML element ends (`<svg><p>`, as browsers read it) is called a span: to libxml2
    what follows is in it.
    """
    elements = list(root.iter())
    levels = {root.getparent(): -1}
    for element in elements:
        levels[element] = levels[element.getparent()] + 1
    depths = list(levels.values())[1:]
    page = Elements(elements, [element.tag for element in elements], depths)
    number = 0
    with contextlib.suppress(ValueError):  # there is no other
        while True:
            number = _past_svg(page, page.tags.index("svg", number))
    return page


def _past_svg(page: Elements, start: int) -> int:
    """Where an svg ends; the svgs around an HTML element that ends them are spans then."""
    tags, depths = page.tags, page.depths
    level, sealed = depths[start], NO_DEPTH
    for number in range(start + 1, len(tags)):
        depth = depths[number]
        if depth <= level:
            return number
        if depth > sealed:
            continue
        sealed = NO_DEPTH
        if tags[number] in END_SVG:
            for outer in range(number - 1, start - 1, -1):
                if depths[outer] < depth:
                    depth = depths[outer]
                    if tags[outer] == "svg":
                        tags[outer] = "span"
            return number
        if tags[number] in HOLD_HTML:
            sealed = depth
    return len(tags)
