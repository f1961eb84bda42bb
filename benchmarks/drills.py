"""Drills: how many stories does a crash or a page that never ends cost?

    python -m benchmarks.drills [--kills 13] [--stories 400] [--only "JSON Lines"]

A crawl writes its items by one of Scrapy's own feeds and is killed at a random moment. A second
crawl of the same pages, on the same store and with `SIMHASH_UNCHANGED = "drop"`, then runs to its
end. A story is lost when no feed file holds it: the first crawl had stored its page, so that the
second one dropped it, but the item never reached a file. Prints a Markdown table.

`--only readers` drills the processes that read pages: on some pages the user's extractor backtracks
in an expression, or its process is stopped. The crawl goes on, is told to end or is killed. Counted
are the stories that no feed file holds after a second crawl, and the processes that are left.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.extensions.feedexport import BlockingFeedStorage
from scrapy.http import Response

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


# An ending of a crawl whose reader is stuck, and the signal that brings it about.
ENDINGS = {"runs on": None, "SIGTERM": signal.SIGTERM, "kill -9": signal.SIGKILL}
STUCK = ("backtracks", "stops")
_STUCK_STORIES = 100
_STUCK_EACH = 20  # of them, one is stuck
_LIMIT_SECS = 1
_STUCK_SETTINGS = {
    "SIMHASH_EXTRACTOR": "benchmarks.drills.stuck_text",
    "SIMHASH_PAGE_TIMEOUT_SECS": _LIMIT_SECS,
}


def stuck_text(root: Any) -> str:
    """An extractor that some stories keep busy or stop for good, as the environment says."""
    text = " ".join(root.itertext())
    stuck = os.environ["DRILL_STUCK"]
    if stuck and int(text.split()[1]) % _STUCK_EACH == _STUCK_EACH - 1:
        with Path(os.environ["DRILL_PROCESSES"]).open("a") as file:
            file.write(f"{os.getpid()}\n")
        if stuck == "stops":
            os.kill(os.getpid(), signal.SIGSTOP)
        re.match("(a+)+$", "a" * 60 + "b")
    return text


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
        for item in self.items():
            yield item

    def items(self) -> Iterator[dict[str, Any]]:
        for number in range(self._stories):
            time.sleep(_PACE_SECS)
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


def page(number: int) -> str:
    """A story that no other story is near."""
    text = " ".join(random.Random(number).choices(_WORDS, k=_STORY_WORDS))
    return f"<html><title>Story {number}</title><body><p>{text}.</p></body></html>"


def crawl(folder: Path, feed: Feed, stories: int) -> None:
    """One crawl in this process, until it ends or is killed."""
    scheme, colon, name = feed.uri.rpartition(":")
    is_stuck = "DRILL_STUCK" in os.environ
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
        | (_STUCK_SETTINGS if is_stuck else {})
    )
    process.crawl(PageSpider if is_stuck else StorySpider, stories=stories)
    process.start()


def killed_once(feed: Feed, stories: int, lives_secs: float) -> tuple[int, int]:
    """(stories lost, stories on file when the first crawl was killed)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = _begun(folder, feed, stories)
        log = folder / "crawl.log"
        while first.poll() is None and not (log.exists() and "Spider opened" in log.read_text()):
            time.sleep(0.01)
        time.sleep(lives_secs)
        first.kill()
        first.wait()
        at_kill = len(_on_file(folder, feed))
        _begun(folder, feed, stories).wait()
        return stories - len(_on_file(folder, feed)), at_kill


def _begun(folder: Path, feed: Feed, stories: int, **environment: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.drills", "--stories", str(stories)]
    command += ["--crawl", str(folder), "--only", feed.name]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT), **environment})


def stuck_once(stuck: str, ending: str, lives_secs: float) -> tuple[int, int, float]:
    """(stories lost, processes left, seconds to the end) of a crawl with pages that never end."""
    with tempfile.TemporaryDirectory() as name:
        folder, feed = Path(name), FEEDS[0]
        processes = folder / "processes"
        environment = {"DRILL_STUCK": stuck, "DRILL_PROCESSES": str(processes)}
        first = _begun(folder, feed, _STUCK_STORIES, **environment)
        while first.poll() is None and not processes.exists():
            time.sleep(0.01)
        time.sleep(lives_secs)
        started, signal_sent = time.monotonic(), ENDINGS[ending]
        if signal_sent is not None:
            first.send_signal(signal_sent)
        first.wait()
        secs = time.monotonic() - started
        time.sleep(0.5)
        left = sum(_is_there(int(line)) for line in processes.read_text().split())
        _begun(folder, feed, _STUCK_STORIES, DRILL_STUCK="").wait()
        return _STUCK_STORIES - len(_on_file(folder, feed)), left, secs


def _is_there(pid: int) -> bool:
    """Whether the process is there, and no zombie."""
    command = ["ps", "-o", "stat=", "-p", str(pid)]
    state = subprocess.run(command, capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] not in ("", "Z")


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


def drill_readers(crawls: int) -> Iterator[list[str]]:
    """A row of the table for each way to get stuck and each ending."""
    chance = random.Random(_SEED)
    for stuck, ending in itertools.product(STUCK, ENDINGS):
        found = [
            stuck_once(stuck, ending, chance.uniform(0, 2 * _LIMIT_SECS)) for _ in range(crawls)
        ]
        lost, left, secs = zip(*found, strict=True)
        yield [stuck, ending, *map(str, (crawls, sum(lost), sum(left))), f"{max(secs):.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=13, help="crawls of each kind (13)")
    parser.add_argument("--stories", type=int, default=400, help="of a crawl (400)")
    parser.add_argument("--only", choices=["readers", *(feed.name for feed in FEEDS)])
    parser.add_argument("--crawl", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.crawl is not None:
        (feed,) = (feed for feed in FEEDS if feed.name == arguments.only)
        crawl(arguments.crawl, feed, arguments.stories)
        return
    kills, stories, only = arguments.kills, arguments.stories, arguments.only
    if only != "readers":
        rows = drill(kills, stories, only)
        print(markdown("feed, kills>, in mid-feed>, stories lost>, most at once>", list(rows)))
    if only in (None, "readers"):
        header = "the reader, the crawl, crawls>, stories lost>, processes left>, most secs to end>"
        print(markdown(header, list(drill_readers(kills))))


if __name__ == "__main__":
    main()
