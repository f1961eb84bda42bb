"""How far two pages are apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simhash_pipeline.page.simhash import hamming_distance

if TYPE_CHECKING:
    from simhash_pipeline.index.store import StoredPage
    from simhash_pipeline.page.fingerprint import PageFingerprint


@dataclass(frozen=True, slots=True)
class Distances:
    """Bits in which two pages differ; None where either has no such fingerprint."""

    content: int | None
    structure: int | None
    sketch: int | None


def distances(a: PageFingerprint | StoredPage, b: PageFingerprint | StoredPage) -> Distances:
    return Distances(
        content=_distance(a.content, b.content),
        structure=_distance(a.structure, b.structure),
        sketch=_distance(a.sketch, b.sketch),
    )


def _distance(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else hamming_distance(a, b)
