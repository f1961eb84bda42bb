"""How a page lies in a row of the SQLite table `page`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simhash_pipeline.stores.contract import StoredPage

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

# The id, then StoredPage's fields in their order.
SELECTED = """SELECT id, url, namespace, (SELECT name FROM site WHERE site.id = site_id),
    content, structure, sketch, digest, first_seen, ifnull(seen_at, first_seen), visible, sample
    FROM page"""
# Nearly always the first of several pages is enough.
ROWS_A_READ = 16
SIGNED_HASH = 1 << 31
SIGNED_64 = 1 << 63


def numbered_page(row: tuple[Any, ...]) -> tuple[int, StoredPage]:
    """(id, page) of a row of SELECTED."""
    number, url, namespace, site, content, structure, sketch, digest = row[:8]
    first_seen, seen_at, visible, sample = row[8:]
    return number, StoredPage(
        url=url,
        namespace=namespace,
        site=site,
        content=None if content is None else fingerprint(content),
        structure=None if structure is None else fingerprint(structure),
        sketch=None if sketch is None else fingerprint(sketch),
        digest=digest,
        first_seen=first_seen,
        seen_at=seen_at,
        visible=None if visible is None else fingerprint(visible),
        sample=sample,
    )


def pages_where(
    connection: sqlite3.Connection, by: str, equal: Mapping[str, object]
) -> Iterator[tuple[int, StoredPage]]:
    """(id, page), oldest first, a few rows at a time; `by` may name the index in SQL.

    No read is left open: a half-read SELECT would outlive the transaction.
    """
    condition = " AND ".join(f"{expression} = ?" for expression in equal)
    last_id = 0
    while True:
        rows = connection.execute(
            f"{SELECTED} {by} WHERE {condition} AND id > ? ORDER BY id LIMIT ?",
            (*equal.values(), last_id, ROWS_A_READ),
        ).fetchall()
        yield from map(numbered_page, rows)
        if len(rows) < ROWS_A_READ:
            return
        last_id = rows[-1][0]


def column_value(value: int | None, bits: int) -> int | bytearray | None:
    """A fingerprint as SQLite holds it: ffff ffff ffff ffff is -1; 128 bits are 16 bytes.

    A bytearray, because for each bytes object Python's sqlite3 looks for an adapter, 1 us long.
    ValueError when it is wider than `bits`.
    """
    if value is None:
        return None
    if not 0 <= value < 1 << bits:
        raise ValueError(f"a fingerprint of {bits} bits can't be {value!r}")
    if bits == 128:
        return bytearray(value.to_bytes(16, "big"))
    return value - (1 << 64) if value >= SIGNED_64 else value


def fingerprint(value: int | bytes) -> int:
    """The inverse of `column_value`."""
    return int.from_bytes(value, "big") if isinstance(value, bytes) else value & (1 << 64) - 1


def furniture(connection: sqlite3.Connection, namespace: str, site: str) -> bytes:
    """The blocks that `Store.add_furniture` wrote of a site."""
    rows = connection.execute(
        "SELECT blocks FROM furniture WHERE namespace = ? AND site = ?", (namespace, site)
    )
    return next((blocks for (blocks,) in rows.fetchall()), b"")
