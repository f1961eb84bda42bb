"""What one process remembers of a store's file: where URLs and fingerprints lie.

    page                                            in memory
    ┌────┬─────┬─────────┬───────────┬─────┐        ┌─────────────────────────────────────┐
    │ id │ url │ content │ structure │ ... │ ─────▶ │ URL -> ids; near -> values -> ids   │
    └────┴─────┴─────────┴───────────┴─────┘ id > n └──────────────────┬──────────────────┘
         ▲                                                             │ ids, oldest first
         └─────────────────────────────────────────────────────────────┘

Why the answers are exact: ids only grow, and a page keeps its id, URL and content until it is gone
(a replaced page gets a new id), so the table is its own log. Memory holds every committed page up
to the last id it has read, and more: pages that are gone since. It is brought up to the newest id
inside the same transaction that asks, before that writes anything, so no page is missing; and what
memory says is only where to look: a page counts when its row is there, so none is too many.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from simhash_pipeline.index.buckets import append
from simhash_pipeline.index.neighbours import FingerprintIndex
from simhash_pipeline.stores.sqlite.key_hashes import STRETCH, KeyHashes, key_hash
from simhash_pipeline.stores.sqlite.page_rows import (
    ROWS_A_READ,
    SELECTED,
    SIGNED_HASH,
    column_value,
    fingerprint,
    furniture,
    numbered_page,
    pages_where,
)
from simhash_pipeline.stores.sqlite.segments import Segments, segment_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simhash_pipeline.stores.contract import Column, StoredPage

REPEAT_BUCKETS = 1 << 12
REPEAT_BUCKET_MASK = REPEAT_BUCKETS - 1


class PageMemory:
    """Finds pages through memory; raises sqlite3.Error.

    Costs 43 bytes of memory a page with a content value of its own, at ten million (`make bench`),
    and 16 with a repeated one.
    Structure costs nothing until it is asked for: the first `near_values` of it makes a b-tree in
    the file, of about 20 bytes and 25 us a page from then on, and reads the values into memory.
    """

    def __init__(self, connection: sqlite3.Connection, bits: int) -> None:
        self._connection = connection
        self._bits = bits
        self._keys = KeyHashes()
        self._content = FingerprintIndex(bits)
        self._repeats = _Repeats(bits)
        self._structure = _StructureMemory(connection, bits)
        self._last_id = 0

    def catch_up(self, newest_id: int) -> None:
        """Read the pages past the last id that was read."""
        if self._last_id == 0 and segment_of(newest_id) > 0:
            self._load(newest_id)
        elif newest_id > self._last_id:
            rows = self._connection.execute(
                "SELECT id, url_hash, content FROM page WHERE id > ? AND id <= ? ORDER BY id",
                (self._last_id, newest_id),
            )
            for number, hashed, content in rows:
                value = None if content is None else fingerprint(content)
                self.add(number, hashed + SIGNED_HASH, value)
        self._last_id = newest_id

    def add(self, page_id: int, url_hash: int, content: int | None) -> None:
        """Remember a committed page, whose id is the newest."""
        self._keys.add(url_hash, page_id)
        if content is not None and not self._content.add(content, page_id):
            self._repeats.add(content, page_id)
        self._last_id = page_id

    def rolled_back(self) -> None:
        self._structure.rolled_back()

    def page_of(self, namespace: str, url: str) -> tuple[int, StoredPage] | None:
        for first in self._keys.stretches(key_hash(namespace, url), self._last_id):
            found = self._connection.execute(
                f"{SELECTED} WHERE id BETWEEN ? AND ? AND url = ? AND namespace = ?",
                (first, first + STRETCH - 1, url, namespace),
            ).fetchall()
            if found:
                return numbered_page(found[0])
        return None

    def furniture(self, namespace: str, site: str) -> bytes:
        return furniture(self._connection, namespace, site)

    def near_values(
        self, namespace: str, column: Column, value: int, max_distance_bits: int
    ) -> list[tuple[int, int]]:
        """Values of all namespaces."""
        if column == "structure":
            return self._structure.near(value, max_distance_bits)
        return self._content.near(value, max_distance_bits)

    def sharing(
        self, namespace: str, column: Column, value: int | bytes
    ) -> Iterator[tuple[int, StoredPage]]:
        if column == "content" and isinstance(value, int):
            return self._with_content(namespace, value)
        wanted = value if isinstance(value, bytes) else column_value(value, self._bits)
        return pages_where(self._connection, "", {"namespace": namespace, column: wanted})

    def _with_content(self, namespace: str, value: int) -> Iterator[tuple[int, StoredPage]]:
        ids = self._ids_of(value)
        while chunk := list(islice(ids, ROWS_A_READ)):
            marks = ", ".join("?" * len(chunk))
            rows = self._connection.execute(
                f"{SELECTED} WHERE id IN ({marks}) AND namespace = ? ORDER BY id",
                (*chunk, namespace),
            ).fetchall()
            yield from map(numbered_page, rows)

    def _ids_of(self, value: int) -> Iterator[int]:
        """The pages that have or had the value, oldest first."""
        first = self._content.number_of(value)
        if first is not None:
            yield first
            yield from self._repeats.ids_of(value)

    def _load(self, newest_id: int) -> None:
        pages = Segments(self._connection, self._bits).pages(newest_id)
        self._keys = KeyHashes(len(pages.ids))
        self._keys.load(pages.url_hashes, pages.ids)
        ids = pages.ids[pages.with_content]
        fresh = self._content.load(pages.content, ids)
        if not fresh.all():
            self._repeats.load(pages.content[~fresh], ids[~fresh])


class _Repeats:
    """(value, page id) of further pages with a value that is known: 12 bytes each for 64 bits."""

    def __init__(self, bits: int) -> None:
        self._size = bits // 8
        word = f"<u{self._size}" if bits <= 64 else "V16"
        self._row = np.dtype([("value", word), ("id", "<u4")])
        self._buckets = [bytearray() for _ in range(REPEAT_BUCKETS)]

    def add(self, value: int, page_id: int) -> None:
        packed = value.to_bytes(self._size, "little") + page_id.to_bytes(4, "little")
        self._buckets[value & REPEAT_BUCKET_MASK] += packed

    def load(self, values: NDArray[np.void], ids: NDArray[np.uint32]) -> None:
        rows = np.empty(len(ids), self._row)
        rows["value"], rows["id"] = values, ids
        low = rows.view("<u2").reshape(len(rows), -1)[:, 0]
        append(low & np.uint16(REPEAT_BUCKET_MASK), REPEAT_BUCKETS, (self._buckets, 0, rows))

    def ids_of(self, value: int) -> list[int]:
        """Rising."""
        rows = np.frombuffer(self._buckets[value & REPEAT_BUCKET_MASK], self._row)
        packed = np.frombuffer(value.to_bytes(self._size, "little"), rows["value"].dtype)
        found: list[int] = rows["id"][rows["value"] == packed].tolist()
        return found


class _StructureMemory:
    """The distinct structure values in memory, their pages by a b-tree; made when first asked."""

    def __init__(self, connection: sqlite3.Connection, bits: int) -> None:
        self._connection = connection
        self._index = FingerprintIndex(bits)
        self._last_id = 0
        self._has_tree = False

    def near(self, value: int, max_distance_bits: int) -> list[tuple[int, int]]:
        self._catch_up()
        return self._index.near(value, max_distance_bits)

    def rolled_back(self) -> None:
        self._has_tree = False

    def _catch_up(self) -> None:
        if not self._has_tree:
            self._connection.execute(
                """CREATE INDEX IF NOT EXISTS page_by_structure ON page (namespace, structure)
                    WHERE structure IS NOT NULL"""
            )
            self._has_tree = True
        newest_id = self._connection.execute("SELECT max(id) FROM page").fetchone()[0] or 0
        if newest_id > self._last_id:
            rows = self._connection.execute(
                "SELECT structure FROM page WHERE id > ? AND structure IS NOT NULL",
                (self._last_id,),
            )
            self._index.update(fingerprint(value) for (value,) in rows)
            self._last_id = newest_id
