"""What the next visit finds changed though nobody has edited the page: "5 comments", "2 hours ago".

counters.txt has its words, folded, for each language a line of what is counted, one of ages (which
`python -m tests.counters_table` writes) and one of days; # is the number, before or behind what is
counted if there is none, and a magnitude may follow, as in "1.2万次阅读" and "100+ views":

    age es: hace # horas    day es: ayer    count es: comentarios|leído # veces    magnitude: mil
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from simhash_pipeline import native
from simhash_pipeline.page.folding import MARKS, STOPS
from simhash_pipeline.page.han import HAN
from simhash_pipeline.page.segment import UNSPACED

MAX_LINE = 90  # characters of a line with counters; longer ones are text
_WORDS = Path(__file__).with_name("counters.txt").read_text("utf-8")
_LETTER = re.compile(r"\w")
_STOPPED = re.compile(rf"[.!?…{STOPS}][\"'”’»)」』）]*\s*\Z")
_SKIPPED = "条條次个個則则件量数數"  # between a number and what it counts, or behind that
_BEHIND = re.compile(rf"\A\s*[{_SKIPPED}]")
# "12 345" may be two numbers after a word or a sign: "Room 12 345 views", "€49 312 reviews".
_NUMBER = (
    r"(?=\d)(?:(?<![^\s(\[|·•:])(?<![\w%$€£¥₩₹₺₽] )\d{1,3}(?: \d{3})+(?!\d)|\d+(?:[.,:h]\d+)*)"
)
# A number or time, a word (of scripts without spaces a character), or a mark that parts others.
_TOKEN = re.compile(
    rf"{_NUMBER}(?:[km](?![^\W\d_{UNSPACED}]|\s+ago\b))?|[천만억](?<=\d.)"
    rf"|(?![{_SKIPPED}])[{UNSPACED}][{MARKS}]*|(?:[^\W\d_{UNSPACED}][{MARKS}]*)+|[^\w\s:().{MARKS}]"
)
_ASCII_TOKEN = re.compile(  # the same, three times as fast
    _NUMBER + r"(?:[km](?![a-zA-Z]|\s+ago\b))?|[a-zA-Z]+|[^\w\s\x1c-\x1f:().]", re.ASCII
)
_SCORE = re.compile(r"\d+[.,]\d\d?")  # as in "Reviews: 4.6", which counts none
_HAN_PAIR = re.compile(f"[{HAN}]{{2}}(?![{HAN}])")
_UNSPACED, _DIGIT = re.compile(f"[{UNSPACED}]"), re.compile("[0-9]")
# Of "1 day 3 hours ago" what is left out.
_BETWEEN = re.compile(r"(?<=\d)\s*[a-z]{1,7}[\s,.]+\d+(?=\s*[a-z]{1,7}[\s,.]+ago\b)")
_CLOCK = re.compile(r"\d{1,2}[:.h]\d\d(?::\d\d)?")
_BESIDE_CLOCK, _BEHIND_CLOCK = 5, 3  # letters of a word before a time, as "at", and behind: "pm"
_MARKS_AT_ENDS = re.compile(r"^[\s,.;:|·•()\[\]/-]+|[\s,.;:|·•()\[\]/-]+$")
# A name has few words but those as short as "by" and "von".
_LONG_WORD, _MOST_NAMES = re.compile(r"\w{4,}"), 2
_PARTING = b"!\"'(),-./:;?[]|0123456789"
_SPACES = bytes.maketrans(_PARTING, b" " * len(_PARTING))


def doubtful(lines: list[str]) -> list[int]:
    """The places of lines that `without_counters` may change: those with a word of a counter."""
    if native.kernel is None:
        return [at for at, line in enumerate(lines) if len(line) <= MAX_LINE and _has_word(line)]
    keys = _keys()
    return native.kernel.doubtful(lines, MAX_LINE, *keys.words, *keys.of_kernel)


@lru_cache(maxsize=8192)  # the pages of a site share their short lines: 2 MB
def without_counters(line: str, *, is_main: bool, is_above: bool) -> str:
    """A short line, in one spelling, without its counters.

    In the main text they go only if nothing else is left, or two are in a line that is no sentence:
    "42 readers saw it" may be news. So does an age beside a name, as between two posts: "Ann Ford 5
    hours ago". Above its first paragraph one goes that ends the line behind a comma, as in "By our
    staff, 5 hours ago."
    """
    if len(line) > MAX_LINE or not _has_word(line) or not (found := [*_said(line)]):
        return line
    left, counters, before, name = _counted_out(line, found)
    is_said = is_sentence(line)
    if not is_main or (counters > 1 and not is_said) or not _LETTER.search(left):
        return left
    if is_above and before != line:
        return before
    return line if is_said else name or line


def is_sentence(line: str) -> bool:
    return _STOPPED.search(line) is not None


def _has_word(line: str) -> bool:
    """Whether a word stands in the line without which there is no counter."""
    lower, keys = line.lower(), _keys()
    is_numbered = _DIGIT.search(line) is not None
    spaced = lower.encode("utf-8", "surrogatepass").translate(_SPACES)  # as bytes: ten times faster
    said = spaced.decode("utf-8", "surrogatepass").split()
    if not keys.words[is_numbered].isdisjoint(said):
        return True
    return not line.isascii() and keys.letters[is_numbered].search(lower) is not None


def _counted_out(line: str, found: list[tuple[int, int, str]]) -> tuple[str, int, str, str]:
    """What is left of a line without its counters, and how many hold a number; all of it again.

    Or, in the third place, what is before a counter that ends the line behind a mark. And the name
    beside an age that begins or ends the line, if that may be one, or "".
    """
    left, name, end, numbers, before = "", "", 0, 0, line
    for start, stop, kind in found:
        left += line[end:start]
        numbers += any(map(str.isdigit, line[start:stop]))
        head, tail = line[:start], line[stop:]
        if not _LETTER.search(tail) and _is_parted(line, start):
            before = _MARKS_AT_ENDS.sub("", head)
        name = _name_beside(head, tail) if kind == "age" else name
        end = stop
    return _MARKS_AT_ENDS.sub("", left + line[end:]), numbers, before, name


def _name_beside(head: str, tail: str) -> str:
    """A few words that are no label, before or behind what ends or begins a line; else ""."""
    rest = head + tail
    is_joined = (head[-1:] + tail[:1]).isalnum()
    if (head and tail) or is_joined or ":" in rest or len(_LONG_WORD.findall(rest)) > _MOST_NAMES:
        return ""
    return _MARKS_AT_ENDS.sub("", rest)


def _is_parted(line: str, at: int) -> bool:
    """Whether a mark stands before the place, or before Chinese and Japanese a space."""
    before = line[:at].rstrip()
    return not before[-1:].isalnum() or (line[at] >= "\u2e80" and before != line[:at])


def _said(line: str) -> Iterator[tuple[int, int, str]]:
    """Where the counters are, and of which kind."""
    lower, tokens = line.lower(), _ASCII_TOKEN if line.isascii() else _TOKEN
    if " ago" in lower:
        lower = _BETWEEN.sub(lambda between: " " * len(between[0]), lower)
    words, keys = tokens.findall(lower), _keys()
    said = ["#" if word[0].isdigit() else word for word in words]
    magnitudes, begins = keys.magnitudes, keys.begins
    for at in [at for at, word in enumerate(said) if word in magnitudes]:
        if said[max(0, at - 1)] in ("#", ""):
            said[at] = ""
    last = 0
    places: list[tuple[int, int]] = []
    for first in [at for at, word in enumerate(said) if word in begins]:
        end, kind = _longest(said, first, keys) if first >= last else (0, "")
        if end and not (kind == "count" and _has_score(words, said, first, end)):
            begin, last = _with_clock(words, first, end) if kind == "day" else (first, end)
            places = places or [found.span() for found in tokens.finditer(lower)]
            rest = _BEHIND.sub("", line[places[last - 1][1] :])
            yield places[begin][0], len(line) - len(rest), kind


def _longest(said: list[str], first: int, keys: "_Keys") -> tuple[int, str]:
    """Where the longest counter that begins here ends, and its kind; 0 and "" without one."""
    text, found = "", (0, "")
    for at in range(first, len(said)):
        text += said[at]
        if text not in keys.begins:
            break
        if text in keys.kinds:
            found = at + 1, keys.kinds[text]
    return found


def _has_score(words: list[str], said: list[str], first: int, end: int) -> bool:
    """Whether a number is one of few, with a fraction."""
    return any(
        _SCORE.fullmatch(words[at]) and said[at + 1 : at + 2] != [""] for at in range(first, end)
    )


def _with_clock(words: list[str], first: int, end: int) -> tuple[int, int]:
    """The range of a day's words and of those of the time beside it: "Today at 10:12"."""
    for at in range(end, min(len(words), end + 3)):
        if _CLOCK.fullmatch(words[at]):
            return first, at + 1 + (0 < len("".join(words[at + 1 : at + 2])) <= _BEHIND_CLOCK)
        if len(words[at]) > _BESIDE_CLOCK:
            break
    before = first - 1 - (words[first - 1 : first] == [","])
    return (before, end) if before >= 0 and _CLOCK.fullmatch(words[before]) else (first, end)


class _Keys(NamedTuple):
    """What counters.txt knows."""

    kinds: dict[str, str]  # by the tokens in a row; age, count or day
    words: tuple[set[str], set[str]]  # the longest of each day without a number, and of all
    letters: tuple[re.Pattern[str], re.Pattern[str]]  # two in a row, of scripts without spaces
    of_kernel: list[str]  # the first of those of days, and of all; the second; those alone
    begins: set[str]  # of the texts of `kinds`, by one token, two and all
    magnitudes: set[str]


@cache
def _keys() -> _Keys:
    kinds: dict[str, str] = {}
    words: tuple[set[str], set[str]] = set(), set()
    pairs, begins = (set[str](), set[str]()), set[str]()
    *lines, magnitudes = _WORDS.splitlines()
    for line in lines:
        kind, _, forms = line.partition(": ")
        for form in forms.split("|"):
            tokens = _TOKEN.findall(form)
            word = max([each for each in tokens if each != "#"], key=len)
            is_count, is_day = kind[:3] == "cou", kind[:3] == "day" and "#" not in form
            rows = [tokens]
            if is_count and "#" in form:
                rows.append(_TOKEN.findall(form.replace("#", "##")))  # "12 345"
            elif is_count:
                rows = [["#", *tokens], [*tokens, "#"], ["#", *tokens, "#"]]
            kinds |= dict.fromkeys(map("".join, rows), kind.split()[0])
            begins |= {begin for row in rows for begin in accumulate(row)}
            if is_unspaced := _UNSPACED.match(word):
                row = "".join(token[0] for token in tokens)
                word = [*_HAN_PAIR.findall(row), *re.findall("[^#]{1,2}", row)][0]
            for each in (pairs if is_unspaced else words)[0 if is_day else 1 :]:
                each.add(word)
    of_numbers = set(magnitudes.partition(": ")[2].split("|"))
    firsts = ["".join({pair[0] for pair in each if len(pair) == 2}) for each in pairs]
    second = "".join({pair[1] for pair in pairs[1] if len(pair) == 2}) + _SKIPPED
    alone = "".join({pair for pair in pairs[1] if len(pair) == 1})
    day, any_two = (rf"[{first}][\s{MARKS}{_SKIPPED}]*[{second}]" for first in firsts)
    letters = re.compile(day), re.compile(f"{any_two}|[{alone}]")
    return _Keys(kinds, words, letters, [*firsts, second, alone], begins, of_numbers)
