"""Judges the pages of an archive one after another, as a crawl that meets them in this order.

To judge a page takes a twentieth of what its fingerprints take. So the pages are fingerprinted on
all cores, or on a cluster, and judged by one judge with a store of its own:

    --keep first    rows in the order of the inputs, judged as soon as they are written
    another         all rows, sorted
    SCOPE = "site"  all rows, shared out by site among several judges, each share sorted
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from simhash_pipeline.archive.parts import STORED, stored_pages
from simhash_pipeline.errors import ArchiveError
from simhash_pipeline.item_values import by_bytes
from simhash_pipeline.judge import Judge
from simhash_pipeline.options import Options
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from simhash_pipeline.terminal import progress_bar
from simhash_pipeline.verdict import Verdict

ROWS_A_BATCH = 1_000
MEMORY_PERCENT = 80  # of the machine's memory: beyond it DuckDB goes to disk

# The columns of parts.py that verdicts and ORDERS depend on.
JUDGED_BY = (
    *("position", "url", "blocks", "item_names", "time", "text_chars", "is_canonical"),
    *STORED,
)
# Fields of a verdict that are columns of the result under the same names.
MEASURES = ("content_distance", "structure_distance", "sketch_distance", "similarity")
SCHEMA = pa.schema(
    [
        ("position", pa.int64()),
        ("kept", pa.bool_()),
        ("reason", pa.string()),
        ("group", pa.int64()),  # the position of the group's kept page
        ("twin", pa.int64()),  # the position of the page it was found near
        *((name, pa.int32()) for name in MEASURES[:3]),
        ("similarity", pa.float64()),
        ("rejected_by", pa.string()),
        ("fields", pa.list_(pa.string())),  # of their items, that differ
    ]
)
# The order of judging, in SQL; the first of several twins is kept.
ORDERS = {
    "first": "position",
    "earliest": "time IS NULL, time, position",
    "longest": "text_chars DESC NULLS LAST, position",
    "shortest-url": "length(url), position",
    "canonical": "NOT coalesce(is_canonical, FALSE), position",
}
TO_JUDGE = f"SELECT {', '.join(JUDGED_BY)} FROM page WHERE key IS NOT NULL"


def shared_by(options: Options) -> str:
    """SQL: columns; pages with different values in them are never compared."""
    return "namespace, site" if options.scope == "site" else "namespace"


def judge_rows(
    batches: Iterable[pa.RecordBatch], options: Options, store: SqliteStore
) -> Iterator[pa.RecordBatch]:
    """The verdicts on rows, in their order.

    The store must have no other user.
    """
    options = replace(options, keep="first")  # the rows are in the order to be kept
    judge = Judge(store, options, repeats_since=0)
    kept_at: dict[int, int] = {}  # positions of stored pages, by a hash of their keys
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("position", "blocks", "item_names"))
        positions, blocks, names = columns
        of_items = (by_bytes(each or ()) for each in names)
        pages = zip(stored_pages(batch), blocks, of_items, strict=True)
        with store.batch():
            verdicts = [judge.judge_stored(*page) for page in pages]
        rows = [_row(*judged, kept_at) for judged in zip(positions, verdicts, strict=True)]
        yield pa.RecordBatch.from_pylist(rows, SCHEMA)


def _row(position: int, verdict: Verdict, kept_at: dict[int, int]) -> dict[str, Any]:
    twin_key, namespace = verdict.twin_key, verdict.namespace
    twin = None if twin_key is None else kept_at[hash((namespace, twin_key))]
    if verdict.stored:
        kept_at[hash((namespace, verdict.key))] = position
    return {
        "position": position,
        "kept": not verdict.dropped,
        "reason": verdict.reason,
        "group": position if verdict.stored or twin is None else twin,
        "twin": twin,
        **{name: getattr(verdict, name) for name in MEASURES},
        "rejected_by": verdict.rejected_by,
        "fields": verdict.differing_fields,
    }


def judge_parts(parts: Iterable[Path], folder: Path, options: Options) -> Iterator[tuple[int, int]]:
    """Judge the rows of parts in their order; writes verdicts and kept pages into the folder.

    The numbers of pages and drops that were added.
    """
    return _written(chain.from_iterable(map(_rows_of, parts)), folder, 0, options)


def judge_sorted(pool: Executor, folder: Path, options: Options, keep: str) -> None:
    """Judge the rows of the folder's parts in one of ORDERS; writes as `judge_parts`.

    Pages that are never compared are shared out among judges, each in a process of the pool.
    """
    apart = shared_by(options)
    with closing(DuckDb(folder)) as engine:
        (all_,) = engine.rows(
            f"SELECT count(*) AS pages, count(DISTINCT ({apart})) AS apart "
            "FROM page WHERE key IS NOT NULL"
        )
    shares = max(1, min(os.cpu_count() or 1, all_["apart"]))
    work, drops = (folder, options, keep, shares), 0
    with progress_bar("pages", all_["pages"], "judging") as advance:
        if shares == 1:
            for pages, dropped in _share_judged(0, *work):
                drops += dropped
                advance(pages, f"{drops:,} drops")
            return
        for judge in as_completed(pool.submit(_judge_share, n, *work) for n in range(shares)):
            advance(judge.result())


def _judge_share(*work: Any) -> int:
    """How many pages the share has."""
    return sum(pages for pages, _ in _share_judged(*work))


def _share_judged(
    share: int, folder: Path, options: Options, keep: str, shares: int
) -> Iterator[tuple[int, int]]:
    """Judge the share with this number, from 0; as `_written`."""
    apart = shared_by(options)
    # Dealt like cards, the largest first.
    number = f"row_number() OVER (ORDER BY count(*) DESC, {apart})"
    dealt = (
        f"SELECT {apart} FROM page WHERE key IS NOT NULL GROUP BY {apart} "
        f"QUALIFY {number} % {shares} = {share}"
    )
    with closing(DuckDb(folder, shares)) as engine:
        rows = engine.batches(f"{TO_JUDGE} AND ({apart}) IN ({dealt}) ORDER BY {ORDERS[keep]}")
        yield from _written(rows, folder, share, options)


def _rows_of(part: Path) -> Iterator[pa.RecordBatch]:
    """The rows of a part that can be judged."""
    with pq.ParquetFile(part) as file:
        for batch in file.iter_batches(ROWS_A_BATCH, columns=JUDGED_BY, use_threads=False):
            key = batch.column("key")
            yield batch.filter(key.is_valid()) if key.null_count else batch  # it takes 10 MB


def _written(
    batches: Iterable[pa.RecordBatch], folder: Path, share: int, options: Options
) -> Iterator[tuple[int, int]]:
    """The numbers of pages and drops of each batch whose verdicts were written."""
    with (
        SqliteStore(folder / f"kept-{share}.sqlite") as store,
        pq.ParquetWriter(folder / f"verdicts-{share}.parquet", SCHEMA) as file,
    ):
        for verdicts in judge_rows(batches, options, store):
            file.write_batch(verdicts)
            yield verdicts.num_rows, verdicts.column("kept").to_pylist().count(False)


class DuckDb:
    """SQL on one machine, on the table `page` of the parts in a folder.

    It uses the disk when memory is full. `shares` is the number of processes that share the memory
    and the cores. Errors, as for a full disk, are raised as ArchiveError.
    """

    def __init__(self, folder: Path, shares: int = 1) -> None:
        self._folder = folder
        self._connection = duckdb.connect()
        self._run(f"SET temp_directory = {_text(str(folder / 'sorting'))}")
        self._run(f"SET memory_limit = '{MEMORY_PERCENT // shares}%'")
        if shares > 1:
            self._run("SET threads = 1")
        self._see("page", "part-*")

    def add_verdicts(self, names: Sequence[str]) -> None:
        """Add the table `verdict`, and `input` with the inputs' names, once all are judged."""
        self._see("verdict", "verdicts-*")
        self._run("CREATE TABLE input (place INTEGER, name VARCHAR)")
        with _reasoned():
            self._connection.executemany("INSERT INTO input VALUES (?, ?)", [*enumerate(names)])

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """The query's rows, some thousands at a time."""
        with _reasoned():
            reader: Any = self._connection.cursor().sql(query).to_arrow_reader(ROWS_A_BATCH)
            yield from reader

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        return (row for batch in self.batches(query) for row in batch.to_pylist())

    def write(self, query: str, to: Path) -> None:
        """Write the query's rows to a file, Parquet or JSON Lines by its ending."""
        form = "PARQUET, COMPRESSION zstd" if to.suffix == ".parquet" else "JSON"
        self._run(f"COPY ({query}) TO {_text(str(to))} (FORMAT {form})")

    def close(self) -> None:
        self._connection.close()

    def _see(self, table: str, files: str) -> None:
        place = _text(f"{glob.escape(str(self._folder))}/{files}.parquet")
        self._run(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({place})")

    def _run(self, statement: str) -> None:
        with _reasoned():
            self._connection.execute(statement)


def _text(words: str) -> str:
    """SQL: a string literal."""
    return "'" + words.replace("'", "''") + "'"


@contextmanager
def _reasoned() -> Iterator[None]:
    """Turns errors of DuckDB, as for full memory or disk, into an ArchiveError of one line."""
    try:
        yield
    except duckdb.Error as error:
        raise ArchiveError(f"DuckDB can't go on: {' '.join(str(error).split())}") from error
