"""Runs a real crawl in a process of its own and tells what came of it.

A test writes the items to yield as Python source; the spider yields them in order, one at a time.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = """
import dataclasses, json, logging, sys
from pathlib import Path
import attrs, pydantic, scrapy
from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess, CrawlerProcess
from scrapy.exceptions import DropItem
from simhash_pipeline import NearDuplicate

STORY = " ".join(f"word{i}" for i in range(200))
OTHER = " ".join(f"term{i}" for i in range(200))

def html(body, title="A page"):
    return f"<html><head><title>{title}</title></head><body><p>{body}</p></body></html>"

def page(n, body=STORY, **more):
    return {"url": f"http://a.example/{n}", "html": html(body), **more}

class Unlucky:
    "A later pipeline: drops or fails the items that say so."
    def process_item(self, item):
        fate = ItemAdapter(item).get("fate")
        if fate == "drop":
            raise DropItem("not wanted")
        if fate == "fail":
            raise RuntimeError("failed")
        if fate == "replace":
            return {"url": item["url"], "html": item["html"]}
        return item

@@@

class ItemSpider(scrapy.Spider):
    name = "items"
    custom_settings = {"CONCURRENT_ITEMS": 1}
    start_urls = ["data:,"]
    def parse(self, response):
        yield from items()

told = {"began": False, "scraped": [], "dropped": [], "errors": [], "verdicts": []}
###

def opened():
    told["began"] = True

def scraped(item):
    told["scraped"].append(ItemAdapter(item).get("url"))

def dropped(item, exception):
    told["dropped"].append(ItemAdapter(item).get("url"))
    if isinstance(exception, NearDuplicate):
        told["verdicts"].append(dataclasses.asdict(exception.verdict))

def failed(item, failure):
    told["errors"].append(repr(failure.value))

settings = {
    "ITEM_PIPELINES": {"simhash_pipeline.SimhashPipeline": 300, Unlucky: 400},
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "INFO",
    **json.loads(sys.argv[1]),
}
reactorless = settings.get("TWISTED_REACTOR_ENABLED") is False
process = (AsyncCrawlerProcess if reactorless else CrawlerProcess)(settings)
crawler = process.create_crawler(ItemSpider)
crawler.signals.connect(opened, signals.spider_opened)
crawler.signals.connect(scraped, signals.item_scraped)
crawler.signals.connect(dropped, signals.item_dropped)
crawler.signals.connect(failed, signals.item_error)
process.crawl(crawler)
process.start()
stats = crawler.stats.get_stats()
told["stats"] = {name: n for name, n in stats.items() if "simhash" in name or "reason" in name}
print(json.dumps(told, default=str))
"""


@dataclass(frozen=True)
class Crawl:
    """URLs of the items that came out and of those dropped, verdicts, stats, and the log."""

    began: bool  # whether the spider was opened
    scraped: list[str]
    dropped: list[str]
    errors: list[str]
    verdicts: list[dict[str, Any]]
    stats: dict[str, Any]
    log: str
    told: dict[str, Any]  # whatever else the test's source put there


def crawl(
    directory: Path, items: str, prelude: str = "", spider: str = "", **settings: Any
) -> Crawl:
    """Crawl in `directory` with a spider that yields `items`, the source of a list of items.

    `prelude` comes before the spider's class and may replace the later pipeline `Unlucky`; `spider`
    comes behind it.
    """
    source = f"{prelude}\ndef items():\n    yield from [{items}]\n"
    script = SCRIPT.replace("@@@", source).replace("###", spider)
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, json.dumps(settings)],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout.splitlines()[-1])
    known = {name: told.pop(name) for name in list(told) if name in Crawl.__annotations__}
    return Crawl(**known, log=result.stderr, told=told)
