"""Reads and writes the pages of a store's SQLite file, within the transactions of its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from simhash_pipeline.bits import SKETCH_BITS
from simhash_pipeline.stores.contract import IndexPlace, Lookup, StoredPage
from simhash_pipeline.stores.sqlite.key_hashes import key_hash
from simhash_pipeline.stores.sqlite.page_memory import PageMemory
from simhash_pipeline.stores.sqlite.page_rows import (
    SELECTED,
    SIGNED_HASH,
    column_value,
    numbered_page,
)
from simhash_pipeline.stores.sqlite.page_trees import PageTrees
from simhash_pipeline.stores.sqlite.segments import Segments, ends_segment, segment_of, segment_size

if TYPE_CHECKING:
    import sqlite3

# Measured at a million pages, bytes a page beyond the URL: 77. With an index on the URL itself, of
# 74 bytes, 78 more; with the site's name in each row, 21 more; with times that are not whole
# seconds, 4 more.
INSERT = """INSERT INTO page (id, url_hash, url, namespace, site_id, content, structure, sketch,
    digest, first_seen, seen_at, run, visible, sample)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, nullif(?11, ?10), ?12, ?13, ?14)"""
# An id is never given twice, though its page be gone: see formats.py.
NEWEST_ID = """SELECT max(ifnull((SELECT max(id) FROM page), 0),
    ifnull((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'last_id'), 0))"""
OTHERS_VERSION = "PRAGMA data_version"  # moves when another connection commits
SEEN_BEFORE = "ifnull(seen_at, first_seen) < ?"
OF_NAMESPACE = "namespace = ?"


class Finder(Lookup, Protocol):
    """Answers a View's questions; the two are PageMemory and PageTrees."""

    def catch_up(self, newest_id: int) -> None:
        """See every committed page up to the id."""

    def add(self, page_id: int, url_hash: int, content: int | None) -> None:
        """See a page of this process that is committed now."""

    def rolled_back(self) -> None: ...


class PageTable:
    """Pages in a file; `finder` finds them. Raises sqlite3.Error.

    Between `begin` and `committed` or `rolled_back` the caller holds the write lock.
    """

    def __init__(self, connection: sqlite3.Connection, bits: int, index: IndexPlace) -> None:
        self._connection = connection
        self._cursor = connection.cursor()  # one for all saves 1 us a statement
        self.bits = bits
        self._segments = Segments(connection, bits)
        self._site_ids: dict[str, int] = {}
        self._newest_id = 0
        self._version: int | None = None  # of the file, as others left it when `begin` last looked
        self._inserted: list[tuple[int, int, int | None]] = []  # what `Finder.add` takes
        self.finder: Finder = (PageMemory if index == "memory" else PageTrees)(connection, bits)

    def begin(self) -> None:
        """Learn what other processes have written."""
        version = self._cursor.execute(OTHERS_VERSION).fetchone()[0]
        if version != self._version:  # half the time of asking for the newest id
            self._newest_id = self.newest_id()
            self.finder.catch_up(self._newest_id)
            self._version = version

    def newest_id(self) -> int:
        """The largest id given so far; 0 when none was."""
        newest: int = self._cursor.execute(NEWEST_ID).fetchone()[0]
        return newest

    def committed(self) -> None:
        for row in self._inserted:
            self.finder.add(*row)
        self._inserted.clear()

    def rolled_back(self) -> None:
        self._inserted.clear()
        self._site_ids.clear()
        self._version = None
        self.finder.rolled_back()

    def insert(self, page: StoredPage, run: int | None = None) -> int:
        """Store the page, tentatively for a run, and return its id."""
        number = self._newest_id + 1
        url_hash = key_hash(page.namespace, page.url)
        self._cursor.execute(
            INSERT,
            (
                number,
                url_hash - SIGNED_HASH,
                page.url,
                page.namespace,
                self._site_ids.get(page.site) or self._site_id(page.site),
                column_value(page.content, self.bits),
                column_value(page.structure, self.bits),
                column_value(page.sketch, SKETCH_BITS),
                page.digest,
                page.first_seen,
                page.seen_at,
                run,
                column_value(page.visible, 64),
                None if page.sample is None else bytearray(page.sample),  # see column_value
            ),
        )
        self._inserted.append((number, url_hash, page.content))
        self._newest_id = number
        if ends_segment(number):
            self._segments.filled(segment_of(number))
        return number

    def renew(self, number: int, seen_at: float) -> None:
        self._connection.execute(
            "UPDATE page SET seen_at = nullif(?, first_seen) WHERE id = ?", (seen_at, number)
        )

    def remove(self, number: int) -> None:
        self._connection.execute("DELETE FROM page WHERE id = ?", (number,))

    def remove_where(self, condition: str, value: object) -> int:
        """Remove the pages for which it holds, and pack segments that lose half of theirs anew."""
        losing = self._connection.execute(
            f"SELECT id / {segment_size()}, count(*) FROM page WHERE {condition} GROUP BY 1",
            (value,),
        ).fetchall()
        self._connection.execute(f"DELETE FROM page WHERE {condition}", (value,))
        for number, lost in losing:
            if lost > segment_size() / 2 and number < segment_of(self._newest_id):
                self._segments.pack(number)
        return sum(lost for _, lost in losing)

    def pages_after(self, last_id: int, limit: int) -> list[tuple[int, StoredPage]]:
        """(id, page) for at most `limit` pages, oldest first."""
        rows = self._connection.execute(
            f"{SELECTED} WHERE id > ? ORDER BY id LIMIT ?", (last_id, limit)
        )
        return [numbered_page(row) for row in rows]

    def is_empty(self) -> bool:
        return self._connection.execute("SELECT 1 FROM page LIMIT 1").fetchone() is None

    def __len__(self) -> int:
        count: int = self._connection.execute("SELECT count(*) FROM page").fetchone()[0]
        return count

    def _site_id(self, name: str) -> int:
        self._connection.execute("INSERT OR IGNORE INTO site (name) VALUES (?)", (name,))
        found = self._connection.execute("SELECT id FROM site WHERE name = ?", (name,)).fetchone()
        self._site_ids[name] = found[0]
        return self._site_ids[name]
