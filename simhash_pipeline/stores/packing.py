"""Stored pages and texts as bytes, as Redis and the parts of an archive hold them.

    page    flags (2 bytes), title marks (8), first seen (8), seen at (8); for each flag that is
            set the field's bytes, a sample's after its length (2); site and title, each after its
            length (2); the URL
    text    the number of the main text's characters, a blank and the title; a line break; the main
            text; what was left out of it: all compressed

A page that declares its own URL as its address, as most do, is flagged, and its address left out.
"""

from __future__ import annotations

import hashlib
import struct
import zlib

from simhash_pipeline.bits import BITS, SKETCH_BITS
from simhash_pipeline.stores.contract import PageText, StoredPage

ID_SIZE = 8
_HEAD = struct.Struct(">HQdd")
_LENGTH = struct.Struct(">H")
_FIELDS = (
    *("content", "structure", "sketch", "digest", "story"),
    *("sample", "form", "fields", "address"),
)
_SIZES = {"sketch": 16}  # bytes; the others have 8
_NUMBERS = ("content", "structure", "sketch", "story")
_OWN_ADDRESS = 1 << len(_FIELDS)  # a flag


def packed_page(page: StoredPage) -> bytes:
    """The page, but for its namespace.

    ValueError if a fingerprint is too wide, struct.error if the site is longer than 64 KiB.
    """
    is_own = declares_itself(page)
    parts, flags = [], _OWN_ADDRESS if is_own else 0
    for flag, name in enumerate(_FIELDS):
        value = getattr(page, name)
        if value is None or (name == "address" and is_own):
            continue
        flags |= 1 << flag
        if name in _NUMBERS:
            value = packed_number(value, SKETCH_BITS if name == "sketch" else BITS)
        elif name == "sample":
            parts.append(_LENGTH.pack(len(value)))
        parts.append(value)
    for text in (page.site, page.title):
        packed = text.encode("utf-8", "replace")
        parts += [_LENGTH.pack(len(packed)), packed]
    head = _HEAD.pack(flags, page.title_marks, page.first_seen, page.seen_at)
    return b"".join([head, *parts, page.url.encode()])


def unpacked_page(namespace: str, raw: bytes) -> StoredPage:
    """The page that was packed; ValueError or struct.error for other bytes."""
    flags, marks, first_seen, seen_at = _HEAD.unpack_from(raw)
    at = _HEAD.size
    values: dict[str, int | bytes | None] = {}
    for flag, name in enumerate(_FIELDS):
        values[name] = None
        if not flags >> flag & 1:
            continue
        if name == "sample":
            (size,) = _LENGTH.unpack_from(raw, at)
            at += _LENGTH.size
        else:
            size = _SIZES.get(name, 8)
        value = raw[at : at + size]
        values[name] = int.from_bytes(value, "little") if name in _NUMBERS else value
        at += size
    texts = []
    for _ in range(2):
        (length,) = _LENGTH.unpack_from(raw, at)
        at += _LENGTH.size
        texts.append(raw[at : at + length].decode())
        at += length
    site, title = texts
    url = raw[at:].decode()
    if flags & _OWN_ADDRESS:
        values["address"] = page_id(url)
    return StoredPage(
        url,
        namespace,
        site,
        **values,  # type: ignore[arg-type]  # by the names of their fields
        first_seen=first_seen,
        seen_at=seen_at,
        title=title,
        title_marks=marks,
    )


def packed_number(value: int, bits: int = BITS) -> bytes:
    """The number, lowest byte first; ValueError when it is wider than `bits`."""
    if not 0 <= value < 1 << bits:
        raise ValueError(f"a fingerprint of {bits} bits can't be {value!r}")
    return value.to_bytes(bits // 8, "little")


def page_id(url: str) -> bytes:
    """8 bytes of a URL: the address of a page that declares no other (see `urls.address_of`).

    Among a billion pages about one pair shares them.
    """
    return hashlib.blake2b(url.encode(), digest_size=ID_SIZE).digest()


def declares_itself(page: StoredPage) -> bool:
    """Whether the page's address is its own URL's."""
    return page.address == page_id(page.url)


def packed_text(text: PageText) -> bytes:
    """Title and texts; lone surrogates become "?"."""
    title = " ".join(text.title.split())
    words = f"{len(text.text)} {title}\n{text.text}{text.left_out}"
    return zlib.compress(words.encode("utf-8", "replace"))


def unpacked_text(namespace: str, url: str, content: bytes, kept_at: float) -> PageText:
    """The text that was packed; zlib.error or ValueError if it is damaged."""
    first, _, words = zlib.decompress(content).decode("utf-8").partition("\n")
    length, _, title = first.partition(" ")
    end = int(length)
    return PageText(namespace, url, title, words[:end], kept_at, words[end:])
