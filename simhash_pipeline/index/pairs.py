"""All pairs of an array within k bits of each other: sort by each table's key, compare neighbours.

In a table sorted by key a bucket is a run of rows. Each row is compared with the next one, then
with the one after that, and so on until its bucket ends; NumPy does so for many rows at a time:

    key     4  4  4  4  7  9  9
    row     0  1  2  3  4  5  6
    step 1  0-1, 1-2, 2-3, 5-6      row 3, row 4 and row 6 end their buckets
    step 2  0-2, 1-3
    step 3  0-3

A pair may share its key in several tables; only the first of these yields it. No table needs to
know what another found, so they can be worked through one by one, or on many machines.

Only one table exists at a time: more tables cost time but no memory, and they keep buckets small
when many values have a block in common. Seconds of CPU for 1M values, k = 3
(`python -m benchmarks.tables`):

    tables                                 4    10    16    20
    evenly spread                        1.06   .52   .62   .73
    a tenth alike in one 16-bit block   43.57   .72   .65   .85
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simhash_pipeline.index.tables import WORD_BITS, Columns, columns, word_masks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from simhash_pipeline.index.tables import Design

# Rows that are compared at a time. Measured with 1M values, k = 3, 4 tables, CPU seconds:
#     2^13 rows 1.98, 2^15 1.02, 2^17 .62, 2^20 .72
ROWS_AT_A_TIME = 1 << 17


def pairs_within(
    values: Iterable[int] | NDArray[np.uint64], distance: int, design: Design
) -> Iterator[NDArray[np.int64]]:
    """Arrays of rows (i, j, distance in bits), i < j: every pair within the distance, inclusive.

    Exact for distinct values, each pair once. Of equal values the first stands for the others; each
    of these has one pair, (first, other, 0). Values as `tables.columns` takes them. Beside the
    input it takes about 45 bytes a value of 64 bits, 65 of 128, and no more for a large bucket; but
    the time for a bucket grows with its square.
    Raises ValueError for a distance beyond the design's.
    """
    if not 0 <= distance <= design.distance:
        raise ValueError(f"the design is for 0 to {design.distance} bits, not {distance!r}")
    words = columns(values, design.bits)
    return _pairs(words, distance, design)


def pairs_of_table(
    words: Columns, distance: int, design: Design, table: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]]:
    """Arrays (rows, their partners, distances in bits) of the pairs that no earlier table yields.

    `words` are distinct values, as `tables.columns` gives them: all of them or, when these are too
    many, all that have the same value in some bits of the table's key.
    """
    masks = [word_masks(mask) for mask in design.tables[: table + 1]]
    keys, rows = _buckets(design.keys(words, table), design.key_bits[table])
    ordered = tuple(word[rows] for word in words)
    for lower, upper in _neighbours(keys):
        differing = [word[lower] ^ word[upper] for word in ordered]
        distances = _bit_counts(differing)
        hits = (distances <= distance).nonzero()[0]
        if hits.size:
            hits = hits[_is_first([word[hits] for word in differing], masks)]
        if hits.size:
            yield rows[lower[hits]], rows[upper[hits]], distances[hits]


def _pairs(words: Columns, distance: int, design: Design) -> Iterator[NDArray[np.int64]]:
    distinct, rows, repeats = _collapsed(words)
    if len(repeats):
        yield repeats
    for table in range(design.probes):
        for one, other, distances in pairs_of_table(distinct, distance, design, table):
            ends = np.sort(rows[[one, other]], axis=0)
            yield np.column_stack([*ends, distances])


def _collapsed(words: Columns) -> tuple[Columns, NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values, the row where each is first, and the pairs (first, other, 0)."""
    order = np.lexsort(words)
    ordered = tuple(word[order] for word in words)
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = np.any([word[1:] != word[:-1] for word in ordered], axis=0)
    rows = order[is_first]
    others = np.flatnonzero(~is_first)
    firsts = rows[np.cumsum(is_first)[others] - 1]
    repeats = np.column_stack([firsts, order[others], np.zeros_like(firsts)])
    return tuple(word[is_first] for word in ordered), rows, repeats


def _buckets(
    keys: NDArray[np.uint64], key_bits: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The keys that several rows share, in order, and these rows.

    Key and row are sorted as one word, which takes a third of the time of sorting rows by keys. If
    they don't fit into it the key loses its lowest bits, and rows of several keys share a bucket.
    """
    row_bits = np.uint64(len(keys).bit_length())
    packed = keys >> np.uint64(max(0, key_bits + int(row_bits) - WORD_BITS))
    packed <<= row_bits
    packed |= np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    ordered = packed >> row_bits
    is_shared = np.zeros(len(keys), dtype=bool)
    is_shared[1:] = ordered[1:] == ordered[:-1]
    is_shared[:-1] |= is_shared[1:]
    rows = packed[is_shared] & ~(~np.uint64(0) << row_bits)
    return ordered[is_shared], rows.astype(np.int64)


def _neighbours(keys: NDArray[np.uint64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Positions (lower, upper) of all pairs with the same key; keys in order."""
    ends = np.append(np.flatnonzero(keys[1:] != keys[:-1]) + 1, len(keys))
    ends = np.repeat(ends, np.diff(ends, prepend=0))
    for start in range(0, len(keys), ROWS_AT_A_TIME):
        lower = np.arange(start, min(start + ROWS_AT_A_TIME, len(keys)))
        upper = lower + 1
        while (inside := upper < ends[lower]).any():
            lower, upper = lower[inside], upper[inside]
            yield lower, upper
            upper = upper + 1


def _bit_counts(words: list[NDArray[np.uint64]]) -> NDArray[np.uint8]:
    counts = np.bitwise_count(words[0])
    for word in words[1:]:
        counts = counts + np.bitwise_count(word)
    return counts


def _is_first(differing: list[NDArray[np.uint64]], masks: list[list[int]]) -> NDArray[np.bool_]:
    """Which pairs have the same bits under the last table's mask, and under none before it."""
    *earlier, own = (
        np.any([word & bits for word, bits in zip(differing, mask, strict=False)], axis=0)
        for mask in masks
    )
    is_first: NDArray[np.bool_] = np.logical_and.reduce([~own, *earlier])
    return is_first
