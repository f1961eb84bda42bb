"""Which distinct values are near each other: the tables of `index.tables`, a shard at a time.

A shard is what has some bits of a table's key alike, so no pair of that table lies in two. Engines
hand shards over one by one, or to many machines at once; what a shard takes is all the memory that
is needed. What is done with the pairs, and what equal values are, is for relation.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # it has no type hints

from simhash_pipeline.archive.rows import signed
from simhash_pipeline.index.pairs import pairs_of_table
from simhash_pipeline.index.tables import word_masks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_pipeline.index.tables import Design

# CPU seconds for the pairs of ten million values (`make bench-archive BENCH_N=10000000`):
#     2^20 values a shard 23, 2^22 17, 2^24 19
VALUES_A_SHARD = 1 << 22
PAIRS = pa.schema([("a", pa.int64()), ("b", pa.int64())])  # positions, the lower one first


@dataclass(frozen=True, slots=True)
class Near:
    """The pairs to find: of `count` values in the SQL table `values`, in the columns `words`."""

    values: str
    words: list[str]
    count: int
    distance: int
    design: Design

    @property
    def columns(self) -> str:
        """SQL: what `pairs` takes."""
        return ", ".join(["position", *self.words])

    def shard(self, table: int) -> str:
        """SQL: a number that the values of a shard have alike."""
        word, bits = self._shard_bits(table)
        return f"{self.words[word]} & CAST({signed(bits)} AS BIGINT)"

    def shards(self, table: int) -> Iterator[str]:
        """SQL: the conditions that each take the values of a shard, all values between them."""
        _, bits = self._shard_bits(table)
        number = 0
        while True:
            yield f"({self.shard(table)}) = CAST({signed(number)} AS BIGINT)"
            number = number - bits & bits  # the next number of these bits alone
            if not number:
                return

    def pairs(self, table: int, rows: pa.Table) -> pa.Table:
        """The pairs that a shard of this table is the first to hold."""
        positions = rows["position"].to_numpy()
        words = tuple(rows[name].to_numpy().view(np.uint64) for name in self.words)
        found = [
            np.sort([positions[one], positions[other]], axis=0)
            for one, other, _ in pairs_of_table(words, self.distance, self.design, table)
        ]
        a, b = np.concatenate([np.empty((2, 0), np.int64), *found], axis=1)
        return pa.table([a, b], PAIRS)

    def _shard_bits(self, table: int) -> tuple[int, int]:
        """The word that a shard's number is in, and its bits there: the highest of the key's."""
        count = ((self.count - 1) // VALUES_A_SHARD).bit_length() if self.count else 0
        masks = word_masks(self.design.tables[table])[: len(self.words)]
        word = max(range(len(masks)), key=lambda place: masks[place].bit_count())
        bits = masks[word]
        while bits.bit_count() > count:
            bits &= bits - 1
        return word, bits
