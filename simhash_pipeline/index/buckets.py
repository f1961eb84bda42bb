"""Packed rows in buckets: many small numbers in a few thousand bytes objects, grouped by a key.

key      0            1      2                         a row of 8 bytes costs 8 bytes, where
bucket   [row row]    []     [row row row row]         a Python integer costs 40
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# What is sorted stays in the processor's cache: ten million open in 3.6 s, all at once in 4.9 s
# (`make bench BENCH_N=10000000`); in smaller parts, what is gained is lost to cutting them up.
ROWS_AT_ONCE = 1 << 20


def append(
    keys: NDArray[np.uint16], number: int, *columns: tuple[list[Any], int, NDArray[Any]]
) -> None:
    """Append rows to the buckets that their keys (below `number`) name, earlier rows first.

    A column is its buckets (bytes or bytearray), the place of key 0 among them, and the rows.
    """
    pieces: list[list[Iterator[memoryview]]] = [[] for _ in columns]
    for start in range(0, len(keys), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        order = np.argsort(keys[part], kind="stable")  # 16 bits by radix
        ends = np.cumsum(np.bincount(keys[part], minlength=number))
        for of_column, (_, _, rows) in zip(pieces, columns, strict=True):
            of_column.append(_cut(rows[part][order], ends))
    for of_column, (buckets, first, _) in zip(pieces, columns, strict=True):
        for bucket, found in enumerate(zip(*of_column, strict=True), first):
            if joined := b"".join(found):
                buckets[bucket] += joined


def _cut(rows: NDArray[Any], ends: NDArray[np.intp]) -> Iterator[memoryview]:
    packed, start = memoryview(rows.tobytes()), 0
    for end in (ends * rows.itemsize).tolist():
        yield packed[start:end]
        start = end


def position(bucket: bytes, row: bytes) -> int:
    """Where the row starts in the bucket, in bytes; -1 when it isn't there.

    Bytes of two neighbouring rows may look like the row: only whole rows count.
    """
    start = bucket.find(row)
    while start % len(row) and start >= 0:
        start = bucket.find(row, start + 1)
    return start
