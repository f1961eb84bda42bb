"""The compiled kernel and walk, chosen once at import: None where the Python does their work.

They are None where they were not built, where the environment variable SIMHASH_NATIVE is 0, and on
big-endian machines; the walk too where lxml has another libxml2 than it was compiled against.

    _kernel.c  text to hashes and votes    called by page/compiled.py
    _rules.c   blocks to the main text     a part of it, called by page/boilerplate.py
    _walk.c    lxml's tree to blocks       called by page/fingerprint.py
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from lxml import etree
from lxml.etree import _Element


class Tokens(Protocol):
    """The tokens of a text by their murmur3."""

    def add(self, piece: str, folded: bool, by_jieba: bool, most: int, /) -> int:
        """The length of the folded piece, whose first `most` tokens are added; below 0: not yet.

        -1 is for a character that the kernel can't fold, -2 for Han without a dictionary.
        """

    def content(self, sizes: tuple[int, ...], least: int, /) -> int | None:
        """The bits that have `least` votes or more; None without an n-gram of these sizes."""

    def sketch(self, size: int, /) -> tuple[int, int] | None:
        """The low and the high 64 bits of the simhash of the set of n-grams; None without one."""

    def __len__(self) -> int: ...


class Kernel(Protocol):
    """_kernel.c."""

    def Tokens(self) -> Tokens: ...  # noqa: N802  # a class

    def set_tables(
        self,
        unspaced: bytes,
        marks: bytes,
        folds: bytes,
        salt: int,
        max_run: int,
        max_folded: int,
        /,
    ) -> None:
        """Ranges of characters, and what each of the first 65,536 is folded to; 4 bytes each."""

    def load_dictionary(self, lines: bytes, start: bytes, trans: bytes, emit: bytes, /) -> None:
        """jieba's dictionary as its file has it, and its model's logarithms by B, M, E, S."""

    def sample(
        self, text: bytes, masks: bytes, mains: bytes, window: int, taken: int, /
    ) -> tuple[int, bytes, bytes]:
        """The limit and the entries of a sample, and its blocks' hashes, 4 bytes each."""

    def is_plain(self, source: bytes, /) -> bool:
        """Whether it is UTF-8 without U+FFFD."""

    def end_tag(self, source: bytes, /) -> int:
        """Where `</body` or `</html` stands first, in any case; the length without them."""

    def suspects(self, source: bytes, most: int, /) -> list[tuple[int, int]]:
        """The stretches between two `>` whose last tag may go on, or of more than `most` bytes."""

    def set_rules(
        self,
        numbers: bytes,
        traits: dict[str, int],
        hints: dict[str, int],
        marks: str,
        full_stops: str,
        closing: str,
        /,
    ) -> None:
        """boilerplate.py's rules: numbers as doubles, tags' traits as bits, numbers of hints."""

    def main_blocks(
        self,
        texts: list[str],
        tags: list[str],
        sizes: list[int],
        link_shares: list[float],
        boxes: list[tuple[int, int, str, str]],
        hints: list[tuple[int, int, str]],
        title_words: list[str],
        /,
    ) -> list[int]:
        """The numbers of the blocks that are the main text, of the columns of `Blocks`."""

    def outline(
        self, rows: bytes, weights: bytes, tags: int, class_bits: int, min_u: float, vote: float, /
    ) -> int:
        """The fingerprint of rows of 64 bits, the first `tags` of them a tag's, and their weights.

        A label votes on the class bits, a tag on the others.
        """


# What a walk over lxml's tree finds: texts, tags, sizes, link shares, boxes, hints and hidden texts
# of its blocks; and of its outline the number of nodes, and what Kernel.outline takes.
Walked = tuple[tuple[Any, ...], tuple[int, bytes, bytes, int]]


# Of each element of a head its tag, rel, href, property and content, None for what it lacks; the
# content of a title is its text.
Head = list[tuple[str, str | None, str | None, str | None, str | None]]


class Walk(Protocol):
    """_walk.c."""

    LIBXML_VERSION: int  # of the headers that it was compiled with: 21406 for 2.14.6

    def set_up(
        self,
        element: type,
        traits: Mapping[str, int],
        hint_of: Callable[[str, str, str, str], str | None],
        hides: Callable[[str], object],
        permalink_levels: int,
        max_labels: int,
        max_name_chars: int,
        /,
    ) -> None:
        """ImportError where lxml's elements are not as it knows them."""

    def walk(self, root: _Element, /) -> Walked | None:
        """None for a tree that it leaves to the Python."""

    def head(self, root: _Element, /) -> Head | None:
        """What stands in the head; None where it is left to the Python."""


def _loaded(name: str) -> Any:
    try:
        return importlib.import_module(f"simhash_pipeline.native.{name}")
    except ImportError:
        return None


def _chosen() -> tuple[Kernel | None, Walk | None, str]:
    """The kernel, the walk, and what is missing: "" if nothing is, or nothing is wanted."""
    if os.environ.get("SIMHASH_NATIVE") == "0" or sys.byteorder != "little":
        return None, None, ""
    if (kernel := _loaded("_kernel")) is None:
        return None, None, "the compiled kernel, which was not built"
    walk: Walk | None = _loaded("_walk")
    if walk is None:
        return kernel, None, "the compiled walk over lxml's trees, which was not built"
    built, there = walk.LIBXML_VERSION // 100, etree.LIBXML_VERSION
    if divmod(built, 100) != there[:2]:
        versions = "libxml2 {}.{}, and lxml has {}.{}".format(*divmod(built, 100), *there)
        return kernel, None, f"the compiled walk over lxml's trees, which was built for {versions}"
    return kernel, walk, ""


kernel, walk, missing = _chosen()


def kind() -> str:
    """What hashes texts and reads trees: "compiled", "compiled in part" or "Python"."""
    if kernel is None:
        return "Python"
    return "compiled in part" if walk is None else "compiled"
