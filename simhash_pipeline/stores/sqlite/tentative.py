"""Pages of an SQLite store that wait to be confirmed, and those that a dead process left waiting.

A row of `page` names its run until it is confirmed. A run holds the lock of a file of its own for
as long as its process lives: whoever gets that lock knows that nobody will confirm its pages.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

if TYPE_CHECKING:
    import sqlite3


class Run:
    """The tentative pages of one opened store; the owner holds the write lock for what says so."""

    def __init__(self, connection: sqlite3.Connection, store: Path, newest_id: int) -> None:
        """Begin a run, and forget the pages of dead ones; under the write lock."""
        self._connection = connection
        self._waiting: dict[tuple[str, str], int] = {}  # ids by namespace and URL
        self._uncommitted: dict[tuple[str, str], int] = {}  # the same, of a transaction under way
        self._confirmed: list[tuple[int]] = []  # ids that the file doesn't know as such yet
        for (number,) in connection.execute("SELECT id FROM run").fetchall():
            lock = _lock(store, number)
            with suppress(Timeout), lock.acquire(timeout=0):
                _end(connection, number)
                _remove(lock)
        begun = connection.execute("INSERT INTO run (after_page) VALUES (?)", (newest_id,))
        self.number = int(begun.lastrowid or 0)
        self._lock = _lock(store, self.number)
        self._lock.acquire(timeout=0)

    def kept(self, namespace: str, url: str, page_id: int) -> None:
        self._uncommitted[namespace, url] = page_id

    def confirm(self, namespace: str, url: str) -> None:
        page_id = self._waiting.pop((namespace, url), None)
        if page_id is not None:
            self._confirmed.append((page_id,))

    def forgotten(self, namespace: str, url: str) -> None:
        self._waiting.pop((namespace, url), None)

    def write(self) -> None:
        """Write what was confirmed; under the write lock, and `written` after the commit."""
        if self._confirmed:
            self._connection.executemany("UPDATE page SET run = NULL WHERE id = ?", self._confirmed)

    def written(self) -> None:
        self._confirmed.clear()
        self._waiting.update(self._uncommitted)
        self._uncommitted.clear()

    def rolled_back(self) -> None:
        self._uncommitted.clear()

    def end(self) -> None:
        """Forget the pages that nobody confirmed; under the write lock, then `ended`."""
        self.write()
        _end(self._connection, self.number)

    def ended(self) -> None:
        self._lock.release()
        _remove(self._lock)


def _lock(store: Path, number: int) -> FileLock:
    return FileLock(f"{store}-run{number}", is_singleton=False)


def _remove(lock: FileLock) -> None:
    with suppress(OSError):  # on Windows, while another process looks at it
        Path(lock.lock_file).unlink(missing_ok=True)


def _end(connection: sqlite3.Connection, number: int) -> None:
    connection.execute(
        "DELETE FROM page WHERE run = :run AND id > (SELECT after_page FROM run WHERE id = :run)",
        {"run": number},
    )
    connection.execute("DELETE FROM run WHERE id = ?", (number,))
