"""Whether a value of an item is on its page: visible, or in the source.

A number may have other joints and zeros, or a unit that touches it; a date may have a time behind
it, or be in seconds. Numbers of comments and ages are no values (see counters.py), nor are parts of
the page's own address, or what crawls add: times of today, digests, UUIDs.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import islice
from urllib.parse import unquote, urlsplit
from zlib import crc32

from simhash_pipeline.notation import (
    DIGITS,
    IMAGE,
    JOINTS,
    bare_number,
    days_about_now,
    is_of_the_crawl,
    link_of,
    path_of,
)
from simhash_pipeline.page.counters import MAX_LINE, is_sentence, without_counters
from simhash_pipeline.page.decode import unescaped
from simhash_pipeline.page.fingerprint import PageFingerprint, sentences
from simhash_pipeline.page.folding import STOPS, folded
from simhash_pipeline.page.source import Source
from simhash_pipeline.urls import site_of, without_tracking

_MOST_WORDS = 1_000  # of a value, which are looked for
_MOST_LINKS = 4  # to one row's page: image, title, button; a link in all rows names none
_MOST_SHOWN = 1_000_000  # characters of visible text that are looked at
MOST_SCANNED = 100_000_000  # characters, some 50 ms; then an index finds words
_MOST_PLACES, _MOST_STARTS = 100, 1_000  # of a word, and of a run of it, that are looked at
MOST_CHARS = 5_000_000  # of a value: as MAX_PAGE_BYTES
_LETTER = r"[^\W_\u2e80-\U0010ffff]"
# What an index has: a row of letters, in which nothing but its whole is found, or two characters.
_RUN = re.compile(rf"{_LETTER}+|(?=([\u2e80-\U0010ffff]{{2}}))")
_WORD = re.compile(r"[^\W_]+")
_TAG = re.compile(r"<[^<>]*>")
# No `List<User>`.
_OWN_TAG = re.compile(r"<(?:!|/?(?:[a-z][\w-]*|[A-Z]+[1-6]?)(?=[\s/>]))[^<>]*>")
_SAYS = re.compile(r"""\s(?:alt|class|href|src|title|value)\s?=\s?(?:"([^"<>]*)"|'([^'<>]*)')""")
_TOKEN_CHARS = 40  # of a parameter that is signed
# How long a link is valid, by whose key.
_SIGNS = re.compile(
    r"(?i)(?:x-(?:amz|goog)-[\w-]+|\w*expir\w*|exp|sig\w*|awsaccesskeyid|googleaccessid|key-pair-id)="
)
# Of a site's own links: versions of files, sizes of images, places in lists, visitors, times.
_NAMES_NOTHING = re.compile(
    r"(?i)(?:_|v|ver|version|t|ts)=[\d.]*|(?:time\w*|rn?d?|rand\w*|cb|cache\w*|hash|sig\w*|st|\w*token"
    r"|nonce|_?wpnonce|[cx]srf\w*|form_?key|key|exp\w*|dpl|ref\w*|from|source|pos\w*|page|sort|order|dir"
    r"|after|before|next|prev|return\w*|redirect\w*|back|w|h|width|height|dpr|quality|fit|s|[su]id"
    r"|(?:session|user|visitor|client|request)\w*|lang|hl|offset|start|limit|tab|view|ord|zx?|bust"
    r"|imp(?:id|ression\w*)?)=.*|\w+=(?:1[5-9]\d{8}(?:\d{3})?|20\d{8}(?:\d\d){0,2})"
)
_MOST_MARKUP = 300  # characters of a value whose attributes say something, too
_CLOCK_TIME = re.compile(r"(?<!\d)\d{1,2}[:.h]\d\d(?!\d)")
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?!\d)")
_ISO_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", re.IGNORECASE
)
# Spaces of all kinds are folded into this one, between thousands.
# A unit may follow: 86m², 256GB, 5th.
_NUMBER = re.compile(
    r"(?<![A-Za-z\d])\d(?:[\d.,']| (?=\d{3}(?!\d)))*"
    r"(?:(?=[cdk]?m[23](?![A-Za-z\d]))|(?![A-Za-z]{5}|[A-Za-z]{0,4}\d))"
)
_ROW_CELLS, _ROW_BYTES = 3, 8  # of a table, which stand in no text by chance
# What a sentence ends with, in UTF-8.
_STOPS = tuple(each.encode() for each in f".!?…\"'”’»)」』）{STOPS}")
_PARTS = " ,;|\u00b7"  # "By Ann Ford, " before a date
_LINE_ENDS = "\n\0\n"
_QUARTER_BYTES = 8  # of a sentence: two of them stand in no text by chance
SHORT_VALUE_CHARS = 4  # numbers and words that stand in any source by chance
_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/nrt])')


class Text:
    """A text in which words are looked for: those of a list of thousands of rows by an index."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._scanned = 0

    @cached_property
    def _starts(self) -> array[int]:
        """Where each run begins, by its checksum: 8 bytes each."""
        return array("Q", sorted(_checksum(run) << 32 | at for run, at in _runs(self.text)))

    def has_number(self, spelled_so: set[str]) -> bool:
        """Whether one of these is a number in it, but in no counter."""
        return not (spelled_so.isdisjoint(self.numbers) or spelled_so.isdisjoint(self._uncounted))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Those in counters, too."""
        return _numbers_in(self.text)

    @cached_property
    def _uncounted(self) -> frozenset[str]:
        lines = self.text.splitlines()
        return _numbers_in("\n".join(map(_uncounted, lines)))

    def line_at(self, place: int, words: str) -> str:
        """The line of these words; of a longer one than MAX_LINE as much as shows that it is."""
        end = place + len(words) + MAX_LINE
        begin = max(place - MAX_LINE, 0)
        first, last = self.text.rfind("\n", begin, place), self.text.find("\n", place, end)
        return self.text[begin if first < 0 else first + 1 : end if last < 0 else last]

    def has(self, word: str) -> bool:
        return any(True for _ in self.places(word))

    def shows(self, words: str) -> bool:
        """Whether they stand in it, and in no counter."""
        has_digit = any(map(str.isdigit, words))
        return any(
            not has_digit or words in _uncounted(self.line_at(place, words))
            for place in self.places(words)
        )

    def places(self, word: str) -> Iterator[int]:
        """Where a word stands, not within another; a bounded number of places is looked at."""
        self._scanned += len(self.text)
        by_index = self._scanned > MOST_SCANNED and _RUN.search(word) is not None
        for place in self._indexed(word) if by_index else self._found(word):
            if not (_joins(self.text, place) or _joins(self.text, place + len(word))):
                yield place

    def _found(self, word: str) -> Iterator[int]:
        place = self.text.find(word) if word else -1
        for _ in range(_MOST_PLACES):
            if place < 0:
                return
            yield place
            place = self.text.find(word, place + len(word))
        if place >= 0 and len(word) <= _MOST_MARKUP:  # a letter or a digit is within many words
            self._scanned += 9 * len(self.text)  # it takes ten times as long
            found = (each.start() for each in _whole(word).finditer(self.text, place))
            yield from islice(found, _MOST_PLACES)

    def _indexed(self, word: str) -> Iterator[int]:
        """The same by the run of the word that the text has least often."""
        runs = []
        for run, within in _runs(word):
            sums = _checksum(run) << 32, _checksum(run) + 1 << 32
            first, last = (bisect_left(self._starts, each) for each in sums)
            runs.append((last - first, first, within))
        often, first, within = min(runs)
        starts = self._starts[first : first + min(often, _MOST_STARTS)]
        places = ((start & 0xFFFFFFFF) - within for start in starts)
        found = (at for at in places if at >= 0 and self.text.startswith(word, at))
        return islice(found, _MOST_PLACES)


def _numbers_in(text: str) -> frozenset[str]:
    """Without joints."""
    return frozenset(number.translate(JOINTS) for number in _NUMBER.findall(text))


def _runs(text: str) -> Iterator[tuple[str, int]]:
    """Each run, and where it begins."""
    return ((found[1] or found[0], found.start()) for found in _RUN.finditer(text))


def _checksum(run: str) -> int:
    return crc32(run.encode("utf-8", "replace"))


def _whole(word: str) -> re.Pattern[str]:
    """A word that isn't within another."""
    before = f"(?<!{_LETTER})" if re.match(_LETTER, word) else ""
    behind = f"(?!{_LETTER})" if re.match(_LETTER, word[-1]) else ""
    return re.compile(f"{before}{re.escape(word)}{behind}")


class Page:
    """What an item's values are looked for in: what of its page is visible, and its source."""

    def __init__(self, page: PageFingerprint, source: Source) -> None:
        self._visible = page.title, page.text, page.left_out, source.page
        self._beside, self._facts = page.beside, page.facts
        self._title = _folded_title(page.title)
        self._source = source.page or ("" if source.is_text else source.html)
        self._site = site_of(source.url)
        self._url = Text(unquote(source.url).lower())
        place = self._url.text.partition("://")[2] or self._url.text  # of no host: data:text/html,
        self._path = Text(place.partition("/")[2])

    @property
    def _shown(self) -> list[Text]:
        """What is visible; nothing is folded for values that stand in the title."""
        return _shown(*self._visible)

    def witnessed(self, text: str, plain: str) -> str:
        """What of a short value counts; "" of one that stands nowhere on the page."""
        if path := path_of(text):
            spelled_so = path, unquote(path), link_of(text), text
            if self.is_own_address(text) or not any(map(self.holds, spelled_so)):
                return ""
            return self._link(text, path)
        lines = text.split("\n")
        links = [(each, path_of(each)) for each in lines[:_MOST_WORDS]]
        if 1 < len(lines) == len(links) and all(path for _, path in links):
            is_here = all(self.holds(path) for _, path in links)
            return "\n".join(self._link(*link) for link in links) if is_here else ""
        if not plain or self.shows(plain):
            return plain
        if any(shown.has(plain) for shown in self._shown):
            return ""  # in a counter
        if self._shows_number(text):
            return plain
        if self.is_own_address(text):
            begin = f">{text.lower()}<"  # all that an element says, as an option does, unseen
        elif self.holds(text) or self._holds_date(text):
            return plain
        elif len(plain) > 1 and any(plain in each.text for each in self._shown):
            begin = f">{text.lower()}"  # it touches its neighbour: <b>Osby</b><b>350 crowns</b>
        else:
            return ""
        held = self._held(text.lower())
        return plain if any(source.startswith(begin, at - 1) for source, at in held) else ""

    def _link(self, url: str, path: str) -> str:
        """What counts of a link: its path, but an image's alone; on another site also its host.

        And its query, but for what names nothing or may be signed.
        """
        try:
            parts = urlsplit(without_tracking(url))
        except ValueError:  # what is left has half of a bracketed host
            return path
        host = parts.netloc if site_of(url) != self._site else ""
        if IMAGE.search(parts.path) or not (host or parts.query):
            return path
        asked = (each for each in parts.query.split("&") if self._tells(each, bool(host)))
        return f"{host}/{parts.path.strip('/')}?{'&'.join(asked)}"

    def _tells(self, parameter: str, is_foreign: bool) -> bool:
        value = unquote(parameter.partition("=")[2])
        is_signed = len(parameter) >= _TOKEN_CHARS or _SIGNS.match(parameter)
        if is_signed or is_of_the_crawl(value):
            return False
        if is_foreign and len(value) < SHORT_VALUE_CHARS:  # by chance in an address
            return True
        is_own = self.is_own_address(value)
        return not is_own and (is_foreign or _NAMES_NOTHING.fullmatch(parameter) is None)

    def shows(self, plain: str) -> bool:
        """Whether it is visible as it stands, or each of its words."""
        words = dict.fromkeys(_WORD.findall(plain) or [plain])
        return self._stands(plain) or all(map(self._stands, islice(words, _MOST_WORDS)))

    @cached_property
    def shown(self) -> bytes:
        """All that is visible, see `unspaced`, in one line."""
        return unspaced("".join(each.text for each in self._shown)).replace(b"\n", b"")

    @cached_property
    def beside(self) -> bytes:
        """What of it is not in the article."""
        return unspaced(folded(self._beside)).replace(b"\n", b"")

    def facts_in(self, lines: list[bytes]) -> list[str]:
        """The cells of tables beside the article that stand in a text, however it is joined.

        Short ones may stand there by chance: some in a row count, or one that is a line.
        """
        text, of_lines, found, scanned = b"".join(lines), {*lines}, list[str](), 0
        cells, place = folded(self._facts).split("\n"), len(text)
        packed = unspaced("\n".join(cells)).split(b"\n")
        for at, (spaced, cell) in enumerate(zip(cells, packed, strict=True)):
            if not text.startswith(cell, place):
                row = b"".join(packed[at : at + _ROW_CELLS])
                is_asked = len(row) >= _ROW_BYTES and scanned < MOST_SCANNED
                scanned += len(text)
                place = text.find(row) if is_asked else -1
                place = len(text) if place < 0 else place
            if place < len(text) or cell in of_lines:
                found.append(spaced)
            place += len(cell)
        return found

    def said_in(self, own: list[bytes]) -> Iterator[tuple[str, bool]]:
        """The visible sentences that a text of these says, see `_Reading`, and which count.

        One between two of a line does, too: it may end with a link. Between those that count in the
        text a line of the article counts that has a number, as of a list. A teaser beside the
        article may have a part of its lead.
        """
        reading, found = _Reading(own), list[tuple[int, str, bool, bool]]()
        missed, is_begun = list[tuple[str, bytes]](), False  # of a line, since one that it says
        page, *markup = (each.text for each in self._shown)
        shown = "\n".join([page.partition("\n")[2], *markup])  # without the title
        said = sentences(shown.replace("\n", _LINE_ENDS))
        all_packed = unspaced("\n".join(said)).split(b"\n")
        for at, (packed, sentence) in enumerate(zip(all_packed, said, strict=False)):
            if packed == b"\0":
                missed, is_begun = [], False
                continue
            is_counted = counts(packed)
            is_line = len(packed) >= _ROW_BYTES and DIGITS.search(sentence) is not None
            if not (is_counted or is_line or reading.goes_on_with(packed)):
                continue
            end = reading.end_of(packed, all_packed[at + 1 : at + 5], in_parts=is_counted)
            if end < 0:
                missed.append((sentence, packed))
                continue
            if is_begun and len(missed) == 1:
                found += self._between(reading, end - len(packed), *missed[0])
            reading.place, missed, is_begun = end, [], True
            is_own = packed in reading.lines or not reading.may_scan(self.beside)
            if not is_own and packed in self.beside:
                is_counted = is_line = False
            found.append((end, sentence, is_counted, is_line))
        counted = [end for end, _, is_counted, _ in found if is_counted]
        first, last = min(counted, default=0), max(counted, default=0)
        for end, sentence, is_counted, is_line in found:
            yield sentence, is_counted or (is_line and first < end < last)

    def _between(
        self, reading: _Reading, start: int, sentence: str, packed: bytes
    ) -> list[tuple[int, str, bool, bool]]:
        """The one sentence that was missed before the next one's start, if it ends with a link.

        Then the text has its ends there; or, of one that is a link as a whole, nothing.
        """
        if start < reading.place:
            return []
        left = reading.text[reading.place : start]
        is_said = _are_ends(left, packed) if left else self._is_element(sentence)
        return [(reading.place, sentence, left != b"", False)] if is_said else []

    def _is_element(self, sentence: str) -> bool:
        """Whether its source has an element of just these words."""
        return any(
            source[at - 1 : at] == ">" and source.startswith("</", at + len(sentence))
            for source, at in self._held(sentence)
        )

    def has_elsewhere(self, sentence: bytes, spaced: str) -> bool:
        """Whether a sentence stands in its source alone, or is visible but not in the article."""
        if sentence not in self.shown:
            return self.holds(spaced)
        beside = self.beside
        return sentence in beside and self.shown.count(sentence) <= beside.count(sentence)

    def _stands(self, words: str) -> bool:
        """Whether they stand in the visible text, and in no counter."""
        return self._title.shows(words) or any(each.shows(words) for each in self._shown)

    def _shows_number(self, text: str) -> bool:
        """Whether a number is visible in another notation, as 1,299.00."""
        spelled_so = {each.translate(JOINTS) for each in (text, bare_number(text))}
        digits = [each for each in spelled_so if each.isascii() and each.isdigit()]
        found = {f"{each}{zeros}" for each in digits for zeros in ("", "0", "00")}
        return any(each.has_number(found) for each in self._shown)

    def holds(self, text: str) -> bool:
        """Whether its source has it by itself."""
        return len(text) >= SHORT_VALUE_CHARS and any(True for _ in self._held(text.lower()))

    def _holds_date(self, text: str) -> bool:
        """Whether its source has a date, with a time or another one, or as seconds of 1970.

        Of today it has the time, too, if its seconds are zero: else it may be that of the crawl.
        """
        found = _ISO_DATE.match(text)
        if found is None:
            return False
        begun, whole = found[0][:-2], [found[0]]
        if found[0] in days_about_now():
            time_of, whole = _ISO_TIME.match(text), []
            if time_of and time_of[3] in (None, "00"):
                whole = [f"{found[0]}{sign}{time_of[2]}" for sign in "t "]
        return self._holds_instant(text) or any(
            source.startswith(each, place) for source, place in self._held(begun) for each in whole
        )

    def _holds_instant(self, text: str) -> bool:
        """Whether its source has a time as seconds or milliseconds since 1970."""
        if (found := _ISO_TIME.match(text)) is None:
            return False
        day, clock, secs, zone = found.groups()
        spelled_so = f"{day} {clock}:{secs or '00'}{(zone or 'Z').upper()}"
        try:
            at = int(datetime.strptime(spelled_so, "%Y-%m-%d %H:%M:%S%z").timestamp())
        except (ValueError, OverflowError):
            return False
        return self.holds(str(at)) or self.holds(f"{at}000")

    def _held(self, word: str) -> Iterator[tuple[str, int]]:
        """Where its source has a word, without case."""
        return (
            (each.text, place) for each in _sources(self._source) for place in each.places(word)
        )

    def links_once(self, url: str) -> bool:
        """Whether the page links to it as one row does; what all rows link to names none."""
        link = link_of(url).lower()
        found = (sum(1 for _ in each.places(link)) for each in _sources(self._source))
        return len(link) >= SHORT_VALUE_CHARS and 0 < max(found) <= _MOST_LINKS

    def is_own_address(self, text: str) -> bool:
        part = unquote(link_of(text) or path_of(text) or text).lower()
        return (self._url if len(part) > 1 else self._path).has(part)  # no m of m.example.org

    def lacks(self, text: str, plain: str) -> bool:
        """Whether it stands nowhere here, not in a counter either, and is nothing of the crawl.

        Ages become days of a time: its seconds are those of the crawl, unless the page shows them.
        A time of today counts if the page shows its clock.
        """
        time_of = _ISO_TIME.match(text)
        if self.is_own_address(text):
            return False
        if time_of and time_of[3] not in (None, "00"):
            is_shown = self._stands(f"{time_of[2]}:{time_of[3]}")
            return is_shown and not is_of_the_crawl(text)
        letters = "".join(_WORD.findall(text))  # run-20261127
        names_today = any(day.replace("-", "") in letters for day in days_about_now())
        if names_today or is_of_the_crawl(text):
            return time_of is not None and self._stands(time_of[2])
        number = bare_number(text).translate(JOINTS)
        return not any(each.has(plain) or number in each.numbers for each in self._shown)


class _Reading:
    """A scraped text, in which the sentences of its page are looked for in their order."""

    def __init__(self, lines: list[bytes]) -> None:
        self.text, self.lines, self.place = b"".join(lines), {*lines}, 0
        self._scanned = 0

    def may_scan(self, text: bytes) -> bool:
        """Whether it may be looked through, too."""
        is_little = self._scanned < MOST_SCANNED
        self._scanned += len(text) * is_little
        return is_little

    def goes_on_with(self, sentence: bytes) -> bool:
        return self.text.startswith(sentence, self.place)

    def end_of(self, sentence: bytes, later: list[bytes], *, in_parts: bool) -> int:
        """Where a sentence ends, -1 if it isn't there; behind the place it is looked for first.

        Half of it may be there, as `p::text` leaves the words of links out: its begin and its end
        where the text goes on, or two quarters of a long one. If it goes on with a later sentence,
        this may be like that one, and be left out.
        """
        if self.goes_on_with(sentence):  # as most of an article do
            return self.place + len(sentence)
        if self._scanned >= MOST_SCANNED:
            return -1
        size, near = len(sentence), self.place + 4 * len(sentence)
        if (at := self.text.find(sentence, self.place, near)) >= 0:
            return at + size
        following = (each for each in later if len(each) >= _ROW_BYTES)
        if in_parts and not any(map(self.goes_on_with, following)):
            end = self._end_of_parts(sentence)
            if end >= 0:
                return end
        at = self.text.find(sentence) if self.may_scan(self.text) else -1
        return at + size if at >= 0 else -1

    def _end_of_parts(self, sentence: bytes) -> int:
        size = len(sentence)
        here = self.text[self.place : self.place + size]
        begin = _common(here, sentence)
        tail = sentence[max(begin, size - _QUARTER_BYTES) :]
        found_at = here.find(tail, begin)
        end = found_at + len(tail)
        if found_at < 0 or not sentence.endswith(here[begin:end]):
            end = begin
        if 2 * end >= size:
            return self.place + end
        quarter = size // 4
        if quarter < _QUARTER_BYTES:
            return -1
        near = self.place + 4 * size
        parts = (sentence[at : at + quarter] for at in range(0, 4 * quarter, quarter))
        found = [at for part in parts if (at := self.text.find(part, self.place, near)) >= 0]
        return found[-1] + quarter if len(found) > 1 else -1


# All rows of a page are looked for in the same texts, which are folded once.
@lru_cache(maxsize=2)
def _folded_title(title: str) -> Text:
    return Text(folded(title[:_MOST_SHOWN])[:_MOST_SHOWN])


@lru_cache(maxsize=2)
def _shown(title: str, text: str, left_out: str, markup: str) -> list[Text]:
    """What they show, folded; a letter may fold to eighteen."""
    found = [f"{title}\n{text}\n{left_out}"]
    if markup:
        found.append(unescaped(_TAG.sub("\n", markup[:MOST_CHARS])))
    return [Text(folded(each[:_MOST_SHOWN])[:_MOST_SHOWN]) for each in found if each]


@lru_cache(maxsize=2)
def _sources(held: bytes | str) -> list[Text]:
    """A page in lower case; and without the escapes of HTML and JSON, where it has any."""
    source = held if isinstance(held, str) else held.decode("utf-8", "replace")
    plain = unescaped(source)
    plain = _ESCAPE.sub(_of_escape, plain) if "\\" in plain else plain
    return [Text(each.lower()) for each in dict.fromkeys((source, plain))]


def counts(sentence: bytes) -> bool:
    """Whether a sentence of a text is long, or ends with a stop, as no byline and no link does."""
    return len(sentence) > MAX_LINE or sentence.endswith(_STOPS)


def _common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    both = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(both) if a != b), min(len(one), len(other)))


def _are_ends(left: bytes, sentence: bytes) -> bool:
    """Whether this is the begin and the end of the sentence, of which either may be missing."""
    return len(left) <= len(sentence) and sentence.endswith(left[_common(left, sentence) :])


def _of_escape(found: re.Match[str]) -> str:
    escape = found[1]
    if escape[0] == "u":
        return chr(int(escape[1:], 16))
    return {"n": "\n", "r": "\r", "t": "\t"}.get(escape, escape)


def _joins(text: str, place: int) -> bool:
    """Whether a word goes on here; in Chinese any place may end one."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    return before.isalnum() and after.isalnum() and before < "\u2e80" and after < "\u2e80"


def folded_text(text: str) -> str:
    """In one spelling and lower case, without markup."""
    says = _SAYS.findall(text) if "<" in text and len(text) <= _MOST_MARKUP else []
    text = unescaped(_OWN_TAG.sub("\n", text)) if "<" in text else text
    return folded("\n".join([text, *(path_of(each) or each for said in says for each in said)]))


def without_counted(text: str) -> str:
    """The folded text without runs of white space, counters, and what parts it from others."""
    left = " ".join(map(_uncounted, text.splitlines()))
    is_bare = "  " not in left and left.isprintable()  # of other white space: in half the time
    left = left if is_bare else " ".join(left.split())
    return left.strip(_PARTS) or left.strip()


def unspaced(text: str) -> bytes:
    """The text in UTF-8 without blanks."""
    return text.encode("utf-8", "replace").translate(None, b" \t\r")


def _uncounted(line: str) -> str:
    """A line without counters and ages; the time of "today, 14:30" isn't the visit's.

    A sentence has none, as "The bill got 51 votes", but one that ends it behind a comma.
    """
    if len(line) > MAX_LINE:  # not kept among those that come again
        return line
    left = without_counters(line, is_main=is_sentence(line), is_above=True)
    if left == line:
        return line
    return " ".join([left, *(each for each in _CLOCK_TIME.findall(line) if each not in left)])
