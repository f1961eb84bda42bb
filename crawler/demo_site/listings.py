"""Fronts: the two front pages, a front for each section, and the page that lists all pages."""

from collections.abc import Iterable
from html import escape
from itertools import groupby
from typing import Final

from crawler.demo_site.article import Article
from crawler.demo_site.frames import link_html, links_html, teaser_html
from crawler.demo_site.labels import EN, ZH, Labels
from crawler.demo_site.newsroom import Newsroom, brand_title
from crawler.demo_site.page import Page, html_page
from crawler.demo_site.pictures import picture

EN_TOP: Final = ("/en/port/crane-seven", "/en/science/seagrass-survey", "/en/city/school-breakfast")
ZH_TOP: Final = (
    "/zh/gangkou/new-berth",
    "/zh/chengshi/typhoon-night",
    "/zh/meishi/breakfast-stall",
)
EN_DOORS: Final = (
    ("/en/stops/", "Stop guide to tram line 4"),
    ("/en/forum/", "Readers' forum"),
    ("/en/shop/", "Quay Stores"),
    ("/en/docs/tide-feed", "Open data: the tide feed"),
    ("/en/docs/buoy-feed", "Open data: the buoy feed"),
    ("/en/wire/", "Inland Wire, our partner"),
    ("/ja/minato/asaichi", "日本語"),
    ("/internal/newsroom-rota", "Newsroom rota (staff)"),
)
ZH_DOORS: Final = (
    ("/zh/forum/dialect-word", "读者论坛"),
    ("/zh/stops/gulou", "车站指南：鼓楼"),
    ("/zh/stops/nanwan", "车站指南：南湾"),
    ("/zh/shop/bamboo-steamer", "码头百货：竹蒸笼"),
    ("/zh/hant/tea-house", "正體字版"),
    ("/zh/notices/found-key", "失物招领"),
    ("/internal/newsroom-rota", "值班表（内部）"),
)
EN_WELCOME: Final = (
    "Good morning. The tide is making until six minutes past four, the swing bridge is shut to"
    " masts tonight, and there are warm rolls on the N6. Below is what we found out yesterday."
)
ZH_WELCOME: Final = (
    "早上好。今天的潮涨到下午四点零六分，傍晚有西南风，晾衣裳要趁早；二号线周末加开末班车，"
    "老西门的豆浆卖到九点半。昨天打听到的事情，都写在下面了。"
)
ARCHIVE_WORDS: Final = (
    "Every page the paper has on the web, by month and then by kind. 本报网上的每一页，按月份排列。"
)
CUPBOARD: Final = (
    ("/en/science/tide-log", "The tide log, complete"),
    ("/en/berth-plan", "Berth plan, north quay"),
    ("/en/cameras/pier-1", "Pier camera 1"),
    ("/en/cameras/pier-2", "Pier camera 2"),
    ("/en/cameras/pier-3", "Pier camera 3"),
)


def front_pages(newsroom: Newsroom) -> dict[str, Page]:
    """The English and the Chinese front page."""
    return {
        "/": _front_page(newsroom, "en", EN, EN_TOP, EN_WELCOME, EN_DOORS),
        "/zh/": _front_page(newsroom, "zh", ZH, ZH_TOP, ZH_WELCOME, ZH_DOORS),
    }


def section_pages(newsroom: Newsroom) -> dict[str, Page]:
    """A front for each folder that has a `_front` text."""
    fronts = (article for article in newsroom.articles if article.slug == "_front")
    return {f"/{front.folder}/": _section_page(newsroom, front) for front in fronts}


def archive_page(newsroom: Newsroom) -> Page:
    """Links to every article, every listed copy and the odd pages."""
    articles = [article for article in newsroom.articles if article.slug != "_front"]
    months = groupby(articles, lambda article: article.date[:7])
    lists = [
        f"<h2>{month}</h2>{links_html((a.path, a.title) for a in group)}" for month, group in months
    ]
    fronts = ((f"/{a.folder}/", a.title) for a in newsroom.articles if a.slug == "_front")
    content = "\n".join(
        (
            f'<h1>All pages 全部页面</h1>\n<p class="lead">{ARCHIVE_WORDS}</p>',
            *lists,
            f"<h2>Other editions 其他版本</h2>{links_html(_editions(newsroom))}",
            f"<h2>Sections 版面</h2>{links_html(fronts)}",
            f"<h2>From the cupboard 杂物柜</h2>{links_html(CUPBOARD)}",
        )
    )
    frame = newsroom.frames.fill("site", "en", brand_title("All pages", EN), content)
    return html_page(frame.replace("<main>", '<main class="archive">'))


def _editions(newsroom: Newsroom) -> Iterable[tuple[str, str]]:
    for variant in newsroom.variants:
        if variant.listed:
            title = variant.title or newsroom.article_at(variant.source).title
            yield variant.path, f"{title} ({variant.case.replace('-', ' ')})"


def _front_page(
    newsroom: Newsroom,
    lang: str,
    labels: Labels,
    top: tuple[str, ...],
    welcome: str,
    doors: tuple[tuple[str, str], ...],
) -> Page:
    first, *others = (newsroom.article_at(path) for path in top)
    hero = teaser_html(first, picture(first.section, first.slug), level=1, paragraphs=1)
    side = "".join(
        teaser_html(article, picture(article.section, article.slug)) for article in others
    )
    rows = (
        _section_row(newsroom, path, name, top) for path, name in labels.nav if path != "/archive"
    )
    content = "\n".join(
        (
            f'<p class="welcome">{escape(welcome)}</p>',
            f'<div class="hero">{hero}<div class="side">{side}</div></div>',
            f'<div class="rows">{"".join(rows)}</div>',
            f'<section class="doors">{links_html(doors)}</section>',
        )
    )
    rail = newsroom.rail(lang, f"front-{lang}")
    return html_page(newsroom.frames.fill("site", lang, labels.brand, content, rail))


def _section_row(newsroom: Newsroom, path: str, name: str, top: tuple[str, ...]) -> str:
    folder = path.strip("/")
    stories = [a for a in newsroom.stories(folder[:2]) if a.folder == folder and a.path not in top]
    stories = [article for article in stories if article.lead][:1]
    teasers = "".join(teaser_html(a, picture(a.section, a.slug)) for a in stories)
    return f"<section><h2>{link_html(path, name)}</h2>{teasers}</section>"


def _section_page(newsroom: Newsroom, front: Article) -> Page:
    wire = front.section == "wire"
    inside = [a for a in newsroom.articles if a.slug != "_front" and _belongs(a, front)]
    teasers = "".join(
        teaser_html(a, "" if wire else picture(a.section, a.slug), level=2) for a in inside
    )
    shared = (
        (v.path, v.title or newsroom.article_at(v.source).title)
        for v in newsroom.variants
        if wire and v.frame == "wire"
    )
    content = (
        f'<h1>{escape(front.title)}</h1>\n<p class="lead">{escape(front.lead)}</p>\n'
        f'<div class="list">{teasers}</div>{links_html(shared) if wire else ""}'
    )
    lang = front.lang
    brand = EN.wire_brand if wire else (ZH if lang == "zh" else EN).brand
    html = newsroom.frames.fill(
        "wire" if wire else "site",
        lang,
        f"{front.title} | {brand}",
        content,
        newsroom.rail(lang, f"front-{front.section}"),
    )
    return html_page(html)


def _belongs(article: Article, front: Article) -> bool:
    if front.section == "wire":
        return article.section == "wire"
    return article.folder == front.folder
