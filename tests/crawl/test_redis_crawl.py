"""Crawls that remember their pages on a server, one that is there and one that goes."""

from __future__ import annotations

import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import signals

from tests.crawl.crawling import OTHER, STORY, crawl, page
from tests.stores.servers import RunningServer, server_binary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from tests.cli.simhash_command import Simhash


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    folder = tmp_path / "server"
    folder.mkdir()
    password = ("--requirepass", "open sesame")
    with RunningServer(server_binary("redis 6.2"), folder, *password) as running:
        yield running


def url(server: RunningServer) -> str:
    return f"redis://:open%20sesame@127.0.0.1:{server.port}/0"


def test_two_crawls_share_what_they_keep_and_log_no_password(
    tmp_path: Path, server: RunningServer
) -> None:
    first = crawl(tmp_path, [page(1), page(2), page(3, OTHER)], SIMHASH_STORE=url(server))
    assert first.scraped == ["http://a.example/1", "http://a.example/3"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    second = crawl(elsewhere, [page(4), page(5, OTHER)], SIMHASH_STORE=url(server))
    assert second.scraped == []
    assert second.stats["simhash/store_pages"] == 2
    assert first.stats["simhash/store"] == f"redis://***@127.0.0.1:{server.port}/0"
    log = (tmp_path / ".scrapy/simhash/items.drops.jsonl").read_text(encoding="utf-8")
    assert "sesame" not in log + first.log + second.log


def test_a_drop_is_explained_by_texts_on_the_server(
    tmp_path: Path, simhash: Simhash, server: RunningServer
) -> None:
    items = [page(1), page(2, STORY.replace("word100", "tale")), page(3, OTHER)]
    crawl(tmp_path, items, SIMHASH_STORE=url(server), SIMHASH_KEEP_TEXT=True)
    store = ("--store", url(server))
    explained = simhash(tmp_path, "explain", "http://a.example/2", *store)
    assert explained.stdout.startswith("Dropped ")
    assert "[-word100-] {+tale+}" in explained.stdout
    assert "sesame" not in explained.stdout + explained.stderr


@pytest.mark.parametrize(
    ("lost", "reason"), [("stop", "simhash_store_failed"), ("keep", "finished")]
)
def test_a_server_lost_for_good_stops_the_crawl_or_leaves_pages_unjudged(
    tmp_path: Path, server: RunningServer, lost: str, reason: str
) -> None:

    def items() -> Iterator[Any]:
        yield page(1)
        yield page(2)
        server.process.kill()
        yield from (page(n) for n in range(3, 8))

    result = crawl(
        tmp_path,
        items,
        SIMHASH_STORE=f"{url(server)}?wait_secs=1&lost={lost}",
    )
    assert result.stats["finish_reason"] == reason
    assert set(result.scraped) >= {f"http://a.example/{n}" for n in range(4, 8)}
    assert result.stats["simhash/errors"] >= 1
    assert ("Crawl stopped" in result.log) == (lost == "stop")
    assert "Near-duplicates: kept " in result.log
    assert "sesame" not in result.log


LOST_SECS = 5.5


def story(n: int) -> str:
    return " ".join(f"word{n}x{i}" for i in range(200))


class Entry:
    """Before the pipeline: how many items are in it at once, and how long none came out."""

    stats: StatsCollector

    def __init__(self) -> None:
        self.inside, self.most = 0, 0
        self.last, self.longest_secs = time.monotonic(), 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Entry:
        entry = cls()
        crawler.signals.connect(entry.left, signals.item_scraped)
        crawler.signals.connect(entry.report, signals.spider_closed)
        entry.stats = crawler.stats
        return entry

    def process_item(self, item: Any) -> Any:
        self.inside += 1
        self.most = max(self.most, self.inside)
        return item

    def left(self) -> None:
        self.inside -= 1
        now = time.monotonic()
        self.longest_secs = max(self.longest_secs, now - self.last)
        self.last = now

    def report(self) -> None:
        self.stats.set_value("entry", (self.most, self.longest_secs))


@pytest.mark.parametrize("way", ["frozen", "killed and started again"])
def test_pages_wait_in_their_order_for_a_server_that_is_lost_for_five_seconds(
    tmp_path: Path, way: str
) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    durable = ("--appendonly", "yes", "--appendfsync", "always")
    with RunningServer(server_binary("redis 6.2"), folder, *durable) as server:
        back = threading.Thread(target=_start_again, args=(server,))

        def lose() -> None:
            if way == "frozen":
                server.process.send_signal(signal.SIGSTOP)
                threading.Timer(LOST_SECS, server.process.send_signal, (signal.SIGCONT,)).start()
            else:
                server.process.kill()
                back.start()

        def items() -> Iterator[Any]:
            for n in range(200):
                if n == 20:
                    lose()
                yield page(n, story(n))
            yield from (page(1000 + n, story(n)) for n in (5, 19, 21, 150))

        pipelines = {Entry: 100, "simhash_pipeline.SimhashPipeline": 300}
        result = crawl(
            tmp_path, items, at_once=16, ITEM_PIPELINES=pipelines, SIMHASH_STORE=server.url
        )
        if way != "frozen":
            back.join()
    assert result.scraped == [f"http://a.example/{n}" for n in range(200)]
    assert result.dropped == [f"http://a.example/{1000 + n}" for n in (5, 19, 21, 150)]
    assert (result.stats["simhash/errors"], result.stats["simhash/store_pages"]) == (0, 200)
    most, longest_secs = result.stats["entry"]
    assert longest_secs > 5
    assert most <= 16


def _start_again(server: RunningServer) -> None:
    server.process.wait()
    time.sleep(LOST_SECS)
    server.start()
