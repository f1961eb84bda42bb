"""SQL on one machine, by DuckDB, which uses the disk when memory is full."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from simhash_pipeline.archive.relation import Near
from simhash_pipeline.archive.verdicts import SCHEMA, Groups, judged
from simhash_pipeline.errors import ArchiveError
from simhash_pipeline.options import Options
from simhash_pipeline.terminal import progress, progress_bar

ROWS_A_BATCH = 10_000


class DuckDb:
    """An `Engine` on the parts in a folder; its own tables are there too until it is closed."""

    def __init__(self, folder: Path, memory_bytes: int | None = None) -> None:
        self._folder = folder
        self._file = folder / "tables.duckdb"
        self._file.unlink(missing_ok=True)  # of a run that was stopped
        self._connection = duckdb.connect(self._file)
        self._run("SET preserve_insertion_order = FALSE")
        if memory_bytes is not None:
            self._run(f"SET memory_limit = '{memory_bytes}B'")
        self._see("page", "part-*.parquet")

    def make(self, table: str, query: str) -> None:
        self._run(f"CREATE OR REPLACE TABLE {table} AS {query}")

    def number(self, query: str) -> int:
        ((number,),) = self._run(query).fetchall()
        return int(number)

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        return (row for batch in self._batches(query) for row in batch.to_pylist())

    def near(self, table: str, near: Near) -> None:
        self._run(f"CREATE OR REPLACE TABLE {table} (a BIGINT, b BIGINT)")
        tables = range(near.design.probes)
        for number in progress(tables, "tables", len(tables)):
            for shard in near.shards(number):
                with _reasoned():
                    some = f"SELECT {near.columns} FROM {near.values} WHERE {shard}"
                    found = near.pairs(number, self._connection.sql(some).to_arrow_table())
                    self._connection.register("found", found)
                self._run(f"INSERT INTO {table} SELECT a, b FROM found")
                self._connection.unregister("found")

    def judge(self, query: str, order: str, options: Options, groups: Groups) -> None:
        total = self.number("SELECT count(*) FROM family")
        rows = self._batches(f"SELECT * FROM ({query}) ORDER BY family, {order}")
        with (
            pq.ParquetWriter(self._folder / "verdicts.parquet", SCHEMA) as verdicts,
            progress_bar("pages", total, "judging") as advance,
        ):
            for batch in judged(rows, options, groups):
                verdicts.write_batch(batch)
                advance(batch.num_rows)
        self._see("verdict", "verdicts.parquet")

    def write(self, query: str, to: str) -> None:
        form = "PARQUET, COMPRESSION zstd" if to.endswith(".parquet") else "JSON"
        self._run(f"COPY ({query}) TO {self.text(to)} (FORMAT {form})")

    def text(self, words: str) -> str:
        return "'" + words.replace("'", "''") + "'"

    def each(self, column: str) -> str:
        return f"unnest({column})"

    def close(self) -> None:
        self._connection.close()
        self._file.unlink(missing_ok=True)

    def _run(self, statement: str) -> duckdb.DuckDBPyConnection:
        with _reasoned():
            return self._connection.execute(statement)

    def _see(self, table: str, files: str) -> None:
        path = self.text(f"{glob.escape(str(self._folder))}/{files}")
        self._run(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({path})")

    def _batches(self, query: str) -> Iterator[Any]:
        with _reasoned():
            reader: Any = self._connection.sql(query).to_arrow_reader(ROWS_A_BATCH)
            yield from reader


@contextmanager
def _reasoned() -> Iterator[None]:
    """Turns errors of DuckDB, as for full memory or disk, into an ArchiveError of one line."""
    try:
        yield
    except duckdb.Error as error:
        raise ArchiveError(f"DuckDB can't go on: {' '.join(str(error).split())}") from error
