"""Faults of a Redis server under a crawl: how many stories do they cost?

    python -m tests.long.drills.servers [--times 5] [--stories 400]

A crawl stores its pages on a server that has a fault at a random moment. Some pass, and the crawl
goes on; others stop it with a sentence, and are then mended. A second crawl of the same pages, with
`SIMHASH_UNCHANGED = "drop"`, runs to its end. A story is lost when neither feed file holds it.
"""

from __future__ import annotations

import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from redis import RedisError

from benchmarks.table import markdown
from tests.long.drills.stories import (
    PACE_SECS,
    SEED,
    PageSpider,
    begin,
    main,
    run,
    stories_in,
    wait_for_crawl,
)
from tests.stores.servers import RunningServer, binary

FAULT_SECS = 1.0
STOPS = "Crawl stopped"


def killed(server: RunningServer) -> None:
    server.kill()
    time.sleep(FAULT_SECS)
    server.start()


def paused(server: RunningServer) -> None:
    server.process.send_signal(signal.SIGSTOP)
    time.sleep(FAULT_SECS)
    server.process.send_signal(signal.SIGCONT)


def disconnected(server: RunningServer) -> None:
    for _ in range(10):
        server.tell("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        time.sleep(FAULT_SECS / 10)


def without_scripts(server: RunningServer) -> None:
    server.tell("SCRIPT", "FLUSH")


def busy(server: RunningServer) -> None:
    def run() -> None:
        with suppress(RedisError), server.client() as client:
            client.execute_command("EVAL", "while true do end", 0)

    server.tell("CONFIG", "SET", "lua-time-limit", 50)
    script = threading.Thread(target=run)
    script.start()
    time.sleep(FAULT_SECS)
    server.tell("SCRIPT", "KILL")
    script.join()


def full(server: RunningServer) -> None:
    server.tell("CONFIG", "SET", "maxmemory", 1)
    time.sleep(FAULT_SECS)
    server.tell("CONFIG", "SET", "maxmemory", 0)


def emptied(server: RunningServer) -> None:
    server.tell("FLUSHALL")


FAULTS: dict[str, Callable[[RunningServer], None]] = {
    "killed, and started again": killed,
    "paused": paused,
    "disconnects everybody ten times": disconnected,
    "forgets its scripts": without_scripts,
    "runs another's script": busy,
    "has no memory left": full,
    "is emptied": emptied,
}


def crawl(folder: str, store: str, stories: str) -> None:
    run(
        PageSpider,
        {"stories": int(stories)},
        Path(folder),
        {f"{folder}/items-%(time)s.jsonl": {"format": "jsonlines"}},
        CONCURRENT_ITEMS=4,
        SIMHASH_STORE=store,
        SIMHASH_UNCHANGED="drop",
    )


def faulty_once(fault: str, stories: int, after_secs: float) -> tuple[int, bool]:
    """(stories lost, whether the crawl was stopped)."""
    executable = binary("redis")
    assert executable is not None
    options = ("--appendonly", "yes", "--appendfsync", "always")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with RunningServer(executable, folder, *options) as server:
            first = begin("servers", folder, server.url, stories)
            wait_for_crawl(first, folder / "crawl.log")
            time.sleep(after_secs)
            FAULTS[fault](server)
            first.wait()
            is_stopped = STOPS in (folder / "crawl.log").read_text(encoding="utf-8")
            begin("servers", folder, server.url, stories).wait()
            return stories - len(stories_in(folder)), is_stopped


def table(times: int, stories: int) -> str:
    """A row for each fault; none where no server is installed."""
    chance, rows = random.Random(SEED), []
    for fault in FAULTS if binary("redis") else ():
        longest = stories * PACE_SECS * 1.5
        found = [faulty_once(fault, stories, chance.uniform(0.1, longest)) for _ in range(times)]
        lost, stopped = zip(*found, strict=True)
        rows.append([fault, *map(str, (times, sum(stopped), sum(lost), max(lost)))])
    return markdown("the server, crawls>, stopped>, stories lost>, most at once>", rows)


if __name__ == "__main__":
    main(__doc__, table, crawl, times=5, stories=400)
