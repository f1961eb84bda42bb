"""Print views of real pages: title, heading and the marked paragraphs, and nothing else.

Each is judged after its page alone, on the page's host and on one of another site. A page with too
few marked words to judge by is left out. Goals are set for articles: of a listing or a forum the
marked text is often another than what is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from html import escape

from simhash_pipeline import Judge, Options, PageError, PageFingerprint, open_store
from tests.quality.corpora import Corpus
from tests.quality.marked_text import (
    MarkedPage,
    fingerprint_of,
    marked_page,
    marked_paragraphs,
    word_count,
)
from tests.quality.rows import Row, share_row
from tests.quality.work import Work
from tests.trees import parse, title_of

_MIN_WORDS = 50
_PAGE = "http://a.example/1"
_ADDRESSES = {"one host": "http://a.example/print/1", "two hosts": "http://b.example/1"}
# Content and sketch distance in bits: the default, and the one for sites with print views.
_SETTINGS = {
    "3/18": Options(content_distance=3, sketch_distance=18),
    "6/24": Options(content_distance=6, sketch_distance=24),
}
_GOALS = {"3/18": 0.80, "6/24": 0.88}

Case = tuple[str, str]  # hosts and setting


def print_view_rows(corpus: Corpus, work: Work) -> Iterator[Row]:
    """The share of print views that are found."""
    index = corpus.table("index.csv")
    views = work.each(f"print views of {corpus.name}", partial(found, corpus), index)
    for is_article in (True, False):
        of_kind = [
            view
            for row, view in zip(index, views, strict=True)
            if view and (row["page_type"] == "article") == is_article
        ]
        kind = "an article" if is_article else "another page"
        for setting, goal in _GOALS.items():
            for hosts in _ADDRESSES:
                hits = [float(view[hosts, setting]) for view in of_kind]
                measure = f"print view of {kind}, {hosts}, {setting}: found"
                wanted = goal if is_article else None
                yield share_row(corpus.name, measure, "all", hits, wanted)


def found(corpus: Corpus, row: Mapping[str, str]) -> dict[Case, bool]:
    """By case, whether the page's print view is dropped; empty for a page that has none."""
    try:
        page = marked_page(corpus, row)
        if word_count(page.marked) < _MIN_WORDS:
            return {}
        own = fingerprint_of(page.root)
        view = fingerprint_of(parse(_print_view(page, marked_paragraphs(corpus, page.name))))
    except PageError:
        return {}
    return {
        (hosts, setting): _is_found(view, address, own, options)
        for hosts, address in _ADDRESSES.items()
        for setting, options in _SETTINGS.items()
    }


def _print_view(page: MarkedPage, paragraphs: list[str]) -> str:
    title = title_of(page.root)
    heading = next(page.root.iter("h1"), None)
    shown = title if heading is None else " ".join("".join(map(str, heading.itertext())).split())
    body = "".join(f"<p>{escape(text)}</p>\n" for text in paragraphs)
    return f"<title>{escape(title)}</title>\n<h1>{escape(shown)}</h1>\n{body}"


def _is_found(view: PageFingerprint, address: str, own: PageFingerprint, options: Options) -> bool:
    with open_store("memory:") as store:
        judge = Judge(store, options)
        judge.judge(_PAGE, own)
        return judge.judge(address, view).dropped
