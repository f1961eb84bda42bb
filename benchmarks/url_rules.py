"""Requests that rules learnt from drops save on a manual, and the pages that they lose.

    python -m benchmarks.url_rules FOLDER

The folder is served on loopback and crawled twice: all pages that its pages and scripts name, with
whatever query. The second crawl goes by the rules that `scrapy simhash rules` learns from the
first, through duplicate-url-discarder. A kept page is lost if the store of the second crawl would
keep it as new.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import re
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.http import HtmlResponse, Response

from benchmarks.crawl import QuietHandler
from benchmarks.table import markdown
from simhash_pipeline import open_store
from simhash_pipeline.drop_log import Drop, read_log
from simhash_pipeline.judge import Judge
from simhash_pipeline.url_rules import learn

MIN_SUPPORT = 3
_LINK = re.compile(r"[\w./-]+\.html(?:\?[\w=&;-]+)?")
SETTINGS: dict[str, Any] = {
    "ADDONS": {"simhash_pipeline.Addon": 500},
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": 0,
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "TWISTED_REACTOR_ENABLED": False,  # two crawls in one process, one after the other
}


class Manual(Spider):
    name = "manual"

    def __init__(self, urls: list[str]) -> None:
        super().__init__()
        self.urls = urls

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield Request(url)

    def parse(self, response: Response) -> Iterator[Any]:
        if isinstance(response, HtmlResponse):
            yield {"url": response.url}
            for link in response.css("a::attr(href)").getall():
                if ".html" in link:
                    yield response.follow(link)


def urls_of(folder: Path, site: str) -> list[str]:
    """All pages of the folder, and what its scripts name, with their queries."""
    pages = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.html"))]
    found = dict.fromkeys(pages)
    for script in sorted(folder.rglob("*.js")):
        found |= dict.fromkeys(_LINK.findall(script.read_text("utf-8", "replace")))
    return [f"{site}{name}" for name in found]


async def crawl(folder: Path, urls: list[str], settings: dict[str, Any]) -> tuple[int, set[str]]:
    """Requests made, and the URLs of the pages that were kept."""
    store = _store(folder)
    places = {"SIMHASH_STORE": store, "SIMHASH_DROP_LOG": str(folder / "drops.jsonl")}
    runner = AsyncCrawlerRunner({**SETTINGS, **places, **settings})
    crawler = runner.create_crawler(Manual)
    await runner.crawl(crawler, urls=urls)
    if crawler.stats is None:
        raise RuntimeError("the crawl did not start")
    with open_store(store) as opened:
        kept = {page.url for page in opened.pages()}
    return int(crawler.stats.get_value("downloader/request_count")), kept


async def measure(folder: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}/"
    with tempfile.TemporaryDirectory() as scratch:
        first, second = Path(scratch, "first"), Path(scratch, "second")
        first.mkdir()
        second.mkdir()
        urls = urls_of(folder, site)
        before, kept = await crawl(first, urls, {})
        drops = [
            (record.url, record.twin_url)
            for record in read_log(first / "drops.jsonl")
            if isinstance(record, Drop) and record.twin_url
        ]
        learnt = learn(drops, kept, MIN_SUPPORT)
        taken = [one.rule.for_discarder() for one in learnt.evidence if one.taken]
        written = [rule for rule in taken if rule is not None]
        Path(scratch, "rules.json").write_text(json.dumps(written), "utf-8")
        addons = {**SETTINGS["ADDONS"], "duplicate_url_discarder.Addon": 600}
        paths = [str(Path(scratch, "rules.json"))]
        after, again = await crawl(second, urls, {"ADDONS": addons, "DUD_LOAD_RULE_PATHS": paths})
        lost = lost_pages(first, second)
    server.shutdown()
    rows = [
        ["without rules", f"{before:,}", f"{len(kept):,}", ""],
        [f"with {len(written)} rules", f"{after:,}", f"{len(again):,}", f"{lost:,}"],
    ]
    print(markdown("crawl, requests>, pages kept>, of the first lost>", rows))
    for one in learnt.evidence:
        word = "taken" if one.taken else f"refused: {one.counter_examples:,} kept pages"
        print(f"- {one.rule.kind} {one.rule.value!r}: {one.support:,} drops, {word}")


def lost_pages(first: Path, second: Path) -> int:
    """How many pages of the first store have no near-duplicate in the second, by its judge."""
    with open_store(_store(first)) as kept, open_store(_store(second)) as again:
        judge = Judge(again)
        return sum(judge.judge_stored(page).stored for page in list(kept.pages()))


def _store(folder: Path) -> str:
    return f"sqlite:///{folder}/seen.sqlite"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    logging.disable()
    asyncio.run(measure(parser.parse_args().folder.resolve()))


if __name__ == "__main__":
    main()
