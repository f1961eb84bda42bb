"""Han in, words out: those of jieba's exact mode, by its dictionary and its hidden Markov model.

(rjieba, the same in Rust, cuts one run in some 15,000 of random Han otherwise.)
"""

import importlib
import logging
import re
import warnings
from functools import cache, lru_cache
from itertools import chain
from math import log
from pathlib import Path
from typing import Any, NamedTuple

# The block of jieba's dictionary.
HAN_FIRST, HAN_LAST = "\u4e00", "\u9fd5"
HAN = f"{HAN_FIRST}-{HAN_LAST}"
STATES = "BMES"  # of the model: a character begins, continues or ends a word, or is one
NEVER = -3.14e100  # jieba's MIN_FLOAT: the logarithm for what can't happen
_HAN_ALONE = re.compile(f"[{HAN}]+")


class UserWord(NamedTuple):
    """A line of a user dictionary."""

    word: str
    frequency: int | None = None  # None: as high as the word needs to be left whole
    tag: str | None = None


def han_cut(tokens: list[str], added: tuple[UserWord, ...] = ()) -> list[str]:
    """The tokens with each that is Han alone replaced by its words."""
    is_han = _HAN_ALONE.fullmatch
    cuts = [_cut(each, added) if each >= HAN_FIRST and is_han(each) else (each,) for each in tokens]
    return [*chain.from_iterable(cuts)]


@lru_cache(maxsize=20_000)  # menus and boxes come again on each page; some 10 MB
def _cut(run: str, added: tuple[UserWord, ...]) -> tuple[str, ...]:
    """The words that `jieba.Tokenizer.cut` finds, at half the cost."""
    is_word, by_model = jieba_tokenizer(added).FREQ.get, jieba_module("jieba.finalseg").cut
    ends, words, place = _best_ends(run, added), list[str](), 0
    while place <= len(run):
        begin = place
        while not ends[place]:
            place += 1
        singles = run[begin:place]  # they stay so where the path has refused their word
        words += by_model(singles) if place - begin > 1 and not is_word(singles) else singles
        words.append(run[place : ends[place]])
        place = ends[place]
    return tuple(words[:-1])  # the last one is empty


def _best_ends(run: str, added: tuple[UserWord, ...]) -> list[int]:
    """Where the word ends that begins at each place on the best path; 0 of single characters."""
    frequency_of, weights = jieba_tokenizer(added).FREQ.get, jieba_tokenizer(added).weights
    # The run's end is a place, too.
    ends, routes = [0] * len(run) + [len(run) + 1], [0.0] * (len(run) + 1)
    place, best, behind = len(run), 0.0, ""
    for character in reversed(run):
        place -= 1
        is_word, frequency = frequency_of(character), frequency_of(character + behind)
        best += weights[is_word]
        behind, end = character, place + 2
        while frequency is not None and end <= len(run):
            if frequency and ((route := weights[frequency] + routes[end]) >= best or not is_word):
                best, is_word, ends[place] = route, 1, end  # of equal ones the longer word
            end += 1
            frequency = frequency_of(run[place:end])
        routes[place] = best
    return ends


def dictionary() -> bytes:
    """jieba's: a word, its frequency and its part of speech a line."""
    return (Path(jieba_module("jieba").__file__ or "").parent / "dict.txt").read_bytes()


@cache
def jieba_tokenizer(added: tuple[UserWord, ...]) -> Any:
    """A tokenizer of our own: words that the program adds to jieba's don't move fingerprints.

    (Those that it splits by `del_word` or `suggest_freq` do: jieba keeps these for all tokenizers.)
    """
    jieba = jieba_module("jieba")
    # jieba writes its loading to stderr by a handler of its own.
    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    # Its `initialize` takes them from jieba.cache in the common temporary folder, whoever wrote it.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    for word, frequency, tag in added:
        tokenizer.add_word(word, frequency, tag)
    total = log(tokenizer.total)  # weights are by frequency, None for what is no word
    tokenizer.weights = {n: log(n or 1) - total for n in {None, *tokenizer.FREQ.values()}}
    return tokenizer


@cache
def jieba_module(name: str) -> Any:
    """jieba, or a part of it, without what Python says of its backslashes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # from 3.12 on
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module(name)
