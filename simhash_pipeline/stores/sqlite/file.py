"""A store's SQLite file: opened or refused, its errors in plain words."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from threading import RLock
from typing import TYPE_CHECKING

from simhash_pipeline.errors import StoreDamaged, StoreError
from simhash_pipeline.stores.sqlite import formats

if TYPE_CHECKING:
    from pathlib import Path

BUSY_RETRY_SECS = 0.01

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


def connect(path: Path, busy_timeout_secs: float) -> sqlite3.Connection:
    """The file ready to be written, with the tables of this format; made when there is none.

    StoreError for a file that is something else, which is left as it is to the byte.
    """
    _refuse_other_files(path)
    connection = _connect(path, "rwc", busy_timeout_secs)
    try:
        _make_tables(connection)
        # After the tables, so that the file itself has its application id before there is a log.
        _use_log(connection, busy_timeout_secs)
    except BaseException:
        connection.close()
        raise
    return connection


class Access:
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
            told = StoreDamaged if "malformed" in str(error) else StoreError
            raise told(f"store {self._path}: {self._explained(error)}") from error

    def _explained(self, error: sqlite3.Error) -> str:
        said = str(error)
        explanation = next((EXPLANATIONS[part] for part in EXPLANATIONS if part in said), said)
        return explanation.format(path=self._path, timeout=self._busy_timeout_secs)


def _refuse_other_files(path: Path) -> None:
    """Look at what is there without a lock, a journal or a byte written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise StoreError(f"store {path} is a directory; name a file in it")
        if not path.exists() or path.stat().st_size == 0:
            return
    except OSError as error:
        raise StoreError(
            f"store {path} can't be opened ({error.strerror}: {error.filename}); "
            "name a file in a directory that can be written"
        ) from error
    with closing(_connect(path, "ro&immutable=1", 0.0)) as connection:
        # The file alone is read, without its log: it may be shorter than it says while another
        # process copies the log into it, or after one was killed doing so. This allows that.
        connection.execute("PRAGMA writable_schema = ON")
        if _number(connection, "PRAGMA application_id") != formats.APPLICATION_ID:
            raise StoreError(
                f"store {path} was not made by simhash-pipeline, "
                "and was left as it is; name another file"
            )
        if (found := _number(connection, "PRAGMA user_version")) > formats.FORMAT:
            raise StoreError(
                f"store {path} has format {found}, and this version of "
                f"simhash-pipeline knows formats up to {formats.FORMAT}; install a newer one"
            )


def _connect(path: Path, mode: str, busy_timeout_secs: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        timeout=busy_timeout_secs,
        isolation_level=None,  # no BEGIN but ours
        check_same_thread=False,  # the lock sees to it
    )


def _make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of a new file; one that can't be written is refused here."""
    connection.execute("BEGIN IMMEDIATE")
    found = _number(connection, "PRAGMA user_version")
    if found == 0:
        formats.make(connection)
    connection.execute("COMMIT")


def _use_log(connection: sqlite3.Connection, busy_timeout_secs: float) -> None:
    """Turn write-ahead logging on, waiting for other processes, which SQLite doesn't do here."""
    give_up = time.monotonic() + busy_timeout_secs
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(BUSY_RETRY_SECS)
    connection.execute("PRAGMA synchronous = NORMAL")


def _number(connection: sqlite3.Connection, question: str) -> int:
    number: int = connection.execute(question).fetchone()[0]
    return number
