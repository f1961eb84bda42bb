"""Two crawls on one store, of which one dies or takes its time over a story that both have met."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from scrapy.crawler import AsyncCrawlerProcess

from simhash_pipeline import SimhashPipeline, Verdict
from simhash_pipeline.crawl import pipeline
from simhash_pipeline.stores.opening import open_store
from tests.crawl.crawling import ItemSpider, Unlucky, crawl, page
from tests.forked import PROCESSES
from tests.stores.servers import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self


def crawl_slowly(store: str, holds_secs: float) -> None:
    process = AsyncCrawlerProcess(
        {
            "ITEM_PIPELINES": {"simhash_pipeline.SimhashPipeline": 300, Unlucky: 400},
            "SIMHASH_STORE": store,
            "SIMHASH_DROP_LOG": None,
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    items = [page("theirs", secs=holds_secs)]
    process.crawl(type("Slow", (ItemSpider,), {"items": items}))
    process.start()


@pytest.fixture(params=["sqlite", pytest.param("redis 6.2", marks=pytest.mark.ci)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/seen.sqlite"
    return str(request.getfixturevalue("redis_servers")(request.param).url)


class Neighbour:
    """Another crawl, whose story a later pipeline holds for so long."""

    def __init__(self, store: str, holds_secs: float) -> None:
        self._process = PROCESSES.Process(
            target=crawl_slowly, args=(store, holds_secs), daemon=True
        )
        self._process.start()
        with open_store(store) as opened:
            wait_until(lambda: len(opened) == 1)

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.kill()


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "OTHER_CRAWL_LOOK_SECS", 0.05)


def test_a_story_is_not_dropped_for_a_neighbour_that_dies(tmp_path: Path, store: str) -> None:
    with Neighbour(store, holds_secs=60) as neighbour:
        threading.Timer(1, neighbour.kill).start()
        met = crawl(tmp_path, [page("ours")], SIMHASH_STORE=store)
    assert [item["url"] for item in met.items] == ["http://a.example/ours"]
    with open_store(store) as opened:
        assert [kept.url for kept in opened.pages()] == ["http://a.example/ours"]


def test_a_story_is_dropped_once_the_neighbour_s_item_is_out(tmp_path: Path, store: str) -> None:
    with Neighbour(store, holds_secs=1.5):
        met = crawl(tmp_path, [page("ours")], SIMHASH_STORE=store)
    assert met.items == []
    assert met.stats["simhash/dropped"] == 1


@pytest.mark.parametrize(("pause_secs", "waiting"), [(3600.0, [0]), (0.0, [0, 1, 2, 3])])
def test_a_wait_for_a_neighbour_in_vain_is_tried_again_after_a_pause(
    tmp_path: Path,
    store: str,
    monkeypatch: pytest.MonkeyPatch,
    pause_secs: float,
    waiting: list[int],
) -> None:
    monkeypatch.setattr(pipeline, "MAX_WAIT_SECS", 0.5)
    monkeypatch.setattr(pipeline, "IMPATIENT_SECS", pause_secs)
    waits: list[str] = []

    class Watched(SimhashPipeline):
        async def _wait_for_other_crawl(self, verdict: Verdict, deadline: float) -> None:
            if deadline >= self._patient_from:
                waits.append(verdict.url)
            await super()._wait_for_other_crawl(verdict, deadline)

    pipelines = {Watched: 300}
    with Neighbour(store, holds_secs=60):
        items = [page(n) for n in range(4)]
        met = crawl(tmp_path, items, SIMHASH_STORE=store, ITEM_PIPELINES=pipelines)
    assert sorted(set(waits)) == [f"http://a.example/{n}" for n in waiting]
    assert len(met.items) == 4
    assert met.stats["simhash/errors/undecided"] == 4
    assert "still pending in another crawl" in met.log
