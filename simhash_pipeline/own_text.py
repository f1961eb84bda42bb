"""How alike the own texts of two pages of one site are.

A page's *own text* is what is visible of it but its furniture: see furniture.py. Two pages of one
site are near-duplicates only if their own texts are alike.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simhash_pipeline.furniture import UNKNOWN, Blocks, Template
from simhash_pipeline.kept_sample import pack, unpack
from simhash_pipeline.page.visible import BLOCK_BITS, MAIN

KEPT_WINDOWS = 64  # of a page's own text, by a store
_MIN_COMMON = 4  # equal windows; fewer prove nothing
_MUCH = 2**28  # a sixteenth of all windows: holds one of 50 differing ones with 95 % probability


def own_sample(sample: bytes, furniture: Blocks) -> bytes:
    """What a store keeps of a page's sample, packed: its first windows outside the furniture."""
    limit, entries = unpack(sample)
    own = entries[_is_own(entries, furniture)]
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
    (limit, one), (other_limit, other) = unpack(a), unpack(b)
    limit = min(limit, other_limit)
    one, other = (
        entries[_is_own(entries, template.furniture) & (entries["window"] <= limit)]
        for entries, template in zip((one, other), templates, strict=True)
    )
    common, at, there = np.intersect1d(
        one["window"], other["window"], assume_unique=True, return_indices=True
    )
    differing = len(one) + len(other) - 2 * len(common)
    if len(common) < _MIN_COMMON:
        # A thin page may be all furniture: so it is if a large sample holds nothing that differs.
        return 1.0 if count == "all" and not differing and limit >= _MUCH else None
    if count == "all":
        return len(common) / (len(common) + differing)
    one_at, other_there = one[at], other[there]
    alike = int(
        np.count_nonzero(
            ((one_at["block"] | other_there["block"]) & MAIN != 0)
            & _is_own(one_at, templates[0].repeated)
            & _is_own(other_there, templates[1].repeated)
        )
    )
    if count == "main":
        differing = sum(
            int(np.count_nonzero(np.delete(entries["block"], found) & MAIN))
            for entries, found in ((one, at), (other, there))
        )
    return alike / (alike + differing) if alike else 0.0


def _is_own(entries: NDArray[np.void], furniture: Blocks) -> NDArray[np.bool_]:
    is_own = np.ones(BLOCK_BITS + 1, np.bool_)
    is_own[furniture] = False
    found: NDArray[np.bool_] = is_own[entries["block"] & BLOCK_BITS]
    return found
