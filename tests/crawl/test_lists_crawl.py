"""Crawls that judge items by their responses: lists of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests import list_sites
from tests.crawl.test_addon import FROM_RESPONSE, crawl
from tests.crawl.trap_site import served

if TYPE_CHECKING:
    from pathlib import Path

ROWS = """
class Everything(Everything):
    def parse(self, response):
        for name in response.css("main a::text").getall():
            yield Story(title=name)
"""
# By path: the site, what its rows are called, how many a page has, its layout and language.
LISTS = {
    "shop": (list_sites.shop, "shop", list_sites.TILES, "cards", "English"),
    "商店": (list_sites.shop, "shop", list_sites.TILES, "list", "Chinese"),
    "jobs": (list_sites.jobs, "job", list_sites.JOBS, "table", "English"),
    "工作": (list_sites.jobs, "job", list_sites.JOBS, "definitions", "Chinese"),
}


def list_page(address: str) -> bytes:
    name, _, number = address[1:].partition("/")
    site, _, _, layout, language = LISTS[list(LISTS)[int(name)]]
    return site(int(number), layout, language).encode()


def test_every_row_of_lists_that_differ_in_their_rows_comes_out(tmp_path: Path) -> None:
    """20 pages of each: 240 rows of the shops, 200 of the job lists."""
    with served(list_page) as site:
        pages = [f"{site}{name}/{n}" for name in range(4) for n in range(list_sites.PAGES)]
        result = crawl(tmp_path, site, FROM_RESPONSE, ROWS, start_urls=pages)
    assert len(result.titles) == 240 + 240 + 200 + 200
    expected = [
        row
        for _, kind, rows, _, language in LISTS.values()
        for page in range(list_sites.PAGES)
        for row in list_sites.names(kind, page, rows, language)
    ]
    assert sorted(result.titles) == sorted(expected)
