"""What the pipeline makes of labelled pages, as rows: content, main text, short pages, script."""

from __future__ import annotations

import dataclasses
import importlib
import math
import tempfile
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from lxml.etree import _Element

from simhash_pipeline import (
    Fingerprinter,
    Judge,
    Options,
    PageError,
    PageFingerprint,
    content_fingerprint,
    hamming_distance,
)
from simhash_pipeline.page.segment import words as tokens
from tests.quality.beside_changes import beside_change_rows
from tests.quality.blind_changes import blind_change_rows
from tests.quality.corpora import Corpus, Pair, pages_of
from tests.quality.demo_corpora import write_demo_corpora
from tests.quality.print_views import print_view_rows
from tests.quality.rows import LANGUAGES, Row, share_row
from tests.quality.short_articles import short_article_rows
from tests.quality.structure import structure_rows
from tests.quality.work import Work
from tests.trees import main_text, parse

MIN_TOKENS = Options().min_tokens
DISTANCES = (3, 6)
OTHER_HOST = "https://b.example/"
_JACCARD_BOUNDS = (0, 0.25, 0.5, 0.7, 0.9, 0.95, 0.98, 1.01)
# Few labelled pages are short, so others are cut too, at the end of a block, to so many tokens. Cut
# near-duplicates count while they share nine tokens of ten without being the same; others while
# they share fewer.
_THIN_TOKENS = ((1, 49), (50, 99))
_SHORT_TOKENS = ((10, 19), (20, 29), (30, 49), (50, 99))
_NEAR_F1 = 0.9
_MAX_CONVERTED = 200  # pages: the converter in plain Python is slow
# F1 by corpus, and by kind of page and language.
_MAIN_TEXT_GOALS = {
    "articles.zip": {
        ("article-extraction-benchmark", "English"): 0.95,
        ("other articles", "English"): 0.0,
        ("articles", "Chinese"): 0.89,
        ("forums", "all"): 0.72,
        ("other pages", "all"): 0.75,
    },
    "pagetypes.zip": {
        ("other articles", "English"): 0.0,
        ("forums", "all"): 0.58,
        ("other pages", "all"): 0.73,
    },
}

Pages = Mapping[str, PageFingerprint | None]


def all_rows(folder: Path, work: Work) -> Iterator[Row]:
    """The whole table, from the zips of a folder; pagetypes.zip may be missing."""
    versions, syndicated = Corpus(folder / "versions.zip"), Corpus(folder / "syndicated.zip")
    pages = {
        corpus: work.by_name(corpus.name, fingerprinted, corpus, pages_of(corpus.pairs()))
        for corpus in (versions, syndicated)
    }
    yield from version_rows(versions, pages[versions])
    yield from syndicated_rows(syndicated, pages[syndicated])
    articles, pagetypes = Corpus(folder / "articles.zip"), Corpus(folder / "pagetypes.zip")
    for corpus in (articles, pagetypes) if pagetypes.path.exists() else (articles,):
        yield from article_rows(corpus, work)
        yield from blind_change_rows(corpus, work)
        yield from print_view_rows(corpus, work)
    yield from beside_change_rows(articles, work)
    yield from short_article_rows(articles, work)
    yield from structure_rows(Corpus(folder / "templates.zip"), work)
    yield from short_rows(versions, pages[versions], work)
    yield from traditional_rows(versions, pages[versions], work)


def demo_rows() -> tuple[list[Row], dict[str, str]]:
    """The table made of the demo site, and its corpora's digests; what it asks is pinned alone.

    Its pages have few templates, so that one in three says as much.
    """
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        write_demo_corpora(folder)
        rows = [
            dataclasses.replace(
                row, corpus=f"demo {row.corpus}", goal=None if row.goal is None else 0.0
            )
            for row in all_rows(folder, Work(processes=1, share=3))
        ]
        digests = {f"demo {path.name}": Corpus(path).digest() for path in folder.glob("*.zip")}
    return rows, digests


def fingerprinted(corpus: Corpus, name: str) -> PageFingerprint | None:
    """The page with its fingerprints, however short its text; None where it can't be read."""
    try:
        return Fingerprinter(Options(min_tokens=1)).fingerprint(corpus.read(name))
    except PageError:
        return None


class Joins:
    """Whether the judge takes the second of two pages for the first one's twin."""

    def __init__(
        self, distance: int, min_tokens: int = MIN_TOKENS, other: str = OTHER_HOST
    ) -> None:
        self._other = other
        options = Options(content_distance=distance, min_tokens=min_tokens)
        self._judge = Judge("memory:", options)
        weakref.finalize(self, self._judge.close)
        self._min_tokens = min_tokens

    def __call__(self, a: PageFingerprint | None, b: PageFingerprint | None) -> bool:
        if a is None or b is None:
            return False
        one = self._judge.judge("https://a.example/", self._judged(a))
        two = self._judge.judge(self._other, self._judged(b))
        self._judge.forget(two)
        self._judge.forget(one)
        return two.dropped

    def _judged(self, page: PageFingerprint) -> PageFingerprint:
        thin = page.tokens < self._min_tokens
        return dataclasses.replace(page, content=None, sketch=None) if thin else page


def version_rows(corpus: Corpus, pages: Pages) -> Iterator[Row]:
    """Precision and recall on two releases of a page, and what is joined in bands of Jaccard."""
    goals = {3: (0.995, 0.95), 6: (0.99, 0.98)}
    joined = {distance: _joined(corpus.pairs(), pages, distance) for distance in DISTANCES}
    for distance, hits in joined.items():
        for lang, label in LANGUAGES.items():
            of_lang = [(pair.label, hit) for pair, hit in hits if pair.lang.startswith(lang)]
            labels = [float(got) for got, hit in of_lang if hit]
            found = [float(hit) for got, hit in of_lang if got]
            precision, recall = goals[distance] if label == "all" else (0.0, 0.0)
            yield share_row(corpus.name, f"precision, k={distance}", label, labels, precision)
            yield share_row(corpus.name, f"recall, k={distance}", label, found, recall)
    hits = _joined(corpus.pairs(), pages, 3, other="https://a.example/2")
    for lang, label in LANGUAGES.items():
        found = [float(hit) for pair, hit in hits if pair.label and pair.lang.startswith(lang)]
        goal = 0.93 if label == "all" else None
        yield share_row(corpus.name, "recall on one host, k=3", label, found, goal)
    for low, high in pairwise(_JACCARD_BOUNDS):
        for distance, hits in joined.items():
            for lang in ("en", "zh"):
                band = [
                    float(hit)
                    for pair, hit in hits
                    if pair.lang.startswith(lang) and low <= pair.jaccard < high
                ]
                measure = f"joined, k={distance}, Jaccard {low:g}-{min(1, high):g}"
                if band:
                    yield share_row(corpus.name, measure, LANGUAGES[lang], band)


def syndicated_rows(corpus: Corpus, pages: Pages) -> Iterator[Row]:
    """One article in the templates of several sites, and several in one template."""
    goals = {(3, "en"): 0.90, (3, "zh"): 0.80, (6, "en"): 0.96, (6, "zh"): 0.90}
    for distance in DISTANCES:
        hits = _joined(corpus.pairs(), pages, distance)
        for lang in ("en", "zh"):
            same = [float(hit) for pair, hit in hits if pair.label and pair.lang.startswith(lang)]
            goal = goals[distance, lang]
            yield share_row(
                corpus.name, f"one article joined, k={distance}", LANGUAGES[lang], same, goal
            )
        apart = [float(not hit) for pair, hit in hits if not pair.label]
        yield share_row(corpus.name, f"others kept apart, k={distance}", "all", apart, 0.995)


def _joined(
    pairs: Iterable[Pair], pages: Pages, distance: int, other: str = OTHER_HOST
) -> list[tuple[Pair, bool]]:
    joins = Joins(distance, other=other)
    return [(pair, joins(pages[pair.page_a], pages[pair.page_b])) for pair in pairs]


def article_rows(corpus: Corpus, work: Work) -> Iterator[Row]:
    """How well the main text agrees with the one marked by hand."""
    index = corpus.table("index.csv")
    scores = work.by_name(corpus.name, main_text_f1, corpus, [row["id"] for row in index])
    for (kind, lang), goal in _MAIN_TEXT_GOALS[corpus.name].items():
        found = [scores[row["id"]] for row in index if _kind(row) == (kind, lang)]
        if found:
            yield share_row(corpus.name, f"main text of {kind}, F1", lang, found, goal)
    chinese = [row["id"] for row in index if _kind(row) == ("articles", "Chinese")]
    if chinese:
        ends = work.each("ends of articles", partial(ends_as_marked, corpus), chinese)
        measure = "main text of articles: its last line is marked text"
        yield share_row(corpus.name, measure, "Chinese", ends, 0.55)


def _kind(row: Mapping[str, str]) -> tuple[str, str]:
    """What kind of page it is, and its language where that is told apart."""
    if row["id"].startswith("aeb"):
        return "article-extraction-benchmark", "English"
    if row["page_type"] == "article":
        return ("articles", "Chinese") if row["lang"] == "zh" else ("other articles", "English")
    return ("forums" if row["page_type"] == "forum" else "other pages"), "all"


def main_text_f1(corpus: Corpus, name: str) -> float:
    """Of the page's tokens against those of the text marked by hand; 0 where it can't be read."""
    try:
        text = main_text(parse(corpus.read(f"pages/{name}.html")))
    except PageError:
        return 0.0
    return token_f1(tokens(text), tokens(corpus.read(f"gold/{name}.txt").decode()))


def ends_as_marked(corpus: Corpus, name: str) -> float:
    """1.0 where no credit, notice or link for the reader stands below the article."""
    text = main_text(parse(corpus.read(f"pages/{name}.html")))
    gold = corpus.read(f"gold/{name}.txt").decode()
    last = text.split("\n")[-1]
    return float("".join(last.split()) in "".join(gold.split()))


def token_f1(found: Sequence[str], wanted: Sequence[str]) -> float:
    """Of the two as multisets: twice the tokens they share against the tokens of both."""
    shared = (Counter(found) & Counter(wanted)).total()
    return 2 * shared / (len(found) + len(wanted)) if shared else 0.0


def short_rows(corpus: Corpus, pages: Pages, work: Work) -> Iterator[Row]:
    """What fingerprints would join of short pages, if none were taken for thin."""
    for low, high in _THIN_TOKENS:
        for lang in ("en", "zh"):
            of_lang = [
                (pair.label, one, two)
                for pair in corpus.pairs()
                if pair.lang.startswith(lang)
                and (one := pages[pair.page_a])
                and (two := pages[pair.page_b])
                and low <= min(one.tokens, two.tokens) <= high
            ]
            near, other = ([(a, b) for got, a, b in of_lang if got == label] for label in (1, 0))
            yield from _short_band(corpus.name, f"of {low}-{high} tokens", lang, near, other)
    for low, high in _SHORT_TOKENS:
        cut = {name: shortened(page.text, low, high) for name, page in pages.items() if page}
        texts = sorted({text for text in cut.values() if text})
        made = dict(zip(texts, work.each("short texts", short_page, texts), strict=True))
        for lang in ("en", "zh"):
            pairs = [
                (pair.label, cut.get(pair.page_a, ""), cut.get(pair.page_b, ""))
                for pair in corpus.pairs()
                if pair.lang.startswith(lang)
            ]
            near, other = [], []
            for label, a, b in pairs:
                similarity = token_f1(tokens(a), tokens(b))
                if label and similarity >= _NEAR_F1 and a != b:
                    near.append((made[a], made[b]))
                elif a and b and not label and similarity < _NEAR_F1:
                    other.append((made[a], made[b]))
            yield from _short_band(corpus.name, f"cut to {low}-{high} tokens", lang, near, other)


def _short_band(
    corpus: str,
    band: str,
    lang: str,
    near: Sequence[tuple[PageFingerprint, PageFingerprint]],
    other: Sequence[tuple[PageFingerprint, PageFingerprint]],
) -> Iterator[Row]:
    joins = Joins(3, min_tokens=1)
    for kind, pairs in (("near-duplicates", near), ("others", other)):
        hits = [float(joins(a, b)) for a, b in pairs]
        yield share_row(corpus, f"texts {band}: {kind} joined, k=3", LANGUAGES[lang], hits)


def shortened(text: str, low: int, high: int) -> str:
    """The text up to the end of the first block with which it has `low` tokens; "" above `high`."""
    count, kept = 0, []
    for line in text.split("\n"):
        kept.append(line)
        count += len(tokens(line))
        if count >= low:
            return "\n".join(kept) if count <= high else ""
    return ""


def short_page(text: str) -> PageFingerprint:
    options = Options(min_tokens=1, extractor="tests.quality.measures.all_text")
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return Fingerprinter(options).fingerprint(f"<p>{escaped}</p>")


def all_text(root: _Element) -> str:
    return "".join(map(str, root.itertext()))


def traditional_rows(corpus: Corpus, pages: Pages, work: Work) -> Iterator[Row]:
    """Bits that a simplified page moves when it is set in traditional characters, and back."""
    names = pages_of([pair for pair in corpus.pairs() if pair.lang == "zh-cn"])
    texts = [page.text for name in names if (page := pages[name]) and page.tokens >= MIN_TOKENS]
    texts = texts[:: len(texts) // _MAX_CONVERTED + 1]
    if not _converters():
        measure = "traditional Chinese: no converter (opencc) is installed"
        yield Row(corpus.name, measure, "Chinese", 0, math.nan)
        return
    moves = work.each("traditional Chinese", conversion_moves, texts)
    measures = (
        "set in traditional characters: bits moved, mean",
        "set in traditional characters and back: bits moved, mean",
        "conversion: microseconds a character",
    )
    for measure, values in zip(measures, zip(*moves, strict=True), strict=True):
        yield Row(corpus.name, measure, "Chinese", len(values), fmean(values))


def conversion_moves(text: str) -> tuple[float, float, float]:
    """Bits that the text moves there, and there and back; microseconds a character."""
    to_traditional, to_simplified = _converters()
    traditional = to_traditional(text)
    started = time.process_time()
    simplified = to_simplified(traditional)
    microseconds = 1e6 * (time.process_time() - started)
    values = [content_fingerprint(version) for version in (text, traditional, simplified)]
    own, there, back = (value or 0 for value in values)
    return hamming_distance(own, there), hamming_distance(own, back), microseconds / len(text)


@cache
def _converters() -> Sequence[Callable[[str], str]]:
    """Simplified to traditional characters, and back; none when opencc isn't installed."""
    try:
        opencc = importlib.import_module("opencc")
    except ImportError:
        return ()
    return (opencc.OpenCC("s2t").convert, opencc.OpenCC("t2s").convert)
