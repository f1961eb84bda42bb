"""The index on disk: finds pages by b-trees in a store's file, and keeps nothing in memory.

A column gets four b-trees, one for each block of its values, by the key of the block and the value:

    bit  63           48 47           32 31           16 15            0
        |    block 3    |    block 2    |    block 1    |    block 0    |
        |     key 3     |     key 2     |     key 1     |     key 0     |     64 bits
                                     (a block of 32 bits is keyed by its low 16, one of 8 by all)

so the values of one key lie side by side, and which keys can hold a neighbour is the rule of
neighbours.py. The trees are SQLite indexes on expressions: SQLite itself keeps them up to date for
every process that writes to the file, those with their index in memory included.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from simhash_pipeline.bits import MAX_DISTANCE_BITS, refuse_other_distances
from simhash_pipeline.index.neighbours import BLOCKS, probe_masks
from simhash_pipeline.stores.sqlite.rows import column_value, fingerprint, pages_where

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from simhash_pipeline.stores.contract import Column, StoredPage

MAX_KEY_BITS = 16


class DiskIndex:
    """Finds pages by b-trees; raises sqlite3.Error.

    The trees of content are made when the store is first opened so, those of structure when it is
    first asked for; from then on each page takes about 91 bytes more of disk, or 182.
    """

    def __init__(self, connection: sqlite3.Connection, bits: int) -> None:
        self._cursor = connection.cursor()
        self._bits = bits
        self._key_bits = min(MAX_KEY_BITS, bits // BLOCKS)
        self._masks = [probe_masks(self._key_bits, k) for k in range(MAX_DISTANCE_BITS + 1)]
        self._made: set[Column] = set()

    def catch_up(self, newest_id: int) -> None:
        """Make the trees of content when there are none; SQLite keeps them up to date."""
        self._make("content")

    def add(self, page_id: int, page: StoredPage) -> None:
        """Nothing to do: SQLite has done it."""

    def rolled_back(self) -> None:
        self._made.clear()

    def near_values(
        self, column: Column, value: int, max_distance_bits: int
    ) -> list[tuple[int, int]]:
        refuse_other_distances(max_distance_bits)
        column_value(value, self._bits)  # refuses what is no fingerprint
        self._make(column)
        near = {
            stored: distance
            for stored in self._candidates(column, value, max_distance_bits)
            if (distance := (stored ^ value).bit_count()) <= max_distance_bits
        }
        return sorted(near.items(), key=itemgetter(1))

    def sharing(
        self, namespace: str, column: Column, value: int
    ) -> Iterator[tuple[int, StoredPage]]:
        equal = {
            "namespace": namespace,
            self._key(column, 0): self._key_value(self._keys(value)[0]),
            column: column_value(value, self._bits),
        }
        return pages_where(self._cursor, f"INDEXED BY {self._tree(column, 0)}", equal)

    def _make(self, column: Column) -> None:
        if column in self._made:
            return
        for block in range(BLOCKS):
            self._cursor.execute(
                f"""CREATE INDEX IF NOT EXISTS {self._tree(column, block)}
                    ON page ({self._key(column, block)}, {column}) WHERE {column} IS NOT NULL"""
            )
        self._made.add(column)

    def _candidates(self, column: Column, value: int, max_distance_bits: int) -> Iterator[int]:
        """The values of every key that can hold a neighbour; some of them several times."""
        keys, masks = self._keys(value), self._masks[max_distance_bits]
        for block in range(BLOCKS):
            if not masks[block]:
                continue
            probed = [self._key_value(keys[block] ^ mask) for mask in masks[block]]
            rows = self._cursor.execute(
                f"""SELECT {column} FROM page INDEXED BY {self._tree(column, block)}
                    WHERE {self._key(column, block)} IN ({", ".join("?" * len(probed))})
                    AND {column} IS NOT NULL""",
                probed,
            ).fetchall()
            yield from (fingerprint(stored) for (stored,) in rows)

    def _tree(self, column: Column, block: int) -> str:
        return f"{column}_{self._bits}_block_{block}"

    def _key(self, column: Column, block: int) -> str:
        """The key of a block in SQL; of 128 bits, two of 16 bytes, which are counted from 1."""
        if self._bits == 128:
            return f"substr({column}, {15 - 4 * block}, 2)"
        return f"({column} >> {block * self._bits // BLOCKS}) & {(1 << self._key_bits) - 1}"

    def _keys(self, value: int) -> list[int]:
        mask = (1 << self._key_bits) - 1
        return [value >> block * self._bits // BLOCKS & mask for block in range(BLOCKS)]

    def _key_value(self, key: int) -> int | bytes:
        return key.to_bytes(2, "big") if self._bits == 128 else key
