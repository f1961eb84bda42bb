"""Pairs of pages, drawn at random of each distance, and what follows from answers about them.

That is how often each threshold is right, and which settings are recommended. The answers stand in
a sheet: see answers.py.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from simhash_pipeline.bits import BITS, MAX_DISTANCE_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from simhash_pipeline.answers import SheetLine
    from simhash_pipeline.page.fingerprint import PageFingerprint

LARGEST_DISTANCE = 12  # bits; the settings have 0-8, and pairs just above show what these miss
# Rows compared with all at a time. Measured with 20,000 values of 64 bits, CPU seconds:
#     16 rows 2.3, 64 rows 2.1, 256 rows 2.3
ROWS_AT_A_TIME = 64
Z = 1.959964  # of a 95 % interval
# By the reason of a drop or near miss: whether the page is dropped, whatever the thresholds are.
_BY_RULE = {
    **dict.fromkeys(("title", "no page", "fields", "template"), False),
    **dict.fromkeys(("address", "structure", "unchanged"), True),
}


def drawn_pages(
    pages: Iterable[PageFingerprint], number: int, seed: int
) -> tuple[list[PageFingerprint], int]:
    """At most `number` pages, sorted by URL, and how many there were.

    The sample has the URLs with the least hashes (bottom-k sampling), so it doesn't depend on the
    order of the pages.
    """
    seen = itertools.count()
    counted = (page for page in pages if next(seen) is not None)
    drawn = heapq.nsmallest(number, counted, key=lambda page: _rank(page.url or "", seed))
    return sorted(drawn, key=lambda page: page.url or ""), next(seen)


def _rank(url: str, seed: int) -> int:
    key = str(seed).encode()
    return int.from_bytes(
        blake2b(url.encode("utf-8", "replace"), digest_size=8, key=key).digest(), "big"
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows, and the bits in which their values differ."""

    a: int
    b: int
    distance: int


@dataclass(frozen=True, slots=True)
class PairSample:
    """Pairs of distinct values; equal ones are paired with the first of them alone."""

    counts: tuple[int, ...]  # all pairs, by distance from 0 to the width
    pairs: tuple[Pair, ...]  # at most `of_each` of each distance up to 12, nearest first


def sample_pairs(values: Sequence[int], of_each: int, seed: int) -> PairSample:
    """Compares every value with every other: some seconds for 20,000."""
    first: dict[int, int] = {}
    repeats = [
        (first[value], row)
        for row, value in enumerate(values)
        if first.setdefault(value, row) != row
    ]
    rows = np.fromiter(first.values(), np.int64, len(first))
    words = np.fromiter(first, np.uint64, len(first))
    dice = np.random.default_rng(seed)
    counts = np.zeros(BITS + 1, np.int64)
    drawn = [_Draw(of_each) for _ in range(LARGEST_DISTANCE + 1)]
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        distances = _distances(words, start)
        counts += np.bincount(distances[distances <= BITS], minlength=BITS + 1)
        near = np.argwhere(distances <= LARGEST_DISTANCE)
        of_near = distances[near[:, 0], near[:, 1]]
        for distance in np.unique(of_near):
            found = near[of_near == distance] + start
            drawn[distance].add(rows[found], dice.random(len(found)))
    counts[0] = len(repeats)
    if repeats:
        drawn[0].add(np.array(repeats), dice.random(len(repeats)))
    pairs = (
        Pair(int(min(pair)), int(max(pair)), distance)
        for distance, draw in enumerate(drawn)
        for pair in draw.pairs
    )
    return PairSample(tuple(counts.tolist()), tuple(pairs))


def nearest_distances(values: Sequence[int], number: int, seed: int) -> list[int]:
    """How many values have their nearest neighbour at each distance, from 0 to the width.

    At most `number` values are drawn, and each is compared with all: 3 ms for a million. Empty for
    fewer than two values.
    """
    if len(values) < 2:
        return []
    words = np.array(values, np.uint64)
    counts = np.zeros(BITS + 1, np.int64)
    rows = np.random.default_rng(seed).permutation(len(values))[:number]
    for row in rows:
        distances = np.bitwise_count(words ^ words[row])
        distances[row] = BITS  # itself
        counts[np.min(distances)] += 1
    return [int(count) for count in counts]


def valley(counts: Sequence[int]) -> tuple[int, int] | None:
    """The first and last distance of the emptiest stretch below the commonest one, if any.

    Nearer pairs are near-duplicates mostly, farther ones are other pages.
    """
    commonest = max(range(len(counts)), key=counts.__getitem__)
    if commonest < 2 or not any(counts[:commonest]):
        return None
    least = min(counts[:commonest])
    stretches: list[list[int]] = [[]]
    for distance in range(commonest):
        if counts[distance] == least:
            stretches[-1].append(distance)
        elif stretches[-1]:
            stretches.append([])
    longest = max(stretches, key=len)
    return longest[0], longest[-1]


def _distances(words: NDArray[np.uint64], start: int) -> NDArray[np.uint8]:
    """From ROWS_AT_A_TIME rows to all rows from `start` on, each pair once; others are maximal."""
    end = start + ROWS_AT_A_TIME
    distances: NDArray[np.uint8]
    distances = np.bitwise_count(words[start:end, None] ^ words[None, start:])
    distances[np.tril_indices_from(distances)] = np.iinfo(np.uint8).max
    return distances


class _Draw:
    """Pairs of one distance; those with the least random numbers stay."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.pairs = np.empty((0, 2), np.int64)
        self._numbers = np.empty(0)

    def add(self, pairs: NDArray[np.int64], numbers: NDArray[np.float64]) -> None:
        together = np.concatenate([self._numbers, numbers])
        staying = np.argsort(together)[: self._size]
        self.pairs = np.concatenate([self.pairs, pairs])[staying]
        self._numbers = together[staying]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Two pages are near-duplicates within these distances in bits, and with this likeness, 0-1."""

    content_distance: int
    sketch_distance: int
    own_likeness: float


@dataclass(frozen=True, slots=True)
class Label:
    """A person's answer about two pages, and how near they are; None for what isn't known."""

    are_twins: bool
    weight: float  # how many pairs of its distance it stands for
    content_distance: int
    sketch_distance: int | None
    own_likeness: float | None
    is_dropped: bool | None  # whatever the thresholds are; None if they decide


@dataclass(frozen=True, slots=True)
class Precision:
    """The share of pairs that are twins, 0-1, with its interval, and the number of answers."""

    answers: int
    worth: float  # answers that are all of one weight, and tell as much
    share: float
    low: float
    high: float


def labels(answers: Iterable[SheetLine], counts: Sequence[int]) -> list[Label]:
    """Answers with a distance, weighted by the pairs that each stands for.

    The sample has equally many pairs of each distance, whether there are ten or ten thousand.
    """
    found = [
        (line, line.twins, line.distance)
        for line in answers
        if line.twins is not None and line.distance is not None
    ]
    asked = Counter(distance for _, _, distance in found)
    return [
        Label(
            are_twins=twins,
            weight=max(counts[distance], 1) / asked[distance],
            content_distance=distance,
            sketch_distance=line.sketch_distance,
            own_likeness=_measured_likeness(line),
            is_dropped=_is_dropped(line),
        )
        for line, twins, distance in found
    ]


def _measured_likeness(line: SheetLine) -> float | None:
    """None for pages in two templates: another limit holds for them, which is no setting."""
    is_one_template = (line.structure_distance or 0) <= MAX_DISTANCE_BITS
    return line.own_likeness if is_one_template else None


def _is_dropped(line: SheetLine) -> bool | None:
    if line.reason == "answer":
        return line.twins
    if line.reason == "own text" and _measured_likeness(line) is None:
        return False
    return _BY_RULE.get(line.reason)


def precision(found: Sequence[Label]) -> Precision | None:
    """With Wilson's interval of 95 %, for the effective sample size of the weights (Kish).

    None without answers.
    """
    total = math.fsum(label.weight for label in found)
    if not total:
        return None
    share = math.fsum(label.weight for label in found if label.are_twins) / total
    worth = total**2 / math.fsum(label.weight**2 for label in found)
    return Precision(len(found), worth, share, *wilson(share, worth))


def wilson(share: float, count: float) -> tuple[float, float]:
    """Wilson's interval of a share that was observed `count` times."""
    middle = share + Z**2 / (2 * count)
    spread = Z * math.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2))
    scale = 1 + Z**2 / count
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def answers_needed(least: float) -> int:
    """How many answers, all of them yes, raise the interval's lower end to this share."""
    return math.ceil(least * Z**2 / (1 - least))


def more_answers_needed(found: Sequence[Label], least: float) -> int:
    """How many more answers, all of them yes, raise the lower end for these labels to this share.

    0 if it is there already.
    """
    measured = precision(found)
    if measured is None:
        return answers_needed(least)
    yes, count = measured.share * measured.worth, measured.worth
    return next(
        n for n in itertools.count() if wilson((yes + n) / (count + n), count + n)[0] >= least
    )


def joined(found: Iterable[Label], limits: Thresholds) -> list[Label]:
    """The pairs that are near-duplicates by these thresholds."""
    return [
        label
        for label in found
        if (_is_within(label, limits) if label.is_dropped is None else label.is_dropped)
    ]


def _is_within(label: Label, limits: Thresholds) -> bool:
    sketch, likeness = label.sketch_distance, label.own_likeness
    return (
        label.content_distance <= limits.content_distance
        and (sketch is None or sketch <= limits.sketch_distance)
        and (likeness is None or likeness >= limits.own_likeness)
    )


def recommended(found: Sequence[Label], now: Thresholds, least: float) -> Thresholds | None:
    """The thresholds that find the most copies with a precision whose low is `least` or more.

    One after the other, in the order of `Thresholds`, each is as loose as that allows: as far as an
    answered copy is, or as now. None if no content distance is right so often.
    """
    copies = [label for label in found if label.are_twins]
    settable = range(MAX_DISTANCE_BITS + 1)
    choices: dict[str, set[Any]] = {
        "content_distance": {label.content_distance for label in copies}.intersection(settable),
        "sketch_distance": {now.sketch_distance, *(label.sketch_distance for label in copies)},
        "own_likeness": {now.own_likeness, *(label.own_likeness for label in copies)},
    }
    best = now
    for name, values in choices.items():
        for value in sorted(values - {None}, reverse=name != "own_likeness"):
            limits = replace(best, **{name: value})
            measured = precision(joined(found, limits))
            if measured is not None and measured.low >= least:
                best = limits
                break
        else:
            return None
    return best
