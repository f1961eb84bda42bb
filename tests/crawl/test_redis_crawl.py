"""Crawls that remember their pages on a server, one that is there and one that goes."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.crawl.crawling import crawl
from tests.stores.servers import RunningServer, server_binary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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


def test_two_crawls_share_what_they_keep_and_tell_no_password(
    tmp_path: Path, server: RunningServer
) -> None:
    first = crawl(tmp_path, "page(1), page(2), page(3, OTHER)", SIMHASH_STORE=url(server))
    assert first.scraped == ["http://a.example/1", "http://a.example/3"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    second = crawl(elsewhere, "page(4), page(5, OTHER)", SIMHASH_STORE=url(server))
    assert second.scraped == []
    assert second.stats["simhash/store_pages"] == 2
    assert first.stats["simhash/store"] == f"redis://:***@127.0.0.1:{server.port}/0"
    log = (tmp_path / ".scrapy/simhash/items.drops.jsonl").read_text(encoding="utf-8")
    assert "sesame" not in log + first.log + second.log


def test_a_drop_is_explained_and_thresholds_are_tuned_by_texts_on_the_server(
    tmp_path: Path, simhash: Simhash, server: RunningServer
) -> None:
    items = "page(1), page(2, STORY.replace('word100', 'tale')), page(3, OTHER)"
    crawl(tmp_path, items, SIMHASH_STORE=url(server), SIMHASH_KEEP_TEXT=True)
    store = ("--store", url(server))
    explained = simhash(tmp_path, "explain", "http://a.example/2", *store, "--json")
    told = json.loads(explained.stdout)
    assert (told["status"], told["texts"]) == ("dropped", "kept")
    (change,) = told["diff"]
    assert {"removed": "word100"} in change
    tuned = json.loads(simhash(tmp_path, "tune", *store, "--json").stdout)
    assert (tuned["pages"], tuned["source"]) == (3, f"redis://:***@127.0.0.1:{server.port}/0")
    assert "sesame" not in explained.stdout + explained.stderr


@pytest.mark.parametrize(
    ("lost", "reason"), [("stop", "simhash_store_failed"), ("keep", "finished")]
)
def test_a_server_lost_for_good_stops_the_crawl_or_leaves_pages_unjudged(
    tmp_path: Path, server: RunningServer, lost: str, reason: str
) -> None:
    dying = f"""
import os, signal
def dying():
    yield page(1)
    yield page(2)
    os.kill({server.process.pid}, signal.SIGKILL)
    yield from (page(n) for n in range(3, 8))
"""
    result = crawl(
        tmp_path,
        "*dying()",
        dying,
        SIMHASH_STORE=url(server),
        SIMHASH_STORE_WAIT_SECS=1,
        SIMHASH_STORE_LOST=lost,
    )
    assert result.stats["finish_reason"] == reason
    assert set(result.scraped) >= {f"http://a.example/{n}" for n in range(4, 8)}
    assert result.stats["simhash/errors"] >= 1
    assert ("Crawl stopped" in result.log) == (lost == "stop")
    assert "Near-duplicates: kept " in result.log
    assert "sesame" not in result.log


LOST_SECS = 5.5
LOST = """
import os, signal, threading, time

def story(n):
    return " ".join(f"word{n}x{i}" for i in range(200))

def lost():
    for n in range(200):
        if n == 20:
            lose()
        yield page(n, story(n))
    yield from (page(1000 + n, story(n)) for n in (5, 19, 21, 150))

class Entry:
    "Before the pipeline: how many items are in it at once, and for how long none came out."
    @classmethod
    def from_crawler(cls, crawler):
        entry = cls()
        entry.inside, entry.last = 0, time.monotonic()
        crawler.signals.connect(entry.left, signals.item_scraped)
        return entry

    def process_item(self, item):
        self.inside += 1
        told["most"] = max(told.get("most", 0), self.inside)
        return item

    def left(self, item):
        self.inside -= 1
        now = time.monotonic()
        told["longest"] = max(told.get("longest", 0), now - self.last)
        self.last = now
"""
MANY_AT_ONCE = """
ItemSpider.custom_settings = {
    "CONCURRENT_ITEMS": 16,
    "ITEM_PIPELINES": {Entry: 100, "simhash_pipeline.SimhashPipeline": 300},
}
"""


@pytest.mark.parametrize("way", ["frozen", "killed and started again"])
def test_pages_wait_in_their_order_for_a_server_that_is_lost_for_five_seconds(
    tmp_path: Path, way: str
) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    durable = ("--appendonly", "yes", "--appendfsync", "always")
    with RunningServer(server_binary("redis 6.2"), folder, *durable) as server:
        pid = server.process.pid
        thaw = f"threading.Timer({LOST_SECS}, os.kill, ({pid}, signal.SIGCONT)).start()"
        how = f"os.kill({pid}, signal.SIGSTOP); {thaw}"
        back = threading.Thread(target=_start_again, args=(server,))
        if way != "frozen":
            how = f"os.kill({pid}, signal.SIGKILL)"
            back.start()
        lose = f"\ndef lose():\n    {how}\n"
        result = crawl(
            tmp_path, "*lost()", LOST + lose, spider=MANY_AT_ONCE, SIMHASH_STORE=server.url
        )
        if way != "frozen":
            back.join()
    assert result.scraped == [f"http://a.example/{n}" for n in range(200)]
    assert result.dropped == [f"http://a.example/{1000 + n}" for n in (5, 19, 21, 150)]
    assert (result.stats["simhash/errors"], result.stats["simhash/store_pages"]) == (0, 200)
    assert result.told["longest"] > 5
    assert result.told["most"] <= 16


def _start_again(server: RunningServer) -> None:
    server.process.wait()
    time.sleep(LOST_SECS)
    server.start()
