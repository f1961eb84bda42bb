"""What cleaning an archive costs: all pairs within 3 bits, families, verdicts, fingerprinting.

    python -m benchmarks.archive [--n 1000000 10000000] [--memory 2GB] [--seomoz FOLDER]
    python -m benchmarks.archive --pages items.jsonl
    python -m benchmarks.archive --spark 1000000
    python -m benchmarks.archive --paper 8e9

Seeded 64-bit values, a tenth of them 1 to 3 bits from another. Each contender has a process of its
own and must find as many pairs: DuckDB as `dedup` uses it, NumPy as `index.pairs` does, and
simhash-cpp's find_all where FOLDER holds simhash-pybind. Last come values of which a tenth are one
and the same. CPU seconds are those of the process with all its threads; the memory is its peak.
With --pages: how fast a feed of pages is fingerprinted, on one core and by `dedup` on all.
With --spark: whether Spark's verdicts are DuckDB's, row for row, and what it sent between stages.
With --paper: what a cluster has to send and to compare for so many pages, by the table design.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import mmh3
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from simhash_pipeline.archive.relation import (
    MAX_CANDIDATES,
    find_families,
    find_pairs,
    rows_to_judge,
)
from simhash_pipeline.index.pairs import pairs_within

from benchmarks.table import markdown
from simhash_pipeline import Fingerprinter, Options
from simhash_pipeline.archive.dedup import DedupJob, dedup
from simhash_pipeline.archive.inputs import open_input
from simhash_pipeline.archive.on_duckdb import DuckDb
from simhash_pipeline.archive.records import Page
from simhash_pipeline.archive.rows import SCHEMA
from simhash_pipeline.archive.verdicts import ORDERS
from simhash_pipeline.archive.verdicts import SCHEMA as VERDICTS
from simhash_pipeline.cli.command import size_bytes
from simhash_pipeline.index.tables import Design, plan

Contender: TypeAlias = Callable[
    [int, argparse.Namespace], int
]  # values, arguments -> what it finds

DISTANCE = 3
NUMPY_DESIGN = Design(64, DISTANCE, (5,))
ROWS_A_PART = 500_000
SPARK_ROW_BYTES = 16  # a position and a value, compressed: `--spark` measures it


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--n", type=int, nargs="+", default=[1_000_000])
    parser.add_argument(
        "--memory", type=size_bytes, default="1500MB", help="what DuckDB's tables may take"
    )
    parser.add_argument("--seomoz", type=Path, help="folder with simhash-pybind")
    parser.add_argument("--pages", type=Path, help="a feed of pages")
    parser.add_argument("--spark", type=int, metavar="N")
    parser.add_argument("--paper", type=float, metavar="N")
    parser.add_argument("--alone", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.pages is not None:
        measure_pages(given.pages)
    elif given.spark is not None:
        compare_engines(given.spark)
    elif given.paper is not None:
        print(on_paper(int(given.paper)))
    elif given.alone:
        name, n = given.alone
        measure(CONTENDERS[name], int(n), given)
    else:
        for n in given.n:
            for name in CONTENDERS:
                arguments = [*sys.argv[1:], "--alone", name, str(n)]
                told = subprocess.run(
                    [sys.executable, "-m", "benchmarks.archive", *arguments],
                    stdout=subprocess.PIPE,
                    text=True,
                    check=False,
                ).stdout
                print(f"{n:>12,} values  {name:<28}{told.strip() or 'failed'}", flush=True)


def measure(
    contender: Callable[[int, argparse.Namespace], int], n: int, given: argparse.Namespace
) -> None:
    """One contender's line: CPU seconds, peak memory, what it found."""
    told = contender(n, given)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{Clock.spent:8.1f} s CPU  {peak:8,.0f} MB  {told:>12,}")


class Clock:
    """CPU seconds of what is within, added up."""

    spent = 0.0

    def __enter__(self) -> None:
        self._before = time.process_time()

    def __exit__(self, *_: object) -> None:
        Clock.spent += time.process_time() - self._before


def values(n: int) -> NDArray[np.uint64]:
    """Values of which a tenth lie 1 to 3 bits from another."""
    dice = np.random.default_rng(1)
    found = dice.integers(0, 2**64, n, dtype=np.uint64)
    near = n // 10
    for _ in range(DISTANCE):
        bits = np.uint64(1) << dice.integers(0, 64, near, dtype=np.uint64)
        found[:near] = found[near : 2 * near] if _ == 0 else found[:near]
        found[:near] ^= bits
    return np.unique(found)


def pairs_by_numpy(n: int, _: argparse.Namespace) -> int:
    made = values(n)
    with Clock():
        return sum(len(pairs) for pairs in pairs_within(made, DISTANCE, NUMPY_DESIGN))


def pairs_by_duckdb(n: int, given: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder), values(n))
        with closing(DuckDb(Path(folder), given.memory)) as engine, Clock():
            find_pairs(engine, Options())
            return engine.number("SELECT count(*) FROM pair")


def pairs_by_simhash_cpp(n: int, given: argparse.Namespace) -> int:
    if given.seomoz is None:
        return 0
    sys.path.insert(0, str(given.seomoz))
    import simhash

    made = [int(value) for value in values(n)]
    with Clock():
        return len(simhash.find_all(made, 6, DISTANCE))


def judged_by_duckdb(n: int, given: argparse.Namespace) -> int:
    return judged(values(n), given)


def judged_with_a_tenth_alike(n: int, given: argparse.Namespace) -> int:
    made = values(n)
    made[::10] = made[0]
    return judged(made, given)


def judged(made: NDArray[np.uint64], given: argparse.Namespace) -> int:
    """How many pages are dropped."""
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder), made)
        with closing(DuckDb(Path(folder), given.memory)) as engine, Clock():
            find_families(engine, Options())
            engine.judge(rows_to_judge(), ORDERS["first"], Options(), "stars")
            return engine.number("SELECT count(*) FROM verdict WHERE NOT kept")


CONTENDERS: dict[str, Contender] = {
    "pairs, DuckDB": pairs_by_duckdb,
    "pairs, NumPy": pairs_by_numpy,
    "pairs, simhash-cpp": pairs_by_simhash_cpp,
    "verdicts": judged_by_duckdb,
    "verdicts, a tenth alike": judged_with_a_tenth_alike,
}


def write_rows(folder: Path, contents: NDArray[np.uint64]) -> None:
    """The parts that pages of these contents would leave."""
    for start in range(0, len(contents), ROWS_A_PART):
        some = contents[start : start + ROWS_A_PART]
        positions = np.arange(start, start + len(some))
        keys = [f"http://{position % 1000}.example/{position}" for position in positions]
        columns = {
            "position": positions,
            "input": np.zeros(len(some), np.int32),
            "number": positions + 1,
            "url": keys,
            "key": keys,
            "key_hash": [mmh3.hash64(key)[0] for key in keys],
            "namespace": [""] * len(some),
            "site": [""] * len(some),
            "content": [f"{value:016x}" for value in some],
            "content_0": some.view(np.int64),
        }
        arrays = [
            pa.array(columns[field.name], field.type)
            if field.name in columns
            else pa.nulls(len(some), field.type)
            for field in SCHEMA
        ]
        table = pa.Table.from_arrays(arrays, schema=SCHEMA)
        pq.write_table(table, folder / f"part-{start:09}.parquet", compression="zstd")


def compare_engines(n: int) -> None:
    """Both engines on the same parts; Spark on this machine."""
    from simhash_pipeline.archive.on_spark import Spark, session

    made = values(n)
    made[::1000] = made[0]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder), made)
        for engine in (DuckDb(Path(folder)), Spark(folder, "local[*]")):
            name, started = type(engine).__name__, time.perf_counter()
            to = f"{folder}/{name}.parquet"
            with closing(engine):
                find_families(engine, Options())
                engine.judge(rows_to_judge(), ORDERS["first"], Options(), "stars")
                engine.write("SELECT * FROM verdict", to)
            found.append(pq.read_table(to).cast(VERDICTS).sort_by("position"))
            print(f"{name}: {found[-1].num_rows:,} verdicts, {time.perf_counter() - started:.0f} s")
    print("the verdicts are the same" if found[0].equals(found[1]) else "the verdicts differ")
    context = session().sparkContext
    stages = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urllib.request.urlopen(stages) as answer:
        told = json.load(answer)
    for stage in told:
        size, rows = stage["shuffleWriteBytes"], stage["shuffleWriteRecords"]
        if rows > len(made) // 2:
            print(f"stage {stage['stageId']} sent {rows:,} rows of {size / rows:.1f} bytes")


def on_paper(pages: int) -> str:
    """The stages whose cost grows with the pages, for random values; what is alike adds to it."""
    design = plan(pages, DISTANCE, max_candidates=MAX_CANDIDATES).recommended
    if design is None:
        raise ValueError(f"there is no design for {pages:,} pages")
    sent = pages * SPARK_ROW_BYTES
    compared = [pages * pages / 2**bits / 2 for bits in design.key_bits]
    by_chance = pages * design.chance_neighbours(pages) / 2
    rows = [
        ["distinct values", "1", f"{sent / 1e12:.2f}", "", ""],
        [
            "pairs of values",
            f"{design.probes}",
            f"{design.probes * sent / 1e12:.2f}",
            f"{design.candidates_per_probe(pages):.1f}",
            f"{sum(compared) / 1e9:,.0f}",
        ],
        ["families", "", f"{by_chance * SPARK_ROW_BYTES / 1e12:.2f}", "", ""],
    ]
    return markdown("stage, times>, sent: TB>, candidates a key>, compared: billions>", rows)


def measure_pages(feed: Path) -> None:
    """Pages a second: one process fingerprinting what it was given, then `dedup` as a whole."""
    records = open_input(str(feed), Options()).read()
    pages = [record for record, _ in records if isinstance(record, Page)]
    fingerprinter = Fingerprinter()
    fingerprinter.fingerprint("<p>中文</p>")  # loads the dictionaries
    started = time.perf_counter()
    for page in pages:
        fingerprinter.read(page.source)
    alone = len(pages) / (time.perf_counter() - started)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        dedup(DedupJob(inputs=[str(feed)], to=Path(folder) / "out.parquet", options=Options()))
        whole = len(pages) / (time.perf_counter() - started)
    print(f"{len(pages):,} pages: {alone:.0f} a second on one core, not reading them;")
    print(f"{whole:.0f} a second by dedup from start to end on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
