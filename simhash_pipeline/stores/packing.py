"""Stored pages and texts as bytes: on Redis both, in SQLite the texts.

    page    flags (2 bytes); compressed: the numbers that are always there and the lengths of texts,
            a line break, the texts; for each flag that is set the column's bytes, behind their
            number (2 bytes) if it has no width
    text    the number of the main text's characters, a blank and the title; a line break; the main
            text; what was left out of it: all compressed

A page that declares its own URL as its address, as most do, is flagged, and its address left out.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

from simhash_pipeline.bits import BITS
from simhash_pipeline.stores.contract import COLUMN_BITS, COLUMNS, PageText, StoredPage

ID_SIZE, FLAGS_SIZE, _LENGTH_SIZE = 8, 2, 2
_ALWAYS = [(one.name, one.type) for one in COLUMNS if not one.type.endswith("| None")]
_ALWAYS.remove(("namespace", "str"))  # it is in the key
_OPTIONAL = [(one.name, one.width) for one in COLUMNS if one.type.endswith("| None")]
_OWN_ADDRESS = 1 << len(_OPTIONAL)  # a flag
_WINDOW = -9  # of zlib: 512 bytes, and no header
# What many pages have in common, the commonest last. With it, and as the site stands in the URL, a
# third of what is compressed goes: of 1,044 pages 78 bytes each.
_COMMON = (
    b".htm.php/index.html/article/2024/02/blog/news/20content/page/category/en/.co.uk/.net/.org/.com/"
    b" 12 1700000000 1700000000 3f 0 3f\nhttps://www."
)


def packed_page(page: StoredPage) -> bytes:
    """The page, but for its namespace; ValueError if a fingerprint is too wide."""
    is_own = declares_itself(page)
    parts, flags = [], _OWN_ADDRESS if is_own else 0
    for flag, (name, width) in enumerate(_OPTIONAL):
        value = getattr(page, name)
        if value is None or (name == "address" and is_own):
            continue
        flags |= 1 << flag
        if width is None:
            parts.append(len(value).to_bytes(_LENGTH_SIZE, "little"))
        parts.append(packed_number(value, COLUMN_BITS[name]) if name in COLUMN_BITS else value)
    numbers, texts = [], []
    for name, kind in _ALWAYS:
        value = getattr(page, name)
        if kind == "str":
            texts.append(value)
            value = len(value)
        numbers.append(f"{value:.17g}" if kind == "float" else f"{value:x}")
    said = f"{' '.join(numbers)}\n{''.join(texts)}".encode("utf-8", "replace")
    packer = zlib.compressobj(wbits=_WINDOW, memLevel=1, zdict=_COMMON)
    head = flags.to_bytes(FLAGS_SIZE, "little")
    return b"".join([head, packer.compress(said), packer.flush(), *parts])


def unpacked_page(namespace: str, raw: bytes) -> StoredPage:
    """The page that was packed; zlib.error or ValueError for other bytes."""
    flags = int.from_bytes(raw[:FLAGS_SIZE], "little")
    unpacker = zlib.decompressobj(_WINDOW, _COMMON)
    numbers, _, said = unpacker.decompress(raw[FLAGS_SIZE:]).decode().partition("\n")
    rest = unpacker.unused_data
    values: dict[str, Any] = {"namespace": namespace}
    for (name, kind), number in zip(_ALWAYS, numbers.split(" "), strict=True):
        values[name] = float(number) if kind == "float" else int(number, 16)
        if kind == "str":
            values[name], said = said[: values[name]], said[values[name] :]
    for flag, (name, width) in enumerate(_OPTIONAL):
        values[name] = None
        if flags >> flag & 1:
            size = width
            if size is None:
                size = int.from_bytes(rest[:_LENGTH_SIZE], "little")
                rest = rest[_LENGTH_SIZE:]
            value, rest = rest[:size], rest[size:]
            values[name] = int.from_bytes(value, "little") if name in COLUMN_BITS else value
    if flags & _OWN_ADDRESS:
        values["address"] = page_id(values["url"])
    return StoredPage(**values)


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
