"""SQL on one machine, by DuckDB, which uses the disk when memory is full."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from simhash_pipeline.errors import ArchiveError

ROWS_A_BATCH = 10_000


class DuckDb:
    """An `Engine` on the parts in a folder, where it goes to disk too."""

    def __init__(self, folder: Path, memory_bytes: int | None = None) -> None:
        self._connection = duckdb.connect()
        self._run(f"SET temp_directory = {self.text(str(folder / 'sorting'))}")
        if memory_bytes is not None:
            self._run(f"SET memory_limit = '{memory_bytes}B'")
        self._see("page", f"{glob.escape(str(folder))}/part-*.parquet")

    def add(self, table: str, file: Path) -> None:
        self._see(table, glob.escape(str(file)))

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        with _reasoned():
            reader: Any = self._connection.cursor().sql(query).to_arrow_reader(ROWS_A_BATCH)
            for batch in reader:
                yield from batch.to_pylist()

    def write(self, query: str, to: str) -> None:
        form = "PARQUET, COMPRESSION zstd" if to.endswith(".parquet") else "JSON"
        self._run(f"COPY ({query}) TO {self.text(to)} (FORMAT {form})")

    def text(self, words: str) -> str:
        return "'" + words.replace("'", "''") + "'"

    def close(self) -> None:
        self._connection.close()

    def _run(self, statement: str) -> None:
        with _reasoned():
            self._connection.execute(statement)

    def _see(self, table: str, files: str) -> None:
        self._run(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({self.text(files)})")


@contextmanager
def _reasoned() -> Iterator[None]:
    """Turns errors of DuckDB, as for full memory or disk, into an ArchiveError of one line."""
    try:
        yield
    except duckdb.Error as error:
        raise ArchiveError(f"DuckDB can't go on: {' '.join(str(error).split())}") from error
