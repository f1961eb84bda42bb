"""How two pages differ: how they are judged, and their words and lines.

Texts are compared by words for a terminal, and by lines for the report.
"""

from collections.abc import Iterable, Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import zip_longest
from typing import Literal, NamedTuple, TypeAlias

from simhash_pipeline.item_values import by_bytes
from simhash_pipeline.judge import Judge
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import PageFingerprint
from simhash_pipeline.page.folding import folded
from simhash_pipeline.page.segment import WORD_OR_CHARACTER
from simhash_pipeline.repeated_text import copies_on
from simhash_pipeline.stores.contract import Store, StoredPage
from simhash_pipeline.stores.opening import open_store
from simhash_pipeline.verdict import Verdict

CONTEXT_WORDS = 6
MAX_LOOKED_AT = 20_000_000  # words, and places where the other text has them: some 3 s of CPU
MAX_CHARS = 50_000  # of either text of a diff by lines; a longer one is cut
SHOWN_CHARACTERS = 300  # of a piece, for people
MARKS = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}

# Pieces of a line, unmarked and marked in turn; the first is unmarked, and may be "".
Marked: TypeAlias = list[str]
# A line of both texts, or what differs in its place: (left, right).
Row: TypeAlias = str | tuple[Marked, Marked]


def compare(a: PageFingerprint, b: PageFingerprint, options: Options) -> Verdict:
    """On the second page, if only the first were stored.

    Pages of one URL are judged as one page seen twice. PageError when a URL is none.
    """
    with Judge("memory:", options) as judge:
        judge.judge(a.url or "a", a)
        return judge.judge(b.url or "b", b)


def verdict_on(
    page: StoredPage, other: StoredPage, store: Store, options: Options, names: Iterable[str] = ()
) -> Verdict:
    """On a stored page, if only the other were stored, and the repeated text of their hosts.

    `names` are fields of their items, which the verdict may name.
    """
    with open_store("memory:") as alone:
        for host in (page.host, other.host, copies_on(page.site, other.site)):
            alone.put_repeated_text(page.namespace, host, store.repeated_text(page.namespace, host))
        judge = Judge(alone, options)
        judge.judge_stored(other)
        return judge.judge_stored(page, names=by_bytes(names))


class Piece(NamedTuple):
    """Words as they stand in the text, in one line; "removed" are only in the first."""

    kind: Literal["same", "removed", "added"]
    text: str


def text_diff(a: str, b: str) -> list[list[Piece]]:
    """Where the words of two texts differ, whatever their case, punctuation and spacing.

    The changes, each with a few words around it; empty when the words are the same.
    """
    words_a, words_b = Words(a), Words(b)
    groups = Matched(None, words_a.keys, words_b.keys).get_grouped_opcodes(CONTEXT_WORDS)
    return [[*_pieces(group, words_a, words_b)] for group in groups]


class Matched(SequenceMatcher[str]):
    """What two sequences share, in bounded time: it stops looking after MAX_LOOKED_AT.

    difflib looks at a stretch again for each half that a match leaves of it. If all matches are
    equally long it takes the first, and looks at all the rest for each of them.
    """

    a: Sequence[str]
    b2j: dict[str, list[int]]  # the places of each word in the other text
    left = MAX_LOOKED_AT

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        self.left -= sum(2 + len(self.b2j.get(word, "")) for word in self.a[alo:ahi])
        if self.left < 0:
            return Match(alo, blo, 0)
        return super().find_longest_match(alo, ahi, blo, bhi)


class Words:
    """A text's words: what is compared of each, and where it begins in the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found = list(WORD_OR_CHARACTER.finditer(text))
        self.keys = [folded(word[0]) for word in self._found]

    def marked(self, changed: Iterable[tuple[int, int]]) -> Marked:
        """The text's pieces; those with the words from a start to an end (exclusive) are marked."""
        pieces, done = [], 0
        for start, end in changed:
            if end > start:
                first, last = self._found[start].start(), self._found[end - 1].end()
                pieces += [self._text[done:first], self._text[first:last]]
                done = last
        return pieces + ([self._text[done:]] if done < len(self._text) else [])

    def written(self, start: int, end: int) -> str:
        """The words as the text has them, with the punctuation behind each."""
        first = self._found[start].start()
        last = self._found[end].start() if end < len(self._found) else len(self._text)
        return " ".join(self._text[first:last].split())


def _pieces(group: Iterable[tuple[str, int, int, int, int]], a: Words, b: Words) -> Iterator[Piece]:
    for kind, first_a, end_a, first_b, end_b in group:
        is_same = kind == "equal"
        if end_a > first_a:
            yield Piece("same" if is_same else "removed", a.written(first_a, end_a))
        if end_b > first_b and not is_same:
            yield Piece("added", b.written(first_b, end_b))


def marked(change: Sequence[Piece]) -> str:
    """As wdiff marks what is gone and what is new; of a long piece the beginning."""
    return " ".join(MARKS[piece.kind].format(_shortened(piece.text)) for piece in change)


def _shortened(text: str) -> str:
    more = len(text) - SHOWN_CHARACTERS
    return f"{text[:SHOWN_CHARACTERS]}… ({more:,} characters more)" if more > 0 else text


def line_diff(left: str, right: str) -> list[Row]:
    """The texts' lines in order; a line that was changed stands beside what it was."""
    ours, others = (text[:MAX_CHARS].splitlines() for text in (left, right))
    rows: list[Row] = []
    for kind, a, b, c, d in Matched(None, ours, others).get_opcodes():
        pairs = zip_longest(ours[a:b], others[c:d], fillvalue="")
        rows += ours[a:b] if kind == "equal" else [_marked(*pair) for pair in pairs]
    return rows


def _marked(left: str, right: str) -> tuple[Marked, Marked]:
    """The pieces of two lines; the words that differ, in the sense of `text_diff`, are marked."""
    ours, others = Words(left), Words(right)
    codes = Matched(None, ours.keys, others.keys).get_opcodes()
    changed = [code[1:] for code in codes if code[0] != "equal"]
    return (
        ours.marked((a, b) for a, b, _, _ in changed),
        others.marked((c, d) for _, _, c, d in changed),
    )
