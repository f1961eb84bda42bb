"""A crawl of hours: is memory flat, and is every verdict the right one? Also under kill -9.

    python -m tests.long.soak [--folder output/soak] [--pages 300000] [--hours 2]
        [--kill-every SECS]
    python -m tests.long.soak --check-only     what a crawl has left there

Crawls generated pages (`soak_pages.py`) from loopback with the add-on, paced so that the crawl
takes so many hours (0: as fast as it goes), and leaves in the folder what was judged, in which
order, and the crawl's memory over time. Then all is judged again from the pages alone, in this
process and a memory store: each verdict must be the crawl's.

With --kill-every the crawl is killed after about so many seconds and begun anew with the pages
that nothing was heard of, until all are done. What must be right then is the union of the kept:
each other page is near one of them, and they are near each other only where a kill came between
the item that was written and the store's learning of it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import csv
import json
import multiprocessing
import os
import random
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.http import Response
from tqdm import tqdm

from simhash_pipeline import Fingerprinter, Judge, PageFingerprint, Verdict, open_store, page_judged
from tests.long import parser_of
from tests.long.soak_pages import is_copy, page, serve

ROOT = Path(__file__).parents[2]
IN_FLIGHT = 16  # pages asked for or on their way
SAMPLE_SECS = 5.0
WARM_UP = 0.2  # of the samples


class Records:
    """The files of a soak, a line a page, each written at once: a kill loses none."""

    def __init__(self, folder: Path) -> None:
        self.order = folder / "order.txt"  # numbers as the pages came in
        self.verdicts = folder / "verdicts.jsonl"
        self.kept = folder / "kept.txt"  # numbers of the items that came out
        self.memory = folder / "memory.csv"
        self.log = folder / "crawl.log"
        self.store = f"sqlite:///{folder / 'seen.sqlite'}"

    def told(self) -> set[int]:
        """The pages whose item came out, or that were dropped."""
        dropped = {each["number"] for each in self.read_verdicts() if each["dropped"]}
        return dropped | set(self.read_numbers(self.kept))

    def read_verdicts(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in _lines(self.verdicts)]

    def read_numbers(self, path: Path) -> list[int]:
        return [int(line) for line in _lines(path)]


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def append(path: Path, line: str) -> None:
    """One write, which a kill doesn't cut in two."""
    with path.open("a", buffering=1) as file:
        file.write(f"{line}\n")


class SoakSpider(Spider):
    """Asks for the pages in the order of their numbers, at an even pace; an item a page.

    Each page that came makes place for another: where the crawl can't keep pace, none pile up.
    """

    name = "soak"

    def __init__(self, url: str, pages: int, secs: float, records: Records) -> None:
        super().__init__()
        self.url = url
        self._order = records.order
        done = records.told()
        self._todo = (number for number in range(pages) if number not in done)
        self._secs_a_page = secs / pages
        self._next_at = time.monotonic()

    async def start(self) -> AsyncIterator[Any]:
        for _ in range(IN_FLIGHT):
            if (request := await self._next()) is not None:
                yield request

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        number = _number(response.url)
        append(self._order, str(number))
        yield {"number": number}
        if (request := await self._next()) is not None:
            yield request

    async def _next(self) -> Request | None:
        number = next(self._todo, None)
        if number is None:
            return None
        now = time.monotonic()
        self._next_at = max(self._next_at + self._secs_a_page, now)
        await asyncio.sleep(self._next_at - now)
        return Request(f"{self.url}/page/{number}", dont_filter=True)


class KeptWriter:
    """The last pipeline: what comes here is out."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> KeptWriter:
        return cls(Records(Path(crawler.settings["SOAK_FOLDER"])).kept)

    def process_item(self, item: dict[str, int]) -> dict[str, int]:
        append(self._path, str(item["number"]))
        return item


def crawl(url: str, pages: int, secs: float, folder: Path) -> None:
    """One crawl in this process, until all pages are done or it is killed."""
    records = Records(folder)
    process = CrawlerProcess(
        {
            "ADDONS": {"simhash_pipeline.Addon": 500},
            "ITEM_PIPELINES": {KeptWriter: 900},
            "LOG_FILE": str(records.log),
            "LOG_LEVEL": "WARNING",
            "SIMHASH_DROP_LOG": str(folder / "drops.jsonl"),
            "SIMHASH_HTML_FIELD": None,
            "SIMHASH_ITEM_FIELDS": None,  # its number is no news
            "SIMHASH_STORE": records.store,
            "SOAK_FOLDER": str(folder),
            "TELNETCONSOLE_ENABLED": False,
        }
    )

    def judged(verdict: Verdict, **_: Any) -> None:
        told = {"dropped": verdict.dropped, "reason": verdict.reason, "twin": verdict.twin_url}
        append(records.verdicts, json.dumps({"number": _number(verdict.url), **told}))

    crawler = process.create_crawler(SoakSpider)
    crawler.signals.connect(judged, page_judged, weak=False)
    process.crawl(crawler, url=url, pages=pages, secs=secs, records=records)
    process.start()
    if crawler.stats is None or crawler.stats.get_value("finish_reason") != "finished":
        sys.exit("the crawl did not come to its end")


def soak(folder: Path, pages: int, hours: float, kill_every: float) -> int:
    """Crawl until all pages are done; how often it was killed."""
    records, kills, secs = Records(folder), 0, hours * 3600
    port = _free_port()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(port,), daemon=True)
    server.start()
    command = [sys.executable, "-m", "tests.long.soak", "--crawl", f"http://127.0.0.1:{port}"]
    command += ["--folder", str(folder), "--pages", str(pages), "--hours", str(hours)]
    chance = random.Random(pages)
    started = time.monotonic()
    with tqdm(total=pages, unit=" pages", initial=len(records.told())) as bar:
        while True:
            process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)})
            lives = kill_every * chance.uniform(0.5, 1.5) if kill_every else float("inf")
            begun = time.monotonic()
            while process.poll() is None and time.monotonic() - begun < lives:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(min(SAMPLE_SECS, lives))
                bar.update(len(_lines(records.verdicts)) - bar.n)
                now = time.monotonic() - started
                memory = _memory_mb(process.pid)
                append(records.memory, f"{now:.0f},{process.pid},{bar.n},{memory:.1f}")
            if process.poll() is None:
                process.kill()
                process.wait()
                kills += 1
                continue
            if process.returncode:
                sys.exit(f"a crawl ended with {process.returncode}; see {records.log}")
            break
    server.kill()
    server.join()
    spent = (time.monotonic() - started) / 3600
    print(f"{pages:,} pages, {spent:.2f} hours ({secs / 3600:g} asked for), {kills} kills")
    return kills


def _memory_mb(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # it has ended
        return 0
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if "VmRSS" in line), 0)


def check(folder: Path, pages: int, *, killed: bool) -> bool:
    """Whether what the crawl left is right; tells what isn't."""
    records = Records(folder)
    faults = _lines(records.log)
    verdicts, kept = records.read_verdicts(), records.read_numbers(records.kept)
    missing = pages - len(records.told())
    copies = sum(map(is_copy, range(pages)))
    print(f"{len(set(kept)):,} kept, {missing} lost; {copies:,} were copies")
    print(f"{len(faults)} lines of warnings or errors" + "".join(f"\n  {f}" for f in faults[:5]))
    fingerprints = _fingerprints(pages)
    if killed:
        right = _union_is_right(fingerprints, set(kept))
    else:
        right = _verdicts_are_the_same(fingerprints, records, verdicts)
    return right and not missing and not faults


def _fingerprints(pages: int) -> list[PageFingerprint]:
    with multiprocessing.Pool() as pool:
        made = pool.imap(_fingerprint, range(pages), chunksize=200)
        return list(tqdm(made, total=pages, unit=" pages", desc="judging again"))


_fingerprinter = Fingerprinter()


def _fingerprint(number: int) -> PageFingerprint:
    found = _fingerprinter.fingerprint(page(number), url=_url(number), charset="utf-8")
    return replace(found, text="", title="")  # none is thin


def _verdicts_are_the_same(
    fingerprints: list[PageFingerprint], records: Records, verdicts: list[dict[str, Any]]
) -> bool:
    """Pages are judged in the order in which the spider yields them, whatever is in flight."""
    told = {each["number"]: (each["dropped"], each["reason"], each["twin"]) for each in verdicts}
    different = 0
    with open_store("memory:") as store:
        judge = Judge(store)
        for number in records.read_numbers(records.order):
            verdict = judge.judge(_url(number), fingerprints[number])
            twin = None if verdict.twin_url is None else _number(verdict.twin_url)
            crawled = told.pop(number, (None, None, None))
            twin_crawled = None if crawled[2] is None else _number(crawled[2])
            if (verdict.dropped, verdict.reason, twin) != (*crawled[:2], twin_crawled):
                different += 1
    print(f"{different} verdicts differ from those made again, {len(told)} have no page")
    return not different and not told


def _union_is_right(fingerprints: list[PageFingerprint], kept: set[int]) -> bool:
    with open_store("memory:") as store:
        judge = Judge(store)
        near = sum(judge.judge(_url(n), fingerprints[n]).dropped for n in sorted(kept))
        others = (n for n in range(len(fingerprints)) if n not in kept)
        unlike = sum(not judge.judge(_url(n), fingerprints[n]).dropped for n in others)
    print(f"{near} kept pages are near another, {unlike} dropped ones near none that is kept")
    return not unlike


def memory_told(path: Path) -> None:
    """Print how memory went after the warm-up."""
    with path.open() as file:
        rows = [(int(s), int(pid), int(n), float(mb)) for s, pid, n, mb in csv.reader(file)]
    longest = max({row[1] for row in rows}, key=[row[1] for row in rows].count)
    steady = [row for row in rows if row[1] == longest and row[3]]
    steady = steady[int(WARM_UP * len(steady)) :]
    if len({row[2] for row in steady}) < 2:
        print("memory: too few samples")
        return
    slope, _ = statistics.linear_regression([row[2] for row in steady], [row[3] for row in steady])
    print(
        f"memory: {steady[0][3]:.0f} MB after the warm-up, {steady[-1][3]:.0f} at the end: "
        f"{slope * 1e6:.0f} bytes a page"
    )


def _number(url: str) -> int:
    return int(url.rpartition("/")[2])


def _url(number: int) -> str:
    return f"http://127.0.0.1/page/{number}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "output" / "soak")
    parser.add_argument("--pages", type=int, default=300_000)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--kill-every", type=float, default=0.0, metavar="SECS")
    parser.add_argument("--check-only", action="store_true")
    parser.add_argument("--crawl", help=argparse.SUPPRESS)
    given = parser.parse_args()
    folder = given.folder.absolute()
    if given.crawl:
        crawl(given.crawl, given.pages, 3600 * given.hours, folder)
        return
    if not given.check_only:
        folder.mkdir(parents=True, exist_ok=True)
        soak(folder, given.pages, given.hours, given.kill_every)
    memory_told(Records(folder).memory)
    if not check(folder, given.pages, killed=given.kill_every > 0):
        sys.exit(1)


if __name__ == "__main__":
    main()
