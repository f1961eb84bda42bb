"""Tokens in, counted content features out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence


def counted_ngrams(
    tokens: Sequence[str], sizes: Sequence[int], joiner: str = " "
) -> Mapping[str, int]:
    """How often each n-gram of tokens occurs."""
    counts: Counter[str] = Counter()
    for size in sizes:
        counts.update(map(joiner.join, zip(*(tokens[i:] for i in range(size)), strict=False)))
    return counts
