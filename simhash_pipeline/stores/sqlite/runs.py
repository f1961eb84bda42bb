"""Tentative pages of an SQLite store, and those that a dead process did not confirm.

A row of `page` names its run until the page is confirmed. A run is one opened store. It holds the
lock of a file of its own while its process lives: another process that gets this lock knows that
the pages of the run will never be confirmed.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

if TYPE_CHECKING:
    import sqlite3


class DeadRun(Exception):
    """A page was met that its process, which has died, never confirmed."""

    def __init__(self, run: int) -> None:
        self.run = run


class StoreSession:
    """The tentative pages of one opened store; raises sqlite3.Error.

    The caller holds the write lock for all but `kept`, `confirm`, `forget`, `written` and `ended`.
    """

    def __init__(self, connection: sqlite3.Connection, store: Path, newest_id: int) -> None:
        """Begin a run, and remove the tentative pages of dead ones."""
        self._connection = connection
        self._tentative: dict[tuple[str, str], int] = {}  # ids by namespace and URL
        self._confirmed: list[tuple[int]] = []  # ids that are still tentative in the file
        for (run,) in connection.execute("SELECT CAST(id AS INTEGER) FROM run").fetchall():
            if not is_alive(store, run):
                end_run(connection, run)
        begun = connection.execute("INSERT INTO run (after_page) VALUES (?)", (newest_id,))
        self.run = int(begun.lastrowid or 0)
        self._lock = _lock(store, self.run)
        self._lock.acquire(timeout=0)

    def kept(self, namespace: str, url: str, page_id: int) -> None:
        """Take note of a tentative page that is committed."""
        self._tentative[namespace, url] = page_id

    def confirm(self, namespace: str, url: str) -> None:
        page_id = self._tentative.pop((namespace, url), None)
        if page_id is not None:
            self._confirmed.append((page_id,))

    def forget(self, namespace: str, url: str) -> None:
        self._tentative.pop((namespace, url), None)

    def write(self) -> None:
        """Write what was confirmed; `written` follows after the commit."""
        if self._confirmed:
            self._connection.executemany("UPDATE page SET run = NULL WHERE id = ?", self._confirmed)

    def written(self) -> None:
        self._confirmed.clear()

    def end(self) -> None:
        """Remove the pages whose confirmation was not written; `ended` follows after the commit."""
        end_run(self._connection, self.run)

    def ended(self) -> None:
        self._lock.release()
        _remove(self._lock)


def is_alive(store: Path, run: int) -> bool:
    """Whether the run's process lives, or another is just looking; removes a dead one's lock."""
    lock = _lock(store, run)
    try:
        with lock.acquire(timeout=0):
            _remove(lock)
    except Timeout:
        return True
    return False


def _lock(store: Path, run: int) -> FileLock:
    return FileLock(f"{store}-run{run}", is_singleton=False)


def _remove(lock: FileLock) -> None:
    with suppress(OSError):  # on Windows, while another process looks at it
        Path(lock.lock_file).unlink(missing_ok=True)


def end_run(connection: sqlite3.Connection, run: int) -> None:
    """Remove the run and the pages that it has not confirmed; within a transaction."""
    connection.execute(
        "DELETE FROM page WHERE run = :run AND id > (SELECT after_page FROM run WHERE id = :run)",
        {"run": run},
    )
    connection.execute("DELETE FROM run WHERE id = ?", (run,))
