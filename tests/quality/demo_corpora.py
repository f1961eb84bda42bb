"""Labelled pages made of the demo site, for where no folder of real ones is at hand."""

from __future__ import annotations

import csv
import dataclasses
import io
import random
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from crawler.demo_site.article import Article, Block
from crawler.demo_site.markup import story_text
from crawler.demo_site.newsroom import Newsroom, frame_of
from crawler.demo_site.pages import read_newsroom
from crawler.demo_site.variants import Frame, Variant
from simhash_pipeline.page.segment import words as tokens

_SEED = 7
_FRAMES: tuple[Frame, ...] = ("wire", "print", "mobile")
_PAIR_FIELDS = ("page_a", "page_b", "label", "lang", "jaccard")
_MIN_TOKENS = 100  # a shorter story is another one after a word is changed

Row = Mapping[str, object]


class _Zip:
    """Files of one corpus; the same bytes on every machine."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w")
        self._names: set[str] = set()

    def add(self, name: str, data: bytes) -> str:
        if name not in self._names:
            self._names.add(name)
            info = zipfile.ZipInfo(name, date_time=(2026, 1, 1, 0, 0, 0))
            info.create_system = 3
            self._zip.writestr(info, data)
        return name

    def close(self, table: str, fields: Sequence[str], rows: Iterable[Row]) -> None:
        text = io.StringIO()
        writer = csv.DictWriter(text, fields)
        writer.writeheader()
        writer.writerows(rows)
        self.add(table, text.getvalue().encode())
        self._zip.close()


def write_demo_corpora(folder: Path) -> None:
    """versions.zip, syndicated.zip, articles.zip and templates.zip."""
    newsroom = read_newsroom()
    stories = [article for article in newsroom.articles if _is_story(article)]
    versions = _Zip(folder / "versions.zip")
    versions.close("pairs.csv", _PAIR_FIELDS, list(_versions(versions, newsroom, stories)))
    syndicated = _Zip(folder / "syndicated.zip")
    syndicated.close("pairs.csv", _PAIR_FIELDS, list(_syndicated(syndicated, newsroom, stories)))
    templates = _Zip(folder / "templates.zip")
    templates.close("pairs.csv", _PAIR_FIELDS, list(_templates(templates, newsroom)))
    articles = _Zip(folder / "articles.zip")
    fields = ("id", "lang", "source", "page_type")
    articles.close("index.csv", fields, list(_articles(articles, newsroom)))


def _is_story(article: Article) -> bool:
    return (
        article.lang in ("en", "zh")
        and article.shape == "plain"
        and article.slug != "_front"
        and frame_of(article) == "site"
        and len(tokens(story_text(article))) >= _MIN_TOKENS
    )


def _versions(corpus: _Zip, newsroom: Newsroom, stories: Sequence[Article]) -> Iterator[Row]:
    """A story and its next release, with other adverts and none, one or two words changed."""
    chance = random.Random(_SEED)
    for lang in ("en", "zh"):
        of_lang = [article for article in stories if article.lang == lang]
        for number, (article, other) in enumerate(pairwise([*of_lang, of_lang[0]])):
            later = article
            for _ in range(number % 3):
                later = _with_a_word_changed(later, other, chance)
            release = Variant(article.path, article.path, "release", offset=2, stamp=1, promo=True)
            edited = Newsroom((later, *newsroom.articles), newsroom.variants, newsroom.frames)
            own = corpus.add(_name(article, "site"), newsroom.story_page(article).body)
            new = corpus.add(_name(article, "later"), edited.variant_page(release).body)
            unlike = corpus.add(_name(other, "site"), newsroom.story_page(other).body)
            yield from _pairs(own, new, article, later)
            yield from _pairs(own, unlike, article, other)


def _with_a_word_changed(article: Article, other: Article, chance: random.Random) -> Article:
    """One word of the story (of Chinese: two characters) replaced by one of another story."""
    number = chance.choice([i for i, b in enumerate(article.blocks) if b.kind == "paragraph"])
    line = _words(article.blocks[number].lines[0], article.lang)
    line[chance.randrange(len(line))] = chance.choice(_words(story_text(other), article.lang))
    joined = (" " if article.lang == "en" else "").join(line)
    blocks = list(article.blocks)
    blocks[number] = Block("paragraph", (joined,))
    return dataclasses.replace(article, blocks=tuple(blocks))


def _words(text: str, lang: str) -> list[str]:
    return text.split() if lang == "en" else [text[i : i + 2] for i in range(0, len(text), 2)]


def _syndicated(corpus: _Zip, newsroom: Newsroom, stories: Sequence[Article]) -> Iterator[Row]:
    """A story on its own site and in the templates of others, and other stories in those."""
    for article, other in pairwise([*stories, stories[0]]):
        own = corpus.add(_name(article, "site"), newsroom.story_page(article).body)
        for frame in _FRAMES:
            copied, unlike = (
                corpus.add(_name(one, frame), _framed(newsroom, one, frame))
                for one in (article, other)
            )
            yield from _pairs(own, copied, article, article)
            yield from _pairs(copied, unlike, article, other)


def _framed(newsroom: Newsroom, article: Article, frame: Frame) -> bytes:
    return newsroom.variant_page(Variant(article.path, article.path, "copy", frame=frame)).body


def _templates(corpus: _Zip, newsroom: Newsroom) -> Iterator[Row]:
    """Pages in one frame, and in two."""
    frames: dict[str, list[str]] = {}
    for article in newsroom.articles:
        if article.shape == "plain" and article.slug != "_front":
            own = frame_of(article)
            page = newsroom.story_page(article).body
            frames.setdefault(own, []).append(corpus.add(_name(article, own), page))
            for frame in _FRAMES if own == "site" else ():
                page = _framed(newsroom, article, frame)
                frames.setdefault(frame, []).append(corpus.add(_name(article, frame), page))
    for names in frames.values():
        for a, b in pairwise(names[:25]):
            yield {"page_a": a, "page_b": b, "label": 1, "lang": "", "jaccard": ""}
    for names, others in pairwise([*frames.values(), next(iter(frames.values()))]):
        for a, b in zip(names[:25], others, strict=False):
            yield {"page_a": a, "page_b": b, "label": 0, "lang": "", "jaccard": ""}


def _articles(corpus: _Zip, newsroom: Newsroom) -> Iterator[Row]:
    """Every story, thread and product with the text it was made of."""
    kinds = {"site": "article", "forum": "forum", "shop": "product", "docs": "documentation"}
    for article in newsroom.articles:
        kind = kinds.get(frame_of(article))
        if kind and article.shape == "plain" and article.slug != "_front":
            facts = [" ".join(fact) for fact in article.facts]
            name = _name(article, "gold").removeprefix("pages/").removesuffix(".html")
            corpus.add(f"pages/{name}.html", newsroom.story_page(article).body)
            corpus.add(f"gold/{name}.txt", "\n".join([story_text(article), *facts]).encode())
            yield {"id": name, "lang": article.lang[:2], "source": "demo", "page_type": kind}


def _name(article: Article, frame: str) -> str:
    return f"pages/{article.folder.replace('/', '-')}-{article.slug}-{frame}.html"


def _pairs(page_a: str, page_b: str, a: Article, b: Article) -> Iterator[Row]:
    """Label 1 for a Jaccard of .9 and more, 0 under .5, as among the real pages; none between."""
    jaccard = _jaccard(story_text(a), story_text(b))
    if not 0.5 <= jaccard < 0.9:
        yield {
            "page_a": page_a,
            "page_b": page_b,
            "label": int(jaccard >= 0.9),
            "lang": "zh-cn" if a.lang == "zh" else a.lang,
            "jaccard": f"{jaccard:.4f}",
        }


def _jaccard(a: str, b: str) -> float:
    one, two = (
        set(zip(*(words[i:] for i in range(5)), strict=False)) for words in map(tokens, (a, b))
    )
    return len(one & two) / len(one | two)
