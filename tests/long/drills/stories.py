"""What all drills share: their crawls, and the stories that are in feeds afterwards.

Each drill is a module. `main` runs it: its table, or, in a process that `begin` starts, one of its
crawls.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response

from tests.long import parser_of

ROOT = Path(__file__).parents[3]
SEED = 9
CRAWL = "crawl"  # the first argument of a process that crawls
MEANINGS = {"times": "crawls of each kind", "stories": "of a crawl"}
PACE_SECS = 0.002  # between two items
_WORDS = [
    f"{start}{middle}{end}" for start in "bdfgklmnprst" for middle in "aeiou" for end in "lnrst"
]
_STORY_WORDS = 150


def page(number: int) -> str:
    """A story that no other story is near."""
    text = " ".join(random.Random(number).choices(_WORDS, k=_STORY_WORDS))
    return f"<html><title>Story {number}</title><body><p>{text}.</p></body></html>"


class StorySpider(Spider):
    """Yields the stories in order."""

    name = "stories"

    def __init__(self, stories: int) -> None:
        super().__init__()
        self._stories = stories

    async def start(self) -> AsyncIterator[Any]:
        for item in self.items():
            yield item

    def items(self) -> Iterator[dict[str, Any]]:
        for number in range(self._stories):
            time.sleep(PACE_SECS)
            yield {
                "number": number,
                "url": f"http://a.example/{number}",
                "html": page(number),
            }


class PageSpider(StorySpider):
    """The same from a page. Scrapy never closes while items of `start` are in the pipelines."""

    async def start(self) -> AsyncIterator[Any]:
        yield Request("data:,")

    def parse(self, response: Response) -> Iterator[dict[str, Any]]:
        return self.items()


def main(
    about: str | None, table: Callable[..., str], crawl: Callable[..., None], **numbers: int
) -> None:
    """A drill's command line: its numbers, each with its default."""
    if sys.argv[1:2] == [CRAWL]:
        crawl(*sys.argv[2:])
        return
    parser = parser_of(about)
    for name, default in numbers.items():
        meaning = f"{MEANINGS[name]} ({default})"
        parser.add_argument(f"--{name}", type=int, default=default, help=meaning)
    print(table(**vars(parser.parse_args())))


def begin(module: str, *arguments: object, **environment: str) -> subprocess.Popen[bytes]:
    """A process with a crawl of a drill's module, by the arguments of its function `crawl`."""
    command = [sys.executable, "-m", f"tests.long.drills.{module}", CRAWL, *map(str, arguments)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT), **environment})


def run(
    spider: type[Spider],
    arguments: dict[str, Any],
    folder: Path,
    feeds: dict[str, Any],
    name: str = "crawl",
    **settings: Any,
) -> None:
    """One crawl in this process, until it ends or is killed. Its files lie in the folder."""
    always = {
        "ADDONS": {"simhash_pipeline.Addon": 500},
        "FEEDS": feeds,
        "LOG_FILE": str(folder / f"{name}.log"),
        "LOG_LEVEL": "INFO",
        "SIMHASH_DROP_LOG": str(folder / f"{name}-drops.jsonl"),
        "TELNETCONSOLE_ENABLED": False,
    }
    process = AsyncCrawlerProcess(always | settings)
    process.crawl(spider, **arguments)
    process.start()


def wait_for_crawl(crawl: subprocess.Popen[bytes], log: Path) -> None:
    """Until its spider is opened, or it has ended."""
    while crawl.poll() is None and not (log.exists() and "Spider opened" in log.read_text()):
        time.sleep(0.01)


def stories_of_lines(path: Path) -> Iterator[int]:
    """Of whole lines: a kill may cut the last one."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)["number"]


def stories_in(folder: Path) -> set[int]:
    """Those in the crawls' feeds of JSON Lines."""
    return {number for feed in folder.glob("items-*") for number in stories_of_lines(feed)}
