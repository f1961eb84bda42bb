"""One spelling of a text, for every witness: fingerprints, samples, stories, paragraphs, titles.

Folded are what Unicode calls compatible (NFKC: composed and decomposed letters, full and half
widths), what is invisible, quotation marks and dashes, digits, and letters that one language writes
in two ways.
"""

import re
import unicodedata
from array import array
from collections.abc import Iterator
from functools import cache
from itertools import chain, pairwise

from simhash_pipeline import native
from simhash_pipeline.bits import np
from simhash_pipeline.page.han import HAN

# What is invisible within a word: where a line may break, or may not (soft hyphen, zero width
# space, word joiner, and its old form), joiners, directions, and how an emoji is drawn.
IN_WORDS = "\u00ad\u200b\u2060\ufeff\u200d\u200e\u200f\u202a-\u202e\u2066-\u2069\ufe0e\ufe0f"
_INVISIBLE = re.compile(f"[{IN_WORDS}]")
# Between Persian letters it is as good as a space; in India's scripts it is invisible, too.
_NON_JOINER = "\u200c"
_SPACING = re.compile("(?<=[\u0600-\u06ff])\u200c")
# Arabic and Persian letters as Lucene's ArabicNormalizer and PersianNormalizer have them, with all
# seats of hamza; points and tatweel go. Romanian's comma below was a cedilla in older fonts.
_LETTERS = {
    "ا": "آأإٱ",
    "ي": "ىیےئ",
    "و": "ؤ",
    "ك": "ک",
    "ه": "ةۀہھە",
    "": f"{IN_WORDS}\u0591-\u05bd\u05bf\u05c1\u05c2\u0640\u064b-\u065f\u0670\u06d6-\u06ed",
    "I": "İ",
    "i": "ı",
    "Ş": "Ș",
    "ş": "ș",
    "Ţ": "Ț",
    "ţ": "ț",
    "Е": "Ё",
    "е": "ё",
    "'": "‘’‚‛‹›ʻʼ′׳",
    '"': "“”„‟«»″״「」『』〝〞",
    "-": "‐-―−⸺",
    ".": "。۔٫",
    ",": "、،٬",
    ";": "؛",
    "?": "؟",
    "%": "٪",
    "~": "〜",
}
# Blocks whose characters fold one by one, or may be sorted and composed with others of these alone:
# no Latin mark, no part of a Hangul syllable, no sigma.
FOLDED = (
    "\0-\u024f\u0400-\u0482\u048a-\u052f\u05d0-\u05ea\u060c\u061b-\u064a\u0660-\u066f\u0671-\u06d5"
    "\u06f0-\u06ff\u0900-\u10ff\u1200-\u13ff\u1780-\u17ff\u1e00-\u1eff\u2010-\u2027\u2030-\u205e"
    "\u20a0-\u20bf\u2190-\u23ff\u2460-\u27bf\u2b00-\u2bff\u3000-\u30ff\uff01-\uff60\uffe0-\uffe6"
)
FOLDED_TO_THEMSELVES = f"{HAN}\uac00-\ud7a3"
# NFKC sorts the marks in a row, in the square of their number. Unicode's Stream-Safe Text Format
# (UAX 15, 13) bounds them too; no script stacks so many.
_MAX_MARKS = 30
_DECOMPOSED_TO_MARKS = frozenset("\u0f73\u0f75\u0f81\uff9e\uff9f")  # of combining class 0
# As in _kernel.c.
_ASK, _DROPPED, _ELLIPSIS = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
FIRST, SECOND, RANK_SHIFT = 1 << 22, 1 << 23, 24

# Full stops that end a sentence wherever they stand; a "." does before a space or at a line's end.
STOPS = "。！？।॥۔؟።፧။។៕།༎։"
# Marks that belong to the word they stand in, which `\w` leaves out: accents, Hebrew and Arabic
# points, those of India's scripts but for their full stops, and of Thai, Lao, Tibetan, Burmese and
# Khmer.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e\u0f3f\u0f71-\u0f84\u0f86\u0f87\u0f8d-\u0fbc"
    "\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d"
    "\u17b4-\u17d3\u17dd\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
)
# Scripts whose words aren't parted by spaces, or are too long or too short to be compared: they are
# compared in pieces. Of each what the pieces are made of, and how many of that.
_PIECES = (
    (r"[\u3040-\u30ff\u3400-\u9fff]", 2),  # kana and Han
    (r"[\uac00-\ud7a3]", 2),  # Hangul: a noun and its particle are one word
    (rf"(?=\w)[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff][{MARKS}]*", 4),  # Thai to Khmer
    (rf"(?:(?=\w)[\u0f00-\u0fff][{MARKS}]*)+\u0f0b?", 2),  # Tibetan's syllables
)
_PIECED = "\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
is_pieced = re.compile(f"[{_PIECED}]").match  # whether a word is a piece: it may begin anywhere
_VIETNAMESE = re.compile("[\u1ea0-\u1ef9]")
# A number with its dots is one word: 3.27.1 and 3.27.2 are two versions. An operator is one, too.
_LONGEST = "\ufdfa"  # becomes eighteen characters, by itself: a page of it has thirty million
_TITLE_WORD = re.compile(
    "|".join(f"((?:{part})+)" for part, _ in _PIECES)
    + rf"|\d+(?:[.:/_-]\d+)*(?![^\W_])|(?:[^\W_{_PIECED}][{MARKS}]*)+|[+*%=<>!~^&#@$]+"
)
# The same of ASCII, in half the time.
_ascii_words = re.compile(
    r"\d+(?:[.:/_-]\d+)*(?![^\W_])|[^\W_]+|[+*%=<>!~^&#@$]+", re.ASCII
).findall


def folded(text: str) -> str:
    """The text in one spelling, and in lower case."""
    return lower(spelled(text))


def lower(text: str) -> str:
    """The text in lower case: by lines, as those of ASCII take a tenth of the time of others."""
    if text.isascii():
        return text.lower()
    said = None if native.kernel is None else native.kernel.spelled(text, _lowers())
    return "\n".join(map(str.lower, text.split("\n"))) if said is None else said


def spelled(text: str) -> str:
    """The text in one spelling, case as it is; in a time that grows as the text."""
    said = text if text.isascii() else _by_table(text)
    if said is not None:
        return said
    lines = text.split("\n")
    if len(lines) <= (8 if native.kernel is None else 1):  # as numpy takes long to begin
        return _by_words(lines)
    half = len(lines) // 2
    return "\n".join([spelled("\n".join(part)) for part in (lines[:half], lines[half:])])


def _by_table(text: str) -> str | None:
    """The text spelled character by character; None if that depends on those beside one."""
    if native.kernel is not None:
        return native.kernel.spelled(text, folds())
    units = text.replace("…", "...").encode("utf-16-le", "surrogatepass")
    found = np.frombuffer(folds(), np.uint32)[np.frombuffer(units, np.uint16)]
    left = found[found != _DROPPED]
    if (left >= SECOND).any():
        return None
    said: bytes = (left & (FIRST - 1)).astype(np.uint16).tobytes()
    return said.decode("utf-16-le", "surrogatepass")


def _by_words(lines: list[str]) -> str:
    """The same by Python, which takes a hundred times as long, of words that need it."""
    words = {*" ".join(lines).split(" ")}
    # Without the kernel they aren't asked for one by one, as numpy takes long to begin.
    table = {} if native.kernel is None else {word: _by_table(word) for word in words}
    said = {word: spelling for word, spelling in table.items() if spelling is not None}
    others = [*words.difference(said)]
    said |= zip(others, _composed("\n".join(others)).split("\n"), strict=True)
    return "\n".join([" ".join(map(said.__getitem__, line.split(" "))) for line in lines])


def _composed(text: str) -> str:
    text = _SPACING.sub(" ", _INVISIBLE.sub("", text)).replace(_NON_JOINER, "")
    if marks := "".join(filter(_is_mark, set(text))):
        text = re.sub(f"[{marks}]{{{_MAX_MARKS + 1},}}", "", text)
    said = _spelling(text.replace(_LONGEST, _NON_JOINER))  # none is left
    return said.replace(_NON_JOINER, _spelling(_LONGEST))


def _spelling(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_by_code())


def spelled_lines(lines: list[str]) -> list[str]:
    """Each of these lines in one spelling, at the cost of one text."""
    others = "\n".join([line for line in lines if not line.isascii()])
    if not others:
        return lines
    said = iter(spelled(others).split("\n"))
    return [line if line.isascii() else next(said) for line in lines]


def words_of(text: str) -> list[str]:
    """The words of a title, folded, in reading order; of `_PIECES` each piece, `is_pieced`.

    Operators are words too, and marks stay with their letters.
    """
    words = []
    text = folded(text)
    if text.isascii():
        return _ascii_words(text)
    for found in _TITLE_WORD.finditer(text):
        if found.lastindex is None:
            words.append(found[0])
            continue
        part, size = _PIECES[found.lastindex - 1]
        parts = re.findall(part, found[0])
        places = range(max(1, len(parts) - size + 1))
        words += ["".join(parts[place : place + size]) for place in places]
    # Vietnamese parts its syllables by spaces, and has few of them: two make a word.
    pairs = pairwise(words) if _VIETNAMESE.search(text) else ()
    return list(map(" ".join, pairs)) or words


def ranges(pattern: str) -> list[tuple[int, int]]:
    """The ranges of a character class, first and last."""
    found = re.findall("(?s)(.)(?:-(.))?", pattern)
    return [(ord(first), ord(last or first)) for first, last in found]


def characters(pattern: str) -> list[str]:
    """The characters of a character class."""
    return [chr(code) for first, last in ranges(pattern) for code in range(first, last + 1)]


def _is_mark(character: str) -> bool:
    return unicodedata.combining(character) > 0 or character in _DECOMPOSED_TO_MARKS


@cache
def _by_code() -> dict[int, str]:
    """What a composed letter is spelled as, and the digits of all scripts."""
    found = {ord(c): to for to, pattern in _LETTERS.items() for c in characters(pattern)}
    digits = filter(str.isdecimal, map(chr, range(0xA0, 0x10000)))
    return found | {ord(digit): str(unicodedata.decimal(digit)) for digit in digits}


@cache
def folds() -> bytes:
    """What each unit of UTF-16 is spelled as: 4 bytes, a character and bits for _kernel.c.

    The kernel asks the Python of a text where one is to be sorted or composed. So the bits are the
    combining class, and whether it is the second or the first of a composed one.
    """
    found = array("I", [_ASK]) * 0x10000
    for code in chain.from_iterable(range(a, z + 1) for a, z in ranges(FOLDED_TO_THEMSELVES)):
        found[code] = code
    firsts, seconds = map(set, zip(*_pairs(), strict=True))
    for character in characters(FOLDED):
        fold = unicodedata.normalize("NFKC", character)
        if fold == "...":
            found[ord(character)] = _ELLIPSIS
        elif len(fold) == 1 and (to := fold.translate(_by_code())):
            bits = SECOND * (fold in seconds) | FIRST * (fold in firsts)
            found[ord(character)] = ord(to) | unicodedata.combining(fold) << RANK_SHIFT | bits
    for character in characters(IN_WORDS):
        found[ord(character)] = _DROPPED
    return found.tobytes()


@cache
def _lowers() -> bytes:
    """The small letter of each unit of UTF-16, as `folds`; a sigma's depends on what follows."""
    small = [chr(code).lower() for code in range(0x10000)]
    return array("I", [_ASK if len(c) > 1 or c == "σ" else ord(c) for c in small]).tobytes()


def _pairs() -> Iterator[str]:
    """The two characters of each that is composed of two."""
    for character in characters(FOLDED):
        parts = unicodedata.decomposition(character).split()
        pair = "".join(chr(int(part, 16)) for part in parts if part[0] != "<")
        if len(pair) == len(parts) == 2 and unicodedata.normalize("NFC", pair) == character:
            yield pair
