"""Han in, words out: those of jieba's exact mode, by its dictionary and its hidden Markov model.

(rjieba, the same in Rust, cuts one run in some 15,000 of random Han otherwise.)
"""

import importlib
import logging
import re
import warnings
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import chain
from math import log
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

# The block of jieba's dictionary.
HAN_FIRST, HAN_LAST = "\u4e00", "\u9fd5"
HAN = f"{HAN_FIRST}-{HAN_LAST}"
STATES = "BMES"  # of the model: a character begins, continues or ends a word, or is one
NEVER = -3.14e100  # jieba's MIN_FLOAT: the logarithm for what can't happen
_NEVER = (NEVER,) * 4
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
    """The words that `jieba.Tokenizer.cut` finds."""
    (weight_of, _), ends, words, place = _weights(added), _best_ends(run, added), list[str](), 0
    while place <= len(run):
        begin = place
        while not ends[place]:
            place += 1
        if begin < place:  # single characters: they stay so where the path has refused their word
            of_run = run[begin:place]
            words += _by_model(of_run) if place > begin + 1 and not weight_of(of_run) else of_run
        words.append(run[place : ends[place]])
        place = ends[place]
    return tuple(words[:-1])  # the last one is empty


def _best_ends(run: str, added: tuple[UserWord, ...]) -> list[int]:
    """Where the word ends that begins at each place on the best path; 0 of single characters."""
    weight_of, unknown = _weights(added)
    # The run's end is a place, too.
    ends, routes = [0] * len(run) + [len(run) + 1], [0.0] * (len(run) + 1)
    place, best, behind = len(run), 0.0, ""
    for character in reversed(run):
        place -= 1
        is_word, weight = weight_of(character), weight_of(character + behind)
        best += is_word or unknown
        behind, end = character, place + 2
        while weight is not None and end <= len(run):
            if weight and ((route := weight + routes[end]) >= best or not is_word):
                best, is_word, ends[place] = route, weight, end  # of equal ones the longer word
            end += 1
            weight = weight_of(run[place:end])
        routes[place] = best
    return ends


def _by_model(run: str) -> list[str]:
    """The words that `jieba.finalseg.cut` finds in what no word of the dictionary is in."""
    starts, (eb, sb, bm, mm, be, me, es, ss), emitted = _model()
    rows = [emitted.get(character, _NEVER) for character in run]
    b, m, e, s = map(add, starts, rows[0])
    before = []  # of each state the one before it, by its place in STATES
    for xb, xm, xe, xs in rows[1:]:
        b1, b2, m1, m2 = e + eb + xb, s + sb + xb, b + bm + xm, m + mm + xm
        e1, e2, s1, s2 = b + be + xe, m + me + xe, e + es + xs, s + ss + xs
        before.append((2 + (b2 >= b1), 0 + (m2 >= m1), 0 + (e2 >= e1), 2 + (s2 >= s1)))
        b, m, e, s = max(b1, b2), max(m1, m2), max(e1, e2), max(s1, s2)
    state, words = 2 + (s >= e), [run[-1]]
    for character, states in zip(run[-2::-1], reversed(before), strict=True):
        if state in (0, 3):  # begins a word
            words.append(character)
        else:
            words[-1] = character + words[-1]
        state = states[state]
    return words[::-1]


@cache
def _model() -> tuple[list[float], list[float], dict[str, tuple[float, ...]]]:
    """Logarithms: of each state, of two in a row, and by character of each state's."""
    start, trans, emit = jieba_model()
    known = {*chain.from_iterable(emit.values())}
    emitted = {each: tuple(emit[state].get(each, NEVER) for state in STATES) for each in known}
    in_row = [trans[a][b] for a, b in zip("ESBMBMES", "BBMMEESS", strict=True)]
    return [start[state] for state in STATES], in_row, emitted


def dictionary() -> bytes:
    """jieba's: a word, its frequency and its part of speech a line."""
    return (Path(jieba_module("jieba").__file__ or "").parent / "dict.txt").read_bytes()


@cache
def jieba_model() -> tuple[Any, Any, Any]:
    """By state: its logarithm, those of the next one, those of characters."""
    return tuple(jieba_module(f"jieba.finalseg.prob_{n}").P for n in ("start", "trans", "emit"))


@cache
def _weights(added: tuple[UserWord, ...]) -> tuple[Callable[[str], float | None], float]:
    """The logarithm of each word's share, 0 of what only begins words; and that of no word."""
    tokenizer = jieba_tokenizer.__wrapped__(added)  # not kept: of it the weights are needed alone
    total = log(tokenizer.total)
    of = {n: log(n) - total if n else 0.0 for n in {*tokenizer.FREQ.values()}}
    return {word: of[n] for word, n in tokenizer.FREQ.items()}.get, -total


@cache
def jieba_tokenizer(added: tuple[UserWord, ...]) -> Any:
    """A tokenizer of our own: words that the program adds to jieba's don't move fingerprints."""
    jieba = jieba_module("jieba")
    # jieba writes its loading to stderr by a handler of its own.
    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    # Its `initialize` takes them from jieba.cache in the common temporary folder, whoever wrote it.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    for word, frequency, tag in added:
        tokenizer.add_word(word, frequency, tag)
    return tokenizer


@cache
def jieba_module(name: str) -> Any:
    """jieba, or a part of it, without what Python and setuptools say of its age."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)
