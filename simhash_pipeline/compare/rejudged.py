"""What the judge would have said of two pages had the settings been others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from simhash_pipeline.judge import Distances, Judge
from simhash_pipeline.page.fingerprint import PageFingerprint
from simhash_pipeline.stores.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_pipeline.options import Options

DISTANCES = range(9)  # what the settings of distances can be


@dataclass(frozen=True, slots=True)
class Rejudged:
    """Whether the second page is dropped where the distance that is asked for is this one."""

    distance: int
    verified: bool  # with a second look
    unverified: bool  # without


def asked_distance(options: Options) -> str:
    """The option that is varied: the content's distance, unless only the structure counts."""
    return "structure_distance" if options.match == "structure" else "content_distance"


def verify_distance(options: Options) -> int:
    """That of the settings; the default where they have none."""
    limit = options.verify_distance
    return type(options)().verify_distance or 0 if limit is None else limit


def rejudged(
    urls: tuple[str, str], apart: Distances, options: Options, *, own_texts_agree: bool = True
) -> list[Rejudged]:
    """The pair judged by each distance; any other stored page may be nearer, and isn't asked."""
    found = []
    for distance in DISTANCES:
        verified, unverified = _dropped(urls, apart, options, distance)
        found.append(Rejudged(distance, verified and own_texts_agree, unverified))
    return found


def _dropped(
    urls: tuple[str, str], apart: Distances, options: Options, distance: int
) -> Iterator[bool]:
    """With a second look, and without."""
    # A judge knows of fingerprints only how far they are apart: so these stand for any such pair.
    kept = _page(Distances(*(None if bits is None else 0 for bits in _all(apart))))
    found = _page(apart)
    for limit in (verify_distance(options), None):
        given: dict[str, Any] = {asked_distance(options): distance, "verify_distance": limit}
        with open_store("memory:") as store:
            judge = Judge(store, replace(options, **given))
            judge.judge(urls[0], kept)
            yield judge.judge(urls[1], found).dropped


def _page(apart: Distances) -> PageFingerprint:
    """A page so far from one whose fingerprints are all 0."""
    content, structure, sketch = (None if n is None else (1 << n) - 1 for n in _all(apart))
    return PageFingerprint(content, structure, sketch, text="", title="", tokens=0)


def _all(apart: Distances) -> tuple[int | None, int | None, int | None]:
    return apart.content, apart.structure, apart.sketch
