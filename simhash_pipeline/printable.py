"""Text made harmless for a terminal, and set in its columns."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

from wcwidth import ljust, rjust, width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# They join letters of Persian, of India's scripts and of emoji, and steer nothing.
JOINERS = "\u200c\u200d"
BAR = 24  # columns of the longest


def printable(text: str) -> str:
    """The text in one line, with what could steer a terminal written as in JSON: \\u001b.

    That is control and format characters, turned writing directions among them, and halves of
    surrogate pairs. JSON stays JSON, with the same meaning.
    """
    return text if text.isprintable() else "".join(map(_printable, text))


def printable_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "\n".join(printable(line.expandtabs()) for line in text.split("\n"))


def aligned(rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Rows of as many cells each as lines of columns; those numbered in `right` end evenly."""
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            (rjust if place in right else ljust)(cell, columns)
            for place, (cell, columns) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def bar(count: float, most: float) -> str:
    """A bar that is there for every count above 0."""
    return "█" * max(round(count / most * BAR), 1 if count else 0)


def _printable(character: str) -> str:
    harmless = character.isprintable() or character in JOINERS
    if harmless or unicodedata.category(character) == "Zs":
        return character
    return json.dumps(character)[1:-1]
