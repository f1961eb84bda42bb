"""Crawls that judge items by their responses: lists of rows, and items of two pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy

from tests import list_sites
from tests.crawl.test_addon import FROM_RESPONSE, Everything, Story, crawl_site, titles
from tests.crawl.trap_site import html, prose, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Rows(Everything):
    def parse(self, response: Any) -> Iterator[Any]:
        for name in response.css("main a::text").getall():
            yield Story(title=name)


# By path: the site, what its rows are called, how many a page has, its layout and language.
LISTS = {
    "shop": (list_sites.shop, "shop", list_sites.TILES, "cards", "English"),
    "商店": (list_sites.shop, "shop", list_sites.TILES, "list", "Chinese"),
    "jobs": (list_sites.jobs, "job", list_sites.JOBS, "table", "English"),
    "工作": (list_sites.jobs, "job", list_sites.JOBS, "definitions", "Chinese"),
}


class Article(scrapy.Item):
    title = scrapy.Field()
    body = scrapy.Field()


class TwoSteps(Everything):
    """An article from its own page, finished on the page of its comments, in three ways."""

    def parse(
        self, response: Any, item: Any = None, title: str | None = None, body: str | None = None
    ) -> Iterator[Any]:
        if response.url.endswith("/comments"):
            yield item or response.meta.get("item") or Article(title=title, body=body)
            return
        way, path = response.url.split("/")[3], f"{response.url}/comments"
        title = f"{way}: {response.css('h1::text').get()}"
        article = Article(title=title, body=response.css("main p::text").get())
        carried: dict[str, dict[str, Any]] = {
            "meta": {"meta": {"item": article}},
            "cb_kwargs": {"cb_kwargs": {"item": article}},
            "strings": {"cb_kwargs": dict(article)},
        }
        yield scrapy.Request(path, **carried[way])


WAYS = ("meta", "cb_kwargs", "strings")


def list_page(address: str) -> bytes:
    name, _, number = address[1:].partition("/")
    site, _, _, layout, language = LISTS[list(LISTS)[int(name)]]
    return site(int(number), layout, language).encode()


def test_every_row_of_lists_that_differ_in_their_rows_comes_out(tmp_path: Path) -> None:
    """20 pages of each: 240 rows of the shops, 200 of the job lists."""
    with served(list_page) as site:
        pages = [f"{site}{name}/{n}" for name in range(4) for n in range(list_sites.PAGES)]
        result = crawl_site(tmp_path, site, FROM_RESPONSE, Rows, start_urls=pages)
    assert len(titles(result)) == 240 + 240 + 200 + 200
    expected = [
        row
        for _, kind, rows, _, language in LISTS.values()
        for page in range(list_sites.PAGES)
        for row in list_sites.names(kind, page, rows, language)
    ]
    assert sorted(titles(result)) == sorted(expected)


def story_page(address: str) -> bytes:
    if address.endswith("/comments"):
        return html("Comments", "No comments yet.", ["/"])
    return html(f"Story {address[-1]}", prose(f"story{address[-1]}"), [f"{address}/comments"])


def test_items_begun_on_another_page_come_out_unjudged_counted_and_logged_once(
    tmp_path: Path,
) -> None:
    with served(story_page) as site:
        pages = [f"{site}{way}/story/{n}" for way in WAYS for n in (1, 2, 3)]
        result = crawl_site(tmp_path, site, FROM_RESPONSE, TwoSteps, start_urls=pages)
    assert sorted(titles(result)) == sorted(f"{way}: Story {n}" for way in WAYS for n in (1, 2, 3))
    assert result.stats["simhash/kept"] == 1  # the first page of comments
    assert result.stats["simhash/errors/other_page"] == 8
    message = "Kept without judging, as the item was begun on another page, and this one says less"
    assert result.log.count(message) == 1


class Variants(Everything):
    def parse(self, response: Any) -> Iterator[Any]:
        yield {"title": "Runner", "sku": response.url.rpartition("/")[2]}


def test_variants_of_one_text_all_come_out_by_a_field_of_their_items(tmp_path: Path) -> None:
    shoe = html("Runner", prose("shoe"), [])
    with served(lambda _: shoe) as site:
        pages = [f"{site}{number}" for number in range(9)]
        for fields, kept in ((), 1), (("sku",), 9):
            (folder := tmp_path / str(kept)).mkdir()
            settings = {**FROM_RESPONSE, "SIMHASH_DISTINCT_FIELDS": fields}
            found = crawl_site(folder, site, settings, Variants, start_urls=pages)
            assert len(found.items) == kept
