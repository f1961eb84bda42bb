"""What cleaning an archive costs: judging made rows, and a feed of pages from start to end.

    python -m benchmarks.archive [--n 200000 1000000]
    python -m benchmarks.archive --pages items.jsonl

Seeded 64-bit values as contents, a tenth of them 1 to 3 bits from another, which must be dropped,
and a thousand sites. Each way of judging has a process of its own: CPU and wall time a page, and
how much the peak of memory grew. "In order" follows the readers, "sorted" is another --keep, and
"by site" shares the sites out among all cores; its CPU is that of all processes together.
With --pages: how fast pages are fingerprinted on one core, judged, and cleaned by `dedup` on all.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from simhash_pipeline import Fingerprinter, Options
from simhash_pipeline.archive.dedup import DedupJob, dedup
from simhash_pipeline.archive.inputs import open_input
from simhash_pipeline.archive.parts import SCHEMA, ReadSummary, workers, write_parts
from simhash_pipeline.archive.records import Page
from simhash_pipeline.archive.verdicts import judge_parts, judge_sorted

DISTANCE = 3
SITES = 1_000
ROWS_A_PART = 500
BY_SITE = Options(scope="site")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--n", type=int, nargs="+", default=[200_000])
    parser.add_argument("--pages", type=Path, help="a feed of pages")
    parser.add_argument("--alone", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.pages is not None:
        measure_pages(given.pages)
    elif given.alone:
        name, n = given.alone
        measure(CONTENDERS[name], int(n))
    else:
        for n in given.n:
            for name in CONTENDERS:
                run = [sys.executable, "-m", "benchmarks.archive", "--alone", name, str(n)]
                done = subprocess.run(run, stdout=subprocess.PIPE, text=True, check=False)
                print(f"{n:>12,} rows  {name:<10}{done.stdout.strip() or 'failed'}", flush=True)


def measure(judge: Callable[[Path], None], n: int) -> None:
    """One contender's line."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_rows(folder, values(n))
        before, started, cpu = peak_mb(), time.perf_counter(), cpu_secs()
        judge(folder)
        wall, cpu = time.perf_counter() - started, cpu_secs() - cpu
        verdicts = pq.read_table([*folder.glob("verdicts-*")], columns=["kept"])
        dropped = verdicts["kept"].to_pylist().count(False)
    print(
        f"{cpu / n * 1e6:6.1f} us CPU  {wall / n * 1e6:6.1f} us wall  "
        f"{peak_mb() - before:6,.0f} MB  {dropped:>10,} dropped"
    )


def in_order(folder: Path) -> None:
    judge_parts(sorted(folder.glob("part-*")), folder, Options())


def by_length(folder: Path) -> None:
    with workers(folder) as pool:
        judge_sorted(pool, folder, Options(), "shortest-url")


def by_site(folder: Path) -> None:
    with workers(folder) as pool:
        judge_sorted(pool, folder, BY_SITE, "first")


CONTENDERS: dict[str, Callable[[Path], None]] = {
    "in order": in_order,
    "sorted": by_length,
    "by site": by_site,
}


def cpu_secs() -> float:
    """Of this process and those of its workers that have ended."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


def peak_mb() -> float:
    """Of this process, or of the largest of its workers."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(who).ru_maxrss for who in whose) / 1024


def values(n: int) -> NDArray[np.uint64]:
    """Values of which a tenth lie 1 to 3 bits from another."""
    dice = np.random.default_rng(1)
    found = dice.integers(0, 2**64, n, dtype=np.uint64)
    near = n // 10
    found[:near] = found[near : 2 * near]
    for _ in range(DISTANCE):
        found[:near] ^= np.uint64(1) << dice.integers(0, 64, near, dtype=np.uint64)
    return np.unique(found)


def write_rows(folder: Path, contents: NDArray[np.uint64]) -> None:
    """The parts that pages of these contents would leave; near ones are mostly of other sites."""
    for start in range(0, len(contents), ROWS_A_PART):
        some = contents[start : start + ROWS_A_PART]
        positions = np.arange(start, start + len(some))
        sites = [f"{position % SITES}.example" for position in positions]
        keys = [f"http://{site}/{at}" for site, at in zip(sites, positions, strict=True)]
        columns = {
            "position": positions,
            "input": np.zeros(len(some), np.int32),
            "number": positions + 1,
            "url": keys,
            "key": keys,
            "namespace": [""] * len(some),
            "site": sites,
            "content": [f"{value:016x}" for value in some],
            "title_marks": np.ones(len(some), np.int64),
        }
        arrays = [
            pa.array(columns[field.name], field.type)
            if field.name in columns
            else pa.nulls(len(some), field.type)
            for field in SCHEMA
        ]
        table = pa.Table.from_arrays(arrays, schema=SCHEMA)
        pq.write_table(table, folder / f"part-{start:09}.parquet", compression="zstd")


def measure_pages(feed: Path) -> None:
    """Pages a second on one core, microseconds to judge one, then `dedup` as a whole."""
    archive = open_input(str(feed), Options())
    pages = [record for record, _ in archive.read() if isinstance(record, Page)]
    fingerprinter = Fingerprinter()
    fingerprinter.fingerprint("<p>中文</p>")  # loads the dictionaries
    started = time.perf_counter()
    for page in pages:
        fingerprinter.read(page.source)
    alone = len(pages) / (time.perf_counter() - started)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with workers(folder) as pool:
            parts = [*write_parts(pool, {"": archive}, folder, Options(), ReadSummary())]
        cpu = time.process_time()
        judge_parts(parts, folder, Options())
        judging = (time.process_time() - cpu) / len(pages) * 1e6
        started = time.perf_counter()
        dedup(DedupJob(inputs=[str(feed)], to=folder / "out" / "kept.parquet", options=Options()))
        whole = len(pages) / (time.perf_counter() - started)
    print(f"{len(pages):,} pages: {alone:.0f} a second on one core, not reading them;")
    print(f"{judging:.0f} us of CPU to judge one;")
    print(f"{whole:.0f} a second by dedup from start to end on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
