"""How alike the own texts of two pages of one site are.

A page's *own text* is what is visible of it but its furniture: see furniture.py. Two pages of one
site are near-duplicates only if their own texts are alike.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simhash_pipeline.furniture import UNKNOWN, Blocks, Template
from simhash_pipeline.kept_sample import pack, unpack
from simhash_pipeline.page.visible import BLOCK_BITS, MAIN

KEPT_WINDOWS = 64  # of a page's own text, by a store
_MIN_COMMON = 4  # equal windows; fewer prove nothing
_MUCH = 2**28  # a sixteenth of all windows: holds one of 50 differing ones with 95 % probability
_REPEATED = np.uint16(1)  # beside MAIN: of a window in a block that the template repeats


def own_sample(sample: bytes, furniture: Blocks) -> bytes:
    """What a store keeps of a page's sample, packed: its first windows outside the furniture."""
    limit, entries = unpack(sample)
    own = entries[~_is_among(entries, furniture)]
    if len(own) > KEPT_WINDOWS:
        own = own[:KEPT_WINDOWS]
        limit = int(own["window"][-1])
    return pack(limit, own)


def is_all_main(sample: bytes) -> bool:
    """Whether nothing of the page stands beside its main text."""
    return bool((unpack(sample)[1]["block"] & MAIN).all())


def likeness(
    a: bytes,
    b: bytes,
    templates: tuple[Template, Template] = (UNKNOWN, UNKNOWN),
    count: Literal["own", "brought", "main", "all"] = "own",
) -> float | None:
    """How alike the own texts of two pages are, 0-1; None if too few windows are left to compare.

    `templates` are theirs, one each. Their furniture is left out.

    A window that differs counts wherever it stands. An equal window counts only in the main text,
    as elsewhere it may be furniture that isn't known yet, and only if it isn't repeated. With
    "brought", what differs counts only in `a`, and with "main" only in the main texts. With "all",
    as for thin pages, whose main texts are equal, all that is equal counts.

        a   12  31  44  57  90               complete up to 90; higher windows aren't compared
        b   12  44  57  60  95               complete up to 95
        equal: 12 and 44, which are main text, and 57, which is not; differing: 31, 60, 90
        likeness 2 / (2 + 3)
    """
    (limit, one), (other_limit, other) = map(_marked, (a, b), templates)
    limit = min(limit, other_limit)
    one, other = (
        entries[: entries["window"].searchsorted(np.uint32(limit), side="right")]
        for entries in (one, other)
    )
    places, is_common = _found(other["window"], one["window"])
    places, common = places[is_common], int(np.count_nonzero(is_common))
    differing = len(one) + len(other) - 2 * common
    if common < _MIN_COMMON:
        # A thin page may be all furniture: so it is if a large sample holds nothing that differs.
        return 1.0 if count == "all" and not differing and limit >= _MUCH else None
    if count == "all":
        return common / (common + differing)
    marks, others = one["block"], other["block"]
    alike = int(np.count_nonzero((marks[places] | others[is_common]) == MAIN))
    if count == "brought":
        differing = len(one) - common
    elif count == "main":
        apart = (np.delete(marks, places), others[~is_common])
        differing = sum(int(np.count_nonzero(each & MAIN)) for each in apart)
    return alike / (alike + differing) if alike else 0.0


@lru_cache(maxsize=2_048)  # in a crowd many pages are compared with the same ones: 1.5 MB
def _marked(sample: bytes, template: Template) -> tuple[int, NDArray[np.void]]:
    """(limit, entries) outside the furniture, whose blocks are MAIN, _REPEATED, both or neither."""
    limit, entries = unpack(sample)
    entries = entries[~_is_among(entries, template.furniture)]
    is_repeated = _is_among(entries, template.repeated)
    entries["block"] &= MAIN
    entries["block"][is_repeated] |= _REPEATED
    return limit, entries


def _is_among(entries: NDArray[np.void], blocks: Blocks) -> NDArray[np.bool_]:
    """Whether each window stands in one of these blocks."""
    return _found(entries["block"] & BLOCK_BITS, blocks)[1]


def _found(wanted: NDArray[Any], rising: NDArray[Any]) -> tuple[Any, NDArray[np.bool_]]:
    """Where each number would stand among rising ones, and whether it is there."""
    if not len(rising):
        return np.zeros(len(wanted), np.intp), np.zeros(len(wanted), np.bool_)
    places = rising.searchsorted(wanted)
    return places, rising.take(places, mode="clip") == wanted
