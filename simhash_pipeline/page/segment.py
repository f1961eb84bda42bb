"""Text in, tokens out: words by Unicode's letters, numbers and marks; Han runs cut by jieba."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache

# The block of jieba's dictionary: given nothing but these, jieba and rjieba cut alike.
_HAN = "\u4e00-\u9fd5"
# Scripts written without spaces (Thai to Tibetan, Myanmar, Khmer, kana, other Han): a character is
# a token, and bigrams do the rest.
_UNSPACED = (
    "\u0e00-\u109f\u1780-\u17ff\u2e80-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# Marks that belong to the word they stand in, which `\w` leaves out: accents, Hebrew and Arabic
# points, and the blocks of India's scripts but for their full stops.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0dff\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
)
_WORD = rf"[^\W{_UNSPACED}]"
_TOKEN = re.compile(rf"{_WORD}+(?:[{_MARKS}]+{_WORD}*)*|[{_HAN}]+|(?:(?=\w)[{_UNSPACED}])")


def tokens(text: str) -> list[str]:
    """Lower-case words of the NFKC text in reading order, without punctuation."""
    found = _TOKEN.findall(unicodedata.normalize("NFKC", text).lower())
    runs = [token for token in found if _is_han(token)]
    return list(_with_runs_cut(found, _cut_han()(" ".join(runs)))) if runs else found


def _is_han(token: str) -> bool:
    return "\u4e00" <= token[0] <= "\u9fd5"


def _with_runs_cut(found: Iterable[str], words: Iterable[str]) -> Iterator[str]:
    """The tokens with each Han run replaced by its words; a space among `words` ends a run."""
    rest = iter(words)
    for token in found:
        if _is_han(token):
            yield from iter(lambda: next(rest, " "), " ")
        else:
            yield token


@cache
def _cut_han() -> Callable[[str], list[str]]:
    """rjieba where it is installed (the same words, some 20 times as fast), else jieba."""
    try:
        from rjieba import cut
    except ImportError:
        return jieba_cutter()
    return cut


def jieba_cutter() -> Callable[[str], list[str]]:
    """jieba in its exact mode, by a tokenizer of its own."""
    import jieba  # type: ignore[import-untyped]  # it has no type hints

    # jieba writes its loading to stderr by a handler of its own.
    jieba.setLogLevel(logging.WARNING)
    # A tokenizer of its own: words that the program adds to jieba's must not move fingerprints.
    return jieba.Tokenizer().lcut  # type: ignore[no-any-return]  # jieba has no type hints
