"""What a page takes, in instructions: no load moves them.

    python -m benchmarks.instructions FOLDER... [--pages 250]
    python -m benchmarks.instructions FOLDER_OR_ZIP... --fingerprints --bytes 8000

Of a crawl with the pipeline and without, or of the fingerprints alone.

Serves a folder of HTML pages on loopback and crawls some of them under valgrind's cachegrind; of
each the title and the h1 make an item, and the links are read. The count of a crawl of a fifth of
the pages is subtracted, so that the start is left out. Valgrind is slow: what the pipeline waits
for is stretched as much.

With --fingerprints it takes the pages nearest that size, of each language, and counts lxml's bare
parse, the way from HTML to both fingerprints, and the same by Python alone. The count of a third of
the pages is subtracted, so that what is loaded once is left out, and no page comes twice.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lxml import etree
from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.settings import Settings

from benchmarks.crawl import ROOT, served
from benchmarks.pages import html_files, real_pages
from benchmarks.table import markdown
from crawler import settings as demo_settings
from simhash_pipeline import Fingerprinter
from simhash_pipeline.crawl import worker
from tests.same import by_python

PAGES = 250
SLOWER = 40  # times, about
WAYS = ("parse", "compiled", "Python")
# Each run takes the same way: numpy's threads would spin as long as others wait.
ALIKE = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
CACHEGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")


class ListedPages(Spider):
    """Takes pages of a list, and follows no links."""

    name = "listed"

    def __init__(self, urls: list[str]) -> None:
        super().__init__()
        self.start_urls = urls
        self._links = LinkExtractor()

    def parse(self, response: Response) -> Iterator[dict[str, object]]:
        title, heading = (response.xpath(f"string(//{tag})").get() for tag in ("title", "h1"))
        if isinstance(response, TextResponse):
            self._links.extract_links(response)
        yield {"url": response.url, "title": title, "heading": heading}


def crawl(urls: list[str], *, judged: bool) -> None:
    """One crawl in this process."""
    for name in ("GATHER_SECS", "MAX_STALL_SECS", "PATIENT_AFTER_SECS", "FLUSH_SECS"):
        setattr(worker, name, SLOWER * getattr(worker, name))
    settings = Settings()
    settings.setmodule(demo_settings)
    addons = {"simhash_pipeline.Addon": 500} if judged else {}
    rest = {"AUTOTHROTTLE_ENABLED": False, "FEEDS": {}, "LOG_LEVEL": "CRITICAL"}
    settings.setdict({"ADDONS": addons, **rest, "CONCURRENT_REQUESTS_PER_DOMAIN": 8})
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(ListedPages)
    process.crawl(crawler, urls=urls)
    process.start()
    stats = crawler.stats
    if stats is None or stats.get_value("item_scraped_count", 0) < len(urls) // 2:
        raise RuntimeError("the crawl failed")


def fingerprint(paths: list[str], way: str) -> None:
    """The pages of these files, in one of WAYS."""
    if way == "parse":
        for path in paths:
            etree.fromstring(Path(path).read_bytes(), etree.HTMLParser(huge_tree=True))
        return
    with by_python() if way == "Python" else contextlib.nullcontext():
        fingerprinter = Fingerprinter()
        # Loads the dictionary and tables.
        fingerprinter.fingerprint(f"<title>Über 中文</title><p>{'Über 中文港口, 3天前杭研 ' * 100}")
        for path in paths:
            fingerprinter.fingerprint(Path(path).read_bytes())


def fingerprints(source: Path, size: int) -> str:
    rows = []
    for language, pages in real_pages(source, size).items():
        with tempfile.TemporaryDirectory() as folder:
            paths = [str(Path(folder, str(number))) for number in range(len(pages))]
            for path, page in zip(paths, pages, strict=True):
                Path(path).write_bytes(page.html)
            few = paths[: len(paths) // 3]
            cost = {way: (counted(paths, way) - counted(few, way)) / 1e6 for way in WAYS}
        new = len(paths) - len(few)
        kilobytes = sum(len(page.html) for page in pages) / len(pages) / 1e3
        told = [f"{cost['parse'] / new:.2f}"]
        told += [f"{cost[way] / new:.2f} ({cost[way] / cost['parse']:.2f})" for way in WAYS[1:]]
        rows.append([source.name, language, f"{kilobytes:.0f}", *told])
    return markdown("pages, language, KB>, bare parse>, compiled>, Python>", rows)


def counted(urls: list[str], mode: str) -> int:
    """The instructions of one mode in a process of its own; a crawl's store is empty."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "scrapy.cfg").touch()
        result = subprocess.run(
            [*CACHEGRIND, sys.executable, "-m", "benchmarks.instructions", "--one", mode],
            cwd=directory,
            env={**os.environ, **ALIKE},
            input="\n".join(urls),
            capture_output=True,
            text=True,
            check=True,
        )
    found = re.search(r"I\s+refs:\s+([\d,]+)", result.stderr)
    if found is None:
        raise RuntimeError(result.stderr)
    return int(found[1].replace(",", ""))


def measure(folder: Path, pages: int) -> str:
    paths = html_files(folder)
    random.Random(0).shuffle(paths)
    with served(folder) as site:
        urls = [f"{site}{path.relative_to(folder)}" for path in paths[:pages]]
        few = urls[: pages // 5]
        cost = {
            mode: (counted(urls, mode) - counted(few, mode)) / (len(urls) - len(few)) / 1e6
            for mode in ("with", "without")
        }
    size = sum(path.stat().st_size for path in paths[:pages]) / len(urls) / 1e3
    return (
        f"{folder.name}, {size:.0f} KB: {cost['with']:.2f} million a page with, "
        f"{cost['without']:.2f} without: {cost['with'] / cost['without']:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--fingerprints", action="store_true", help="without a crawl")
    parser.add_argument("--bytes", type=int, default=8_000, help="of a page, about")
    parser.add_argument("--one", choices=["with", "without", *WAYS], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one in WAYS:
        fingerprint(sys.stdin.read().split("\n"), arguments.one)
    elif arguments.one:
        crawl(sys.stdin.read().split("\n"), judged=arguments.one == "with")
    for folder in arguments.folders:
        if arguments.fingerprints:
            print(fingerprints(folder, arguments.bytes), flush=True)
        else:
            print(measure(folder, arguments.pages), flush=True)


if __name__ == "__main__":
    main()
