"""Crawls of stories under several URLs, with several items of each, that later pipelines lose."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest
import scrapy
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse
from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from simhash_pipeline.stores.opening import open_store
from tests.crawl.crawling import (
    OTHER,
    Crawl,
    ItemSpider,
    Unlucky,
    crawl,
    crawl_in_a_process,
    html,
    page,
)
from tests.crawl.test_order import EPOLL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from scrapy.crawler import Crawler

STORIES, AT_ONCE = 60, 180
Item = tuple[str, str, float]  # URL, outcome, seconds that a later pipeline takes over it


class LosesSome:
    """A later pipeline that loses items at once or later, under any event loop."""

    async def process_item(self, item: Any) -> Any:
        passed: Deferred[None] = Deferred()
        call_later(item["secs"], passed.callback, None)
        await maybe_deferred_to_future(passed)
        if item["outcome"] == "drop":
            raise DropItem("not wanted")
        if item["outcome"] == "fail":
            raise RuntimeError("failed")
        return dict(item) if item["outcome"] == "replace" else item


def page_of(url: str) -> str:
    return html(" ".join(f"word{url.split('-')[0]}x{i}" for i in range(60)))


def item_of(url: str, outcome: str, secs: float) -> dict[str, Any]:
    return {"url": url, "html": page_of(url), "outcome": outcome, "secs": secs}


class Local:
    """A downloader middleware that makes the responses."""

    def process_request(self, request: scrapy.Request) -> HtmlResponse:
        return HtmlResponse(request.url, body=page_of(request.url).encode(), request=request)


class FromResponses(ItemSpider):
    async def start(self) -> AsyncIterator[Any]:
        for url in dict.fromkeys(item["url"] for item in self.items):
            yield scrapy.Request(url)

    def parse(self, response: Any) -> Iterator[Any]:
        yield from (item for item in self.items if item["url"] == response.url)


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


ITEMS = drawn_items(random.Random(1))
FROM_ITEMS: dict[str, Any] = {
    "items": [item_of(*item) for item in ITEMS],
    "later": LosesSome,
    "at_once": AT_ONCE,
    "SIMHASH_ITEM_FIELDS": ("-outcome", "-secs"),
}
FROM_RESPONSES: dict[str, Any] = {
    **FROM_ITEMS,
    "spider": FromResponses,
    "at_once": 3,  # items of a response; Scrapy starts as many tasks for each response
    "ADDONS": {"simhash_pipeline.Addon": 500},
    "DOWNLOADER_MIDDLEWARES": {Local: 900},
}


def from_items() -> dict[str, Any]:
    return FROM_ITEMS | {"TWISTED_REACTOR": EPOLL}


def from_responses() -> dict[str, Any]:
    return FROM_RESPONSES.copy()


@pytest.mark.parametrize(
    "arguments",
    [FROM_ITEMS, FROM_ITEMS | {"SIMHASH_UNCHANGED": "drop"}, FROM_RESPONSES],
    ids=["items", "unchanged dropped", "responses"],
)
def test_one_page_of_each_story_comes_out_and_is_stored(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    assert_one_page_of_each_story(tmp_path, crawl(tmp_path, **arguments))


@pytest.mark.parametrize(
    "crawling",
    [
        pytest.param(from_items, id="epoll"),
        pytest.param(from_responses, id="asyncio", marks=pytest.mark.ci),
    ],
)
def test_so_it_is_under_a_reactor(tmp_path: Path, crawling: Any) -> None:
    assert_one_page_of_each_story(tmp_path, crawl_in_a_process(tmp_path, crawling))


def assert_one_page_of_each_story(directory: Path, result: Crawl) -> None:
    out = set(result.scraped)
    with open_store(f"sqlite:///{directory}/.scrapy/simhash/items.sqlite") as store:
        assert {page.url for page in store.pages()} == out
    stories = [url.split("-")[0] for url in out]
    assert sorted(stories) == sorted(
        {url.split("-")[0] for url, outcome, _ in ITEMS if outcome in ("out", "replace")}
    )
    assert result.stats["simhash/errors"] == 0


EARLY = page("early", OTHER, early=True)


class LosesEarly:
    """An earlier pipeline."""

    def process_item(self, item: Any) -> Any:
        if item.get("early"):
            raise DropItem("not wanted")
        return item


class Yields(Unlucky):
    """A later pipeline that makes an item while another one is pending, as Scrapy's tasks may."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Yields:
        pipeline = cls()
        pipeline.crawler = crawler
        return pipeline

    crawler: Crawler

    async def process_item(self, item: Any) -> Any:
        scraper = self.crawler.engine.scraper
        await asyncio.create_task(scraper.start_itemproc_async(EARLY, response=None))
        return await super().process_item(item)


def test_an_item_lost_in_a_context_that_it_inherited_costs_no_other_page(tmp_path: Path) -> None:
    pipelines = {LosesEarly: 200, "simhash_pipeline.SimhashPipeline": 300, Yields: 400}
    result = crawl(tmp_path, [page(1), page(2)], ITEM_PIPELINES=pipelines)
    assert result.scraped == ["http://a.example/1"]
    assert result.dropped == ["http://a.example/early", "http://a.example/2"]


class OwnTasks(ItemPipelineManager):
    """Another ITEM_PROCESSOR, which runs the pipelines of an item in a context of their own."""

    async def process_item_async(self, item: Any) -> Any:
        return await asyncio.create_task(super().process_item_async(item))


def test_outcomes_are_known_where_pipelines_run_in_tasks_of_their_own(tmp_path: Path) -> None:
    items = [page(1, outcome="drop"), page(2), page(3), page(4, OTHER, outcome="fail")]
    result = crawl(tmp_path, items, ITEM_PROCESSOR=OwnTasks)
    assert result.scraped == ["http://a.example/2"]
    assert result.dropped == ["http://a.example/1", "http://a.example/3"]
    with open_store(f"sqlite:///{tmp_path}/.scrapy/simhash/items.sqlite") as store:
        assert [page.url for page in store.pages()] == ["http://a.example/2"]


class Waits:
    """An earlier pipeline, in which items of several responses are at once."""

    secs = 0.0

    async def process_item(self, item: Any) -> Any:
        self.secs += 0.3
        await asyncio.sleep(self.secs)
        return item


class LosesFirst:
    """A later pipeline that drops the first item."""

    lost = False

    def process_item(self, item: Any) -> Any:
        if not self.lost:
            self.lost = True
            raise DropItem("not wanted")
        return item


class OneForAll(FromResponses):
    def parse(self, response: Any) -> Iterator[Any]:
        yield ONE


ONE = {"kind": "story"}


def test_one_object_yielded_for_two_responses_is_an_item_of_each(tmp_path: Path) -> None:
    """The first that arrives is that of the first response."""
    urls = [{"url": f"http://a.example/{n}-1"} for n in range(2)]
    arguments = FROM_RESPONSES | {"items": urls, "spider": OneForAll, "later": LosesFirst}
    pipelines = {Waits: 50, LosesFirst: 400}
    crawl(tmp_path, **arguments, ITEM_PIPELINES=pipelines, CONCURRENT_REQUESTS=1)
    with open_store(f"sqlite:///{tmp_path}/.scrapy/simhash/items.sqlite") as store:
        assert [page.url for page in store.pages()] == ["http://a.example/1-1"]
