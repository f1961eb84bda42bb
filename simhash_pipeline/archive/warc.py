"""WARC and WET files, plain or with a gzip member per record: reads pages, writes copies.

Each record is read from where it begins. After a damaged one, reading continues at the next place
that looks like the beginning of a record, so only damaged records are lost:

    | record 1 | record 2, cut short | record 3 |
    0          start                 end = next place that looks like a beginning
"""

from __future__ import annotations

import contextlib
import io
import mmap
import re
import zlib
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from w3lib.encoding import http_content_type_encoding
from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import BufferedReader
from warcio.recordloader import ArcWarcRecordLoader
from warcio.timeutils import iso_date_to_datetime

from simhash_pipeline.archive import Fault, Page, Record, Skipped
from simhash_pipeline.errors import ArchiveError
from simhash_pipeline.page.source import Source

HTML_TYPES = frozenset(["text/html", "application/xhtml+xml"])
TEXT_TYPE = "text/plain"
GZIP = b"\x1f\x8b\x08"
BEGINNING = b"WARC/"
GZIP_BEGINNING = re.compile(re.escape(GZIP))
PLAIN_BEGINNING = re.compile(rb"WARC/[0-9]+\.[0-9]+\r?\n")
MAX_HEADER_BYTES = 1 << 16
CONTENT_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*([0-9]{1,18})[ \t]*\r?$")
CUT_SHORT = "it ends before its Content-Length"
BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class _Located:
    """A record and its place: the bytes from `start` up to `end`."""

    record: Record
    start: int
    end: int


class _Loader(ArcWarcRecordLoader):  # type: ignore[misc]  # it has no type hints
    """warcio's loader without two assumptions: that HTTP records have a URL, and short headers.

    (It joins folded lines in quadratic time.)
    """

    def load_http_headers(self, rec_type: str, uri: str | None, stream: Any, length: int) -> Any:
        if uri is None:
            return None
        return super().load_http_headers(rec_type, uri, _ShortLines(stream), length)


class _ShortLines:
    """The lines of a header; ValueError if it has more than 64 KB."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._left = MAX_HEADER_BYTES

    def readline(self) -> bytes:
        line: bytes = self._stream.readline(self._left)
        self._left -= len(line)
        if not self._left:
            raise ValueError(f"its HTTP header has more than {MAX_HEADER_BYTES:,} bytes")
        return line


@dataclass(frozen=True, slots=True)
class WarcFile:
    """Reads HTML responses with a status of 2xx, and texts made of such; skips other records."""

    path: Path
    max_page_bytes: int | None = None  # a longer page is read to a byte more
    unit: ClassVar[str] = "B"

    def total(self) -> int:
        return self.path.stat().st_size

    def read(self) -> Iterator[tuple[Record, int]]:
        return ((found.record, found.end) for found in self._records())

    def copy(self, to: Path, without: Container[int]) -> None:
        """Copies the other records byte for byte, the requests of all pages too."""
        with self.path.open("rb") as source, to.open("wb") as target:
            for each in self._records():
                if each.record.number not in without:
                    _copy(source, target, each.start, each.end)

    def _records(self) -> Iterator[_Located]:
        size = self.total()
        if not size:
            return
        with (
            self.path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            beginning = _next_beginning(data, 0)
            if beginning == size:
                raise ArchiveError(f"{self.path} is no WARC file: no record begins in it")
            number, start = 0, 0
            while beginning < size:
                number += 1
                record, length = self._record(data, beginning, number)
                end = beginning + length
                beginning = _next_beginning(data, end)
                if isinstance(record, Fault) or not data[end:beginning].strip():
                    end = beginning
                yield _Located(record, start, end)
                if end < beginning:
                    number += 1
                    damaged = _damaged(number, "no record begins here", end)
                    yield _Located(damaged, end, beginning)
                start = beginning

    def _record(self, data: mmap.mmap, beginning: int, number: int) -> tuple[Record, int]:
        """The record that begins here, and the least number of its bytes."""
        header = data[beginning : beginning + MAX_HEADER_BYTES].partition(b"\r\n\r\n")[0]
        if PLAIN_BEGINNING.search(header, 1):
            return _damaged(number, "its header is cut short", beginning), 1
        length = CONTENT_LENGTH.search(header)  # in a plain file; reading would find out slowly
        if length and int(length[1]) > len(data) - beginning:
            return _damaged(number, CUT_SHORT, beginning), 1
        data.seek(beginning)
        iterator = ArchiveIterator(data)
        iterator.loader = _Loader(verify_http=False)
        try:
            # warcio prints damage to stderr.
            with contextlib.redirect_stderr(io.StringIO()):
                raw = next(iterator)
                record = self._read(raw, number, beginning)
                fault = self._fault(raw, iterator)
        except ArchiveError:
            raise
        except Exception as error:  # warcio raises all kinds for a broken header
            fault = " ".join(str(error).split()) or type(error).__name__
        if fault is not None:
            return _damaged(number, fault, beginning), 1
        size: int = iterator.get_record_length()
        if size <= 0:  # else reading would go back, and never end
            return _damaged(number, "it ends before it begins", beginning), 1
        return record, size

    def _read(self, raw: Any, number: int, at: int) -> Record:
        url = raw.rec_headers.get_header("WARC-Target-URI")
        if raw.rec_type in ("response", "conversion") and not url:
            return Fault(number, "no_url", "it has no WARC-Target-URI", f"byte {at:,}")
        if raw.rec_type == "conversion":
            return self._text(raw, number, url)
        if raw.rec_type != "response" or raw.http_headers is None:
            return Skipped(number, raw.rec_type or "no type")
        content_type = raw.http_headers.get_header("Content-Type") or "no content type"
        mime = content_type.partition(";")[0].strip().lower()
        if mime not in HTML_TYPES:
            return Skipped(number, mime)
        status = raw.http_headers.get_statuscode()
        if not status.startswith("2"):
            return Skipped(number, f"status {status}")
        encoding = (raw.http_headers.get_header("Content-Encoding") or "").strip().lower()
        if encoding == "br" and not _reads_brotli():
            message = "its Content-Encoding is br, which warcio can't decode here"
            return Fault(number, "encoding", message, f"byte {at:,}")
        charset = http_content_type_encoding(content_type)
        most = None if self.max_page_bytes is None else self.max_page_bytes + 1
        source = Source(raw.content_stream().read(most), url, charset)
        return Page(number, source, _time(raw.rec_headers.get_header("WARC-Date")))

    def _text(self, raw: Any, number: int, url: str) -> Record:
        """A page's text, as WET files have it: UTF-8, the title in its first line."""
        mime = (raw.content_type or "no content type").partition(";")[0].strip().lower()
        if mime != TEXT_TYPE:
            return Skipped(number, mime)
        most = None if self.max_page_bytes is None else self.max_page_bytes + 1
        text = raw.content_stream().read(most).decode("utf-8", "replace")
        title = text.partition("\n")[0].strip()
        source = Source(text, url, is_text=True, title=title)
        return Page(number, source, _time(raw.rec_headers.get_header("WARC-Date")))

    def _fault(self, raw: Any, iterator: Any) -> str | None:
        """What is wrong with the record's length; reads to its end, and to the next record."""
        while raw.raw_stream.read(BLOCK_BYTES):
            pass
        if getattr(raw.raw_stream, "limit", 0):
            return CUT_SHORT
        iterator.read_to_end()
        if iterator.reader.decompressor and (iterator.next_line or b"").startswith(BEGINNING):
            raise ArchiveError(
                f"{self.path} is one stream of gzip, and must have a gzip member for each record: "
                "`warcio recompress` does that"
            )
        return "it is longer than its Content-Length" if iterator.err_count else None


def _damaged(number: int, message: str, at: int) -> Fault:
    return Fault(number, "damaged", message, f"byte {at:,}")


def _reads_brotli() -> bool:
    """False without a brotli package, or with one that warcio can't use."""
    try:
        BufferedReader.DECOMPRESSORS["br"]()
    except (KeyError, AttributeError):
        return False
    return True


def _time(date: str | None) -> float | None:
    try:
        return float(iso_date_to_datetime(date, tz_aware=True).timestamp())
    except (TypeError, ValueError):
        return None


def _next_beginning(data: mmap.mmap, start: int) -> int:
    """Where the next record begins, at `start` or later; the end of the file if there is none."""
    if data[: len(GZIP)] != GZIP:
        found = PLAIN_BEGINNING.search(data, start)
        return len(data) if found is None else found.start()
    members = (found.start() for found in GZIP_BEGINNING.finditer(data, start))
    return next((member for member in members if _holds_record(data, member)), len(data))


def _holds_record(data: mmap.mmap, member: int) -> bool:
    try:
        first = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(
            data[member : member + 512], len(BEGINNING)
        )
    except zlib.error:
        return False
    return first == BEGINNING


def _copy(source: BinaryIO, target: BinaryIO, start: int, end: int) -> None:
    source.seek(start)
    while start < end:
        start += target.write(source.read(min(BLOCK_BYTES, end - start)))
