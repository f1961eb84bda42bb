"""Han in, words out: those of jieba's exact mode, by its dictionary and its hidden Markov model.

jieba weighs all paths through a run of Han. Here the run is cut before that, wherever no word of
the dictionary holds both neighbours: what lies between two such places is cut alike in every text,
so that its words are remembered.

    渔船安全返回港口    a run
    渔船 安全 返回 港口   its parts: no word holds 船安, 全返 or 回港

Characters that stay single are cut by the model, run by run, which is remembered too.
"""

from __future__ import annotations

import importlib
import logging
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import inf, log
from operator import add
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_pipeline.bits import np
from simhash_pipeline.page.hashing import murmur3_words

# The block of jieba's dictionary.
HAN_FIRST, HAN_LAST = "\u4e00", "\u9fd5"
HAN = f"{HAN_FIRST}-{HAN_LAST}"
STATES = "BMES"  # of the model: a character begins, continues or ends a word, or is one
NEVER = -3.14e100  # jieba's MIN_FLOAT
# Of a parted text: a run of Han, or what is between two of them.
_STRETCHES = re.compile(f"[{HAN}]+(?: [{HAN}]+)*|[^{HAN} ]+")
_TIED = "="
_SINGLES = re.compile(f"([{HAN}][{HAN}]+)")  # in a coded text
_PART_OF_SPEECH = re.compile(r" \S*\n")
# jieba adds up to 500 logarithms of -18 to 0 from the end of a run: 1e-8 is lost at most.
_SAME_WEIGHT = 1e-6
_TABLE_BITS = 23  # 5 % of a table of 8 MB are taken
_FACTORS = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_REMEMBERED = 2**15  # parts, runs of single characters, words: with the last text's, 7 MB each
_FIRST_CODE = 0xE000  # of words in a coded text; a character for each that is remembered follows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simhash_pipeline.page.hashing import Words

    Units = NDArray[np.uint16]  # of UTF-16
    Codes = NDArray[np.uint32]


class UserWord(NamedTuple):
    """A line of a user dictionary."""

    word: str
    frequency: int | None = None  # None: as high as the word needs to be left whole
    tag: str | None = None


class Model(NamedTuple):
    """The logarithms of jieba's hidden Markov model, by state."""

    start: Mapping[str, float]
    trans: Mapping[str, Mapping[str, float]]  # those that may happen
    emit: Mapping[str, Mapping[str, float]]  # by state and character


class HanCutter:
    """Cuts as jieba does that knows these words too; one text at a time, whatever threads ask.

    In a *coded* text each word is one character: a Han character that is a word is itself, any
    other word has a code for a while. The words' hashes are rows of a table, by these characters.
    """

    def __init__(self, added: tuple[UserWord, ...] = ()) -> None:
        self._frequencies, total = _frequencies(added)
        self._log_total = log(total)
        words = [word for word, frequency in self._frequencies.items() if frequency]
        self._longest = max(map(len, words))
        self._joined = _joined_characters(words)
        self._likeliest_words = likeliest_words(model())
        self._lock = Lock()
        self._hashes = np.zeros((_FIRST_CODE + 2 * _REMEMBERED, 2), "<u8")
        characters = map(chr, range(ord(HAN_FIRST), ord(HAN_LAST) + 1))
        self._hashes[ord(HAN_FIRST) : ord(HAN_LAST) + 1] = murmur3_words(characters)
        self._forget()

    def _forget(self) -> None:
        self._words: list[str] = []
        self._hashed = 0  # of these words
        self._code_of = _Memory(self._new_code)
        self._of_part = _Memory(self._coded_part)
        self._of_singles = _Memory(self._coded_singles)

    def cut(self, tokens: Sequence[str]) -> list[str]:
        """The tokens with each that begins with Han, and is Han alone, replaced by its words.

        None of them holds white space.
        """
        return self.words(np.frombuffer("\n".join(tokens).encode("utf-16-le"), np.uint16))

    def words(self, units: Units) -> list[str]:
        """The same of the UTF-16 of tokens between line ends, which needn't part Han and others."""
        first = chr(_FIRST_CODE)
        with self._lock:
            coded, words = self._cut(units), self._words
            return [words[ord(code) - _FIRST_CODE] if code >= first else code for code in coded]

    def hashes(self, units: Units) -> Words:
        """The murmur3 of each of these words, shape (words, 2)."""
        with self._lock:
            coded = self._cut(units)
            if fresh := self._words[self._hashed :]:
                start = _FIRST_CODE + self._hashed
                self._hashes[start : start + len(fresh)] = murmur3_words(fresh)
                self._hashed = len(self._words)
            return self._hashes[np.frombuffer(coded.encode("utf-32-le"), np.uint32)]

    def _cut(self, units: Units) -> str:
        """The coded text of these words, until the next one."""
        if max(len(self._words), len(self._of_part), len(self._of_singles)) > _REMEMBERED:
            self._forget()
        parted = self._parted(units)
        text = self._coded_parts(parted)
        if _TIED in text:
            text = "".join(map(self._coded_stretch, _STRETCHES.findall(parted)))
        between = _SINGLES.split(text)
        between[1::2] = map(self._of_singles.__getitem__, between[1::2])
        return "".join(between).replace("\n", "")

    def _parted(self, units: Units) -> str:
        """The text with a space where no word goes on: around Han, and between two of them.

        A word of two characters joins them. Three that stand together in a longer one are joined.
        """
        is_han = (units >= ord(HAN_FIRST)) & (units <= ord(HAN_LAST))
        of_two, of_three = _hashed(units)
        is_parted = is_han[:-1] & is_han[1:] & ~self._joined.take(of_two)
        triple_is_free = ~self._joined.take(of_three)
        is_parted[:-1] &= triple_is_free
        is_parted[1:] &= triple_is_free
        is_parted |= is_han[:-1] != is_han[1:]
        spaced = np.zeros((len(units), 2), np.uint16)
        spaced[:, 0] = units
        spaced[:-1, 1] = is_parted * np.uint16(ord(" "))
        flat = spaced.ravel()
        return flat.compress(flat != 0).tobytes().decode("utf-16-le")

    def _coded_parts(self, parted: str) -> str:
        return "".join(map(self._of_part.__getitem__, parted.split(" ")))

    def _coded_part(self, part: str) -> str:
        if not HAN_FIRST <= part[:1] <= HAN_LAST:
            return "".join(map(self._code_of.__getitem__, part.split())) or "\n"
        words, is_tied = self._path(part)
        return _TIED if is_tied else self._coded(words)

    def _coded_stretch(self, parted: str) -> str:
        text = self._coded_parts(parted)
        return self._coded(self._path(parted.replace(" ", ""))[0]) if _TIED in text else text

    def _path(self, text: str) -> tuple[list[str], bool]:
        """The words of most weight, before the model; and whether others weigh as much.

        Of paths that jieba finds equally heavy it takes the longer word. Two may be equal but for
        rounding, which depends on all that follows in the run: only the path of a run is sure.
        """
        size, log_total, frequency_of = len(text), self._log_total, self._frequencies.get
        weights, ends, ties = [0.0] * (size + 1), [0] * size, set()
        for start in range(size - 1, -1, -1):
            best, is_tied = -inf, False
            for end in range(start + 1, min(size, start + self._longest) + 1):
                if frequency := frequency_of(text[start:end]):
                    weight = log(frequency) - log_total + weights[end]
                    gain = weight - best
                    if gain >= 0:
                        best, ends[start] = weight, end
                    if gain > -_SAME_WEIGHT:
                        is_tied = gain < _SAME_WEIGHT
            if best == -inf:  # jieba's frequency of an unknown character is 1
                best, ends[start] = weights[start + 1] - log_total, start + 1
            weights[start] = best
            if is_tied:
                ties.add(start)
        words, start, meets_tie = [], 0, False
        while start < size:
            meets_tie = meets_tie or start in ties
            words.append(text[start : ends[start]])
            start = ends[start]
        return words, meets_tie

    def _coded_singles(self, characters: str) -> str:
        is_refused = self._frequencies.get(characters)  # a word that weighs less than its parts
        return characters if is_refused else self._coded(self._likeliest_words(characters).split())

    def _coded(self, words: Iterable[str]) -> str:
        return "".join([word if len(word) == 1 else self._code_of[word] for word in words])

    def _new_code(self, word: str) -> str:
        self._words.append(word)
        return chr(_FIRST_CODE + len(self._words) - 1)


class _Memory(dict[str, str]):
    """What a function makes of a text."""

    def __init__(self, make: Callable[[str], str]) -> None:
        self._make = make

    def __missing__(self, text: str) -> str:
        self[text] = made = self._make(text)
        return made


def likeliest_words(model: Model) -> Callable[[str], str]:
    """A function that gives the likeliest words of some characters, joined by spaces.

    Viterbi's algorithm: of the ways to each state the likelier one is kept, as its weight and as
    its words. Where two are equally likely, that from the state of the later letter is, as jieba's.
    """
    characters = set().union(*model.emit.values())
    emit = {c: tuple(model.emit[state].get(c, NEVER) for state in STATES) for c in characters}
    unknown = (NEVER,) * len(STATES)
    starts = [model.start[state] for state in STATES]
    eb, sb, bm, mm, be, me, es, ss = (
        model.trans[a].get(b, NEVER) for a, b in ("EB", "SB", "BM", "MM", "BE", "ME", "ES", "SS")
    )

    def words(text: str) -> str:
        first = text[0]
        b, m, e, s = map(add, starts, emit.get(first, unknown))
        to_b = to_m = first
        to_e = to_s = f"{first} "
        for character in text[1:]:
            of_b, of_m, of_e, of_s = emit.get(character, unknown)
            eb_, sb_ = e + eb + of_b, s + sb + of_b
            bm_, mm_ = b + bm + of_m, m + mm + of_m
            be_, me_ = b + be + of_e, m + me + of_e
            es_, ss_ = e + es + of_s, s + ss + of_s
            (b, next_b) = (sb_, to_s) if sb_ >= eb_ else (eb_, to_e)
            (m, next_m) = (mm_, to_m) if mm_ >= bm_ else (bm_, to_b)
            (e, next_e) = (me_, to_m) if me_ >= be_ else (be_, to_b)
            (s, next_s) = (ss_, to_s) if ss_ >= es_ else (es_, to_e)
            to_b, to_m = next_b + character, next_m + character
            to_e, to_s = f"{next_e}{character} ", f"{next_s}{character} "
        return (to_s if s >= e else to_e)[:-1]

    return words


def model() -> Model:
    """jieba's."""
    names = ("start", "trans", "emit")
    return Model(*(jieba_module(f"jieba.finalseg.prob_{name}").P for name in names))


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
    return tokenizer


@cache
def jieba_module(name: str) -> Any:
    """jieba, or a part of it, without what Python says of its backslashes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # from 3.12 on
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module(name)


def _frequencies(added: tuple[UserWord, ...]) -> tuple[Mapping[str, int], int]:
    """How often each word occurs, and all of them; 0 for the beginning of a word.

    jieba takes three times as long for its own words alone.
    """
    if added:
        tokenizer = jieba_tokenizer(added)
        return tokenizer.FREQ, tokenizer.total
    cells = _PART_OF_SPEECH.sub(" ", dictionary().decode()).split()
    frequencies = list(map(int, cells[1::2]))
    return dict(zip(cells[::2], frequencies, strict=True)), sum(frequencies)


def _joined_characters(words: Sequence[str]) -> NDArray[np.bool_]:
    """True at the hashes of two characters that are a word, and of three that a word holds."""
    units = np.frombuffer(f" {' '.join(words)} ".encode("utf-16-le"), np.uint16)
    is_space = units == ord(" ")
    of_two, of_three = _hashed(units)
    joined = np.zeros(1 << _TABLE_BITS, np.bool_)
    is_pair = is_space[:-3] & ~is_space[1:-2] & ~is_space[2:-1] & is_space[3:]
    joined[of_two[1:-1][is_pair]] = True
    joined[of_three[~(is_space[:-2] | is_space[1:-1] | is_space[2:])]] = True
    return joined


def _hashed(units: Units) -> tuple[Codes, Codes]:
    """A hash of each two and of each three neighbours."""
    codes, (first, second, third) = units.astype(np.uint32), _FACTORS
    of_two = codes[:-1] * first + codes[1:] * second
    of_three = of_two[:-1] + codes[2:] * third
    unused = np.uint32(32 - _TABLE_BITS)
    return of_two >> unused, of_three >> unused
