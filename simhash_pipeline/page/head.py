"""What a page says of itself: its title, its address, and which words of the title are its name.

Two pages of one site with one text may be about two things, and then their titles say so:

    title      scipy.linalg.sinm — SciPy v1.10.1 Manual        scipy.linalg.cosm — SciPy ...
    heading    scipy.linalg.sinm                               scipy.linalg.cosm
    name       scipy linalg sinm                               scipy linalg cosm

Each names a thing that the other's title lacks. The words of a version, a section or the site are
no part of a name, as they don't stand in the heading.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from urllib.parse import urljoin

from lxml.etree import _Element

from simhash_pipeline.native import Head
from simhash_pipeline.page.blocks import Blocks
from simhash_pipeline.page.boilerplate import MAX_LINK_SHARE
from simhash_pipeline.page.bounds import has_long_host

MAX_TITLES = 5  # empty ones to look at; each may hold the next, and all that follows
_MAX_HEADINGS = 5
TITLE_CHARS = 100  # of a title, that a store keeps and that is compared
_MAX_WORDS = 62  # so that a mark for each fits into a signed word of 64 bits
_READ_CHARS = 5_000  # of the main text, in which the title's words are looked for
_SAID_SHARE = 3  # one in so many of the title's words stands in the text of a page that is its own
_MIN_TELLING_CHARS = 6  # of these words of a title together: a blogger's name is in no text
_TELLING_CHARS = 4  # of a word that can be missed in a text: shorter ones stand in any
SAID = 1  # bit 0 of a page's marks
# A number with its dots is one word: 3.27.1 and 3.27.2 are two versions. An operator is one, too.
_WORD = re.compile(
    r"\d+(?:[.:/_-]\d+)*(?![^\W_])|[\u3040-\u30ff\u3400-\u9fff]+"
    r"|[^\W_\u3040-\u30ff\u3400-\u9fff]+|[+*%=<>!~^&#@$]+"
)
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def head_of(root: _Element) -> Head:
    """What stands in the page's head."""
    return [
        (
            child.tag,
            child.get("rel"),
            child.get("href"),
            child.get("property"),
            _text_of(child) if child.tag == "title" else child.get("content"),
        )
        for head in islice(root.iterchildren("head"), 1)
        for child in head
    ]


def title_of(root: _Element, head: Head | None = None) -> str:
    """The page's title, white space collapsed: its title element, og:title or first h1; else ""."""
    return title_among(head or head_of(root), _titles(root))


def title_among(head: Head, texts: Iterable[str]) -> str:
    """As `title_of`, of a head and what else may be the title, best first."""
    said = (text for tag, _, _, _, text in head if tag == "title")
    return next(
        filter(None, (" ".join((text or "").split()) for text in chain(islice(said, 1), texts))), ""
    )


def canonical_url(head: Head, url: str | None) -> str | None:
    """What the page's head says is its address, made absolute; None where it says nothing.

    It is the link rel="canonical", or else og:url.
    """
    declared = next(filter(None, _declared(head)), None)
    if declared is None:
        return None
    bases = ((href or "").strip() for tag, _, href, _, _ in head if tag == "base")
    base = next(filter(None, bases), "")
    if any(map(has_long_host, (url or "", base, declared))):
        return None
    try:
        return urljoin(urljoin(url or "", base), declared)
    except ValueError:  # it is no URL
        return None


@lru_cache(maxsize=512)  # a page is compared with 200 others, each title in more than one test
def title_words(title: str) -> tuple[str, ...]:
    """The words of a title, each once; of Han and kana, which have no spaces, each pair."""
    words: dict[str, None] = {}
    for word in _WORD.findall(unicodedata.normalize("NFKC", title[:TITLE_CHARS]).lower()):
        pairs = [word[i : i + 2] for i in range(len(word) - 1)] if _HAN.match(word) else []
        words.update(dict.fromkeys(pairs or [word]))
    return tuple(words)[:_MAX_WORDS]


def title_marks(title: str, blocks: Blocks, text: str) -> int:
    """What is known of the words of `title_words`, in bits.

    bit 0        whether the main text says at least a third of those that are `telling`, or they
                 are too few
    bit i + 1    whether word i is part of the page's name: it stands in a heading, or, where
                 the heading has none of them, in the main text; where that has none either, the
                 title alone says what the page is about, and all words are its name
    """
    words = title_words(title)
    heading, read = _heading(blocks, title), text[:_READ_CHARS].lower()
    named = [_stands_in(word, heading) for word in words]
    if not any(named):
        named = [_stands_in(word, read) for word in words]
    if not any(named):
        named = [True] * len(words)
    asked = telling(words)
    needed = -(-len(asked) // _SAID_SHARE)
    said = sum(islice((1 for word in asked if _stands_in(word, read)), needed))
    if sum(map(len, asked)) < _MIN_TELLING_CHARS:
        said = needed
    marks = sum(2 << i for i, is_named in enumerate(named) if is_named)
    return marks | (SAID if said >= needed else 0)


def telling(words: Sequence[str]) -> list[str]:
    """The words of a title that not every text holds."""
    return [word for word in words if len(word) >= _TELLING_CHARS or _HAN.match(word)]


def name_of(words: Sequence[str], marks: int) -> set[str]:
    """The words that are the page's name."""
    return {word for i, word in enumerate(words) if marks >> i + 1 & 1}


def _titles(root: _Element) -> Iterator[str]:
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


def _declared(head: Head) -> Iterator[str]:
    for tag, rel, href, _, _ in head:
        if tag == "link" and rel and href and "canonical" in rel.lower().split():
            yield href.strip()
    for tag, _, _, said, content in head:
        if tag == "meta" and said == "og:url" and content:
            yield content.strip()


def _heading(blocks: Blocks, title: str) -> str:
    """The texts of the first h1s, or of the first h2, and the longest other that the title holds.

    An h1 may name the site or a section, and the headline may stand in any box. A link names
    another page or the site.
    """
    tag, most = ("h1", _MAX_HEADINGS) if "h1" in blocks.tags else ("h2", 1)
    found: list[str] = []
    at = -1
    while len(found) < min(most, blocks.tags.count(tag)):
        at = blocks.tags.index(tag, at + 1)
        found.append(blocks.texts[at])
    others = (
        text
        # A text without a page has no shares, and so no other heading.
        for text, share in zip(blocks.texts, blocks.link_shares, strict=False)
        if text in title and text not in found and share <= MAX_LINK_SHARE
    )
    found.append(max(others, key=len, default=""))
    return unicodedata.normalize("NFKC", " ".join(found)).lower()


def _stands_in(word: str, text: str) -> bool:
    """Whether it is a word of the text, not a part of one."""
    if not word[0].isalnum() or _HAN.match(word):
        return word in text
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not text[at - 1 : at].isalnum() and not text[end : end + 1].isalnum():
            return True
        at = text.find(word, end)
    return False
