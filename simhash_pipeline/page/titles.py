"""What a page says of itself, its title, headings and address, and whether titles name two things.

Two pages of one site with one text may be about two things, and then their titles say so:

    title      scipy.linalg.sinm — SciPy v1.10.1 Manual        scipy.linalg.cosm — SciPy ...
    heading    scipy.linalg.sinm                               scipy.linalg.cosm
    name       scipy linalg sinm                               scipy linalg cosm

Each names a thing that the other's title lacks. The words of a version, a section or the site are
no part of a name, as they don't stand in the heading; nor is what a template's titles repeat.

A form letter names what it is about in its text, in the place where another one has another name:

    title      Notice to Ann Ford          text  … the licence of Ann Ford is withdrawn …
    title      Notice to Bo Lund           text  … the licence of Bo Lund is withdrawn …

A voucher, a ticket or a part may have no name but a code that ends a short line of its text:

    title      Voucher                     line  Your code: 7X2A-94QP
"""

from __future__ import annotations

import re
import string
import struct
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import chain, islice
from typing import Protocol
from urllib.parse import urljoin

import mmh3
from lxml.etree import _Element

from simhash_pipeline import native
from simhash_pipeline.native import Head
from simhash_pipeline.page.blocks import Blocks
from simhash_pipeline.page.boilerplate import MAX_LINK_SHARE
from simhash_pipeline.page.bounds import checked_url
from simhash_pipeline.page.counters import MAX_LINE
from simhash_pipeline.page.folding import is_pieced, lower
from simhash_pipeline.page.folding import words_of as _words_in
from simhash_pipeline.page.han import HAN
from simhash_pipeline.page.visible import BLOCK_BITS, MAIN, box_around

MAX_TITLES = 5  # empty ones to look at; each may hold the next, and all that follows
_MAX_HEADINGS = 5
_MAX_TITLE_CHARS = 1_000  # in which each line of the page is looked for
_TITLE = re.compile(r"(?i)(?<![a-z])(?:title|heading|headline)(?![a-z])")  # of a class
TITLE_CHARS = 100  # of a title and of a heading, that a store keeps and that are compared
MAX_WORDS = 62  # so that a mark for each fits into a signed word of 64 bits
_READ_CHARS = 5_000  # of the main text, in which the title's words are looked for
_SAID_SHARE = 3  # one in so many of the title's words stands in the text of a page that is its own
_MIN_LONG_CHARS = 6  # of these words of a title together: a blogger's name is in no text
_LONG_CHARS = 4  # of a word that can be missed in a text: shorter ones stand in any
SAID = 1  # bit 0 of a page's marks
_SECTION_NUMBER = re.compile(r"\d+(?:\.\d+)*\.\s+(?=\S)")  # 7.25.17. of a manual's heading
_SIGNS = "-|/"  # part a title's parts; where one begins it, it is the name
_SIGN = re.compile(rf"[{_SIGNS}]+(?!\S)")
_AGAIN = "\0"  # behind a word: it stands once more
_OF_CODE = re.compile(r"(?<![a-z0-9])[a-z0-9]+(?:_+[a-z0-9]+)+(?![a-z0-9])")
# What parts a title's parts: no hyphen or colon within words, but for one beside a Chinese sign.
PART_BREAK = re.compile(
    rf"(\s+[-–—·•»«:/|｜]+\s+|\s*[|｜]\s*|(?<=[{HAN}])[_-]+|(?<![_-])[_-]+(?=[{HAN}]))"
)
_DIGITS, _NO_LETTERS = re.compile(r"\d+"), re.compile(r"[\W\d_]+")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+\Z")
# Six letters and digits or more at the end of a line, but no end of an address and no "858shares".
_CODE = re.compile(
    r"(?m)(?<![!\"$-9;-~])(?=[a-z0-9-]{6})(?=.*[0-9])(?=.*[a-z])(?![0-9]+-?[a-z]+$)"
    r"[a-z0-9]+(?:-[a-z0-9]+)*$"
)
_MAX_CODES = 8
_alnum = f"{string.digits}{string.ascii_letters}"  # what they end with
# Where a word stands: its number among the title's, and a hash of the letters near it.
_PLACE = struct.Struct("<BH")
_BESIDE = 1 << 7  # of the number: beside the main text, as in a table of facts
_WHOLE, _ANYWHERE, _UNPLACED = range(3)  # how a word is looked for, as in _kernel.c
WORD = 1 << 32  # above the blocks of a text
WORD_BITS = MAIN | BLOCK_BITS
_MAX_PLACES = 12
_AROUND_CHARS, _NEAR_CHARS, _LEAST_LETTERS = 60, 10, 6  # as in _kernel.c


def head_of(root: _Element) -> Head:
    """What stands in the page's head."""
    head = root.find("head")
    return [
        (
            child.tag,
            child.get("rel"),
            child.get("href"),
            child.get("property"),
            _text_of(child) if child.tag == "title" else child.get("content"),
        )
        for child in (() if head is None else head)
    ]


def title_of(head: Head, texts: Iterable[str]) -> str:
    """The title of a head, or else the first of the `titles_in` the page; white space collapsed."""
    said = (text for tag, _, _, _, text in head if tag == "title")
    titles = (" ".join((text or "").split()) for text in chain(islice(said, 1), texts))
    return next(filter(None, titles), "")


def canonical_url(head: Head, url: str | None) -> str | None:
    """What the page's head says is its address, made absolute; None where it says nothing.

    It is the link rel="canonical", or else og:url.
    """
    rels = ((rel, href) for tag, rel, href, _, _ in head if rel and tag == "link")
    links = (href for rel, href in rels if "canonical" in rel.lower().split())
    metas = (content for tag, _, _, said, content in head if tag == "meta" and said == "og:url")
    declared = next((said.strip() for said in chain(links, metas) if said and said.strip()), None)
    if declared is None:
        return None
    bases = ((href or "").strip() for tag, _, href, _, _ in head if tag == "base")
    base = next(filter(None, bases), "")
    try:
        here, base, declared = map(checked_url, (url or "", base, declared))
        return urljoin(urljoin(here, base), declared)
    except ValueError:  # it is no URL
        return None


def titles_in(root: _Element) -> Iterator[str]:
    """The texts of its title elements, of og:title and of its h1s, in this order."""
    for element in islice(root.iter("title"), MAX_TITLES):
        parent = element.getparent()
        if parent is None or parent.tag in ("head", "html", "body"):  # not an image's
            yield _text_of(element)
    for element in root.iter("meta"):
        if element.get("property") == "og:title":
            yield element.get("content") or ""
    for element in islice(root.iter("h1"), MAX_TITLES):
        yield _text_of(element)


def _text_of(element: _Element) -> str:
    return "".join(map(str, element.itertext()))


def headings(blocks: Blocks, title: str) -> list[str]:
    """The first h1s, else what its box calls a title, else the first h2; and a line of the title.

    That is the longest other line that the title holds: an h1 may name the site or a section, and
    the headline may stand in any box. A link names another page or the site.
    """
    own, title = _unlinked(blocks), title[:_MAX_TITLE_CHARS]
    h1 = [at for at in own if blocks.tags[at] == "h1"]
    h2 = (at for at in own if blocks.tags[at] == "h2")
    called = (box[0] for box in blocks.boxes if box[1] == box[0] + 1 and _TITLE.search(box[3]))
    heads = h1[:_MAX_HEADINGS] or islice(chain(called, h2), 1)
    found = [blocks.texts[at] for at in heads]
    others = (blocks.texts[at] for at in own if blocks.texts[at] in title)
    line = max((text for text in others if text not in found), key=len, default="")
    return [*found, line] if line else found


def first_line(blocks: Blocks, is_main: Sequence[bool], lines: Sequence[str]) -> str:
    """The first line in the box around the main text, if it stands above that; else "".

    Of a page that is main text as a whole, such as a list, it is the first, if that is short.
    `lines` are the texts of the blocks in one spelling.
    """
    if True not in is_main:
        return ""
    start, _ = box_around(blocks, is_main)
    at = next((at for at in _unlinked(blocks) if at >= start), None)
    if at is None:
        return ""
    is_all = all(is_main[: len(blocks.texts)]) and len(lines[at]) <= MAX_LINE
    return lines[at] if is_all or not is_main[at] else ""


def codes(blocks: Blocks, is_main: Sequence[bool], lines: Sequence[str]) -> str:
    """The codes that end short lines of the box around the main text, with blanks between them.

    Lines as in `first_line`.
    """
    start, end = box_around(blocks, is_main) if True in is_main else (0, len(blocks.texts))
    shares = blocks.link_shares[start:end]  # none of a text without a page
    words = [
        line.rpartition(" ")[2]
        for line, share in zip(lines[start:], shares, strict=False)
        if line and line[-1] in _alnum and len(line) <= MAX_LINE and share <= MAX_LINK_SHARE
    ]
    ends = "\n".join([word for word in words if not word.isalpha() and word[-6:].isascii()])
    return " ".join(islice(dict.fromkeys(_CODE.findall(ends.lower())), _MAX_CODES))


def _unlinked(blocks: Blocks) -> list[int]:
    # A text without a page has no shares, and so no heading.
    return [at for at, share in enumerate(blocks.link_shares) if share <= MAX_LINK_SHARE]


class Titled(Protocol):
    """A page as its titles tell of it."""

    title: str
    heading: str
    title_marks: int
    title_places: bytes | None
    codes: str


def name_of(
    title: str, headings: Sequence[str], first_line: str, main_text: str, beside: Iterable[str]
) -> tuple[str, str, int, bytes | None]:
    """The name, heading, marks and places of `PageFingerprint`: what a page says of its name.

    Its texts are in one spelling; `beside` are lines beside its main text. Two headings are looked
    at, as the first may be the site's name, and where there is none the first line.
    """
    if not (title or headings or first_line):
        return "", "", SAID, None
    words = words_of(title[:TITLE_CHARS])
    cut = (heading[:TITLE_CHARS] for heading in [*headings[:2], first_line])
    named = (each for each in cut if any(map(str.isalpha, each)))  # no number of a list
    heading = next((each for each in named if not {*words_of(each)}.issubset(words)), "")
    heads_of = [words_of(each[:_MAX_TITLE_CHARS]) for each in headings]
    said_so = zip(headings[:2], heads_of, strict=False)
    repeated = next((each for each, of in said_so if {*words} > {*of} > set()), "")
    heads = {*chain.from_iterable(heads_of)}
    text = lower(main_text) if words else ""
    marks = _marks(words, title_words(title, heading), heads, text[:_READ_CHARS])
    if not words:
        return repeated, heading, marks, None
    rest = lower("\n".join([line for line in beside if line not in headings]))
    find = _places if native.kernel is None else native.kernel.places
    found = find(words, bytes(_kind_of(word, heads) for word in words), text, rest, _MAX_PLACES)
    places = (_PLACE.pack(at, mmh3.hash(near, signed=False) & 0xFFFF) for at, near in found)
    return repeated, heading, marks, b"".join(places) or None


@lru_cache(maxsize=512)  # a page is compared with 200 others, each title in more than one test
def words_of(title: str) -> tuple[str, ...]:
    """The words of a title, folded, each once more if it stands twice; in code the whole, too."""
    said = _SECTION_NUMBER.sub("", title.strip(), count=1) if title[:1].isdigit() else title.strip()
    sign = _SIGN.match(said)
    words: dict[str, None] = {} if sign is None else {sign[0]: None}
    for word in _words_in(said):
        words.setdefault(word + _AGAIN if word in words else word)
    words |= dict.fromkeys(_OF_CODE.findall(lower(said)) if "_" in said else ())
    return tuple(words)[:MAX_WORDS]


def title_words(title: str, heading: str) -> tuple[str, ...]:
    """The words of a page's title, then those that its heading alone has."""
    return _title_words(title[:TITLE_CHARS], heading)


@lru_cache(maxsize=512)
def _title_words(title: str, heading: str) -> tuple[str, ...]:
    words = words_of(title)
    return (*words, *(word for word in words_of(heading) if word not in words))[:MAX_WORDS]


def _marks(words: Sequence[str], both: Sequence[str], heads: Collection[str], text: str) -> int:
    """What is known of the words of `title_words`, in bits.

    bit 0        whether the main text says at least a third of its `_long_words`, or they
                 are too few
    bit i + 1    whether word i is part of the page's name: it stands in a heading, or, where
                 the heading has none of them, in the main text; where that has none either, the
                 title alone says what the page is about, and all words are its name
    """
    named = [word in heads for word in words]
    if not any(named):
        named = [_place_in(word, text) is not None for word in words]
    if not any(named):
        named = [True] * len(words)
    named += [True] * (len(both) - len(words))  # the heading's alone
    asked = _long_words(words)
    least = -(-len(asked) // _SAID_SHARE)
    said = (word for word in asked if _place_in(word, text) is not None)
    is_said = sum(map(len, asked)) < _MIN_LONG_CHARS or len([*islice(said, least)]) == least
    return sum(2 << i for i, is_named in enumerate(named) if is_named) | (SAID if is_said else 0)


def _kind_of(word: str, heads: Collection[str]) -> int:
    """How a word of the title is looked for; a version that no heading has is the manual's."""
    if word.isascii() and word.isalnum():  # most
        return _WHOLE
    if word[0] in _SIGNS or ("." in word and _VERSION.match(word) and word not in heads):
        return _UNPLACED
    return _WHOLE if word[0].isalnum() and not is_pieced(word) else _ANYWHERE


def _places(
    words: Sequence[str], kinds: bytes, text: str, rest: str, most: int
) -> list[tuple[int, str]]:
    """Where words stand in the text, or else in the rest of what is visible.

    The number of a `_PLACE` and the letters near it, of at most so many words that have some.
    """
    found = []
    for number, word in enumerate(words):
        for said, where in ((text, 0), (rest, _BESIDE)) if kinds[number] != _UNPLACED else ():
            at = _place_in(word, said)
            if at is not None:
                if near := _near(said, at, at + len(word), words):
                    found.append((number | where, near))
                break
    return found[:most]


def _near(text: str, at: int, end: int, words: Collection[str]) -> str:
    """The letters before a place, behind it where a text begins there; "" if they are few."""
    before = _letters(text[max(0, at - _AROUND_CHARS) : at], words)[-_NEAR_CHARS:]
    if len(before) >= _LEAST_LETTERS:
        return before
    after = _letters(text[end : end + _AROUND_CHARS], words)[:_NEAR_CHARS]
    return f" {after}" if len(after) >= _LEAST_LETTERS else ""


def _letters(text: str, words: Collection[str]) -> str:
    """The letters of a text, without words of the title."""
    left = [*text]
    for word in filter(text.__contains__, words):
        at = text.find(word)
        while at >= 0:
            if is_pieced(word) or _is_whole(text, at, at + len(word)):
                left[at : at + len(word)] = " " * len(word)
            at = text.find(word, at + 1)
    return "".join(filter(str.isalpha, left))


def word_blocks(words: Sequence[str]) -> list[int]:
    """A number of each word, by which a template's titles are learnt as its blocks are."""
    return [WORD | _block(word) for word in words]


def _block(word: str) -> int:
    return mmh3.hash(word, signed=False) & BLOCK_BITS | MAIN


def name_two_things(
    page: Titled, other: Titled, *, in_one_template: bool, repeated: AbstractSet[int] = frozenset()
) -> bool:
    """Whether each page's name has a word that the other lacks.

    `repeated` are the blocks of words that the titles of their templates repeat: see
    `_of_template`. In one template of a site the headings of two equal titles are the titles.
    Titles of two forms, in two templates or on two sites, may be two headlines of one story.
    """
    is_equal = page.title == other.title
    if is_equal and (not (in_one_template and page.title) or page.heading == other.heading):
        return False
    pairs = ((page, other), (other, page))
    if not all(_lacking(*pair, repeated, in_heading=is_equal) for pair in pairs):
        return False
    words, others = words_of(page.title[:TITLE_CHARS]), words_of(other.title[:TITLE_CHARS])
    return in_one_template or _are_of_one_form(words, others)


def numbers_differ(page: Titled, other: Titled, repeated: AbstractSet[int] = frozenset()) -> bool:
    """Whether each name has numbers that the other lacks, and no other word: two releases.

    In another notation they are the same: 3:2 and 3-2, 1,000 and 1000, 28.11.2026 and 2026-11-28.
    A word that titles repeat is none here: "Harbour Q3" and "Bell Q4" of two sites.
    """
    mine, its = (
        sorted(word for word in _lacking(*pair, frozenset()) if _block(word) not in repeated)
        for pair in ((other, page), (page, other))
    )
    if not (mine and its and all(map(_DIGITS.search, mine + its))):
        return False
    letters = [sorted(_NO_LETTERS.sub("", word) for word in words) for words in (mine, its)]
    one, two = (_DIGITS.findall(" ".join(words)) for words in (mine, its))
    is_other = sorted(one) != sorted(two) and "".join(one) != "".join(two)
    return letters[0] == letters[1] and is_other


def names_differ(page: Titled, other: Titled, repeated: AbstractSet[int] = frozenset()) -> bool:
    """Whether either page's name has a word that the other's title and heading lack."""
    if page.title == other.title:
        return False
    return bool(_lacking(page, other, repeated) or _lacking(other, page, repeated))


def are_form_letters(
    page: Titled, other: Titled, *, on_one_site: bool, repeated: AbstractSet[int] = frozenset()
) -> bool:
    """Whether a word of each title, that the other lacks, is in one place of the texts.

    Two sites may have one frame: what is in it says nothing of a text that they share.
    """
    if page.title == other.title:
        return False
    mine, its = (_own_places(*pair, repeated) for pair in ((page, other), (other, page)))
    return any(place in its and (on_one_site or not place[0]) for place in mine)


def have_two_codes(page: Titled, other: Titled) -> bool:
    """Whether each page has a code that the other lacks."""
    mine, its = {*page.codes.split()}, {*other.codes.split()}
    return not (mine <= its or its <= mine)


def share_a_notice(page: Titled, other: Titled) -> bool:
    """Whether the text that two pages share is of neither: a shell, a consent box, a footer.

    Then their names differ, and neither title stands in the text.
    """
    if page.title == other.title or (page.title_marks | other.title_marks) & SAID:
        return False
    mine, its = _long_name(page), _long_name(other)
    shared = [word for word in mine if word in its]
    if len(shared) == 1:  # it may be a preposition, or a suffix: ask the whole titles
        mine, its = (_long_words(words_of(one.title[:TITLE_CHARS])) for one in (page, other))
    return not _share_half(mine, its)


def _own_places(page: Titled, other: Titled, repeated: AbstractSet[int]) -> set[tuple[int, int]]:
    """Where words stand that the other's title and heading lack: `_BESIDE` or 0, and the hash."""
    words, others = words_of(page.title[:TITLE_CHARS]), title_words(other.title, other.heading)
    found, site = set(), _of_template(page, repeated) if repeated else ()
    for number, before in _PLACE.iter_unpack(page.title_places or b""):
        word = words[number & ~_BESIDE]
        if word not in others and word not in site:
            found.add((number & _BESIDE, before))
    return found


def _name(page: Titled) -> set[str]:
    """The words of the title that name the page, and all of the heading that it lacks."""
    words = title_words(page.title, page.heading)
    return {word for i, word in enumerate(words) if page.title_marks >> i + 1 & 1}


def _long_name(page: Titled) -> Collection[str]:
    words = words_of(page.title[:TITLE_CHARS])
    return _long_words(_name(page).intersection(words)) or _long_words(words)


def _long_words(words: Collection[str]) -> list[str]:
    """The words of a title that not every text holds."""
    return [word for word in words if len(word) >= _LONG_CHARS or is_pieced(word)]


def _lacking(
    page: Titled, other: Titled, repeated: AbstractSet[int], *, in_heading: bool = False
) -> set[str]:
    """The words of the other's name that the page's title and heading lack."""
    name = _name(other)
    if not in_heading:
        name = name.intersection(words_of(other.title[:TITLE_CHARS]))
    lacking = name.difference(title_words(page.title, page.heading))
    return lacking - _of_template(other, repeated) if lacking and repeated else lacking


def _of_template(page: Titled, repeated: AbstractSet[int]) -> set[str]:
    """The words that name no page, as its template repeats a whole part of its titles.

    In `bell.Bronze.ring` a word that a section's titles repeat is part of the page's name.
    """
    site, own = set[str](), set[str]()
    for words in (*_parts_of(page.title[:TITLE_CHARS]), words_of(page.heading)):
        is_repeated = all(_block(word.rstrip(_AGAIN)) in repeated for word in words)
        (site if is_repeated else own).update(words)
    return site - own


@lru_cache(maxsize=512)
def _parts_of(title: str) -> list[list[str]]:
    """The words of a title by its parts, as `words_of` has them."""
    parts, before = [], set[str]()
    for part in map(words_of, PART_BREAK.split(title)[::2]):
        parts.append([word + _AGAIN if word in before else word for word in part])
        before.update(part)
    return parts


def _are_of_one_form(words: Sequence[str], others: Sequence[str]) -> bool:
    """Whether titles begin or end alike, or share half of their words, as one without any does."""
    return words[:1] == others[:1] or words[-1:] == others[-1:] or _share_half(words, others)


def _share_half(words: Collection[str], others: Collection[str]) -> bool:
    return 2 * len({*words} & {*others}) >= min(len(words), len(others))


def _place_in(word: str, text: str) -> int | None:
    if word[0] in _SIGNS:
        return None
    at = text.find(word)
    while at >= 0:
        if not word[0].isalnum() or is_pieced(word) or _is_whole(text, at, at + len(word)):
            return at
        at = text.find(word, at + len(word))
    return None


def _is_whole(text: str, at: int, end: int) -> bool:
    return not text[at - 1 : at].isalnum() and not text[end : end + 1].isalnum()
