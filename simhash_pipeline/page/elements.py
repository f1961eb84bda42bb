"""A tree in, its elements out as columns in document order, which all readers of the page share.

What lxml makes of an element on demand it makes once here; to read a list is several times faster.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from lxml.etree import _Element

NO_DEPTH = sys.maxsize  # deeper than any element


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
    """The columns of a tree as it is now: without comments, as parse.py leaves it."""
    elements = list(root.iter())
    depths = {root.getparent(): -1}
    for element in elements:
        depths[element] = depths[element.getparent()] + 1
    return Elements(elements, [element.tag for element in elements], list(depths.values())[1:])
