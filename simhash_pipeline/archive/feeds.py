"""Feeds of Scrapy, JSON Lines, JSON or CSV, plain or .gz: reads pages, writes copies without some.

Text that isn't UTF-8 is passed on as bytes, which are decoded by the page's own charset.
"""

import codecs
import csv
import gzip
import json
import re
import zlib
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import msgspec

from simhash_pipeline.archive import Fault, Page, Record
from simhash_pipeline.errors import ArchiveError, PageError
from simhash_pipeline.items import with_values
from simhash_pipeline.options import Options
from simhash_pipeline.page.source import item_source

# The bytes of a row, and its item, None for a header, or a message for a row that can't be read.
Row: TypeAlias = tuple[bytes, Mapping[str, Any] | str | None]

CUT_SHORT = (EOFError, gzip.BadGzipFile, zlib.error)
_ARRAY_CHARS = 1 << 16  # of a JSON array that are looked at together
_ARRAY_BEGINS, _BETWEEN_ITEMS = re.compile(r"\s*\["), re.compile(r"[\s,]*")
# A row that is no JSON ends, as Scrapy writes them, before a line that begins one.
_NEXT_ROW = re.compile(r"\n[\t ,]*(?=\{)")
_MOST_DIGITS = 4_000  # of a number: Python refuses one of more
# Some exporters write tabs into strings.
_DECODER = json.JSONDecoder(strict=False, parse_int=lambda digits: int(digits[:_MOST_DIGITS]))
# Of a row, decompressed: twelve times the longest page that is read by default. A small .gz may
# hold a row that fills the memory.
MAX_ROW_BYTES = 64 << 20
TOO_LONG = f"it is longer than {MAX_ROW_BYTES >> 20} MB"


@dataclass(frozen=True, slots=True)
class Feed:
    """A file of items; `time_field` names the field that says when a page was fetched, if any."""

    path: Path
    options: Options
    time_field: str | None = None

    def read(self) -> Iterator[tuple[Record, float]]:
        number, size = 0, self.path.stat().st_size
        with self.path.open("rb") as file:
            items = (item for _, item in self._rows(file) if item is not None)
            try:
                for number, item in enumerate(items, 1):
                    page = item_page(item, f"item {number:,}", self.options, self.time_field)
                    yield page, file.tell() / size
            except CUT_SHORT as error:
                message = f"the file is cut short within it: {error}"
                yield Fault("truncated", message, f"item {number + 1:,}"), 1.0

    def copy(self, to: Path, without: Container[int]) -> None:
        """Copies the other rows byte for byte; an incomplete last one is left out."""
        opened = gzip.open if self.path.suffix == ".gz" else open
        is_array = feed_kind(self.path) == ".json"
        begins, between, ends = (b"[\n", b",\n", b"\n]\n") if is_array else (b"", b"", b"")
        number, before = 0, b""
        with self.path.open("rb") as file, opened(to, "wb") as target:
            target.write(begins)
            with suppress(*CUT_SHORT):
                for raw, item in self._rows(file):
                    number += item is not None
                    if item is None or number not in without:
                        target.write(before + raw)
                        before = between
            target.write(ends)

    def _rows(self, file: BinaryIO) -> Iterator[Row]:
        opened: Any = gzip.GzipFile(fileobj=file) if self.path.suffix == ".gz" else file
        rows = {".json": _array_rows, ".csv": _csv_rows}.get(feed_kind(self.path), _json_rows)
        return rows(opened, self.path)


def feed_kind(path: Path) -> str:
    """The suffix of the file's name, that before .gz."""
    return next((suffix for suffix in reversed(path.suffixes) if suffix != ".gz"), "")


def item_page(
    item: Mapping[str, Any] | str, place: str, options: Options, time_field: str | None
) -> Page | Fault:
    """The item's page, or the fault if it has none; a text is why its row can't be read."""
    if isinstance(item, str):
        return Fault("no_item", item, place)
    try:
        source = with_values(item_source(item, options), item, options)
    except PageError as error:
        return Fault(error.kind, str(error), place)
    fetched = None if time_field is None else _unix_seconds(item.get(time_field))
    return Page(source._replace(html=_original(source.html)), fetched)


def _json_rows(file: BinaryIO, _: Path) -> Iterator[Row]:
    for number, (line, is_whole) in enumerate(pieces(file)):
        if not is_whole:  # only the first piece of a line counts as an item
            yield line, None if is_whole is None else TOO_LONG
            continue
        text = _text_of(line, number)
        if not text or text.isspace():
            yield line, None
            continue
        try:
            item = _DECODER.decode(text)
            yield line, item if isinstance(item, dict) else "it is no JSON object"
        except (ValueError, RecursionError) as error:
            yield line, f"it is no JSON: {error}"


def _array_rows(file: BinaryIO, path: Path) -> Iterator[Row]:
    """The items of one JSON array; EOFError if it has no end, as after a crawl that was killed."""
    read = codecs.getreader("utf-8-sig")(file, "surrogateescape").read
    text = read(_ARRAY_CHARS)
    if (begins := _ARRAY_BEGINS.match(text)) is None:
        raise ArchiveError(f"{path} must be one JSON array; name a file of JSON Lines .jsonl")
    at = begins.end()
    while True:
        at = _BETWEEN_ITEMS.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing
        if text.startswith("]", at):
            # Of a feed that was written twice to one file there is one more.
            text = text[at + 1 :] + read(_ARRAY_CHARS)
            if (begins := _ARRAY_BEGINS.match(text)) is None:
                return
            at = begins.end()
            continue
        fault = "it is no JSON object"
        try:
            item, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            item, end, fault = None, len(text), f"it is no JSON: {error}"
        if end == len(text):  # perhaps not all of the item
            is_long = len(text) - at > MAX_ROW_BYTES
            if not is_long and (more := read(max(_ARRAY_CHARS, end - at))):
                text, at = text[at:] + more, 0
                continue
            if not isinstance(item, dict):
                fault = TOO_LONG if is_long else fault
                if (next_row := _NEXT_ROW.search(text, at)) is not None:
                    end = next_row.start()
                elif is_long:
                    yield b"", fault
                    return
                else:
                    raise EOFError(fault if at < end else "the array has no end")
        raw = text[at:end].rstrip("\t\n\r ,").encode("utf-8", "surrogateescape")
        yield raw, item if isinstance(item, dict) else fault
        at = end


def _csv_rows(file: BinaryIO, path: Path) -> Iterator[Row]:
    csv.field_size_limit(MAX_ROW_BYTES)  # csv's own limit is 131,072: a small page
    taken, size, is_rest = list[bytes](), 0, False  # the lines of a row; the rest of a long line

    def text_of(numbered: tuple[int, tuple[bytes, bool | None]]) -> str:
        nonlocal size, is_rest
        number, (line, is_whole) = numbered
        taken.append(line)
        size, is_rest = size + len(line), is_whole is None
        if not is_whole or size > MAX_ROW_BYTES:
            raise csv.Error(TOO_LONG)
        return _text_of(line, number)

    rows = csv.reader(map(text_of, enumerate(pieces(file))), strict=True)
    try:
        if not (names := next(rows, [])):
            raise csv.Error("it is empty")
    except csv.Error as error:
        raise ArchiveError(f"{path} has no header: {error}") from error
    item: Mapping[str, Any] | str | None = None
    while True:
        yield b"".join(taken), item
        taken.clear()
        size, item = 0, None
        try:
            if values := next(rows):
                # In CSV an empty field means that there is none.
                item = {name: value for name, value in zip(names, values, strict=True) if value}
        except StopIteration:
            return
        except csv.Error as error:
            item = None if is_rest else f"it is not a row of CSV: {error}"
        except ValueError:
            item = f"it has {len(values)} fields, the header {len(names)}"


def pieces(file: BinaryIO) -> Iterator[tuple[bytes, bool | None]]:
    """Lines, each with True; one that is too long in pieces: the first with False, then None."""
    is_inside = False
    while line := file.readline(MAX_ROW_BYTES):
        goes_on = len(line) == MAX_ROW_BYTES and not line.endswith(b"\n")
        yield line, None if is_inside else not goes_on
        is_inside = goes_on


def _text_of(line: bytes, number: int) -> str:
    """The text of a line; line number 0 may begin with a byte order mark."""
    return line.decode("utf-8-sig" if number == 0 else "utf-8", "surrogateescape")


def _original(html: bytes | str) -> bytes | str:
    """The original bytes of a text that isn't all UTF-8; any other page as it is."""
    if isinstance(html, bytes):
        return html
    try:
        html.encode()
    except UnicodeEncodeError:
        with suppress(UnicodeEncodeError):  # of a surrogate that JSON spelt out
            return html.encode("utf-8", "surrogateescape")
    return html


def _unix_seconds(moment: object) -> float | None:
    """The Unix time of a number, or of a date or time by RFC 3339; in UTC if it has no zone.

    None for other values, and for NaN and years after 9999 (milliseconds).
    """
    is_date = isinstance(moment, str) and "-" in moment and ":" not in moment
    try:  # datetime.fromisoformat of Python 3.10 reads no .5 seconds
        read = msgspec.convert(f"{moment}T00:00:00" if is_date else moment, datetime, strict=False)
        zoned = read if read.tzinfo else read.replace(tzinfo=timezone.utc)
        return zoned.astimezone(timezone.utc).timestamp()  # OverflowError before the year 1
    except (ValueError, OverflowError):
        return None
