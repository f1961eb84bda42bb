"""What two pages share, how they differ, and how they are judged: by these settings and others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING, Any

from simhash_pipeline.judge import Distances, Judge, Verdict, distances
from simhash_pipeline.page.fingerprint import PageFingerprint
from simhash_pipeline.review.diff import TextDiff, text_diff
from simhash_pipeline.stores.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simhash_pipeline.options import Options
    from simhash_pipeline.page.fingerprint import Fingerprinter

DISTANCES = range(9)  # what the settings of distances can be


@dataclass(frozen=True, slots=True)
class Feature:
    """A content feature and what it weighs in either page; 0 where it doesn't occur."""

    text: str
    weight_a: float
    weight_b: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two pages beside each other."""

    apart: Distances
    verdict: Verdict  # on the second page, by a judge who has kept the first and no other
    shared_weight: float  # the share of all features' weight that both have, 0-1
    shared: tuple[Feature, ...]  # those that both have, heaviest first
    differing: tuple[Feature, ...]  # those that weigh otherwise, furthest apart first
    diff: TextDiff  # of the main texts
    left_out: TextDiff  # of what is visible beside them

    @property
    def are_twins(self) -> bool:
        """Whether the verdict calls them near-duplicates, of one URL or two."""
        return self.verdict.dropped or self.verdict.reason == "unchanged"


def compare(
    a: PageFingerprint, b: PageFingerprint, fingerprinter: Fingerprinter, options: Options
) -> Comparison:
    """Two pages side by side, by the options that their fingerprints were made with.

    Pages of one URL are judged as one page seen twice. PageError when a URL is none.
    """
    features = _features(
        fingerprinter.content_features(a.text), fingerprinter.content_features(b.text)
    )
    shared = [feature for feature in features if feature.weight_a and feature.weight_b]
    differing = [feature for feature in features if feature.weight_a != feature.weight_b]
    return Comparison(
        apart=distances(a, b),
        verdict=_verdict(a, b, options),
        shared_weight=_shared_weight(features),
        shared=tuple(sorted(shared, key=lambda f: (-min(f.weight_a, f.weight_b), f.text))),
        differing=tuple(sorted(differing, key=lambda f: (-abs(f.weight_a - f.weight_b), f.text))),
        diff=text_diff(a.text, b.text),
        left_out=text_diff(a.left_out, b.left_out),
    )


def _features(a: Mapping[str, float], b: Mapping[str, float]) -> list[Feature]:
    return [Feature(text, a.get(text, 0.0), b.get(text, 0.0)) for text in a.keys() | b.keys()]


def _verdict(a: PageFingerprint, b: PageFingerprint, options: Options) -> Verdict:
    with open_store("memory:") as store:
        judge = Judge(store, options)
        judge.judge(a.url or "a", a)
        return judge.judge(b.url or "b", b)


def _shared_weight(features: list[Feature]) -> float:
    """The weighted Jaccard index: what both have of what either has; 1 where there is nothing."""
    both = fsum(min(feature.weight_a, feature.weight_b) for feature in features)
    either = fsum(max(feature.weight_a, feature.weight_b) for feature in features)
    return both / either if either else 1.0


@dataclass(frozen=True, slots=True)
class Rejudged:
    """Whether the second page would be dropped with this distance in the settings."""

    distance: int
    verified: bool  # with a second look
    unverified: bool  # without


def asked_distance(options: Options) -> str:
    """The option that is varied: the content's distance, or the structure's if only that counts."""
    return "structure_distance" if options.match == "structure" else "content_distance"


def verify_distance(options: Options) -> int:
    """That of the settings; if they have none, the default."""
    limit = options.verify_distance
    return type(options)().verify_distance or 0 if limit is None else limit


def rejudged(
    urls: tuple[str, str], apart: Distances, options: Options, *, own_texts_agree: bool = True
) -> list[Rejudged]:
    """The pair judged by each distance, as if no other page were stored."""
    found = []
    for distance in DISTANCES:
        verified, unverified = _dropped(urls, apart, options, distance)
        found.append(Rejudged(distance, verified and own_texts_agree, unverified))
    return found


def _dropped(
    urls: tuple[str, str], apart: Distances, options: Options, distance: int
) -> Iterator[bool]:
    """With a second look, and without."""
    # A judge looks at distances alone, so these fingerprints stand for any such pair.
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
