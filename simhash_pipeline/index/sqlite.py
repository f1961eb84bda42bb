"""The default store: one SQLite file that several processes can write at once.

Every look-up and the storing that follows it happen inside one BEGIN IMMEDIATE, which one process
holds at a time. Write-ahead logging with synchronous=NORMAL: a killed process loses nothing that
was committed; a power cut may lose the last commits, and leaves the file intact.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, suppress
from itertools import islice
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

from simhash_pipeline.errors import StoreError
from simhash_pipeline.index import formats
from simhash_pipeline.index.page_table import PageTable
from simhash_pipeline.index.store import (
    Action,
    IndexPlace,
    StoredPage,
    View,
    check_stamp,
    stamped_bits,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from typing_extensions import Self

T = TypeVar("T")

BUSY_TIMEOUT_SECS = 60.0
PAGES_A_READ = 1_000
PAGES_A_WRITE = 10_000

# What SQLite says, and what a person can make of it.
EXPLANATIONS = {
    "disk is full": "the disk is full; free some space and start again, "
    "what was stored before is intact",
    "disk I/O error": "the disk can't be read or written (full, over quota or failing); "
    "mend that and start again, what was stored before is intact",
    "readonly": "it can't be written; allow writing to the file and its directory, "
    "or name another file",
    "unable to open": "it can't be opened; allow reading and writing of the file and its "
    "directory, or name another file",
    "not a database": "it is not an SQLite database, and was left as it is; name another file",
    "malformed": "it is damaged; restore a copy, or move it away to begin anew",
    "locked": "another process has been writing to it for {timeout:g} seconds; find it with "
    "`fuser {path}`, and wait for it or end it",
    "closed": "it is closed; open it again",
}


class SqliteStore:
    """Keeps pages in one file, made with its directory when there is none.

    For many threads and processes at once; each process opens it for itself, also after a fork.
    A file that is something else is refused, and left as it is to the byte.
    """

    def __init__(
        self,
        path: Path,
        busy_timeout_secs: float = BUSY_TIMEOUT_SECS,
        index: IndexPlace = "memory",
    ) -> None:
        self._path = path.absolute()
        self._busy_timeout_secs = busy_timeout_secs
        self._index = index
        self._access = _Access(self._path, busy_timeout_secs)
        self._has_read = False
        with self._access:
            self._refuse_other_files()
            self._connection = self._connect("rwc")
            self._cursor = self._connection.cursor()
            try:
                self._prepare()
                self._table = self._new_table(self._stamp() or {})
            except BaseException:
                self._connection.close()
                raise

    def stamp(self, made_with: Mapping[str, object]) -> None:
        wanted = json.loads(json.dumps(dict(made_with)))

        def work(table: PageTable) -> None:
            stamp = self._stamp()
            if stamp is None and table.is_empty():
                self._table = self._new_table(wanted)
                self._table.begin()
                row = ("made_with", json.dumps(wanted))
                self._connection.execute("INSERT INTO meta (name, value) VALUES (?, ?)", row)
            else:
                check_stamp(f"store {self._path}", stamp or {}, wanted)

        self._transaction(work)

    def settle(self, page: StoredPage, decide: Callable[[View], tuple[Action, T]]) -> T:
        def work(table: PageTable) -> T:
            view = View(table.finder, page)
            action, answer = decide(view)
            stored = None if action is Action.LEAVE else view.numbered()
            if stored is not None and action is Action.RENEW:
                table.renew(stored[0], page.seen_at)
            elif stored is not None:
                table.remove(stored[0])
            if action is Action.KEEP:
                table.insert(page)
            return answer

        return self._transaction(work)

    def insert_many(self, pages: Iterable[StoredPage]) -> int:
        count, rest = 0, iter(pages)
        while chunk := list(islice(rest, PAGES_A_WRITE)):
            self._transaction(lambda table, chunk=chunk: _replace(table, chunk))  # type: ignore[misc]
            count += len(chunk)
        return count

    def forget(self, namespace: str, url: str) -> bool:
        return self._transaction(lambda table: _remove(table, namespace, url))

    def expire(self, seen_before: float) -> int:
        return self._transaction(lambda table: table.expire(seen_before))

    def pages(self) -> Iterator[StoredPage]:
        last_id = 0
        while True:
            with self._access:
                numbered = self._table.pages_after(last_id, PAGES_A_READ)
            if not numbered:
                return
            yield from (page for _, page in numbered)
            last_id = numbered[-1][0]

    def check(self) -> list[str]:
        with self._access:
            try:
                told = [text for (text,) in self._connection.execute("PRAGMA quick_check")]
            except sqlite3.DatabaseError as error:
                if "malformed" not in str(error):
                    raise
                told = [str(error)]
        return [] if told == ["ok"] else told

    def close(self) -> None:
        with self._access:
            self._connection.close()

    def __len__(self) -> int:
        with self._access:
            return len(self._table)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _refuse_other_files(self) -> None:
        """Look at what is there without a lock, a journal or a byte written."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._path.is_dir():
                raise StoreError(f"store {self._path} is a directory; name a file in it")
            if not self._path.exists() or self._path.stat().st_size == 0:
                return
        except OSError as error:
            raise StoreError(
                f"store {self._path} can't be opened ({error.strerror}: {error.filename}); "
                "name a file in a directory that can be written"
            ) from error
        with closing(self._connect("ro&immutable=1")) as connection:
            # The file alone is read, without its log: it may be shorter than it says while another
            # process copies the log into it, or after one was killed doing so. This allows that.
            connection.execute("PRAGMA writable_schema = ON")
            if _number(connection, "PRAGMA application_id") != formats.APPLICATION_ID:
                raise StoreError(
                    f"store {self._path} was not made by simhash-pipeline, "
                    "and was left as it is; name another file"
                )
            if (found := _number(connection, "PRAGMA user_version")) > formats.FORMAT:
                raise StoreError(
                    f"store {self._path} has format {found}, and this version of "
                    f"simhash-pipeline knows formats up to {formats.FORMAT}; install a newer one"
                )

    def _connect(self, mode: str) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self._path.as_uri()}?mode={mode}",
            uri=True,
            timeout=self._busy_timeout_secs,
            isolation_level=None,  # no BEGIN but ours
            check_same_thread=False,  # the lock sees to it
        )

    def _prepare(self) -> None:
        """Make the tables of a new file; a file that can't be written is refused here."""
        self._connection.execute("BEGIN IMMEDIATE")
        found = _number(self._connection, "PRAGMA user_version")
        if found == 0:
            formats.make(self._connection)
        elif found < formats.FORMAT:
            formats.migrate(self._connection, found, stamped_bits(self._stamp() or {}))
        self._connection.execute("COMMIT")
        # After the tables, so that the file itself has its application id before there is a log.
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def _new_table(self, stamp: Mapping[str, object]) -> PageTable:
        return PageTable(self._connection, stamped_bits(stamp), self._index)

    def _stamp(self) -> dict[str, object] | None:
        rows = self._connection.execute("SELECT value FROM meta WHERE name = 'made_with'")
        return next((json.loads(value) for (value,) in rows.fetchall()), None)

    def _transaction(self, work: Callable[[PageTable], T]) -> T:
        """Work done under the write lock, held from before the first look-up until the commit."""
        with self._access:
            if not self._has_read:
                self._read_ahead()
            self._cursor.execute("BEGIN IMMEDIATE")
            try:
                self._table.begin()
                done = work(self._table)
                self._cursor.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has rolled back already
                    self._connection.execute("ROLLBACK")
                self._table.rolled_back()
                raise
            self._table.committed()
            return done

    def _read_ahead(self) -> None:
        """Read a big file into memory before the write lock is taken, which others wait for."""
        if self._index == "memory":
            self._connection.execute("BEGIN")
            try:
                self._table.begin()
            finally:
                self._connection.execute("ROLLBACK")
        self._has_read = True


class _Access:
    """The connection for one thread at a time, and SQLite's errors in plain words.

    A class, because a generator in its place costs every page 5 us.
    """

    def __init__(self, path: Path, busy_timeout_secs: float) -> None:
        self._path = path
        self._busy_timeout_secs = busy_timeout_secs
        self._process_id = os.getpid()
        self._lock = RLock()

    def __enter__(self) -> None:
        if os.getpid() != self._process_id:
            raise StoreError(
                f"store {self._path} was opened by process {self._process_id}; "
                "open it again in each process"
            )
        self._lock.acquire()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._lock.release()
        if isinstance(error, sqlite3.Error):
            raise StoreError(f"store {self._path}: {self._explained(error)}") from error

    def _explained(self, error: sqlite3.Error) -> str:
        said = str(error)
        explanation = next((EXPLANATIONS[part] for part in EXPLANATIONS if part in said), said)
        return explanation.format(path=self._path, timeout=self._busy_timeout_secs)


def _replace(table: PageTable, pages: list[StoredPage]) -> None:
    """Insert pages in place of those with their keys; of several with one key the last counts."""
    last = {(page.namespace, page.url): place for place, page in enumerate(pages)}
    for place in sorted(last.values()):
        _remove(table, pages[place].namespace, pages[place].url)
        table.insert(pages[place])


def _remove(table: PageTable, namespace: str, url: str) -> bool:
    stored = table.finder.page_of(namespace, url)
    if stored is not None:
        table.remove(stored[0])
    return stored is not None


def _number(connection: sqlite3.Connection, question: str) -> int:
    number: int = connection.execute(question).fetchone()[0]
    return number
