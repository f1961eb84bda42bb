"""The rows of fingerprints that pages are grouped, judged and written by, made from records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import pyarrow as pa

from simhash_pipeline.archive.records import Fault, Page, StoredRecord
from simhash_pipeline.bits import SKETCH_BITS, fingerprint_hex
from simhash_pipeline.errors import PageError
from simhash_pipeline.judge import stored_page
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter
from simhash_pipeline.stores.contract import StoredPage
from simhash_pipeline.urls import page_key

WORD = (1 << 64) - 1
# Options that rows depend on besides those of the stamp.
ROWS_DEPEND_ON = (
    *("content_field", "html_field", "url_field", "max_page_bytes"),
    *("namespace", "min_tokens", "keep_text"),
)
SCHEMA = pa.schema(
    [
        ("position", pa.int64()),  # of the page among all pages of all inputs, from 0
        ("input", pa.int32()),  # of the inputs, from 0
        ("number", pa.int64()),  # of the record in its input, from 1
        ("url", pa.string()),
        ("key", pa.string()),  # canonical; null where the page can't be judged
        ("namespace", pa.string()),
        ("site", pa.string()),
        ("content", pa.string()),  # hex digits, as the other two; null for none
        ("structure", pa.string()),
        ("sketch", pa.string()),
        ("digest", pa.binary()),
        ("visible", pa.int64()),  # signed, as not every SQL has unsigned numbers
        ("sample", pa.binary()),  # of all visible text; of a store's page of its own text
        ("blocks", pa.list_(pa.int64())),  # of the sample; null of a store's page
        ("title", pa.string()),
        ("text", pa.string()),  # null unless texts are kept
        ("text_chars", pa.int64()),
        ("tokens", pa.int64()),
        ("is_canonical", pa.bool_()),  # whether its canonical link is to its own URL
        ("time", pa.float64()),  # Unix seconds: fetched, or first seen; null where it is unknown
        ("seen_at", pa.float64()),  # later than `time` where a store saw the page again
        ("fault", pa.string()),  # why it can't be judged
    ]
)


def fingerprint_rows(
    records: Iterable[tuple[int, int, Page | StoredRecord | Fault]], options: Options
) -> pa.Table:
    """A row for each (position, input, record). Raises OptionsError as `fingerprinter` does."""
    rows = [
        {"position": position, "input": source, "number": record.number, **_row(record, options)}
        for position, source, record in records
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def row_stamp(options: Options) -> dict[str, Any]:
    """The options that rows depend on, as JSON values; only rows with the same may be mixed."""
    return {**options.stamp(), **{name: getattr(options, name) for name in ROWS_DEPEND_ON}}


@cache
def fingerprinter(options: Options) -> Fingerprinter:
    """One per process, as it loads dictionaries. OptionsError if options name missing things."""
    return Fingerprinter(options)


def page_from_row(row: Mapping[str, Any], now: float = 0) -> StoredPage:
    """A row's page as the judge takes it; an unknown time is `now`."""
    visible = row["visible"]
    return StoredPage(
        url=row["key"],
        namespace=row["namespace"],
        site=row["site"],
        content=_number(row["content"]),
        structure=_number(row["structure"]),
        sketch=_number(row["sketch"]),
        digest=row["digest"],
        first_seen=int(now) if row["time"] is None else row["time"],
        seen_at=int(now) if row["seen_at"] is None else row["seen_at"],
        visible=None if visible is None else visible & WORD,
        sample=row["sample"],
    )


def _row(record: Page | StoredRecord | Fault, options: Options) -> dict[str, Any]:
    if isinstance(record, Fault):
        return {"fault": record.message}
    if isinstance(record, StoredRecord):
        known = record.page
        times = {"time": known.first_seen, "seen_at": known.seen_at}
        return {"url": known.url, **times, **_fingerprints(known, options.bits)}
    row: dict[str, Any] = {"url": _utf8(record.source.url), "time": record.time}
    reader = fingerprinter(options)  # outside `try`: wrong options are no fault of the page
    try:
        page = reader.read(record.source)
        stored = stored_page(record.source.url, page, options, record.time or 0)
    except PageError as error:
        return row | {"fault": str(error)}
    except Exception as error:  # an error in this package must not stop the job
        return row | {"fault": f"it can't be judged: {type(error).__name__}: {error}"}
    return {
        **row,
        **_fingerprints(stored, options.bits),
        "seen_at": record.time,
        "title": _utf8(page.title),
        "text": _utf8(page.text) if options.keep_text else None,
        "blocks": page.blocks,
        "text_chars": len(page.text),
        "tokens": page.tokens,
        "is_canonical": _is_own(page.canonical_url, stored.url),
    }


def _fingerprints(page: StoredPage, bits: int) -> dict[str, Any]:
    return {
        "key": _utf8(page.url),
        "namespace": page.namespace,
        "site": page.site,
        "content": fingerprint_hex(page.content, bits),
        "structure": fingerprint_hex(page.structure, bits),
        "sketch": fingerprint_hex(page.sketch, SKETCH_BITS),
        "digest": page.digest,
        "visible": None if page.visible is None else _signed(page.visible),
        "sample": page.sample,
    }


def _number(digits: str | None) -> int | None:
    return None if digits is None else int(digits, 16)


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def _is_own(canonical_url: str | None, key: str) -> bool:
    try:
        return canonical_url is not None and page_key(canonical_url) == key
    except PageError:
        return False


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
