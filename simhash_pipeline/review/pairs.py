"""Pages drawn at random, the distances of all their pairs, and pairs drawn of each distance."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from simhash_pipeline.index.tables import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from simhash_pipeline.page.fingerprint import PageFingerprint

LARGEST_DISTANCE = 12  # bits; the settings have 0-8, and pairs just above show what these miss
# Rows compared with all at a time. Measured with 20,000 values of 64 and of 128 bits, CPU seconds:
#     16 rows 2.3 and 2.4, 64 rows 2.1 and 2.2, 256 rows 2.3 and 2.8
ROWS_AT_A_TIME = 64


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
    words = columns(list(first), bits)
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
    words = columns(values, bits)
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


def _distances(words: tuple[NDArray[np.uint64], ...], start: int) -> NDArray[np.int16]:
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
