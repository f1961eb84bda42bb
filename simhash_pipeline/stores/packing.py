"""Stored pages and texts as bytes: on Redis both, in SQLite the texts.

    page    flags (2 bytes); compressed: the lengths of URL and site, title marks, first seen, seen
            at, a line break, URL, site and title; for each flag that is set the field's bytes,
            of the item's values behind their length (2 bytes)
    text    the number of the main text's characters, a blank and the title; a line break; the main
            text; what was left out of it: all compressed

A page that declares its own URL as its address, as most do, is flagged, and its address left out.
"""

from __future__ import annotations

import hashlib
import zlib

from simhash_pipeline.bits import BITS, SKETCH_BITS
from simhash_pipeline.stores.contract import PageText, StoredPage

ID_SIZE, FLAGS_SIZE = 8, 2
_FIELDS = (
    *("content", "structure", "sketch", "digest", "story"),
    *("form", "item_text", "address", "item_values", "sample"),  # the sample takes the rest
)
_SIZES = {"sketch": 16, "sample": None}  # bytes; the others have 8
_NUMBERS = ("content", "structure", "sketch", "story")
_OWN_ADDRESS = 1 << len(_FIELDS)  # a flag
_WINDOW = -9  # of zlib: 512 bytes, and no header
# What many pages have in common, the commonest last. With it, and as the site stands in the URL, a
# third of what is compressed goes: of 1,044 pages 78 bytes each.
_COMMON = (
    b".htm.php/index.html/article/2024/02/blog/news/20content/page/category/en/.co.uk/.net/.org/.com/"
    b" 12 3f 17\nhttps://www."
)


def packed_page(page: StoredPage) -> bytes:
    """The page, but for its namespace; ValueError if a fingerprint is too wide."""
    is_own = declares_itself(page)
    parts, flags = [], _OWN_ADDRESS if is_own else 0
    for flag, name in enumerate(_FIELDS):
        value = getattr(page, name)
        if value is None or (name == "address" and is_own):
            continue
        flags |= 1 << flag
        if name in _NUMBERS:
            value = packed_number(value, SKETCH_BITS if name == "sketch" else BITS)
        if name == "item_values":
            value = len(value).to_bytes(2, "little") + value
        parts.append(value)
    seen = f"{page.first_seen:.17g} {page.seen_at:.17g}"
    numbers = f"{len(page.url)} {len(page.site)} {page.title_marks:x} {seen}"
    said = f"{numbers}\n{page.url}{page.site}{page.title}".encode("utf-8", "replace")
    packer = zlib.compressobj(wbits=_WINDOW, memLevel=1, zdict=_COMMON)
    head = flags.to_bytes(FLAGS_SIZE, "little")
    return b"".join([head, packer.compress(said), packer.flush(), *parts])


def unpacked_page(namespace: str, raw: bytes) -> StoredPage:
    """The page that was packed; zlib.error or ValueError for other bytes."""
    flags = int.from_bytes(raw[:FLAGS_SIZE], "little")
    unpacker = zlib.decompressobj(_WINDOW, _COMMON)
    numbers, _, said = unpacker.decompress(raw[FLAGS_SIZE:]).decode().partition("\n")
    url_size, site_size, marks, first_seen, seen_at = numbers.split(" ")
    site_at, title_at = int(url_size), int(url_size) + int(site_size)
    url = said[:site_at]
    values: dict[str, int | bytes | None] = dict.fromkeys(_FIELDS)
    rest = unpacker.unused_data
    for flag, name in enumerate(_FIELDS):
        if flags >> flag & 1:
            size = _SIZES.get(name, 8)
            if name == "item_values":
                size, rest = int.from_bytes(rest[:2], "little"), rest[2:]
            value, rest = rest[:size], rest[size:]
            values[name] = int.from_bytes(value, "little") if name in _NUMBERS else value
    if flags & _OWN_ADDRESS:
        values["address"] = page_id(url)
    return StoredPage(
        url,
        namespace,
        said[site_at:title_at],
        **values,  # type: ignore[arg-type]  # by the names of their fields
        first_seen=float(first_seen),
        seen_at=float(seen_at),
        title=said[title_at:],
        title_marks=int(marks, 16),
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
