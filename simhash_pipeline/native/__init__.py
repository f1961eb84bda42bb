"""The compiled kernel, chosen once at import: None where the Python does its work.

It is None where it was not built, where the environment variable SIMHASH_NATIVE is 0, and on
big-endian machines.

    _kernel.c  text to hashes and votes    called by page/compiled.py
    _markup.c  markup to blocks            a part of it, called by page/tags.py
    _rules.c   blocks to the main text     a part of it, called by page/boilerplate.py
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

# Of each element of a head its tag, rel, href, property and content, None for what it lacks; the
# content of a title is its text.
Head = list[tuple[str, str | None, str | None, str | None, str | None]]


class MarkupRead(NamedTuple):
    """What is read of a page."""

    # Texts, tags, sizes, link shares, boxes, hints and hidden texts: the columns of `Blocks`
    columns: tuple[list[Any], ...]
    nodes: int  # of the outline
    structure: int  # 64 bits, however few the nodes are
    head: Head
    titles: list[str]  # of title elements, of og:title, and of h1s
    og_titles: list[str]
    headings: list[str]


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

    def set_markup(
        self,
        references: list[tuple[str, str]],
        tags: list[tuple[str, int, int, int]],
        hint_of: Callable[[str, str, str, str], str | None],
        hides: Callable[[str], object],
        bounds: tuple[int, ...],
        class_bits: int,
        min_u: float,
        vote: float,
        /,
    ) -> None:
        """tags.py's tables: of each tag its traits, its bit, and the bits of those that it ends."""

    def read_markup(self, source: bytes, max_depth: int, /) -> MarkupRead | int:
        """What it reads of UTF-8 markup; the number of a rule in tags.RULES where it isn't sure."""

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


def _chosen() -> tuple[Kernel | None, str]:
    """The kernel, and what is missing: "" if nothing is, or nothing is wanted."""
    if os.environ.get("SIMHASH_NATIVE") == "0" or sys.byteorder != "little":
        return None, ""
    try:
        built: Any = importlib.import_module("simhash_pipeline.native._kernel")
    except ImportError:
        return None, "the compiled kernel, which was not built"
    return built, ""


kernel, missing = _chosen()


def kind() -> str:
    """What hashes texts and reads pages: "compiled" or "Python"."""
    return "Python" if kernel is None else "compiled"
