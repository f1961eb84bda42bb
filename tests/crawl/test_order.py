"""Pages are judged in the order they are yielded, whatever takes long, under every event loop."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import default_settings
from scrapy.utils.asyncio import create_looping_call

from simhash_pipeline import SimhashPipeline, StoreError
from simhash_pipeline.crawl import pending
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from tests.crawl.crawling import OTHER, Unlucky, crawl, crawl_in_a_process, page

if TYPE_CHECKING:
    from pathlib import Path

EPOLL = "twisted.internet.epollreactor.EPollReactor"
LOOPS: dict[str, dict[str, Any]] = {
    "asyncio": {},
    "epoll": {"TWISTED_REACTOR": EPOLL},
    "no reactor": {},
}
NEEDS_NO_REACTOR = pytest.mark.skipif(
    not hasattr(default_settings, "TWISTED_REACTOR_ENABLED"),
    reason="this Scrapy can't do without a reactor",
)
# Takes a second or two in the thread, while those after it are ready at once.
LARGE = " ".join(f"word{i}" for i in range(200)) + "<b></b>" * 300_000


def twins_in_flight() -> dict[str, Any]:
    items = [page(1, LARGE), *(page(n) for n in range(2, 12)), page(12, OTHER)]
    return {"items": items, "at_once": 100}


@pytest.mark.parametrize(
    "loop", [*list(LOOPS)[:-1], pytest.param("no reactor", marks=NEEDS_NO_REACTOR)]
)
def test_of_two_twins_in_flight_the_first_yielded_is_kept(tmp_path: Path, loop: str) -> None:
    if loop == "no reactor":
        result = crawl(tmp_path, **twins_in_flight())
    else:
        result = crawl_in_a_process(tmp_path, twins_in_flight, **LOOPS[loop])
    assert sorted(result.scraped) == ["http://a.example/1", "http://a.example/12"]
    assert len(result.dropped) == 10
    assert {verdict.twin_url for verdict in result.verdicts} == {"http://a.example/1"}
    assert result.errors == []


def test_a_twin_waits_for_what_becomes_of_the_item_it_is_near(tmp_path: Path) -> None:
    items = [
        page(1, secs=0.3, outcome="drop"),
        page(2, secs=0.3),
        page(3, secs=0.3),
        page(4, OTHER, secs=0.3),
    ]
    result = crawl(tmp_path, items, at_once=100)
    assert sorted(result.scraped) == ["http://a.example/2", "http://a.example/4"]
    assert [verdict.url for verdict in result.verdicts] == ["http://a.example/3"]
    assert result.verdicts[0].twin_url == "http://a.example/2"


def test_the_event_loop_goes_on_while_a_large_page_is_read(tmp_path: Path) -> None:
    beats = []

    class Pulse(Unlucky):
        def open_spider(self) -> None:
            self.loop = create_looping_call(lambda: beats.append(time.monotonic()))
            self.loop.start(0.005)

        def close_spider(self) -> None:
            self.loop.stop()

    result = crawl(tmp_path, [page(1, LARGE)], later=Pulse)
    seconds = result.stats["simhash/seconds/fingerprinting"]
    assert seconds > 0.1
    assert len(beats) > seconds / 0.05


class LocksTheStore:
    """A pipeline that lets the store go by a task of the event loop."""

    async def process_item(self, item: Any) -> Any:
        if item["url"] == "http://a.example/2":
            with closing(sqlite3.connect(item["store"], isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                await asyncio.sleep(0.3)
        return item


def test_the_event_loop_goes_on_while_another_program_locks_the_store(tmp_path: Path) -> None:
    path = tmp_path / "seen.sqlite"
    items = [page(n, store=str(path)) for n in (1, 2, 3)]
    pipelines = {LocksTheStore: 200, SimhashPipeline: 300}
    settings: dict[str, Any] = {"SIMHASH_STORE": f"sqlite:///{path}", "ITEM_PIPELINES": pipelines}
    result = crawl(tmp_path, items, at_once=100, **settings)
    assert result.scraped == ["http://a.example/1"]
    assert len(result.dropped) == 2
    assert result.errors == []


def test_scrapys_periodic_log_has_the_counts_of_a_crawl(tmp_path: Path) -> None:
    result = crawl(
        tmp_path,
        [page(1, secs=0.5), page(2, secs=0.5), page(3, OTHER, secs=0.5)],
        EXTENSIONS={"scrapy.extensions.periodic_log.PeriodicLog": 0},
        PERIODIC_LOG_STATS={"include": ["simhash/"]},
        LOGSTATS_INTERVAL=0.2,
    )
    assert '"simhash/kept": 1' in result.log


def test_the_counts_are_logged_at_the_end(tmp_path: Path) -> None:
    result = crawl(tmp_path, [page(1), page(2), page(3, OTHER)])
    assert (
        "Near-duplicates: kept 2, dropped 1 (1: main text near that of a kept page); "
        "2 pages stored" in result.log
    )


@pytest.mark.parametrize(
    ("first", "sibling", "twin_comes_out"),
    [
        ({"outcome": "drop"}, {"simhash": False}, True),
        ({}, {"html": None, "outcome": "drop"}, False),
    ],
    ids=["page lost", "sibling lost"],
)
def test_an_items_outcome_is_not_that_of_its_sibling_of_the_same_url(
    tmp_path: Path, first: dict[str, Any], sibling: dict[str, Any], twin_comes_out: bool
) -> None:
    items = [page(1, secs=0.4, **first), {**page(1), **sibling}, page(2)]
    result = crawl(tmp_path, items, at_once=100)
    assert result.scraped == ["http://a.example/1", *["http://a.example/2"] * twin_comes_out]


def test_a_twin_that_waits_too_long_is_kept_unjudged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "MAX_WAIT_SECS", 0.2)
    result = crawl(tmp_path, [page(1, secs=1, outcome="drop"), page(2)], at_once=100)
    assert result.scraped == ["http://a.example/2"]
    assert result.stats["simhash/errors/undecided"] == 1
    assert "the item of its twin http://a.example/1 is still in a later pipeline" in result.log


def test_a_twin_of_a_lost_page_that_can_not_be_forgotten_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget(*_: object) -> None:
        raise StoreError("another process has been writing to it")

    monkeypatch.setattr(SqliteStore, "forget", forget)
    items = [page(1, secs=0.3, outcome="drop"), page(2)]
    result = crawl(tmp_path, items, at_once=100, SIMHASH_STORE="memory:")
    assert result.scraped == ["http://a.example/2"]
    assert "Crawl stopped: another process has been writing to it" in result.log


def test_a_page_stays_when_one_of_two_items_of_it_comes_out(tmp_path: Path) -> None:
    items = [page(1, secs=0.2, outcome="drop"), page(1, secs=0.4), page(2)]
    result = crawl(tmp_path, items, at_once=100)
    assert result.scraped == ["http://a.example/1"]
    assert sorted(result.dropped) == ["http://a.example/1", "http://a.example/2"]
