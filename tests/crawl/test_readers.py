"""Large pages are read by processes beside the crawl, which harm neither it nor one another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.crawling import crawl, crawl_in_a_process, page

if TYPE_CHECKING:
    from pathlib import Path

# Ends its process where the page says so, and no other page's.
EXTRACTOR = """
import os, signal
def text(root):
    text = " ".join(root.itertext())
    if "harmful" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    return text
"""
# A very simple script, without `if __name__ == "__main__"`; it prints what is left behind.
SCRIPT = """
import os, scrapy
from scrapy.crawler import CrawlerProcess

with open("runs", "a") as runs:
    runs.write("run\\n")

class Stories(scrapy.Spider):
    name = "stories"
    async def start(self):
        for n in range(PAGES):
            yield scrapy.Request(f"data:,{n}", meta={"n": n})
    def parse(self, response):
        n = response.meta["n"]
        words = " ".join(f"word{n // 2}x{i}" for i in range(100))
        yield {"url": f"http://a.example/{n}", "html": f"<p>{words}</p>" + "<b></b>" * 20_000}

class Save:
    def process_item(self, item):
        with open("saved", "a") as saved:
            saved.write(item["url"].rsplit("/", 1)[1] + "\\n")
        return item

process = CrawlerProcess({
    "CONCURRENT_REQUESTS": 2,
    "ITEM_PIPELINES": {"simhash_pipeline.SimhashPipeline": 300, Save: 400},
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 4 * 1024,  # four responses, each counts as 1 KB
    "TELNETCONSOLE_ENABLED": False,
})
crawler = process.create_crawler(Stories)
process.crawl(crawler)
process.start()
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no process is left")
print("errors", crawler.stats.get_value("simhash/errors"))
"""


def large(n: int, words: str = "word") -> dict[str, Any]:
    text = " ".join(f"{words}{i}" for i in range(200))
    return page(n, text + "<b></b>" * 20_000)


def start(directory: Path, pages: int) -> subprocess.Popen[str]:
    (directory / "stories.py").write_text(SCRIPT.replace("PAGES", str(pages)))
    with (directory / "log").open("w") as log:  # a pipe that nobody reads stops the crawl
        return subprocess.Popen(
            [sys.executable, "-W", "error", "stories.py"],
            cwd=directory,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )


def saved(directory: Path) -> list[int]:
    path = directory / "saved"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def test_of_large_twins_the_first_yielded_is_kept(tmp_path: Path) -> None:
    items = [*(large(n) for n in range(5)), large(5, "term"), page(6)]
    result = crawl(tmp_path, items, at_once=100)
    assert sorted(result.scraped) == ["http://a.example/0", "http://a.example/5"]
    assert {verdict.twin_url for verdict in result.verdicts} == {"http://a.example/0"}
    assert result.stats["simhash/errors"] == 0


def test_a_page_that_ends_the_process_keeps_its_item_and_the_crawl_goes_on(tmp_path: Path) -> None:
    (tmp_path / "users_own.py").write_text(EXTRACTOR)
    items = [large(1), large(2, "harmful"), large(3), large(4, "term"), large(5, "term")]
    result = crawl(tmp_path, items, SIMHASH_EXTRACTOR="users_own.text")
    assert result.scraped == [f"http://a.example/{n}" for n in (1, 2, 4)]
    assert result.stats["simhash/errors"] == result.stats["simhash/errors/reader_died"] == 1
    assert "Kept without judging, as the process that read it ended (-9, " in result.log


def text(root: Any) -> str:
    return " ".join(root.itertext())


def by_what_the_script_defines() -> dict[str, Any]:
    sys.modules["__main__"].text = text  # type: ignore[attr-defined]
    items = [large(1), large(2), large(3, "term")]
    return {"items": items, "at_once": 100, "SIMHASH_EXTRACTOR": "__main__.text"}


def test_what_only_the_script_can_do_is_done_in_its_process(tmp_path: Path) -> None:
    result = crawl_in_a_process(tmp_path, by_what_the_script_defines)
    assert sorted(result.scraped) == ["http://a.example/1", "http://a.example/3"]
    assert result.stats["simhash/errors"] == 0
    assert "Large pages are read in a thread of the crawl, as no process can" in result.log


def test_a_script_without_a_guard_runs_once_and_leaves_no_process(tmp_path: Path) -> None:
    output, _ = start(tmp_path, pages=4).communicate(timeout=60)
    assert "Spider closed (finished)" in (tmp_path / "log").read_text()
    assert output == "no process is left\nerrors 0\n"
    assert (tmp_path / "runs").read_text() == "run\n"
    assert sorted(saved(tmp_path)) == [0, 2]


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal's interrupt, to the whole group")
def test_an_interrupt_from_the_terminal_costs_no_pending_page(tmp_path: Path) -> None:
    paused = start(tmp_path, pages=400)
    give_up = time.monotonic() + 60
    while len(saved(tmp_path)) < 3 and time.monotonic() < give_up:
        time.sleep(0.02)
    os.killpg(paused.pid, signal.SIGINT)
    output, _ = paused.communicate(timeout=120)
    log = (tmp_path / "log").read_text()
    assert "Closing spider (shutdown)" in log
    assert output == "no process is left\nerrors 0\n"
    assert "Traceback" not in log
    assert 3 <= len(saved(tmp_path)) < 20  # of 200
