"""Reads and writes the texts in a store's SQLite file, within the transactions of its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_pipeline.stores import text_packing
from simhash_pipeline.stores.contract import PageText

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

INSERT = """INSERT INTO text (namespace, url, packed, kept_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (namespace, url) DO UPDATE SET packed = excluded.packed, kept_at = excluded.kept_at
"""
SELECTED = "SELECT namespace, url, packed, kept_at FROM text"

Row = tuple[str, str, bytes, float]


def packed(text: PageText) -> Row:
    """A row of the table."""
    return text.namespace, text.url, text_packing.packed(text), text.kept_at


def insert(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Write rows, each in place of one of the same key."""
    connection.executemany(INSERT, rows)


def text_of(connection: sqlite3.Connection, namespace: str, url: str) -> PageText | None:
    row = connection.execute(f"{SELECTED} WHERE namespace = ? AND url = ?", (namespace, url))
    return next((_unpacked(found) for found in row.fetchall()), None)


def texts_after(
    connection: sqlite3.Connection, last_row: int, limit: int
) -> list[tuple[int, PageText]]:
    """(row, text) for at most `limit` texts, in the order of their rows."""
    rows = connection.execute(
        "SELECT rowid, namespace, url, packed, kept_at FROM text WHERE rowid > ? "
        "ORDER BY rowid LIMIT ?",
        (last_row, limit),
    )
    return [(row[0], _unpacked(row[1:])) for row in rows.fetchall()]


def sizes(connection: sqlite3.Connection) -> list[int]:
    """The bytes of each text, compressed."""
    return [size for (size,) in connection.execute("SELECT length(packed) FROM text")]


def remove_where(connection: sqlite3.Connection, condition: str, *values: object) -> None:
    connection.execute(f"DELETE FROM text WHERE {condition}", values)


def _unpacked(row: Row) -> PageText:
    namespace, url, content, kept_at = row
    return PageText(namespace, url, *text_packing.unpacked(content), kept_at)
