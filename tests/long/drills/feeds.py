"""Kill -9: how many stories does it cost, feed by feed?

    python -m tests.long.drills.feeds [--times 13] [--stories 400]

A crawl writes its items by one of Scrapy's own feeds and is killed at a random moment. A second
crawl of the same pages, on the same store and with `SIMHASH_UNCHANGED = "drop"`, then runs to its
end. A story is lost when no feed file holds it: the first crawl had stored its page, so that the
second one dropped it, but the item never reached a file.
"""

from __future__ import annotations

import csv
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from scrapy.extensions.feedexport import BlockingFeedStorage

from benchmarks.table import markdown
from tests.long.drills.stories import (
    PACE_SECS,
    SEED,
    StorySpider,
    begin,
    main,
    run,
    stories_of_lines,
    wait_for_crawl,
)


@dataclass(frozen=True, slots=True)
class Feed:
    """One way to write items, and how its files are read back."""

    name: str
    uri: str  # below the crawl's folder, with Scrapy's placeholders
    options: dict[str, Any]
    stories: Callable[[Path], Iterator[int]]


def _stories_of_csv(path: Path) -> Iterator[int]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["html"] and row["html"].endswith("</html>"):
                yield int(row["number"])


FEEDS = [
    Feed("JSON Lines", "items-%(time)s.jsonl", {"format": "jsonlines"}, stories_of_lines),
    Feed("CSV", "items-%(time)s.csv", {"format": "csv"}, _stories_of_csv),
    Feed(
        "JSON Lines, batches of 50",
        "items-%(time)s-%(batch_id)d.jsonl",
        {"format": "jsonlines", "batch_item_count": 50},
        stories_of_lines,
    ),
    Feed(
        "a storage that stores at close",
        "late:items-%(time)s.jsonl",
        {"format": "jsonlines"},
        stories_of_lines,
    ),
    Feed(
        "the same, batches of 50",
        "late:items-%(time)s-%(batch_id)d.jsonl",
        {"format": "jsonlines", "batch_item_count": 50},
        stories_of_lines,
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


def crawl(folder: str, feed_name: str, stories: str) -> None:
    (feed,) = (feed for feed in FEEDS if feed.name == feed_name)
    scheme, colon, name = feed.uri.rpartition(":")
    run(
        StorySpider,
        {"stories": int(stories)},
        Path(folder),
        {f"{scheme}{colon}{Path(folder, name)}": feed.options},
        CONCURRENT_ITEMS=4,
        FEED_STORAGES={"late": LateStorage},
        FEED_TEMPDIR=folder,
        SIMHASH_STORE=f"sqlite:///{folder}/seen.sqlite",
        SIMHASH_UNCHANGED="drop",
    )


def killed_once(feed: Feed, stories: int, lives_secs: float) -> tuple[int, int]:
    """(stories lost, stories on file when the first crawl was killed)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = begin("feeds", folder, feed.name, stories)
        wait_for_crawl(first, folder / "crawl.log")
        time.sleep(lives_secs)
        first.kill()
        first.wait()
        at_kill = len(_on_file(folder, feed))
        begin("feeds", folder, feed.name, stories).wait()
        return stories - len(_on_file(folder, feed)), at_kill


def _on_file(folder: Path, feed: Feed) -> set[int]:
    return {number for path in folder.glob("items-*") for number in feed.stories(path)}


def table(times: int, stories: int) -> str:
    """A row for each feed."""
    chance, rows = random.Random(SEED), []
    for feed in FEEDS:
        longest = stories * PACE_SECS * 2
        found = [killed_once(feed, stories, chance.uniform(0, longest)) for _ in range(times)]
        lost = [lost for lost, _ in found]
        reached = sum(0 < at_kill < stories for _, at_kill in found)
        rows.append([feed.name, *map(str, (times, reached, sum(lost), max(lost)))])
    return markdown("feed, kills>, in mid-feed>, stories lost>, most at once>", rows)


if __name__ == "__main__":
    main(__doc__, table, crawl, times=13, stories=400)
