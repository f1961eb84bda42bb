"""Copies that a judge must find: what stands beside the marked text of a real article exchanged.

The mirror of blind_changes.py. Two copies of each article are made, with its title and its marked
text. In *teasers* each link of four words and more is exchanged for links of other pages, as boxes
of "most read" are each day; in *beside* so is half of the other small print of eight words and
more. A copy stands at another path, at the article's own with a tracking parameter, or at another
path with a canonical link to the article. Twelve other articles of the site are judged before, each
with a title of its own: with the article's boxes (*day*), or each with boxes of its own (*own*).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from random import Random

from lxml import etree
from lxml.etree import _Element

from simhash_pipeline import Judge, Options, PageError, PageFingerprint, open_store
from simhash_pipeline.item_values import NOTHING, Said
from simhash_pipeline.items import said_by, with_values
from simhash_pipeline.page.source import Source
from tests.quality.corpora import Corpus
from tests.quality.marked_text import (
    MarkedPage,
    drawn_title,
    fingerprint_of,
    marked_nodes,
    marked_page,
    nodes_beside,
    set_title,
    with_other_words,
    word_count,
    words_of_others,
)
from tests.quality.rows import Row, share_row
from tests.quality.work import Work

_SEED = 7
_SIBLINGS = 12
_TYPES = frozenset(["article", "news", "blog", ""])
_MIN_WORDS = 15  # of marked text
_MIN_EXCHANGED = 8  # words
_LEAST_FOUND = 0.8  # of the marked words: other articles would share the rest
_POOL_PAGES = 150  # whose links are drawn from
_ARTICLE = "http://a.example/1"
_ADDRESSES = {
    "other": "http://a.example/2",
    "tracking": f"{_ARTICLE}?utm_source=x",
    "canonical": "http://a.example/2",
    "other, with items": "http://a.example/2",
}
_KINDS = ("teasers", "beside")
_Sibling = tuple[PageFingerprint, dict[str, str]]  # and the item that is scraped from it
_WAYS = ("day", "own")
_GOALS = {
    ("teasers", "day", "other"): 0.70,
    ("teasers", "own", "other"): 0.60,
    ("beside", "day", "other"): 0.50,
    ("beside", "own", "other"): 0.45,
    **{("teasers", way, at): 0.97 for way in _WAYS for at in ("tracking", "canonical")},
    **{("beside", way, at): 0.95 for way in _WAYS for at in ("tracking", "canonical")},
    **{("teasers", way, "other, with items"): 0.97 for way in _WAYS},
    **{("beside", way, "other, with items"): 0.95 for way in _WAYS},
}
# Most of the siblings that are dropped have hardly any text of their own.
_GOALS_OF_SIBLINGS = {"day": 0.98, "own": 0.99, "day, with items": 0.98, "own, with items": 0.99}


@dataclass(frozen=True, slots=True)
class Found:
    """Of one article's copies and siblings."""

    copies: dict[tuple[str, str, str], bool] = field(default_factory=dict)  # dropped, as they must
    siblings: dict[str, list[bool]] = field(default_factory=dict)  # kept, as they must


def beside_change_rows(corpus: Corpus, work: Work) -> Iterator[Row]:
    """The share of copies that are found, and of other articles that are kept."""
    index = [row for row in corpus.table("index.csv") if row["page_type"] in _TYPES]
    templates = work.templates(index)
    articles = work.each(f"copies in {corpus.name}", partial(found, corpus), templates)
    for (kind, way, address), goal in _GOALS.items():
        hits = [
            float(of.copies[key]) for of in articles if (key := (kind, way, address)) in of.copies
        ]
        measure = f"{kind} exchanged, {way} siblings, {address} address: copy found"
        yield share_row(corpus.name, measure, "all", hits, goal)
    for way, goal in _GOALS_OF_SIBLINGS.items():
        kept = [float(hit) for of in articles for hit in of.siblings.get(way, ())]
        yield share_row(
            corpus.name, f"siblings beside changed copies, {way}: kept", "all", kept, goal
        )


def found(corpus: Corpus, row: Mapping[str, str]) -> Found:
    """What becomes of an article's copies and siblings; nothing where it can't be changed so."""
    result = Found()
    try:
        page = marked_page(corpus, row)
        if not _can_be_changed(page) or not (pool := _link_texts(corpus, page.lang)):
            return result
        own = fingerprint_of(page.root)
        item = {"title": own.title, "body": page.marked}
        copies = dict(_copies(page, pool))
        for way in _WAYS:
            siblings = [_sibling(corpus, page, pool, way, n) for n in range(_SIBLINGS)]
            result.siblings[way] = _kept(siblings)
            for (kind, address), copied in copies.items():
                result.copies[kind, way, address] = _is_found(
                    copied, _ADDRESSES[address], own, siblings
                )
            result.siblings[f"{way}, with items"] = _kept(siblings, with_items=True)
            for kind in _KINDS:
                if (kind, "other") in copies:
                    copied = copies[kind, "other"]
                    result.copies[kind, way, "other, with items"] = _is_found(
                        copied, "http://a.example/2", own, siblings, item
                    )
    except PageError:
        pass
    return result


def _can_be_changed(page: MarkedPage) -> bool:
    words = word_count(page.marked)
    shown = sum(word_count(node.text) for node in marked_nodes(page.root, page.marked))
    return words >= _MIN_WORDS and shown >= _LEAST_FOUND * words


@cache
def _link_texts(corpus: Corpus, lang: str) -> Sequence[str]:
    """Beside the marked texts of a language's articles."""
    index = [row for row in corpus.table("index.csv") if row["page_type"] in _TYPES]
    texts = []
    for row in index[:_POOL_PAGES]:
        if row["lang"] == lang:
            page = marked_page(corpus, row)
            texts += [n.text for n in nodes_beside(page.root, page.marked) if n.is_linked]
    return texts


def _copies(
    page: MarkedPage, pool: Sequence[str]
) -> Iterator[tuple[tuple[str, str], PageFingerprint]]:
    """By kind and address; a kind with too little to exchange is absent."""
    for kind in _KINDS:
        root = copy.deepcopy(page.root)
        chance = Random(f"{_SEED} {kind} {page.name}")
        if _exchange_beside(root, page.marked, pool, kind, chance) < _MIN_EXCHANGED:
            continue
        undeclared = fingerprint_of(root)
        yield (kind, "other"), undeclared
        yield (kind, "tracking"), undeclared
        _declare(root, _ARTICLE)
        yield (kind, "canonical"), fingerprint_of(root)


def _exchange_beside(
    root: _Element, marked: str, pool: Sequence[str], kind: str, chance: Random
) -> int:
    """Exchange links, and half of the other texts where `kind` says so; the words exchanged."""
    exchanged = 0
    for node in nodes_beside(root, marked):
        if node.is_linked or (kind == "beside" and chance.random() < 0.5):
            count = word_count(node.text)
            exchanged += count
            node.replace(_drawn(pool, count, chance))
    return exchanged


def _drawn(pool: Sequence[str], count: int, chance: Random) -> str:
    """Texts of the pool, until they have so many words."""
    texts: list[str] = []
    while count > 0:
        texts.append(chance.choice(pool))
        count -= word_count(texts[-1])
    return " ".join(texts)


def _declare(root: _Element, address: str) -> None:
    head = root.find("head")
    if head is None:
        head = etree.Element("head")
        root.insert(0, head)
    etree.SubElement(head, "link", rel="canonical", href=address)


def _sibling(
    corpus: Corpus, page: MarkedPage, pool: Sequence[str], way: str, number: int
) -> _Sibling:
    """Another article of the site: the page with its title and marked text exchanged."""
    root = copy.deepcopy(page.root)
    chance = Random(f"{_SEED} {page.name} {number}")
    words = words_of_others(corpus, page)
    nodes = marked_nodes(root, page.marked)
    if way == "own":
        _exchange_beside(root, page.marked, pool, "teasers", chance)
    texts = [with_other_words(node.text, words, chance) for node in nodes]
    for node, text in zip(nodes, texts, strict=True):
        node.replace(text)
    set_title(root, title := drawn_title(words, chance))
    return fingerprint_of(root), {"title": title, "body": " ".join(texts)}


def _kept(siblings: Sequence[_Sibling], *, with_items: bool = False) -> list[bool]:
    with open_store("memory:") as store:
        return list(_judged(Judge(store), siblings, with_items=with_items))


def _is_found(
    copied: PageFingerprint,
    address: str,
    own: PageFingerprint,
    siblings: Sequence[_Sibling],
    item: dict[str, str] | None = None,
) -> bool:
    """Whether the copy is dropped, when it is judged after the siblings and the article."""
    with open_store("memory:") as store:
        judge = Judge(store)
        list(_judged(judge, siblings, with_items=item is not None))
        judge.judge(_ARTICLE, own, _said(own, _ARTICLE, item))
        return judge.judge(address, copied, _said(copied, address, item)).dropped


def _judged(judge: Judge, siblings: Sequence[_Sibling], *, with_items: bool) -> Iterator[bool]:
    """Whether each is kept."""
    for number, (page, item) in enumerate(siblings):
        url = f"http://a.example/sibling-{number}"
        yield not judge.judge(url, page, _said(page, url, item if with_items else None)).dropped


def _said(page: PageFingerprint, url: str, item: dict[str, str] | None) -> Said:
    """What an item says whose values are visible, so that the page's source adds nothing."""
    if item is None:
        return NOTHING
    return said_by(page, with_values(Source("", url), item, Options()))
