"""Where in a file the page of a URL may lie, held in memory at 4 bytes a page.

A b-tree on URLs costs as much as all the rest of storing a page: its entries lie in random places,
so every page kept dirties another block of the file. Here a page's URL and namespace are hashed to
32 bits; 13 or 16 of them choose a bucket, 14 others and the page's id make the entry there:

    tag     7              0    the bucket's tags in one bytes object, which `find` looks through
           | 8 of the hash |
    place   23        18 17                        0    3 bytes each in another, for those it finds
           | 6 of the hash | page id >> 5, modulo 2^18 |

so a look-up gives stretches of 32 ids, to be read and compared with the URL itself. Of URLs that
are not stored, 1 in 100 leads to a stretch in vain at one and at ten million pages (9 at ten, where
one process has kept them all and never opened the file again). Above 8 million ids an entry stands
for several stretches, and all are told.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from simhash_pipeline.index.buckets import append

if TYPE_CHECKING:
    from numpy.typing import NDArray

BUCKET_BITS = 13
MANY_PAGES = 2_000_000  # from here on, buckets for
MANY_BUCKET_BITS = 16
TAG_BITS = 8
REST_BITS = 6
PLACE_BITS = 18
STRETCH_BITS = 5
STRETCH = 1 << STRETCH_BITS
ENTRY_SIZE = 3

TAG_MASK = (1 << TAG_BITS) - 1
REST_MASK = (1 << REST_BITS) - 1
PLACE_MASK = (1 << PLACE_BITS) - 1


class KeyHashes:
    """Entries are added and never removed: pages that are gone lead to stretches without them."""

    def __init__(self, expected_pages: int = 0) -> None:
        self._bits = BUCKET_BITS if expected_pages < MANY_PAGES else MANY_BUCKET_BITS
        self._mask = (1 << self._bits) - 1
        self._tags = [b""] * (1 << self._bits)
        self._places = [b""] * (1 << self._bits)

    def add(self, key: int, page_id: int) -> None:
        bucket, more = key & self._mask, key >> self._bits
        rest = more >> TAG_BITS & REST_MASK
        place = rest << PLACE_BITS | page_id >> STRETCH_BITS & PLACE_MASK
        self._tags[bucket] += (more & TAG_MASK).to_bytes(1, "little")
        self._places[bucket] += place.to_bytes(ENTRY_SIZE, "little")

    def load(self, keys: NDArray[np.uint32], page_ids: NDArray[np.uint32]) -> None:
        """Add many."""
        more = keys >> self._bits
        rest, stretch = more >> TAG_BITS & REST_MASK, page_ids >> STRETCH_BITS
        places = (rest << PLACE_BITS | stretch & PLACE_MASK).astype("<u4")
        three_bytes = np.ascontiguousarray(places.view(np.uint8).reshape(-1, 4)[:, :ENTRY_SIZE])
        append(
            (keys & self._mask).astype(np.uint16),
            1 << self._bits,
            (self._tags, 0, (more & TAG_MASK).astype(np.uint8)),
            (self._places, 0, three_bytes.view(f"V{ENTRY_SIZE}")[:, 0]),
        )

    def stretches(self, key: int, newest_id: int) -> list[int]:
        """The first ids of the stretches of 32 ids that can hold a page of this key."""
        bucket, more = key & self._mask, key >> self._bits
        tags, tag, wanted = self._tags[bucket], more & TAG_MASK, more >> TAG_BITS & REST_MASK
        places: set[int] = set()
        row = tags.find(tag)
        while row >= 0:
            packed = self._places[bucket][row * ENTRY_SIZE : (row + 1) * ENTRY_SIZE]
            rest, place = divmod(int.from_bytes(packed, "little"), 1 << PLACE_BITS)
            if rest == wanted:
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


@lru_cache(maxsize=1)  # asked for when a page is looked up, and again when it is kept
def key_hash(namespace: str, url: str) -> int:
    """32 bits of a page's key."""
    return zlib.crc32(url.encode(), zlib.crc32(namespace.encode()))
