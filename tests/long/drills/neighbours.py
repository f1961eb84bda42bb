"""A neighbour's death: how many stories are lost when one of two crawls on a store is killed?

    python -m tests.long.drills.neighbours [--times 15] [--stories 150]

Two crawls take the same stories from two hosts at once, each in an order of its own, and share a
store. A later pipeline holds every item for a second, so that at any moment each crawl has stories
pending that the other meets. One crawl is killed at a random moment; the other runs to its end. A
story is lost when neither has written it to its feed, and twice where both have: what noise it
costs. The store is an SQLite file, or on a Redis server.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scrapy import Spider

from benchmarks.table import markdown
from tests.long.drills.stories import (
    SEED,
    begin,
    main,
    page,
    run,
    stories_of_lines,
    wait_for_crawl,
)
from tests.stores.servers import RunningServer, binary

PACE_SECS = 0.02  # between two items
HELD_SECS = 1.0
HOSTS = "ab"


class HoldItem:
    """A later pipeline that takes its time."""

    async def process_item(self, item: Any) -> Any:
        await asyncio.sleep(HELD_SECS)
        return item


class HostSpider(Spider):
    """Yields the stories in an order of its host's."""

    name = "stories"

    def __init__(self, host: str, stories: int) -> None:
        super().__init__()
        self._host = host
        self._numbers = random.Random(host).sample(range(stories), stories)

    async def start(self) -> AsyncIterator[Any]:
        for number in self._numbers:
            await asyncio.sleep(PACE_SECS)
            url = f"http://{self._host}.example/{number}"
            yield {"number": number, "url": url, "html": page(number)}


def crawl(folder: str, store: str, host: str, stories: str) -> None:
    run(
        HostSpider,
        {"host": host, "stories": int(stories)},
        Path(folder),
        {f"{folder}/{host}.jsonl": {"format": "jsonlines"}},
        host,
        ITEM_PIPELINES={HoldItem: 900},
        SIMHASH_STORE=store,
    )


def killed_once(store: str, folder: Path, stories: int, chance: random.Random) -> tuple[int, int]:
    """(stories lost, stories written twice) when one of the two is killed."""
    crawls = {host: begin("neighbours", folder, store, host, stories) for host in HOSTS}
    for host, each in crawls.items():
        wait_for_crawl(each, folder / f"{host}.log")
    time.sleep(chance.uniform(0, stories * PACE_SECS + HELD_SECS))
    crawls[chance.choice(HOSTS)].kill()
    for each in crawls.values():
        each.wait()
    feeds = [folder / f"{host}.jsonl" for host in HOSTS]
    found = [set(stories_of_lines(feed)) if feed.exists() else set() for feed in feeds]
    return stories - len(found[0] | found[1]), len(found[0] & found[1])


@contextmanager
def store_url(kind: str, folder: Path) -> Iterator[str]:
    """An empty store."""
    executable = binary(kind) if kind != "SQLite" else None
    if executable is None:
        yield f"sqlite:///{folder / 'seen.sqlite'}"
        return
    with RunningServer(executable, folder, "--appendonly", "yes") as server:
        yield server.url


def table(times: int, stories: int) -> str:
    """A row for each kind of store."""
    rows = []
    for kind in ("SQLite", "redis"):
        chance, lost, twice = random.Random(SEED), [], []
        for _ in range(times):
            with tempfile.TemporaryDirectory() as name, store_url(kind, Path(name)) as store:
                found = killed_once(store, Path(name), stories, chance)
            lost.append(found[0])
            twice.append(found[1])
        rows.append([kind, *map(str, (times, sum(lost), max(lost), sum(twice)))])
    header = "store, kills>, stories lost>, most at once>, stories written twice>"
    return markdown(header, rows)


if __name__ == "__main__":
    main(__doc__, table, crawl, times=15, stories=150)
