"""The rows of fingerprints of all pages, made on all cores, and the verdicts on them.

The rows are in Parquet files, the parts, in a folder of their own. To judge a page takes a
twentieth of what its fingerprints take. So one judge with a store of its own judges one page after
another, as a crawl that meets them in this order:

    --keep first    rows in the order of the inputs, judged as soon as they are written
    another         all rows, sorted
"""

import glob
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from simhash_pipeline.archive import KEEP, Fault, Input, Page, Skipped
from simhash_pipeline.bits import fingerprint_hex
from simhash_pipeline.drop_log import DropLog
from simhash_pipeline.errors import ArchiveError, PageError
from simhash_pipeline.items import said_by
from simhash_pipeline.judge import Judge, stored_page
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.page.pdf import is_pdf
from simhash_pipeline.page.reader import Readers
from simhash_pipeline.page.titles import TITLE_CHARS
from simhash_pipeline.stores.contract import COLUMN_BITS, COLUMN_TYPES, COLUMNS, StoredPage
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from simhash_pipeline.terminal import progress_bar
from simhash_pipeline.urls import declared_key
from simhash_pipeline.verdict import Verdict

if TYPE_CHECKING:
    import duckdb

# A record's position, its input, its number in that, and what it holds: see ROWS.
Numbered: TypeAlias = tuple[int, int, int, Page | Fault]

# A part takes seconds, so that a stopped run loses little, and several fit into memory.
PAGES_A_PART = 500
CHARS_A_PART = 32_000_000
# Of a stored column: fingerprints are hex digits.
_ARROW_TYPES = (pa.string(), pa.int64(), pa.float64(), pa.string(), pa.binary())
_TYPES = dict(zip(COLUMN_TYPES, _ARROW_TYPES, strict=True))
PARTS_AHEAD = 2  # for each core; reading further ahead would fill the memory
ROWS = pa.schema(
    [
        ("position", pa.int64()),  # of the page among all pages of all inputs, from 0
        ("input", pa.int32()),  # of the inputs, from 0
        ("number", pa.int64()),  # of the record in its input, from 1
        ("url", pa.string()),
        ("key", pa.string()),  # canonical; null where the page can't be judged
        *((one.name, _TYPES[one.type]) for one in COLUMNS if one.name != "url"),
        ("item_names", pa.map_(pa.int64(), pa.string())),  # as in Said
        ("blocks", pa.list_(pa.int64())),  # of the page's sample
        ("text", pa.string()),  # null unless texts are kept
        ("text_chars", pa.int64()),
        ("tokens", pa.int64()),
        ("is_canonical", pa.bool_()),  # whether its canonical link is to its own URL
        ("time", pa.float64()),  # Unix seconds: when it was fetched; null where it is unknown
        ("fault", pa.string()),  # why it can't be judged
    ]
)
_FIELDS = [one.name for one in COLUMNS]
STORED = ["key", *_FIELDS[1:]]  # the columns that hold them, in their order
ROWS_A_BATCH = 1_000
KEPT_STORE = "kept.sqlite"  # of the judge, in the folder

# The columns of ROWS that verdicts, KEEP and the drop log depend on.
JUDGED_BY = [name for name in ROWS.names if name not in ("input", "number", "text", "fault")]
# Fields of a verdict that are columns of the result under the same names.
MEASURES = ("content_distance", "structure_distance", "sketch_distance", "similarity")
VERDICTS = pa.schema(
    [
        ("position", pa.int64()),
        ("kept", pa.bool_()),
        ("reason", pa.string()),
        ("group", pa.int64()),  # the position of the group's kept page
        ("twin_url", pa.string()),
        *((name, pa.int32()) for name in MEASURES[:3]),
        ("similarity", pa.float64()),
    ]
)
TO_JUDGE = f"SELECT {', '.join(JUDGED_BY)} FROM page WHERE key IS NOT NULL"


@contextmanager
def workers() -> Iterator[Executor]:
    """A process for each core; ArchiveError if one of them dies.

    Not forked: a fork of a process with threads may hang, and not every system forks. They don't
    see the program's script, which each would import, and Scrapy with it: 47 MB and 0.3 s.
    """
    main = vars(sys.modules["__main__"])
    hidden = {each: main.get(each) for each in ("__file__", "__spec__")}
    main.update(dict.fromkeys(hidden))
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(os.cpu_count() or 1, spawn, initializer=_begin_worker)
    try:
        yield pool
    except BrokenProcessPool as error:
        raise ArchiveError(
            "a worker process was killed, perhaps as memory was full; free some, and run the same "
            "command again"
        ) from error
    finally:
        main.update(hidden)
        pool.shutdown(cancel_futures=True)


def _begin_worker() -> None:
    """Ctrl-C stops the main process only; when that ends, be it by a kill, so does the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    leave_pandas_out()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def leave_pandas_out() -> None:
    """Have pyarrow make columns without pandas: that takes 57 MB and half a second.

    It asks once whether pandas is there; `to_pandas` imports it in any case.
    """
    modules: dict[str, Any] = sys.modules
    if "pandas" not in modules:
        modules["pandas"] = None  # as Python has what is not there
        with suppress(Exception):
            pa.array([])
        del modules["pandas"]


@dataclass(slots=True)
class Reading:
    """Reads the inputs, which have names, into parts in the folder, and counts what they hold."""

    inputs: Mapping[str, Input]
    folder: Path
    options: Options
    pages: int = 0
    dropped: int = 0  # by now, by whoever judges the parts
    timed: int = 0  # pages with the time they were fetched
    skipped: Counter[str] = field(default_factory=Counter)  # records that aren't pages, by kind
    # With the input's name, and the record's number.
    faults: list[tuple[str, int, Fault]] = field(default_factory=list)

    def parts(self, pool: Executor) -> Iterator[Path]:
        """In their order, each when it is written; the next ones are worked at meanwhile."""
        at_work: deque[Future[Path]] = deque()
        for number, batch in enumerate(self._batches()):
            part = self.folder / f"part-{number:06}.parquet"
            at_work.append(pool.submit(_write_part, batch, part, self.options))
            if len(at_work) > PARTS_AHEAD * (os.cpu_count() or 1):
                yield at_work.popleft().result()
        yield from (future.result() for future in at_work)

    def _batches(self) -> Iterator[list[Numbered]]:
        """The pages of all inputs, those of a part together."""
        batch, chars = list[Numbered](), 0
        for numbered in self._numbered():
            batch.append(numbered)
            chars += len(page.source.html) if isinstance(page := numbered[-1], Page) else 0
            if len(batch) == PAGES_A_PART or chars >= CHARS_A_PART:
                yield batch
                batch, chars = [], 0
        if batch or not self.pages:  # an empty part still makes a table
            yield batch

    def _numbered(self) -> Iterator[Numbered]:
        """All pages, with a progress bar where stderr is a terminal."""
        for place, (name, archive) in enumerate(self.inputs.items()):
            last = 0.0
            with progress_bar("%", 100, Path(name).name) as advance:
                for number, (record, at) in enumerate(archive.read(), 1):
                    drops = f", {self.dropped:,} drops" if self.dropped else ""
                    advance(100 * (at - last), f"{self.pages:,} pages{drops}")
                    last = at
                    if isinstance(record, Fault):
                        self.faults.append((name, number, record))
                    elif isinstance(record, Skipped):
                        self.skipped[record.kind] += 1
                    else:
                        self.timed += record.time is not None
                        self.pages += 1
                        yield self.pages - 1, place, number, record


def _write_part(batch: list[Numbered], part: Path, options: Options) -> Path:
    pq.write_table(fingerprint_rows(batch, options), part, use_dictionary=False)  # all differ
    return part


def fingerprint_rows(records: Iterable[Numbered], options: Options) -> pa.Table:
    """A row for each record. Raises OptionsError as `fingerprinter` does."""
    rows = [
        {"position": position, "input": source, "number": number, **_row(record, options)}
        for position, source, number, record in records
    ]
    return pa.Table.from_pylist(rows, ROWS)


@cache
def fingerprinter(options: Options) -> Fingerprinter:
    """One per process, as it loads dictionaries. OptionsError if options name missing things."""
    return Fingerprinter(options)


@cache
def _pdf_readers(options: Options) -> Readers:
    """Processes that have limits; they end with this one."""
    return Readers(options, fingerprinter(options), is_closing=lambda: False)


def stored_pages(rows: pa.RecordBatch) -> Iterator[StoredPage]:
    """The rows' pages as the judge takes them."""
    columns = {name: rows.column(name).to_pylist() for name in STORED}
    for name in COLUMN_BITS:
        columns[name] = [None if digits is None else int(digits, 16) for digits in columns[name]]
    columns["title"] = [title[:TITLE_CHARS] for title in columns["title"]]
    return map(StoredPage, *columns.values())


def _row(record: Page | Fault, options: Options) -> dict[str, Any]:
    if isinstance(record, Fault):
        return {"fault": record.message}
    row: dict[str, Any] = {"url": _utf8(record.source.url), "time": record.time}
    reader = fingerprinter(options)  # outside `try`: wrong options are no fault of the page
    try:
        source = record.source
        if is_pdf(source.html):
            page = _pdf_readers(options).fingerprint(source)
        else:
            page = reader.read(source)
        said = said_by(page, source)
        seen_at = time.time() if record.time is None else record.time
        stored = stored_page(source.url, page, options, seen_at, said)
    except PageError as error:
        return row | {"fault": str(error)}
    except (Exception, SystemExit) as error:  # of this package or a user's code: the job goes on
        return row | {"fault": f"it can't be judged: {type(error).__name__}: {error}"}
    return {
        **row,
        **stored_columns(stored),
        "title": _utf8(page.title),
        "text": _utf8(page.text) if options.keep_text else None,
        "item_names": [(byte, _utf8(name)) for byte, name in said.names.items()],
        "blocks": page.blocks,
        "text_chars": len(page.text),
        "tokens": page.tokens,
        "is_canonical": declared_key(stored.url, page.canonical_url) == stored.url,
    }


def stored_columns(page: StoredPage) -> dict[str, Any]:
    """The columns of STORED, from which `stored_pages` makes the page."""
    values = (getattr(page, name) for name in _FIELDS)
    texts = (_utf8(value) if isinstance(value, str) else value for value in values)
    columns: dict[str, Any] = dict(zip(STORED, texts, strict=True))
    hex_digits = {name: fingerprint_hex(columns[name], bits) for name, bits in COLUMN_BITS.items()}
    return {**columns, **hex_digits}


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def judge_rows(
    batches: Iterable[pa.RecordBatch], options: Options, store: SqliteStore, log: DropLog | None
) -> Iterator[pa.RecordBatch]:
    """The verdicts on rows, in their order; counted, and drops and near misses logged.

    The store must have no other user.
    """
    options = replace(options, keep="first")  # the rows are in the order to be kept
    judge = Judge(store, options, repeats_since=0)
    kept_at: dict[int, int] = {}  # positions of stored pages, by a hash of their keys
    for batch in batches:
        columns = ("position", "blocks", "item_names", "title", "tokens")
        positions, blocks, names, titles, tokens = (batch.column(n).to_pylist() for n in columns)
        of_items, pages = (dict(each or ()) for each in names), [*stored_pages(batch)]
        with store.batch():
            judged = zip(pages, blocks, of_items, strict=True)
            verdicts = [judge.judge_stored(*page) for page in judged]
        if log is not None:
            for verdict, page, title, count in zip(verdicts, pages, titles, tokens, strict=True):
                log.count(verdict.reason, kept=not verdict.dropped)
                if verdict.dropped or verdict.rejected_by:
                    read = PageFingerprint(page.content, page.structure, None, "", title, count)
                    log.write(verdict, read)
        rows = [_verdict_row(*judged, kept_at) for judged in zip(positions, verdicts, strict=True)]
        yield pa.RecordBatch.from_pylist(rows, VERDICTS)


def _verdict_row(position: int, verdict: Verdict, kept_at: dict[int, int]) -> dict[str, Any]:
    twin_key, namespace = verdict.twin_key, verdict.namespace
    twin = None if twin_key is None else kept_at[hash((namespace, twin_key))]
    if verdict.stored:
        kept_at[hash((namespace, verdict.key))] = position
    return {
        "position": position,
        "kept": not verdict.dropped,
        "reason": verdict.reason,
        "group": position if verdict.stored or twin is None else twin,
        "twin_url": None if twin is None else _utf8(verdict.twin_url or ""),
        **{name: getattr(verdict, name) for name in MEASURES},
    }


def judge_batches(
    batches: Iterable[pa.RecordBatch], folder: Path, options: Options, log: DropLog | None = None
) -> Iterator[tuple[int, int]]:
    """Judge rows in their order; writes verdicts and kept pages into the folder.

    The numbers of pages and drops of each batch.
    """
    with (
        SqliteStore(folder / KEPT_STORE) as store,
        pq.ParquetWriter(folder / "verdicts.parquet", VERDICTS) as file,
    ):
        for verdicts in judge_rows(batches, options, store, log):
            file.write_batch(verdicts)
            yield verdicts.num_rows, verdicts.column("kept").to_pylist().count(False)


def judge_sorted(
    folder: Path, options: Options, keep: str, pages: int, log: DropLog | None = None
) -> None:
    """Judge the rows of the folder's parts in an order of KEEP; writes as `judge_batches`."""
    drops = 0
    with progress_bar("pages", pages, "judging") as advance, sql_on(folder) as engine:
        rows = engine.connection.sql(f"{TO_JUDGE} ORDER BY {KEEP[keep][1]}")
        batches = rows.to_arrow_reader(ROWS_A_BATCH)
        for judged, dropped in judge_batches(batches, folder, options, log):
            drops += dropped
            advance(judged, f"{drops:,} drops")


def judgeable(parts: Iterable[Path]) -> Iterator[pa.RecordBatch]:
    """The rows of parts that can be judged, in their order."""
    for part in parts:
        with pq.ParquetFile(part) as file:
            for batch in file.iter_batches(ROWS_A_BATCH, columns=JUDGED_BY, use_threads=False):
                key = batch.column("key")
                yield batch.filter(key.is_valid()) if key.null_count else batch  # it takes 10 MB


@dataclass(frozen=True, slots=True)
class Engine:
    """What `sql_on` opens."""

    folder: Path
    connection: "duckdb.DuckDBPyConnection"

    def see(self, table: str, files: str) -> None:
        """Add a table of the Parquet files with names like this."""
        place = f"{glob.escape(str(self.folder))}/{files}.parquet"
        self.connection.read_parquet(place).create_view(table)

    def add_verdicts(self, names: Sequence[str]) -> None:
        """Add the table `verdict`, and `input` with the inputs' names, once all are judged."""
        self.see("verdict", "verdicts")
        # Not from a table of Arrow, which would import pandas: 40 MB.
        self.connection.execute("CREATE TABLE input (place INTEGER, name VARCHAR)")
        self.connection.executemany("INSERT INTO input VALUES (?, ?)", [*enumerate(names)])

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        """The query's rows, without Arrow's library of data sets, which takes 20 MB."""
        found = self.connection.cursor().execute(query)
        names = [column[0] for column in found.description]
        while batch := found.fetchmany(ROWS_A_BATCH):
            yield from (dict(zip(names, row, strict=True)) for row in batch)

    def write(self, query: str, to: Path) -> None:
        """Write the query's rows to a file, Parquet or JSON Lines by its ending."""
        form = "PARQUET, COMPRESSION zstd" if to.suffix == ".parquet" else "JSON"
        place = str(to).replace("'", "''")
        self.connection.execute(f"COPY ({query}) TO '{place}' (FORMAT {form})")


@contextmanager
def sql_on(folder: Path) -> Iterator[Engine]:
    """SQL on one machine, on the table `page` of the parts in a folder.

    It uses the disk beyond 80 % of the machine's memory. Errors, as for a full disk, are raised as
    ArchiveError.
    """
    import duckdb  # workers do without: 11 MB and 0.1 s

    config: dict[str, Any] = {
        "temp_directory": str(folder / "sorting"),
        "threads": 1,  # each takes 10 MB; a million rows are written in 4 s
    }
    try:
        with duckdb.connect(config=config) as connection:
            connection.execute("SET disable_parquet_prefetching = true")
            engine = Engine(folder, connection)
            engine.see("page", "part-*")
            yield engine
    except duckdb.Error as error:
        raise ArchiveError(f"DuckDB can't go on: {' '.join(str(error).split())}") from error
