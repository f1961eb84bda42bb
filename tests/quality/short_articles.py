"""Short articles in real templates: a few words of their own among the same menus and boxes.

The marked text of an article's page is taken out, and the first words of another article's are put
where most of it stood. Ten such pages of each template and length are of one site, once under the
template's own title, and once each under its article's. What the page shows unmarked stays on all
of them, comments and notices too. One article is put into the templates of two sites as well.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import cycle, pairwise
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
    set_title,
    word_count,
)
from tests.quality.rows import Row, share_row
from tests.quality.work import Work
from tests.trees import parse, title_of

_SEED = 7
_PAGES = 10
# What is left of the template's own article would be shared by pages that share nothing else.
_LEAST_TAKEN_OUT = 0.98
# By length: of pairs judged alone, and after other pages. The aim is 0.99. It isn't reached where a
# page shows ten times as many words beside the article, and these are taken for its main text.
_GOALS = {15: (0.745, 0.695), 30: (0.855, 0.855), 50: (0.91, 0.925), 75: (0.945, 0.95)}
_TITLED_GOAL = 0.99
_JOINED_LENGTHS = (100, 50)  # of one article in two templates
_JOINED_ARTICLES = 3  # of each two templates


@dataclass(frozen=True, slots=True)
class Article:
    """A marked text, and the title of its page."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class KeptApart:
    """Of one template: of each pair judged alone, and of the last two pages after the others."""

    alone: Sequence[bool]
    after_others: bool


def short_article_rows(corpus: Corpus, work: Work) -> Iterator[Row]:
    """The share of pairs of which the second page isn't taken for a near-duplicate, or is."""
    index = [row for row in corpus.table("index.csv") if row["page_type"] == "article"]
    for titled in (False, True):
        templates = work.templates(index)
        found = work.each("short articles", partial(kept_apart, corpus, titled), templates)
        for length, goals in _GOALS.items():
            goal, goal_after = (_TITLED_GOAL, _TITLED_GOAL) if titled else goals
            of_length = [page[length] for page in found if length in page]
            alone = [float(hit) for page in of_length for hit in page.alone]
            after = [float(page.after_others) for page in of_length]
            titles = ", each with its title" if titled else ""
            measure = f"two articles of {length} words in one template{titles}: kept apart"
            yield share_row(corpus.name, measure, "all", alone, goal)
            after_measure = f"{measure} after {_PAGES - 2} others"
            yield share_row(corpus.name, after_measure, "all", after, goal_after)
    pairs = [(a, b) for a, b in pairwise(index) if a["lang"] == b["lang"]]
    joins = work.each("articles in two templates", partial(joined, corpus), pairs)
    for length in _JOINED_LENGTHS:
        hits = [float(hit) for pair in joins for hit in pair.get(length, ())]
        measure = f"one article of {length} words in two templates: joined"
        yield share_row(corpus.name, measure, "all", hits)


def kept_apart(corpus: Corpus, titled: bool, row: Mapping[str, str]) -> dict[int, KeptApart]:
    """By length; of a page that is no template nothing."""
    try:
        template = marked_page(corpus, row)
        articles = _articles(corpus, template, max(_GOALS), _PAGES, titled=titled)
        if not articles or not _is_template(template):
            return {}
        pages = {
            length: [
                fingerprint_of(_with_article(template, article, length, titled=titled))
                for article in articles
            ]
            for length in _GOALS
        }
    except PageError:
        return {}
    return {length: _judged(of_length) for length, of_length in pages.items()}


def joined(corpus: Corpus, rows: Sequence[Mapping[str, str]]) -> dict[int, list[bool]]:
    """By length, whether an article is found in the second template, on another site."""
    try:
        templates = [marked_page(corpus, row) for row in rows]
        words = max(_JOINED_LENGTHS)
        articles = _articles(corpus, templates[0], words, _JOINED_ARTICLES, titled=True)
        if not all(map(_is_template, templates)):
            return {}
        pages = {
            (length, number): [
                fingerprint_of(_with_article(template, article, length, titled=True))
                for template in templates
            ]
            for length in _JOINED_LENGTHS
            for number, article in enumerate(articles)
        }
    except PageError:
        return {}
    hits: dict[int, list[bool]] = {length: [] for length in _JOINED_LENGTHS}
    for (length, _), pair in pages.items():
        hits[length].append(not _kept(pair, ("a", "b"))[1])
    return hits


def _articles(
    corpus: Corpus, template: MarkedPage, words: int, count: int, *, titled: bool
) -> list[Article]:
    """Drawn from the other articles of the template's language; none where they are too few."""
    articles = _long_articles(corpus, template.lang, words)
    others = [
        article
        for name, article in articles.items()
        if name != template.name and (article.title or not titled)
    ]
    if len(others) < count:
        return []
    return Random(f"{_SEED} {template.name}").sample(others, count)


@cache
def _long_articles(corpus: Corpus, lang: str, words: int) -> Mapping[str, Article]:
    """Those of so many words and more, by name."""
    return {
        name: Article(title_of(parse(corpus.read(f"pages/{name}.html"))), text)
        for name, text in marked_texts(corpus, lang, "article").items()
        if word_count(text) >= words
    }


def _is_template(page: MarkedPage) -> bool:
    """Whether nearly all of its article is found."""
    nodes = all_marked_nodes(page.root, page.marked)
    taken_out = sum(word_count(node.text) for node in nodes)
    return bool(nodes) and taken_out >= _LEAST_TAKEN_OUT * word_count(page.marked)


def _with_article(template: MarkedPage, article: Article, length: int, *, titled: bool) -> _Element:
    """The template with so many words of this article in place of its own."""
    root = copy.deepcopy(template.root)
    nodes = all_marked_nodes(root, template.marked)
    longest = max(nodes, key=lambda node: len(node.text))
    for node in nodes:
        node.replace("")
    longest.replace(first_words(article.text, length))
    if titled:
        set_title(root, article.title)
    return root


def _judged(pages: Sequence[PageFingerprint]) -> KeptApart:
    pairs = zip(pages[::2], pages[1::2], strict=True)
    return KeptApart([all(_kept(pair)) for pair in pairs], all(_kept(pages)[-2:]))


def _kept(pages: Sequence[PageFingerprint], sites: Sequence[str] = "a") -> list[bool]:
    """Whether each page is, judged one after another as pages of these sites in turn."""
    with open_store("memory:") as store:
        judge = Judge(store)
        verdicts = [
            judge.judge(f"http://{site}.example/{number}", page)
            for number, (site, page) in enumerate(zip(cycle(sites), pages, strict=False))
        ]
    return [not verdict.dropped for verdict in verdicts]
