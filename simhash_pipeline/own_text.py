"""How alike the own texts of two pages of one site are.

A page's *own text* is what is visible of it but its furniture: see furniture.py. Two pages of one
site are near-duplicates only if their own texts are alike.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simhash_pipeline.furniture import UNKNOWN, Blocks, Template
from simhash_pipeline.kept_sample import pack, unpack
from simhash_pipeline.page.visible import BLOCK_BITS, MAIN

KEPT_WINDOWS = 64  # of a page's own text, by a store
_MIN_COMMON = 4  # equal windows; fewer prove nothing
_MUCH = 2**28  # a sixteenth of all windows: holds one of 50 differing ones with 95 % probability
_IN_MAIN, _REPEATED = np.uint8(1), np.uint8(2)  # of a window: in the main text, in a repeated block


def own_sample(sample: bytes, furniture: Blocks) -> bytes:
    """What a store keeps of a page's sample, packed: its first windows outside the furniture."""
    limit, entries = unpack(sample)
    own = entries[~_is_among(entries, furniture)]
    if len(own) > KEPT_WINDOWS:
        own = own[:KEPT_WINDOWS]
        limit = int(own["window"][-1])
    return pack(limit, own)


def likeness(
    a: bytes,
    b: bytes,
    templates: tuple[Template, Template] = (UNKNOWN, UNKNOWN),
    count: Literal["own", "main", "all"] = "own",
) -> float | None:
    """How alike the own texts of two pages are, 0-1; None if too few windows are left to compare.

    `templates` are theirs, one each. Their furniture is left out.

    A window that differs counts wherever it stands. An equal window counts only in the main text,
    as elsewhere it may be furniture that isn't known yet, and only if it isn't repeated. With
    "main", what differs counts only in the main texts. With "all", as for thin pages, whose main
    texts are equal, all that is equal counts.

        a   12  31  44  57  90               complete up to 90; higher windows aren't compared
        b   12  44  57  60  95               complete up to 95
        equal: 12 and 44, which are main text, and 57, which is not; differing: 31, 60, 90
        likeness 2 / (2 + 3)
    """
    one, other = map(_own_windows, (a, b), templates)
    limit = min(one.limit, other.limit)
    one, other = one.up_to(limit), other.up_to(limit)
    places, is_common = _found(other.windows, one.windows)
    places, common = places[is_common], int(np.count_nonzero(is_common))
    differing = len(one.windows) + len(other.windows) - 2 * common
    if common < _MIN_COMMON:
        # A thin page may be all furniture: so it is if a large sample holds nothing that differs.
        return 1.0 if count == "all" and not differing and limit >= _MUCH else None
    if count == "all":
        return common / (common + differing)
    alike = int(np.count_nonzero((one.marks[places] | other.marks[is_common]) == _IN_MAIN))
    if count == "main":
        apart = (np.delete(one.marks, places), other.marks[~is_common])
        differing = sum(int(np.count_nonzero(marks & _IN_MAIN)) for marks in apart)
    return alike / (alike + differing) if alike else 0.0


class _OwnWindows(NamedTuple):
    """The windows outside the furniture; all of the page's up to the limit are known."""

    limit: int
    windows: NDArray[np.uint32]  # rising
    marks: NDArray[np.uint8]  # of each window

    def up_to(self, limit: int) -> _OwnWindows:
        if limit == self.limit:
            return self
        end = self.windows.searchsorted(np.uint32(limit), side="right")
        return _OwnWindows(limit, self.windows[:end], self.marks[:end])


@lru_cache(maxsize=512)  # in a crowd many pages are compared with the same 200: some 0.5 MB
def _own_windows(sample: bytes, template: Template) -> _OwnWindows:
    limit, entries = unpack(sample)
    if len(template.furniture):
        entries = entries[~_is_among(entries, template.furniture)]
    marks = np.where(entries["block"] & MAIN, _IN_MAIN, np.uint8(0))
    if len(template.repeated):
        marks[_is_among(entries, template.repeated)] |= _REPEATED
    return _OwnWindows(limit, entries["window"], marks)


def _is_among(entries: NDArray[np.void], blocks: Blocks) -> NDArray[np.bool_]:
    """Whether each window stands in one of these blocks."""
    return _found(entries["block"] & BLOCK_BITS, blocks)[1]


def _found(wanted: NDArray[Any], rising: NDArray[Any]) -> tuple[Any, NDArray[np.bool_]]:
    """Where each number would stand among rising ones, and whether it is there."""
    places = rising.searchsorted(wanted)
    if not len(rising):
        return places, np.zeros(len(wanted), np.bool_)
    return places, rising.take(places, mode="clip") == wanted
