"""Judges the pages of an archive one after another, as a crawl that meets them in this order.

To judge a page takes a twentieth of what its fingerprints take. So the pages are fingerprinted on
all cores, or on a cluster, and judged here, by one judge with a store of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from simhash_pipeline.archive.rows import page_from_row
from simhash_pipeline.judge import Judge
from simhash_pipeline.options import Options
from simhash_pipeline.stores.contract import Store
from simhash_pipeline.stores.opening import open_store
from simhash_pipeline.stores.store_url import SQLITE
from simhash_pipeline.terminal import progress_bar

Row: TypeAlias = Mapping[str, Any]

# The columns of rows.py that verdicts and ORDERS depend on.
JUDGED_BY = (
    *("position", "url", "key", "namespace", "site", "content", "structure", "sketch", "digest"),
    *("visible", "sample", "blocks", "time", "seen_at", "text_chars", "is_canonical"),
)
# Fields of a verdict that are columns of the result under the same names.
MEASURES = ("content_distance", "structure_distance", "sketch_distance", "own_likeness")
SCHEMA = pa.schema(
    [
        ("position", pa.int64()),
        ("kept", pa.bool_()),
        ("reason", pa.string()),
        ("group", pa.int64()),  # the position of the group's kept page
        ("twin", pa.int64()),  # the position of the page it was found near
        ("content_distance", pa.int32()),
        ("structure_distance", pa.int32()),
        ("sketch_distance", pa.int32()),
        ("own_likeness", pa.float64()),
    ]
)
ROWS_A_BATCH = 10_000
# The order of judging, in SQL; the first of several twins is kept.
ORDERS = {
    "first": "position",
    "earliest": "time IS NULL, time, position",
    "longest": "text_chars DESC NULLS LAST, position",
    "shortest-url": "length(url), position",
    "canonical": "NOT coalesce(is_canonical, FALSE), position",
}


class Engine(Protocol):
    """Runs SQL on the table `page`, the rows of rows.py, and on tables that were added."""

    def add(self, table: str, file: Path) -> None:
        """Have the rows of a Parquet file of this machine as a table."""

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        """The query's rows, one after another."""

    def write(self, query: str, to: str) -> None:
        """Write the query's rows to a file, Parquet or JSON Lines by its ending."""

    def text(self, words: str) -> str:
        """SQL: a string literal."""

    def close(self) -> None: ...


@contextmanager
def add_verdicts(engine: Engine, folder: Path, options: Options, keep: str) -> Iterator[Store]:
    """Add the table `verdict`; gives the store with the kept pages, until the end of the block.

    Both are files in the folder. `keep` is one of ORDERS.
    """
    for file in folder.glob("kept.sqlite*"):  # of a run that was stopped
        file.unlink()
    pages = "FROM page WHERE key IS NOT NULL"
    (counted,) = engine.rows(f"SELECT count(*) AS pages {pages}")
    rows = engine.rows(f"SELECT {', '.join(JUDGED_BY)} {pages} ORDER BY {ORDERS[keep]}")
    verdicts = folder / "verdicts.parquet"
    with open_store(f"{SQLITE}{folder.as_posix()}/kept.sqlite") as store:
        with (
            pq.ParquetWriter(verdicts, SCHEMA) as file,
            progress_bar("pages", counted["pages"], "judging") as advance,
        ):
            for batch in _judged(rows, options, store):
                file.write_batch(batch)
                advance(batch.num_rows)
        engine.add("verdict", verdicts)
        yield store


def _judged(rows: Iterable[Row], options: Options, store: Store) -> Iterator[pa.RecordBatch]:
    """The verdicts on rows, in their order; a page without a time counts as seen now."""
    judge, now = Judge(store, options), time.time()
    kept_at: dict[int, int] = {}  # positions of stored pages, by a hash of their keys
    verdicts = (_verdict(row, judge, kept_at, now) for row in rows)
    while batch := list(islice(verdicts, ROWS_A_BATCH)):
        yield pa.RecordBatch.from_pylist(batch, SCHEMA)


def _verdict(row: Row, judge: Judge, kept_at: dict[int, int], now: float) -> dict[str, Any]:
    page, position = page_from_row(row, now), row["position"]
    verdict = judge.judge_stored(page, row["blocks"] or ())
    twin_url, namespace = verdict.twin_url, verdict.namespace
    twin = None if twin_url is None else kept_at[hash((namespace, twin_url))]
    if verdict.stored:
        kept_at[hash((namespace, verdict.url))] = position
    return {
        "position": position,
        "kept": not verdict.dropped,
        "reason": verdict.reason,
        "group": position if verdict.stored or twin is None else twin,
        "twin": twin,
        **{name: getattr(verdict, name) for name in MEASURES},
    }
