"""The index on disk: finds pages by b-trees in a store's file, and keeps nothing in memory.

A column gets a b-tree for each table of a design, by the key of the table and the value, so the
values of one key lie side by side. With four tables the keys are of the blocks of neighbours.py,
and its rule says which of them can hold a neighbour:

    bit  63           48 47           32 31           16 15            0
        |    block 3    |    block 2    |    block 1    |    block 0    |
        |     key 3     |     key 2     |     key 1     |     key 0     |

With 10 tables, a design of tables.py for 3 bits, each table is asked for one key. The
trees are SQLite indexes on expressions: SQLite itself keeps them up to date for every process that
writes to the file, those with their index in memory included. Which trees there are says how many
tables the store has.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import merge, nsmallest
from operator import itemgetter
from typing import TYPE_CHECKING

from simhash_pipeline.bits import BITS, MAX_DISTANCE_BITS, refuse_other_distances
from simhash_pipeline.errors import StoreMismatch
from simhash_pipeline.index.neighbours import BLOCKS, probe_masks
from simhash_pipeline.index.tables import SPLITS, SPLITS_DISTANCE, Design, runs
from simhash_pipeline.stores.contract import MOST_NEAR
from simhash_pipeline.stores.sqlite.rows import column_value, fingerprint, pages_where

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from simhash_pipeline.stores.contract import Column, StoredPage, Tables

# From here on ten tables, which find fewer values under a key, take two fifths of the time of four;
# from some 100 million pages on they also read less of the file. 16 and 20 tables never do: a page
# of the file holds every list of ten tables.
MANY_PAGES = 20_000_000


@dataclass(frozen=True, slots=True)
class _Table:
    """A b-tree of each column: its key is made of the bits of a mask."""

    name: str
    mask: int
    probes: tuple[tuple[int, ...], ...]  # by distance: what to flip in the key

    def sql(self, column: Column) -> str:
        """The key in SQL."""
        parts = (
            f"((({column} >> {start}) & {(1 << length) - 1}) << {position})"
            for start, length, position in runs(self.mask)
        )
        return " | ".join(parts)

    def key(self, value: int) -> int:
        return sum(
            (value >> start & (1 << length) - 1) << position
            for start, length, position in runs(self.mask)
        )


def _tables(number: int) -> list[_Table]:
    if number == BLOCKS:
        key_bits = BITS // BLOCKS
        masks = [probe_masks(key_bits, k) for k in range(MAX_DISTANCE_BITS + 1)]
        return [
            _Table(
                f"block_{block}",
                (1 << key_bits) - 1 << block * key_bits,
                tuple(tuple(of_distance[block]) for of_distance in masks),
            )
            for block in range(BLOCKS)
        ]
    design = Design(BITS, SPLITS_DISTANCE, SPLITS[number])
    once = ((0,),) * (SPLITS_DISTANCE + 1)
    return [
        _Table(f"table_{place}_of_{number}", mask, once) for place, mask in enumerate(design.tables)
    ]


class DiskIndex:
    """Finds pages by b-trees; raises sqlite3.Error.

    The trees of content are made when the store is first opened so, those of structure when it is
    first asked for. Each costs a page 20 to 24 bytes of disk. `tables` is how many there are: 4 for
    every distance, 10 for at most 3 bits; "auto" takes what the store has, or what
    suits its pages. StoreMismatch if the store has others, or not enough for a distance.
    """

    def __init__(self, connection: sqlite3.Connection, tables: Tables = "auto") -> None:
        self._cursor = connection.cursor()
        self._wanted = tables
        self._tables: list[_Table] = []  # not known before the store is read
        self._made: set[Column] = set()

    def catch_up(self, newest_id: int) -> None:
        """Make the trees of content when there are none; SQLite keeps them up to date."""
        if not self._tables:
            self._tables = _tables(self._number(newest_id))
        self._make("content")

    def add(self, page_id: int, page: StoredPage) -> None:
        """Nothing to do: SQLite has done it."""

    def rolled_back(self) -> None:
        self._made.clear()
        self._tables = []

    def near_values(
        self, column: Column, value: int, max_distance_bits: int
    ) -> list[tuple[int, int]]:
        refuse_other_distances(max_distance_bits)
        if max_distance_bits >= len(self._tables[0].probes):
            raise StoreMismatch(
                f"the store has {len(self._tables)} tables, which find what is within "
                f"{SPLITS_DISTANCE} bits, not within {max_distance_bits}: set a shorter distance, "
                "or copy the store (`scrapy simhash store copy`)"
            )
        column_value(value)  # refuses what is no fingerprint
        self._make(column)
        near = {
            stored: (distance, oldest_id)
            for stored, oldest_id in self._candidates(column, value, max_distance_bits)
            if (distance := (stored ^ value).bit_count()) <= max_distance_bits
        }
        nearest = nsmallest(MOST_NEAR, near.items(), key=itemgetter(1))
        return [(stored, distance) for stored, (distance, _) in nearest]

    def sharing(
        self, namespace: str, column: Column, values: Sequence[int]
    ) -> Iterator[tuple[int, StoredPage]]:
        by_age = [self._with_value(namespace, column, value) for value in values]
        return merge(*by_age, key=itemgetter(0))

    def _with_value(
        self, namespace: str, column: Column, value: int
    ) -> Iterator[tuple[int, StoredPage]]:
        table = self._tables[0]
        equal = {
            "namespace": namespace,
            table.sql(column): table.key(value),
            column: column_value(value),
        }
        return pages_where(self._cursor, f"INDEXED BY {self._tree(column, table)}", equal)

    def _number(self, newest_id: int) -> int:
        """How many tables the store has, or gets."""
        rows = self._cursor.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index'"
        ).fetchall()
        names = {name for (name,) in rows}
        for number in SPLITS:
            tables = _tables(number)
            if {self._tree("content", table) for table in tables} <= names:
                if self._wanted not in ("auto", number):
                    raise StoreMismatch(
                        f"the URL asks for {self._wanted} tables, and the store has {number}: "
                        "leave them at auto, or copy the store (`scrapy simhash store copy`)"
                    )
                return number
        if self._wanted != "auto":
            return self._wanted
        return 10 if newest_id >= MANY_PAGES else BLOCKS

    def _make(self, column: Column) -> None:
        if column in self._made:
            return
        for table in self._tables:
            self._cursor.execute(
                f"""CREATE INDEX IF NOT EXISTS {self._tree(column, table)}
                    ON page ({table.sql(column)}, {column})
                    WHERE {column} IS NOT NULL"""
            )
        self._made.add(column)

    def _candidates(
        self, column: Column, value: int, max_distance_bits: int
    ) -> Iterator[tuple[int, int]]:
        """(value, oldest id) of every key that can hold a neighbour; some several times."""
        for table in self._tables:
            key, masks = table.key(value), table.probes[max_distance_bits]
            if not masks:
                continue
            probed = [key ^ mask for mask in masks]
            rows = self._cursor.execute(
                f"""SELECT {column}, min(id) FROM page INDEXED BY {self._tree(column, table)}
                    WHERE {table.sql(column)} IN ({", ".join("?" * len(probed))})
                    AND {column} IS NOT NULL
                    GROUP BY {table.sql(column)}, {column}""",
                probed,
            ).fetchall()
            yield from ((fingerprint(stored), oldest_id) for stored, oldest_id in rows)

    def _tree(self, column: Column, table: _Table) -> str:
        return f"{column}_{table.name}"
