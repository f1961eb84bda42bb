"""The default store: one SQLite file that several processes can write at once.

Every look-up and the storing that follows it happen inside one BEGIN IMMEDIATE, which one process
holds at a time. Write-ahead logging with synchronous=NORMAL: a killed process loses nothing that
was committed; a power cut may lose the last commits, and leaves the file intact.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from simhash_pipeline.stores.contract import (
    Action,
    IndexPlace,
    PageText,
    StoredPage,
    View,
    check_stamp,
    joined_furniture,
    stamped_bits,
)
from simhash_pipeline.stores.sqlite import formats, page_rows, text_table
from simhash_pipeline.stores.sqlite.file import Access, connect
from simhash_pipeline.stores.sqlite.page_table import OF_NAMESPACE, SEEN_BEFORE, PageTable
from simhash_pipeline.stores.sqlite.tentative import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from typing_extensions import Self

T = TypeVar("T")

BUSY_TIMEOUT_SECS = 60.0
PAGES_A_READ = 1_000
PAGES_A_WRITE = 10_000
TEXTS_A_READ = 100
SLOW_PAGES = 2_000_000  # take a second to open, which is told

logger = logging.getLogger(__name__)


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
        *,
        tentative: bool = False,
    ) -> None:
        self._path = path.resolve()  # the runs' locks lie beside the file, not beside a link to it
        self._index = index
        self._access = Access(self._path, busy_timeout_secs)
        self._has_read = False
        self._is_stamped = False  # whether a stamp was seen, which never changes
        self._tentative = tentative
        self._run: Run | None = None  # begun with the first page, when the stamp was agreed on
        with self._access:
            self._connection = connect(self._path, busy_timeout_secs)
            self._cursor = self._connection.cursor()
            try:
                self._table = self._new_table(self._stamp() or {})
            except BaseException:
                self._connection.close()
                raise

    def stamp(self, made_with: Mapping[str, object]) -> None:
        wanted = json.loads(json.dumps(dict(made_with)))

        def work(table: PageTable) -> None:
            stamp = self._stamp()
            if stamp is None and table.is_empty():
                row = ("made_with", json.dumps(wanted))
                self._connection.execute("INSERT INTO meta (name, value) VALUES (?, ?)", row)
                self._begin_table()
            else:
                check_stamp(f"store {self._path}", stamp or {}, wanted)

        self._transaction(work)

    def made_with(self) -> dict[str, object] | None:
        with self._access:
            return self._stamp()

    def settle(self, page: StoredPage, decide: Callable[[View], tuple[Action, T]]) -> T:
        def work(table: PageTable) -> T:
            view = View(table.finder, page)
            action, answer = decide(view)
            stored = None if action is Action.SKIP else view.numbered()
            if stored is not None and action is Action.RENEW:
                table.renew(stored[0], page.seen_at)
            elif stored is not None:
                table.remove(stored[0])
            if action is Action.KEEP:
                self._keep(table, page)
            return answer

        if self._tentative and self._run is None:
            self._begin_run()
        return self._transaction(work)

    def insert_many(self, pages: Iterable[StoredPage]) -> int:
        count, rest = 0, iter(pages)
        while chunk := list(islice(rest, PAGES_A_WRITE)):
            self._transaction(partial(_replace, pages=chunk))
            count += len(chunk)
        return count

    def confirm(self, namespace: str, url: str) -> None:
        with self._access:
            if self._run is not None:
                self._run.confirm(namespace, url)

    def forget(self, namespace: str, url: str) -> bool:
        def work(table: PageTable) -> bool:
            text_table.remove_where(self._connection, "namespace = ? AND url = ?", namespace, url)
            return _remove(table, namespace, url)

        forgotten = self._transaction(work)
        if self._run is not None:
            self._run.forgotten(namespace, url)
        return forgotten

    def expire(self, seen_before: float) -> int:
        def work(table: PageTable) -> int:
            text_table.remove_where(self._connection, "kept_at < ?", seen_before)
            return table.remove_where(SEEN_BEFORE, seen_before)

        return self._transaction(work)

    def clear(self, namespace: str) -> int:
        def work(table: PageTable) -> int:
            text_table.remove_where(self._connection, OF_NAMESPACE, namespace)
            self._connection.execute(f"DELETE FROM furniture WHERE {OF_NAMESPACE}", (namespace,))
            return table.remove_where(OF_NAMESPACE, namespace)

        return self._transaction(work)

    def furniture(self, namespace: str, site: str) -> bytes:
        with self._access:
            return page_rows.furniture(self._connection, namespace, site)

    def add_furniture(self, namespace: str, site: str, blocks: bytes) -> None:
        def work(_: PageTable) -> None:
            known = page_rows.furniture(self._connection, namespace, site)
            self._connection.execute(
                "INSERT OR REPLACE INTO furniture (namespace, site, blocks) VALUES (?, ?, ?)",
                (namespace, site, joined_furniture(known, blocks)),
            )

        self._transaction(work)

    def all_furniture(self) -> Iterator[tuple[str, str, bytes]]:
        with self._access:
            rows = self._connection.execute("SELECT namespace, site, blocks FROM furniture")
            return iter(rows.fetchall())

    def keep_texts(self, texts: Iterable[PageText]) -> None:
        rows = [text_table.packed(text) for text in texts]
        if rows:
            self._transaction(lambda _: text_table.insert(self._connection, rows))

    def text_of(self, namespace: str, url: str) -> PageText | None:
        with self._access:
            return text_table.text_of(self._connection, namespace, url)

    def texts(self) -> Iterator[PageText]:
        last_row = 0
        while True:
            with self._access:
                numbered = text_table.texts_after(self._connection, last_row, TEXTS_A_READ)
            if not numbered:
                return
            yield from (text for _, text in numbered)
            last_row = numbered[-1][0]

    def text_sizes(self) -> Iterator[int]:
        with self._access:
            return iter(text_table.sizes(self._connection))

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
            with suppress(sqlite3.Error):  # the next to open forgets what this can't
                self._end_run()
            self._connection.close()

    def __len__(self) -> int:
        with self._access:
            return len(self._table)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _keep(self, table: PageTable, page: StoredPage) -> None:
        if self._run is None:
            table.insert(page)
        else:
            self._run.kept(page.namespace, page.url, table.insert(page, self._run.number))

    def _begin_run(self) -> None:
        with self._access, _under_write_lock(self._connection):
            self._run = Run(self._connection, self._path, self._table.newest_id())

    def _end_run(self) -> None:
        run, self._run = self._run, None
        if run is not None:
            try:
                with _under_write_lock(self._connection):
                    run.end()
            finally:
                run.ended()

    def _new_table(self, stamp: Mapping[str, object]) -> PageTable:
        return PageTable(self._connection, stamped_bits(stamp), self._index)

    def _stamp(self) -> dict[str, object] | None:
        return formats.stamp(self._connection)

    def _transaction(self, work: Callable[[PageTable], T]) -> T:
        """Work done under the write lock, held from before the first look-up until the commit."""
        with self._access:
            if not self._has_read:
                self._read_ahead()
            self._cursor.execute("BEGIN IMMEDIATE")
            try:
                self._begin_table()
                done = work(self._table)
                if self._run is not None:
                    self._run.write()
                self._cursor.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has rolled back already
                    self._connection.execute("ROLLBACK")
                self._table.rolled_back()
                self._is_stamped = False  # a stamp of this transaction's is gone
                if self._run is not None:
                    self._run.rolled_back()
                raise
            self._table.committed()
            if self._run is not None:
                self._run.written()
            return done

    def _begin_table(self) -> None:
        if not self._is_stamped and (stamp := self._stamp()) is not None:
            self._is_stamped = True
            if self._table.bits != stamped_bits(stamp):  # by another process, since this one opened
                self._table = self._new_table(stamp)
        self._table.begin()

    def _read_ahead(self) -> None:
        """Read a big file into memory before the write lock is taken, which others wait for."""
        if self._index == "memory":
            self._connection.execute("BEGIN")
            try:
                newest_id = self._table.newest_id()
                if newest_id >= SLOW_PAGES:
                    logger.info("Reading about %d pages of %s into memory", newest_id, self._path)
                self._begin_table()
            finally:
                self._connection.execute("ROLLBACK")
        self._has_read = True


@contextmanager
def _under_write_lock(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


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
