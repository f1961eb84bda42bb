"""Two texts beside each other, line by line, with the words that differ marked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TypeAlias

from simhash_pipeline.compare.diff import Words, matched

# Pieces of a line by turns unmarked and marked, beginning with an unmarked one that may be "".
Marked: TypeAlias = list[str]
# A line that both texts have, or what each has in its place: (left, right).
Row: TypeAlias = str | tuple[Marked, Marked]

MAX_CHARS = 50_000  # of either text; a longer one is cut


def rows(left: str, right: str) -> list[Row]:
    """The texts' lines in order; a line that was changed stands beside what it was."""
    return list(_rows(left[:MAX_CHARS].splitlines(), right[:MAX_CHARS].splitlines()))


def _rows(left: list[str], right: list[str]) -> Iterator[Row]:
    for kind, a, b, c, d in matched(left, right).get_opcodes():
        if kind == "equal":
            yield from left[a:b]
        else:
            pairs = zip_longest(left[a:b], right[c:d], fillvalue="")
            yield from (_marked(one, other) for one, other in pairs)


def _marked(left: str, right: str) -> tuple[Marked, Marked]:
    """The pieces of two lines; the words that differ are marked, as `text_diff` tells words."""
    ours, others = Words(left), Words(right)
    changed: tuple[list[tuple[int, int]], ...] = ([], [])
    for kind, a, b, c, d in matched(ours.keys, others.keys).get_opcodes():
        if kind != "equal":
            changed[0].extend([ours.edges(a, b)] if b > a else [])
            changed[1].extend([others.edges(c, d)] if d > c else [])
    return _pieces(left, changed[0]), _pieces(right, changed[1])


def _pieces(line: str, changed: list[tuple[int, int]]) -> Marked:
    pieces, told = [], 0
    for start, end in changed:
        pieces += [line[told:start], line[start:end]]
        told = end
    return pieces + ([line[told:]] if told < len(line) else [])
