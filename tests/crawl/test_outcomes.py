"""Crawls of stories under several URLs, with several items of each, that later pipelines lose."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from simhash_pipeline.stores.opening import open_store
from tests.crawl.crawling import crawl
from tests.crawl.test_order import EPOLL

if TYPE_CHECKING:
    from pathlib import Path

STORIES, AT_ONCE = 200, 300
Item = tuple[str, str, float]  # URL, fate, seconds that a later pipeline takes over it
# Loses items now or later; it and the spiders are the crawl's, the list of ITEMS comes before.
PIPELINE = """
from scrapy.http import HtmlResponse
from scrapy.utils.defer import maybe_deferred_to_future

def in_secs(secs):
    from twisted.internet import reactor, task
    return maybe_deferred_to_future(task.deferLater(reactor, secs, lambda: None))

class Unlucky:
    async def process_item(self, item):
        await in_secs(item["secs"])
        if item["fate"] == "drop":
            raise DropItem("not wanted")
        if item["fate"] == "fail":
            raise RuntimeError("failed")
        return dict(item) if item["fate"] == "replace" else item

def page_of(url):
    return html(" ".join(f"word{url.split('-')[0]}x{i}" for i in range(100)))

def item_of(url, fate, secs):
    return {"url": url, "html": page_of(url), "fate": fate, "secs": secs}
"""
FROM_RESPONSES = """
class Local:
    def process_request(self, request):
        return HtmlResponse(request.url, body=page_of(request.url).encode(), request=request)

class ItemSpider(scrapy.Spider):
    name = "items"
    custom_settings = {
        "ADDONS": {"simhash_pipeline.Addon": 500},
        "DOWNLOADER_MIDDLEWARES": {Local: 900},
        "SIMHASH_HTML_FIELD": None,
    }
    async def start(self):
        for url in dict.fromkeys(url for url, *_ in ITEMS):
            yield scrapy.Request(url)
    def parse(self, response):
        for item in ITEMS:
            if item[0] == response.url:
                yield item_of(*item)
"""


def drawn_items(rng: random.Random) -> list[Item]:
    """Items of stories, each under 1-4 URLs with 1-3 items."""
    items = [
        (
            f"http://a.example/{story}-{page}",
            rng.choice(["out", "replace", "drop", "fail"]),
            rng.choice([0.0, rng.uniform(0, 0.05), rng.uniform(0, 0.3)]),
        )
        for story in range(STORIES)
        for page in range(rng.randint(1, 4))
        for _ in range(rng.randint(1, 3))
    ]
    rng.shuffle(items)
    return items


@pytest.mark.parametrize(
    ("spider", "settings"),
    [
        ("", {}),
        ("", {"SIMHASH_UNCHANGED": "drop"}),
        ("", {"TWISTED_REACTOR": EPOLL}),
        (FROM_RESPONSES, {}),
    ],
    ids=["items", "unchanged dropped", "epoll", "responses"],
)
def test_one_page_of_each_story_comes_out_and_is_stored(
    tmp_path: Path, spider: str, settings: dict[str, Any]
) -> None:
    items = drawn_items(random.Random(1))
    prelude = f"{PIPELINE}\nITEMS = {items!r}"
    spider += f"\nItemSpider.custom_settings['CONCURRENT_ITEMS'] = {AT_ONCE}"
    result = crawl(tmp_path, "*[item_of(*item) for item in ITEMS]", prelude, spider, **settings)
    out = set(result.scraped)
    with open_store(f"sqlite:///{tmp_path}/.scrapy/simhash/items.sqlite") as store:
        assert {page.url for page in store.pages()} == out
    stories = [url.split("-")[0] for url in out]
    assert sorted(stories) == sorted(
        {url.split("-")[0] for url, fate, _ in items if fate in ("out", "replace")}
    )
    assert result.stats["simhash/errors"] == 0
