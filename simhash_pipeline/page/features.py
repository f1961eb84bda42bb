"""Tokens in, counted content features out; elements in, weighted structure features out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, repeat
from operator import mul

from simhash_pipeline.page.elements import Elements

_DIGITS = re.compile(r"\d+")


def counted_ngrams(
    tokens: Sequence[str], sizes: Sequence[int], joiner: str = " "
) -> Mapping[str, int]:
    """How often each n-gram of tokens occurs."""
    counts: Counter[str] = Counter()
    for size in sizes:
        counts.update(map(joiner.join, zip(*(tokens[i:] for i in range(size)), strict=False)))
    return counts


def tag_features(page: Elements, decay: float) -> Mapping[str, float]:
    """Each tag's weight summed over its elements: the root weighs 1, a child `decay` of its parent.

    DOM-tree decay as published: what stands high in the tree shapes the template.
    """
    levels = Counter(zip(page.tags, page.depths, strict=True))
    powers = _powers(decay, max(page.depths))
    weights: dict[str, float] = {}
    for (tag, depth), count in sorted(levels.items()):
        weights[tag] = weights.get(tag, 0.0) + count * powers[depth]
    return weights


def class_features(page: Elements, decay: float) -> Mapping[str, float]:
    """Each tag with its set of classes, digits as 0, by `decay` to the power of its least depth.

    Repeated rows don't count, so that a template's lists may grow.
    """
    depths: dict[str, int] = {}
    for element, tag, depth in page.rows():
        names = sorted(set(_DIGITS.sub("0", element.get("class", "")).split()))
        label = ".".join([tag, *names])
        depths[label] = min(depth, depths.get(label, depth))
    powers = _powers(decay, max(depths.values()))
    return {label: powers[depth] for label, depth in depths.items()}


def _powers(base: float, highest: int) -> list[float]:
    """base ** 0 .. base ** highest by multiplication, which every machine rounds alike."""
    return list(accumulate(repeat(base, highest), mul, initial=1.0))
