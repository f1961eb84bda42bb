"""SQL on one machine, by DuckDB, which uses the disk when memory is full."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from simhash_pipeline.errors import ArchiveError

ROWS_A_BATCH = 10_000
MEMORY_PERCENT = 80  # of the machine's memory: beyond it DuckDB goes to disk


class DuckDb:
    """The table `page` of the parts in a folder.

    `shares` is the number of processes that share the memory and the cores. Errors, as for a full
    disk, are raised as ArchiveError.
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
