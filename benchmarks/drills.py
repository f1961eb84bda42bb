"""Kill -9 drills: how many stories does a crash cost, feed by feed?

    python -m benchmarks.drills [--kills 13] [--stories 400] [--only "JSON Lines"]

A crawl writes its items by one of Scrapy's own feeds and is killed at a random moment. A second
crawl of the same pages, on the same store and with `SIMHASH_UNCHANGED = "drop"`, then runs to its
end. A story is lost when no feed file holds it: the first crawl had stored its page, so that the
second one dropped it, but the item never reached a file. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.extensions.feedexport import BlockingFeedStorage

from benchmarks.table import markdown

ROOT = Path(__file__).parent.parent
_WORDS = [
    f"{start}{middle}{end}" for start in "bdfgklmnprst" for middle in "aeiou" for end in "lnrst"
]
_STORY_WORDS = 150
_PACE_SECS = 0.002  # between two items
_SEED = 9


@dataclass(frozen=True, slots=True)
class Feed:
    """One way to write items, and how its files are read back."""

    name: str
    uri: str  # below the crawl's folder, with Scrapy's placeholders
    options: dict[str, Any]
    stories: Callable[[Path], Iterator[int]]


def _stories_of_lines(path: Path) -> Iterator[int]:
    """Of whole lines: a kill may cut the last one."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)["number"]


def _stories_of_csv(path: Path) -> Iterator[int]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["html"] and row["html"].endswith("</html>"):
                yield int(row["number"])


FEEDS = [
    Feed("JSON Lines", "items-%(time)s.jsonl", {"format": "jsonlines"}, _stories_of_lines),
    Feed("CSV", "items-%(time)s.csv", {"format": "csv"}, _stories_of_csv),
    Feed(
        "JSON Lines, batches of 50",
        "items-%(time)s-%(batch_id)d.jsonl",
        {"format": "jsonlines", "batch_item_count": 50},
        _stories_of_lines,
    ),
    Feed(
        "a storage that stores at close",
        "late:items-%(time)s.jsonl",
        {"format": "jsonlines"},
        _stories_of_lines,
    ),
    Feed(
        "the same, batches of 50",
        "late:items-%(time)s-%(batch_id)d.jsonl",
        {"format": "jsonlines", "batch_item_count": 50},
        _stories_of_lines,
    ),
]


class LateStorage(BlockingFeedStorage):
    """Writes a feed where it belongs when it is closed, as Scrapy's storages of FTP and S3 do."""

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        self._path = Path(urlsplit(uri).path)

    def _store_in_thread(self, file: IO[bytes]) -> None:
        file.seek(0)
        with self._path.open("wb") as stored:
            shutil.copyfileobj(file, stored)
        file.close()


class StorySpider(Spider):
    """Yields the stories in order, as items that bring their page."""

    name = "stories"

    def __init__(self, stories: int) -> None:
        super().__init__()
        self._stories = stories

    async def start(self) -> AsyncIterator[Any]:
        for number in range(self._stories):
            time.sleep(_PACE_SECS)
            yield {
                "number": number,
                "url": f"http://a.example/{number}",
                "html": page(number),
            }


def page(number: int) -> str:
    """A story that no other story is near."""
    text = " ".join(random.Random(number).choices(_WORDS, k=_STORY_WORDS))
    return f"<html><title>Story {number}</title><body><p>{text}.</p></body></html>"


def crawl(folder: Path, feed: Feed, stories: int) -> None:
    """One crawl in this process, until it ends or is killed."""
    scheme, colon, name = feed.uri.rpartition(":")
    process = AsyncCrawlerProcess(
        {
            "ADDONS": {"simhash_pipeline.Addon": 500},
            "CONCURRENT_ITEMS": 4,
            "FEEDS": {f"{scheme}{colon}{folder / name}": feed.options},
            "FEED_STORAGES": {"late": LateStorage},
            "FEED_TEMPDIR": str(folder),
            "LOG_FILE": str(folder / "crawl.log"),
            "LOG_LEVEL": "INFO",
            "SIMHASH_DROP_LOG": str(folder / "drops.jsonl"),
            "SIMHASH_STORE": f"sqlite:///{folder / 'seen.sqlite'}",
            "SIMHASH_UNCHANGED": "drop",
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(StorySpider, stories=stories)
    process.start()


def killed_once(feed: Feed, stories: int, lives_secs: float) -> tuple[int, int]:
    """(stories lost, stories on file when the first crawl was killed)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [sys.executable, "-m", "benchmarks.drills", "--stories", str(stories)]
        command += ["--crawl", str(folder), "--only", feed.name]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        first = subprocess.Popen(command, env=environment)
        log = folder / "crawl.log"
        while first.poll() is None and not (log.exists() and "Spider opened" in log.read_text()):
            time.sleep(0.01)
        time.sleep(lives_secs)
        first.kill()
        first.wait()
        at_kill = len(_on_file(folder, feed))
        subprocess.run(command, env=environment, check=True)
        return stories - len(_on_file(folder, feed)), at_kill


def _on_file(folder: Path, feed: Feed) -> set[int]:
    return {number for path in folder.glob("items-*") for number in feed.stories(path)}


def drill(kills: int, stories: int, only: str | None) -> Iterator[list[str]]:
    """A row of the table for each feed."""
    chance = random.Random(_SEED)
    for feed in FEEDS:
        if only not in (None, feed.name):
            continue
        longest = stories * _PACE_SECS * 2
        found = [killed_once(feed, stories, chance.uniform(0, longest)) for _ in range(kills)]
        lost = [lost for lost, _ in found]
        reached = sum(0 < at_kill < stories for _, at_kill in found)
        yield [feed.name, *map(str, (kills, reached, sum(lost), max(lost)))]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=13, help="of each feed (13)")
    parser.add_argument("--stories", type=int, default=400, help="of a crawl (400)")
    parser.add_argument("--only", choices=[feed.name for feed in FEEDS])
    parser.add_argument("--crawl", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.crawl is not None:
        (feed,) = (feed for feed in FEEDS if feed.name == arguments.only)
        crawl(arguments.crawl, feed, arguments.stories)
        return
    rows = drill(arguments.kills, arguments.stories, arguments.only)
    print(markdown("feed, kills>, in mid-feed>, stories lost>, most at once>", list(rows)))


if __name__ == "__main__":
    main()
