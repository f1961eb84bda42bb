"""Stories as pages: each article at its own address, and each of its second addresses."""

from dataclasses import dataclass
from html import escape
from typing import Final
from zlib import crc32

from crawler.demo_site.article import Article
from crawler.demo_site.frames import (
    Frames,
    ad_html,
    link_html,
    links_html,
    newsletter_html,
)
from crawler.demo_site.labels import Labels, labels_for, labels_of
from crawler.demo_site.markup import comments_html, date_html, facts_html, posts_html, story_html
from crawler.demo_site.oddities import broken_html, deep_html, open_title_html
from crawler.demo_site.page import Page, html_page
from crawler.demo_site.pictures import picture
from crawler.demo_site.variants import SESSIONS, Variant

FRAME_OF_SECTION: Final = (
    ("shop", "shop"),
    ("forum", "forum"),
    ("docs", "docs"),
    ("wire", "wire"),
    ("notices", "bare"),
)
MOST_READ_PAGES: Final = 5
RELATED_PAGES: Final = 3
MOST_READ_LINKS: Final = (
    ("en", "/en/culture/brass-band?from=most-read"),
    ("zh", "/zh/wenhua/shadow-puppets?from=most-read"),
)
LETTER_LINKS: Final = (
    ("en", "/en/port/crane-seven?utm_source=newsletter&utm_medium=email"),
    ("zh", "/zh/gangkou/new-berth?utm_source=zaochao&utm_medium=email"),
)


@dataclass(frozen=True, slots=True)
class Newsroom:
    """All articles, the frames to put them in, and the second addresses that exist."""

    articles: tuple[Article, ...]
    variants: tuple[Variant, ...]
    frames: Frames

    def article_at(self, path: str) -> Article:
        """The article whose own address is `path`."""
        return next(article for article in self.articles if article.path == path)

    def stories(self, lang: str) -> list[Article]:
        """The news stories of a language, newest first: no fronts, shop, forum or notices."""
        return [
            article
            for article in self.articles
            if article.lang == lang
            and article.slug != "_front"
            and article.section not in ("stops", "notices")
            and frame_of(article) == "site"
        ]

    def story_page(self, article: Article) -> Page:
        """An article at its own address."""
        own = Variant(article.path, article.path, "article", frame="site")
        html = self._html(article, own, frame_of(article), article.meta_charset)
        return html_page(html, article.charset, article.header_charset)

    def variant_page(self, variant: Variant) -> Page:
        """An article at a second address."""
        article = self.article_at(variant.source)
        frame = frame_of(article) if variant.frame == "site" else variant.frame
        html = self._html(article, variant, frame, variant.meta_charset)
        return html_page(html, variant.charset, variant.header_charset)

    def rail(self, lang: str, seed: str, offset: int = 0, sid: str = "") -> str:
        """The side column: read next, an advertisement, most read, the letter, another one."""
        labels = labels_for(lang)
        first_ad = crc32(seed.encode()) + offset
        boxes = (
            _box("related", labels.related, self._related(lang, seed, offset, sid)),
            ad_html(labels, first_ad),
            _box("most-read", labels.most_read, self._most_read(lang, offset), "ol"),
            newsletter_html(labels, self._letter(lang)),
            ad_html(labels, first_ad + 1),
        )
        return "\n".join(boxes)

    def _html(self, article: Article, variant: Variant, frame: str, meta: str | None) -> str:
        labels = labels_of(article)
        title = variant.title or article.title
        if article.shape == "broken":
            return broken_html(article)
        if article.shape == "open-title":
            return open_title_html(article)
        if article.shape == "deep":
            return deep_html(article)
        brand = labels.wire_brand if frame == "wire" else labels.brand
        return self.frames.fill(
            frame,
            article.lang,
            f"{title} | {brand}",
            self._content(article, variant, frame, title),
            self.rail(article.lang, article.slug, variant.offset, variant.sid),
            meta,
        )

    def _content(self, article: Article, variant: Variant, frame: str, title: str) -> str:
        labels = labels_of(article)
        heading = f"<h1>{escape(title)}</h1>"
        promo = ad_html(labels, 4) if variant.promo else ""
        story = story_html(article, promo, variant.update)
        byline = f"{escape(article.byline)} · {date_html(article)}"
        match frame:
            case "wire":
                return f'<h1>{escape(title)}</h1>\n<div class="by">{byline}</div>\n{story}'
            case "print":
                return f"{heading}\n<p>{byline}</p>\n{story}"
            case "bare":
                return f'{heading}\n<div class="note note-{variant.offset}">{story}</div>'
            case "docs":
                return f"{heading}\n{story}"
            case "shop":
                return f"{picture('shop', article.slug)}\n{heading}\n{story}\n{facts_html(article)}"
            case "forum":
                lead = f'<p class="lead">{escape(article.lead)}</p>'
                return f"{heading}\n{lead}\n{posts_html(article)}\n{self._own_links(variant)}"
            case "mobile":
                return f'{heading}\n<p class="by">{byline}</p>\n{story}'
            case _:
                return self._site_content(article, variant, heading, byline, story)

    def _site_content(
        self, article: Article, variant: Variant, heading: str, byline: str, story: str
    ) -> str:
        labels = labels_of(article)
        name = next((name for path, name in labels.nav if _is_front(path, article)), "")
        place = f" › {escape(name)}" if name else ""
        stamp = f'<span class="stamp">{labels.stamps[variant.stamp]}</span>'
        crumbs = f"{link_html(labels.home, labels.brand)}{place}"
        return "\n".join(
            (
                f'<p class="crumbs">{crumbs}</p>',
                heading,
                f'<p class="by">{byline} {stamp}</p>',
                picture(article.section, article.slug) if article.shape == "plain" else "",
                f'<div class="story">\n{story}\n{facts_html(article)}\n</div>',
                self._own_links(variant),
                comments_html(article, labels.comments),
            )
        )

    def _own_links(self, shown: Variant) -> str:
        """Links to the copies that only the story itself links; a copy has none."""
        if shown.case != "article":
            return ""
        own = [v for v in self.variants if v.source == shown.path and not v.listed and not v.sid]
        if not own:
            return ""
        labels = labels_of(self.article_at(shown.path))
        links = (
            (v.path, labels.printed if v.frame == "print" else labels.other_edition) for v in own
        )
        return f'<div class="tools">{links_html(links)}</div>'

    def _related(self, lang: str, seed: str, offset: int, sid: str) -> list[tuple[str, str]]:
        if sid:
            paths = next(paths for known, paths in SESSIONS if known == sid)
            return [(f"{path}?sid={sid}", self.article_at(path).title) for path in paths]
        others = [article for article in self.stories(lang) if article.slug != seed]
        start = crc32(seed.encode()) + RELATED_PAGES * offset
        chosen = [others[(start + step) % len(others)] for step in range(RELATED_PAGES)]
        return list(dict.fromkeys((article.path, article.title) for article in chosen))

    def _most_read(self, lang: str, offset: int) -> list[tuple[str, str]]:
        stories = self.stories(lang)[3 + offset :: 4][:MOST_READ_PAGES]
        links = [(article.path, article.title) for article in stories]
        for known, path in MOST_READ_LINKS:
            if known == lang:
                links.insert(0, (path, self.article_at(path.partition("?")[0]).title))
        return links

    def _letter(self, lang: str) -> str:
        for known, path in LETTER_LINKS:
            if known == lang:
                title = self.article_at(path.partition("?")[0]).title
                return f'<p class="today">{link_html(path, title)}</p>'
        return ""


def frame_of(article: Article) -> str:
    """The template of an article's own page. Picture notices are short pages in the full frame."""
    if article.slug.startswith("photo-"):
        return "site"
    return next((frame for name, frame in FRAME_OF_SECTION if name == article.section), "site")


def _is_front(path: str, article: Article) -> bool:
    return path == f"/{article.folder}/"


def _box(name: str, heading: str, links: list[tuple[str, str]], tag: str = "ul") -> str:
    if not links:
        return ""
    return f'<section class="box {name}"><h2>{heading}</h2>{links_html(links, tag)}</section>'


def brand_title(title: str, labels: Labels) -> str:
    """A page title with the paper's name after it."""
    return f"{title} | {labels.brand}"
