"""Text in, tokens out.

The default, `words`: lower-case words by Unicode's letters, numbers and marks, with Han runs cut by
jieba.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from simhash_pipeline.errors import OptionsError, PageError
from simhash_pipeline.options import load_callable, read_file
from simhash_pipeline.page.folding import MARKS, folded
from simhash_pipeline.page.han import HAN, UserWord, han_cut, jieba_tokenizer

Segment = Callable[[str], list[str]]

# Scripts written without spaces (Thai, Lao, Myanmar, Khmer, kana, other Han): a character with its
# marks and the next one is a token. One alone says too little: of 7,503 pairs of different
# Thai articles 701 were within 3 bits, by such tokens 0. Tibetan parts its syllables by a dot.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_WORD = rf"[^\W{UNSPACED}]"
_CHARACTER = rf"(?=\w)[{UNSPACED}](?<![{HAN}])[{MARKS}]*"
MAX_RUN = 500  # Han without a break; its paths are weighed as a whole
_TOKEN_PARTS = (
    rf"{_WORD}+(?:[{MARKS}]+{_WORD}*)*",
    rf"[{HAN}]{{1,{MAX_RUN}}}",
    rf"(?=({_CHARACTER}{_CHARACTER})){_CHARACTER}|{_CHARACTER}",
)
_TOKEN = re.compile("|".join(_TOKEN_PARTS))
# The same of text without the scripts of the last part, in a third of the time.
_han_or_words = re.compile(f"{_TOKEN_PARTS[1]}|{_TOKEN_PARTS[0]}").findall
_has_other_unspaced = re.compile(  # than this Han
    rf"[{UNSPACED.replace(HAN[0], chr(ord(HAN[-1]) + 1))}](?<=\w)"
).search
_HAN_ONLY = re.compile(f"[{HAN}]+")
# Text without any of these is cut alike, and in half the time, by `\w+`.
_SPECIAL = re.compile(f"[{UNSPACED}{MARKS}]")
_PLAIN_TOKEN = re.compile(r"\w+")
# A word, or one character of a script that is written without spaces, with its marks.
WORD_OR_CHARACTER = re.compile(f"{_TOKEN_PARTS[0]}|{_TOKEN_PARTS[2]}|[{HAN}]")
_PIECE_CHARACTERS = 10_000
# Python takes 1 to 3 us a character (python -m tests.long.hostile).
CHARACTERS_BY_JIEBA = 40_000
FOLDED_CHARACTERS = 2 * _PIECE_CHARACTERS
_SPARE_WORDS = 64  # of a short text all count, so that it is cut alike whatever follows it
_USER_WORD = re.compile(r"(.+?)(?:\s+([0-9]+))?(?:\s+([a-z]+))?")  # as jieba reads it
_MAX_FREQUENCY = 10**9
_HAN_RANGES = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x32000))
_ASCII_WORD = re.compile(r"[\w']+(?:://[\w./]+)?", re.ASCII)
# What the user dictionary that cppjieba brings along adds to jieba's.
_CPPJIEBA_WORDS = ("云计算", "蓝翔", "区块链")


def segmenter(name: str, *, to_simplified: bool = False, user_dict: str | None = None) -> Segment:
    """The segmentation of that name, or of that dotted path (str -> list of str).

    `user_dict` is the path of a user dictionary, for those that know words. OptionsError if it
    can't be read.
    """
    added: tuple[UserWord, ...] = ()
    if user_dict is not None:
        added = read_file("user_dict", user_dict, lambda file: tuple(_user_words(file)))
    if to_simplified:
        added = tuple(word._replace(word=word.word.translate(simplified())) for word in added)
    known: dict[str, Callable[[], Segment]] = {
        "words": lambda: _Words(added).cut if added else words,
        "jieba": lambda: _jieba_words(added),
        "jieba-cpp": lambda: _jieba_words((*map(UserWord, _CPPJIEBA_WORDS), *added)),
        "java-characters": lambda: _utf16_units,
        "spaces": lambda: _between_spaces,
        "ascii-words": lambda: _ascii_words,
    }
    segment = known[name]() if name in known else _users_segmenter(name)
    if not to_simplified:
        return segment
    table = simplified()
    return lambda text: segment(text.translate(table))


@cache
def simplified() -> dict[int, str]:
    """Simplified characters by the code of the traditional one; OptionsError without OpenCC.

    OpenCC also replaces phrases, which is rare in this direction and is left out here.
    """
    try:
        from opencc import OpenCC
    except ImportError as error:
        rule = "it needs OpenCC: pip install 'simhash-pipeline[opencc]'"
        raise OptionsError([f"SIMHASH_TO_SIMPLIFIED is True; {rule}"]) from error
    han = [chr(code) for first, end in _HAN_RANGES for code in range(first, end)]
    simple = OpenCC("t2s").convert("\n".join(han)).split("\n")
    return {ord(old): new for old, new in zip(han, simple, strict=True) if old != new}


def _users_segmenter(path: str) -> Segment:
    segment = load_callable("segmenter", path, list)

    def checked(text: str) -> list[str]:
        tokens: list[str] = segment(text)
        for token in tokens:
            if not isinstance(token, str):
                raise PageError("segmenter", f"{path} gave the token {token!r}, which is not text")
        return tokens

    return checked


class _Words:
    """The segmentation `words`, with a user's own words."""

    def __init__(self, added: Iterable[UserWord] = ()) -> None:
        all_folded = (word._replace(word=folded(word.word)) for word in added)
        kept = [word for word in all_folded if word.word]
        self._han = tuple(word for word in kept if _HAN_ONLY.fullmatch(word.word))
        # jieba is asked for Han alone; words with other characters are found before.
        self._mixed = frozenset(word.word for word in kept) - {word.word for word in self._han}
        self._token, self._word_or_character = _TOKEN, WORD_OR_CHARACTER
        if self._mixed:
            mixed = "|".join(map(_whole, sorted(self._mixed, key=len, reverse=True)))
            word, han, unspaced = _TOKEN_PARTS
            han = rf"(?:(?!{mixed})[{HAN}]){{1,{MAX_RUN}}}"
            self._token = re.compile("|".join((mixed, word, han, unspaced)))
            self._word_or_character = re.compile(f"{mixed}|{WORD_OR_CHARACTER.pattern}")

    def cut(self, text: str) -> list[str]:
        """Lower-case words of the NFKC text in reading order, without punctuation.

        A word that may be hyphenated (infor&shy;mation) is one word.
        A long text is cut in pieces: each step on one is a call that no other thread can interrupt.
        In pieces that begin after the 40,000th character each Han character is a word of its own.
        """
        found, length = list[str](), 0
        for piece in pieces(text):
            by_jieba = length < CHARACTERS_BY_JIEBA
            plain = folded_piece(piece)
            found += self._words_of_piece(plain, by_jieba=by_jieba)[: most_words(piece)]
            length += len(plain)
        return found

    def _words_of_piece(self, text: str, *, by_jieba: bool) -> list[str]:
        if not self._mixed and _SPECIAL.search(text) is None:
            return _PLAIN_TOKEN.findall(text)
        if by_jieba and not self._mixed and not _has_other_unspaced(text):
            return han_cut(_han_or_words(text), self._han)
        tokens = self._token if by_jieba else self._word_or_character
        # The group is a character with the next one, where that belongs to it.
        words = [found[1] or found[0] for found in tokens.finditer(text)]
        return han_cut(words, self._han) if by_jieba else words


def _whole(word: str) -> str:
    """The pattern of a user's word that no longer word of letters and digits goes on."""
    begins = rf"(?<!{_WORD})" if re.match(_WORD, word) else ""
    ends = rf"(?!{_WORD})" if re.match(_WORD, word[-1]) else ""
    return f"{begins}{re.escape(word)}{ends}"


def most_words(piece: str) -> int:
    """How many words of a piece count.

    NFKC makes six words of one character: no more count than other text of this size has.
    """
    size = len(piece) if piece.isascii() else len(piece.encode("utf-8", "replace"))
    return max(_SPARE_WORDS, (size + 1) // 2)


def pieces(text: str) -> Iterable[str]:
    """The text in parts of at most 10,001 characters.

    Cut at the end of a line, word or sentence, and where there is none, anywhere.
    """
    if len(text) <= _PIECE_CHARACTERS:
        return [text]
    return re.findall(
        rf"(?s).{{1,{_PIECE_CHARACTERS}}}(?:[\n 。]|\Z)|.{{1,{_PIECE_CHARACTERS}}}", text
    )


def folded_piece(piece: str) -> str:
    """What is cut of a piece: NFKC makes up to 18 characters of one."""
    return folded(piece)[:FOLDED_CHARACTERS]


def _utf16_units(text: str) -> list[str]:
    """Java's characters: one beyond 16 bits, such as an emoji, is two surrogates."""
    units = text.encode("utf-16-le", "surrogatepass")
    return [units[i : i + 2].decode("utf-16-le", "surrogatepass") for i in range(0, len(units), 2)]


def _ascii_words(text: str) -> list[str]:
    """As Go's, whose lower case of the dotted capital I is a plain i."""
    return _ASCII_WORD.findall(text.replace("\u0130", "i").lower())


def _between_spaces(text: str) -> list[str]:
    """As Java's `split(" ")`: empty strings at the end are dropped, others kept."""
    return text.rstrip(" ").split(" ") if text.strip(" ") else []


def _user_words(file: Path) -> Iterator[UserWord]:
    """ValueError for a frequency that is out of range."""
    for number, line in enumerate(file.read_text("utf-8-sig").splitlines(), start=1):
        found = _USER_WORD.fullmatch(line.strip())
        if found is None:
            continue  # an empty line
        word, frequency, tag = found.groups()
        if frequency is not None and not 1 <= int(frequency) <= _MAX_FREQUENCY:
            rule = f"line {number} gives {word!r} the frequency {frequency}, not 1 to 1e9"
            raise ValueError(rule)
        yield UserWord(word, None if frequency is None else int(frequency), tag)


def _jieba_words(added: tuple[UserWord, ...]) -> Segment:
    """jieba alone on the text as it stands, case and all, without what has no letter or digit."""
    cut = jieba_tokenizer(added).lcut
    return lambda text: [word for word in cut(text) if any(map(str.isalnum, word))]


words = _Words().cut
