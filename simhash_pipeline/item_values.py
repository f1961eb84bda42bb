"""What a store keeps of an item, and what the items of two pages say of them.

    flags     1 byte: which rule it is compared by, see ROW, CARRIED and TEXT
    values    1 byte: how many; then 6 bytes each: 1 of the name (TEXTS_NAME: of what of the text
              stands beside the article; FACTS_NAME: of the cells of tables there), 1 of marks,
              for what no page shows, a part of its address, an amount (then the numbers decide),
              an offer or price, what was asked for, a price in its long text, a date; 2 of the
              value; 2 of its numbers; zeros if it doesn't count
    rows      8 bytes of all that an item of the page says, for each of several, and two marks

Values of names that share a byte are hashed together. On one site, two pages of one template whose
items have one differing value of one name are two things; where the templates differ, the same
selectors may find other parts of the page, and two values must differ, or the numbers of one, as of
a date, or a price or an offer that both have. A price counts everywhere if the other item has none,
nor all sentences of a text that says it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple
from zlib import crc32

from simhash_pipeline.bits import MAX_DISTANCE_BITS, hash_of
from simhash_pipeline.page.visible import BLOCK_BITS, MAIN

ROW = 2  # of several items of a page: any difference counts
WAITS = 8  # a row that waits for the rows of a list that is judged at the same moment
CARRIED = 4  # begun on another page: one that the other item lacks counts, too
PART = 16  # its text is less than half of the main text
TEXT = 32  # of a text without a page: it lacks nothing
# Of a product, whose price or number the page shows, or of fields that a user names: the item says
# what it is.
OFFER = 64
PARTS = 128  # texts of one field are half of the main text together, as the posts of a thread
NO_VALUES = bytes(2)  # of no item
MOST_ROWS = 100
MOST_BYTES = 4_000  # of the values and rows of a known page, as rows are added
_NUMBER = re.compile(rb"\d+(?:[.,]\d+)*")
MOST_SENTENCES = 2_000  # of a text; of others the hashes are compared up to the last of these
_SENTENCE = struct.Struct(">HH")  # its hash, MAIN if it counts; that of its words if it has numbers
ROW_BYTES = 8
LINKED, _BEFORE = 1, 2  # of a row's first byte: see `names_itself`; the page had it before
# Of structures whose pages have the same fields: a print view, which may be within 8, has fewer.
SAME_FIELDS_BITS = 3
KNOWN = -1  # in place of their distance, for two visits of one address
TEXTS_NAME, FACTS_NAME = 0, 1  # in place of a name's byte, which is neither
VALUE_BYTES = 5
_MOST_NAMES = 253  # so that their number, with those of the text, is a byte


class Mark:
    """The bits of a value's first byte."""

    UNSEEN, OWN, AMOUNT, ASKED, OFFER, PRICE, IN_TEXT, DATE = (1 << bit for bit in range(8))


class Said(NamedTuple):
    """What an item says, as a store keeps it."""

    values: bytes | None = None  # see the module; None where no item is heard
    names: Mapping[int, str] = MappingProxyType({})  # of the values, by their bytes
    text: bytes | None = None  # 8 bytes of its long text, if that is the page's
    sentences: bytes | None = None  # of that text: see `packed_sentences`


NOTHING = Said()


def packed_value(text: str, marks: int, numbers: Sequence[str] = ()) -> bytes:
    """5 bytes: see the module."""
    said = hash_of(" ".join(numbers), 2) if numbers else bytes(2)
    return bytes([marks]) + hash_of(text, 2) + said


# 0 or False, as spiders make them where a selector finds nothing; pages say a price of 0 in words.
_NOTHINGS = {packed_value(each, 0)[1:] for each in ("0", "false")}


def by_bytes(names: Iterable[str]) -> dict[int, str]:
    """Fields by the bytes of their names, added or not; which is the text isn't known."""
    found = {byte_of(f"{sign}{name}"): name for name in names for sign in ("", "+")}
    return {TEXTS_NAME: "a long text", **found}


@lru_cache(maxsize=1024)
def byte_of(name: str) -> int:
    return FACTS_NAME + 1 + hash_of(name, 1)[0] % _MOST_NAMES


def differing(
    values: bytes,
    others: bytes,
    structure_bits: float | None,
    has_its_text: Callable[[], bool] = lambda: False,
) -> bytes:
    """The names, a byte each, by which an item says what no item of the other page does.

    b"" where it says nothing else. `structure_bits` is the distance of the structures: in one
    template another value of one name is news, and a name that the other item lacks. On two sites
    it is None: the texts decide, but of rows, and of prices and offers that both show. What was
    asked for counts everywhere, as does a price where the other item has none, and its text, of
    which `has_its_text` is asked, doesn't say it. KNOWN for two visits of one address: then what of
    a text stands beside the article counts, too.
    """
    if row_of(values) in rows_in(others):
        return b""
    mine, its = _by_name(values), _by_name(others)
    counted = {TEXTS_NAME: structure_bits == KNOWN, FACTS_NAME: False}
    mine = {n: value for n, value in mine.items() if any(value) and counted.get(n, True)}
    if structure_bits is None or structure_bits > SAME_FIELDS_BITS:  # a print view's, perhaps
        mine = {n: value for n, value in mine.items() if not _are_one_date(value, its.get(n, b""))}
    other = bytes(n for n in mine if n in its and any(its[n]) and _are_two(mine[n], its[n]))
    lacking = bytes(
        name for name in mine if not (any(its.get(name, b"")) or mine[name][0] & Mark.OWN)
    )
    if values[0] & ROW:
        return other or lacking or b"\0"
    everywhere = bytes(n for n in other + lacking if mine[n][0] & Mark.ASKED)
    is_priced = any(value[0] & Mark.PRICE for value in its.values())
    if its and not (is_priced or others[0] & TEXT):  # else nothing is known of the other item
        prices = [n for n in mine if _is_shown_price(mine[n])]
        is_told = all(mine[n][0] & Mark.IN_TEXT for n in prices) and prices and has_its_text()
        everywhere += b"" if is_told else bytes(prices)
    if structure_bits is None:
        telling = [n for n in other if _tell(mine[n], its[n], of_one_site=False)]
        return bytes(dict.fromkeys([*everywhere, *telling]))
    in_one_template = structure_bits <= MAX_DISTANCE_BITS
    if others[0] & TEXT:
        lacking = b""
    elif not (values[0] & CARRIED and lacking):
        lacking = bytes(n for n in lacking if in_one_template and n not in its)
        if structure_bits > SAME_FIELDS_BITS:
            is_out = _is_nothing if in_one_template else _is_unseen
            lacking = bytes(n for n in lacking if not is_out(mine[n]))
            other = bytes(n for n in other if not (is_out(mine[n]) or is_out(its[n])))
        is_told = len(other) > 1 or any(_tell(mine[n], its[n]) for n in other)
        other = other if in_one_template or is_told else b""
    return bytes(dict.fromkeys(everywhere + other + lacking))


def uncounted(values: bytes, others: bytes) -> bytes:
    """The names, a byte each, by which both items say something else that their pages show.

    Of a dropped page: it didn't count there, and does once it is asked for.
    """
    mine, its = _by_name(values), _by_name(others)
    both = (n for n in mine if n > FACTS_NAME and any(mine[n]) and any(its.get(n, b"")))
    shown = (n for n in both if not (_is_unseen(mine[n]) or _is_unseen(its[n])))
    return bytes(n for n in shown if _are_two(mine[n], its[n]))


def facts_differ(values: bytes | None, others: bytes | None) -> bool:
    """Whether the facts beside the article differ, of two texts that do."""
    mine, its = (_by_name(each or NO_VALUES).get(FACTS_NAME) for each in (values, others))
    return mine != its


def _tell(value: bytes, other: bytes, *, of_one_site: bool = True) -> bool:
    """Whether one value tells two things apart between templates; both pages must show it.

    The numbers of an offer do, or what else it is; of other values of a site the numbers.
    """
    if (value[0] | other[0]) & Mark.UNSEEN:
        return False
    is_offer, are_amounts = (value[0] & other[0] & bit > 0 for bit in (Mark.OFFER, Mark.AMOUNT))
    numbers, its = value[3:], other[3:]
    is_other = numbers != its and any(numbers) and any(its)
    return (is_other and of_one_site) or (is_offer and (is_other or not are_amounts))


def _is_nothing(value: bytes) -> bool:
    """Whether it is 0 or False, as a spider makes them where a selector finds nothing."""
    return value[1:] in _NOTHINGS


def _is_shown_price(value: bytes) -> bool:
    return value[0] & (Mark.PRICE | Mark.UNSEEN | Mark.OWN) == Mark.PRICE


def _is_unseen(value: bytes) -> bool:
    return value[0] & Mark.UNSEEN > 0


def _are_two(value: bytes, other: bytes) -> bool:
    """Whether or not their pages show them; parts of two addresses say nothing."""
    if value[0] & other[0] & Mark.OWN:
        return False
    return value[1:3] != other[1:3]


def _are_one_date(value: bytes, other: bytes) -> bool:
    """Whether they are a date in two notations; which number is the month isn't always said."""
    return any(other) and value[0] & other[0] & Mark.DATE > 0 and value[3:] == other[3:]


def has(values: bytes | None, flag: int) -> bool:
    """Whether there is an item, with this flag: see ROW to TEXT."""
    return values is not None and values[0] & flag > 0


def row_of(values: bytes) -> bytes:
    """8 bytes of all that an item says; which lines of one text are facts depends on its page."""
    end = _end_of(values)
    if values[0] & ROW:
        return values[end : end + ROW_BYTES]
    said = without_facts(values[:end])
    return marked(hash_of(said[2:]), 0)


def without_facts(values: bytes) -> bytes:
    """The values, and what is behind them, without the facts of the text."""
    end = _end_of(values)
    said = [each for each in _cut(values[2:end], 1 + VALUE_BYTES) if each[0] != FACTS_NAME]
    return bytes([values[0], len(said), *b"".join(said)]) + values[end:]


def rows_in(values: bytes) -> list[bytes]:
    """Those of all items of the page, the first of which the values are; not the rows before."""
    rows = _cut(values[_end_of(values) :], ROW_BYTES)
    return [row_of(values), *(row for row in rows if not row[0] & _BEFORE)]


def had_row(values: bytes, row: bytes) -> bool:
    """Whether an earlier visit of the page gave this row, and the last one didn't."""
    rows = _cut(values[_end_of(values) :], ROW_BYTES)
    return any(each[0] & _BEFORE and marked(each, 0) == marked(row, 0) for each in rows)


def with_rows(values: bytes, rows: Iterable[bytes], before: Iterable[bytes] = ()) -> bytes:
    """The values with the first 100 of these rows, and of those that the page had before."""
    known = {row_of(values)}
    for each, mark in ((rows, 0), (before, _BEFORE)):
        further = [row for row in dict.fromkeys(each) if row not in known][:MOST_ROWS]
        known.update(further)
        values += b"".join(marked(row, row[0] & LINKED | mark) for row in further)
    return values


def marked(row: bytes, marks: int) -> bytes:
    return bytes([row[0] & ~(LINKED | _BEFORE) | marks]) + row[1:]


def names_itself(row: bytes) -> bool:
    """Whether a row is known by itself: all that it says counts, a link of its own among it.

    A price or a name alone, or what stands next to a part of its page's address, may be that of
    another thing: `{"author", "rating"}` on the pages of two products.
    """
    return row[0] & LINKED > 0


def row_keys(values: bytes | None, namespace: str, site: str) -> bytes | None:
    """8 bytes for each row of a site that names itself, by which stores find it; None for none."""
    if values is None or len(values) <= _end_of(values):
        return None
    rows = _cut(values[_end_of(values) :], ROW_BYTES)
    place = f"{namespace} {site} ".encode("utf-8", "replace")
    found = dict.fromkeys(place + marked(row, LINKED) for row in rows if names_itself(row))
    return b"".join(hash_of(row) for row in found) or None


def block_of(sentence: bytes) -> int:
    """15 bits of a sentence, folded and without blanks."""
    return crc32(sentence) & BLOCK_BITS


def packed_sentences(counted: Mapping[bytes, bool]) -> bytes:
    """4 bytes for each of these sentences, see `_SENTENCE`, rising: the smallest hashes."""
    found: dict[int, tuple[int, int]] = {}
    for sentence, is_counted in counted.items():
        words, numbers = _NUMBER.subn(b"", sentence)
        its, block = crc32(words) & 0xFFFF if numbers else 0, block_of(sentence)
        before = found.get(block, (0, 0))
        found[block] = before[0] | MAIN * is_counted, before[1] or its
    chosen = sorted(found)[:MOST_SENTENCES]
    return b"".join(_SENTENCE.pack(each | found[each][0], found[each][1]) for each in chosen)


def new_sentences(mine: bytes, others: bytes) -> frozenset[int]:
    """The sentences that count and that the other text lacks, of those it would have chosen."""
    known, _ = _blocks_in(others)
    limit = max(known) if len(known) == MOST_SENTENCES else BLOCK_BITS
    _, own = _blocks_in(mine)
    return frozenset([each for each in own - known if each <= limit])


@lru_cache(maxsize=16)  # a text is compared with many
def _blocks_in(sentences: bytes) -> tuple[frozenset[int], frozenset[int]]:
    """Its sentences, and those that count."""
    blocks = [each for each, _ in _SENTENCE.iter_unpack(sentences)]
    counted = [each & BLOCK_BITS for each in blocks if each & MAIN]
    return frozenset([each & BLOCK_BITS for each in blocks]), frozenset(counted)


def renumbered(mine: bytes, others: bytes) -> frozenset[int]:
    """The new sentences whose words one of the other text says with numbers that this one lacks."""
    new, gone = new_sentences(mine, others), new_sentences(others, mine)
    entries = _SENTENCE.iter_unpack(others)
    words = {its for each, its in entries if each & BLOCK_BITS in gone} - {0}
    entries = _SENTENCE.iter_unpack(mine)
    return new & {each & BLOCK_BITS for each, its in entries if its in words}


def is_row(values: bytes | None) -> bool:
    """Whether the item is one of several of its page, as far as that is known."""
    return values is not None and len(values) > _end_of(values)


def say_more(values: bytes | None, others: bytes | None) -> bool:
    """Whether an item says anything that no item of the other page does."""
    return values is not None and (others is None or row_of(values) not in rows_in(others))


def say_the_same(values: bytes | None, others: bytes | None) -> bool:
    """Whether both items say the same, and two things at least."""
    return says_two_things(values) and others is not None and not say_more(values, others)


def says_two_things(values: bytes | None) -> bool:
    """Whether the page shows two of the item's values."""
    shown = (each for each in _by_name(values or NO_VALUES).values() if not _is_unseen(each))
    return sum(map(any, shown)) > 1


def _by_name(values: bytes) -> dict[int, bytes]:
    return {each[0]: each[1:] for each in _cut(values[2 : _end_of(values)], 1 + VALUE_BYTES)}


def _end_of(values: bytes) -> int:
    return 2 + (1 + VALUE_BYTES) * values[1]


def _cut(packed: bytes, size: int) -> Iterator[bytes]:
    return (packed[i : i + size] for i in range(0, len(packed), size))
