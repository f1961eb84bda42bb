"""Pages to measure on: made of the demo site's stories, or real ones from a folder or zip."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import count
from pathlib import Path

from crawler.demo_site.article import Article
from crawler.demo_site.markup import story_text
from crawler.demo_site.newsroom import Newsroom
from crawler.demo_site.pages import read_newsroom
from simhash_pipeline.page.decode import decode

PAGE_BYTES = 134_000
_PARAGRAPHS = {"en": 24, "zh": 30}  # some 10 KB of text, as in real articles of this size
_SCRIPT_BYTES = 30_000
_MAX_REAL_PAGES = 12  # of a language, those nearest in size
_MAX_FILE_BYTES = 3_000_000  # of a page of a folder
_HAN_SHARE = 0.02  # of a page's characters, markup included: above it a page is Chinese


@dataclass(frozen=True, slots=True)
class BenchPage:
    """One page of markup, UTF-8 when it was made here."""

    name: str
    html: bytes


def html_files(folder: Path) -> list[Path]:
    """The folder's pages in the order of their paths; no links, empty or huge files."""
    return sorted(
        path
        for path in folder.rglob("*.html")
        if path.is_file() and not path.is_symlink() and 0 < path.stat().st_size < _MAX_FILE_BYTES
    )


def made_pages(size: int = PAGE_BYTES) -> dict[str, list[BenchPage]]:
    """By language, one page each of `size` bytes; the same at every run."""
    newsroom = read_newsroom()
    names = {"en": "English", "zh": "Chinese"}
    return {
        name: [BenchPage(f"made of the demo site ({lang})", made_page(newsroom, lang, size))]
        for lang, name in names.items()
    }


def made_page(newsroom: Newsroom, lang: str, size: int, paragraphs: int | None = None) -> bytes:
    """A long story with links and emphasis, between menus, teasers, comments and a script."""
    chance = random.Random(lang)
    articles = newsroom.stories(lang)
    lines = [line for article in articles for line in story_text(article).split("\n")]
    chance.shuffle(lines)
    wanted = paragraphs or _PARAGRAPHS[lang]
    story = [
        _paragraph(" ".join(lines[(2 * i + j) % len(lines)] for j in (0, 1)), i, chance)
        for i in range(wanted)
    ]
    script = ",".join(f'"slot{i}":{{"x":{i * 7 % 640},"lazy":true}}' for i in range(1500))
    head = (
        f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8">'
        f"<title>{escape(articles[0].title)} | The Harbour Post</title>"
        + "".join(f'<link rel="preload" href="/static/{i}.css">' for i in range(20))
        + f"<script>window.slots={{{script[:_SCRIPT_BYTES]}}};</script></head><body>"
        f'<header class="site-header"><nav class="menu">{_menu(articles, 60)}</nav></header>'
        f'<main class="layout"><article class="story"><h1>{escape(articles[0].title)}</h1>'
        f"{''.join(story)}</article><aside class='sidebar'>"
    )
    tail = (
        f"</aside></main><footer class='site-footer'>{_menu(articles, 40)}</footer></body></html>"
    )
    parts, room = [], size - len(head.encode()) - len(tail.encode())
    for part in _teasers(articles, lines):
        room -= len(part.encode())
        if room < 0:
            break
        parts.append(part)
    return (head + "".join(parts) + tail).encode()


def _paragraph(line: str, number: int, chance: random.Random) -> str:
    """The line with one link, one emphasis and, every tenth, a heading before it."""
    cut = sorted(chance.sample(range(1, max(5, len(line))), 4))
    a, b, c, d = (escape(line[i:j]) for i, j in zip([0, *cut], cut, strict=False))
    rest = escape(line[cut[-1] :])
    heading = f"<h2 id='part-{number}'>{number}</h2>" if number % 10 == 9 else ""
    linked = f"{a}<a href='/tag/{number}'>{b}</a>{c}<em>{d}</em>{rest}"
    return f"{heading}<p class='text text-{number}'>{linked}</p>"


def _menu(articles: list[Article], number: int) -> str:
    items = (
        f"<li class='menu-item'><a class='menu-link' href='{articles[i % len(articles)].path}'>"
        f"{escape(articles[i % len(articles)].title)}</a></li>"
        for i in range(number)
    )
    return f"<ul>{''.join(items)}</ul>"


def _teasers(articles: list[Article], lines: list[str]) -> Iterator[str]:
    """Teasers and readers' comments in turn, without end."""
    for number in count():
        article = articles[number % len(articles)]
        yield (
            f"<div class='card card-{number}'><a href='{article.path}' class='card-link'>"
            f"<img src='/pictures/{number}.jpg' alt='' width='320' height='180' loading='lazy'>"
            f"<span class='card-title'>{escape(article.title)}</span></a>"
            f"<p class='card-meta'><time datetime='{article.date}'>{article.date}</time> "
            f"<span class='card-section'>{article.section}</span></p></div>"
        )
        yield (
            f"<div class='comment' id='comment-{number}'><b class='comment-by'>Reader {number}</b>"
            f"<p>{escape(lines[number * 7 % len(lines)][:60])}</p>"
            f"<button class='reply' data-comment='{number}'>Reply</button></div>"
        )


def real_pages(source: Path, size: int = PAGE_BYTES) -> dict[str, list[BenchPage]]:
    """By language, the pages of a folder or zip that are nearest in size."""
    found: dict[str, list[BenchPage]] = {"English": [], "Chinese": []}
    for page in sorted(read_pages(source), key=lambda page: abs(len(page.html) - size)):
        if all(len(pages) == _MAX_REAL_PAGES for pages in found.values()):
            break
        of_lang = found[language_of(page.html)]
        if len(of_lang) < _MAX_REAL_PAGES:
            of_lang.append(page)
    return {language: pages for language, pages in found.items() if pages}


def read_pages(source: Path) -> Iterator[BenchPage]:
    """The pages of a folder or zip."""
    if source.is_dir():
        for path in sorted(source.rglob("*.htm*")):
            yield BenchPage(path.name, path.read_bytes())
        return
    with zipfile.ZipFile(source) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith((".html", ".htm")):
                yield BenchPage(name, archive.read(name))


def language_of(html: bytes) -> str:
    """Chinese or English: every other language too."""
    text = decode(html)
    han = sum("\u4e00" <= character <= "\u9fff" for character in text)
    return "Chinese" if han > _HAN_SHARE * len(text) else "English"
