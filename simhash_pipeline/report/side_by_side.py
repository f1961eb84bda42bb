"""Two texts beside each other, line by line, with the words that differ marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TypeAlias

# Pieces of a line by turns unmarked and marked, beginning with an unmarked one that may be "".
Marked: TypeAlias = list[str]
# A line that both texts have, or what each has in its place: (left, right).
Row: TypeAlias = str | tuple[Marked, Marked]

MAX_CHARS = 50_000  # of either text; a longer one is cut
# Past so many words the common ones aren't tried as places to match: slow, and no clearer.
_MANY_WORDS = 2_000
_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORDS = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+|\s+|.")


def rows(left: str, right: str) -> list[Row]:
    """The texts' lines in order; a line that was changed stands beside what it was."""
    return list(_rows(left[:MAX_CHARS].splitlines(), right[:MAX_CHARS].splitlines()))


def _rows(left: list[str], right: list[str]) -> Iterator[Row]:
    for kind, a, b, c, d in _matcher(left, right).get_opcodes():
        if kind == "equal":
            yield from left[a:b]
        else:
            pairs = zip_longest(left[a:b], right[c:d], fillvalue="")
            yield from (_marked(one, other) for one, other in pairs)


def _marked(left: str, right: str) -> tuple[Marked, Marked]:
    """The pieces of two lines; words are marked, Chinese ones by the character."""
    ours, others = _WORDS.findall(left), _WORDS.findall(right)
    marked: tuple[Marked, Marked] = ([], [])
    for kind, a, b, c, d in _matcher(ours, others).get_opcodes():
        for pieces, words in zip(marked, (ours[a:b], others[c:d]), strict=True):
            if not words:
                continue
            if len(pieces) % 2 != (kind != "equal"):
                pieces.append("")
            pieces.append("".join(words))
    return marked


def _matcher(left: list[str], right: list[str]) -> SequenceMatcher[str]:
    many = max(len(left), len(right)) > _MANY_WORDS
    return SequenceMatcher(None, left, right, autojunk=many)
