"""The default store: one SQLite file that several processes can write at once.

Every look-up and the storing that follows it happen inside one BEGIN IMMEDIATE, which one process
holds at a time. Write-ahead logging with synchronous=NORMAL: a killed process loses nothing that
was committed; a power cut may lose the last commits, and leaves the file intact.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

from simhash_pipeline.errors import StoreError
from simhash_pipeline.index import page_table
from simhash_pipeline.index.page_table import PageTable
from simhash_pipeline.index.store import Action, StoredPage, View, check_stamp, stamped_bits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from typing_extensions import Self

T = TypeVar("T")

APPLICATION_ID = 0x73696D68  # "simh" in bytes 68-71 of the file
FORMAT = 1  # in bytes 60-63
BUSY_TIMEOUT_SECS = 60.0
PAGES_A_READ = 1_000

SCHEMA = (
    *page_table.SCHEMA,
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {FORMAT}",
)

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

    def __init__(self, path: Path, busy_timeout_secs: float = BUSY_TIMEOUT_SECS) -> None:
        self._path = path.absolute()
        self._busy_timeout_secs = busy_timeout_secs
        self._process_id = os.getpid()
        self._lock = RLock()
        with self._access():
            self._refuse_other_files()
            self._connection = self._connect("rwc")
            try:
                self._prepare()
                self._table = PageTable(self._connection, stamped_bits(self._stamp() or {}))
            except BaseException:
                self._connection.close()
                raise

    def stamp(self, made_with: Mapping[str, object]) -> None:
        wanted = json.loads(json.dumps(dict(made_with)))
        with self._transaction():
            stamp = self._stamp()
            if stamp is None and not len(self._table):
                self._table = PageTable(self._connection, stamped_bits(wanted))
                row = ("made_with", json.dumps(wanted))
                self._connection.execute("INSERT INTO meta (name, value) VALUES (?, ?)", row)
            else:
                check_stamp(f"store {self._path}", stamp or {}, wanted)
        with self._access():
            # Here, because the first look-up in a big store would hold the write lock for it.
            self._table.catch_up("content")

    def settle(self, page: StoredPage, decide: Callable[[View], tuple[Action, T]]) -> T:
        with self._transaction():
            action, answer = decide(View(self._table, page))
            if action is Action.RENEW:
                self._table.renew(page)
            if action in (Action.KEEP, Action.FORGET):
                self._table.remove(page.namespace, page.url)
            if action is Action.KEEP:
                self._table.insert(page)
        return answer

    def forget(self, namespace: str, url: str) -> bool:
        with self._transaction():
            return self._table.remove(namespace, url)

    def expire(self, seen_before: float) -> int:
        with self._transaction():
            return self._table.expire(seen_before)

    def pages(self) -> Iterator[StoredPage]:
        last_id = 0
        while True:
            with self._access():
                numbered = self._table.pages_after(last_id, PAGES_A_READ)
            if not numbered:
                return
            yield from (page for _, page in numbered)
            last_id = numbered[-1][0]

    def close(self) -> None:
        with self._access():
            self._connection.close()

    def __len__(self) -> int:
        with self._access():
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
            if _number(connection, "PRAGMA application_id") != APPLICATION_ID:
                raise StoreError(
                    f"store {self._path} was not made by simhash-pipeline, "
                    "and was left as it is; name another file"
                )
            if (found := _number(connection, "PRAGMA user_version")) > FORMAT:
                raise StoreError(
                    f"store {self._path} has format {found}, and this version of "
                    f"simhash-pipeline knows formats up to {FORMAT}; install a newer one"
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
        with self._transaction():
            if _number(self._connection, "PRAGMA user_version") == 0:
                for statement in SCHEMA:
                    self._connection.execute(statement)
        # After the tables, so that the file itself has its application id before there is a log.
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def _stamp(self) -> dict[str, object] | None:
        rows = self._connection.execute("SELECT value FROM meta WHERE name = 'made_with'")
        return next((json.loads(value) for (value,) in rows.fetchall()), None)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """The write lock, from before the first look-up until what was decided is committed."""
        with self._access():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has rolled back already
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _access(self) -> Iterator[None]:
        """The connection for one thread at a time, and SQLite's errors in plain words."""
        with self._lock:
            if os.getpid() != self._process_id:
                raise StoreError(
                    f"store {self._path} was opened by process {self._process_id}; "
                    "open it again in each process"
                )
            try:
                yield
            except sqlite3.Error as error:
                raise StoreError(f"store {self._path}: {self._explained(error)}") from error

    def _explained(self, error: sqlite3.Error) -> str:
        said = str(error)
        explanation = next((EXPLANATIONS[part] for part in EXPLANATIONS if part in said), said)
        return explanation.format(path=self._path, timeout=self._busy_timeout_secs)


def _number(connection: sqlite3.Connection, question: str) -> int:
    number: int = connection.execute(question).fetchone()[0]
    return number
