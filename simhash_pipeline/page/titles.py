"""What titles say: their words, which of these name the page, and whether two name two things.

Two pages of one site with one text may be about two things, and then their titles say so:

    title      scipy.linalg.sinm — SciPy v1.10.1 Manual        scipy.linalg.cosm — SciPy ...
    heading    scipy.linalg.sinm                               scipy.linalg.cosm
    name       scipy linalg sinm                               scipy linalg cosm

Each names a thing that the other's title lacks. The words of a version, a section or the site are
no part of a name, as they don't stand in the heading; nor is what a template's titles repeat.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import islice
from typing import Protocol

import mmh3

from simhash_pipeline.page.visible import BLOCK_BITS

TITLE_CHARS = 100  # of a title and of a heading, that a store keeps and that are compared
MAX_WORDS = 62  # so that a mark for each fits into a signed word of 64 bits
_READ_CHARS = 5_000  # of the main text, in which the title's words are looked for
_SAID_SHARE = 3  # one in so many of the title's words stands in the text of a page that is its own
_MIN_TELLING_CHARS = 6  # of these words of a title together: a blogger's name is in no text
_TELLING_CHARS = 4  # of a word that can be missed in a text: shorter ones stand in any
SAID = 1  # bit 0 of a page's marks
# A number with its dots is one word: 3.27.1 and 3.27.2 are two versions. An operator is one, too; a
# sign that parts others is one only where it begins a title.
_WORD = re.compile(
    r"\d+(?:[.:/_-]\d+)*(?![^\W_])|[\u3040-\u30ff\u3400-\u9fff]+"
    r"|[^\W_\u3040-\u30ff\u3400-\u9fff]+|[+*%=<>!~^&#@$]+|^[-|/]+(?!\S)"
)
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_SECTION_NUMBER = re.compile(r"^\d+(?:\.\d+)*\.\s+(?=\S)")  # 7.25.17. of a manual's heading
_SEPARATORS = "-|/"
_AGAIN = "\0"  # behind a word: it stands once more


class Titled(Protocol):
    """A page as its titles tell of it."""

    @property
    def title(self) -> str: ...
    @property
    def heading(self) -> str: ...
    @property
    def title_marks(self) -> int: ...


@lru_cache(maxsize=512)  # a page is compared with 200 others, each title in more than one test
def words_of(title: str) -> tuple[str, ...]:
    """The words of a title, and each once more if it stands twice; of Han and kana each pair."""
    words: dict[str, None] = {}
    said = unicodedata.normalize("NFKC", title).lower().strip()
    for word in _WORD.findall(_SECTION_NUMBER.sub("", said)):
        pairs = [word[i : i + 2] for i in range(len(word) - 1)] if _HAN.match(word) else []
        for each in pairs or [word]:
            words.setdefault(each + _AGAIN if each in words else each)
    return tuple(words)[:MAX_WORDS]


@lru_cache(maxsize=512)
def title_words(title: str, heading: str) -> tuple[str, ...]:
    """The words of a page's title, then those that its heading alone has."""
    words = words_of(title[:TITLE_CHARS])
    return (*words, *(word for word in words_of(heading) if word not in words))[:MAX_WORDS]


def heading_beside(title: str, headings: Sequence[str]) -> str:
    """The first heading that says more than the title, cut; "" without one.

    The first of all may be the site's name, so the second is looked at, too.
    """
    known = {*words_of(title[:TITLE_CHARS])}
    cut = (heading[:TITLE_CHARS] for heading in headings[:2])
    return next((heading for heading in cut if not known.issuperset(words_of(heading))), "")


def title_marks(title: str, heading: str, headings: Sequence[str], text: str) -> int:
    """What is known of the words of `title_words`, in bits.

    `heading` is the first one as it is kept, `headings` are all.

    bit 0        whether the main text says at least a third of those that are `telling`, or they
                 are too few
    bit i + 1    whether word i is part of the page's name: it stands in a heading, or, where
                 the heading has none of them, in the main text; where that has none either, the
                 title alone says what the page is about, and all words are its name
    """
    words, read = words_of(title[:TITLE_CHARS]), text[:_READ_CHARS].lower()
    heads = {word for each in headings for word in words_of(each)}
    named = [word in heads for word in words]
    if not any(named):
        named = [_stands_in(word, read) for word in words]
    if not any(named):
        named = [True] * len(words)
    named += [True] * (len(title_words(title, heading)) - len(words))  # the heading's alone
    asked = telling(words)
    needed = -(-len(asked) // _SAID_SHARE)
    said = sum(islice((1 for word in asked if _stands_in(word, read)), needed))
    if sum(map(len, asked)) < _MIN_TELLING_CHARS:
        said = needed
    marks = sum(2 << i for i, is_named in enumerate(named) if is_named)
    return marks | (SAID if said >= needed else 0)


def without_repeated(page: Titled, blocks: Collection[int]) -> int:
    """The page's marks, but that no word is its name that its template's titles repeat."""
    words = title_words(page.title, page.heading)
    repeated = sum(2 << i for i, block in enumerate(word_blocks(words)) if block in blocks)
    return page.title_marks & ~repeated


def word_blocks(words: Sequence[str]) -> list[int]:
    """A number of each word, by which a template's titles are learnt as its blocks are."""
    return [mmh3.hash(f"title {word}", signed=False) & BLOCK_BITS for word in words]


def telling(words: Collection[str]) -> list[str]:
    """The words of a title that not every text holds."""
    return [word for word in words if len(word) >= _TELLING_CHARS or _HAN.match(word)]


def name_two_things(page: Titled, other: Titled, *, in_one_template: bool) -> bool:
    """Whether each page's name has a word that the other's title and heading lack.

    Titles of two forms, in two templates or on two sites, may be two headlines of one story.
    """
    if not (_lacks_name(page, other) and _lacks_name(other, page)):
        return False
    words, others = words_of(page.title[:TITLE_CHARS]), words_of(other.title[:TITLE_CHARS])
    return in_one_template or _are_of_one_form(words, others)


def names_differ(page: Titled, other: Titled) -> bool:
    """Whether either page's name has a word that the other's title and heading lack."""
    return _lacks_name(page, other) or _lacks_name(other, page)


def are_of_no_text(page: Titled, other: Titled) -> bool:
    """Whether the text that two pages share is of neither: a shell, a consent box, a footer.

    Then their names differ, and neither title stands in the text.
    """
    if page.title == other.title or (page.title_marks | other.title_marks) & SAID:
        return False
    return not _share_half(_telling_name(page), _telling_name(other))


def _name(page: Titled) -> set[str]:
    return {
        word
        for i, word in enumerate(title_words(page.title, page.heading))
        if page.title_marks >> i + 1 & 1
    }


def _telling_name(page: Titled) -> Collection[str]:
    return telling(_name(page)) or telling(words_of(page.title[:TITLE_CHARS]))


def _lacks_name(page: Titled, other: Titled) -> bool:
    return not _name(other) <= {*title_words(page.title, page.heading)}


def _are_of_one_form(words: Sequence[str], others: Sequence[str]) -> bool:
    """Whether titles begin or end alike, or share half of their words."""
    if not words or not others:
        return True
    return words[0] == others[0] or words[-1] == others[-1] or _share_half(words, others)


def _share_half(words: Collection[str], others: Collection[str]) -> bool:
    return 2 * len({*words} & {*others}) >= min(len(words), len(others))


def _stands_in(word: str, text: str) -> bool:
    """Whether it is a word of the text, not a part of one."""
    if not word[0].isalnum() or _HAN.match(word):
        return word[0] not in _SEPARATORS and word in text
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not text[at - 1 : at].isalnum() and not text[end : end + 1].isalnum():
            return True
        at = text.find(word, end)
    return False
