"""Every stored fingerprint within k bits of a given one, held in memory, exact for k = 0..8.

A fingerprint is cut into four blocks, and the low 12 bits of each block are a key (14 bits above
four million values, 16 above 16 million):

    bit  63           48 47           32 31           16 15            0
        |    block 3    |    block 2    |    block 1    |    block 0    |
        |...   key 3    |...   key 2    |...   key 1    |...   key 0    |
         ^^^^ 4 bits of each 16 take no part in the key

A value lies in four buckets, one for each key. A bucket is a bytes object of packed values:

    key      0                1       2                 a value of 64 bits costs 8 bytes in each of
    bucket   [value value]    []      [value]           its buckets; a Python integer costs 40

A look-up joins the buckets that it probes and counts differing bits in one go. The numbers of the
values in block 0's buckets lie in buckets of their own, in the same order.

Which buckets can hold a neighbour? Write k = 4a + r with r < 4. If blocks 0..r each differed in
a + 1 bits or more, and the other blocks in a or more, that would be (r + 1)(a + 1) + (3 - r)a
= k + 1 bits. So one of blocks 0..r is within a bits, or one of the others within a - 1, and its key
is too: probe the r + 1 first keys with up to a bits flipped, the rest with up to a - 1.

    k       0   1   2   3   4   5   6   7    8
    probes  1   2   3   4  16  28  40  52  118

One case by hand, k = 3 (a = 0, r = 3: four keys, nothing flipped):

    stored  0000 0000 0000 ffff     keys, block 3 to 0:  0  0  0  fff
    asked   0001 0000 0000 fffc                          1  0  0  ffc     distance 3
    Keys 2 and 1 are the same, so two of the four probed buckets hold the stored value.

The rule is that of Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling"
(WWW 2007), with four tables, and radii for k > 3 after Norouzi, Punjani and Fleet, "Fast search in
Hamming space with multi-index hashing" (CVPR 2012).
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import combinations
from typing import Any, TypeAlias

from simhash_pipeline import native
from simhash_pipeline.bits import (
    BITS,
    MAX_DISTANCE_BITS,
    NDArray,
    np,
    packed_bits,
    refuse_other_distances,
)

Near: TypeAlias = list[tuple[int, int]]  # stored values, each with its distance in bits

BLOCKS = 4
BLOCK_BITS = BITS // BLOCKS
SIZE = BITS // 8  # of a packed value, in bytes
WORD = "<u8"

# Measured with random 64-bit values, added one by one, k = 3: bytes of memory a value (its number
# takes 4 more) and median look-up. Some hundreds of values a bucket are best.
#     key bits   12            13            14            16
#     1M values  35 B  11 us   38 B  10 us   53 B   9 us   62 B  10 us
#     10M        33 B  26 us   33 B  18 us   33 B  14 us   35 B  12 us
KEY_BITS = 12
MORE_KEY_BITS = 2  # are taken when a bucket holds more values on average than
VALUES_A_BUCKET = 1_000
NUMBER_SIZE = 4

FEW = 100  # hits that are sorted one by one


class FingerprintIndex:
    """A set of fingerprints of 64 bits that finds those near a given one. Not thread-safe.

    About 39 bytes a value. Adding costs less than a look-up, except at 4 and 16 million values,
    when the index is rebuilt (seconds). With one block of four only equal values are found, at 14
    bytes a value. A value with several numbers takes some 230 more, and 4 for each further one.
    """

    def __init__(self, blocks: int = BLOCKS) -> None:
        self._blocks = blocks
        self._further: dict[int, array[int]] = {}  # numbers of values that have several
        self._empty(KEY_BITS)

    def near(self, value: int, max_distance_bits: int, limit: int | None = None) -> Near:
        """The stored values near a value.

        :param value: 64 bits.
        :param max_distance_bits: 0-8, inclusive.
        :param limit: at most this many, which bounds the cost however many there are.
        :return: nearest first, then the smallest.
        :raises ValueError: for another distance, and for a value that is no fingerprint.
        """
        refuse_other_distances(max_distance_bits)
        packed_bits(value)  # refuses what is no fingerprint
        keys, probes = self._keys(value), self._probes[max_distance_bits]
        joined = b"".join([self._buckets[keys[block] ^ mask] for block, mask in probes])
        if native.kernel is not None:
            found = native.kernel.near_words(joined, value, max_distance_bits, FEW)
            if found is not None:
                return _sorted(found, value)[:limit]
        words = np.frombuffer(joined, WORD)
        return nearest(words, value, max_distance_bits, limit) if joined else []

    def add(self, value: int, number: int | None = None) -> bool:
        """Store the value.

        :param value: 64 bits.
        :param number: up to 2**32 - 1; 0 without one.
        :return: False when it was stored already; then this is one of its further numbers.
        :raises ValueError: for a value that is no fingerprint.
        """
        packed, keys, buckets = packed_bits(value), self._keys(value), self._buckets
        if position(buckets[keys[0]], packed) >= 0:
            if number is not None:
                self._further.setdefault(value, array("I")).append(number)
            return False
        self._numbers[keys[0]] += (number or 0).to_bytes(NUMBER_SIZE, "little")
        for key in keys:
            buckets[key] += packed
        self._length += 1
        if self._length > self._most:
            self._widen(self._length)
        return True

    def load(self, rows: NDArray[Any], numbers: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Store many packed values (little-endian), about two million a second.

        :param rows: the values, 64 bits each.
        :param numbers: theirs, as in `add`.
        :return: which were new; of equal rows the first is.
        """
        fresh = self._fresh(rows)
        for place in np.flatnonzero(~fresh).tolist():
            self._further.setdefault(int(rows[place]), array("I")).append(int(numbers[place]))
        rows, numbers = (rows, numbers) if fresh.all() else (rows[fresh], numbers[fresh])
        if self._length + len(rows) > self._most:
            self._widen(self._length + len(rows))
        self._insert(rows, numbers)
        return fresh

    def numbers_of(self, value: int) -> Iterator[int]:
        """The numbers it was stored with, in that order; none when it is not stored."""
        packed, key = packed_bits(value), self._keys(value)[0]
        if (start := position(self._buckets[key], packed)) >= 0:
            first = start // SIZE * NUMBER_SIZE
            yield int.from_bytes(self._numbers[key][first : first + NUMBER_SIZE], "little")
            yield from self._further.get(value, ())

    def forget(self, numbers: Collection[int], values: Iterable[int]) -> None:
        """Forget these numbers of the values, but for the first of each."""
        for value in values:
            if further := self._further.get(value):
                self._further[value] = array("I", (one for one in further if one not in numbers))

    def __contains__(self, value: int) -> bool:
        return next(self.numbers_of(value), None) is not None

    def __len__(self) -> int:
        return self._length

    def _empty(self, key_bits: int) -> None:
        """Begin with empty buckets for keys of `key_bits` bits."""
        self._key_bits = key_bits
        self._mask = (1 << key_bits) - 1
        self._most = VALUES_A_BUCKET * 2**key_bits if key_bits < BLOCK_BITS else 2**BITS
        self._probes = [  # for each distance: block, mask of its key
            [(at, mask) for at, masks in enumerate(probe_masks(key_bits, k)) for mask in masks]
            for k in range(MAX_DISTANCE_BITS + 1)
        ]
        self._places = [(at * BLOCK_BITS, at << key_bits) for at in range(self._blocks)]
        # Not bytearrays, which grow faster: they keep an eighth in reserve, 8 bytes a value.
        self._buckets = [b""] * (self._blocks << key_bits)
        self._numbers = [b""] * (1 << key_bits)  # of the values in block 0's buckets
        self._length = 0

    def _widen(self, length: int) -> None:
        """Take longer keys, enough for `length` values."""
        rows = np.frombuffer(b"".join(self._buckets[: 1 << self._key_bits]), WORD)
        numbers = np.frombuffer(b"".join(self._numbers), "<u4")
        while length > self._most:
            self._empty(self._key_bits + MORE_KEY_BITS)
        self._insert(rows, numbers)

    def _insert(self, rows: NDArray[Any], numbers: NDArray[np.uint32]) -> None:
        """Sort new values by each key in turn and append them bucket by bucket."""
        if not len(rows):
            return
        low = rows.view("<u2").reshape(len(rows), BLOCKS)
        for block, (_, first_bucket) in enumerate(self._places):
            keys = low[:, block].astype(np.uint16) & np.uint16(self._mask)
            order = np.argsort(keys, kind="stable")  # 16 bits by radix
            ends = np.cumsum(np.bincount(keys, minlength=1 << self._key_bits))
            _append(self._buckets, first_bucket, rows[order], ends)
            if block == 0:
                _append(self._numbers, 0, numbers[order], ends)
        self._length += len(rows)

    def _keys(self, value: int) -> list[int]:
        """The numbers of the value's four buckets: block 1's follow those of block 0, and so on."""
        mask = self._mask
        return [(value >> shift & mask) | first for shift, first in self._places]

    def _fresh(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Which rows are neither stored nor the same as an earlier one."""
        fresh = np.ones(len(rows), bool)
        ordered = np.sort(rows)
        if (ordered[1:] == ordered[:-1]).any():
            fresh[:] = False
            fresh[np.unique(rows, return_index=True)[1]] = True
        if self._length:
            stored = np.frombuffer(b"".join(self._buckets[: 1 << self._key_bits]), WORD)
            fresh &= ~np.isin(rows, stored, kind="sort")
        return fresh


@cache
def probe_masks(key_bits: int, max_distance_bits: int) -> list[list[int]]:
    """For each block the masks to probe its key with: those of at most its radius of set bits.

    By the pigeonhole rule above; none for a radius of -1, then 1, 13, 79 for keys of 12 bits.
    """
    radius, last_wide_block = divmod(max_distance_bits, BLOCKS)
    return [
        [
            sum(1 << bit for bit in bits)
            for count in range(radius + (block <= last_wide_block))
            for bits in combinations(range(key_bits), count)
        ]
        for block in range(BLOCKS)
    ]


def nearest(words: NDArray[Any], value: int, max_distance_bits: int, limit: int | None) -> Near:
    """(word, distance) of the words near a value: nearest first, then the smallest.

    There is one at least; each may come several times.
    """
    differing = np.bitwise_count(words ^ np.uint64(value))
    # Nearly always, and the fastest way:
    if differing.item(differing.argmin()) > max_distance_bits:
        return []
    near = words[differing <= max_distance_bits]
    if len(near) > FEW:
        near = np.unique(near)
        near = near[np.argsort(np.bitwise_count(near ^ np.uint64(value)), kind="stable")[:limit]]
    return _sorted(near.tolist(), value)[:limit]


def _sorted(words: list[int], value: int) -> Near:
    near = sorted({((word ^ value).bit_count(), word) for word in words})
    return [(word, distance) for distance, word in near]


def position(bucket: bytes, row: bytes, size: int = SIZE) -> int:
    """Where a row of this size that begins so starts in the bucket; -1 when there is none.

    Bytes of two neighbouring rows may look like the row: only whole rows count.
    """
    start = bucket.find(row)
    while start % size and start >= 0:
        start = bucket.find(row, start + 1)
    return start


def _append(buckets: list[bytes], first: int, rows: NDArray[Any], ends: NDArray[np.intp]) -> None:
    """Append sorted rows to the buckets that begin at `first`; `ends` says where each one's end."""
    packed, start = rows.data.cast("B"), 0
    for bucket, end in enumerate((ends * rows.itemsize).tolist(), first):
        if end > start:
            buckets[bucket] += packed[start:end]
        start = end
