"""A text in, the hashes of its words out, by the compiled kernel.

The kernel's tables are made here, from this Python's characters and the installed jieba, so that
they can't be another version's. What the kernel doesn't fold it asks of segment.py.
"""

from __future__ import annotations

import os
from array import array
from contextvars import ContextVar
from functools import cache
from threading import Lock

from simhash_pipeline import native
from simhash_pipeline.native import Kernel, Tokens
from simhash_pipeline.options import Options
from simhash_pipeline.page import folding, han, segment
from simhash_pipeline.page.han import STATES

_ASK, _DROPPED, _ELLIPSIS = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD  # as in _kernel.c
_UNKNOWN_CHARACTER, _NO_DICTIONARY = -1, -2
_lock = Lock()
# False where a fifth of a second is too long, as on an event loop.
may_load: ContextVar[bool] = ContextVar("simhash_may_load", default=True)
_FEWEST_VOTES = {">=0": 0, ">0": 1, ">1": 2}  # sums are whole numbers


class DictionaryNeeded(Exception):
    """A page has Chinese words, and the dictionary isn't loaded; raised where `may_load` is off."""


def votes_by_kernel(options: Options) -> bool:
    """Whether the kernel can make content fingerprints by these options, where there is one."""
    chosen = (options.segmenter, options.hash, options.weights, options.top_n)
    default = chosen == ("words", "murmur3", "tf", None)
    own_words = options.to_simplified or options.user_dict or options.stop_words
    return default and not own_words


def hashed_words(text: str) -> Tokens:
    """The words of a text, as `segment.words` cuts them, by their murmur3."""
    tokens = _prepared().Tokens()
    length = 0
    for piece in segment.pieces(text):
        most = segment.most_words(piece)
        by_jieba = length < segment.CHARACTERS_BY_JIEBA
        length += _add(tokens, piece, by_jieba, most)
    return tokens


def content_of(tokens: Tokens, options: Options) -> int | None:
    """The content fingerprint; None without a token."""
    return tokens.content(options.ngrams, _FEWEST_VOTES[options.set_when])


def sketch_of(tokens: Tokens, size: int) -> int | None:
    """The 128-bit simhash of the set of n-grams; None with fewer tokens than one has."""
    halves = tokens.sketch(size)
    return None if halves is None else halves[0] | halves[1] << 64


def _add(tokens: Tokens, piece: str, by_jieba: bool, most: int) -> int:
    """The length of the folded piece."""
    is_folded = False
    while (length := tokens.add(piece, is_folded, by_jieba, most)) < 0:
        if length == _NO_DICTIONARY:
            if not may_load.get():
                raise DictionaryNeeded
            with _lock:
                _load_dictionary()
        else:
            piece, is_folded = segment.folded_piece(piece), True
    return length


@cache
def _prepared() -> Kernel:
    if (kernel := native.kernel) is None:
        raise ImportError("the kernel was not built, or is switched off by SIMHASH_NATIVE")
    folds = array("I", [_ASK]) * 0x10000
    for character in folding.characters(folding.FOLDED_ALONE):
        if (fold := folding.single_fold(character)) is not None:
            folds[ord(character)] = _ELLIPSIS if fold == "..." else ord(fold.lower())
    for character in folding.characters(folding.FOLDED_TO_THEMSELVES):
        folds[ord(character)] = ord(character)
    for character in folding.characters(folding.IN_WORDS):
        folds[ord(character)] = _DROPPED
    salt = int.from_bytes(os.urandom(8), "little")
    tables = _packed(segment.UNSPACED), _packed(folding.MARKS), folds.tobytes()
    kernel.set_tables(*tables, salt, segment.MAX_RUN, segment.FOLDED_CHARACTERS)
    return kernel


def _packed(characters: str) -> bytes:
    return array("I", [code for pair in folding.ranges(characters) for code in pair]).tobytes()


@cache
def _load_dictionary() -> None:
    """jieba's dictionary and the model by which it cuts what isn't in that."""
    start, trans, emit = han.model()
    characters = folding.characters(han.HAN)
    _prepared().load_dictionary(
        han.dictionary(),
        array("d", [start[state] for state in STATES]).tobytes(),
        array("d", [trans[a].get(b, han.NEVER) for a in han.STATES for b in han.STATES]).tobytes(),
        array(
            "d", [emit[state].get(c, han.NEVER) for c in characters for state in han.STATES]
        ).tobytes(),
    )
