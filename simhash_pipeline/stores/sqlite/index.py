"""Where an SQLite store looks fingerprints and digests up: in memory.

    page                                            in memory
    ┌────┬─────┬─────────┬───────────┬─────┐        ┌──────────────────────────────┐
    │ id │ url │ content │ structure │ ... │ ─────▶ │ near -> values -> ids        │
    └────┴─────┴─────────┴───────────┴─────┘ id > n └──────────────┬───────────────┘
         ▲                                                         │ ids, oldest first
         └─────────────────────────────────────────────────────────┘

Why the answers are exact: ids only grow, and a page keeps its id and these values until it is gone
(a replaced page gets a new id), so the table is its own log; most of it is read where rows.py has
packed its values. Memory holds every committed page up to the last id that was read, and more:
pages that are gone since. It is brought up to the newest id inside the same transaction that asks,
before that writes anything, so no page is missing; and memory says only where to look: a page
counts when its row is there, so none is too many.
"""

from __future__ import annotations

import heapq
from array import array
from typing import TYPE_CHECKING

from simhash_pipeline.bits import np
from simhash_pipeline.index.neighbours import BLOCKS, FingerprintIndex
from simhash_pipeline.stores.contract import MOST_NEAR, NEAR_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from simhash_pipeline.bits import NDArray


class MemoryIndex:
    """Finds the ids of pages by the values of one column, as 64 bits each.

    Costs 38 bytes of memory a page with a fingerprint of its own, at ten million (`make bench`), 14
    with a digest; a value that several pages have takes some 230 more, and 4 for each further page.
    """

    def __init__(self, column: str) -> None:
        # Each value with the id of its first page.
        self._index = FingerprintIndex(BLOCKS if column in NEAR_COLUMNS else 1)
        self._further: dict[int, array[int]] = {}  # the ids of its other pages, rising

    def add(self, page_id: int, value: int) -> None:
        """See a page that is newer than all others."""
        if not self._index.add(value, page_id):
            self._further.setdefault(value, array("I")).append(page_id)

    def load(self, ids: NDArray[np.uint32], values: NDArray[np.uint64]) -> None:
        """See many pages, oldest first."""
        is_first = self._index.load(values, ids)
        for place in np.flatnonzero(~is_first).tolist():
            self._further.setdefault(int(values[place]), array("I")).append(int(ids[place]))

    def near(self, value: int, max_distance_bits: int) -> list[tuple[int, int]]:
        """(value, distance) as a View's near values, of all namespaces."""
        return self._index.near(value, max_distance_bits, MOST_NEAR)

    def ids_of(self, values: Sequence[int]) -> Iterator[int]:
        """The pages that have or had one of these values, oldest first, of all namespaces."""
        return heapq.merge(*map(self._with_value, values))

    def _with_value(self, value: int) -> Iterator[int]:
        first = self._index.number_of(value)
        if first is not None:
            yield first
            yield from self._further.get(value, ())

    def forget(self, gone: Collection[int], values: Sequence[int]) -> None:
        """Look no more for pages of these values that are gone, but for the first of each."""
        for value in values:
            if further := self._further.get(value):
                self._further[value] = array("I", (one for one in further if one not in gone))
