"""What a process needs in memory, packed in the file, so that a big store opens fast.

    segment 0            segment 1            not packed yet
    ids 0 .. 65,535      65,536 .. 131,071    131,072 ..       newest id
    ├────────────────────┼────────────────────┼────────────────┤
      one row of blobs     one row of blobs     read from the pages themselves

A segment is written in the transaction that fills it, and stays true for good: a page never changes
its id, URL or content. Pages removed since lead nowhere. So that they don't pile up, each segment
that is filled has the one that was packed longest ago packed anew. It is a cache: the file is
complete without it, and a missing segment is read from its pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simhash_pipeline.stores.sqlite.page_rows import SIGNED_HASH

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from numpy.typing import NDArray

SEGMENT_BITS = 16


@dataclass(frozen=True, slots=True)
class PackedPages:
    """Pages by rising id; `content` holds a row, little-endian, for each that has one."""

    ids: NDArray[np.uint32]
    url_hashes: NDArray[np.uint32]
    with_content: NDArray[np.bool_]
    content: NDArray[Any]


class Segments:
    """Reads and writes the table `segment`; raises sqlite3.Error."""

    def __init__(self, connection: sqlite3.Connection, bits: int) -> None:
        self._connection = connection
        self._row = np.dtype({32: "<u4", 64: "<u8", 128: "V16"}[bits])

    def pages(self, newest_id: int) -> PackedPages:
        """All pages up to the id."""
        parts = [self._read(number, newest_id) for number in range(segment_of(newest_id) + 1)]
        return PackedPages(
            np.concatenate([part.ids for part in parts]),
            np.concatenate([part.url_hashes for part in parts]),
            np.concatenate([part.with_content for part in parts]),
            np.concatenate([part.content for part in parts]),
        )

    def pack_all(self) -> None:
        """Pack every segment whose last id is given."""
        newest_id = self._connection.execute("SELECT max(id) FROM page").fetchone()[0] or 0
        for number in range(segment_of(newest_id + 1)):
            self.pack(number)

    def filled(self, number: int) -> None:
        """Pack a segment whose last id is given, and the stalest one again."""
        self.pack(number)
        stalest = self._connection.execute(
            "SELECT number FROM segment WHERE number <> ? ORDER BY newest_id LIMIT 1", (number,)
        ).fetchall()
        for (again,) in stalest:
            self.pack(again)

    def pack(self, number: int) -> None:
        pages = self._read_pages(*_first_and_last_id(number))
        there, having = np.zeros((2, segment_size()), bool)
        places = pages.ids - _first_and_last_id(number)[0]
        there[places] = True
        having[places[pages.with_content]] = True
        self._connection.execute(
            """INSERT OR REPLACE INTO segment (number, newest_id, pages, url_hashes, with_content,
                content) VALUES (?, ifnull((SELECT max(id) FROM page), 0), ?, ?, ?, ?)""",
            (
                number,
                np.packbits(there).tobytes(),
                pages.url_hashes.astype("<u4").tobytes(),
                np.packbits(having).tobytes(),
                pages.content.tobytes(),
            ),
        )

    def _read(self, number: int, newest_id: int) -> PackedPages:
        packed = self._connection.execute(
            "SELECT pages, url_hashes, with_content, content FROM segment WHERE number = ?",
            (number,),
        ).fetchone()
        first_id, last_id = _first_and_last_id(number)
        if packed is None:
            return self._read_pages(first_id, min(last_id, newest_id))
        there, having = (np.unpackbits(np.frombuffer(packed[n], np.uint8)) for n in (0, 2))
        places = there.nonzero()[0]
        return PackedPages(
            (places + first_id).astype(np.uint32),
            np.frombuffer(packed[1], "<u4"),
            having[places].astype(bool),
            np.frombuffer(packed[3], self._row),
        )

    def _read_pages(self, first_id: int, last_id: int) -> PackedPages:
        rows = self._connection.execute(
            "SELECT id, url_hash, content FROM page WHERE id BETWEEN ? AND ? ORDER BY id",
            (first_id, last_id),
        ).fetchall()
        return PackedPages(
            np.array([number for number, _, _ in rows], np.uint32),
            (np.array([hashed for _, hashed, _ in rows], np.int64) + SIGNED_HASH).astype(np.uint32),
            np.array([content is not None for _, _, content in rows], bool),
            self._packed(content for _, _, content in rows if content is not None),
        )

    def _packed(self, column: Iterable[Any]) -> NDArray[Any]:
        if self._row.itemsize == 16:
            return np.frombuffer(b"".join(blob[::-1] for blob in column), self._row)
        return np.array(list(column), np.int64).astype(self._row)


def segment_of(page_id: int) -> int:
    return page_id >> SEGMENT_BITS


def ends_segment(page_id: int) -> bool:
    return (page_id + 1) % segment_size() == 0


def segment_size() -> int:
    return 1 << SEGMENT_BITS


def _first_and_last_id(number: int) -> tuple[int, int]:
    return number << SEGMENT_BITS, (number + 1 << SEGMENT_BITS) - 1
