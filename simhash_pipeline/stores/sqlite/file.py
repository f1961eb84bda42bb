"""A store's SQLite file: its tables, how it is opened or refused, its errors, who writes to it.

    page        one row for each kept page; ids only grow
    repeated_text  what the templates of a host repeat: see repeated_text.py
    item_row    the pages of each row of a list
    packed_values  the values that pages are found by, for those who open the file
    text        titles and main texts of judged pages, where they are to be kept
    run         the processes that have tentative pages
    meta        `made_with`: the stamp; `last_id`: the newest id given, when its page is gone

In the sqlite3 shell fingerprints are signed 64-bit integers; the view `page_hex`
shows them in hexadecimal, and times as dates.

A row of `page` names its run until the page is confirmed. A run is one opened store. It holds the
lock of a file of its own while its process lives: another process that gets this lock knows that
the pages of the run will never be confirmed.
"""

import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from threading import RLock

from filelock import FileLock, Timeout

from simhash_pipeline.errors import StoreDamaged, StoreError
from simhash_pipeline.stores.contract import COLUMN_TYPES, COLUMNS

APPLICATION_ID = 0x73696D68  # "simh" in bytes 68-71 of the file
FORMAT = 1  # in bytes 60-63
BUSY_RETRY_SECS = 0.01
# Half of SQLite's own: a page changes three blocks, each written to the log, and one of them, at a
# random place, to the file too. At 100,000 pages 7 KB are written for each instead of 11, in the
# same time; a page takes 36 bytes more of disk.
BLOCK_BYTES = 2_048
# Before the log is copied into the file. Four times the bytes of SQLite's own number save a fifth
# of the time of `settle` at a million pages, and make the log 16 MB.
LOG_BLOCKS = 8_000
IN_MEMORY = Path("in memory")  # no file: `resolved` makes no such path

_TYPES = ("TEXT NOT NULL", "INTEGER NOT NULL", "REAL NOT NULL", "INTEGER", "BLOB")
_SQL_TYPE = dict(zip(COLUMN_TYPES, _TYPES, strict=True))
_COLUMNS = ", ".join(
    f"{one.name} {'BLOB' if one.metadata.get('width') == 16 else _SQL_TYPE[one.type]}"
    for one in COLUMNS
)
TABLES = (
    # `run` is NULL once the page's item is safe.
    f"""CREATE TABLE page (
        id INTEGER PRIMARY KEY,
        url_hash INTEGER NOT NULL,
        run INTEGER,
        {_COLUMNS}
    )""",
    # Finds a page by the hash of its URL, and takes 21 bytes a page; an index on the URL itself
    # takes 93.
    "CREATE INDEX page_by_url ON page (url_hash)",
    "CREATE INDEX page_by_address ON page (namespace, address) WHERE address IS NOT NULL",
    # What the indexes hold of the other columns that pages are found by, see rows.py. With b-trees
    # of two of them 19 KB are written for a page instead of 8, at a million.
    """CREATE TABLE packed_values (
        name TEXT NOT NULL,
        chunk INTEGER NOT NULL,
        packed BLOB NOT NULL,
        PRIMARY KEY (name, chunk)
    ) WITHOUT ROWID""",
    # Finds the pages of a row, see item_values.py.
    "CREATE TABLE item_row (row_key BLOB, page INTEGER, PRIMARY KEY (row_key, page)) WITHOUT ROWID",
    "CREATE INDEX item_row_by_page ON item_row (page)",
    """CREATE TRIGGER rows_go_with_page AFTER DELETE ON page WHEN OLD.row_keys IS NOT NULL
    BEGIN
        DELETE FROM item_row WHERE page = OLD.id;
    END""",
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # No id is given twice. (AUTOINCREMENT would do it too, and write another block for each page.)
    """CREATE TRIGGER newest_page_removed AFTER DELETE ON page
        WHEN OLD.id > ifnull((SELECT max(id) FROM page), 0)
    BEGIN
        INSERT INTO meta (name, value) VALUES ('last_id', OLD.id)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            WHERE CAST(value AS INTEGER) < OLD.id;
    END""",
    """CREATE VIEW page_hex AS SELECT
        id, namespace, url AS key, coalesce(nullif(given_url, ''), url) AS url, site, title,
        CASE WHEN content IS NOT NULL THEN printf('%016x', content) END AS content,
        CASE WHEN structure IS NOT NULL THEN printf('%016x', structure) END AS structure,
        nullif(lower(hex(sketch)), '') AS sketch,
        nullif(lower(hex(digest)), '') AS digest,
        datetime(first_seen, 'unixepoch') AS first_seen,
        datetime(seen_at, 'unixepoch') AS seen_at
    FROM page""",
    "CREATE TABLE run (id INTEGER PRIMARY KEY AUTOINCREMENT, after_page INTEGER NOT NULL)",
    """CREATE TABLE repeated_text (
        namespace TEXT NOT NULL,
        host TEXT NOT NULL,
        templates BLOB NOT NULL,
        PRIMARY KEY (namespace, host)
    ) WITHOUT ROWID""",
    # What dropped pages said, see contract.py.
    """CREATE TABLE visit (
        key INTEGER PRIMARY KEY,
        namespace TEXT NOT NULL,
        said BLOB NOT NULL,
        seen_at REAL NOT NULL
    )""",
    # The text of a dropped page has no row in `page`. That of a kept page goes with its row,
    # whichever process removes it.
    """CREATE TABLE text (
        namespace TEXT NOT NULL,
        url TEXT NOT NULL,
        packed BLOB NOT NULL,
        kept_at REAL NOT NULL,
        PRIMARY KEY (namespace, url)
    )""",
    """CREATE TRIGGER text_goes_with_page AFTER DELETE ON page
    BEGIN
        DELETE FROM text WHERE namespace = OLD.namespace AND url = OLD.url;
    END""",
)

# Parts of SQLite's messages: "malformed" is ours too, see rows.py.
DAMAGE = ("malformed", "Could not decode", "codec can't decode", "no such")
# A part of SQLite's message, and what the user can do.
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
    **dict.fromkeys(DAMAGE, "it is damaged; restore a copy, or move it away to start over"),
    "locked": "another process has been writing to it for {timeout:g} seconds; find it with "
    "`fuser {path}`, and wait for it or end it",
    "closed": "it is closed; open it again",
}


def resolved(path: Path) -> Path:
    """The file that a link leads to; StoreError for a name that none can have."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle
        raise StoreError(f"store {path} can't be opened ({error}); name another file") from error


def connect(path: Path, busy_timeout_secs: float) -> sqlite3.Connection:
    """The file with its tables, made when there is none.

    StoreError for a file that is something else, which is left as it is to the byte.
    """
    if path != IN_MEMORY:
        _refuse_other_files(path)
        is_effective = os.access in os.supports_effective_ids
        if path.exists() and not os.access(path, os.W_OK, effective_ids=is_effective):
            # SQLite would open it, and leave a log there.
            raise sqlite3.OperationalError("readonly")
    database = ":memory:" if path == IN_MEMORY else f"{path.as_uri()}?mode=rwc"
    connection = _connect(database, busy_timeout_secs)
    try:
        _make_tables(connection)
        # After the tables, so that the file itself has its application id before there is a log.
        _use_log(connection, busy_timeout_secs)
    except BaseException:
        connection.close()
        raise
    return connection


def identity(path: Path) -> tuple[int, int] | None:
    """Which file the path leads to; None when there is none, or an empty one."""
    with suppress(OSError):
        found = path.stat()
        return (found.st_dev, found.st_ino) if found.st_size else None
    return None


def protect_texts(path: Path) -> None:
    """Make the store readable by its owner alone, with its log, before it holds texts of pages."""
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            Path(f"{path}{suffix}").chmod(0o600)


class Access:
    """Gives the connection to one thread at a time, and explains SQLite's errors.

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
        # Python can't decode some of SQLite's messages about a damaged file.
        if isinstance(error, (sqlite3.Error, UnicodeDecodeError)):
            message = " ".join(str(error).split())
            of_kind = StoreDamaged if any(part in message for part in DAMAGE) else StoreError
            explained = (what for part, what in EXPLANATIONS.items() if part in message)
            if what := next(explained, ""):
                message = what.format(path=self._path, timeout=self._busy_timeout_secs)
            raise of_kind(f"store {self._path}: {message}") from error


class DeadRun(Exception):
    """A page was met that its process, which has died, never confirmed: of this run."""


def begin_run(connection: sqlite3.Connection, store: Path, newest_id: int) -> tuple[int, FileLock]:
    """(a run, its lock); removes the tentative pages of dead runs; within a transaction."""
    for (run,) in connection.execute("SELECT CAST(id AS INTEGER) FROM run").fetchall():
        if not is_alive(store, run):
            end_run(connection, run)
    begun = connection.execute("INSERT INTO run (after_page) VALUES (?)", (newest_id,))
    run = int(begun.lastrowid or 0)
    try:
        return run, _acquired_lock(store, run)
    except Timeout as error:
        raise StoreError(
            f"store {store}: another process has the lock {store.name}-run{run}, for a store that "
            "was here before; end it, or name another file"
        ) from error


def is_alive(store: Path, run: int) -> bool:
    """Whether the run's process lives, or another is just looking; removes a dead one's lock."""
    try:
        release(_acquired_lock(store, run))
    except Timeout:
        return True
    return False


def _acquired_lock(store: Path, run: int) -> FileLock:
    """Timeout if another process has it; StoreError in a folder without such locks."""
    lock = FileLock(f"{store}-run{run}", is_singleton=False, fallback_to_soft=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise
    except (OSError, NotImplementedError) as error:  # by the version of filelock
        raise StoreError(
            f"store {store}: its folder has no file locks ({error}), by which a crawl notices that "
            "another one has died; name a file on a local disk, or a Redis server"
        ) from error
    return lock


def release(lock: FileLock) -> None:
    """Release a run's lock and remove its file."""
    lock.release()
    with suppress(OSError):  # on Windows, while another process looks at it
        Path(lock.lock_file).unlink(missing_ok=True)


def end_run(connection: sqlite3.Connection, run: int) -> bool:
    """Remove the run and the pages that it has not confirmed; whether there were any of both.

    Within a transaction. Of a run that others have ended by mistake, pages are left without it.
    """
    pages = connection.execute(
        "DELETE FROM page WHERE run = :run "
        "AND id > ifnull((SELECT after_page FROM run WHERE id = :run), -1 << 63)",
        {"run": run},
    )
    runs = connection.execute("DELETE FROM run WHERE id = ?", (run,))
    return pages.rowcount + runs.rowcount > 0


def missing_tables(connection: sqlite3.Connection) -> list[str]:
    """What a store has beside its pages, and this one lacks: tables, indexes, triggers, a view."""
    names = set(connection.execute("SELECT upper(type), name FROM sqlite_master"))
    made = [tuple(statement.split()[1:3]) for statement in TABLES]
    return [f"no {kind} {name}" for kind, name in made if (kind, name) not in names]


def _refuse_other_files(path: Path) -> None:
    """Look at what is there without a lock, a journal or a byte written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise StoreError(f"store {path} is a directory; name a file in it")
        if path.exists() and not path.is_file():
            raise StoreError(f"store {path} is not an ordinary file; name another")
        if not path.exists() or path.stat().st_size == 0:
            return
    except OSError as error:
        raise StoreError(
            f"store {path} can't be opened ({error.strerror}: {error.filename}); "
            "name a file in a directory that can be written"
        ) from error
    # The file alone is read, without its log: it may be shorter than it says while another process
    # copies the log into it, or after one was killed doing so. The first statement allows that.
    with closing(_connect(f"{path.as_uri()}?mode=ro&immutable=1", 0.0)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
            raise StoreError(
                f"store {path} was not made by simhash-pipeline, "
                "and was left as it is; name another file"
            )
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found > FORMAT:
            raise StoreError(
                f"store {path} has format {found}, and this version of "
                f"simhash-pipeline knows formats up to {FORMAT}; install a newer one"
            )


def _connect(database: str, busy_timeout_secs: float) -> sqlite3.Connection:
    return sqlite3.connect(
        database,
        uri=True,
        timeout=busy_timeout_secs,
        isolation_level=None,  # no BEGIN but ours
        check_same_thread=False,  # `Access` has a lock
    )


def _make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of a new file; one that can't be written is refused here."""
    connection.execute(f"PRAGMA page_size = {BLOCK_BYTES}")  # of a new file alone
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone() == (0,):
        for statement in TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
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
    connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_BLOCKS}")
