"""A page counts only once its item is out: crawls that are paused, resumed and killed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.crawler import CrawlerProcess

from simhash_pipeline.stores.opening import open_store
from tests.forked import PROCESSES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from multiprocessing.process import BaseProcess

PAGES = 60


class Save:
    """What it has written is safe."""

    async def process_item(self, item: Any) -> Any:
        await asyncio.sleep(0.4)
        with Path("saved").open("a", encoding="utf-8") as file:
            file.write(f"{item['n']}\n")
        return item


class Stories(scrapy.Spider):
    """Of pages 2n and 2n + 1 each is the other's twin."""

    name = "stories"
    custom_settings = {"DOWNLOAD_DELAY": 0.05}  # noqa: RUF012  # as Scrapy has it

    async def start(self) -> AsyncIterator[Any]:
        for n in range(PAGES):
            yield scrapy.Request(f"data:text/html,{n}", meta={"n": n})

    def parse(self, response: Any) -> Iterator[Any]:
        n = response.meta["n"]
        words = " ".join(f"word{n // 2}x{i}" for i in range(100))
        yield {"url": f"http://a.example/{n}", "html": f"<p>{words}</p>", "n": n}


def crawl_stories(directory: Path) -> None:
    os.chdir(directory)
    warnings.simplefilter("error")
    process = CrawlerProcess(
        {
            "ITEM_PIPELINES": {"simhash_pipeline.SimhashPipeline": 300, Save: 400},
            "JOBDIR": "job",
            "LOG_FILE": "log",
            "SIMHASH_UNCHANGED": "drop",
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(Stories)
    process.start()


def start(directory: Path) -> BaseProcess:
    process = PROCESSES.Process(target=crawl_stories, args=(directory,), daemon=True)
    process.start()
    return process


def ended(process: BaseProcess, directory: Path) -> str:
    """The log, once the crawl is over."""
    process.join(60)
    assert process.exitcode is not None
    return (directory / "log").read_text(encoding="utf-8")


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
    assert paused.pid is not None
    os.kill(paused.pid, signal.SIGINT)
    assert "Closing spider (shutdown)" in ended(paused, tmp_path)
    assert len(saved(tmp_path)) < PAGES / 2
    assert "Spider closed (finished)" in ended(start(tmp_path), tmp_path)
    assert [n // 2 for n in sorted(saved(tmp_path))] == list(range(PAGES // 2))
    assert sorted(stored(tmp_path)) == sorted(saved(tmp_path))


def test_what_a_killed_crawl_had_in_hand_is_no_twin_of_a_later_page(tmp_path: Path) -> None:
    killed = start(tmp_path)
    wait_for_items(tmp_path, 5)
    killed.kill()
    killed.join()
    in_hand = set(stored(tmp_path)) - set(saved(tmp_path))
    assert in_hand
    shutil.rmtree(tmp_path / "job")  # begun anew: Scrapy 2.14 loses a killed crawl's requests
    ended(start(tmp_path), tmp_path)
    assert {n // 2 for n in saved(tmp_path)} == set(range(PAGES // 2))
