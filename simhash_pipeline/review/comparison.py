"""How two pages differ: what they share, how they are judged, and their words and lines.

Texts are compared by words for a terminal, and by lines for the report.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import takewhile, zip_longest
from operator import eq
from typing import Literal, TypeAlias

from simhash_pipeline.judge import Judge
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import PageFingerprint
from simhash_pipeline.page.folding import folded
from simhash_pipeline.page.segment import WORD_OR_CHARACTER
from simhash_pipeline.stores.contract import Store, StoredPage
from simhash_pipeline.stores.opening import open_store
from simhash_pipeline.verdict import Distances, Verdict, distances

CONTEXT_WORDS = 6
# Words of either text that are compared between their common beginning and end. With the bounds
# below: at most .7 s of CPU for texts, and 3 s for 150 words in random order.
MAX_WORDS = 20_000
# Pairs of places with the same word, above which the commonest words are no longer matched alone:
# difflib's time grows with them, and with the square of a text's length.
MAX_PAIRS = 500_000
MAX_LOOKED_AT = 2_000_000  # words; without it 18 s where every other word differs
MAX_CHARS = 50_000  # of either text of a diff by lines; a longer one is cut
SHOWN_CHARACTERS = 300  # of a piece, for people
MARKS = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}

# Pieces of a line, unmarked and marked in turn; the first is unmarked, and may be "".
Marked: TypeAlias = list[str]
# A line of both texts, or what differs in its place: (left, right).
Row: TypeAlias = str | tuple[Marked, Marked]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two pages beside each other."""

    apart: Distances
    verdict: Verdict  # on the second page, by a judge who has kept the first and no other
    diff: TextDiff  # of the main texts
    left_out: TextDiff  # of what is visible beside them

    @property
    def are_twins(self) -> bool:
        """Whether the verdict calls them near-duplicates, of one URL or two."""
        return self.verdict.dropped or self.verdict.reason == "unchanged"


def compare(a: PageFingerprint, b: PageFingerprint, options: Options) -> Comparison:
    """Two pages side by side, by the options that their fingerprints were made with.

    Pages of one URL are judged as one page seen twice. PageError when a URL is none.
    """
    with Judge("memory:", options) as judge:
        judge.judge(a.url or "a", a)
        verdict = judge.judge(b.url or "b", b)
    return Comparison(
        apart=distances(a, b),
        verdict=verdict,
        diff=text_diff(a.text, b.text),
        left_out=text_diff(a.left_out, b.left_out),
    )


def verdict_on(page: StoredPage, other: StoredPage, store: Store, options: Options) -> Verdict:
    """On a stored page, if only the other were stored, and the repeated text of their hosts."""
    with open_store("memory:") as alone:
        for one in (page, other):
            repeated_text = store.repeated_text(one.namespace, one.host)
            alone.put_repeated_text(one.namespace, one.host, repeated_text)
        judge = Judge(alone, options)
        judge.judge_stored(other)
        return judge.judge_stored(page)


@dataclass(frozen=True, slots=True)
class Piece:
    """Words as they stand in the text, in one line; "removed" are only in the first."""

    kind: Literal["same", "removed", "added"]
    text: str


@dataclass(frozen=True, slots=True)
class TextDiff:
    """The changes, each with a few words around it; empty when the words are the same."""

    changes: tuple[tuple[Piece, ...], ...]
    words_left_out: int  # of texts too long to be compared to their ends


def text_diff(a: str, b: str) -> TextDiff:
    """Where the words of two texts differ, whatever their case, punctuation and spacing."""
    words_a, words_b = Words(a), Words(b)
    start, end = _common(words_a.keys, words_b.keys)
    compared_a, out_a = words_a.between(start, end)
    compared_b, out_b = words_b.between(start, end)
    changes = tuple(
        tuple(_pieces(group, compared_a, compared_b))
        for group in matched(compared_a.keys, compared_b.keys).get_grouped_opcodes(CONTEXT_WORDS)
    )
    return TextDiff(changes, out_a + out_b)


def matched(a: Sequence[str], b: Sequence[str]) -> SequenceMatcher[str]:
    """What two sequences share, in bounded time."""
    count_b = Counter(b)
    pairs = sum(count * count_b[word] for word, count in Counter(a).items())
    return _Bounded(None, a, b, autojunk=pairs > MAX_PAIRS)


class _Bounded(SequenceMatcher[str]):
    """Stops looking for matches after MAX_LOOKED_AT words.

    difflib looks at a stretch again for each half that a match leaves of it. If all matches are
    equally long it takes the first, and looks at all the rest for each of them.
    """

    left = MAX_LOOKED_AT

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        self.left -= (ahi or 0) - alo  # get_matching_blocks always passes the end
        if self.left < 0:
            return Match(alo, blo, 0)
        return super().find_longest_match(alo, ahi, blo, bhi)


class Words:
    """A stretch of a text's words: what is compared of each, and where it begins in the text."""

    def __init__(self, text: str, found: Sequence[re.Match[str]] | None = None) -> None:
        self._text = text
        self._found = list(WORD_OR_CHARACTER.finditer(text)) if found is None else found
        self.keys = [folded(word[0]) for word in self._found]

    def between(self, start: int, end: int) -> tuple[Words, int]:
        """The words without `start` first and `end` last ones, and how many more are left out."""
        stop = len(self._found) - end
        cut = min(stop, start + MAX_WORDS)
        text = self._text if cut == len(self._found) else self._text[: self._found[cut].start()]
        return Words(text, self._found[start:cut]), stop - cut

    def edges(self, start: int, end: int) -> tuple[int, int]:
        """Where in the text the words from `start` to `end` (exclusive, one at least) lie."""
        return self._found[start].start(), self._found[end - 1].end()

    def written(self, start: int, end: int) -> str:
        """The words as the text has them, with the punctuation behind each."""
        first = self._found[start].start()
        last = self._found[end].start() if end < len(self._found) else len(self._text)
        return " ".join(self._text[first:last].split())


def _common(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """How many words both begin and end with, without those shown around a change."""
    start = sum(takewhile(bool, map(eq, a, b)))
    end = sum(takewhile(bool, map(eq, reversed(a), reversed(b))))
    rest = min(len(a), len(b)) - start
    return max(0, start - CONTEXT_WORDS), max(0, min(end, rest) - CONTEXT_WORDS)


def _pieces(group: Sequence[tuple[str, int, int, int, int]], a: Words, b: Words) -> Iterator[Piece]:
    for kind, start_a, end_a, start_b, end_b in group:
        if kind == "equal":
            yield Piece("same", a.written(start_a, end_a))
            continue
        if end_a > start_a:
            yield Piece("removed", a.written(start_a, end_a))
        if end_b > start_b:
            yield Piece("added", b.written(start_b, end_b))


def marked(change: Sequence[Piece]) -> str:
    """As wdiff marks what is gone and what is new; of a long piece the beginning."""
    return " ".join(MARKS[piece.kind].format(_shortened(piece.text)) for piece in change)


def _shortened(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    more = len(text) - SHOWN_CHARACTERS
    return f"{text[:SHOWN_CHARACTERS]}… ({more:,} characters more)"


def line_diff(left: str, right: str) -> list[Row]:
    """The texts' lines in order; a line that was changed stands beside what it was."""
    ours, others = (text[:MAX_CHARS].splitlines() for text in (left, right))
    rows: list[Row] = []
    for kind, a, b, c, d in matched(ours, others).get_opcodes():
        pairs = zip_longest(ours[a:b], others[c:d], fillvalue="")
        rows += ours[a:b] if kind == "equal" else [_marked(*pair) for pair in pairs]
    return rows


def _marked(left: str, right: str) -> tuple[Marked, Marked]:
    """The pieces of two lines; the words that differ, in the sense of `text_diff`, are marked."""
    ours, others = Words(left), Words(right)
    changed = [code for code in matched(ours.keys, others.keys).get_opcodes() if code[0] != "equal"]
    return (
        _line_pieces(left, [ours.edges(a, b) for _, a, b, _, _ in changed if b > a]),
        _line_pieces(right, [others.edges(c, d) for *_, c, d in changed if d > c]),
    )


def _line_pieces(line: str, changed: list[tuple[int, int]]) -> Marked:
    pieces, done = [], 0
    for start, end in changed:
        pieces += [line[done:start], line[start:end]]
        done = end
    return pieces + ([line[done:]] if done < len(line) else [])
