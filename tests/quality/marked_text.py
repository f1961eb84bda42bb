"""Text of a page that was marked by hand as its main text: where it stands in the tree."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from lxml import etree
from lxml.etree import _Element

from simhash_pipeline import Fingerprinter, PageFingerprint
from tests.quality.corpora import Corpus
from tests.trees import parse

# Two Chinese characters are a word of mean length.
WORD = re.compile(r"[\u3400-\u9fff]{1,2}|[^\W\u3400-\u9fff]+")
# A shorter text may stand in the marked text by chance: "Reply", "3 days".
_SURE_CHARACTERS = 8
_HIDDEN = frozenset(
    ["script", "style", "noscript", "template", "svg", "iframe", "select", "textarea", "title"]
)
# By attribute: the words that make a link or a meta element one that declares an address.
_DECLARING = {"rel": ("canonical", "amphtml"), "property": ("og:url",), "name": ("twitter:url",)}
# A shorter text beside the marked text is a button or a date, and no box of other pages' words.
_MIN_LINK_WORDS = 4
_MIN_PROSE_WORDS = 8
_TITLE_WORDS = 6


@dataclass(frozen=True, slots=True)
class MarkedPage:
    """A page's tree without the addresses that it declares, and its marked text.

    With them all copies and other pages that are made of it would declare one address.
    """

    name: str
    lang: str
    root: _Element
    marked: str  # with single spaces


@dataclass(frozen=True, slots=True)
class TextNode:
    """The text in an element before its first child, or after the element."""

    element: _Element
    is_tail: bool

    @property
    def text(self) -> str:
        """With single spaces, and none around."""
        found = self.element.tail if self.is_tail else self.element.text
        return " ".join((found or "").split())

    @property
    def is_linked(self) -> bool:
        inner = self.element.getparent() if self.is_tail else self.element
        return _is_within(inner, {"a"})

    def replace(self, text: str) -> None:
        if self.is_tail:
            self.element.tail = f" {text} "
        else:
            self.element.text = text


def marked_page(corpus: Corpus, row: Mapping[str, str]) -> MarkedPage:
    """The page of this row of the index; PageError when it can't be read."""
    root = parse(corpus.read(f"pages/{row['id']}.html"))
    for element in root.iter("link", "meta"):
        if any(element.get(name) in words for name, words in _DECLARING.items()):
            element.attrib.clear()
    return MarkedPage(row["id"], row["lang"], root, _marked_text(corpus, row["id"]))


def marked_nodes(root: _Element, marked: str) -> list[TextNode]:
    """In reading order, those whose text surely is part of the marked text."""
    return [
        node
        for node in _text_nodes(root)
        if len(text := node.text) >= _SURE_CHARACTERS and text in marked
    ]


def all_marked_nodes(root: _Element, marked: str) -> list[TextNode]:
    """The same with the shorter ones that stand between them, as links and bold words do."""
    nodes = [node for node in _text_nodes(root) if node.text in marked]
    sure = [i for i, node in enumerate(nodes) if len(node.text) >= _SURE_CHARACTERS]
    return nodes[sure[0] : sure[-1] + 1] if sure else []


def nodes_beside(root: _Element, marked: str) -> list[TextNode]:
    """Those that are no part of the marked text: links of 4 words and more, others of 8."""
    return [
        node
        for node in _text_nodes(root)
        if (text := node.text) not in marked
        and word_count(text) >= (_MIN_LINK_WORDS if node.is_linked else _MIN_PROSE_WORDS)
    ]


def _text_nodes(root: _Element) -> Iterator[TextNode]:
    """All visible ones; none of a page without a body."""
    body = root.find("body")
    if body is None:
        return
    for event, element in etree.iterwalk(body, events=("start", "end")):
        if event == "start" and element.text and not _is_within(element, _HIDDEN):
            yield TextNode(element, is_tail=False)
        is_behind = event == "end" and element.tail and element is not body
        if is_behind and not _is_within(element.getparent(), _HIDDEN):
            yield TextNode(element, is_tail=True)


def _is_within(element: _Element | None, tags: Container[object]) -> bool:
    while element is not None and element.tag not in tags:
        element = element.getparent()
    return element is not None


def word_count(text: str) -> int:
    return len(WORD.findall(text))


def first_words(text: str, count: int) -> str:
    """The text up to the end of so many words."""
    ends = [word.end() for word in WORD.finditer(text)]
    return text[: ends[min(count, len(ends)) - 1]] if ends else ""


def with_other_words(text: str, words: Sequence[str], chance: Random) -> str:
    """The text with each word replaced by one of `words`; its punctuation stays."""
    return WORD.sub(lambda _: chance.choice(words), text)


def words_of_others(corpus: Corpus, page: MarkedPage) -> list[str]:
    """Words of the marked texts of its language's other pages, as often as they stand there."""
    texts = marked_texts(corpus, page.lang)
    return [word for name, text in texts.items() if name != page.name for word in _words(text)]


@cache
def marked_texts(corpus: Corpus, lang: str, page_type: str = "") -> Mapping[str, str]:
    """Of a language's pages, or those of one type, by name."""
    rows = [row for row in corpus.table("index.csv") if row["lang"] == lang]
    names = [row["id"] for row in rows if page_type in ("", row["page_type"])]
    return {name: _marked_text(corpus, name) for name in names}


def marked_paragraphs(corpus: Corpus, name: str) -> list[str]:
    """The lines of a page's marked text."""
    lines = corpus.read(f"gold/{name}.txt").decode().splitlines()
    return [" ".join(line.split()) for line in lines if line.strip()]


@cache
def _words(text: str) -> list[str]:
    return WORD.findall(text)


def _marked_text(corpus: Corpus, name: str) -> str:
    return " ".join(corpus.read(f"gold/{name}.txt").decode().split())


def set_title(root: _Element, title: str) -> None:
    """Another title, also of a page that had none; an image's own titles stay."""
    head = root.find("head")
    if head is None:
        head = etree.Element("head")
        root.insert(0, head)
    for element in head.findall("title"):
        head.remove(element)
    etree.SubElement(head, "title").text = title


def drawn_title(words: Sequence[str], chance: Random) -> str:
    """The title of another page."""
    return " ".join(chance.choices(words, k=_TITLE_WORDS))


def fingerprint_of(root: _Element) -> PageFingerprint:
    """Of the page as its tree says it again; PageError when that can't be read."""
    html = etree.tostring(root, encoding="unicode", method="html")
    return _fingerprinter().fingerprint(html)


@cache
def _fingerprinter() -> Fingerprinter:
    return Fingerprinter()
