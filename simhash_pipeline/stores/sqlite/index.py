"""Where an SQLite store looks fingerprints up: in memory, or in b-trees on disk.

    page                                            in memory
    ┌────┬─────┬─────────┬───────────┬─────┐        ┌──────────────────────────────┐
    │ id │ url │ content │ structure │ ... │ ─────▶ │ near -> values -> ids        │
    └────┴─────┴─────────┴───────────┴─────┘ id > n └──────────────┬───────────────┘
         ▲                                                         │ ids, oldest first
         └─────────────────────────────────────────────────────────┘

Why the answers from memory are exact: ids only grow, and a page keeps its id and its fingerprints
until it is gone (a replaced page gets a new id), so the table is its own log. Memory holds every
committed page up to the last id that was read, and more: pages that are gone since. It is brought
up to the newest id inside the same transaction that asks, before that writes anything, so no page
is missing; and memory says only where to look: a page counts when its row is there, so none is too
many.

On disk a column has a b-tree for each block of neighbours.py, by the block's 16 bits and the value,
so the values of one key lie side by side. They are SQLite indexes on expressions: SQLite itself
keeps them up to date for every process that writes to the file, also with its index in memory.

    bit  63           48 47           32 31           16 15            0
        |    block 3    |    block 2    |    block 1    |    block 0    |
"""

from __future__ import annotations

import heapq
import sqlite3
from array import array
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING

from simhash_pipeline.bits import np, packed_bits, refuse_other_distances
from simhash_pipeline.index.neighbours import BLOCK_BITS, BLOCKS, FingerprintIndex, probe_masks
from simhash_pipeline.stores.contract import MOST_NEAR
from simhash_pipeline.stores.sqlite import rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simhash_pipeline.stores.contract import StoredPage

ROWS_A_LOAD = 1 << 16
VALUES_A_READ = 64
SIGNED_64 = 1 << 63
FEW_PAGES = 20_000  # are added one by one, in the time in which numpy is imported


class MemoryIndex:
    """Finds pages by the fingerprints of one column in memory; raises sqlite3.Error.

    Costs 38 bytes of memory a page with a value of its own, at ten million (`make bench`); a value
    that several pages have takes some 230 more, and 4 for each further page.
    """

    def __init__(self, connection: sqlite3.Connection, column: str) -> None:
        self._cursor = connection.cursor()
        self._column = column
        self._index = FingerprintIndex()  # each value with the id of its first page
        self._further: dict[int, array[int]] = {}  # the ids of its other pages, rising
        self._last_id = 0

    def catch_up(self, newest_id: int) -> None:
        """Read the pages past the last id that was read."""
        if newest_id > self._last_id:
            try:
                self._read(newest_id)
            except (TypeError, ValueError, OverflowError, IndexError) as error:
                raise rows.malformed(f"column {self._column} of table page: {error}") from error
            self._last_id = newest_id

    def add(self, page_id: int, value: int | None) -> None:
        if value is not None and not self._index.add(value, page_id):
            self._add_further(page_id, value)
        self._last_id = page_id

    def near(self, value: int, max_distance_bits: int) -> list[tuple[int, int]]:
        return self._index.near(value, max_distance_bits, MOST_NEAR)

    def sharing(self, values: Sequence[int]) -> Iterator[tuple[int, StoredPage]]:
        ids = heapq.merge(*map(self._ids_of, values))
        limit = rows.MOST_STRANGERS
        while chunk := list(islice(ids, limit)):
            limit = rows.ROWS_A_READ
            marks = ", ".join("?" * len(chunk))
            found = rows.chosen_pages(self._cursor, f"WHERE id IN ({marks}) ORDER BY id", *chunk)
            if len(found) < len(chunk):
                self._forget({*chunk}.difference(map(itemgetter(0), found)), values)
            yield from found

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

    def _read(self, newest_id: int) -> None:
        # All pages by an index that has the fingerprints in it: see file.py.
        by = "" if self._last_id else "INDEXED BY page_by_url"
        found = self._cursor.execute(
            f"SELECT id, {self._column} FROM page {by} "
            f"WHERE {self._column} IS NOT NULL AND id BETWEEN ? AND ?",
            (self._last_id + 1, newest_id),
        )
        if newest_id - self._last_id <= FEW_PAGES:
            for page_id, value in sorted(found.fetchall()):
                self.add(page_id, rows.fingerprint(value))
            return
        parts = [(np.empty(0, np.uint32), np.empty(0, np.uint64))]
        while chunk := found.fetchmany(ROWS_A_LOAD):
            read = np.array(chunk, np.int64)
            parts.append((read[:, 0].astype(np.uint32), read[:, 1].astype(np.uint64)))
        ids, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.argsort(ids)
        ids, values = ids[order], values[order]
        is_first = self._index.load(values, ids)
        for place in np.flatnonzero(~is_first).tolist():
            self._add_further(int(ids[place]), int(values[place]))

    def _add_further(self, page_id: int, value: int) -> None:
        self._further.setdefault(value, array("I")).append(page_id)


class DiskIndex:
    """Finds pages by the fingerprints of one column, by b-trees in the file; raises sqlite3.Error.

    The column's four trees are made when it is first asked for, and SQLite keeps them up to date.
    Each costs a page 20 to 24 bytes of disk.
    """

    def __init__(self, connection: sqlite3.Connection, column: str) -> None:
        self._cursor = connection.cursor()
        self._column = column

    def has_trees(self) -> bool:
        return rows.has_tree(self._cursor, self._tree(BLOCKS - 1))

    def catch_up(self, newest_id: int) -> None: ...

    def add(self, page_id: int, value: int | None) -> None: ...

    def near(self, value: int, max_distance_bits: int) -> list[tuple[int, int]]:
        refuse_other_distances(max_distance_bits)
        packed_bits(value)  # refuses what is no fingerprint
        try:
            found = self._candidates(value, max_distance_bits)
        except sqlite3.OperationalError:  # no tree yet, or it was rolled back
            for block in range(BLOCKS):
                self._cursor.execute(
                    f"""CREATE INDEX IF NOT EXISTS {self._tree(block)}
                        ON page ({self._key_sql(block)}, {self._column})
                        WHERE {self._column} IS NOT NULL"""
                )
            found = self._candidates(value, max_distance_bits)
        pairs = ((stored, (stored ^ value).bit_count()) for stored in found)
        near = (pair for pair in pairs if pair[1] <= max_distance_bits)
        return heapq.nsmallest(MOST_NEAR, near, key=itemgetter(1, 0))

    def sharing(self, values: Sequence[int]) -> Iterator[tuple[int, StoredPage]]:
        return heapq.merge(*map(self._with_value, values), key=itemgetter(0))

    def _with_value(self, value: int) -> Iterator[tuple[int, StoredPage]]:
        # The value stands in a SELECT of its own: SQLite would put it into the key's expression
        # too, of which the index then knows nothing, and would read all rows.
        conditions = {
            f"{self._key_sql(0)} = ?": _key(value, 0),
            f"{self._column} = (SELECT ?)": rows.column_value(value),
        }
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
