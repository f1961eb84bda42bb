"""HTTP's content codings: what a server packed a page with, perhaps one inside the other."""

from __future__ import annotations

import sys
import zlib
from io import BytesIO

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"  # what such data begins with
_CODED_BYTES = 1 << 16  # more than any coding adds to data that it can't make shorter


def unpacked(stream: BytesIO, codings: str, most: int) -> bytes:
    """At most `most` bytes of the page, of as much of it as there is.

    `codings` are the headers' names in the order in which they were applied. What isn't packed as
    they say stays as it is: archives often hold decoded pages under the server's headers.
    ImportError for one that needs a package; errors of these packages for damage.
    """
    names = [name.strip().lower().removeprefix("x-") for name in codings.split(",")]
    known = [_UNPACK[name] for name in reversed(names) if name in _UNPACK]
    data = stream.read(most + _CODED_BYTES if known else most)
    for unpack in known:
        data = unpack(data, most)
    return data[:most]


def _gunzipped(data: bytes, most: int) -> bytes:
    found, is_gzip = b"", data.startswith(_GZIP)
    while data.startswith(_GZIP) and len(found) < most:
        member = zlib.decompressobj(16 + zlib.MAX_WBITS)
        found += member.decompress(data, most - len(found))
        data = member.unused_data
    return found if is_gzip else data


def _inflated(data: bytes, most: int) -> bytes:
    """With or without a header of zlib: servers send both."""
    is_zlib = data[:1] == b"\x78" and int.from_bytes(data[:2], "big") % 31 == 0
    bits = zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS
    try:
        return zlib.decompressobj(bits).decompress(data, most)
    except zlib.error:
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


def _unzstandarded(data: bytes, most: int) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    found, rest = b"", data
    while rest.startswith(_ZSTD) and len(found) < most:
        frame = zstd.ZstdDecompressor()
        found += frame.decompress(rest, most - len(found))
        rest = frame.unused_data
    return found if data.startswith(_ZSTD) else data


_UNPACK = {"gzip": _gunzipped, "deflate": _inflated, "br": _unbrotlied, "zstd": _unzstandarded}
