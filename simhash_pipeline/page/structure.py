"""A page's elements in, its structure fingerprint out, by the design that the options name.

The default counts depth in halvings of the page: outline.py. The designs by decay are here: an
element weighs DECAY to the power of its depth.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import partial
from itertools import accumulate, repeat
from operator import mul

import numpy as np

from simhash_pipeline.options import Options
from simhash_pipeline.page.elements import Elements
from simhash_pipeline.page.hashing import hash_rows, murmur3
from simhash_pipeline.page.outline import outline_fingerprint
from simhash_pipeline.page.simhash import simhash

_MIN_ELEMENTS = 10  # a tree with fewer is no template to speak of
_DIGITS = re.compile(r"\d+")


def structure_fingerprint(page: Elements, options: Options) -> int | None:
    """`bits` wide, whatever hashes the content; None for fewer than 10 nodes.

    By murmur3, but `tag` by FNV-1, where a tie sets the bit: so it was published. (Other hashes,
    String.hashCode for one, give short tags nearly equal numbers.)
    """
    design, bits = options.structure_features, options.bits
    if design == "outline":
        return outline_fingerprint(page, partial(murmur3, bits=bits))
    if len(page.tags) < _MIN_ELEMENTS:
        return None
    make = {"tag": tag_features, "tag-sum": tag_sum_features, "class": class_features}[design]
    features = make(page, options.decay)
    weights = np.fromiter(features.values(), np.float64, len(features))
    if design == "tag":
        return simhash(hash_rows("fnv1", bits)(features), weights, ">=0")
    return simhash(murmur3(features, bits), weights)


def tag_features(page: Elements, decay: float) -> Mapping[str, float]:
    """Each tag's weight at its last occurrence: the root weighs `decay`, its children `decay` ** 2.

    DOM-tree decay as published: the weight of each element replaces that of the tag's element
    before it.
    """
    powers = _powers(decay, max(page.depths) + 1)
    return {tag: powers[depth + 1] for tag, depth in zip(page.tags, page.depths, strict=True)}


def tag_sum_features(page: Elements, decay: float) -> Mapping[str, float]:
    """Each tag's weight summed over its elements: the root weighs 1, a child `decay` of its parent.

    What stands high in the tree shapes the template.
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
