"""A page counts only once its item is out: crawls that are paused, resumed and killed."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from simhash_pipeline.stores.opening import open_store

if TYPE_CHECKING:
    from pathlib import Path

PAGES = 60
# Of pages 2n and 2n + 1 each is the other's twin. What the last pipeline has written is safe.
SPIDER = f"""
import asyncio
import scrapy
from scrapy.crawler import CrawlerProcess

class Save:
    async def process_item(self, item):
        await asyncio.sleep(0.4)
        with open("saved", "a") as file:
            file.write(f"{{item['n']}}\\n")
        return item

class Stories(scrapy.Spider):
    name = "stories"
    custom_settings = {{"DOWNLOAD_DELAY": 0.05}}
    async def start(self):
        for n in range({PAGES}):
            yield scrapy.Request(f"data:text/html,{{n}}", meta={{"n": n}})
    def parse(self, response):
        n = response.meta["n"]
        words = " ".join(f"word{{n // 2}}x{{i}}" for i in range(100))
        yield {{"url": f"http://a.example/{{n}}", "html": f"<p>{{words}}</p>", "n": n}}

process = CrawlerProcess({{
    "ITEM_PIPELINES": {{"simhash_pipeline.SimhashPipeline": 300, Save: 400}},
    "JOBDIR": "job",
    "SIMHASH_UNCHANGED": "drop",
    "TELNETCONSOLE_ENABLED": False,
}})
process.crawl(Stories)
process.start()
"""


def start(directory: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SPIDER],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def saved(directory: Path) -> list[int]:
    path = directory / "saved"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def stored(directory: Path) -> list[int]:
    with open_store(f"sqlite:///{directory}/.scrapy/simhash/stories.sqlite") as store:
        return [int(page.url.rsplit("/", 1)[1]) for page in store.pages()]


def wait_for_items(directory: Path, count: int) -> None:
    give_up = time.monotonic() + 60
    while len(saved(directory)) < count and time.monotonic() < give_up:
        time.sleep(0.02)
    assert len(saved(directory)) >= count


def test_a_paused_crawl_resumes_without_a_page_lost_or_its_own_twin(tmp_path: Path) -> None:
    paused = start(tmp_path)
    wait_for_items(tmp_path, 5)
    paused.send_signal(signal.SIGINT)
    _, log = paused.communicate(timeout=60)
    assert b"Closing spider (shutdown)" in log
    assert len(saved(tmp_path)) < PAGES / 2
    _, log = start(tmp_path).communicate(timeout=60)
    assert b"Spider closed (finished)" in log
    assert [n // 2 for n in sorted(saved(tmp_path))] == list(range(PAGES // 2))
    assert sorted(stored(tmp_path)) == sorted(saved(tmp_path))


def test_what_a_killed_crawl_had_in_hand_is_no_twin_of_a_later_page(tmp_path: Path) -> None:
    killed = start(tmp_path)
    wait_for_items(tmp_path, 5)
    killed.kill()
    killed.communicate()
    in_hand = set(stored(tmp_path)) - set(saved(tmp_path))
    assert in_hand
    shutil.rmtree(tmp_path / "job")  # begun anew: Scrapy 2.14 loses a killed crawl's requests
    start(tmp_path).communicate(timeout=60)
    assert {n // 2 for n in saved(tmp_path)} == set(range(PAGES // 2))
