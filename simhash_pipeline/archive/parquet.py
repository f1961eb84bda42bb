"""Parquet files with a row for each page: reads their pages, writes copies without some."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from simhash_pipeline.archive import Record
from simhash_pipeline.archive.feeds import item_page
from simhash_pipeline.errors import ArchiveError
from simhash_pipeline.items import heard
from simhash_pipeline.options import Options
from simhash_pipeline.page.source import CHARSET_FIELD, page_field

# Rows that are decoded together, from row groups of any size; fewer if they are long on average.
ROWS_A_BATCH = 16
BATCH_BYTES = 64_000_000
BUFFER_BYTES = 1 << 20  # of a column; without it, or with pre_buffer, a row group is read whole
ROWS_A_GROUP = 500  # that are written together


@dataclass(frozen=True, slots=True)
class ParquetPages:
    """Rows with the columns that URL_FIELD and HTML_FIELD name, or `url` and `html`.

    The other columns are item values, except those of bytes.
    """

    path: Path
    options: Options
    time_field: str | None = None

    def read(self) -> Iterator[tuple[Record, float]]:
        file = self._opened()
        there = {column.name: str(column.type) for column in file.schema_arrow}
        columns = page_columns(self.path, there, self.options, self.time_field)
        batches = self._batches(file, columns)
        found = chain.from_iterable(rows(batch, self.time_field) for batch in batches)
        for number, row in enumerate(found, 1):
            page = item_page(row, f"row {number:,}", self.options, self.time_field)
            yield page, number / file.metadata.num_rows

    def copy(self, to: Path, without: Container[int]) -> None:
        """Writes the other rows, with all columns and the file's metadata."""
        file, number = self._opened(), 0
        kept: list[pa.RecordBatch] = []
        with pq.ParquetWriter(to, file.schema_arrow) as target:
            for batch in self._batches(file, None):
                # Slices, as no filter takes all types.
                numbers = range(number + 1, number + 1 + batch.num_rows)
                for is_dropped, run in groupby(numbers, without.__contains__):
                    rows_of = [*run]
                    if not is_dropped:
                        kept.append(batch.slice(rows_of[0] - number - 1, len(rows_of)))
                number += batch.num_rows
                group = pa.Table.from_batches(kept)
                is_last = number == file.metadata.num_rows
                if is_last or group.num_rows >= ROWS_A_GROUP or group.nbytes >= BATCH_BYTES:
                    target.write_table(group)
                    kept.clear()

    def _batches(self, file: Any, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        try:
            for number in range(file.metadata.num_row_groups):
                group = file.metadata.row_group(number)
                fitting = BATCH_BYTES * group.num_rows // (group.total_byte_size + 1)
                at_once = max(1, min(ROWS_A_BATCH, fitting))
                for batch in file.iter_batches(at_once, [number], columns=columns):
                    batch.validate(full=True)  # finds text that isn't UTF-8, among others
                    yield batch
        except (OSError, pa.ArrowException) as error:
            raise ArchiveError(f"{self.path} is damaged: {' '.join(str(error).split())}") from error

    def _opened(self) -> Any:
        try:
            return pq.ParquetFile(self.path, buffer_size=BUFFER_BYTES, pre_buffer=False)
        except (OSError, ValueError, pa.ArrowException) as error:  # a name that is no UTF-8
            reason = " ".join(str(error).split())
            raise ArchiveError(f"{self.path} is not a Parquet file: {reason}") from error


def page_columns(
    source: Path | str, there: Mapping[str, str], options: Options, time_field: str | None
) -> list[str]:
    """Those of the columns that are to be read: the page's, and those that may be item values.

    `there` gives the type of each. ArchiveError if the page or its URL is missing.
    """
    has_text = options.content_field in there
    needed = [str(options.content_field) if has_text else page_field(options), options.url_field]
    if missing := [name for name in needed if name not in there]:
        if options.content_field is not None:
            missing = list(dict.fromkeys([options.content_field, *missing]))
        raise ArchiveError(
            f"{source} has no column {' and no column '.join(map(repr, missing))} "
            f"(SIMHASH_HTML_FIELD, SIMHASH_URL_FIELD); it has {', '.join(there)}"
        )
    read = {*needed, page_field(options), CHARSET_FIELD, "title", time_field}
    bytes_only = {name for name, kind in there.items() if "binary" in kind.partition("<")[0]}
    read.update(name for name in heard(there, options) if name not in bytes_only)
    return [name for name in there if name in read]


def rows(batch: pa.RecordBatch, time_field: str | None) -> list[dict[str, Any]]:
    """A batch's rows, times in Unix seconds, as datetime has no nanoseconds and no year 10000."""
    place = batch.schema.get_field_index(time_field or "")
    kind = batch.schema.types[place]
    if place >= 0 and (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        times = batch.column(place).cast(pa.timestamp("ms", getattr(kind, "tz", None)), safe=False)
        millis = times.cast(pa.int64()).to_pylist()
        seconds = [None if each is None else each / 1_000 for each in millis]
        batch = batch.set_column(place, time_field, pa.array(seconds, pa.float64()))
    columns = map(_values, batch.columns)
    return [dict(zip(batch.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(column: pa.Array) -> list[Any]:
    """None for all if Python doesn't know one, such as a time after the year 9999 or its zone."""
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError, KeyError, TypeError, pa.ArrowException):
        return [None] * len(column)
    if pa.types.is_map(column.type) and not pa.types.is_nested(column.type.key_type):
        # Which has pairs.
        return [None if pairs is None else dict(pairs) for pairs in values]
    return values
