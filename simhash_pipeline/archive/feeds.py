"""Feeds of Scrapy in, JSON Lines or CSV, plain or .gz: their items' pages out; copies without some.

What isn't UTF-8 goes on as the bytes it was, and the page's own charset tells what they mean.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import zlib
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, TypeAlias

import msgspec

from simhash_pipeline.archive.records import Fault, Page, Record
from simhash_pipeline.errors import ArchiveError, PageError
from simhash_pipeline.page.source import item_source

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping
    from pathlib import Path

    from simhash_pipeline.options import Options

    # The bytes that an item stood in, and the item; a header has none, what is broken a message.
    Row: TypeAlias = tuple[bytes, Mapping[str, Any] | str | None]

CUT_SHORT = (EOFError, gzip.BadGzipFile, zlib.error)
_SURROGATE = re.compile("[\ud800-\udfff]")
MAX_FIELD_CHARS = 1 << 30  # csv's own limit is 131,072: a small page


@dataclass(frozen=True, slots=True)
class Feed:
    """A file of items; `time_field` names the field that says when a page was fetched, if any."""

    path: Path
    options: Options
    time_field: str | None = None
    unit: ClassVar[str] = "B"

    def total(self) -> int:
        return self.path.stat().st_size

    def read(self) -> Iterator[tuple[Record, int]]:
        number = 0
        with self.path.open("rb") as file:
            try:
                for _, item in self._rows(file):
                    if item is None:
                        continue
                    number += 1
                    yield self._record(item, number), file.tell()
            except CUT_SHORT as error:
                message = f"the file is cut short within it: {error}"
                yield Fault(number + 1, "truncated", message, f"item {number + 1:,}"), file.tell()

    def copy(self, to: Path, without: Container[int]) -> None:
        """Byte for byte; what is cut short isn't copied."""
        number = 0
        opened = gzip.open if self._is_compressed else open
        with self.path.open("rb") as file, opened(to, "wb") as target:
            try:
                for raw, item in self._rows(file):
                    number += item is not None
                    if item is None or number not in without:
                        target.write(raw)
            except CUT_SHORT:
                return

    @property
    def _is_compressed(self) -> bool:
        return self.path.suffix == ".gz"

    def _rows(self, file: BinaryIO) -> Iterator[Row]:
        is_csv = feed_kind(self.path) == ".csv"
        lines = gzip.GzipFile(fileobj=file) if self._is_compressed else file
        return _csv_rows(lines, self.path) if is_csv else _json_rows(lines)

    def _record(self, item: Mapping[str, Any] | str, number: int) -> Record:
        place = f"item {number:,}"
        if isinstance(item, str):
            return Fault(number, "no_item", item, place)
        return item_page(item, number, place, self.options, self.time_field)


def feed_kind(path: Path) -> str:
    """How the file's name ends, but for .gz."""
    return next((suffix for suffix in reversed(path.suffixes) if suffix != ".gz"), "")


def item_page(
    item: Mapping[str, Any], number: int, place: str, options: Options, time_field: str | None
) -> Page | Fault:
    """The item's page, or what is wrong with it."""
    try:
        source = item_source(item, options)
    except PageError as error:
        return Fault(number, error.kind, str(error), place)
    fetched = None if time_field is None else _unix_seconds(item.get(time_field))
    return Page(number, source._replace(html=_original(source.html)), fetched)


def _json_rows(lines: Iterable[bytes]) -> Iterator[Row]:
    for number, line in enumerate(lines):
        text = _text_of(line, number)
        if not text or text.isspace():
            yield line, None
            continue
        try:
            item = json.loads(text)
        except (ValueError, RecursionError) as error:
            yield line, f"it is no JSON: {error}"
            continue
        yield line, item if isinstance(item, dict) else "it is no JSON object"


def _csv_rows(lines: Iterable[bytes], path: Path) -> Iterator[Row]:
    csv.field_size_limit(MAX_FIELD_CHARS)
    taken: list[bytes] = []
    rows = csv.reader(_text(lines, taken))
    try:
        names = next(rows, [])
    except csv.Error as error:
        raise ArchiveError(f"{path} has no header: it is no row of CSV: {error}") from error
    if not names:
        raise ArchiveError(f"{path} has no header, and no items")
    yield b"".join(taken), None
    while True:
        taken.clear()
        try:
            values = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield b"".join(taken), f"it is no row of CSV: {error}"
            continue
        if not values:
            yield b"".join(taken), None
        elif len(values) != len(names):
            yield b"".join(taken), f"it has {len(values)} fields, the header {len(names)}"
        else:
            # An empty field is how CSV tells of none.
            filled = {name: value for name, value in zip(names, values, strict=True) if value}
            yield b"".join(taken), filled


def _text(lines: Iterable[bytes], taken: list[bytes]) -> Iterator[str]:
    """The lines as text, each noted in `taken` as it is asked for."""
    for number, line in enumerate(lines):
        taken.append(line)
        yield _text_of(line, number)


def _text_of(line: bytes, number: int) -> str:
    """Of the line of this number, from 0; the first may begin with a byte order mark."""
    return line.decode("utf-8-sig" if number == 0 else "utf-8", "surrogateescape")


def _original(html: bytes | str) -> bytes | str:
    """The bytes of a text that could not all be read as UTF-8."""
    if isinstance(html, bytes) or not _SURROGATE.search(html):
        return html
    try:
        return html.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that JSON spelled out is no byte
        return html


def _unix_seconds(moment: object) -> float | None:
    """Of a number, or of a time or date as RFC 3339 spells it; in UTC where it doesn't tell.

    None for others, a number that is NaN or lies beyond the year 9999 (milliseconds) among them.
    """
    try:
        if isinstance(moment, str) and not moment.replace(".", "", 1).isdigit():
            midnight = "" if ":" in moment else "T00:00:00"
            # Python 3.10's own reads no .5 seconds.
            told = msgspec.convert(f"{moment}{midnight}", datetime)
            moment = (told if told.tzinfo else told.replace(tzinfo=timezone.utc)).timestamp()
        seconds = float(moment)  # type: ignore[arg-type]  # anything else is a TypeError
        datetime.fromtimestamp(seconds, timezone.utc)  # so that it can be written as a time
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return seconds
