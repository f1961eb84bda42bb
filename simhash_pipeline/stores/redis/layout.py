"""How pages and fingerprints lie on Redis: names of keys, packed buckets, records and claims.

    simhash:{<namespace>:content:0:a3}       hash of the first block's buckets a300-a3ff
       a310 -> rest ref, rest ref, ...       each distinct value, and a page that has it
    simhash:{<namespace>:content:0:a3}more:<value>       further pages of the value, by ticket
    simhash:{<namespace>:content:1:7f}       hash of another block's buckets 7f00-7fff
       7f02 -> count, rest, rest, ...        count of appends (4 bytes), each distinct value
    simhash:{<namespace>:page:c4}pages       id -> record of a kept page
    simhash:{<namespace>:page:c4}claims      id -> claim, while somebody works on the page
    simhash:{<namespace>:page:c4}tentative   id -> run, until the run has confirmed the page
    simhash:{<namespace>:page:c4}texts       id -> what the page said, stored or not; see texts.py
    simhash:{<namespace>:furniture}          set of the sites whose furniture is known
    simhash:{<namespace>:furniture}<site>    set of the site's furniture, blocks of 4 bytes

A value of 64 bits has four blocks of 16, as in neighbours.py, and each gives the two bytes that
choose a bucket: the rest are the other six. One case by hand, block 1 of 0123 4567 89ab cdef:

    packed, lowest byte first   ef cd ab 89 67 45 23 01
    block 1                           ab 89                hash 89, number ab
    rest                        ef cd       67 45 23 01

A digest has one block and one bucket. What stands in braces chooses the slot of a Cluster.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import numpy as np

from simhash_pipeline.bits import refuse_other_distances
from simhash_pipeline.index.neighbours import BLOCKS, probe_masks
from simhash_pipeline.stores.contract import Column, StoredPage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

PREFIX = b"simhash:"
PAGE_HASHES = 256
MAX_KEY_BYTES = 2
SKETCH_SIZE = 16  # and a digest's
# A page is known by 64 bits of its key's hash: among a billion, about one pair shares them, of
# which the second is judged and not stored.
ID_SIZE = 8
SALT_SIZE = 2
REF_SIZE = ID_SIZE + SALT_SIZE
COUNT_SIZE = 4

JUDGING, LEAVING = b"j", b"l"
RUN_SIZE = 8
LOST = b"lost"  # the run of a page whose own has died, which nobody can confirm
HOLDER = struct.Struct(">8sI")  # run, number of its claim
_LENGTH = struct.Struct(">H")
# Flags, salt, then at offset 3 the ticket (0: none yet), first_seen and seen_at.
_HEAD = struct.Struct(f">B{SALT_SIZE}sQdd")
_FIELDS = ("content", "structure", "sketch", "digest", "visible", "sample")
_VISIBLE_SIZE = 8


class PageHashes(NamedTuple):
    """Keys of the hashes that tell of the pages whose ids begin with the same byte."""

    pages: bytes
    claims: bytes
    tentative: bytes
    texts: bytes


@dataclass(frozen=True, slots=True)
class Record:
    """A page with its ticket, and the salt that tells its entries from others of the same URL."""

    page: StoredPage
    ticket: int
    salt: bytes

    @property
    def ref(self) -> bytes:
        """What stands for it in buckets."""
        return page_id(self.page.url) + self.salt


@dataclass(frozen=True, slots=True)
class Claim:
    """Who works on a page: judges it, or removes the entries of records that have gone."""

    state: bytes  # JUDGING or LEAVING
    holder: bytes  # unique to an attempt; begins with the run
    records: tuple[Record, ...]

    @property
    def run(self) -> bytes:
        return self.holder[:RUN_SIZE]

    @property
    def head(self) -> bytes:
        """What it begins with when packed; enough for a script to know it by."""
        return self.state + self.holder


@dataclass(frozen=True, slots=True)
class Place:
    """A bucket, and what stands in it for one value."""

    key: bytes  # of the hash
    number: bytes
    rest: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """A value of a page, and its places by block."""

    places: tuple[Place, ...]
    more: bytes  # key of the further pages


# Block, the bytes of its key, the bucket.
Probe = tuple[int, bytes, Place]


class Layout:
    """Packs and unpacks for a store whose fingerprints have so many bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self._size = bits // 8
        self._sizes = {"content": self._size, "structure": self._size, "visible": _VISIBLE_SIZE}
        self._sizes |= {"sketch": SKETCH_SIZE, "digest": SKETCH_SIZE}
        self._word = np.dtype("<u4" if bits == 32 else "<u8")

    def pack(self, record: Record) -> bytes:
        """ValueError when a fingerprint is wider than `bits`, or the site longer than 64 KiB."""
        page, parts, flags = record.page, [], 0
        for flag, name in enumerate(_FIELDS):
            value = getattr(page, name)
            if value is not None:
                flags |= 1 << flag
                if name == "sample":
                    parts.append(_LENGTH.pack(len(value)))
                parts.append(value if isinstance(value, bytes) else self._packed(name, value))
        head = _HEAD.pack(flags, record.salt, record.ticket, page.first_seen, page.seen_at)
        site = page.site.encode()
        return b"".join([head, *parts, _LENGTH.pack(len(site)), site, page.url.encode()])

    def unpack(self, namespace: str, packed: bytes) -> Record:
        """ValueError or struct.error when it is no record."""
        flags, salt, ticket, first_seen, seen_at = _HEAD.unpack_from(packed)
        at = _HEAD.size
        values: dict[str, int | bytes | None] = {}
        for flag, name in enumerate(_FIELDS):
            values[name] = None
            if not flags >> flag & 1:
                continue
            size = self._sizes.get(name, 0)
            if name == "sample":
                (size,) = _LENGTH.unpack_from(packed, at)
                at += _LENGTH.size
            raw = packed[at : at + size]
            values[name] = raw if name in ("digest", "sample") else _number(raw)
            at += size
        (length,) = _LENGTH.unpack_from(packed, at)
        at += _LENGTH.size
        site, url = packed[at : at + length].decode(), packed[at + length :].decode()
        page = StoredPage(url, namespace, site, **values, first_seen=first_seen, seen_at=seen_at)  # type: ignore[arg-type]  # by the names of their fields
        return Record(page, ticket, salt)

    def pack_claim(self, claim: Claim) -> bytes:
        parts = [claim.head]
        for record in claim.records:
            packed = self.pack(record)
            parts += [len(packed).to_bytes(4, "little"), packed]
        return b"".join(parts)

    def unpack_claim(self, namespace: str, packed: bytes) -> Claim:
        at, records = 1 + HOLDER.size, []
        holder = packed[1:at]
        while at < len(packed):
            end = at + 4 + _number(packed[at : at + 4])
            records.append(self.unpack(namespace, packed[at + 4 : end]))
            at = end
        return Claim(packed[:1], holder, tuple(records))

    def entries(self, page: StoredPage) -> Iterator[Entry]:
        """Where the page's fingerprints and digest belong."""
        columns: tuple[Column, ...] = ("content", "structure", "digest")
        for column in columns:
            value = getattr(page, column)
            if value is not None:
                yield self.entry(page.namespace, column, value)

    def entry(self, namespace: str, column: Column, value: int | bytes) -> Entry:
        """Where a value belongs; ValueError when it is wider than `bits`."""
        packed = value if isinstance(value, bytes) else self._packed(column, value)
        blocks = range(BLOCKS if isinstance(value, int) else 1)
        places = tuple(_place(namespace, column, block, len(blocks), packed) for block in blocks)
        return Entry(places, places[0].key + b"more:" + packed)

    def probes(
        self, namespace: str, column: Column, value: int, max_distance_bits: int
    ) -> list[Probe]:
        """The buckets that can hold a neighbour, that of the value's own first block first."""
        refuse_other_distances(max_distance_bits)
        packed = self._packed(column, value)
        size = _key_bytes(len(packed), BLOCKS)
        found = []
        for block, masks in enumerate(probe_masks(size * 8, max_distance_bits)):
            at = block * len(packed) // BLOCKS
            key = int.from_bytes(packed[at : at + size], "little")
            for mask in masks:
                probed = (key ^ mask).to_bytes(size, "little")
                other = packed[:at] + probed + packed[at + size :]
                found.append((block, probed, _place(namespace, column, block, BLOCKS, other)))
        return found

    def near(
        self, value: int, max_distance_bits: int, buckets: Iterable[tuple[int, bytes, bytes]]
    ) -> list[tuple[int, int]]:
        """(value, distance) within the distance, nearest first, of (block, key, bucket)."""
        parts = [self._rows(*bucket) for bucket in buckets if bucket[2]]
        if not parts:
            return []
        rows = np.concatenate(parts)
        needle = np.frombuffer(value.to_bytes(self._size, "little"), self._word)
        distances = np.bitwise_count(rows.view(self._word) ^ needle).sum(axis=1)
        hits = (distances <= max_distance_bits).nonzero()[0].tolist()
        near = {_number(rows[hit].tobytes()): int(distances[hit]) for hit in hits}
        return sorted(near.items(), key=lambda pair: pair[1])

    def first_ref(self, entry: Entry, bucket: bytes) -> bytes | None:
        """The ref beside the value in its first bucket; None when no page has it."""
        rest = entry.places[0].rest
        for at in range(0, len(bucket), len(rest) + REF_SIZE):
            if bucket.startswith(rest, at):
                return bucket[at + len(rest) : at + len(rest) + REF_SIZE]
        return None

    def _rows(self, block: int, key: bytes, bucket: bytes) -> NDArray[np.uint8]:
        """The bucket's values, a row of bytes each, lowest first."""
        first, beside = (0, REF_SIZE) if block == 0 else (COUNT_SIZE, 0)
        at = block * self._size // BLOCKS
        packed = np.frombuffer(bucket, np.uint8, offset=first)
        rests = packed.reshape(-1, self._size - len(key) + beside)
        rows = np.empty((len(rests), self._size), np.uint8)
        rows[:, :at] = rests[:, :at]
        rows[:, at : at + len(key)] = np.frombuffer(key, np.uint8)
        rows[:, at + len(key) :] = rests[:, at : self._size - len(key)]
        return rows

    def _packed(self, column: str, value: int) -> bytes:
        bits = 8 * self._sizes[column]
        if not 0 <= value < 1 << bits:
            raise ValueError(f"a fingerprint of {bits} bits can't be {value!r}")
        return value.to_bytes(bits // 8, "little")


def page_id(url: str) -> bytes:
    """What a page is known by within its namespace."""
    return hashlib.blake2b(url.encode(), digest_size=ID_SIZE).digest()


def page_hashes(namespace: str, number: int) -> PageHashes:
    """The hashes for ids that begin with the number."""
    tag = PREFIX + f"{{{quote(namespace, safe='')}:page:{number:02x}}}".encode()
    return PageHashes(*(tag + name.encode() for name in PageHashes._fields))


def furniture_key(namespace: str, site: str = "") -> bytes:
    """The set of a site's furniture; without a site the set of sites."""
    return PREFIX + f"{{{quote(namespace, safe='')}:furniture}}{site}".encode()


def renewed(record: Record, seen_at: float) -> Record:
    return replace(record, page=replace(record.page, seen_at=seen_at))


def _place(namespace: str, column: Column, block: int, blocks: int, packed: bytes) -> Place:
    size, at = _key_bytes(len(packed), blocks), block * len(packed) // blocks
    key = packed[at : at + size]
    name = f"{{{quote(namespace, safe='')}:{column}:{block}:{key[-1]:02x}}}"
    return Place(PREFIX + name.encode(), key[:-1], packed[:at] + packed[at + size :])


def _key_bytes(size: int, blocks: int) -> int:
    return min(MAX_KEY_BYTES, size // blocks)


def _number(packed: bytes) -> int:
    return int.from_bytes(packed, "little")
