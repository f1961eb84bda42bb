"""The default store: one SQLite file that several processes can write at once.

Every look-up and the storing that follows it happen inside one BEGIN IMMEDIATE, which one process
holds at a time. Write-ahead logging with synchronous=NORMAL: a killed process loses nothing that
was committed; a power cut may lose the last commits, and leaves the file intact.

    settle ─▶ _transaction: BEGIN IMMEDIATE, read what others have written
                decide, remove or insert a row
              COMMIT
"""

import json
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from time import sleep
from typing import TypeVar

from filelock import FileLock

from simhash_pipeline.errors import StoreDamaged, StoreError
from simhash_pipeline.stores import contract
from simhash_pipeline.stores.contract import Action, PageText, Store, StoredPage, View
from simhash_pipeline.stores.sqlite import file, rows
from simhash_pipeline.stores.sqlite.rows import WRONG_PAGE, Rows, RowsView

T = TypeVar("T")

BUSY_TIMEOUT_SECS = 60.0
PAGES_A_READ = 1_000
PAGES_A_WRITE = 10_000
ROWS_A_WRITE = 1_000  # of texts and visits
TEXTS_A_READ = 100
AN_EXPIRY = 8_000  # rows that a transaction looks at: half a second
A_PACKING = 16  # chunks, some 0.1 s
OTHERS_TURN_SECS = 0.15  # between transactions: who waits looks for a free lock every 0.1
PUT_REPEATED_TEXT = "INSERT OR REPLACE INTO repeated_text VALUES (?, ?, ?)"
PUT_TEXT = "INSERT OR REPLACE INTO text (namespace, url, packed, kept_at) VALUES (?, ?, ?, ?)"
CONFIRM = "UPDATE page SET run = NULL WHERE id = ?"
OWN_PAGES = "SELECT count(*) FROM page WHERE run = ?"
PUT_VISIT = "INSERT OR REPLACE INTO visit (namespace, key, said, seen_at) VALUES (?, ?, ?, ?)"
DELETE_VISIT = "DELETE FROM visit WHERE key = ?"
DELETE_TEXT = "DELETE FROM text WHERE namespace = ? AND url = ?"


class SqliteStore(Store):
    """Keeps pages in one file, made with its directory when there is none.

    For many threads and processes at once; each process opens it for itself, also after a fork.
    A file that is something else, or can't be written, is refused, and left as it is to the byte.
    IN_MEMORY instead of a path keeps the pages until the store is closed, for the threads of one
    process.
    """

    def __init__(
        self, path: Path, busy_timeout_secs: float = BUSY_TIMEOUT_SECS, *, tentative: bool = False
    ) -> None:
        # The runs' locks lie beside the file, not beside a link to it.
        self._path = path if path == file.IN_MEMORY else file.resolved(path)
        self._access = file.Access(self._path, busy_timeout_secs)
        self._has_read = False
        self._in_batch = False
        self._tentative = tentative
        self._run: tuple[int, FileLock] | None = None  # begun with the first page that is settled
        self._unconfirmed: dict[tuple[str, str], int] = {}  # ids by namespace and URL
        self._confirmed: list[tuple[int]] = []  # ids that are still tentative in the file
        with self._access:
            self._connection = file.connect(self._path, busy_timeout_secs)
            self._file = file.identity(self._path)
            self._cursor = self._connection.cursor()
            try:
                self._stamp()
                self._pages = Rows(self._connection, self._path)
            except BaseException:
                self._connection.close()
                raise

    def stamp(self, made_with: Mapping[str, object]) -> None:
        wanted = json.loads(json.dumps(dict(made_with)))
        with self._transaction() as pages:
            stamp = self._stamp()
            if stamp is None and not pages.has_any("page"):
                row = ("made_with", json.dumps(wanted))
                self._cursor.execute("INSERT INTO meta (name, value) VALUES (?, ?)", row)
            else:
                contract.check_stamp(f"store {self._path}", stamp or {}, wanted)

    def made_with(self) -> dict[str, object] | None:
        with self._access:
            return self._stamp()

    def settle(self, page: StoredPage, decide: Callable[[View], tuple[Action, T]]) -> T:
        with self._access:  # until its id is noted: another thread may replace the page
            run = self._begun_run()
            with self._transaction() as pages:
                pages.own_run = run
                while True:
                    view = RowsView(pages, page)
                    try:
                        action, answer = decide(view)
                        break
                    except file.DeadRun as dead:  # its pages go, and the page is judged again
                        if not file.end_run(self._connection, *dead.args):
                            raise rows.malformed(f"run {dead} of table page") from dead
                if action is Action.RENEW:
                    pages.renew(page)
                elif action is not Action.SKIP and view.same_key() is not None:
                    pages.remove(page.namespace, page.url)
                if action is Action.KEEP:
                    page_id = pages.insert(page, run)
            if run is not None and action is Action.KEEP:
                self._unconfirmed[page.namespace, page.url] = page_id
        return answer

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Commit all that is settled within the block at its end, at once; nothing if it raises.

        A commit takes longer than settling a page. Others wait for the end, threads too. Not for a
        tentative store.
        """
        with self._access:
            try:
                with self._transaction():
                    self._in_batch = True
                    yield
            except BaseException:
                self._pages = Rows(self._connection, self._path)  # without the batch's pages
                raise
            finally:
                self._in_batch = False

    def insert_many(self, pages: Iterable[StoredPage]) -> int:
        count = 0
        for chunk in contract.batches(pages, PAGES_A_WRITE):
            with self._transaction() as stored:
                for page in chunk:
                    stored.remove(page.namespace, page.url)
                    stored.insert(page)
            count += len(chunk)
        return count

    def confirm(self, namespace: str, url: str) -> None:
        with self._access:
            if (page_id := self._unconfirmed.pop((namespace, url), None)) is not None:
                self._confirmed.append((page_id,))

    def flush(self) -> None:
        if self._run is not None:
            with self._transaction():
                pass

    def put_visits(self, visits: Iterable[contract.Visit]) -> None:
        values = ((v.namespace, int.from_bytes(v.key, "big"), v.said, v.seen_at) for v in visits)
        for batch in contract.batches(values, ROWS_A_WRITE):
            with self._transaction():
                self._cursor.executemany(PUT_VISIT, batch)

    def visits(self) -> Iterator[contract.Visit]:
        return self._one_by_one(self._pages.visits, PAGES_A_READ)

    def forget(self, namespace: str, url: str) -> bool:
        with self._access:
            with self._transaction() as pages:
                self._cursor.execute(DELETE_TEXT, (namespace, url))
                visit = int.from_bytes(contract.visit_key(namespace, url), "big")
                self._cursor.execute(DELETE_VISIT, (visit,))
                was_stored = pages.remove(namespace, url)
            self._unconfirmed.pop((namespace, url), None)
        return was_stored

    def put_values(
        self, namespace: str, url: str, item_values: bytes, row_keys: bytes | None
    ) -> None:
        with self._transaction() as pages:
            pages.put_values(namespace, url, item_values, row_keys)

    def expire(self, seen_before: float, namespace: str | None = None) -> int:
        self._expire("text", "kept_at", seen_before, namespace)
        self._expire("visit", "seen_at", seen_before, namespace)
        gone = self._expire("page", "seen_at", seen_before, namespace)
        self._pack_again()
        return gone

    def clear(self, namespace: str | None = None) -> int:
        with self._transaction():
            statement = "DELETE FROM repeated_text WHERE namespace = ifnull(?, namespace)"
            self._cursor.execute(statement, (namespace,))
        return self.expire(inf, namespace)

    def repeated_text(self, namespace: str, host: str) -> bytes:
        with self._access:
            return self._pages.repeated_text(namespace, host)

    def put_repeated_text(self, namespace: str, host: str, repeated_text: bytes) -> None:
        with self._transaction():
            self._cursor.execute(PUT_REPEATED_TEXT, (namespace, host, repeated_text))

    def all_repeated_text(self) -> Iterator[tuple[str, str, bytes]]:
        with self._access:
            return iter(rows.chosen(self._cursor, "repeated_text"))

    def keep_texts(self, texts: Iterable[PageText]) -> None:
        values = ((one.namespace, one.url, contract.packed_text(one), one.kept_at) for one in texts)
        for batch in contract.batches(values, ROWS_A_WRITE):  # compressed before others wait
            with self._transaction() as pages:
                if self._path != file.IN_MEMORY and not pages.has_any("text"):
                    file.protect_texts(self._path)
                self._cursor.executemany(PUT_TEXT, batch)

    def text_of(self, namespace: str, url: str) -> PageText | None:
        with self._access:
            found = self._pages.texts("WHERE namespace = ? AND url = ?", namespace, url)
            return found[0][1] if found else None

    def texts(self) -> Iterator[PageText]:
        return self._one_by_one(self._pages.texts, TEXTS_A_READ)

    def pages(self) -> Iterator[StoredPage]:
        return self._one_by_one(partial(rows.chosen_pages, self._cursor), PAGES_A_READ)

    def check(self) -> list[str]:
        try:
            with self._access:
                found = [text for (text,) in self._connection.execute("PRAGMA integrity_check")]
                if found != ["ok"]:
                    return [line for text in found for line in text.splitlines()]
                if found := file.missing_tables(self._connection):
                    return found
                self.made_with()
                self.all_repeated_text()
                if wrong := self._cursor.execute(WRONG_PAGE).fetchone():
                    raise rows.malformed(f"row {wrong[0]} of table page")
                self._read_ahead()
            deque(chain(self.pages(), self.texts(), self.visits()), maxlen=0)
            with self._access:
                self._pages.check_packed()
        except StoreDamaged as error:
            return [str(error.__cause__)]
        return []

    def close(self) -> None:
        with self._access:
            if self._run is not None:
                run, lock = self._run
                with suppress(StoreError), self._transaction():  # else the next run removes it
                    file.end_run(self._connection, run)
                self._run = None
                file.release(lock)
            self._connection.close()

    def __len__(self) -> int:
        with self._access:
            self._refuse_another_file()
            count: int = self._cursor.execute("SELECT count(*) FROM page").fetchone()[0]
            if self._unconfirmed and self._run is not None:
                self.flush()
                count -= self._cursor.execute(OWN_PAGES, self._run[:1]).fetchone()[0]
            return count

    def _refuse_another_file(self) -> None:
        """StoreError if the file was deleted, replaced or emptied since it was opened.

        SQLite goes on writing to a deleted file, and what it writes is gone with the process.
        """
        if self._path != file.IN_MEMORY and file.identity(self._path) != self._file:
            raise StoreError(
                f"store {self._path} was deleted, replaced or emptied while it was open; "
                "what was stored since may be lost: put the file back, or start over"
            )

    @contextmanager
    def _transaction(self) -> Iterator[Rows]:
        """The pages under the write lock, held from before the first look-up until the commit.

        Within a batch there is one for all.
        """
        with self._access:
            if self._in_batch:
                self._in_batch = False  # so that `decide` can't call the store
                yield self._pages
                self._pages.settled()
                self._in_batch = True
                return
            if not self._has_read:
                self._read_ahead()
            self._refuse_another_file()
            self._cursor.execute("BEGIN IMMEDIATE")
            try:
                self._pages.catch_up()
                if self._confirmed:
                    self._cursor.executemany(CONFIRM, self._confirmed)
                yield self._pages
                self._cursor.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has rolled back already
                    self._cursor.execute("ROLLBACK")
                self._pages.rolled_back()
                raise
            self._pages.settled()
            self._confirmed.clear()

    def _read_ahead(self) -> None:
        """Read a big file into memory before the write lock is taken, which others wait for."""
        self._cursor.execute("BEGIN")
        try:
            self._pages.catch_up()
        finally:
            self._cursor.execute("ROLLBACK")
        self._has_read = True

    def _stamp(self) -> dict[str, object] | None:
        found = self._cursor.execute("SELECT value FROM meta WHERE name = 'made_with'").fetchone()
        try:
            return None if found is None else contract.unpacked_stamp(found[0])
        except (TypeError, *contract.UNREADABLE) as error:
            raise rows.malformed(f"stamp: {error}") from error

    def _begun_run(self) -> int | None:
        """The run that pages are tentative for; None where they stay at once."""
        if self._tentative and self._run is None:
            with self._transaction() as pages:
                begun = file.begin_run(self._connection, self._path, pages.newest_id())
            self._run = begun
            self._pack_again()
        return None if self._run is None else self._run[0]

    def _pack_again(self) -> None:
        """Leave pages that have gone out of the packed values, once most have."""
        held = "SELECT chunk, length(packed) FROM packed_values WHERE name = 'digest'"
        with self._access:
            sizes = dict(self._cursor.execute(held).fetchall())
        if (count := sum(sizes.values()) // rows.PAIR.size) and count > 2 * len(self):
            for chunk in range(len(sizes)):
                with self._transaction() as pages:
                    pages.pack(chunk)
                if chunk % A_PACKING == A_PACKING - 1:
                    sleep(OTHERS_TURN_SECS)

    def _expire(self, table: str, time: str, before: float, namespace: str | None) -> int:
        """Remove older rows, and return how many; some thousands are one transaction."""
        gone = last = 0
        while True:
            with self._transaction():
                part = f"SELECT rowid FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT {AN_EXPIRY}"
                found = self._cursor.execute(f"SELECT max(rowid) FROM ({part})", (last,)).fetchone()
                if found[0] is None:
                    return gone
                after, last = last, rows.later_id(found[0], last)
                removed = self._cursor.execute(
                    f"DELETE FROM {table} WHERE rowid > ? AND rowid <= ? AND {time} < ? "
                    "AND namespace = ifnull(?, namespace)",
                    (after, last, before, namespace),
                ).rowcount
            gone += removed
            if removed > AN_EXPIRY // 8:  # it took a while
                sleep(OTHERS_TURN_SECS)

    def _one_by_one(self, chosen: Callable[..., list[tuple[int, T]]], limit: int) -> Iterator[T]:
        """All pages or texts in the order of their rows; `limit` of them are read at a time."""
        last_row = 0
        while True:
            with self._access:
                numbered = chosen("WHERE rowid > ? ORDER BY rowid LIMIT ?", last_row, limit)
                if not numbered:
                    return
                last_row = rows.later_id(numbered[-1][0], last_row)
            yield from (one for _, one in numbered)
