"""Packed rows in buckets: many small numbers in a few thousand bytes objects, grouped by a key.

key      0            1      2                         a row of 8 bytes costs 8 bytes, where
bucket   [row row]    []     [row row row row]         a Python integer costs 40
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

COUNTED_AT_ONCE = 1 << 17


def grouped(keys: NDArray[np.uint16], buckets: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The order that brings equal keys together, earlier rows first, and where each key's end."""
    # NumPy sorts 16 bits by radix; and counts in 64 bits, so a part at a time.
    parts = np.array_split(keys, 1 + len(keys) // COUNTED_AT_ONCE)
    counts = sum(np.bincount(part, minlength=buckets) for part in parts)
    return np.argsort(keys, kind="stable"), np.cumsum(counts)


def append(buckets: list[Any], first: int, rows: NDArray[Any], ends: NDArray[np.intp]) -> None:
    """Append grouped rows to the buckets (bytes or bytearray) from number `first` on."""
    packed = memoryview(rows.tobytes())
    start = 0
    for bucket, end in enumerate((ends * rows.itemsize).tolist(), first):
        if end > start:
            buckets[bucket] += packed[start:end]
        start = end


def position(bucket: bytes, row: bytes) -> int:
    """Where the row starts in the bucket, in bytes; -1 when it isn't there.

    Bytes of two neighbouring rows may look like the row: only whole rows count.
    """
    start = bucket.find(row)
    while start % len(row) and start >= 0:
        start = bucket.find(row, start + 1)
    return start
