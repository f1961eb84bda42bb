"""The stories of all drills: items that bring their page, and what of them is in feeds."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response

ROOT = Path(__file__).parents[3]
SEED = 9
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


def settings(
    folder: Path, store: str, feeds: dict[str, Any], name: str = "crawl"
) -> dict[str, Any]:
    """Those of every drill's crawl, whose files lie in the folder."""
    return {
        "ADDONS": {"simhash_pipeline.Addon": 500},
        "FEEDS": feeds,
        "LOG_FILE": str(folder / f"{name}.log"),
        "LOG_LEVEL": "INFO",
        "SIMHASH_DROP_LOG": str(folder / f"{name}-drops.jsonl"),
        "SIMHASH_STORE": store,
        "TELNETCONSOLE_ENABLED": False,
    }


def begin(module: str, *arguments: object, **environment: str) -> subprocess.Popen[bytes]:
    """A drill's module in a process of its own, which crawls."""
    command = [sys.executable, "-m", f"tests.long.drills.{module}", *map(str, arguments)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT), **environment})


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
