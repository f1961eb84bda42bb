"""Pages are judged in the order they are yielded, whatever takes long, under every event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import default_settings

from tests.crawl.crawling import crawl

if TYPE_CHECKING:
    from pathlib import Path

EPOLL = "twisted.internet.epollreactor.EPollReactor"
LOOPS: dict[str, dict[str, Any]] = {
    "asyncio": {},
    "epoll": {"TWISTED_REACTOR": EPOLL},
    "select": {"TWISTED_REACTOR": "twisted.internet.selectreactor.SelectReactor"},
    "no reactor": {"TWISTED_REACTOR_ENABLED": False},
}
REACTORLESS = pytest.mark.skipif(
    not hasattr(default_settings, "TWISTED_REACTOR_ENABLED"),
    reason="this Scrapy can't do without a reactor",
)
TOGETHER = "ItemSpider.custom_settings = {'CONCURRENT_ITEMS': 100}"
# Takes a second or two in the thread, while those after it are ready at once.
LARGE = "' '.join(f'word{i}' for i in range(200)) + '<b></b>' * 300_000"


@pytest.mark.parametrize("loop", [*list(LOOPS)[:-1], pytest.param("no reactor", marks=REACTORLESS)])
def test_of_two_twins_in_flight_the_first_yielded_is_kept(tmp_path: Path, loop: str) -> None:
    items = f"page(1, {LARGE}), *[page(n) for n in range(2, 12)], page(12, OTHER)"
    result = crawl(tmp_path, items, spider=TOGETHER, **LOOPS[loop])
    assert sorted(result.scraped) == ["http://a.example/1", "http://a.example/12"]
    assert len(result.dropped) == 10
    assert {verdict["twin_url"] for verdict in result.verdicts} == {"http://a.example/1"}
    assert result.errors == []


SLOW = """
class Unlucky:
    "A later pipeline that takes its time and loses the first item."
    async def process_item(self, item):
        import asyncio
        await asyncio.sleep(0.3)
        if item["url"].endswith("/1"):
            raise DropItem("not wanted")
        return item
"""


def test_a_twin_waits_for_what_becomes_of_the_item_it_is_near(tmp_path: Path) -> None:
    items = "page(1), page(2), page(3), page(4, OTHER)"
    result = crawl(tmp_path, items, SLOW, spider=TOGETHER)
    assert sorted(result.scraped) == ["http://a.example/2", "http://a.example/4"]
    assert [verdict["url"] for verdict in result.verdicts] == ["http://a.example/3"]
    assert result.verdicts[0]["twin_url"] == "http://a.example/2"


def test_the_event_loop_goes_on_while_a_large_page_is_read(tmp_path: Path) -> None:
    prelude = """
beats = []
class Unlucky:
    def open_spider(self):
        from scrapy.utils.asyncio import create_looping_call
        import time
        self.loop = create_looping_call(lambda: beats.append(time.monotonic()))
        self.loop.start(0.005)
    def close_spider(self):
        self.loop.stop()
        told["beats"] = len(beats)
    def process_item(self, item):
        return item
"""
    result = crawl(tmp_path, f"page(1, {LARGE})", prelude, spider="told['beats'] = 0")
    seconds = result.stats["simhash/seconds/fingerprinting"]
    assert seconds > 0.1
    assert result.told["beats"] > seconds / 0.05


def test_the_counts_are_told_as_often_as_scrapy_tells_its_own(tmp_path: Path) -> None:
    prelude = SLOW.replace("0.3", "0.5").replace("/1", "/none")
    result = crawl(tmp_path, "page(1), page(2), page(3, OTHER)", prelude, LOGSTATS_INTERVAL=0.2)
    assert "Near-duplicates so far: kept 1, dropped 0, errors 0" in result.log
    assert (
        "Near-duplicates: kept 2, dropped 1 (content 1), errors 0; 2 pages are stored" in result.log
    )


SLOW_OR_LOST = """
class Unlucky:
    "A later pipeline that takes its time over some items, and loses some."
    async def process_item(self, item):
        import asyncio
        await asyncio.sleep(item.get("secs", 0))
        if item.get("fate") == "drop":
            raise DropItem("not wanted")
        return item
"""


@pytest.mark.parametrize(
    ("page", "sibling", "twin_comes_out"),
    [("fate='drop'", "simhash=False", True), ("", "html=None, fate='drop'", False)],
    ids=["page lost", "sibling lost"],
)
def test_an_items_fate_is_not_that_of_its_sibling_of_the_same_url(
    tmp_path: Path, page: str, sibling: str, twin_comes_out: bool
) -> None:
    items = f"page(1, secs=1, {page}), {{**page(1), **dict({sibling})}}, page(2)"
    result = crawl(tmp_path, items, SLOW_OR_LOST, spider=TOGETHER)
    assert result.scraped == ["http://a.example/1", *["http://a.example/2"] * twin_comes_out]


def test_a_twin_that_waits_too_long_is_kept_unjudged(tmp_path: Path) -> None:
    prelude = SLOW_OR_LOST + "import simhash_pipeline.crawl.pending as pending"
    patience = "pending.MAX_WAIT_SECS = 0.2\n" + TOGETHER
    items = "page(1, secs=2, fate='drop'), page(2)"
    result = crawl(tmp_path, items, prelude, patience)
    assert result.scraped == ["http://a.example/2"]
    assert result.stats["simhash/errors/undecided"] == 1
    assert "the item of its twin http://a.example/1 is still in a later pipeline" in result.log


def test_a_twin_of_a_lost_page_that_can_not_be_forgotten_is_kept(tmp_path: Path) -> None:
    prelude = (
        SLOW_OR_LOST
        + """
from simhash_pipeline import StoreError
from simhash_pipeline.stores.memory import MemoryStore

def forget(self, namespace, url):
    raise StoreError("another process has been writing to it")

MemoryStore.forget = forget
"""
    )
    items = "page(1, secs=1, fate='drop'), page(2)"
    result = crawl(tmp_path, items, prelude, TOGETHER, SIMHASH_STORE="memory:")
    assert result.scraped == ["http://a.example/2"]
    assert "Crawl stopped: another process has been writing to it" in result.log


def test_a_page_stays_when_one_of_two_items_of_it_comes_out(tmp_path: Path) -> None:
    items = "page(1, secs=1, fate='drop'), page(1, secs=2), page(2)"
    result = crawl(tmp_path, items, SLOW_OR_LOST, TOGETHER)
    assert result.scraped == ["http://a.example/1"]
    assert sorted(result.dropped) == ["http://a.example/1", "http://a.example/2"]
