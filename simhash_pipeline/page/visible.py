"""A page's visible blocks in; a digest of all of it and a sample of its text out.

The main text says which pages may be near-duplicates; what is visible says whether they are. The
sample is a bottom-k sample of short windows of the text (Broder 1997): windows are chosen by their
hash alone, so that two pages that share a text sample the same parts of it, and the share of equal
windows in two samples estimates the share in the pages (the Jaccard index).

    block    Parameters: scalar
    window   Parameters: scal      16 bytes: some three words, or five characters of Chinese,
              arameters: scala     so no language has to be known
               ...
                            ar     the last ones are filled up, so that a block of any length
                             r     has as many windows as bytes
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate

import mmh3
import numpy as np
from numpy.typing import NDArray

WINDOW_BYTES = 16  # a power of two
# Windows that are taken from a page. A store keeps fewer, of the page's own text: own_text.py.
_TAKEN = 512
_MAX_CHARACTERS = 1_000_000  # of visible text that is sampled

# A sample is 4 bytes, the largest window up to which it is whole, and entries by rising window. An
# entry is 6 bytes: the window's hash; 15 bits of its block's hash, and in the highest bit whether
# the block is main text. All lowest byte first.
LIMIT_SIZE = 4
ENTRY = np.dtype([("window", "<u4"), ("block", "<u2")])
_NO_LIMIT = 0xFFFFFFFF
MAIN = np.uint16(1 << 15)
BLOCK_BITS = np.uint16(MAIN - 1)

# Links in a box that calls itself a menu, a sidebar or related stories say little of the page.
_MENU_BITS = 2  # a quarter
_MULTIPLIER = 0x9E3779B1  # odd: 2**32 by the golden ratio
_SEPARATOR = "\n" + "\0" * (WINDOW_BYTES - 1)  # blocks hold neither

Hashes = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Visible:
    """What is remembered of a page's visible text."""

    digest: int | None  # 64 bits of title and blocks in order, in lower case; None without blocks
    sample: bytes  # see ENTRY
    blocks: tuple[int, ...]  # 32-bit hashes of the blocks that the sample's windows stand in


def visible_text(
    blocks: Sequence[str],
    is_main: Sequence[bool],
    title: str = "",
    menus: Collection[int] = frozenset(),
) -> Visible:
    """The digest of these blocks, and a sample of the first megabyte of them.

    `menus` are the numbers of blocks that count for a quarter: of their windows as many are taken.
    """
    sizes = accumulate(map(len, blocks))
    count = next((i for i, size in enumerate(sizes, 1) if size > _MAX_CHARACTERS), len(blocks))
    if not count:
        return Visible(None, packed_sample(_NO_LIMIT, np.empty(0, ENTRY)), ())
    joined = (_SEPARATOR.join(blocks[:count]) + _SEPARATOR).lower().encode("utf-8", "replace")
    windows, block_of = _windows(np.frombuffer(joined, np.uint8))
    firsts = np.flatnonzero(np.diff(block_of, prepend=-1))
    # A block's hash is the sum of its windows'.
    block_hashes = np.add.reduceat(windows, firsts, dtype=np.uint32)
    if menus:
        is_menu = np.zeros(count, np.bool_)
        is_menu[[number for number in menus if number < count]] = True
        ranks, block_of = _thinned(windows, block_of, is_menu[block_of])
    else:
        ranks = windows
    taken = _smallest(ranks)
    at = block_of[taken]
    entries = np.empty(len(taken), ENTRY)
    entries["window"] = ranks[taken]
    main = np.asarray(is_main[:count], np.bool_)[at]
    entries["block"] = (block_hashes[at] & BLOCK_BITS).astype(np.uint16) | np.where(main, MAIN, 0)
    limit = int(entries["window"][-1]) if len(taken) == _TAKEN else _NO_LIMIT
    return Visible(
        digest=_digest(title, blocks),
        sample=packed_sample(limit, entries),
        blocks=tuple(np.unique(block_hashes[at]).tolist()),
    )


def _digest(title: str, blocks: Sequence[str]) -> int:
    said = "\n".join([title, *blocks]).lower().encode("utf-8", "replace")
    return mmh3.hash64(said, signed=False)[0]


def packed_sample(limit: int, entries: NDArray[np.void]) -> bytes:
    """A sample of these entries, whole up to the limit."""
    return limit.to_bytes(LIMIT_SIZE, "little") + entries.tobytes()


def _windows(text: NDArray[np.uint8]) -> tuple[Hashes, NDArray[np.intp]]:
    """The hash of the window at each byte of a block, and the number of its block."""
    ends = np.flatnonzero(text == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + len(_SEPARATOR)])
    counts = ends - starts
    block_of = np.repeat(np.arange(len(ends)), counts)
    first = np.repeat(starts - (np.cumsum(counts) - counts), counts)
    return _rolled(text)[first + np.arange(len(first))], block_of


def _rolled(text: NDArray[np.uint8]) -> Hashes:
    """A hash of each 16 bytes in a row.

    Two neighbours make one of 2 bytes, two of these one of 4, then 8 and 16: t * m**n + t', where n
    is the bytes of t'. murmur3's last step spreads the bits.
    """
    hashes, size, multiplier = text.astype(np.uint32), 1, _MULTIPLIER
    while size < WINDOW_BYTES:
        hashes = hashes[:-size] * np.uint32(multiplier) + hashes[size:]
        size, multiplier = 2 * size, multiplier**2 & 0xFFFFFFFF
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashes ^= hashes >> np.uint32(shift)
        hashes *= np.uint32(factor)
    hashes ^= hashes >> np.uint32(16)
    return hashes


def _thinned(
    windows: Hashes, block_of: NDArray[np.intp], is_menu: NDArray[np.bool_]
) -> tuple[Hashes, NDArray[np.intp]]:
    """Of menus' windows the smallest quarter, spread over the numbers; and the rest as they are."""
    stay = ~is_menu | (windows < 1 << (32 - _MENU_BITS))
    ranks = np.where(is_menu, windows << np.uint32(_MENU_BITS), windows)
    return ranks[stay], block_of[stay]


def _smallest(windows: Hashes) -> NDArray[np.intp]:
    """Places of the smallest distinct windows, the first place of each, rising."""
    candidates = np.arange(len(windows))
    if len(windows) > 2 * _TAKEN:
        # Repeated windows are few: of twice as many smallest ones enough are distinct, mostly.
        candidates = np.sort(np.argpartition(windows, 2 * _TAKEN)[: 2 * _TAKEN])
    _, first = np.unique(windows[candidates], return_index=True)
    return candidates[first[:_TAKEN]]
