"""How pages and fingerprints lie on Redis: names of keys, packed records and buckets.

    simhash:store                   hash: format, made_with
    simhash:namespaces              set of the namespaces that have or had pages
    simhash:run:<run>               there while the run lives
    simhash:{.<namespace>}head      hash: made_with as above, number of the newest page, structures
    simhash:{.<namespace>}pages     hash: id -> record of a kept page
    simhash:{.<namespace>}tentative hash: id -> the run that has not confirmed the page
    simhash:{.<namespace>}texts     hash: id -> title and text, stored or not
    simhash:{.<namespace>}visits    hash: what a dropped page's URL said, by `visit_key`
    simhash:{.<namespace>}repeated_text hash: host -> see repeated_text.py
    simhash:{.<namespace>}content:0:a3     hash of the first block's buckets a300-a3ff
       a310 -> rest ref, rest ref, ...     each distinct value, and its oldest page
    simhash:{.<namespace>}content:1:7f     hash of another block's buckets 7f00-7fff
       7f02 -> rest, rest, ...             each distinct value
    simhash:{.<namespace>}content:more:a3  sorted set of the further pages of such values
       value ref, value ref, ...       each a second time for its site, by a hash of site and value

What is in braces chooses the slot of a Cluster, so one script can read and write a namespace.
A ref is a page's number and id. The number is the time at which it was kept, in microseconds, and
higher than those before it in its namespace: refs of a value sort by age.

A value of 64 bits has four blocks of 16, as in neighbours.py, and each gives the two bytes that
choose a bucket: the rest are the other six. One case by hand, block 1 of 0123 4567 89ab cdef:

    packed, lowest byte first   ef cd ab 89 67 45 23 01
    block 1                           ab 89                hash 89, field ab
    rest                        ef cd       67 45 23 01

A record is the page's number, a salt that tells it from others of the same page, and the packed
page. A visit is its time (8 bytes) and what it said. A text has the time it was kept at (8 bytes),
the length of the page's URL (4), the URL, and the packed text. See contract.py.

Structures are indexed from when they are first asked for, as MATCH by content never does: head's
`structures` is 0 from then on, and 1 when the pages that were there are indexed too.

A digest, an address, an error page pattern and a row have one block and one bucket. A page that
declares its own URL as its address is found by its id. (Of a billion pages about one pair shares
the 64 bits of an id; the second is judged and not stored.)
"""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from simhash_pipeline.bits import packed_bits, refuse_other_distances
from simhash_pipeline.index.neighbours import BLOCKS, Near, nearest, position, probe_masks
from simhash_pipeline.stores import contract
from simhash_pipeline.stores.contract import MOST_NEAR, SAME_COLUMNS, PageText, StoredPage, Visit

PREFIX = b"simhash:"
STORE, FORMAT, MADE_WITH = PREFIX + b"store", b"format", b"made_with"
STRUCTURES, BEGUN, DONE = b"structures", b"0", b"1"
NAMESPACES = PREFIX + b"namespaces"
HASHES = 256  # of a block
KEY_SIZE, REST_SIZE = 2, 6  # of a value of 64 bits, in bytes
NUMBER_SIZE = 7
REF_SIZE = NUMBER_SIZE + contract.ID_SIZE
SALT_SIZE = 2

INDEXED = (*contract.NEAR_COLUMNS, *SAME_COLUMNS, "row_keys")  # the former have four blocks
ALWAYS_INDEXED = tuple(column for column in INDEXED if column != "structure")
TIME = struct.Struct(">d")  # of a text and a visit; EXPIRE reads it
_TEXT_HEAD = struct.Struct(">dI")  # a host may hold any character


def run_key(run: bytes) -> bytes:
    return PREFIX + b"run:" + run.hex().encode()


class Space:
    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self._tag = PREFIX + b"{." + quote(namespace, safe="").encode() + b"}"
        self.head = self._tag + b"head"
        self.pages = self._tag + b"pages"
        self.tentative = self._tag + b"tentative"
        self.texts = self._tag + b"texts"
        self.visits = self._tag + b"visits"
        self.repeated_text = self._tag + b"repeated_text"

    def buckets(self, column: str, block: int | str, number: int) -> bytes:
        """The hash of a block's buckets; the sorted set of further pages for block "more"."""
        return self._tag + f"{column}:{block}:{number:02x}".encode()

    def all(self) -> Iterator[bytes]:
        """The keys of all that pages brought: not the head."""
        yield from (self.pages, self.tentative, self.texts, self.visits, self.repeated_text)
        for column in INDEXED:
            for block in (*range(BLOCKS if column in contract.NEAR_COLUMNS else 1), "more"):
                yield from (self.buckets(column, block, number) for number in range(HASHES))


@dataclass(frozen=True)
class Record:
    """A page as it is stored."""

    page: StoredPage
    raw: bytes  # its number a salt that tells it from others of the page, the page
    run: bytes  # that has not confirmed it; b"" for none

    @cached_property
    def id(self) -> bytes:
        return contract.page_id(self.page.url)

    @property
    def number(self) -> int:
        return int.from_bytes(self.raw[:NUMBER_SIZE], "big")

    @property
    def ref(self) -> bytes:
        """What stands for it in buckets."""
        return self.raw[:NUMBER_SIZE] + self.id


class Place(NamedTuple):
    """A bucket, and what is in it for one value."""

    key: bytes  # of the hash
    field: bytes
    rest: bytes


class Entry(NamedTuple):
    """A value of a page, and its places by block."""

    value: bytes
    more: bytes  # key of the further pages
    places: tuple[Place, ...]
    of_site: bytes  # in place of the value, among the further pages of one site; b"" of a row


# Block, the bytes of its key, the bucket.
Probe = tuple[int, bytes, Place]


def changed(record: Record, **values: Any) -> bytes:
    """The record with other values of what isn't indexed."""
    packed = contract.packed_page(replace(record.page, **values))
    return record.raw[: NUMBER_SIZE + SALT_SIZE] + packed


def entries(space: Space, page: StoredPage, columns: Iterable[str]) -> Iterator[Entry]:
    """Where the page's values of these columns belong; not its own URL as its address."""
    for column in columns:
        value = getattr(page, column)
        if column == "row_keys":
            yield from (entry(space, column, key) for key in contract.each_row_key(value))
        elif value is not None and not (
            column == "address" and value == contract.page_id(page.url)
        ):
            yield entry(space, column, value, page.site)


def entry(space: Space, column: str, value: int | bytes, site: str | None = None) -> Entry:
    """Where a value belongs; ValueError when it is wider than 64 bits. Rows are of one site."""
    packed = value if isinstance(value, bytes) else packed_bits(value)
    blocks = range(BLOCKS if isinstance(value, int) else 1)
    places = tuple(_place(space, column, block, packed) for block in blocks)
    has_list = site is not None and column != "row_keys"
    of_site = contract.page_id(f"{packed.hex()} {site}") if has_list else b""
    return Entry(packed, space.buckets(column, "more", packed[KEY_SIZE - 1]), places, of_site)


def probes(space: Space, column: str, value: int | bytes, max_distance_bits: int) -> list[Probe]:
    """The buckets that can hold a neighbour; of bytes, as a digest, the one they are in."""
    if isinstance(value, bytes):
        return [(0, b"", entry(space, column, value).places[0])]
    refuse_other_distances(max_distance_bits)
    packed = packed_bits(value)
    found = []
    for block, masks in enumerate(probe_masks(KEY_SIZE * 8, max_distance_bits)):
        at = block * KEY_SIZE
        key = int.from_bytes(packed[at : at + KEY_SIZE], "little")
        for mask in masks:
            probed = (key ^ mask).to_bytes(KEY_SIZE, "little")
            other = packed[:at] + probed + packed[at + KEY_SIZE :]
            found.append((block, probed, _place(space, column, block, other)))
    return found


def near(value: int, max_distance_bits: int, buckets: Iterable[tuple[int, bytes, bytes]]) -> Near:
    """(value, distance) of the nearest 200 within the distance, of (block, key, bucket)."""
    parts = [_values(*bucket) for bucket in buckets if bucket[2]]
    return nearest(np.concatenate(parts), value, max_distance_bits, MOST_NEAR) if parts else []


def _values(block: int, key: bytes, bucket: bytes) -> NDArray[np.uint64]:
    at = block * KEY_SIZE
    beside = REF_SIZE if block == 0 else 0
    rests = np.frombuffer(bucket, np.uint8).reshape(-1, REST_SIZE + beside)
    rows = np.empty((len(rests), KEY_SIZE + REST_SIZE), np.uint8)
    rows[:, :at] = rests[:, :at]
    rows[:, at : at + KEY_SIZE] = np.frombuffer(key, np.uint8)
    rows[:, at + KEY_SIZE :] = rests[:, at:REST_SIZE]
    return rows.view("<u8").ravel().astype(np.uint64)


def pack_text(text: PageText) -> bytes:
    url = text.url.encode()
    return _TEXT_HEAD.pack(text.kept_at, len(url)) + url + contract.packed_text(text)


def pack_visit(visit: Visit) -> bytes:
    return TIME.pack(visit.seen_at) + visit.said


def unpack_visit(namespace: str, key: bytes, raw: bytes) -> Visit:
    return Visit(namespace, key, raw[TIME.size :], TIME.unpack_from(raw)[0])


def unpack_text(namespace: str, raw: bytes) -> PageText:
    kept_at, length = _TEXT_HEAD.unpack_from(raw)
    end = _TEXT_HEAD.size + length
    url = raw[_TEXT_HEAD.size : end].decode()
    return contract.unpacked_text(namespace, url, raw[end:], kept_at)


def ref_in(place: Place, bucket: bytes) -> bytes | None:
    """The ref beside a value in a bucket of the first block; None when no page has the value."""
    size = len(place.rest) + REF_SIZE
    at = position(bucket, place.rest, size)
    return None if at < 0 else bucket[at + len(place.rest) : at + size]


def _place(space: Space, column: str, block: int, packed: bytes) -> Place:
    at = block * KEY_SIZE
    key, rest = packed[at : at + KEY_SIZE], packed[:at] + packed[at + KEY_SIZE :]
    return Place(space.buckets(column, block, key[-1]), key[:-1], rest)
