"""The features of a text, counted, and how much each of them weighs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from simhash_pipeline.errors import OptionsError, PageError
from simhash_pipeline.options import Options, load_callable, unreadable
from simhash_pipeline.page.han import jieba_module

Counts = Mapping[str, int]
Weights = Mapping[str, float]
Weigh = Callable[[Counts], Weights]

_MAX_WEIGHT = 1e6  # keeps sums of votes exact


def counted_ngrams(tokens: Sequence[str], sizes: Sequence[int], joiner: str = " ") -> Counts:
    """How often each n-gram of tokens occurs, for these sizes."""
    counts: Counter[str] = Counter()
    for size in sizes:
        counts.update(map(joiner.join, zip(*(tokens[i:] for i in range(size)), strict=False)))
    return counts


def weighing(options: Options) -> Weigh:
    """The weighting that the options name, or that of a callable (counts -> weights).

    OptionsError when a callable can't be loaded.
    """
    name = options.weights
    if name == "tf":
        return lambda counts: counts
    if name == "jieba-tfidf":
        idf, mean = _jieba_idf()
        return lambda counts: {
            w: n * idf.get(w, mean) for w, n in counts.items() if len(w.strip()) >= 2
        }
    weigh = load_callable("weights", name, Mapping)  # type: ignore[type-abstract]  # for isinstance alone
    return lambda counts: _checked(weigh(counts), name)


def heaviest(weights: Weights, count: int) -> Weights:
    """The `count` heaviest features, heaviest first; of equal ones the first by code point."""
    return dict(sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:count])


@cache
def _jieba_idf() -> tuple[dict[str, float], float]:
    """jieba's own idf of each word, and what an unknown word weighs.

    That is the mean of the words of two characters or more, 11.7392: cppjieba's file has no others.
    """
    tfidf = jieba_module("jieba.analyse.tfidf")
    idf: dict[str, float] = tfidf.IDFLoader(tfidf.DEFAULT_IDF).idf_freq
    words = [value for word, value in idf.items() if len(word) > 1]
    return idf, math.fsum(words) / len(words)


def stop_words(path: str | None) -> frozenset[str]:
    """The file's words, one a line; without a file jieba's own."""
    if path is None:
        return frozenset(jieba_module("jieba.analyse.tfidf").TFIDF.STOP_WORDS)
    try:
        return frozenset(Path(path).read_text(encoding="utf-8-sig").lower().split("\n"))
    except (OSError, ValueError) as error:
        raise OptionsError([unreadable("stop_words", path, error)]) from error


def _checked(weights: Mapping[Any, Any], name: str) -> Weights:
    for feature, weight in weights.items():
        if not isinstance(feature, str) or not _is_weight(weight):
            rule = f"weights must be 0 to {_MAX_WEIGHT:g} by feature"
            raise PageError("weights", f"{name} gave {feature!r} the weight {weight!r}; {rule}")
    return weights


def _is_weight(weight: Any) -> bool:
    return isinstance(weight, (int, float)) and 0 <= weight <= _MAX_WEIGHT
