"""The rows of fingerprints that pages are judged and written by, made on all cores from records.

The rows are in Parquet files, the parts, in a folder of their own.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from simhash_pipeline.archive import Fault, Input, Page, Skipped
from simhash_pipeline.bits import fingerprint_hex
from simhash_pipeline.errors import ArchiveError, PageError
from simhash_pipeline.item_values import said_by
from simhash_pipeline.judge import stored_page
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter
from simhash_pipeline.page.pdf import is_pdf
from simhash_pipeline.page.reader import Readers
from simhash_pipeline.page.titles import TITLE_CHARS
from simhash_pipeline.stores.contract import COLUMN_BITS, COLUMN_TYPES, COLUMNS, StoredPage
from simhash_pipeline.terminal import progress_bar
from simhash_pipeline.urls import page_key

# A record's position, its input, its number in that, and what it holds: see SCHEMA.
Numbered: TypeAlias = tuple[int, int, int, Page | StoredPage | Fault]

# A part takes seconds, so that a stopped run loses little, and several fit into memory.
PAGES_A_PART = 500
CHARS_A_PART = 32_000_000
# Of a stored column: fingerprints are hex digits.
_ARROW_TYPES = (pa.string(), pa.int64(), pa.float64(), pa.string(), pa.binary())
_TYPES = dict(zip(COLUMN_TYPES, _ARROW_TYPES, strict=True))
PARTS_AHEAD = 2  # for each core; reading further ahead would fill the memory
SCHEMA = pa.schema(
    [
        ("position", pa.int64()),  # of the page among all pages of all inputs, from 0
        ("input", pa.int32()),  # of the inputs, from 0
        ("number", pa.int64()),  # of the record in its input, from 1
        ("url", pa.string()),
        ("key", pa.string()),  # canonical; null where the page can't be judged
        *((one.name, _TYPES[one.type]) for one in COLUMNS if one.name != "url"),
        ("item_names", pa.list_(pa.string())),  # of what counts of its item, with other fields
        ("blocks", pa.list_(pa.int64())),  # of the page's sample; null of a store's page
        ("text", pa.string()),  # null unless texts are kept
        ("text_chars", pa.int64()),
        ("tokens", pa.int64()),
        ("is_canonical", pa.bool_()),  # whether its canonical link is to its own URL
        ("time", pa.float64()),  # Unix seconds: fetched, or first seen; null where it is unknown
        ("fault", pa.string()),  # why it can't be judged
    ]
)
_FIELDS = [one.name for one in COLUMNS]
STORED = ["key", *_FIELDS[1:]]  # the columns that hold them, in their order


@dataclass(slots=True)
class ReadSummary:
    """What the inputs hold."""

    pages: int = 0
    dropped: int = 0  # by now
    timed: int = 0  # pages with the time they were fetched
    skipped: Counter[str] = field(default_factory=Counter)  # records that aren't pages, by kind
    # With the input's name, and the record's number.
    faults: list[tuple[str, int, Fault]] = field(default_factory=list)


@contextmanager
def workers() -> Iterator[Executor]:
    """A process for each core; ArchiveError if one of them dies.

    Not forked: a fork of a process with threads may hang, and not every system forks. They don't
    see Scrapy's script, which each would import, and Scrapy with it: 47 MB and 0.3 s.
    """
    main = vars(sys.modules["__main__"])
    hidden = {each: main.get(each) for each in ("__file__", "__spec__") if is_scrapys_script()}
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


def leave_pandas_out() -> None:
    """Have pyarrow make columns of lists without pandas: that takes 57 MB and half a second.

    It asks once whether pandas is there; `to_pandas` imports it in any case.
    """
    if "pandas" not in sys.modules:
        sys.modules["pandas"] = None  # type: ignore[assignment]  # as Python has what is not there
        with suppress(Exception):
            pa.array([])
        del sys.modules["pandas"]


def is_scrapys_script() -> bool:
    """Whether the program is bin/scrapy, scrapy.exe/__main__.py or scrapy/__main__.py."""
    path = Path(getattr(sys.modules["__main__"], "__file__", None) or "")  # none in a notebook
    return (path.parent if path.stem == "__main__" else path).stem == "scrapy"


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def write_parts(
    pool: Executor,
    inputs: Mapping[str, Input],
    folder: Path,
    options: Options,
    reading: ReadSummary,
) -> Iterator[Path]:
    """The parts in their order, each when it is written; the next ones are worked at meanwhile.

    `reading` is filled.
    """
    at_work: deque[Future[Path]] = deque()
    for number, batch in enumerate(_batches(inputs, reading)):
        part = folder / f"part-{number:06}.parquet"
        at_work.append(pool.submit(_write_part, batch, part, options))
        if len(at_work) > PARTS_AHEAD * (os.cpu_count() or 1):
            yield at_work.popleft().result()
    while at_work:
        yield at_work.popleft().result()


def _batches(inputs: Mapping[str, Input], reading: ReadSummary) -> Iterator[list[Numbered]]:
    """The pages of all inputs in parts."""
    batch: list[Numbered] = []
    chars = 0
    for source, (name, archive) in enumerate(inputs.items()):
        for number, record in _records(name, archive, reading):
            batch.append((reading.pages, source, number, record))
            reading.pages += 1
            reading.timed += isinstance(record, StoredPage) or record.time is not None
            chars += len(record.source.html) if isinstance(record, Page) else 0
            if len(batch) == PAGES_A_PART or chars >= CHARS_A_PART:
                yield batch
                batch, chars = [], 0
    if batch or not reading.pages:  # an empty part still makes a table
        yield batch


def _records(
    name: str, archive: Input, reading: ReadSummary
) -> Iterator[tuple[int, Page | StoredPage]]:
    """An input's pages, with a progress bar where stderr is a terminal; the others are counted."""
    last = 0
    with progress_bar(archive.unit.strip(), archive.total(), Path(name).name) as advance:
        for number, (record, at) in enumerate(archive.read(), 1):
            drops = f", {reading.dropped:,} drops" if reading.dropped else ""
            advance(at - last, f"{reading.pages:,} pages{drops}")
            last = at
            if isinstance(record, Fault):
                reading.faults.append((name, number, record))
            elif isinstance(record, Skipped):
                reading.skipped[record.kind] += 1
            else:
                yield number, record


def _write_part(batch: list[Numbered], part: Path, options: Options) -> Path:
    pq.write_table(fingerprint_rows(batch, options), part, use_dictionary=False)  # all differ
    return part


def fingerprint_rows(records: Iterable[Numbered], options: Options) -> pa.Table:
    """A row for each record. Raises OptionsError as `fingerprinter` does."""
    rows = [
        {"position": position, "input": source, "number": number, **_row(record, options)}
        for position, source, number, record in records
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


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


def _row(record: Page | StoredPage | Fault, options: Options) -> dict[str, Any]:
    if isinstance(record, Fault):
        return {"fault": record.message}
    if isinstance(record, StoredPage):
        return {"url": record.shown_url, "time": record.first_seen, **_stored(record)}
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
    except Exception as error:  # an error in this package must not stop the job
        return row | {"fault": f"it can't be judged: {type(error).__name__}: {error}"}
    return {
        **row,
        **_stored(stored),
        "title": _utf8(page.title),
        "text": _utf8(page.text) if options.keep_text else None,
        "item_names": [_utf8(name) for name in said.names.values()],
        "blocks": page.blocks,
        "text_chars": len(page.text),
        "tokens": page.tokens,
        "is_canonical": _is_own(page.canonical_url, stored.url),
    }


def _stored(page: StoredPage) -> dict[str, Any]:
    """The columns of STORED."""
    values = (getattr(page, name) for name in _FIELDS)
    texts = (_utf8(value) if isinstance(value, str) else value for value in values)
    columns: dict[str, Any] = dict(zip(STORED, texts, strict=True))
    hex_digits = {name: fingerprint_hex(columns[name], bits) for name, bits in COLUMN_BITS.items()}
    return {**columns, **hex_digits}


def _is_own(canonical_url: str | None, key: str) -> bool:
    with suppress(PageError):
        return canonical_url is not None and page_key(canonical_url) == key
    return False


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
