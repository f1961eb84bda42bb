"""What two pages share, how they differ, and how they are judged."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from simhash_pipeline.judge import Distances, Judge, Verdict, distances
from simhash_pipeline.review.diff import TextDiff, text_diff
from simhash_pipeline.stores.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simhash_pipeline.options import Options
    from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint


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
