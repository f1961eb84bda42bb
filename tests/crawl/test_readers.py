"""Pages that processes beside the crawl read: what they do harms neither it nor other pages."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from simhash_pipeline.page.reader import MAX_READERS
from tests.crawl.crawling import crawl, crawl_in_a_process, page
from tests.page.test_reader import is_there

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows doesn't stop a process")
# Does what the page says, and leaves the numbers of its process and of what it has started.
EXTRACTOR = """
import os, re, signal, subprocess, sys, time
def text(root):
    text = " ".join(root.itertext())
    if "harmful" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "large memory" in text:
        return str(len(bytearray(3_000_000_000)))
    for sign in ("backtracks", "stops", "starts another"):
        if sign not in text:
            continue
        process = os.getpid()
        if sign == "starts another":
            process = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL).pid
        with open("stuck", "a") as stuck:
            stuck.write(f"{process}\\n")
        if sign == "stops":
            os.kill(os.getpid(), signal.SIGSTOP)
        if sign == "backtracks":
            re.match("(a+)+$", "a" * 60 + "b")
        time.sleep(600)
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
        words += "WORDS" if n > 1 else ""
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
} | SETTINGS)
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


def start(directory: Path, pages: int, words: str = "", **settings: Any) -> subprocess.Popen[str]:
    """Crawl so many pages; from the third on, they hold these words, too."""
    script = SCRIPT.replace("PAGES", str(pages)).replace("WORDS", words)
    (directory / "stories.py").write_text(script.replace("SETTINGS", repr(settings)))
    (directory / "users_own.py").write_text(EXTRACTOR)
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


def start_stuck(directory: Path, words: str, limit_secs: int) -> subprocess.Popen[str]:
    """Many pages that never end are under way, and a reader is busy with one of them."""
    process = start(
        directory,
        40,
        f" {words}",
        SCRAPER_SLOT_MAX_ACTIVE_SIZE=40 * 1024,
        SIMHASH_EXTRACTOR="users_own.text",
        SIMHASH_PAGE_TIMEOUT_SECS=limit_secs,
    )
    give_up = time.monotonic() + 60
    while not stuck(directory) and process.poll() is None and time.monotonic() < give_up:
        time.sleep(0.02)
    return process


def stuck(directory: Path) -> list[int]:
    """The processes that pages have stopped or kept busy for good."""
    path = directory / "stuck"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def left(directory: Path) -> list[int]:
    """Those of them that are there after some seconds."""
    give_up = time.monotonic() + 5
    while (there := [pid for pid in stuck(directory) if is_there(pid)]) and (
        time.monotonic() < give_up
    ):
        time.sleep(0.05)
    for pid in there:
        os.kill(pid, signal.SIGKILL)
    return there


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
    said = "Kept without judging http://a.example/2: the process that read it ended by signal 9 "
    assert said in result.log


@posix
@pytest.mark.parametrize(
    ("build", "sign"), [(page, "backtracks"), (page, "starts another"), (large, "stops")]
)
def test_a_page_that_takes_too_long_keeps_its_item_and_the_crawl_goes_on(
    tmp_path: Path, build: Callable[..., dict[str, Any]], sign: str
) -> None:
    (tmp_path / "users_own.py").write_text(EXTRACTOR)
    items = [build(1), build(2, f"it {sign}"), build(3), build(4, f"it {sign}"), build(5)]
    result = crawl(tmp_path, items, SIMHASH_EXTRACTOR="users_own.text", SIMHASH_PAGE_TIMEOUT_SECS=1)
    assert result.scraped == [f"http://a.example/{n}" for n in (1, 2, 4)]
    assert result.stats["simhash/errors"] == result.stats["simhash/errors/timeout"] == 2
    (warning,) = (line for line in result.log.splitlines() if "] WARNING: " in line)
    assert warning.endswith(
        "Kept without judging http://a.example/2: it takes longer to read than "
        "SIMHASH_PAGE_TIMEOUT_SECS (1) allows. Further ones are only counted "
        "(simhash/errors/timeout)."
    )
    assert len(stuck(tmp_path)) == 2
    assert left(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't limit memory")
def test_a_page_that_takes_too_much_memory_keeps_its_item_and_the_crawl_goes_on(
    tmp_path: Path,
) -> None:
    (tmp_path / "users_own.py").write_text(EXTRACTOR)
    items = [page(1), page(2, "it takes large memory"), page(3)]
    result = crawl(tmp_path, items, SIMHASH_EXTRACTOR="users_own.text")
    assert result.scraped == [f"http://a.example/{n}" for n in (1, 2)]
    assert result.stats["simhash/errors"] == result.stats["simhash/errors/memory"] == 1
    assert (
        "Kept without judging http://a.example/2: it takes more memory to read than the limit of "
        "2,000 MB. Further ones are only counted (simhash/errors/memory)." in result.log
    )


@posix
@pytest.mark.parametrize(
    ("sign", "signals"),
    [
        ("backtracks", 1),
        ("stops", 1),
        pytest.param("backtracks", 2, marks=pytest.mark.ci),  # which forces Scrapy to end
    ],
)
def test_a_crawl_that_is_told_to_end_waits_no_longer_than_the_limit(
    tmp_path: Path, sign: str, signals: int
) -> None:
    crawling = start_stuck(tmp_path, sign, limit_secs=1)
    for _ in range(signals):
        crawling.terminate()
        time.sleep(0.5)
    try:
        crawling.communicate(timeout=60)
    finally:
        crawling.kill()
    # Each reader has begun a page or two, and not each page.
    assert len(stuck(tmp_path)) <= 3 * MAX_READERS
    if signals == 1:
        log = (tmp_path / "log").read_text()
        assert "Spider closed (shutdown)" in log
        assert len(saved(tmp_path)) > len(stuck(tmp_path))
        assert f"'simhash/errors/timeout': {len(saved(tmp_path)) - 1}," in log
    assert left(tmp_path) == []


@posix
@pytest.mark.parametrize("sign", ["backtracks", "stops"])
def test_a_killed_crawl_leaves_no_busy_process(tmp_path: Path, sign: str) -> None:
    if sign == "stops" and sys.platform != "linux":
        pytest.skip("only Linux ends a stopped process with its parent")
    with start_stuck(tmp_path, sign, limit_secs=1) as crawling:
        crawling.kill()
    assert len(stuck(tmp_path)) == 1
    if sys.platform != "linux":
        time.sleep(6)
    assert left(tmp_path) == []


def text(root: Any) -> str:
    return " ".join(root.itertext())


def by_what_the_script_defines() -> dict[str, Any]:
    sys.modules["__main__"].text = text  # type: ignore[attr-defined]
    items = [large(1), large(2), large(3, "term")]
    return {"items": items, "at_once": 100, "SIMHASH_EXTRACTOR": "__main__.text"}


def in_no_file() -> dict[str, Any]:
    sys.modules["in_no_file"] = module = ModuleType("in_no_file")
    vars(module)["text"] = text
    return {"items": [large(1)], "SIMHASH_EXTRACTOR": "in_no_file.text"}


def test_what_no_other_process_can_import_is_refused_at_the_start(tmp_path: Path) -> None:
    result = crawl_in_a_process(tmp_path, in_no_file)
    assert not result.began
    rule = "the processes that read pages import it by this path from a file"
    said = (
        "SIMHASH_EXTRACTOR is 'in_no_file.text'; it can't be loaded: No module named 'in_no_file'"
    )
    assert f"CRITICAL: Crawl not started: {said}; {rule}" in result.log


def test_what_only_the_script_can_do_is_done_in_its_process(tmp_path: Path) -> None:
    result = crawl_in_a_process(tmp_path, by_what_the_script_defines)
    assert sorted(result.scraped) == ["http://a.example/1", "http://a.example/3"]
    assert result.stats["simhash/errors"] == 0
    assert (
        "Pages are read in a thread of the crawl, where no limit in time and memory holds, as no"
        in result.log
    )


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
