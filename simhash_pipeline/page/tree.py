"""A page's tree in, its blocks and its structure fingerprint out.

The compiled walk reads the tree where there is one and it can; else blocks.py and structure.py do,
which say what is to be found.
"""

from __future__ import annotations

from functools import cache, cached_property

from lxml.etree import _Element

from simhash_pipeline import native
from simhash_pipeline.native import Walked
from simhash_pipeline.options import Options
from simhash_pipeline.page.blocks import (
    BOX,
    KINDS,
    PERMALINK_LEVELS,
    TAG_HINTS,
    Blocks,
    hides,
    hint_of,
)
from simhash_pipeline.page.boilerplate import main_blocks, title_of, visible_blocks
from simhash_pipeline.page.elements import END_SVG, HOLD_HTML, Elements, elements_of
from simhash_pipeline.page.outline import MAX_LABELS, MIN_NODES, ROLES, voted
from simhash_pipeline.page.structure import structure_fingerprint

# The bits of a tag's traits beside its kind and its role, as in _walk.c.
_ROLE_SHIFT = 3
_TRAITS = {1 << 5: {"svg"}, 1 << 6: END_SVG, 1 << 7: HOLD_HTML, 1 << 8: {"a"}, 1 << 9: TAG_HINTS}


class Tree:
    """The tree of a page, as it is now: a change of it is seen by another Tree."""

    def __init__(self, root: _Element) -> None:
        self._root = root
        self._walked: Walked | None = None
        if native.kernel is not None and native.walk is not None:
            _set_up()
            self._walked = native.walk.walk(root)

    @cached_property
    def _elements(self) -> Elements:
        return elements_of(self._root)

    def blocks(self) -> Blocks:
        """All blocks of the page's body."""
        if self._walked is None:
            return visible_blocks(self._elements)
        blocks = Blocks(*self._walked[0])
        blocks.finish()
        return blocks

    def structure(self, options: Options) -> int | None:
        """The structure fingerprint; see `structure_fingerprint`."""
        by_default = (options.structure_features, options.bits) == ("outline", 64)
        if self._walked is None or native.kernel is None or not by_default:
            return structure_fingerprint(self._elements, options)
        nodes, rows, weights, tags = self._walked[1]
        return voted(native.kernel, rows, weights, tags) if nodes >= MIN_NODES else None


def main_text(root: _Element) -> str:
    """The page's main text, its blocks joined by newlines; "" only when no text is visible."""
    blocks = Tree(root).blocks()
    return "\n".join(blocks.texts[i] for i in main_blocks(blocks, title_of(root)))


@cache
def _set_up() -> None:
    if native.walk is not None:
        tags = {*KINDS, *ROLES, *(tag for tags in _TRAITS.values() for tag in tags)}
        native.walk.set_up(
            _Element,
            {tag: _traits(tag) for tag in tags},
            hint_of,
            hides,
            PERMALINK_LEVELS,
            MAX_LABELS,
        )


def _traits(tag: str) -> int:
    bits = sum(bit for bit, tags in _TRAITS.items() if tag in tags)
    return KINDS.get(tag, BOX) | ROLES.get(tag, 0) << _ROLE_SHIFT | bits
