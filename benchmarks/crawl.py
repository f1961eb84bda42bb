"""What the pipeline costs a crawl: pages per second with it and without, longest stall, memory.

    python -m benchmarks.crawl [FOLDER | --large] [--pages 1000] [--rounds 3]

Serves FOLDER (the demo site by default) on loopback and crawls it with the demo project's spider,
politeness off, in alternating rounds with and without the pipeline, each in a process of its own
with an empty store. A stall is how much later than asked for the event loop wakes a task. Pages are
counted from the spider's opening to its end; what comes before is told apart.
With --large it crawls made pages of 2 MB, by a spider that looks for no links: those of the demo
project would hold the event loop themselves.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import scrapy.exporters  # noqa: F401  # as every crawl with a feed does
from scrapy import Spider, signals
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.http import Response
from scrapy.settings import Settings

from benchmarks.pages import made_page
from crawler import settings as demo_settings
from crawler.demo_site import DemoSite
from crawler.demo_site.pages import read_newsroom
from crawler.spiders.site import Page, SiteSpider

ROOT = Path(__file__).parent.parent
BEAT_SECS = 0.002
LARGE_BYTES = 2_000_000
LARGE_PAGES = 20


class Clocks(NamedTuple):
    """Seconds by the clock, of CPU, and of CPU in the processes begun here that have ended."""

    wall: float
    cpu: float
    readers_cpu: float

    @classmethod
    def now(cls) -> Clocks:
        times = os.times()
        children = times.children_user + times.children_system
        return cls(time.perf_counter(), time.process_time(), children)


class Heartbeat:
    """An extension that asks the event loop to wake it every 2 ms, and notes how late it does."""

    opened: Clocks
    closed: Clocks

    def __init__(self, crawler: Crawler) -> None:
        self.late_ms: list[float] = []
        crawler.signals.connect(self._start, signals.spider_opened)
        crawler.signals.connect(self._stop, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Heartbeat:
        return cls(crawler)

    def _start(self) -> None:
        self.opened = Clocks.now()
        self._task = asyncio.get_running_loop().create_task(self._beat())

    def _stop(self) -> None:
        self._task.cancel()
        self.closed = Clocks.now()

    async def _beat(self) -> None:
        while True:
            asked = time.perf_counter()
            await asyncio.sleep(BEAT_SECS)
            self.late_ms.append(1e3 * (time.perf_counter() - asked - BEAT_SECS))


class LargePages(Spider):
    """Takes the large pages as they are."""

    name = "large"

    def __init__(self, url: str, max_pages: int) -> None:
        super().__init__()
        self.start_urls = [f"{url}{number}.html" for number in range(max_pages)]

    def parse(self, response: Response) -> Iterator[Page]:
        yield Page(url=response.url, title="", html=response.body, charset="utf-8")


def crawl(spider: type[Spider], url: str, pages: int, addons: dict[str, int]) -> None:
    """One crawl in this process; its measurements on standard output as JSON."""
    begun = Clocks.now()
    settings = Settings()
    settings.setmodule(demo_settings)
    settings.setdict(
        {
            "ADDONS": addons,
            "AUTOTHROTTLE_ENABLED": False,
            "EXTENSIONS": {Heartbeat: 0},
            "FEEDS": {},
            "LOG_LEVEL": "CRITICAL",
        }
    )
    process = CrawlerProcess(settings)
    crawler: Crawler = process.create_crawler(spider)
    process.crawl(crawler, url=url, max_pages=pages)
    process.start()
    heartbeat = crawler.get_extension(Heartbeat)
    if crawler.stats is None or heartbeat is None:
        raise RuntimeError("the crawl did not start")
    opened, closed = heartbeat.opened, heartbeat.closed
    told = {
        "pages": crawler.stats.get_value("response_received_count"),
        "bytes": crawler.stats.get_value("downloader/response_bytes"),
        "start_cpu_secs": opened.cpu - begun.cpu,
        "seconds": closed.wall - opened.wall,
        "cpu_seconds": closed.cpu - opened.cpu,
        "readers_cpu_secs": closed.readers_cpu - opened.readers_cpu,
        "late_ms": heartbeat.late_ms,
        "peak_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,  # on Linux
    }
    print(json.dumps(told))


def round_of(url: str, pages: int, mode: str, *, large: bool) -> dict[str, Any]:
    command = ["-m", "benchmarks.crawl", "--one", mode, url, "--pages", str(pages)]
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "scrapy.cfg").touch()
        result = subprocess.run(
            [sys.executable, *command, *(["--large"] if large else [])],
            cwd=directory,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
    measured: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return measured


def write_large_pages(folder: Path, pages: int) -> None:
    """English and Chinese by turns, two texts in all."""
    newsroom = read_newsroom()
    bodies = [made_page(newsroom, lang, LARGE_BYTES, paragraphs=3_000) for lang in ("en", "zh")]
    for number in range(pages):
        Path(folder, f"{number}.html").write_bytes(bodies[number % 2])


@contextlib.contextmanager
def served(folder: Path | None) -> Iterator[str]:
    """The address of the demo site, or of a folder, while it is served."""
    if folder is None:
        with DemoSite(port=0) as site:
            yield f"{site.url}/"
        return
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


class QuietHandler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def report(rounds: dict[str, list[dict[str, Any]]]) -> None:
    for mode, measured in rounds.items():
        speed = statistics.median(map(pages_a_second, measured))
        cpu = 1e3 * statistics.median(map(cpu_a_page, measured))
        readers = 1e3 * statistics.median(
            one["readers_cpu_secs"] / one["pages"] for one in measured
        )
        longest = statistics.median(max(one["late_ms"]) for one in measured)
        start = statistics.median(one["start_cpu_secs"] for one in measured)
        print(
            f"{mode:8} {speed:7.1f} pages/s {cpu:7.1f} ms of CPU a page "
            f"({readers:.1f} in readers)   longest stall {longest:4.0f} ms   "
            f"{start:.1f} s of CPU to start   ({measured[0]['pages']} pages a round, "
            f"{measured[0]['bytes'] / measured[0]['pages'] / 1e3:,.0f} KB each)"
        )
    peaks = [statistics.median(one["peak_kb"] for one in of) / 1e3 for of in rounds.values()]
    print(f"peak memory of the process: {peaks[0]:.0f} MB with, {peaks[1]:.0f} MB without")
    for name, of in (("pages a second", pages_a_second), ("CPU", cpu_a_page)):
        ratios = [of(on) / of(off) for on, off in zip(*rounds.values(), strict=True)]
        told = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"with / without, {name}: {statistics.median(ratios):.2f}   ({told})")


def pages_a_second(one: dict[str, Any]) -> float:
    return float(one["pages"] / one["seconds"])


def cpu_a_page(one: dict[str, Any]) -> float:
    return float((one["cpu_seconds"] + one["readers_cpu_secs"]) / one["pages"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", help="a folder of HTML pages; the demo site if none")
    parser.add_argument("--large", action="store_true", help="made pages of 2 MB instead")
    parser.add_argument("--pages", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", choices=["with", "without"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    pages = arguments.pages or (LARGE_PAGES if arguments.large else 1000)
    if arguments.one:
        addons = {"simhash_pipeline.Addon": 500} if arguments.one == "with" else {}
        spider = LargePages if arguments.large else SiteSpider
        crawl(spider, arguments.folder, pages, addons)
        return
    rounds: dict[str, list[dict[str, Any]]] = {"with": [], "without": []}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(arguments.folder) if arguments.folder else None
        if arguments.large:
            folder = Path(made)
            write_large_pages(folder, pages)
        with served(folder) as url:
            for _ in range(arguments.rounds):
                for mode, measured in rounds.items():
                    measured.append(round_of(url, pages, mode, large=arguments.large))
    report(rounds)


if __name__ == "__main__":
    main()
