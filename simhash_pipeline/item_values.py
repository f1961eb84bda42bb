"""What an item says, as a witness beside its page: values that stand on the page, and its text.

The spider's selectors know what on a page is the thing that it is about. A value counts if it
stands on the page that it was scraped from: no time of the crawl, digest or number of a row does.
On one site, two pages of one template whose items have one differing value of one name are two
things; where the templates differ, the same selectors may find other parts of the page, and two
values must differ. A store keeps of an item

    flags     1 byte: which rule it is compared by, see NAMED, ROW and CARRIED
    values    1 byte: how many; then 4 bytes each: 1 of the name, 3 of the value, zeros if it
              doesn't count
    rows      8 bytes of all that an item of the page says, for each of several, and two marks

Values of names that share a byte are hashed together.
"""

from __future__ import annotations

import html
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from simhash_pipeline.bits import MAX_DISTANCE_BITS
from simhash_pipeline.page.counters import without_counters
from simhash_pipeline.page.folding import spelled
from simhash_pipeline.page.source import ItemValues, Source

if TYPE_CHECKING:
    from simhash_pipeline.options import Options
    from simhash_pipeline.page.fingerprint import PageFingerprint

NAMED = 1  # its fields were named by ITEM_FIELDS: one that the other item lacks counts, too
ROW = 2  # of several items of a page: any difference counts
WAITS = 8  # a row that waits for the rows of a list that is judged at the same moment
CARRIED = 4  # begun on another page: one that the other item lacks counts, too
PART = 16  # its text is less than half of the main text
TEXT = 32  # of a text without a page: it lacks nothing
NO_VALUES = bytes(2)  # of no item
# Some 50 words, or 100 Chinese characters: as many as a page needs not to be thin.
LONG_BYTES = 300
MOST_ROWS = 100
ROW_BYTES = 8
_LINKED, _BEFORE = 1, 2  # of a row's first byte: see `names_itself`; the page had it before
_MOST_LINKS = 4  # to one row's page: image, title, button; a link in all rows names none
_MOST_VALUES, _MOST_NODES = 10_000, 20_000  # of an item, which may be nested
_MOST_SCANNED = 100_000_000  # characters that values are looked for in: some 50 ms
_MOST_SHOWN = 1_000_000  # characters of visible text that are looked at
_MOST_CHARS = 5_000_000  # of a value: as MAX_PAGE_BYTES
_SHORT_CHARS = 200  # of a long text that isn't the page's: boxes of another day may follow
_WORD = re.compile(r"[^\W_]+")
_TAG = re.compile(r"<[^<>]*>")
_PAGE = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_TELLING = re.compile(r"[^\W\d_]{3}|[\u2e80-\U0003ffff]{2}")
_DIGEST = re.compile(r"(?:[0-9a-f]{4}-?){4,}|(?:[0-9A-F]{4}-?){4,}")  # or a UUID
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?!\d)")
# Spaces of all kinds are folded into this one, between thousands.
_NUMBER = re.compile(r"(?<![A-Za-z\d])\d(?:[\d.,']| (?=\d{3}(?!\d)))*(?![A-Za-z\d])")
_JOINTS = str.maketrans("", "", ".,' \u2019\u00a0\u202f\u2009")
_DAY_SECS = 86_400
_SHORT_VALUE_CHARS = 4  # numbers and words that stand in any source by chance
_OPENS, _ENDS = frozenset("\"'>:="), frozenset("\"'<,}]>")
# Of structures whose pages have the same fields: a print view, which may be within 8, has fewer.
_SAME_FIELDS_BITS = 3
_IMAGE = re.compile(r"(?i)\.(?:avif|gif|jpe?g|png|svg|webp)\b")
_UNSEEN = "\0"  # before what no page shows: it counts in rows and by name
_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/nrt])')


class Said(NamedTuple):
    """What an item says, as a store keeps it."""

    values: bytes | None = None  # see the module; None where no item is heard
    names: Mapping[int, str] = MappingProxyType({})  # of the values, by their bytes
    text: bytes | None = None  # 8 bytes of its long text, if that is the page's


NOTHING = Said()
_Value = tuple[str, str, str, str]  # name, text, the same folded, what counts of it


def with_values(source: Source, item: Any, options: Options) -> Source:
    """The source with all that the item holds but its page, or what ITEM_FIELDS names of it.

    A text's title is judged with it. A field whose own code fails is left out.
    """
    if options.item_fields is None:
        return source._replace(item=None)
    is_named = bool(_named(options))
    found: list[tuple[str, str]] = []
    for name in heard(item, options):
        if source.is_text and name == "title" and not is_named:
            continue
        with suppress(Exception):  # the item's own
            found += flat_values(str(name), item[name])
    return source._replace(item=ItemValues(tuple(found[:_MOST_VALUES]), is_named=is_named))


def heard(names: Iterable[str], options: Options) -> list[str]:
    """The fields, of an item with these, whose values may count."""
    if options.item_fields is None:
        return []
    named = _named(options)
    left_out = {name[1:] for name in options.item_fields if name.startswith("-")}
    left_out |= options.page_fields - named
    return [name for name in names if name not in left_out and (not named or name in named)]


def _named(options: Options) -> set[str]:
    return {name for name in options.item_fields or () if not name.startswith("-")}


def as_row(source: Source, *, waits: bool = True) -> Source:
    """The source of an item that is one of several of its page; `waits`: see WAITS."""
    if source.item is None:
        return source
    return source._replace(item=source.item._replace(is_row=True, waits=waits))


def flat_values(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """(name, text) of each value within; texts in a list are one text."""
    todo = [(name, value)]
    for _ in range(_MOST_NODES):
        if not todo:
            return
        name, value = todo.pop()
        if type(value).__module__ == "numpy":  # of a DataFrame
            value = value.tolist()
        if isinstance(value, (set, frozenset)):
            value = sorted(value, key=str)
        if isinstance(value, (list, tuple)):
            if value and all(isinstance(part, str) for part in value):
                yield name, "\n".join(value)[:_MOST_CHARS]
            else:
                todo += [(name, part) for part in reversed(value[:_MOST_NODES])]
        elif (held := _fields_of(value)) is not None:
            todo += [(f"{name}.{key}", held[key]) for key in [*held][:_MOST_NODES]]
        elif text := _text_of(value).strip():
            yield name, text


def _fields_of(value: Any) -> Mapping[Any, Any] | None:
    """Those of a dict, or of an item within an item; None of anything else."""
    if isinstance(value, (str, int, float, Decimal, date, bytes)):
        return None
    if isinstance(value, Mapping):
        return value
    # A module that wasn't imported has read no item.
    adapter: Any = getattr(sys.modules.get("itemadapter"), "ItemAdapter", None)
    held: Mapping[Any, Any] | None = adapter(value) if adapter and adapter.is_item(value) else None
    return held


def _text_of(value: Any) -> str:
    """A value as a page may spell it; "" for what no page shows."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        text = value[:_MOST_CHARS]
        # U+FFFD: the spider has read the page by a charset that isn't its own.
        return "" if "\ufffd" in text or _PAGE.search(text[:2_000]) else text
    if isinstance(value, bool):
        return f"{_UNSEEN}{value}"
    if isinstance(value, float):
        return f"{value:.15g}"
    if type(value).__module__ == "builtins" and not isinstance(value, int):
        return ""
    # Numbers and dates, and what spells itself, as a HttpUrl.
    return str(value).removesuffix(" 00:00:00")[:_MOST_CHARS]


def said_by(page: PageFingerprint, source: Source) -> Said:
    """What the item says of its page.

    A text of 300 bytes that is half of the main text or more is the page's text. It counts as a
    value only where it isn't visible: else the page speaks for it. A row counts whole. If nothing
    of an item stands on its page, and it has words, it was made of something else, and counts too.
    Beside a text without a page, as records of a corpus have it, only short values that stand in it
    count: dates and ids stand nowhere.
    """
    item = source.item
    if item is None:
        return NOTHING
    seen = _Page(page, source)
    chars = len(source.html) + len(source.page) + len(page.text) + len(page.left_out)
    most = max(60, _MOST_SCANNED // (chars + 1))
    is_bare = source.is_text and not source.page and not item.is_named
    said = list[_Value]()
    text, is_part, is_here = None, False, False
    pairs = sorted(item.pairs, key=lambda pair: -len(pair[1]))[:most]
    if not (item.is_row or item.is_named):
        pairs = [pair for pair in pairs if pair[1][0] != _UNSEEN]
    for name, value in pairs:
        plain = _folded(value)
        is_long = len(value) * 3 >= LONG_BYTES <= len(value.encode("utf-8", "replace"))
        if is_bare and is_long:
            continue
        is_shown = is_long and seen.shows(plain[:100].rpartition(" ")[0] or plain[:100])
        kept = plain if is_shown else seen.witnessed(value, plain)
        is_here = is_here or bool(kept)
        is_pages = is_long and (page.content is None or 2 * len(value) >= len(page.text))
        is_text = text is None and not item.is_row and (is_pages or is_shown)
        if is_text:
            text, is_part = _digest(plain.replace(" ", ""), 8), not is_pages
        if is_text and is_pages:
            kept = "" if is_shown else plain
        elif is_shown and not item.is_row:
            kept = plain[:_SHORT_CHARS]
        elif not kept and (item.is_row or value in item.carried):
            is_url = value in item.carried and _path_of(value)  # of a list, mostly
            kept = plain if seen.is_brought(value) and not is_url else ""
        if item.is_named:  # its every change counts: "12 dead" in a text is no counter
            kept = " ".join(_plain(value).split())
        said.append((name, value, plain, kept))
    if not (is_bare or is_here) and not any(kept for *_, kept in said):
        made = [(n, v, plain, plain if seen.is_brought(v) else "") for n, v, plain, _ in said]
        has_words = any(kept and _TELLING.search(value) for _, value, _, kept in made)
        said = made if text or (has_words and not item.holds_page) else said
    flags = NAMED * item.is_named | CARRIED * bool(item.carried)
    flags |= ROW * item.is_row | WAITS * item.waits | PART * is_part
    flags |= TEXT * is_bare
    values, names = _packed(flags, said)
    if item.is_row:
        values += _row(said, seen, is_cut=len(pairs) < len(item.pairs))
    return Said(values, names, text)


def _row(said: Iterable[_Value], page: _Page, *, is_cut: bool) -> bytes:
    """8 bytes of all that counts of a row: see `names_itself`."""
    counted = [(name, value, kept) for name, value, _, kept in said if kept]
    is_whole = not is_cut and all(
        kept or not plain or _is_of_the_crawl(value) for _, value, plain, kept in said
    )
    is_named = any(page.links_once(value) for _, value, _ in counted)
    says = sorted(f"{name}\0{_link_of(value) or kept}" for name, value, kept in counted)
    return _marked(_digest("\0".join(says), ROW_BYTES), _LINKED * (is_whole and is_named))


def _marked(row: bytes, marks: int) -> bytes:
    return bytes([row[0] & ~(_LINKED | _BEFORE) | marks]) + row[1:]


def _packed(flags: int, said: Iterable[_Value]) -> tuple[bytes, Mapping[int, str]]:
    """The values as a store keeps them, and their names by the byte of each: one of 255."""
    names, by_byte = dict[int, str](), dict[int, list[str]]()
    for name, _, _, kept in said:
        of_name = by_byte.setdefault(byte := byte_of(name), [])
        if kept:
            names[byte] = name
            of_name.append(kept)
    values = (
        bytes([byte]) + (_digest("\0".join(sorted({*kept})), 3) if kept else bytes(3))
        for byte, kept in sorted(by_byte.items())
    )
    return bytes([flags, len(by_byte)]) + b"".join(values), names


@lru_cache(maxsize=1024)
def byte_of(name: str) -> int:
    return _digest(name, 1)[0] or 1


class _Page:
    """What an item's values are looked for in."""

    def __init__(self, page: PageFingerprint, source: Source) -> None:
        self._shown = [_read(page.title, page.text, page.left_out)]
        self._shown += [_read_markup(source.page)] if source.page else []
        self._html = source.page if source.is_text else source.html
        self._url = unquote(source.url).lower()

    def witnessed(self, text: str, plain: str) -> str:
        """What of a short value counts; "" of one that stands nowhere on the page."""
        if path := _path_of(text):
            return path if not self.is_own_address(text) and self.holds(path) else ""
        if not plain or self.shows(plain):
            return plain
        if any(_has_word(shown, plain) for shown in self._shown):
            return ""  # in a counter
        if self._shows_number(text) or self._shows_date(text):
            return plain
        return plain if not self.is_own_address(text) and self.holds(text) else ""

    def shows(self, plain: str) -> bool:
        """Whether it is visible as it stands, or each of its words."""
        return self._stands(plain) or all(map(self._stands, _WORD.findall(plain) or [plain]))

    def _stands(self, words: str) -> bool:
        """Whether they stand in the visible text, and in no counter."""
        return any(_stands(shown, words) for shown in self._shown)

    def _shows_number(self, text: str) -> bool:
        """Whether a number is visible in another notation: 1299.0 as 1,299.00."""
        digits = text.translate(_JOINTS)
        if not (digits.isascii() and digits.isdigit()):
            return False
        spelled_so = {digits, f"{digits}0", f"{digits}00"}
        return any(not spelled_so.isdisjoint(_numbers(shown)) for shown in self._shown)

    def _shows_date(self, text: str) -> bool:
        """Whether a date's year and day are visible; today may be that of the crawl."""
        found = _ISO_DATE.match(text)
        if found is None or found[0] in _days_about_now():
            return False
        year, _, day = found.groups()
        return self._stands(year) and (self._stands(day) or self._stands(day.lstrip("0")))

    def holds(self, text: str) -> bool:
        """Whether its source has it by itself; a short one between marks of HTML or JSON."""
        for source in _sources(self._html):
            for place in _places(source, text):
                before, end = source[max(0, place - 2) : place].strip(), place + len(text)
                is_marked = before[-1:] in _OPENS and source[end : end + 1] in _ENDS
                if is_marked or len(text) >= _SHORT_VALUE_CHARS:
                    return True
        return False

    def links_once(self, url: str) -> bool:
        """Whether the page links to it as one row does; what all rows link to names none."""
        link = _link_of(url)
        found = (sum(1 for _ in _places(each, link)) for each in _sources(self._html))
        return len(link) >= _SHORT_VALUE_CHARS and 0 < max(found) <= _MOST_LINKS

    def is_own_address(self, text: str) -> bool:
        return _has_word(self._url, unquote(_link_of(text) or _path_of(text) or text).lower())

    def is_brought(self, text: str) -> bool:
        """Whether a value that stands nowhere here may say something of another page."""
        return not (self.is_own_address(text) or _is_of_the_crawl(text))


# All rows of a page are looked for in the same texts, which are folded once.
@lru_cache(maxsize=4)
def _read(*texts: str) -> str:
    """What they show, folded; a letter may fold to eighteen."""
    return spelled("\n".join(texts)[:_MOST_SHOWN]).lower()[:_MOST_SHOWN]


@lru_cache(maxsize=2)
def _read_markup(page: str) -> str:
    return _read(html.unescape(_TAG.sub("\n", page[:_MOST_CHARS])))


@lru_cache(maxsize=4)
def _numbers(shown: str) -> frozenset[str]:
    return frozenset(number.translate(_JOINTS) for number in _NUMBER.findall(shown))


@lru_cache(maxsize=2)
def _sources(held: bytes | str) -> tuple[str, ...]:
    """A page as it is; and without the escapes of HTML and JSON, where it has any."""
    source = held if isinstance(held, str) else held.decode("utf-8", "replace")
    plain = html.unescape(source) if "&" in source else source
    plain = _ESCAPE.sub(_unescaped, plain) if "\\" in plain else plain
    return (source, plain) if plain is not source else (source,)


def _stands(shown: str, words: str) -> bool:
    for place in _places(shown, words):
        if not any(map(str.isdigit, words)):
            return True
        first, last = shown.rfind("\n", 0, place) + 1, shown.find("\n", place)
        line = shown[first : len(shown) if last < 0 else last]
        if words in without_counters(line, is_main=False, is_above=False):
            return True
    return False


def _unescaped(found: re.Match[str]) -> str:
    escape = found[1]
    if escape[0] == "u":
        return chr(int(escape[1:], 16))
    return {"n": "\n", "r": "\r", "t": "\t"}.get(escape, escape)


def _is_of_the_crawl(text: str) -> bool:
    """Whether it is a digest, a UUID or a time of today: what spiders add."""
    try:
        number = float(text)
    except ValueError:
        is_now = text[:10] in _days_about_now() and ":" in text
        return is_now or _DIGEST.fullmatch(text) is not None
    return any(abs(number / unit - time.time()) < _DAY_SECS for unit in (1, 1_000, 1_000_000))


def _days_about_now() -> set[str]:
    now = time.time()
    return {str(date.fromtimestamp(now + days * _DAY_SECS)) for days in (-1, 0, 1)}


@lru_cache(maxsize=8)
def _path_of(text: str) -> str:
    """The path of a URL, or else its host; "" for another text."""
    if not (text.startswith("/") or "://" in text[:12]) or text.split() != [text]:
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return parts.path.strip("/") or parts.netloc


def _link_of(text: str) -> str:
    """A URL but for its scheme and host; "" for another text, and for an image's."""
    path = _path_of(text)
    if not path or _IMAGE.search(path):
        return ""
    return urlsplit(text)._replace(scheme="", netloc="").geturl().strip("/") or path


def _has_word(text: str, word: str) -> bool:
    return any(True for _ in _places(text, word))


def _places(text: str, word: str) -> Iterator[int]:
    """Where a word stands, not within another; 100 places at most are looked at."""
    place = text.find(word) if word else -1
    for _ in range(100):
        if place < 0:
            return
        end = place + len(word)
        if not (_joins(text, place) or _joins(text, end)):
            yield place
        place = text.find(word, end)


def _joins(text: str, place: int) -> bool:
    """Whether a word goes on here; in Chinese any place may end one."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    return before.isalnum() and after.isalnum() and before < "\u2e80" and after < "\u2e80"


def _folded(text: str) -> str:
    """In one spelling and lower case, without markup, runs of white space and counters."""
    lines = _plain(text).splitlines()
    lines = [without_counters(line, is_main=False, is_above=False) for line in lines]
    return " ".join(" ".join(lines).split())


def _plain(text: str) -> str:
    return spelled(html.unescape(_TAG.sub("\n", text)) if "<" in text else text).lower()


def _digest(text: str, size: int) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=size).digest()


# --- two items


def differing(values: bytes, others: bytes, structure_bits: float | None) -> bytes:
    """The names, a byte each, by which an item says what no item of the other page does.

    b"" where it says nothing else. In one template another value of one name is news, and where
    the fields are the same a name that the other item lacks: `structure_bits` is the distance of
    the structures. On two sites, where it is None, the texts decide, but of rows and named fields.
    """
    is_named = values[0] & NAMED
    if row_of(values) in rows_in(others):
        return b""
    mine, its = _by_name(values), _by_name(others)
    mine = {name: value for name, value in mine.items() if any(value)}
    other = bytes(n for n in mine if n in its and any(its[n]) and mine[n] != its[n])
    if others[0] & TEXT and not is_named:
        return b"" if structure_bits is None else other
    lacking = bytes(name for name in mine if not any(its.get(name, b"")))
    if values[0] & ROW:
        return other or lacking or b"\0"
    if is_named:
        return other + lacking
    if structure_bits is None:
        return b""
    if values[0] & CARRIED and lacking:
        return other + lacking
    if structure_bits <= _SAME_FIELDS_BITS:
        return other + bytes(name for name in lacking if name not in its)
    return other if len(other) > (0 if structure_bits <= MAX_DISTANCE_BITS else 1) else b""


def is_bare_text(values: bytes | None) -> bool:
    """Whether the item holds a text and no page."""
    return values is not None and values[0] & TEXT > 0


def row_of(values: bytes) -> bytes:
    """8 bytes of all that an item says."""
    end = _end_of(values)
    if values[0] & ROW:
        return values[end : end + ROW_BYTES]
    return _marked(blake2b(values[2:end], digest_size=ROW_BYTES).digest(), 0)


def rows_in(values: bytes) -> list[bytes]:
    """Those of all items of the page, the first of which the values are; not the rows before."""
    rows = _cut(values[_end_of(values) :], ROW_BYTES)
    return [row_of(values), *(row for row in rows if not row[0] & _BEFORE)]


def with_rows(values: bytes, rows: Iterable[bytes], before: Iterable[bytes] = ()) -> bytes:
    """The values with the first 100 of these rows, and of those that the page had before."""
    known = {row_of(values)}
    for each, mark in ((rows, 0), (before, _BEFORE)):
        further = [row for row in dict.fromkeys(each) if row not in known][:MOST_ROWS]
        known.update(further)
        values += b"".join(_marked(row, row[0] & _LINKED | mark) for row in further)
    return values


def names_itself(row: bytes) -> bool:
    """Whether a row is known by itself: all that it says counts, a link of its own among it.

    A price or a name alone, or what stands next to a part of its page's address, may be that of
    another thing: `{"author", "rating"}` on the pages of two products.
    """
    return row[0] & _LINKED > 0


def row_keys(values: bytes | None, namespace: str, site: str) -> bytes | None:
    """8 bytes for each row of a site that names itself, by which stores find it; None for none."""
    if values is None or len(values) <= _end_of(values):
        return None
    rows = _cut(values[_end_of(values) :], ROW_BYTES)
    place = f"{namespace} {site} ".encode("utf-8", "replace")
    found = dict.fromkeys(place + _marked(row, _LINKED) for row in rows if names_itself(row))
    return b"".join(blake2b(row, digest_size=ROW_BYTES).digest() for row in found) or None


def is_row(values: bytes | None) -> bool:
    """Whether the item is one of several of its page, as far as that is known."""
    return values is not None and len(values) > _end_of(values)


def waits(values: bytes | None) -> bool:
    return values is not None and values[0] & WAITS > 0


def is_part(values: bytes | None) -> bool:
    """Whether the item's text is a lesser part of its page, and what else it says doesn't count."""
    return values is not None and values[0] & PART > 0


def say_more(values: bytes | None, others: bytes | None) -> bool:
    """Whether an item says anything that no item of the other page does."""
    return values is not None and (others is None or row_of(values) not in rows_in(others))


def counted_names(values: bytes) -> bytes:
    """The names, a byte each, whose values count: they are on the page, or were named."""
    return bytes(name for name, value in _by_name(values).items() if any(value))


def say_the_same(values: bytes | None, others: bytes | None) -> bool:
    """Whether both items say the same, and two things at least."""
    if values is None or others is None or say_more(values, others):
        return False
    return len(counted_names(values)) > 1


def _by_name(values: bytes) -> dict[int, bytes]:
    return {each[0]: each[1:] for each in _cut(values[2 : _end_of(values)], 4)}


def _end_of(values: bytes) -> int:
    return 2 + 4 * values[1]


def _cut(packed: bytes, size: int) -> Iterator[bytes]:
    return (packed[i : i + size] for i in range(0, len(packed), size))
