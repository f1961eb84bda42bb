"""Fingerprints drawn bit by bit, those that differ marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BITS_A_ROW = 32
_GROUP = 8


def bit_picture(a: int, b: int, bits: int) -> Iterator[str]:
    """Rows of 32 bits, the highest first: a's, b's, and a ^ under each bit that differs.

    A set bit is a #, another one a dot: blocks are two columns wide in some terminals.
    """
    for start in range(bits, 0, -BITS_A_ROW):
        places = range(start - 1, start - 1 - BITS_A_ROW, -1)
        for name, value, marks in (("A", a, ".#"), ("B", b, ".#"), (" ", a ^ b, " ^")):
            drawn = "".join(marks[value >> place & 1] for place in places)
            groups = (drawn[i : i + _GROUP] for i in range(0, BITS_A_ROW, _GROUP))
            row = f"{name}  {' '.join(groups)}".rstrip()
            if row:
                yield row
