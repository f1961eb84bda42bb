"""The SQLite table of kept pages, and a memory of the values in it.

    page                                            FingerprintIndex
    ┌────┬─────┬─────────┬───────────┬─────┐        ┌───────────────────────┐
    │ id │ url │ content │ structure │ ... │ ─────▶ │ which values are near │
    └────┴─────┴─────────┴───────────┴─────┘ id > n └───────────┬───────────┘
                 ▲                                              │ values
                 └── which pages have them, oldest first ───────┘

Ids only grow, and a replaced page gets a new one, so the table is its own log: a process catches up
with the others by reading past the last id it has seen. Only committed rows are read into memory,
so it is never ahead of the file; values whose pages are gone stay in memory and lead to no page.

In the sqlite3 shell fingerprints are signed 64-bit integers (blobs when 128 bits wide), and the
view `page_hex` shows them in hexadecimal, and times in words.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from simhash_pipeline.index.neighbours import FingerprintIndex
from simhash_pipeline.index.store import Column, StoredPage

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

# Nearly always the first page is enough.
ROWS_A_READ = 16

# Measured at 200,000 pages, bytes a page beyond the URL: 122; with an index on the URL itself, of
# 74 bytes, 78 more; with the site's name in each row, 21 more; with times that are not whole
# seconds, 8 more.
SCHEMA = (
    """CREATE TABLE page (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        url_hash INTEGER NOT NULL,
        url TEXT NOT NULL,
        namespace TEXT NOT NULL,
        site_id INTEGER NOT NULL REFERENCES site,
        content INTEGER,
        structure INTEGER,
        sketch BLOB,
        digest BLOB,
        first_seen REAL NOT NULL,
        seen_at REAL NOT NULL
    )""",
    "CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "CREATE INDEX page_by_url ON page (url_hash)",
    "CREATE INDEX page_by_content ON page (namespace, content) WHERE content IS NOT NULL",
    "CREATE INDEX page_by_structure ON page (namespace, structure) WHERE structure IS NOT NULL",
    "CREATE INDEX page_by_digest ON page (namespace, digest) WHERE digest IS NOT NULL",
    """CREATE VIEW page_hex AS SELECT
        page.id, namespace, url, name AS site,
        CASE typeof(content) WHEN 'integer' THEN printf('%016x', content)
            WHEN 'blob' THEN lower(hex(content)) END AS content,
        CASE typeof(structure) WHEN 'integer' THEN printf('%016x', structure)
            WHEN 'blob' THEN lower(hex(structure)) END AS structure,
        nullif(lower(hex(sketch)), '') AS sketch,
        nullif(lower(hex(digest)), '') AS digest,
        datetime(first_seen, 'unixepoch') AS first_seen,
        datetime(seen_at, 'unixepoch') AS seen_at
    FROM page JOIN site ON site.id = site_id""",
)

# The id, then StoredPage's fields in their order.
SELECTED = """SELECT id, url, namespace, (SELECT name FROM site WHERE site.id = site_id),
    content, structure, sketch, digest, first_seen, seen_at FROM page"""
SAME_KEY = "url_hash = ? AND url = ? AND namespace = ?"


class PageTable:
    """Reads and writes pages; whoever calls it holds the transaction. Raises sqlite3.Error."""

    def __init__(self, connection: sqlite3.Connection, bits: int) -> None:
        self._connection = connection
        self._bits = bits
        self._memories = {
            "content": _Memory(connection, "content", bits),
            "structure": _Memory(connection, "structure", bits),
        }

    def page_of(self, namespace: str, url: str) -> StoredPage | None:
        found = self._connection.execute(f"{SELECTED} WHERE {SAME_KEY}", _key(namespace, url))
        return next((_page(row) for row in found.fetchall()), None)

    def near_values(
        self, namespace: str, column: Column, value: int, max_distance_bits: int
    ) -> list[tuple[int, int]]:
        """Values of all namespaces."""
        return self._memories[column].near(value, max_distance_bits)

    def sharing(
        self, namespace: str, column: Column, value: int | bytes
    ) -> Iterator[tuple[int, StoredPage]]:
        wanted = value if isinstance(value, bytes) else _column_value(value, self._bits)
        last_id = 0
        while True:
            # Not left open between reads: a half-read SELECT would outlive the transaction.
            rows = self._connection.execute(
                f"{SELECTED} WHERE namespace = ? AND {column} = ? AND id > ? ORDER BY id LIMIT ?",
                (namespace, wanted, last_id, ROWS_A_READ),
            ).fetchall()
            yield from ((row[0], _page(row)) for row in rows)
            if len(rows) < ROWS_A_READ:
                return
            last_id = rows[-1][0]

    def pages_after(self, last_id: int, limit: int) -> list[tuple[int, StoredPage]]:
        """(id, page) for at most `limit` pages, oldest first."""
        rows = self._connection.execute(
            f"{SELECTED} WHERE id > ? ORDER BY id LIMIT ?", (last_id, limit)
        )
        return [(row[0], _page(row)) for row in rows]

    def insert(self, page: StoredPage) -> None:
        self._connection.execute("INSERT OR IGNORE INTO site (name) VALUES (?)", (page.site,))
        self._connection.execute(
            """INSERT INTO page (url_hash, url, namespace, site_id, content, structure, sketch,
                digest, first_seen, seen_at)
            VALUES (?, ?, ?, (SELECT id FROM site WHERE name = ?), ?, ?, ?, ?, ?, ?)""",
            (
                *_key(page.namespace, page.url),
                page.site,
                _column_value(page.content, self._bits),
                _column_value(page.structure, self._bits),
                _column_value(page.sketch, 128),
                page.digest,
                page.first_seen,
                page.seen_at,
            ),
        )

    def renew(self, page: StoredPage) -> None:
        self._connection.execute(
            f"UPDATE page SET seen_at = ? WHERE {SAME_KEY}",
            (page.seen_at, *_key(page.namespace, page.url)),
        )

    def remove(self, namespace: str, url: str) -> bool:
        key = _key(namespace, url)
        return self._connection.execute(f"DELETE FROM page WHERE {SAME_KEY}", key).rowcount > 0

    def expire(self, seen_before: float) -> int:
        return self._connection.execute(
            "DELETE FROM page WHERE seen_at < ?", (seen_before,)
        ).rowcount

    def catch_up(self, column: Column) -> None:
        """Read a column's values into memory now, which a first look-up would do otherwise."""
        self._memories[column].catch_up()

    def __len__(self) -> int:
        count: int = self._connection.execute("SELECT count(*) FROM page").fetchone()[0]
        return count


class _Memory:
    """The distinct values of one column, read from the table as far as `_last_id`."""

    def __init__(self, connection: sqlite3.Connection, column: Column, bits: int) -> None:
        self._connection = connection
        self._column = column
        self._index = FingerprintIndex(bits)
        self._last_id = 0

    def near(self, value: int, max_distance_bits: int) -> list[tuple[int, int]]:
        self.catch_up()
        return self._index.near(value, max_distance_bits)

    def catch_up(self) -> None:
        newest_id = self._connection.execute("SELECT max(id) FROM page").fetchone()[0] or 0
        if newest_id > self._last_id:
            rows = self._connection.execute(
                f"SELECT {self._column} FROM page WHERE id > ? AND {self._column} IS NOT NULL",
                (self._last_id,),
            )
            self._index.update(_fingerprint(value) for (value,) in rows)
            self._last_id = newest_id


def _page(row: tuple[Any, ...]) -> StoredPage:
    _, url, namespace, site, content, structure, sketch, digest, first_seen, seen_at = row
    return StoredPage(
        url=url,
        namespace=namespace,
        site=site,
        content=None if content is None else _fingerprint(content),
        structure=None if structure is None else _fingerprint(structure),
        sketch=None if sketch is None else _fingerprint(sketch),
        digest=digest,
        first_seen=first_seen,
        seen_at=seen_at,
    )


def _key(namespace: str, url: str) -> tuple[int, str, str]:
    """The values of SAME_KEY; the hash is signed, so that it takes four bytes in the file."""
    return zlib.crc32(url.encode()) - (1 << 31), url, namespace


def _column_value(fingerprint: int | None, bits: int) -> int | bytes | None:
    """A fingerprint as SQLite holds it: ffff ffff ffff ffff is -1; 128 bits are 16 bytes.

    ValueError when it is wider than `bits`.
    """
    if fingerprint is None:
        return None
    if not 0 <= fingerprint < 1 << bits:
        raise ValueError(f"a fingerprint of {bits} bits can't be {fingerprint!r}")
    if bits == 128:
        return fingerprint.to_bytes(16, "big")
    return fingerprint - (1 << 64) if fingerprint >> 63 else fingerprint


def _fingerprint(value: int | bytes) -> int:
    """The inverse of `_column_value`."""
    return int.from_bytes(value, "big") if isinstance(value, bytes) else value & (1 << 64) - 1
