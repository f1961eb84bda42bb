"""WARC files in, plain or a gzip member a record: their HTML responses out; copies without some.

Each record is read by itself, from where it begins. Behind a damaged one reading goes on at the
next place that looks like a record's beginning, so damage costs only the records that it hit:

    | record 1 | record 2, cut short | record 3 |
    0          start                 end = next place that looks like a beginning
"""

from __future__ import annotations

import contextlib
import io
import mmap
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from w3lib.encoding import http_content_type_encoding
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]  # no type hints
from warcio.bufferedreaders import BufferedReader  # type: ignore[import-untyped]  # no type hints
from warcio.recordloader import ArcWarcRecordLoader  # type: ignore[import-untyped]  # no type hints
from warcio.timeutils import iso_date_to_datetime  # type: ignore[import-untyped]

from simhash_pipeline.archive.records import Fault, Page, Record, Skipped
from simhash_pipeline.errors import ArchiveError
from simhash_pipeline.page.source import Source

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path

HTML_TYPES = frozenset(["text/html", "application/xhtml+xml"])
GZIP = b"\x1f\x8b\x08"
BEGINNING = b"WARC/"
GZIP_BEGINNING = re.compile(re.escape(GZIP))
PLAIN_BEGINNING = re.compile(rb"WARC/[0-9]+\.[0-9]+\r?\n")
MAX_HEADER_BYTES = 1 << 16
CONTENT_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*([0-9]{1,18})[ \t]*\r?$")
CUT_SHORT = "it ends before its Content-Length"
BLOCK_BYTES = 1 << 20
# What records of one capture have in common: wget's response names its request, warcio's the other
# way round.
IDS = frozenset(["warc-record-id", "warc-concurrent-to"])


@dataclass(frozen=True, slots=True)
class _Found:
    """A record, its ids, and the bytes where it begins and where the next one does."""

    record: Record
    ids: tuple[str, ...]
    start: int
    end: int


class _Loader(ArcWarcRecordLoader):  # type: ignore[misc]  # it has no type hints
    """warcio's own, which takes every record of HTTP to have a URL, and headers to be short.

    (Lines that are folded it joins in a time that grows as their square.)
    """

    def load_http_headers(self, rec_type: str, uri: str | None, stream: Any, length: int) -> Any:
        if uri is None:
            return None
        return super().load_http_headers(rec_type, uri, _ShortLines(stream), length)


class _ShortLines:
    """The lines of a header; ValueError when they take more than 64 KB."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._left = MAX_HEADER_BYTES

    def readline(self) -> bytes:
        line: bytes = self._stream.readline(self._left)
        self._left -= len(line)
        if not self._left:
            raise ValueError(f"its HTTP header takes more than {MAX_HEADER_BYTES:,} bytes")
        return line


@dataclass(frozen=True, slots=True)
class WarcFile:
    """The responses of an HTML type with a status of 2xx; records of other kinds are skipped."""

    path: Path
    max_page_bytes: int | None = None  # what is longer isn't read to its end
    unit: ClassVar[str] = "B"

    def total(self) -> int:
        return self.path.stat().st_size

    def read(self) -> Iterator[tuple[Record, int]]:
        return ((found.record, found.end) for found in self._records())

    def copy(self, to: Path, without: Container[int]) -> None:
        """Byte for byte, damage too; with a page goes what was recorded beside it: its request."""
        gone = {
            name for each in self._records() if each.record.number in without for name in each.ids
        }
        with self.path.open("rb") as source, to.open("wb") as target:
            for each in self._records():
                is_beside = isinstance(each.record, Skipped) and not gone.isdisjoint(each.ids)
                if each.record.number not in without and not is_beside:
                    _copy(source, target, each.start, each.end)

    def _records(self) -> Iterator[_Found]:
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
                record, ids, length = self._record(data, beginning, number)
                end = beginning + length
                beginning = _next_beginning(data, end)
                if isinstance(record, Fault) or not data[end:beginning].strip():
                    end = beginning
                yield _Found(record, ids, start, end)
                if end < beginning:
                    number += 1
                    damaged = _damaged(number, "no record begins here", end)
                    yield _Found(damaged, (), end, beginning)
                start = beginning

    def _record(
        self, data: mmap.mmap, beginning: int, number: int
    ) -> tuple[Record, tuple[str, ...], int]:
        """The record that begins here, its ids, and how many bytes it takes at the least."""
        header = data[beginning : beginning + MAX_HEADER_BYTES].partition(b"\r\n\r\n")[0]
        if PLAIN_BEGINNING.search(header, 1):
            return _damaged(number, "its header is cut short", beginning), (), 1
        told = CONTENT_LENGTH.search(header)  # of a plain file's record; reading finds out, slowly
        if told and int(told[1]) > len(data) - beginning:
            return _damaged(number, CUT_SHORT, beginning), (), 1
        data.seek(beginning)
        iterator = ArchiveIterator(data)
        iterator.loader = _Loader(verify_http=False)
        try:
            # warcio tells of damage on stderr.
            with contextlib.redirect_stderr(io.StringIO()):
                raw = next(iterator)
                record, ids = self._read(raw, number, beginning), _ids(raw)
                fault = self._fault(raw, iterator)
        except ArchiveError:
            raise
        except Exception as error:  # warcio lets out whatever a broken header leads to
            fault = " ".join(str(error).split()) or type(error).__name__
        if fault is not None:
            return _damaged(number, fault, beginning), (), 1
        length: int = iterator.get_record_length()
        if length <= 0:  # or reading would go back, and never end
            return _damaged(number, "it ends before it begins", beginning), (), 1
        return record, ids, length

    def _read(self, raw: Any, number: int, at: int) -> Record:
        url = raw.rec_headers.get_header("WARC-Target-URI")
        if raw.rec_type == "response" and not url:
            return Fault(number, "no_url", "it has no WARC-Target-URI", f"byte {at:,}")
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

    def _fault(self, raw: Any, iterator: Any) -> str | None:
        """What is wrong with the length of a record; reads it to its end, and on to the next."""
        while raw.raw_stream.read(BLOCK_BYTES):
            pass
        if getattr(raw.raw_stream, "limit", 0):
            return CUT_SHORT
        iterator.read_to_end()
        if iterator.reader.decompressor and (iterator.next_line or b"").startswith(BEGINNING):
            raise ArchiveError(
                f"{self.path} is one stream of gzip, and must be a gzip member a record: "
                "`warcio recompress` makes it so"
            )
        return "it goes on behind its Content-Length" if iterator.err_count else None


def _damaged(number: int, message: str, at: int) -> Fault:
    return Fault(number, "damaged", message, f"byte {at:,}")


def _reads_brotli() -> bool:
    """Not where there is no brotli package, nor with one that warcio wants to give attributes."""
    try:
        BufferedReader.DECOMPRESSORS["br"]()
    except (KeyError, AttributeError):
        return False
    return True


def _ids(raw: Any) -> tuple[str, ...]:
    return tuple(value for name, value in raw.rec_headers.headers if name.lower() in IDS)


def _time(date: str | None) -> float | None:
    try:
        return float(iso_date_to_datetime(date, tz_aware=True).timestamp())
    except (TypeError, ValueError):
        return None


def _next_beginning(data: mmap.mmap, start: int) -> int:
    """Where the next record begins, here or later; the end of the file when none does."""
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
