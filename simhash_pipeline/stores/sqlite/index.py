"""Where an SQLite store looks fingerprints and digests up: in memory, or in b-trees on disk.

    page                                            in memory
    ┌────┬─────┬─────────┬───────────┬─────┐        ┌──────────────────────────────┐
    │ id │ url │ content │ structure │ ... │ ─────▶ │ near -> values -> ids        │
    └────┴─────┴─────────┴───────────┴─────┘ id > n └──────────────┬───────────────┘
         ▲                                                         │ ids, oldest first
         └─────────────────────────────────────────────────────────┘

Why the answers from memory are exact: ids only grow, and a page keeps its id and these values until
it is gone (a replaced page gets a new id), so the table is its own log; most of it is read
where rows.py has packed its values. Memory holds every committed page up to the last id that was
read, and more: pages that are gone since. It is brought up to the newest id inside the same
transaction that asks, before that writes anything, so no page is missing; and memory says only
where to look: a page counts when its row is there, so none is too many.

On disk a column of fingerprints has a b-tree for each block of neighbours.py, by the block's 16
bits and the value, so the values of one key lie side by side; one of digests has a b-tree by the
value. They are SQLite indexes on expressions: SQLite itself keeps them up to date for every process
that writes to the file, also with its index in memory.

    bit  63           48 47           32 31           16 15            0
        |    block 3    |    block 2    |    block 1    |    block 0    |
"""

from __future__ import annotations

import heapq
import sqlite3
import struct
from array import array
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING

from simhash_pipeline.bits import np, packed_bits, refuse_other_distances
from simhash_pipeline.index.neighbours import BLOCK_BITS, BLOCKS, FingerprintIndex, probe_masks
from simhash_pipeline.stores.contract import MOST_NEAR, NEAR_COLUMNS
from simhash_pipeline.stores.sqlite import rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simhash_pipeline.stores.contract import StoredPage

VALUES_A_READ = 64
SIGNED_64 = 1 << 63


class MemoryIndex:
    """Finds pages by the values of one column in memory; raises sqlite3.Error.

    Costs 38 bytes of memory a page with a fingerprint of its own, at ten million (`make bench`), 14
    with a digest; a value that several pages have takes some 230 more, and 4 for each further page.
    """

    def __init__(self, connection: sqlite3.Connection, column: str, newest_id: int) -> None:
        self._cursor, self._column = connection.cursor(), column
        # Each value with the id of its first page.
        self._index = FingerprintIndex(BLOCKS if column in NEAR_COLUMNS else 1)
        self._further: dict[int, array[int]] = {}  # the ids of its other pages, rising
        try:
            self._read(column, newest_id)
        except (TypeError, ValueError, OverflowError, struct.error) as error:
            raise rows.malformed(f"column {column} of table page: {error}") from error

    def add(self, page_id: int, value: int | bytes | None) -> None:
        if value is not None and not self._index.add(number := rows.indexed(value), page_id):
            self._add_further(page_id, number)

    def near(self, value: int, max_distance_bits: int) -> list[tuple[int, int]]:
        return self._index.near(value, max_distance_bits, MOST_NEAR)

    def sharing(self, values: Sequence[int | bytes]) -> Iterator[tuple[int, StoredPage]]:
        numbers = [*map(rows.indexed, values)]
        ids = heapq.merge(*map(self._ids_of, numbers))
        limit = rows.MOST_STRANGERS
        while chunk := list(islice(ids, limit)):
            limit = rows.ROWS_A_READ
            marks = ", ".join("?" * len(chunk))
            found = rows.chosen_pages(self._cursor, f"WHERE id IN ({marks}) ORDER BY id", *chunk)
            if len(found) < len(chunk):
                self._forget({*chunk}.difference(map(itemgetter(0), found)), numbers)
            yield from (
                one for one in found if rows.indexed(getattr(one[1], self._column)) in numbers
            )

    def _ids_of(self, value: int) -> Iterator[int]:
        """The pages that have or had the value, oldest first."""
        first = self._index.number_of(value)
        if first is not None:
            yield first
            yield from self._further.get(value, ())

    def _forget(self, gone: set[int], values: Sequence[int]) -> None:
        """Look no more for pages of these values that are gone, but for the first of each."""
        for value in values:
            if further := self._further.get(value):
                self._further[value] = array("I", (one for one in further if one not in gone))

    def _read(self, column: str, newest_id: int) -> None:
        """Read the packed values, then the rows behind them; all rows if a chunk is missing."""
        chunks = self._cursor.execute(
            "SELECT chunk, packed FROM packed_values WHERE name = ? ORDER BY chunk", (column,)
        ).fetchall()
        is_whole = [chunk for chunk, _ in chunks] == [*range((newest_id + 1) // rows.CHUNK)]
        if is_whole:
            self._load([packed for _, packed in chunks])
        found = self._cursor.execute(
            f"SELECT id, {column} FROM page WHERE {column} IS NOT NULL AND id BETWEEN ? AND ?",
            (is_whole * len(chunks) * rows.CHUNK, newest_id),
        )
        for page_id, value in found:
            self.add(page_id, value)

    def _load(self, chunks: list[bytes]) -> None:
        if len(chunks) * rows.CHUNK <= rows.FEW_PAGES:
            for chunk, packed in enumerate(chunks):
                for place, value in rows.PAIR.iter_unpack(packed):
                    self.add(chunk * rows.CHUNK + place, value)
            return
        read = [np.frombuffer(packed, "<u2, <u8") for packed in chunks]
        firsts = np.arange(len(chunks), dtype=np.uint32) * np.uint32(rows.CHUNK)
        ids = np.repeat(firsts, [*map(len, read)]) + np.concatenate([part["f0"] for part in read])
        values = np.concatenate([part["f1"] for part in read])
        is_first = self._index.load(values, ids)
        for place in np.flatnonzero(~is_first).tolist():
            self._add_further(int(ids[place]), int(values[place]))

    def _add_further(self, page_id: int, value: int) -> None:
        self._further.setdefault(value, array("I")).append(page_id)


class DiskIndex:
    """Finds pages by the fingerprints of one column, by b-trees in the file; raises sqlite3.Error.

    A column's four trees, or one where only equal values are looked for, are made when it is first
    asked for; then SQLite keeps them up to date. Each costs a page 20 to 24 bytes of disk.
    """

    def __init__(self, connection: sqlite3.Connection, column: str) -> None:
        self._cursor = connection.cursor()
        self._column = column
        self._is_near = column in NEAR_COLUMNS
        self._blocks = BLOCKS if self._is_near else 1

    def has_trees(self) -> bool:
        named = "SELECT 1 FROM sqlite_master WHERE name = ?"
        tree = self._tree(self._blocks - 1)
        return self._cursor.execute(named, (tree,)).fetchone() is not None

    def add(self, page_id: int, value: int | bytes | None) -> None: ...

    def near(self, value: int, max_distance_bits: int) -> list[tuple[int, int]]:
        refuse_other_distances(max_distance_bits)
        packed_bits(value)  # refuses what is no fingerprint
        self._make_trees()
        found = self._candidates(value, max_distance_bits)
        pairs = ((stored, (stored ^ value).bit_count()) for stored in found)
        near = (pair for pair in pairs if pair[1] <= max_distance_bits)
        return heapq.nsmallest(MOST_NEAR, near, key=itemgetter(1, 0))

    def sharing(self, values: Sequence[int | bytes]) -> Iterator[tuple[int, StoredPage]]:
        self._make_trees()
        return heapq.merge(*map(self._with_value, values), key=itemgetter(0))

    def _make_trees(self) -> None:
        """Make those that are missing: none was there, or they were rolled back. Else 1 us each."""
        for block in range(self._blocks):
            columns = f"{self._key_sql(block)}, {self._column}" if self._is_near else self._column
            self._cursor.execute(
                f"""CREATE INDEX IF NOT EXISTS {self._tree(block)} ON page ({columns})
                    WHERE {self._column} IS NOT NULL"""
            )

    def _with_value(self, value: int | bytes) -> Iterator[tuple[int, StoredPage]]:
        # The value stands in a SELECT of its own: SQLite would put it into the key's expression
        # too, of which the index then knows nothing, and would read all rows.
        conditions: dict[str, object] = {f"{self._column} = (SELECT ?)": rows.column_value(value)}
        if isinstance(value, int):
            conditions[f"{self._key_sql(0)} = ?"] = _key(value, 0)
        return rows.pages_where(self._cursor, f"INDEXED BY {self._tree(0)}", conditions)

    def _candidates(self, value: int, max_distance_bits: int) -> set[int]:
        """The values of every key that can hold a neighbour."""
        return {
            rows.fingerprint(stored)
            for block, masks in enumerate(probe_masks(BLOCK_BITS, max_distance_bits))
            for mask in masks
            for stored in self._with_key(block, _key(value, block) ^ mask)
        }

    def _with_key(self, block: int, key: int) -> Iterator[int]:
        """The values of a key, without reading all pages of one that many have."""
        least = -SIGNED_64
        while least < SIGNED_64:
            found = self._cursor.execute(
                f"""SELECT {self._column} FROM page INDEXED BY {self._tree(block)}
                    WHERE {self._key_sql(block)} = ? AND {self._column} >= ?
                    ORDER BY {self._column} LIMIT {VALUES_A_READ}""",
                (key, least),
            ).fetchall()
            yield from map(itemgetter(0), found)
            if len(found) < VALUES_A_READ:
                return
            least = found[-1][0] + 1

    def _tree(self, block: int) -> str:
        return f"page_by_{self._column}_block_{block}"

    def _key_sql(self, block: int) -> str:
        return f"(({self._column} >> {BLOCK_BITS * block}) & {(1 << BLOCK_BITS) - 1})"


def _key(value: int, block: int) -> int:
    return value >> BLOCK_BITS * block & (1 << BLOCK_BITS) - 1
