"""Text made harmless for a terminal, and set in its columns."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# They join letters of Persian, of India's scripts and of emoji, and steer nothing.
JOINERS = "\u200c\u200d"
BAR = 24  # columns of the longest
_WORD_OR_SPACE = re.compile(r"\s+|\S+")


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
            padded(cell, columns, at_left=place in right)
            for place, (cell, columns) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def wrapped(text: str, columns: int) -> Iterator[str]:
    """The text in lines of at most so many columns, two at least; none where it is empty.

    Broken at spaces, and where there are none, as in Chinese, between characters.
    """
    line, used = "", 0
    for piece in _WORD_OR_SPACE.findall(printable(text)):
        whole = width(piece)
        if used and used + whole > columns and (whole <= columns or used > columns // 2):
            yield line.rstrip()
            line, used = "", 0
        for character in "" if piece.isspace() and not used else piece:
            wide = width(character)
            if used + wide > columns:
                yield line.rstrip()
                line, used = "", 0
            line, used = line + character, used + wide
    if line.strip():
        yield line.rstrip()


def padded(cell: str, columns: int, *, at_left: bool = False) -> str:
    spaces = " " * (columns - width(cell))
    return spaces + cell if at_left else cell + spaces


def width(text: str) -> int:
    """Columns of a terminal: a Chinese character takes two, an accent of its own none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def bar(count: float, most: float) -> str:
    """A bar that is there for every count above 0."""
    return "█" * max(round(count / most * BAR), 1 if count else 0)


def _printable(character: str) -> str:
    harmless = character.isprintable() or character in JOINERS
    if harmless or unicodedata.category(character) == "Zs":
        return character
    return json.dumps(character)[1:-1]


def _columns(character: str) -> int:
    if unicodedata.combining(character) or character in JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
