"""What crawling less saves: requests made on a site of traps, and stories found on it.

    python -m benchmarks.traps [--pages 250]

Prints Markdown. Serves the two sites of `tests/crawl/trap_site.py` on loopback: six stories beside
a calendar that never ends, and six stories whose links carry a new session id each time. A crawl
follows every link, breadth first, until it ends by itself or has so many pages.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.http import HtmlResponse, Response

from benchmarks.table import markdown
from tests.crawl.trap_site import STORIES, trap_site

SITES = {"calendar": "a calendar", "session": "session ids"}
WAYS: dict[str, dict[str, Any]] = {
    "nothing set": {},
    "`SIMHASH_FOLLOW_TWINS = False`": {"SIMHASH_FOLLOW_TWINS": False},
    "`SIMHASH_TRAP_BUDGET = 8`": {"SIMHASH_TRAP_BUDGET": 8},
    "`SIMHASH_CLOSE_AFTER_SEEN = 50`": {"SIMHASH_CLOSE_AFTER_SEEN": 50},
}


SETTINGS = {
    "ADDONS": {"simhash_pipeline.Addon": 500},
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SIMHASH_DROP_LOG": None,
    "SIMHASH_HTML_FIELD": None,
    "SIMHASH_STORE": "memory:",
    "TELNETCONSOLE_ENABLED": False,
    "TWISTED_REACTOR_ENABLED": False,  # several crawls in one process, one after another
}


class Everything(Spider):
    """Follows every link; an item a page."""

    name = "everything"

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.url)

    def parse(self, response: Response) -> Iterator[Any]:
        if isinstance(response, HtmlResponse):
            yield {"title": response.css("title::text").get()}
            for link in response.css("a::attr(href)").getall():
                yield response.follow(link)


async def crawl(site: str, settings: dict[str, Any]) -> tuple[int, int, str]:
    """Requests made, stories found, and why the crawl ended."""
    titles = set()

    def scraped(item: dict[str, str]) -> None:
        titles.add(item["title"])

    with trap_site(site) as url:
        runner = AsyncCrawlerRunner({**SETTINGS, **settings})
        crawler = runner.create_crawler(Everything)
        crawler.signals.connect(scraped, signals.item_scraped)
        await runner.crawl(crawler, url=url)
    if crawler.stats is None:
        raise RuntimeError("the crawl did not start")
    stats = crawler.stats.get_stats()
    stories = sum(title.startswith("Story") for title in titles)
    return stats["downloader/request_count"], stories, stats["finish_reason"]


async def measure(pages: int) -> None:
    rows = []
    for site, traps in SITES.items():
        for way, settings in WAYS.items():
            until = {"CLOSESPIDER_PAGECOUNT": pages}
            made, stories, reason = await crawl(site, until | settings)
            rows.append([traps, way, str(made), f"{stories} of {STORIES}", reason])
    print(markdown("traps, setting, requests>, stories>, ended by", rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pages", type=int, default=250)
    logging.disable()
    asyncio.run(measure(parser.parse_args().pages))


if __name__ == "__main__":
    main()
