"""What the pipeline costs a crawl: pages per second with it and without, and its longest stall.

    python -m benchmarks.crawl [FOLDER] [--pages 1000] [--rounds 3]

Serves FOLDER (the demo site by default) on loopback and crawls it with the demo project's spider,
politeness off, in alternating rounds with and without the pipeline, each in a process of its own
with an empty store. A stall is the time `process_item` holds the event loop for one page.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.settings import Settings

from crawler import settings as demo_settings
from crawler.demo_site import DemoSite
from crawler.spiders.site import SiteSpider
from simhash_pipeline import SimhashPipeline

ROOT = Path(__file__).parent.parent
SMALL_PAGE_BYTES = 200_000


class TimedPipeline(SimhashPipeline):
    """The pipeline, with a stopwatch: (page's bytes, milliseconds) of every item."""

    def open_spider(self) -> None:
        self.stalls: list[tuple[int, float]] = []
        super().open_spider()

    def process_item(self, item: Any) -> Any:
        started = time.perf_counter()
        try:
            return super().process_item(item)
        finally:
            self.stalls.append((len(item.html), 1e3 * (time.perf_counter() - started)))

    def close_spider(self) -> None:
        super().close_spider()
        self._note("stalls", json.dumps(self.stalls))


class NoPipeline:
    """Takes the pipeline's place in the rounds without it."""

    def process_item(self, item: Any) -> Any:
        return item


def crawl(url: str, pages: int, pipeline: type) -> None:
    """One crawl in this process; its measurements on standard output as JSON."""
    settings = Settings()
    settings.setmodule(demo_settings)
    settings.setdict(
        {
            "AUTOTHROTTLE_ENABLED": False,
            "EXTENSIONS": {},
            "FEEDS": {},
            "ITEM_PIPELINES": {pipeline: 300},
            "LOG_LEVEL": "CRITICAL",
        }
    )
    process = CrawlerProcess(settings)
    crawler: Crawler = process.create_crawler(SiteSpider)
    started, cpu_started = time.perf_counter(), time.process_time()
    process.crawl(crawler, url=url, max_pages=pages)
    process.start()
    assert crawler.stats is not None
    count = crawler.stats.get_value("response_received_count")
    print(
        json.dumps(
            {
                "pages": count,
                "seconds": time.perf_counter() - started,
                "cpu_seconds": time.process_time() - cpu_started,
                "stalls": json.loads(crawler.stats.get_value("simhash/stalls", "[]")),
            }
        )
    )


def round_of(url: str, pages: int, mode: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "scrapy.cfg").touch()
        result = subprocess.run(
            [sys.executable, "-m", "benchmarks.crawl", "--one", mode, url, "--pages", str(pages)],
            cwd=directory,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
    measured: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return measured


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

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the parent's name
        """Say nothing."""


def report(rounds: dict[str, list[dict[str, Any]]]) -> None:
    speeds = {
        mode: [one["pages"] / one["seconds"] for one in measured]
        for mode, measured in rounds.items()
    }
    for mode, values in speeds.items():
        pages = rounds[mode][0]["pages"]
        print(f"{mode:8} {statistics.median(values):7.1f} pages/s   ({pages} pages a round)")
    ratios = [on / off for on, off in zip(speeds["with"], speeds["without"], strict=True)]
    told = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"with / without: {statistics.median(ratios):.2f}   ({told})")
    stalls = [tuple(stall) for one in rounds["with"] for stall in one["stalls"]]
    for name, chosen in (
        ("pages up to 200 KB", [ms for size, ms in stalls if size <= SMALL_PAGE_BYTES]),
        ("larger pages", [ms for size, ms in stalls if size > SMALL_PAGE_BYTES]),
    ):
        if chosen:
            print(
                f"{name}: {len(chosen)}, median {statistics.median(chosen):.1f} ms, "
                f"longest {max(chosen):.0f} ms"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", help="a folder of HTML pages; the demo site if none")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", choices=["with", "without"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        pipeline = TimedPipeline if arguments.one == "with" else NoPipeline
        crawl(arguments.folder, arguments.pages, pipeline)
        return
    rounds: dict[str, list[dict[str, Any]]] = {"without": [], "with": []}
    with served(Path(arguments.folder) if arguments.folder else None) as url:
        for _ in range(arguments.rounds):
            for mode, measured in rounds.items():
                measured.append(round_of(url, arguments.pages, mode))
    report(rounds)


if __name__ == "__main__":
    main()
