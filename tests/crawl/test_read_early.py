"""Which pages are read before their callback, with the selector that it uses."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import scrapy

from simhash_pipeline import Fingerprinter, native
from simhash_pipeline.bits import fingerprint_hex
from tests.crawl.crawling import Crawl, crawl

pytestmark = pytest.mark.skipif(native.walk is None, reason="only the compiled walk reads it")
PAGES = 40
READ_EARLY = 26  # the first fourteen are not


def page(number: int) -> str:
    words = " ".join(f"word{number}x{i}" for i in range(80))
    return (
        f"<html><title>Page {number}</title><body><!-- c --><p>{words}<p>{words} end</body></html>"
    )


class StorySpider(scrapy.Spider):
    """An item of each page; notes before which callbacks the page's selector was there."""

    name = "stories"
    content_type = "text/html;charset=utf-8"

    async def start(self) -> Any:
        self.early: list[bool] = []
        for number in range(PAGES):
            url = f"data:{self.content_type},{quote(page(number))}"
            yield scrapy.Request(url, callback=self.parse, cb_kwargs={"number": number})

    def parse(self, response: Any, number: int) -> Iterable[Any]:
        self.early.append(response._cached_selector is not None)
        yield from self.found(response, number)
        if number == PAGES - 1:
            self.crawler.stats.set_value("early", sum(self.early))

    def found(self, response: Any, number: int) -> Iterable[Any]:
        response.css("p").drop()  # before the item is judged
        yield {"url": f"http://a.example/{number}", "left": response.xpath("string(//body)").get()}


class NoSelectorSpider(StorySpider):
    def found(self, response: Any, number: int) -> Iterable[Any]:
        yield {"url": f"http://a.example/{number}"}


class ListsSpider(StorySpider):
    """Every second page gives no item."""

    def found(self, response: Any, number: int) -> Iterable[Any]:
        return super().found(response, number) if number % 2 else ()


def crawled(folder: Path, spider: type[scrapy.Spider]) -> Crawl:
    addon = {"simhash_pipeline.Addon": 500}
    return crawl(
        folder,
        spider=spider,
        ADDONS=addon,
        ITEM_PIPELINES={},
        CONCURRENT_REQUESTS=1,
        SIMHASH_VERDICT_FIELD="verdict",
    )


def test_a_spider_that_changes_its_trees_gets_the_same_fingerprints(tmp_path: Path) -> None:
    result = crawled(tmp_path, StorySpider)
    assert result.stats["early"] == READ_EARLY
    make = Fingerprinter().fingerprint
    wanted = [fingerprint_hex(make(page(n).encode()).content, 64) for n in range(PAGES)]
    found = {item["url"]: item["verdict"]["content_fingerprint"] for item in result.items}
    assert [found[f"http://a.example/{n}"] for n in range(PAGES)] == wanted
    assert {item["left"].strip() for item in result.items} == {""}


@pytest.mark.parametrize("spider", [NoSelectorSpider, ListsSpider])
def test_a_callback_is_left_alone_that_uses_no_selector_or_often_gives_no_item(
    tmp_path: Path, spider: type[scrapy.Spider]
) -> None:
    result = crawled(tmp_path, spider)
    assert result.stats["early"] == 0
    assert len(result.items) == (PAGES if spider is NoSelectorSpider else PAGES // 2)
