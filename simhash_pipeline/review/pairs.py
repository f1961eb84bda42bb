"""Pairs of pages, drawn at random of each distance, and what follows from answers about them.

That is how often each threshold is right, and which settings are recommended. The answers stand in
a sheet: see answers.py.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from simhash_pipeline.page.fingerprint import PageFingerprint

LARGEST_DISTANCE = 12  # bits; the settings have 0-8, and pairs just above show what these miss
# Rows compared with all at a time. Measured with 20,000 values of 64 and of 128 bits, CPU seconds:
#     16 rows 2.3 and 2.4, 64 rows 2.1 and 2.2, 256 rows 2.3 and 2.8
ROWS_AT_A_TIME = 64
Z = 1.959964  # of a 95 % interval
LARGEST_SETTING = 8  # bits, of SIMHASH_CONTENT_DISTANCE


def drawn_pages(
    pages: Iterable[PageFingerprint], number: int, seed: int
) -> tuple[list[PageFingerprint], int]:
    """At most `number` pages, sorted by URL, and how many URLs there were.

    The sample has the URLs with the least hashes (bottom-k sampling), so it doesn't depend on the
    order of the pages. Of several pages with one URL the last is taken.
    """
    kept: dict[str, PageFingerprint] = {}
    ranks: set[int] = set()
    largest: list[tuple[int, str]] = []  # of those kept, negated, as heapq has the least first
    for page in pages:
        url = page.url or ""
        rank = _rank(url, seed)
        ranks.add(rank)
        if url not in kept:
            if len(kept) < number:
                heapq.heappush(largest, (-rank, url))
            elif rank < -largest[0][0]:
                del kept[heapq.heapreplace(largest, (-rank, url))[1]]
            else:
                continue
        kept[url] = page
    return [kept[url] for url in sorted(kept)], len(ranks)


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


def sample_pairs(values: Sequence[int], bits: int, of_each: int, seed: int) -> PairSample:
    """Compares every value with every other: some seconds for 20,000."""
    first: dict[int, int] = {}
    repeats = [
        (first[value], row)
        for row, value in enumerate(values)
        if first.setdefault(value, row) != row
    ]
    rows = np.fromiter(first.values(), np.int64, len(first))
    words = _words(list(first), bits)
    dice = np.random.default_rng(seed)
    counts = np.zeros(bits + 1, np.int64)
    drawn = [_Draw(of_each) for _ in range(LARGEST_DISTANCE + 1)]
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        distances = _distances(words, start)
        counts += np.bincount(distances[distances <= bits], minlength=bits + 1)
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


def nearest_distances(values: Sequence[int], bits: int, number: int, seed: int) -> list[int]:
    """How many values have their nearest neighbour at each distance, from 0 to the width.

    At most `number` values are drawn, and each is compared with all: 3 ms for a million. Empty for
    fewer than two values.
    """
    if len(values) < 2:
        return []
    words = _words(values, bits)
    counts = np.zeros(bits + 1, np.int64)
    rows = np.random.default_rng(seed).permutation(len(values))[:number]
    for row in rows:
        distances = sum(np.bitwise_count(word ^ word[row]).astype(np.int16) for word in words)
        distances[row] = bits  # itself
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


def _words(values: Sequence[int], bits: int) -> NDArray[np.uint64]:
    """A row for each 64 bits of the values, the lowest first: two for 128 bits, else one."""
    size = max(bits // 8, 8)
    packed = b"".join(value.to_bytes(size, "little") for value in values)
    return np.ascontiguousarray(np.frombuffer(packed, "<u8").reshape(-1, size // 8).T)


def _distances(words: NDArray[np.uint64], start: int) -> NDArray[np.int16]:
    """From ROWS_AT_A_TIME rows to all rows from `start` on, each pair once; others are maximal."""
    end = start + ROWS_AT_A_TIME
    counts = sum(
        np.bitwise_count(word[start:end, None] ^ word[None, start:]).astype(np.int16)
        for word in words
    )
    distances = np.asarray(counts)
    distances[np.tril_indices_from(distances)] = np.iinfo(np.int16).max
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
class Label:
    """A person's answer about two pages; distances in bits."""

    distance: int
    sketch_distance: int | None
    are_twins: bool
    weight: float  # how many pairs of its distance it stands for


@dataclass(frozen=True, slots=True)
class Precision:
    """The share of pairs that are twins, 0-1, with its interval, and the number of answers."""

    answers: int
    worth: float  # answers that are all of one weight, and tell as much
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Settings that would have been right often enough."""

    content_distance: int
    sketch_distance: int | None


def labels(answers: Sequence[tuple[int, int | None, bool]], counts: Sequence[int]) -> list[Label]:
    """Answers as (distance, sketch distance, twins?), weighted by the pairs that each stands for.

    The sample has equally many pairs of each distance, whether there are ten or ten thousand.
    """
    asked = [distance for distance, _, _ in answers]
    return [
        Label(distance, sketch, twins, max(counts[distance], 1) / asked.count(distance))
        for distance, sketch, twins in answers
    ]


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


def joined(found: Sequence[Label], distance: int, verify: int | None) -> list[Label]:
    """The pairs that these settings call twins."""
    return [
        label
        for label in found
        if label.distance <= distance
        and (verify is None or label.sketch_distance is None or label.sketch_distance <= verify)
    ]


def recommended(found: Sequence[Label], verify: int | None, least: float) -> Recommendation | None:
    """The largest content distance of answered pairs whose precision has a low of `least` or more.

    Then, with a second look, the largest sketch distance for which that holds: the one that is
    set, or one of twins within that content distance. None if no content distance is right so
    often.
    """
    answered = {label.distance for label in joined(found, LARGEST_SETTING, verify)}
    content = _largest(answered, lambda n: joined(found, n, verify), least)
    if content is None or verify is None:
        return None if content is None else Recommendation(content, None)
    sketches = {
        label.sketch_distance
        for label in joined(found, content, None)
        if label.are_twins and label.sketch_distance is not None
    }
    sketch = _largest(sketches | {verify}, lambda n: joined(found, content, n), least)
    return Recommendation(content, sketch)


def _largest(
    distances: set[int], joined_within: Callable[[int], list[Label]], least: float
) -> int | None:
    for distance in sorted(distances, reverse=True):
        measured = precision(joined_within(distance))
        if measured is not None and measured.low >= least:
            return distance
    return None
