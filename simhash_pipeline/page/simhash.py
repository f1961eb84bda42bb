"""Tokens in, their n-grams counted and weighed, and of weighted hashes the fingerprint out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from simhash_pipeline.bits import NDArray, np
from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options, load_callable, read_file
from simhash_pipeline.page.han import jieba_module

Counts = Mapping[str, int]
Weights = Mapping[str, float]

# Votes are counted in multiples of this: sums of whole numbers are exact, so the order in which a
# machine adds them can't turn a bit.
VOTE = 2.0**-20
_FEWEST = {">0": VOTE, ">=0": 0.0, ">1": 1 + VOTE}  # that set a bit
# Features whose bits are unpacked at once: half a megabyte, which a processor keeps at hand.
_CHUNK = 512
_MAX_WEIGHT = 1e6  # keeps sums of votes exact


def simhash(
    hashes: NDArray[np.uint8], weights: NDArray[np.float64] | None = None, set_when: str = ">0"
) -> int | None:
    """Charikar's fingerprint (STOC 2002): bit i is set where over half the weight has bit i set.

    `hashes`: shape (features, bytes), little-endian; `weights`: >= 0; None: each weighs 1.
    `set_when`: which sums of votes set a bit; published programs differ in it.
    An unsigned number of 8 * bytes bits; None where nothing weighs anything.

        hash 1   weight 4    1  0  0  1  0  1     4 -4 -4  4 -4  4
        hash 2   weight 5    1  0  1  0  1  1     5 -5  5 -5  5  5
                             ----------------     ----------------
        fingerprint          1  0  1  0  1  1     9 -9  1 -1  1  9
    """
    if not len(hashes) or (weights is not None and not (weights > VOTE).any()):
        return None
    bits = votes(hashes, weights) >= _FEWEST[set_when]
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def votes(
    hashes: NDArray[np.uint8], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The last row of the picture above: for each bit, bit 0 first, weight for less weight against.

    Exact to 2**-20, whatever the order of the features.
    """
    if weights is None:
        # Eight of a row's bits are summed up as one word: 255 rows fill its bytes.
        words = np.unpackbits(hashes, axis=1, bitorder="little").view(np.uint64)
        lanes = np.add.reduceat(words, range(0, len(words), 255), axis=0).view(np.uint8)
        return np.asarray(2.0 * lanes.sum(axis=0) - len(hashes), np.float64)
    counted = np.rint(weights / VOTE)
    ayes = np.zeros(hashes.shape[1] * 8)
    for start in range(0, len(hashes), _CHUNK):
        bits = np.unpackbits(hashes[start : start + _CHUNK], axis=1, bitorder="little")
        ayes += counted[start : start + _CHUNK] @ bits.astype(np.float64)
    sums: NDArray[np.float64] = (2 * ayes - counted.sum()) * VOTE
    return sums


def hamming_distance(a: int, b: int) -> int:
    """Number of bits in which two fingerprints differ.

    :param a: of 64 or 128 bits.
    :param b: of the same width.
    :return: 0-64 or 0-128.
    """
    return (a ^ b).bit_count()


def counted_ngrams(tokens: Sequence[str], sizes: Sequence[int], joiner: str = " ") -> Counts:
    """How often each n-gram of tokens occurs, for these sizes."""
    counts: Counter[str] = Counter()
    for size in sizes:
        counts.update(map(joiner.join, zip(*(tokens[i:] for i in range(size)), strict=False)))
    return counts


def weighing(options: Options) -> Callable[[Counts], Weights]:
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
    text = read_file("stop_words", path, lambda file: file.read_text("utf-8-sig"))
    return frozenset(text.lower().split("\n"))


def _checked(weights: Mapping[Any, Any], name: str) -> Weights:
    for feature, weight in weights.items():
        is_number = isinstance(weight, (int, float))
        if not (isinstance(feature, str) and is_number and 0 <= weight <= _MAX_WEIGHT):
            rule = f"weights must be 0 to {_MAX_WEIGHT:g} by feature"
            raise PageError("weights", f"{name} gave {feature!r} the weight {weight!r}; {rule}")
    return weights
