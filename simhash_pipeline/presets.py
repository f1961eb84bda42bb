"""Published ways to make fingerprints, as values of options, for collections that have them.

A preset sets the options that it names; options that the user sets take precedence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEYWORDS = {"segmenter": "jieba", "ngrams": (1,), "weights": "jieba-tfidf", "bits": 64}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    # github.com/mfonda/simhash (Go): every word of its ASCII expression weighs 1.
    "mfonda": {
        "segmenter": "ascii-words",
        "ngrams": (1,),
        "weights": "tf",
        "hash": "fnv1",
        "bits": 64,
        "set_when": ">=0",
    },
    # github.com/sing1ee/simhash-java: overlapping pairs of characters.
    "simhash-java": {
        "segmenter": "characters",
        "ngrams": (2,),
        "weights": "tf",
        "hash": "murmur2",
        "bits": 64,
        "set_when": ">1",
    },
    # The tutorials' 32 bits by String.hashCode.
    "java32": {
        "segmenter": "spaces",
        "ngrams": (1,),
        "weights": "tf",
        "hash": "java",
        "bits": 32,
        "set_when": ">0",
    },
    # jiebaR, cppjieba and github.com/yanyiwu/simhash: keywords; 5 is jiebaR's own topn.
    "jiebar": {**_KEYWORDS, "top_n": 5, "hash": "jenkins", "set_when": ">0"},
    # gojieba's keywords with Go's hash/fnv, as the published program prints it: signed.
    "gojieba": {**_KEYWORDS, "top_n": 5, "hash": "fnv1a-signed", "set_when": ">0"},
    "gojieba-unsigned": {**_KEYWORDS, "top_n": 5, "hash": "fnv1a", "set_when": ">0"},
    # DOM-tree decay as published, and with all occurrences of a tag added up; the content
    # fingerprint is the default one.
    "dom-decay": {"structure_features": "tag", "decay": 0.45, "structure_distance": 5},
    "dom-decay-sum": {"structure_features": "tag-sum", "decay": 0.45},
}
