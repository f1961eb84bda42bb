"""Two texts beside each other in a terminal: what differs, and a line of what stands around it."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from wcwidth import ljust, wrap

from simhash_pipeline.compare.line_diff import rows
from simhash_pipeline.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_pipeline.compare.line_diff import Marked, Row

SEPARATOR = " | "
LEAST_COLUMNS = 20  # of either text
# Of what both texts have, so much is told on either side of a change.
_CONTEXT_CHARS = 60


def beside(left: str, right: str, columns: int, limit: int) -> Iterator[str]:
    """Lines of at most so many columns, [-gone-] and {+new+} words marked; of so many changes."""
    each = max((columns - len(SEPARATOR)) // 2, LEAST_COLUMNS)
    told = rows(left, right)
    changes = [place for place, row in enumerate(told) if _differs(row)]
    last = -1
    for place in changes[:limit]:
        for near in range(max(last + 1, place - 1), min(place + 2, len(told))):
            if near > place and _differs(told[near]):
                break
            if near > last + 1:
                yield from _set("...", "...", each)
            yield from _set(*_sides(told[near]), each)
            last = near
    if last + 1 < len(told):
        yield from _set("...", "...", each)
    if len(changes) > limit:
        yield f"and {len(changes) - limit:,} more changed lines: --limit {len(changes)}"


def _differs(row: Row) -> bool:
    """Whether some word does, and not the punctuation alone."""
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


def _short(pieces: list[str]) -> str:
    return _cut("".join(pieces), first=False, last=True)


def _cut(text: str, *, first: bool, last: bool) -> str:
    """Text between changes without its middle, where that is long."""
    room = _CONTEXT_CHARS * (1 if first or last else 2)
    if len(text) <= room + 3:
        return text
    start = "" if first else text[:_CONTEXT_CHARS]
    return f"{start}…{'' if last else text[-_CONTEXT_CHARS:]}"


def _set(left: str, right: str, columns: int) -> Iterator[str]:
    sides = (wrap(printable(text), columns) for text in (left, right))
    for one, other in zip_longest(*sides, fillvalue=""):
        yield f"{ljust(one, columns)}{SEPARATOR}{other}".rstrip()
