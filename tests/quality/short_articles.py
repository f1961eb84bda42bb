"""Two short articles in one real template: a few words of their own among the same menus and boxes.

The marked text of an article's page is taken out, and the first words of another article's are put
where most of it stood. Ten such pages of each template and length are of one site. What the page
shows unmarked stays on all of them, comments and notices too.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from random import Random

from lxml.etree import _Element

from simhash_pipeline import Judge, PageError, PageFingerprint, open_store
from tests.quality.corpora import Corpus
from tests.quality.marked_text import (
    MarkedPage,
    all_marked_nodes,
    fingerprint_of,
    first_words,
    marked_page,
    marked_texts,
    word_count,
)
from tests.quality.rows import Row, share_row
from tests.quality.work import Work

_SEED = 7
_PAGES = 10
# What is left of the template's own article would be shared by pages that share nothing else.
_LEAST_TAKEN_OUT = 0.98
# By length: of pairs judged alone, and after other pages. The aim is 0.99. It isn't reached where a
# page shows ten times as many words beside the article, and these are taken for its main text.
_GOALS = {15: (0.745, 0.695), 30: (0.855, 0.855), 50: (0.91, 0.925), 75: (0.945, 0.95)}


@dataclass(frozen=True, slots=True)
class KeptApart:
    """Of one template: of each pair judged alone, and of the last two pages after the others."""

    alone: Sequence[bool]
    after_others: bool


def short_article_rows(corpus: Corpus, work: Work) -> Iterator[Row]:
    """The share of pairs of which the second page isn't taken for a near-duplicate."""
    index = [row for row in corpus.table("index.csv") if row["page_type"] == "article"]
    found = work.each("short articles", partial(kept_apart, corpus), index)
    for length, (goal, goal_after) in _GOALS.items():
        of_length = [page[length] for page in found if length in page]
        alone = [float(hit) for page in of_length for hit in page.alone]
        after = [float(page.after_others) for page in of_length]
        measure = f"two articles of {length} words in one template: kept apart"
        yield share_row(corpus.name, measure, "all", alone, goal)
        after_measure = f"{measure} after {_PAGES - 2} others"
        yield share_row(corpus.name, after_measure, "all", after, goal_after)


def kept_apart(corpus: Corpus, row: Mapping[str, str]) -> dict[int, KeptApart]:
    """By length; of a page that is no template nothing."""
    try:
        template = marked_page(corpus, row)
        texts = _articles(corpus, template)
        if not texts or not _is_template(template):
            return {}
        pages = {
            length: [fingerprint_of(_with_article(template, text, length)) for text in texts]
            for length in _GOALS
        }
    except PageError:
        return {}
    return {length: _judged(of_length) for length, of_length in pages.items()}


def _articles(corpus: Corpus, template: MarkedPage) -> list[str]:
    """Drawn from the other articles of the template's language; none where they are too few."""
    articles = _long_articles(corpus, template.lang)
    others = [text for name, text in articles.items() if name != template.name]
    if len(others) < _PAGES:
        return []
    return Random(f"{_SEED} {template.name}").sample(others, _PAGES)


@cache
def _long_articles(corpus: Corpus, lang: str) -> Mapping[str, str]:
    """Marked texts that can be cut to every length, by name."""
    texts = marked_texts(corpus, lang, "article")
    return {name: text for name, text in texts.items() if word_count(text) >= max(_GOALS)}


def _is_template(page: MarkedPage) -> bool:
    """Whether nearly all of its article is found."""
    nodes = all_marked_nodes(page.root, page.marked)
    taken_out = sum(word_count(node.text) for node in nodes)
    return bool(nodes) and taken_out >= _LEAST_TAKEN_OUT * word_count(page.marked)


def _with_article(template: MarkedPage, text: str, length: int) -> _Element:
    """The template with so many words of this article in place of its own."""
    root = copy.deepcopy(template.root)
    nodes = all_marked_nodes(root, template.marked)
    longest = max(nodes, key=lambda node: len(node.text))
    for node in nodes:
        node.replace("")
    longest.replace(first_words(text, length))
    return root


def _judged(pages: Sequence[PageFingerprint]) -> KeptApart:
    pairs = zip(pages[::2], pages[1::2], strict=True)
    return KeptApart([all(_kept(pair)) for pair in pairs], all(_kept(pages)[-2:]))


def _kept(pages: Sequence[PageFingerprint]) -> list[bool]:
    """Whether each page is, judged one after another as pages of one site."""
    with open_store("memory:") as store:
        judge = Judge(store)
        verdicts = [judge.judge(f"http://a.example/{n}", page) for n, page in enumerate(pages)]
    return [not verdict.dropped for verdict in verdicts]
