"""What differs, drawn for a terminal: bits of fingerprints, and texts beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_pipeline.compare.diff import line_diff
from simhash_pipeline.terminal import Beside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_pipeline.compare.diff import Marked, Row
    from simhash_pipeline.terminal import Line

BITS_A_ROW = 32
_GROUP = 8
_CONTEXT_CHARS = 60  # shown on either side of a change


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


def beside(left: str, right: str, limit: int, columns: int | None = None) -> Iterator[Line]:
    """At most `limit` changed lines, each with a line around it; [-gone-] and {+new+} words."""
    rows = line_diff(left, right)
    changes = [place for place, row in enumerate(rows) if _differs(row)]
    yield Beside(list(_pairs(rows, changes[:limit])), columns)
    if len(changes) > limit:
        yield f"and {len(changes) - limit:,} more changed lines: --limit {len(changes)}"


def _pairs(rows: list[Row], changes: list[int]) -> Iterator[tuple[str, str]]:
    last = -1
    for place in changes:
        for near in range(max(last + 1, place - 1), min(place + 2, len(rows))):
            if near > place and _differs(rows[near]):
                break
            if near > last + 1:
                yield "...", "..."
            yield _sides(rows[near])
            last = near
    if last + 1 < len(rows):
        yield "...", "..."


def _differs(row: Row) -> bool:
    """Whether a word differs, not only the punctuation."""
    return not isinstance(row, str) and any(len(side) > 1 for side in row)


def _sides(row: Row) -> tuple[str, str]:
    if isinstance(row, str):
        return _short([row]), _short([row])
    if not _differs(row):
        return _short(row[0]), _short(row[1])
    return _written(row[0], "[-{}-]"), _written(row[1], "{{+{}+}}")


def _written(pieces: Marked, mark: str) -> str:
    last = len(pieces) - 1
    return "".join(
        mark.format(piece) if place % 2 else _cut(piece, first=not place, last=place == last)
        for place, piece in enumerate(pieces)
    )


def _short(pieces: Marked) -> str:
    return _cut("".join(pieces), first=False, last=True)


def _cut(text: str, *, first: bool, last: bool) -> str:
    """Text between changes without its middle, if it is long."""
    room = _CONTEXT_CHARS * (1 if first or last else 2)
    if len(text) <= room + 3:
        return text
    start = "" if first else text[:_CONTEXT_CHARS]
    return f"{start}…{'' if last else text[-_CONTEXT_CHARS:]}"
