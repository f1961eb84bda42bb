"""Where in a file the page of a URL may lie, held in memory at 4 bytes a page.

A b-tree on URLs costs as much as all the rest of storing a page: its entries lie in random places,
so every page kept dirties another block of the file. Here a page's URL and namespace are hashed to
32 bits; 13 of them choose a bucket, 12 others and the page's id make the entry there:

    tag     7              0    the bucket's tags in one bytes object, which `find` looks through
           | 8 of the hash |
    place   23        20 19                        0    3 bytes each in another, for those it finds
           | 4 of the hash | page id >> 5, modulo 2^20 |

so a look-up gives stretches of 32 ids, to be read and compared with the URL itself. Of URLs that
are not stored, 3 in 100 lead to a stretch in vain at a million pages, 30 at ten million. Above 33
million ids an entry stands for several stretches, and all are told.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from simhash_pipeline.index.buckets import append, grouped

if TYPE_CHECKING:
    from numpy.typing import NDArray

BUCKET_BITS = 13
TAG_BITS = 8
REST_BITS = 4
PLACE_BITS = 20
STRETCH_BITS = 5
STRETCH = 1 << STRETCH_BITS
ENTRY_SIZE = 3

BUCKET_MASK = (1 << BUCKET_BITS) - 1
TAG_MASK = (1 << TAG_BITS) - 1
REST_MASK = (1 << REST_BITS) - 1
PLACE_MASK = (1 << PLACE_BITS) - 1


class KeyHashes:
    """Entries are added and never removed: pages that are gone lead to stretches without them."""

    def __init__(self) -> None:
        self._tags = [b""] * (1 << BUCKET_BITS)
        self._places = [b""] * (1 << BUCKET_BITS)

    def add(self, key: int, page_id: int) -> None:
        place = _rest(key) << PLACE_BITS | page_id >> STRETCH_BITS & PLACE_MASK
        self._tags[key & BUCKET_MASK] += _tag(key)
        self._places[key & BUCKET_MASK] += place.to_bytes(ENTRY_SIZE, "little")

    def load(self, keys: NDArray[np.uint32], page_ids: NDArray[np.uint32]) -> None:
        """Add many."""
        order, ends = grouped((keys & BUCKET_MASK).astype(np.uint16), 1 << BUCKET_BITS)
        tags = (keys >> BUCKET_BITS & TAG_MASK).astype(np.uint8)
        rest = keys >> (BUCKET_BITS + TAG_BITS) & REST_MASK
        places = (rest << PLACE_BITS | page_ids >> STRETCH_BITS & PLACE_MASK).astype("<u4")
        three_bytes = places.view(np.uint8).reshape(-1, 4)[order, :ENTRY_SIZE]
        append(self._tags, 0, tags[order], ends)
        append(self._places, 0, np.ascontiguousarray(three_bytes).view("V3")[:, 0], ends)

    def stretches(self, key: int, newest_id: int) -> list[int]:
        """The first ids of the stretches of 32 ids that can hold a page of this key."""
        tags, tag = self._tags[key & BUCKET_MASK], _tag(key)
        places: set[int] = set()
        row = tags.find(tag)
        while row >= 0:
            packed = self._places[key & BUCKET_MASK][row * ENTRY_SIZE : (row + 1) * ENTRY_SIZE]
            rest, place = divmod(int.from_bytes(packed, "little"), 1 << PLACE_BITS)
            if rest == _rest(key):
                places.add(place)
            row = tags.find(tag, row + 1)
        if not places:
            return []
        every = 1 << (PLACE_BITS + STRETCH_BITS)
        return [
            first
            for place in places
            for first in range(place << STRETCH_BITS, newest_id + 1, every)
        ]


def key_hash(namespace: str, url: str) -> int:
    """32 bits of a page's key."""
    return zlib.crc32(url.encode(), zlib.crc32(namespace.encode()))


def _tag(key: int) -> bytes:
    return (key >> BUCKET_BITS & TAG_MASK).to_bytes(1, "little")


def _rest(key: int) -> int:
    return key >> (BUCKET_BITS + TAG_BITS) & REST_MASK
