"""Stored pages out to CSV and Parquet files, and back.

    column              CSV                     Parquet
    namespace, url      text                    string
    site                text                    string
    content, structure  hex, empty for none     uint64; of 128 bits 16 bytes, highest first
    sketch              hex, empty for none     16 bytes, highest first
    digest              hex, empty for none     16 bytes
    first_seen          Unix seconds            double, Unix seconds
    seen_at             Unix seconds            double, Unix seconds
    visible             hex, empty for none     uint64
    sample              hex, empty for none     binary: see page/visible.py

The last two may be missing. A Parquet file also holds the options that the fingerprints were made
with.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from simhash_pipeline.bits import SKETCH_BITS, fingerprint_hex
from simhash_pipeline.errors import StoreError
from simhash_pipeline.stores.contract import StoredPage, stamped_bits

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = tuple(StoredPage.__dataclass_fields__)
MAY_LACK = ("visible", "sample")  # without them two pages are compared by their main texts
REQUIRED = tuple(name for name in COLUMNS if name not in MAY_LACK)
FINGERPRINTS = ("content", "structure", "sketch", "visible")
PAGES_A_BATCH = 10_000
_MAX_CSV_CHARS = 1_000_000  # of a field: a URL of 100,000 Chinese characters, nine for each
_LAST_SECOND = 253_402_300_799  # Unix seconds, of the year 9999
_DIGEST_BYTES = 16
_SAMPLE_HEAD_BYTES, _SAMPLE_ENTRY_BYTES = 4, 6
STAMP = b"simhash_pipeline"


def write_pages(
    pages: Iterable[StoredPage], path: Path, made_with: Mapping[str, object] | None
) -> int:
    """Write a CSV or Parquet file, as its name ends with .csv or .parquet; how many pages.

    StoreError for another ending, and for Parquet when pyarrow isn't installed.
    """
    write = {".csv": _write_csv, ".parquet": _write_parquet}[kind_of(path)]
    return write(pages, path, made_with or {})


def kind_of(path: Path) -> str:
    """Its ending, .csv or .parquet; StoreError for another."""
    if path.suffix not in (".csv", ".parquet"):
        raise StoreError(f"{path} must end in .csv or .parquet")
    return path.suffix


def is_export(path: Path) -> bool:
    """Whether a file of one of these kinds has all the columns."""
    if kind_of(path) == ".csv":
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            try:
                return {*REQUIRED} <= {*next(csv.reader(file), [])}
            except csv.Error:  # a field that is longer than any name
                return False
    return {*REQUIRED} <= {*_opened(path).schema_arrow.names}


def read_pages(path: Path, bits: int) -> Iterator[StoredPage]:
    """The pages of such a file, in its order; `bits` is how wide content and structure may be.

    StoreError names the first row that is no page.
    """
    return {".csv": _read_csv, ".parquet": _read_parquet}[kind_of(path)](path, bits)


def read_stamp(path: Path) -> dict[str, Any] | None:
    """The options that a file's fingerprints were made with; None when they aren't in the file."""
    if kind_of(path) == ".csv":
        return None
    metadata = _opened(path).schema_arrow.metadata or {}
    if STAMP not in metadata:
        return None
    try:
        made_with = json.loads(metadata[STAMP])
        stamped_bits(made_with)
    except (ValueError, AttributeError, TypeError) as error:
        raise StoreError(f"{path} doesn't say what it was made with: {error}") from error
    return dict(made_with)


def _write_csv(pages: Iterable[StoredPage], path: Path, made_with: Mapping[str, object]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for page in pages:
            rows.writerow([_text(name, getattr(page, name), made_with) for name in COLUMNS])
            count += 1
    return count


def _text(name: str, value: Any, made_with: Mapping[str, object]) -> str:
    """A field of a CSV file."""
    if name in FINGERPRINTS:
        return fingerprint_hex(value, _bits(name, made_with)) or ""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.hex()
    return f"{value:.17g}" if isinstance(value, float) else str(value)


def _bits(name: str, made_with: Mapping[str, object]) -> int:
    fixed = {"sketch": SKETCH_BITS, "visible": 64}
    return fixed[name] if name in fixed else stamped_bits(made_with)


def _read_csv(path: Path, bits: int) -> Iterator[StoredPage]:
    csv.field_size_limit(max(csv.field_size_limit(), _MAX_CSV_CHARS))
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            _refuse_missing(path, rows.fieldnames or ())
            yield from (_page(row, f"{path}, line {rows.line_num}", bits) for row in rows)
    except UnicodeDecodeError as error:
        raise StoreError(f"{path} is no text in UTF-8: {error}") from error
    except csv.Error as error:
        raise StoreError(f"{path} is no CSV file: {error}") from error


def _columns_of(names: Iterable[str]) -> list[str]:
    """The columns of a store that are among these names, in their order."""
    return [name for name in COLUMNS if name in {*names}]


def _refuse_missing(path: Path, names: Iterable[str]) -> None:
    if missing := set(REQUIRED) - set(names):
        raise StoreError(f"{path} has no column {', '.join(sorted(missing))}")


def _page(row: Mapping[str, str], place: str, bits: int) -> StoredPage:
    try:
        there = [name for name in _columns_of(row) if row[name] or name not in MAY_LACK]
        page = StoredPage(**{name: _value(name, row[name]) for name in there})
    except (TypeError, ValueError) as error:
        raise StoreError(f"{place}, is no page: {error}") from error
    return _checked(page, place, bits)


def _value(name: str, text: str) -> Any:
    """The inverse of `_text`."""
    if name in FINGERPRINTS:
        return int(text, 16) if text else None
    if name in ("digest", "sample"):
        return bytes.fromhex(text) or None
    return float(text) if name in ("first_seen", "seen_at") else text


def _checked(page: StoredPage, place: str, bits: int) -> StoredPage:
    """The page; StoreError when a field is missing, or no store could hold it."""
    for name in ("namespace", "url", "site", "first_seen", "seen_at"):
        if getattr(page, name) is None:
            raise StoreError(f"{place}, is no page: it has no {name}")
    if not page.url:
        raise StoreError(f"{place}, is no page: its url is empty")
    for name in ("first_seen", "seen_at"):
        if not 0 <= (secs := getattr(page, name)) <= _LAST_SECOND:
            rule = f"must be Unix seconds, 0 to {_LAST_SECOND:,}"
            raise StoreError(f"{place}, is no page: {name} {rule}, not {secs!r}")
    for name in FINGERPRINTS:
        wide = _bits(name, {"bits": bits})
        if (value := getattr(page, name)) is not None and not 0 <= value < 1 << wide:
            raise StoreError(f"{place}, is no page: {name} must be of {wide} bits, not {value:x}")
    if page.digest is not None and len(page.digest) != _DIGEST_BYTES:
        rule = f"must be of {_DIGEST_BYTES} bytes"
        raise StoreError(f"{place}, is no page: digest {rule}, not {page.digest.hex()}")
    if page.sample is not None and len(page.sample) % _SAMPLE_ENTRY_BYTES != _SAMPLE_HEAD_BYTES:
        rule = f"must be {_SAMPLE_HEAD_BYTES} bytes and {_SAMPLE_ENTRY_BYTES} for each window"
        raise StoreError(f"{place}, is no page: sample {rule}, not {len(page.sample)}")
    return page


def _write_parquet(pages: Iterable[StoredPage], path: Path, made_with: Mapping[str, object]) -> int:
    pyarrow = _pyarrow()
    schema = _schema(pyarrow, made_with)
    count, rest = 0, iter(pages)
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        while batch := list(islice(rest, PAGES_A_BATCH)):
            columns = {
                name: [_cell(getattr(page, name), schema.field(name).type) for page in batch]
                for name in COLUMNS
            }
            writer.write_table(pyarrow.table(columns, schema=schema))
            count += len(batch)
    return count


def _schema(pyarrow: Any, made_with: Mapping[str, object]) -> Any:
    types = dict.fromkeys(COLUMNS, pyarrow.string())
    for name in FINGERPRINTS:
        narrow = _bits(name, made_with) <= 64
        types[name] = pyarrow.uint64() if narrow else pyarrow.binary(16)
    types["digest"] = pyarrow.binary(16)
    types["sample"] = pyarrow.binary()
    types["first_seen"] = types["seen_at"] = pyarrow.float64()
    return pyarrow.schema(types, metadata={STAMP: json.dumps(dict(made_with))})


def _cell(value: Any, of_type: Any) -> Any:
    if isinstance(value, int) and str(of_type).startswith("fixed_size_binary"):
        return value.to_bytes(16, "big")
    return value


def _read_parquet(path: Path, bits: int) -> Iterator[StoredPage]:
    file = _opened(path)
    _refuse_missing(path, file.schema_arrow.names)
    _refuse_other_types(path, file.schema_arrow)
    columns = _columns_of(file.schema_arrow.names)
    number = 0
    try:
        for batch in file.iter_batches(PAGES_A_BATCH, columns=columns):
            for row in batch.to_pylist():
                number += 1
                yield _checked(StoredPage(**_numbers(row)), f"{path}, row {number}", bits)
    except (OSError, ValueError) as error:  # Arrow's errors are both, or one of them
        raise StoreError(f"{path} is damaged after row {number}: {_in_a_line(error)}") from error


def _refuse_other_types(path: Path, schema: Any) -> None:
    pyarrow = _pyarrow()
    narrow, wide = (_schema(pyarrow, {"bits": bits}) for bits in (64, 128))
    for name in _columns_of(schema.names):
        found, known = schema.field(name).type, (narrow.field(name).type, wide.field(name).type)
        if found not in known:
            raise StoreError(f"{path}: column {name} is {found}, and must be {known[0]}")


def _numbers(row: dict[str, Any]) -> dict[str, Any]:
    wide = {name for name in FINGERPRINTS if isinstance(row.get(name), bytes)}
    return row | {name: int.from_bytes(row[name], "big") for name in wide}


def _opened(path: Path) -> Any:
    pyarrow = _pyarrow()
    try:
        return pyarrow.parquet.ParquetFile(path)
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        if isinstance(error, OSError) and error.errno:  # it isn't there, or nobody may read it
            raise
        raise StoreError(f"{path} is no Parquet file: {_in_a_line(error)}") from error


def _in_a_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        how = "pip install 'simhash-pipeline[parquet]'"
        raise StoreError(f"Parquet needs pyarrow: {how}") from error
    return pyarrow
