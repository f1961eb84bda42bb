"""Tokens in, weighted content features out; tree in, weighted structure features out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, repeat
from operator import mul

from lxml.etree import _Element


def content_features(tokens: Sequence[str], ngrams: Sequence[int]) -> Mapping[str, int]:
    """How often each n-gram of tokens, joined by a space, occurs."""
    counts: Counter[str] = Counter()
    for size in ngrams:
        counts.update(shingles(tokens, size))
    return counts


def shingles(tokens: Sequence[str], size: int) -> Iterator[str]:
    """Every run of `size` neighbouring tokens, joined by a space, in reading order."""
    return map(" ".join, zip(*(tokens[i:] for i in range(size)), strict=False))


def tag_features(root: _Element, decay: float) -> Mapping[str, float]:
    """Each tag's weight summed over its elements: the root weighs 1, a child `decay` of its parent.

    DOM-tree decay as published: what stands high in the tree shapes the template.
    """
    levels = Counter(_tags_with_depth(root))
    powers = _powers(decay, max(depth for _, depth in levels))
    weights: dict[str, float] = {}
    for (tag, depth), count in sorted(levels.items()):
        weights[tag] = weights.get(tag, 0.0) + count * powers[depth]
    return weights


def _tags_with_depth(root: _Element) -> Iterator[tuple[str, int]]:
    stack = [(root, 0)]
    while stack:
        element, depth = stack.pop()
        yield element.tag, depth
        stack.extend((child, depth + 1) for child in element)


def _powers(base: float, highest: int) -> list[float]:
    """base ** 0 .. base ** highest by multiplication, which every machine rounds alike."""
    return list(accumulate(repeat(base, highest), mul, initial=1.0))
