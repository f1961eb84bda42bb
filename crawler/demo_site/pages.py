"""Every address of the demo site and what it answers."""

from functools import cache
from pathlib import Path
from typing import Final

from crawler.demo_site.article import read_articles
from crawler.demo_site.frames import Frames
from crawler.demo_site.labels import EN
from crawler.demo_site.listings import archive_page, front_pages, section_pages
from crawler.demo_site.newsroom import Newsroom, brand_title
from crawler.demo_site.oddities import empty_pages, large_story_html, picture_as_html
from crawler.demo_site.page import Page, html_page
from crawler.demo_site.variants import all_variants

STYLE_FILE: Final = Path(__file__).parent / "static" / "site.css"
ROBOTS: Final = "User-agent: *\nDisallow: /internal/\n"
ROTA: Final = (
    "<h1>Newsroom rota</h1><p>Early: whoever has the key. Late: whoever lost the draw."
    " This page is for staff; robots.txt asks crawlers to leave it alone.</p>"
)
NOT_FOUND: Final = (
    "<h1>No such page 没有这一页</h1><p>It may have gone out with the tide. "
    '<a href="/archive">All pages</a> · <a href="/">The Harbour Post</a></p>'
)


@cache
def all_pages() -> dict[str, Page]:
    """path?query -> page, for everything the site serves."""
    newsroom = read_newsroom()
    frames = newsroom.frames
    stories = (article for article in newsroom.articles if article.slug != "_front")
    log = f"<h1>The tide log, complete</h1>\n{large_story_html()}"
    rota = frames.fill("bare", "en", brand_title("Newsroom rota", EN), ROTA)
    return {
        **front_pages(newsroom),
        **section_pages(newsroom),
        "/archive": archive_page(newsroom),
        **{article.path: newsroom.story_page(article) for article in stories},
        **{variant.path: newsroom.variant_page(variant) for variant in newsroom.variants},
        **empty_pages(),
        "/en/science/tide-log": html_page(
            frames.fill("bare", "en", brand_title("The tide log, complete", EN), log)
        ),
        "/en/berth-plan": picture_as_html(),
        "/internal/newsroom-rota": html_page(rota),
        "/robots.txt": Page(ROBOTS.encode(), "text/plain; charset=utf-8"),
        "/static/site.css": Page(STYLE_FILE.read_bytes(), "text/css; charset=utf-8"),
    }


def read_newsroom() -> Newsroom:
    """The articles, copies and frames of the site."""
    return Newsroom(read_articles(), all_variants(), Frames.read())


def not_found_page() -> Page:
    """What an unknown address answers, with status 404."""
    return html_page(Frames.read().fill("bare", "en", "404", NOT_FOUND))
