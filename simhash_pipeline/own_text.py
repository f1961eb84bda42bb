"""Samples of two pages of one site in, their likeness out; and the site's furniture, learnt.

A site's pages share menus, boxes and footers: its *furniture*, the blocks that stand on many of its
kept pages. What is left of a page is its *own text*. Two pages of one site are near-duplicates only
where their own texts are alike. Fingerprints never depend on what was learnt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from simhash_pipeline.page.visible import BLOCK_BITS, ENTRY, LIMIT_SIZE, MAIN, packed_sample

Blocks = NDArray[np.uint32]  # hashes
Site = tuple[str, str]  # namespace, registered domain

# Windows that a store keeps of a page's own text: 4 + 64 * 6 = 388 bytes.
KEPT_WINDOWS = 64
# Own texts are alike from here on. A fifth of a text exchanged leaves a likeness of 0.67; as
# estimated from 64 windows that reaches 0.85 once in 900 times. In crawls of six manuals 0.8 found
# 1 % more of the near-duplicates that share nine tenths of their shingles, and half as many again
# that share less.
MIN_LIKENESS = 0.85
# The same of two templates of a site, such as a page and its print view, whose frames differ: what
# is equal outweighs what differs. In crawls of ten manuals no pages that differ were over 5 bits
# of structure apart; a demo site's copies in other templates are 9 and more.
MIN_LIKENESS_OF_TEMPLATES = 0.5
_MIN_COMMON = 4  # equal windows: fewer say nothing
_MUCH = 2**28  # a sixteenth of all windows: one of 50 that differ is met with 95 %
# A block is furniture from so many kept pages on: with 4 the own text of more pages is nothing.
FURNITURE_PAGES = 8
_MAX_COUNTED = 400_000  # blocks of all sites: some 50 MB
NO_BLOCKS: Blocks = np.empty(0, np.uint32)


def own_sample(sample: bytes, furniture: Blocks) -> bytes:
    """The part of a page's sample that a store keeps: the first windows that are no furniture."""
    limit, entries = _opened(sample)
    own = entries[_is_own(entries, furniture)]
    if len(own) > KEPT_WINDOWS:
        own = own[:KEPT_WINDOWS]
        limit = int(own["window"][-1])
    return packed_sample(limit, own)


def likeness(a: bytes, b: bytes, furniture: Blocks, *, thin: bool = False) -> float | None:
    """How alike the own texts of two pages are, 0-1; None where too little is left to say.

    Equal windows beyond the main text prove nothing, as they may be furniture that isn't known yet;
    windows that differ do, wherever they stand. Of thin pages, whose main texts are equal, all
    windows count.

        a   12  31  44  57  90               whole up to 90: beyond it nothing is compared
        b   12  44  57  60  95               whole up to 95
        equal: 12 and 44, which are main text, and 57, which is not; differing: 31, 60, 90
        likeness 2 / (2 + 3)
    """
    (limit, one), (other_limit, other) = _opened(a), _opened(b)
    limit = min(limit, other_limit)
    one, other = (
        entries[_is_own(entries, furniture) & (entries["window"] <= limit)]
        for entries in (one, other)
    )
    common, at, there = np.intersect1d(
        one["window"], other["window"], assume_unique=True, return_indices=True
    )
    differing = len(one) + len(other) - 2 * len(common)
    if len(common) < _MIN_COMMON:
        # Of a thin page all may be furniture: it is where, of much that was seen, nothing differs.
        return 1.0 if thin and not differing and limit >= _MUCH else None
    alike = len(common)
    if not thin:
        alike = int(np.count_nonzero((one["block"][at] | other["block"][there]) & MAIN))
    return alike / (alike + differing) if alike else 0.0


def _opened(sample: bytes) -> tuple[int, NDArray[np.void]]:
    """The limit and the entries of a sample."""
    limit = int.from_bytes(sample[:LIMIT_SIZE], "little")
    return limit, np.frombuffer(sample, ENTRY, offset=LIMIT_SIZE)


def _is_own(entries: NDArray[np.void], furniture: Blocks) -> NDArray[np.bool_]:
    known = (furniture & BLOCK_BITS).astype(np.uint16)
    return np.isin(entries["block"] & BLOCK_BITS, known, invert=True)


def pack_blocks(blocks: Iterable[int]) -> bytes:
    """Blocks as stores hold them: 4 bytes each, lowest first."""
    return np.array(sorted(blocks), "<u4").tobytes()


def unpack_blocks(packed: bytes) -> Blocks:
    return np.frombuffer(packed, "<u4")


class FurnitureCounts:
    """On how many kept pages of each site blocks stand; bounded, and gone with the process.

    What is furniture is for the store to remember.
    """

    def __init__(self, max_counted: int = _MAX_COUNTED) -> None:
        self._counts: dict[Site, Counter[int]] = {}
        self._counted = 0
        self._max_counted = max_counted
        self._lock = Lock()

    def add(self, site: Site, blocks: Iterable[int]) -> list[int]:
        """Count the blocks of a kept page; those that are furniture from this page on."""
        with self._lock:
            counts = self._counts.setdefault(site, Counter())
            before = len(counts)
            counts.update(blocks)
            self._counted += len(counts) - before
            found = [block for block in blocks if counts[block] == FURNITURE_PAGES]
            if self._counted > self._max_counted:
                self._forget_rare()
            return found

    def _forget_rare(self) -> None:
        """Take one from every count until half of the blocks are gone: lossy counting.

        (Manku and Motwani 2002.)
        """
        while self._counted > self._max_counted // 2:
            for site, counts in list(self._counts.items()):
                self._counts[site] = Counter({block: n - 1 for block, n in counts.items() if n > 1})
            self._counted = sum(map(len, self._counts.values()))
        self._counts = {site: counts for site, counts in self._counts.items() if counts}
