"""The compiled kernel, chosen once at import: None where the Python does its work.

It is None where no kernel was built, where the environment variable SIMHASH_NATIVE is 0, and on
big-endian machines. What it computes, and how it is called, is said in page/compiled.py.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, Protocol


class Tokens(Protocol):
    """The tokens of a text by their murmur3."""

    def add(self, piece: str, folded: bool, by_jieba: bool, most: int, /) -> int:
        """The length of the folded piece, whose first `most` tokens are added; below 0: not yet.

        -1 is for a character that the kernel can't fold, -2 for Han without a dictionary.
        """

    def hashes(self) -> bytes:
        """16 bytes a token."""

    def content(self, sizes: tuple[int, ...], least: int, /) -> int | None:
        """The bits that have `least` votes or more; None without an n-gram of these sizes."""

    def sketch(self, size: int, /) -> tuple[int, int] | None:
        """The low and the high 64 bits of the simhash of the set of n-grams; None without one."""

    def __len__(self) -> int: ...


class Kernel(Protocol):
    """_kernel.c."""

    def Tokens(self) -> Tokens: ...  # noqa: N802  # a class

    def set_tables(self, unspaced: bytes, marks: bytes, folds: bytes, salt: int, /) -> None:
        """Ranges of characters, and what each of the first 65,536 is folded to; 4 bytes each."""

    def load_dictionary(self, lines: bytes, start: bytes, trans: bytes, emit: bytes, /) -> None:
        """jieba's dictionary as its file has it, and its model's logarithms by B, M, E, S."""

    def sample(self, text: bytes, menus: bytes, mains: bytes, /) -> tuple[int, bytes, list[int]]:
        """The limit and the entries of a sample, and the hash of each entry's block."""

    def outline(
        self, rows: bytes, weights: bytes, tags: int, class_bits: int, min_u: float, /
    ) -> int:
        """The fingerprint of rows of 64 bits, the first `tags` of them a tag's, and their weights.

        A label votes on the class bits, a tag on the others.
        """


def _is_wanted() -> bool:
    return os.environ.get("SIMHASH_NATIVE") != "0" and sys.byteorder == "little"


def _chosen() -> Kernel | None:
    if not _is_wanted():
        return None
    try:
        module: Any = importlib.import_module("simhash_pipeline.native._kernel")
    except ImportError:
        return None
    found: Kernel = module
    return found


kernel = _chosen()
is_missing = kernel is None and _is_wanted()  # it was not built, and would serve


def kind() -> str:
    """What hashes texts: "compiled" or "Python"."""
    return "Python" if kernel is None else "compiled"
