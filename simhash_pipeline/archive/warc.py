"""WARC and WET files, plain or with a gzip member per record: reads pages, writes copies.

Each record is read from where it begins. After a damaged one, reading continues at the next place
that looks like the beginning of a record, so only damaged records are lost:

    | record 1 | record 2, cut short | record 3 |
    0          start                 end = next place that looks like a beginning
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from w3lib.encoding import http_content_type_encoding

from simhash_pipeline.archive import Fault, Page, Record, Skipped
from simhash_pipeline.archive.feeds import unix_seconds
from simhash_pipeline.errors import ArchiveError
from simhash_pipeline.page.pdf import reads_pdfs
from simhash_pipeline.page.source import Source

HTML_TYPES = frozenset(["text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"])
# Of which a crawl looks at the text for what it is, and how much of it.
_UNKNOWN_TYPES = frozenset(["", "*/*", "application/octet-stream", "application/unknown"])
_LOOKS_LIKE_HTML = re.compile(rb"(?i)<html|<!doctype html")
_SNIFFED_BYTES = 5_000
TEXT_TYPE, PDF_TYPE = "text/plain", "application/pdf"
GZIP = b"\x1f\x8b\x08"
BEGINNING = b"WARC/"
GZIP_BEGINNING = re.compile(re.escape(GZIP))
PLAIN_BEGINNING = re.compile(rb"WARC/[0-9]+\.[0-9]+\r?\n")
MAX_HEADER_BYTES = 1 << 16
CONTENT_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*([0-9]{1,18})[ \t]*\r?$")
CUT_SHORT = "it ends before its Content-Length"
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n")
_ZSTD = b"\x28\xb5\x2f\xfd"  # what such data begins with
_CODED_BYTES = 1 << 16  # more than any coding adds to data that it can't make shorter
_FILE_BYTES = 1 << 14  # of a file that are read together: about a record
BLOCK_BYTES = 1 << 20
_OVERLAP = 64  # of two blocks that are searched


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


class _Member:
    """What the gzip member holds that begins where the file is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._unpacker = file, zlib.decompressobj(16 + zlib.MAX_WBITS)

    def read(self, length: int) -> bytes:
        """So many of the next bytes, fewer at its end."""
        found, packed = bytearray(), b"."
        while len(found) < length and packed and not self._unpacker.eof:
            packed = self._unpacker.unconsumed_tail or self._file.read(_FILE_BYTES)
            found += self._unpacker.decompress(packed, length - len(found))
        return bytes(found)

    def end(self) -> int:
        """Its end in the file, where it was read to it; ValueError otherwise."""
        if not self._unpacker.eof:
            raise ValueError("its gzip member is cut short")
        return self._file.tell() - len(self._unpacker.unused_data)


@dataclass(frozen=True, slots=True)
class WarcFile:
    """Reads HTML responses with a status of 2xx, HTML resources, and texts; skips other records."""

    path: Path
    max_page_bytes: int = 1 << 40  # a longer page is read to a byte more
    unit: ClassVar[str] = "B"

    def total(self) -> int:
        return self.path.stat().st_size

    def read(self) -> Iterator[tuple[Record, int]]:
        return ((record, end) for record, _, end in self._records())

    def copy(self, to: Path, without: Container[int]) -> None:
        """Copies the other records byte for byte, the requests of all pages too."""
        with self.path.open("rb") as source, to.open("wb") as target:
            for record, start, end in self._records():
                if record.number not in without:
                    _copy(source, target, start, end)

    def _records(self) -> Iterator[tuple[Record, int, int]]:
        """The records, each with its first byte and that behind its last."""
        size = self.total()
        if not size:
            return
        with self.path.open("rb") as file:
            data = _Bytes(file, size)
            beginning = _next_beginning(data, 0)
            if beginning == size:
                raise ArchiveError(f"{self.path} is not a WARC file: no record begins in it")
            number, start = 0, 0
            while beginning < size:
                number += 1
                record, end = self._record(data, beginning, number)
                beginning = _next_beginning(data, end)
                if isinstance(record, Fault) or not data.read(end, beginning - end).strip():
                    end = beginning
                yield record, start, end
                if end < beginning:
                    number += 1
                    yield _damaged(number, "no record begins here", end), end, beginning
                start = beginning

    def _record(self, data: _Bytes, start: int, number: int) -> tuple[Record, int]:
        """The record that begins here, and the end of what is known to be of it."""
        try:
            fields, block, end = self._parts(data, start)
            return self._read(fields, block, number, start), end
        except ArchiveError:
            raise
        except Exception as error:  # zlib and zstd raise their own
            return _damaged(number, " ".join(str(error).split()), start), start + 1

    def _parts(self, data: _Bytes, start: int) -> tuple[dict[str, str], bytes, int]:
        """A record's header, the first bytes of its block, and its end; raises for damage."""
        is_packed = data.read(start, len(GZIP)) == GZIP
        data.file.seek(start)
        stream: Any = _Member(data.file) if is_packed else data.file
        first = stream.read(MAX_HEADER_BYTES)
        head, *rest = _BLANK_LINE.split(first, maxsplit=1)
        length = CONTENT_LENGTH.search(head)
        if not rest or length is None or PLAIN_BEGINNING.search(head, 1):
            raise ValueError("its header is damaged")
        (block,), size = rest, int(length[1])
        end = start + len(first) - len(block) + size  # of a plain file
        if not is_packed and end > data.size:  # reading would find out slowly
            raise ValueError(CUT_SHORT)
        most = min(size, 2 * self.max_page_bytes + MAX_HEADER_BYTES + _CODED_BYTES)
        block += stream.read(max(0, most - len(block)))
        left = size - len(block)
        while left > 0 and (skipped := stream.read(min(left, BLOCK_BYTES))):
            left -= len(skipped)
        if left > 0:
            raise ValueError(CUT_SHORT)
        after = block[size:] + stream.read(_OVERLAP)
        if is_packed and after.lstrip().startswith(BEGINNING):
            raise ArchiveError(
                f"{self.path} is one stream of gzip, and must have a gzip member for each record: "
                "`warcio recompress` does that"
            )
        if (after if is_packed else after[:2]).strip():
            raise ValueError("it is longer than its Content-Length")
        return _fields(head), block[:size], stream.end() if is_packed else end

    def _read(self, fields: dict[str, str], block: bytes, number: int, at: int) -> Record:
        kind, url = fields.get("warc-type", ""), fields.get("warc-target-uri", "").strip("<>")
        if kind in ("response", "conversion", "resource") and not url:
            return Fault(number, "no_url", "it has no WARC-Target-URI", f"byte {at:,}")
        is_response = kind == "response" and url.startswith(("http:", "https:"))
        if not is_response and kind not in ("resource", "conversion"):
            return Skipped(number, kind or "no type")
        status, http = "", fields
        if is_response:
            status, http, block = _response(block)
        content_type = http.get("content-type", "")
        mime = re.split("[;,]", content_type)[0].strip().lower()
        is_read = mime in HTML_TYPES | _UNKNOWN_TYPES or (mime == PDF_TYPE and reads_pdfs())
        if not (mime == TEXT_TYPE if kind == "conversion" else is_read):
            return Skipped(number, mime or "no content type")
        if is_response and not status.startswith("2"):
            return Skipped(number, f"status {status}")
        try:
            html = _body(block, http if is_response else {}, self.max_page_bytes + 1)
        except ImportError as error:
            needs = f"which needs {error.name}: pip install 'simhash-pipeline[archive]'"
            message = f"its Content-Encoding is {http.get('content-encoding')}, {needs}"
            return Fault(number, "encoding", message, f"byte {at:,}")
        if kind == "conversion":  # a page's text, as WET files have it, its title the first line
            text = html.decode("utf-8", "replace")
            source = Source(text, url, is_text=True, title=text.partition("\n")[0].strip())
        elif mime in _UNKNOWN_TYPES and not _LOOKS_LIKE_HTML.search(html, 0, _SNIFFED_BYTES):
            return Skipped(number, mime or "no content type")
        else:
            source = Source(html, url, http_content_type_encoding(content_type))
        return Page(number, source, unix_seconds(fields.get("warc-date")))


def _damaged(number: int, message: str, at: int) -> Fault:
    return Fault(number, "damaged", message, f"byte {at:,}")


def _fields(head: bytes) -> dict[str, str]:
    """The fields of a header by their names in small letters; values of one name with commas."""
    found: dict[str, str] = {}
    for line in re.sub(rb"\r?\n[ \t]+", b" ", head).splitlines()[1:]:
        name, colon, value = line.decode("utf-8", "replace").partition(":")
        if colon:
            key = name.strip().lower()
            found[key] = f"{found[key]},{value.strip()}" if key in found else value.strip()
    return found


def _response(block: bytes) -> tuple[str, dict[str, str], bytes]:
    """Status, header and body; ValueError for a header of more than 64 KB."""
    head, *body = _BLANK_LINE.split(block, maxsplit=1)
    if len(head) > MAX_HEADER_BYTES:
        raise ValueError(f"its HTTP header has more than {MAX_HEADER_BYTES:,} bytes")
    return b"".join(head.split(maxsplit=2)[1:2]).decode("latin-1"), _fields(head), b"".join(body)


def _next_beginning(data: _Bytes, start: int) -> int:
    """Where the next record begins, at `start` or later; the end of the file if there is none."""
    if data.read(0, len(GZIP)) != GZIP:
        return next(data.places(PLAIN_BEGINNING, start), data.size)
    members = data.places(GZIP_BEGINNING, start)
    return next((member for member in members if _holds_record(data, member)), data.size)


def _holds_record(data: _Bytes, member: int) -> bool:
    data.file.seek(member)
    with suppress(zlib.error):
        return _Member(data.file).read(len(BEGINNING)) == BEGINNING
    return False


def _copy(source: BinaryIO, target: BinaryIO, start: int, end: int) -> None:
    source.seek(start)
    while start < end and (block := source.read(min(BLOCK_BYTES, end - start))):
        start += target.write(block)


def _body(data: bytes, http: dict[str, str], most: int) -> bytes:
    """At most `most` bytes of a body without the codings of its header, of as much as there is.

    What isn't packed as the header says stays as it is: archives often hold decoded pages under
    the server's headers. ImportError for a coding that needs a package; its errors for damage.
    """
    transfer = http.get("transfer-encoding", "").lower()
    if "chunked" in transfer:
        data = _joined(data)
    names = f"{http.get('content-encoding', '')},{transfer}".lower().split(",")
    for name in reversed(names):
        data = _unpacked(name.strip().removeprefix("x-"), data, most)
    return data[:most]


def _joined(data: bytes) -> bytes:
    """The chunks of a body, and what isn't one."""
    found, at = [], 0
    while (chunk := _CHUNK.match(data, at)) and (size := int(chunk[1], 16)):
        found.append(data[chunk.end() : chunk.end() + size])
        at = chunk.end() + size + len(b"\r\n")
    return b"".join(found) + (b"" if chunk else data[at:])


def _unpacked(coding: str, data: bytes, most: int) -> bytes:
    """The data without this coding; as it is if that isn't known, or it isn't coded so."""
    begins, found = {"gzip": GZIP, "zstd": _ZSTD}.get(coding), b""
    if coding == "br":
        import brotli

        with suppress(brotli.error):
            return bytes(brotli.Decompressor().process(data, output_buffer_limit=most))
    elif coding == "deflate":  # with and without a header: servers send both
        for bits in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
            with suppress(zlib.error):
                return zlib.decompressobj(bits).decompress(data, most)
    elif begins and data.startswith(begins):
        while data.startswith(begins) and len(found) < most:
            frame = zlib.decompressobj(16 + zlib.MAX_WBITS) if coding == "gzip" else _zstd()
            found += frame.decompress(data, most - len(found))
            data = frame.unused_data
        return found
    return data


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdDecompressor()
