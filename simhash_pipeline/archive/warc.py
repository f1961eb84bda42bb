"""WARC and WET files, plain or with a gzip member per record: reads pages, writes copies.

Each record is read from where it begins. After a damaged one, reading continues at the next place
that looks like the beginning of a record, so only damaged records are lost:

    | record 1 | record 2, cut short | record 3 |
    0          start                 end = next place that looks like a beginning
"""

import contextlib
import io
import re
import sys
import zlib
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from w3lib.encoding import http_content_type_encoding
from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader
from warcio.recordloader import ArcWarcRecordLoader
from warcio.timeutils import iso_date_to_datetime

from simhash_pipeline.archive import Fault, Page, Record, Skipped
from simhash_pipeline.errors import ArchiveError
from simhash_pipeline.page.pdf import reads_pdfs
from simhash_pipeline.page.source import Source

# Of which a crawl looks at the text for what it is, and how much of it.
_UNKNOWN_TYPES = frozenset(["", "*/*", "application/octet-stream", "application/unknown"])
_HTML_TYPES = ["text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"]
_PAGE_TYPES = _UNKNOWN_TYPES.union(_HTML_TYPES)
_LOOKS_LIKE_HTML = re.compile(rb"(?i)<html|<!doctype html")
_SNIFFED_BYTES = 5_000
TEXT_TYPE, PDF_TYPE = "text/plain", "application/pdf"
GZIP = b"\x1f\x8b\x08"
_GZIP_BITS = 16 + zlib.MAX_WBITS  # of zlib: with gzip's header
BEGINNING = b"WARC/"
GZIP_BEGINNING = re.compile(re.escape(GZIP))
PLAIN_BEGINNING = re.compile(rb"WARC/[0-9]+\.[0-9]+\r?\n")
MAX_HEADER_BYTES = 1 << 16
CONTENT_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*([0-9]{1,18})[ \t]*\r?$")
CUT_SHORT = "it ends before its Content-Length"
_ZSTD = b"\x28\xb5\x2f\xfd"  # what such data begins with
_CODED_BYTES = 1 << 16  # more than any coding adds to data that it can't make shorter
_MAX_CODINGS = 5  # as curl; of the last ones applied
_MAX_FRAMES = 1_000  # of a coded body, most of which have one
BLOCK_BYTES = 1 << 20
_OVERLAP = 64  # of two blocks that are searched


class _Loader(ArcWarcRecordLoader):  # type: ignore[misc]  # it has no type hints
    """warcio's loader without two assumptions: that HTTP records have a URL, and short headers.

    (It joins folded lines in quadratic time.)
    """

    def load_http_headers(self, rec_type: str, uri: str | None, stream: Any, length: int) -> Any:
        if uri is None:
            return None
        return super().load_http_headers(rec_type, uri, _ShortLines(stream), length)


class _Bytes:
    """A file's bytes by their places. Not mapped: who maps a file that is cut short is killed."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.size = file, size

    def read(self, start: int, length: int) -> bytes:
        self.file.seek(start)
        return self.file.read(length)

    def places(self, pattern: re.Pattern[bytes], start: int) -> Iterator[int]:
        """Where the pattern, of at most 64 bytes, is found from `start` on."""
        block = 512  # the next record begins near by in most cases
        while start < self.size and (found := self.read(start, block)):
            last = max(1, len(found) - _OVERLAP) if start + len(found) < self.size else len(found)
            yield from (
                start + each.start() for each in pattern.finditer(found) if each.start() < last
            )
            start, block = start + last, min(2 * block, BLOCK_BYTES)


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
    """Reads HTML responses with a status of 2xx, HTML resources, and texts; skips other records."""

    path: Path
    max_page_bytes: int = sys.maxsize >> 1  # a longer page is read to a byte more

    def read(self) -> Iterator[tuple[Record, float]]:
        size = self.path.stat().st_size
        return ((record, end / size) for record, _, end in self._records())

    def copy(self, to: Path, without: Container[int]) -> None:
        """Copies the other records byte for byte, the requests of all pages too."""
        with self.path.open("rb") as source, to.open("wb") as target:
            for number, (_, start, end) in enumerate(self._records(), 1):
                if number not in without:
                    source.seek(start)
                    left = end - start
                    while block := source.read(min(BLOCK_BYTES, left)):
                        left -= target.write(block)

    def _records(self) -> Iterator[tuple[Record, int, int]]:
        """The records, each with its first byte and that behind its last."""
        if not (size := self.path.stat().st_size):
            return
        with self.path.open("rb") as file:
            data = _Bytes(file, size)
            beginning = _next_beginning(data, 0)
            if beginning == size:
                raise ArchiveError(f"{self.path} is not a WARC file: no record begins in it")
            start = 0
            while beginning < size:
                record, length = self._record(data, beginning)
                end = beginning + length
                beginning = _next_beginning(data, end)
                if isinstance(record, Fault) or not data.read(end, beginning - end).strip():
                    end = beginning
                yield record, start, end
                if end < beginning:
                    yield _damaged("no record begins here", end), end, beginning
                start = beginning

    def _record(self, data: _Bytes, beginning: int) -> tuple[Record, int]:
        """The record that begins here, and the least number of its bytes."""
        header = b""  # of a plain file
        if data.read(beginning, len(GZIP)) != GZIP:
            header = data.read(beginning, MAX_HEADER_BYTES).partition(b"\r\n\r\n")[0]
        if PLAIN_BEGINNING.search(header, 1):
            return _damaged("its header is cut short", beginning), 1
        length = CONTENT_LENGTH.search(header)  # in a plain file; reading would find out slowly
        if length and int(length[1]) > data.size - beginning:
            return _damaged(CUT_SHORT, beginning), 1
        data.file.seek(beginning)
        iterator = ArchiveIterator(data.file)
        iterator.loader = _Loader(verify_http=False)
        try:
            # warcio prints damage to stderr.
            with contextlib.redirect_stderr(io.StringIO()):
                raw = next(iterator)
                record = self._read(raw, beginning)
                fault = self._fault(raw, iterator)
        except ArchiveError:
            raise
        except Exception as error:  # warcio raises all kinds for a broken header
            fault = " ".join(str(error).split()) or CUT_SHORT
        if fault is not None:
            return _damaged(fault, beginning), 1
        size: int = iterator.get_record_length()
        if size <= 0:  # else reading would go back, and never end
            return _damaged("it ends before it begins", beginning), 1
        return record, size

    def _read(self, raw: Any, at: int) -> Record:
        kind, headers = raw.rec_type, raw.rec_headers
        url = headers.get_header("WARC-Target-URI")
        if kind in ("response", "conversion", "resource") and not url:
            return Fault("no_url", "it has no WARC-Target-URI", f"byte {at:,}")
        is_response = kind == "response" and raw.http_headers is not None
        if not is_response and kind not in ("conversion", "resource"):
            return Skipped(kind or "no type")
        content_type = _named(raw, "content-type") if is_response else raw.content_type
        mime = re.split("[;,]", content_type or "")[0].strip().lower()
        wanted = {TEXT_TYPE} if kind == "conversion" else _PAGE_TYPES
        if mime not in wanted and not (mime == PDF_TYPE and reads_pdfs() and kind != "conversion"):
            return Skipped(mime or "no content type")
        if is_response and not (status := raw.http_headers.get_statuscode()).startswith("2"):
            return Skipped(f"status {status}")
        most = self.max_page_bytes + 1
        html = _body(raw, most) if is_response else raw.raw_stream.read(most)
        if mime in _UNKNOWN_TYPES and not _LOOKS_LIKE_HTML.search(html, 0, _SNIFFED_BYTES):
            return Skipped(mime or "no content type")
        source = Source(html, url, http_content_type_encoding(content_type))
        if kind == "conversion":  # a page's text, as WET files have it: the title in its first line
            text = html.decode("utf-8", "replace")
            source = Source(text, url, is_text=True, title=text.partition("\n")[0].strip())
        with contextlib.suppress(TypeError, ValueError):  # no date, or none that can be read
            date = iso_date_to_datetime(headers.get_header("WARC-Date"), tz_aware=True)
            return Page(source, float(date.timestamp()))
        return Page(source)

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


def _damaged(message: str, at: int) -> Fault:
    return Fault("damaged", message, f"byte {at:,}")


def _named(raw: Any, header: str) -> str:
    """The values of a header of the response, joined by commas."""
    fields = raw.http_headers.headers
    return ",".join(value.strip() for name, value in fields if name.lower() == header)


def _next_beginning(data: _Bytes, start: int) -> int:
    """Where the next record begins, at `start` or later; the end of the file if there is none."""
    if data.read(0, len(GZIP)) != GZIP:
        return next(data.places(PLAIN_BEGINNING, start), data.size)
    members = data.places(GZIP_BEGINNING, start)
    return next((member for member in members if _holds_record(data, member)), data.size)


def _holds_record(data: _Bytes, member: int) -> bool:
    try:
        first = zlib.decompressobj(_GZIP_BITS).decompress(data.read(member, 512), len(BEGINNING))
    except zlib.error:
        return False
    return first == BEGINNING


def _body(raw: Any, most: int) -> bytes:
    """At most `most` bytes of a response's body without its codings, of as much as there is.

    What isn't packed as its headers say stays as it is: archives often hold decoded pages under the
    server's headers. Errors of zlib and these packages for damage.
    """
    transfer = _named(raw, "transfer-encoding").lower()
    stream = ChunkedDataReader(raw.raw_stream) if "chunked" in transfer else raw.raw_stream
    codings = f"{_named(raw, 'content-encoding')},{transfer}".split(",")  # as they were applied
    names = [name.strip().lower().removeprefix("x-") for name in codings]
    known = [_UNPACK[name] for name in reversed(names) if name in _UNPACK][:_MAX_CODINGS]
    data: bytes = stream.read(most + _CODED_BYTES if known else most)
    for unpack in known:
        data = unpack(data, most)
    return data[:most]


def _in_frames(begins: bytes, decompressor: Callable[[], Any], data: bytes, most: int) -> bytes:
    found, rest = b"", data
    for _ in range(_MAX_FRAMES):  # each copies what is behind it
        if not rest.startswith(begins) or len(found) >= most:
            break
        frame = decompressor()
        found += bytes(frame.decompress(rest, most - len(found)))
        rest = frame.unused_data
    return found if data.startswith(begins) else data


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdDecompressor()


def _inflated(data: bytes, most: int) -> bytes:
    """With or without a header of zlib: servers send both."""
    for bits in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        with contextlib.suppress(zlib.error):
            return zlib.decompressobj(bits).decompress(data, most)
    return data


def _unbrotlied(data: bytes, most: int) -> bytes:
    import brotli

    unpacker = brotli.Decompressor()
    try:
        found: bytes = unpacker.process(data, output_buffer_limit=most)
    except brotli.error:
        return data
    while len(found) < most and not unpacker.can_accept_more_data():
        found += unpacker.process(b"", output_buffer_limit=most - len(found))
    return found


_UNPACK: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": partial(_in_frames, GZIP, partial(zlib.decompressobj, _GZIP_BITS)),
    "zstd": partial(_in_frames, _ZSTD, _zstd),
    "deflate": _inflated,
    "br": _unbrotlied,
}
