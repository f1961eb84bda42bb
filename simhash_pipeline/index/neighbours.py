"""Every stored fingerprint within k bits of a given one, held in memory, exact for k = 0..8.

A fingerprint is cut into four blocks, and the low 13 bits of each block are a key:

    bit  63           48 47           32 31           16 15            0
        |    block 3    |    block 2    |    block 1    |    block 0    |
        |...  key 3     |...  key 2     |...  key 1     |...  key 0     |
         ^^^ 3 bits of each 16 take no part in the key

A value lies in four buckets, one for each key. A bucket is a bytes object of packed values and a
look-up joins the buckets it probes and counts differing bits in one go, so no value costs a Python
object.

Which buckets can hold a neighbour? Write k = 4a + r with r < 4. If blocks 0..r each differed in
a + 1 bits or more, and the other blocks in a or more, that would be (r + 1)(a + 1) + (3 - r)a
= k + 1 bits. So one of blocks 0..r is within a bits, or one of the others within a - 1, and its key
is too: probe the r + 1 first keys with up to a bits flipped, the rest with up to a - 1.

    k       0   1   2   3   4   5   6   7    8
    probes  1   2   3   4  17  30  43  56  134

One case by hand, k = 3 (a = 0, r = 3: four keys, nothing flipped):

    stored  0000 0000 0000 ffff     keys, block 3 to 0:  0  0  0  1fff
    asked   0001 0000 0000 fffc                          1  0  0  1ffc    distance 3
    Keys 2 and 1 are the same, so two of the four probed buckets hold the stored value.

The rule is that of Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling"
(WWW 2007), with four tables, and radii for k > 3 after Norouzi, Punjani and Fleet, "Fast search in
Hamming space with multi-index hashing" (CVPR 2012).
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BLOCKS = 4
MAX_DISTANCE_BITS = 8

# Measured with random 64-bit values, one by one, k = 3: bytes of memory a value and median look-up.
#     key bits   12            13            14            16
#     1M values  35 B  11 us   38 B  10 us   53 B   9 us   62 B  10 us
#     10M        33 B  26 us   33 B  18 us   33 B  14 us   35 B  12 us
KEY_BITS = 13

# Bulk insertion sorts the whole index: under this share of its length, one by one is faster.
BULK_SHARE = 1 / 10


class FingerprintIndex:
    """A set of fingerprints of `bits` bits (32, 64 or 128) that answers "which are near?".

    Costs about 38 bytes a value of 64 bits at a million values, 33 at ten million. Adding copies
    the value's four buckets, which is less work than a look-up. Not for several threads at once.
    """

    def __init__(self, bits: int = 64) -> None:
        if bits not in (32, 64, 128):
            raise ValueError(f"a fingerprint has 32, 64 or 128 bits, not {bits!r}")
        self.bits = bits
        self._size = bits // 8
        self._word = np.dtype("<u4" if bits == 32 else "<u8")
        self._key_bits = min(KEY_BITS, bits // BLOCKS)
        self._flips = [_flips(self._key_bits, k) for k in range(MAX_DISTANCE_BITS + 1)]
        self._places = [
            (block * bits // BLOCKS, block << self._key_bits) for block in range(BLOCKS)
        ]
        self._buckets = [b""] * (BLOCKS << self._key_bits)
        self._length = 0

    def near(self, value: int, max_distance_bits: int) -> list[tuple[int, int]]:
        """(stored value, distance in bits) within the distance, inclusive: nearest, then smallest.

        Raises ValueError for a distance outside 0-8 and for a value that is no fingerprint.
        """
        needle = np.frombuffer(self._packed(value), self._word)
        joined = b"".join(self._probed(value, max_distance_bits))
        words = np.frombuffer(joined, self._word).reshape(-1, needle.size)
        counts = np.bitwise_count(words ^ needle)
        distances = counts[:, 0] if needle.size == 1 else counts[:, 0] + counts[:, 1]
        hits = (distances <= max_distance_bits).nonzero()[0]
        if not hits.size:
            return []
        found = {
            (distance, self._unpacked(joined, row))
            for row, distance in zip(hits.tolist(), distances[hits].tolist(), strict=True)
        }
        return [(stored, distance) for distance, stored in sorted(found)]

    def add(self, value: int) -> bool:
        """Store the value; False when it was stored already."""
        if value in self:
            return False
        packed = self._packed(value)
        for key in self._keys(value):
            self._buckets[key] += packed
        self._length += 1
        return True

    def discard(self, value: int) -> bool:
        """Remove the value; False when it was not stored."""
        if value not in self:
            return False
        packed = self._packed(value)
        for key in self._keys(value):
            bucket = self._buckets[key]
            start = _position(bucket, packed)
            self._buckets[key] = bucket[:start] + bucket[start + self._size :]
        self._length -= 1
        return True

    def update(self, values: Iterable[int]) -> int:
        """Store many values at once, about a million a second; how many were new."""
        packed = bytearray()
        for value in values:
            packed += self._packed(value)
        if len(packed) < self._length * self._size * BULK_SHARE:
            return sum(
                self.add(self._unpacked(packed, row)) for row in range(len(packed) // self._size)
            )
        return self._insert(packed)

    def __contains__(self, value: int) -> bool:
        packed = self._packed(value)
        shortest = min((self._buckets[key] for key in self._keys(value)), key=len)
        return _position(shortest, packed) >= 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        for bucket in self._buckets[: 1 << self._key_bits]:
            for row in range(len(bucket) // self._size):
                yield self._unpacked(bucket, row)

    def _probed(self, value: int, max_distance_bits: int) -> list[bytes]:
        """The buckets that can hold a neighbour."""
        distances = range(MAX_DISTANCE_BITS + 1)
        if not isinstance(max_distance_bits, int) or max_distance_bits not in distances:
            raise ValueError(
                f"a distance is a whole number from 0 to {MAX_DISTANCE_BITS} bits, "
                f"not {max_distance_bits!r}"
            )
        return [
            self._buckets[key ^ flip]
            for key, flips in zip(self._keys(value), self._flips[max_distance_bits], strict=True)
            for flip in flips
        ]

    def _keys(self, value: int) -> list[int]:
        """The numbers of the value's four buckets: block 1's follow those of block 0, and so on."""
        mask = (1 << self._key_bits) - 1
        return [(value >> shift & mask) | first for shift, first in self._places]

    def _insert(self, packed: bytearray) -> int:
        """Sort the new values by each key in turn and append them bucket by bucket."""
        row = self._word if self._size == self._word.itemsize else np.dtype(f"V{self._size}")
        fresh = np.unique(np.frombuffer(packed, row))
        if self._length:
            stored = np.frombuffer(b"".join(self._buckets[: 1 << self._key_bits]), row)
            fresh = fresh[~np.isin(fresh, stored)]
        words = fresh.view(self._word).reshape(-1, self._size // self._word.itemsize)
        for first_shift, first_key in self._places:
            word, shift = divmod(first_shift, self._word.itemsize * 8)
            keys = (words[:, word] >> shift).astype(np.uint16) & ((1 << self._key_bits) - 1)
            ordered = fresh[np.argsort(keys, kind="stable")].tobytes()
            ends = np.cumsum(np.bincount(keys, minlength=1 << self._key_bits)) * self._size
            start = 0
            for key, end in enumerate(ends.tolist(), start=first_key):
                self._buckets[key] += ordered[start:end]
                start = end
        self._length += len(fresh)
        return len(fresh)

    def _packed(self, value: int) -> bytes:
        try:
            return value.to_bytes(self._size, "little")
        except (AttributeError, TypeError, OverflowError):
            raise ValueError(
                f"a fingerprint of {self.bits} bits is a whole number from 0 to "
                f"2**{self.bits} - 1, not {value!r}"
            ) from None

    def _unpacked(self, packed: bytes | bytearray, row: int) -> int:
        return int.from_bytes(packed[row * self._size : (row + 1) * self._size], "little")


def _flips(key_bits: int, max_distance_bits: int) -> list[list[int]]:
    """For each block the masks to probe its key with, by the pigeonhole rule above."""
    radius, last_wide_block = divmod(max_distance_bits, BLOCKS)
    return [
        _masks(key_bits, radius if block <= last_wide_block else radius - 1)
        for block in range(BLOCKS)
    ]


def _masks(width_bits: int, radius: int) -> list[int]:
    """Every mask of at most `radius` set bits: none for -1, then 1, 14, 92 for 13 bits."""
    return [
        sum(1 << bit for bit in bits)
        for count in range(radius + 1)
        for bits in combinations(range(width_bits), count)
    ]


def _position(bucket: bytes, packed: bytes) -> int:
    """Where the packed value starts in the bucket; -1 when it isn't there.

    Bytes of two neighbouring rows may look like the value: only whole rows count.
    """
    start = bucket.find(packed)
    while start % len(packed) and start >= 0:
        start = bucket.find(packed, start + 1)
    return start
