"""Pages that never end: what do they cost, and what is left of their processes?

    python -m tests.long.drills.readers [--times 13]

On some pages the user's extractor backtracks in an expression, or its process is stopped. The crawl
goes on, is told to end or is killed; a second crawl then runs to its end. Counted are the stories
that no feed file holds, and the processes that are left of the first.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.table import markdown
from tests.long.drills.stories import SEED, PageSpider, begin, main, run, stories_in

# An ending of a crawl whose reader is stuck, and the signal that brings it about.
ENDINGS = {"runs on": None, "SIGTERM": signal.SIGTERM, "kill -9": signal.SIGKILL}
STUCK = ("backtracks", "stops")
STORIES = 100
STUCK_EACH = 20  # of them, one is stuck
LIMIT_SECS = 1


def stuck_text(root: Any) -> str:
    """An extractor that some stories keep busy or stop for good, as the environment says."""
    text = " ".join(root.itertext())
    stuck = os.environ["DRILL_STUCK"]
    if stuck and int(text.split()[1]) % STUCK_EACH == STUCK_EACH - 1:
        with Path(os.environ["DRILL_PROCESSES"]).open("a") as file:
            file.write(f"{os.getpid()}\n")
        if stuck == "stops":
            os.kill(os.getpid(), signal.SIGSTOP)
        re.match("(a+)+$", "a" * 60 + "b")
    return text


def crawl(folder: str) -> None:
    run(
        PageSpider,
        {"stories": STORIES},
        Path(folder),
        {f"{folder}/items-%(time)s.jsonl": {"format": "jsonlines"}},
        CONCURRENT_ITEMS=4,
        SIMHASH_EXTRACTOR="tests.long.drills.readers.stuck_text",
        SIMHASH_PAGE_TIMEOUT_SECS=LIMIT_SECS,
        SIMHASH_STORE=f"sqlite:///{folder}/seen.sqlite",
        SIMHASH_UNCHANGED="drop",
    )


def stuck_once(stuck: str, ending: str, lives_secs: float) -> tuple[int, int, float]:
    """(stories lost, processes left, seconds to the end) of a crawl with pages that never end."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        processes = folder / "processes"
        environment = {"DRILL_STUCK": stuck, "DRILL_PROCESSES": str(processes)}
        first = begin("readers", folder, **environment)
        while first.poll() is None and not processes.exists():
            time.sleep(0.01)
        time.sleep(lives_secs)
        started, signal_sent = time.monotonic(), ENDINGS[ending]
        if signal_sent is not None:
            first.send_signal(signal_sent)
        first.wait()
        secs = time.monotonic() - started
        time.sleep(0.5)
        left = sum(is_there(int(line)) for line in processes.read_text().split())
        begin("readers", folder, DRILL_STUCK="").wait()
        return STORIES - len(stories_in(folder)), left, secs


def is_there(pid: int) -> bool:
    """Whether the process is there, and no zombie."""
    command = ["ps", "-o", "stat=", "-p", str(pid)]
    state = subprocess.run(command, capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] not in ("", "Z")


def table(times: int) -> str:
    """A row for each way to get stuck and each ending."""
    chance, rows = random.Random(SEED), []
    for stuck, ending in itertools.product(STUCK, ENDINGS):
        found = [stuck_once(stuck, ending, chance.uniform(0, 2 * LIMIT_SECS)) for _ in range(times)]
        lost, left, secs = zip(*found, strict=True)
        rows.append([stuck, ending, *map(str, (times, sum(lost), sum(left))), f"{max(secs):.1f}"])
    header = "the reader, the crawl, crawls>, stories lost>, processes left>, most secs to end>"
    return markdown(header, rows)


if __name__ == "__main__":
    main(__doc__, table, crawl, times=13)
