"""What the index and the store cost, beside other programs on the same values.

    python -m benchmarks.index [--n 100000 1000000] [--write benchmarks]

Every contender runs in a process of its own, on one thread, with the same seeded 64-bit values, and
is asked one value at a time for those within 3 bits. Half of the asked values lie 0 to 5 bits from
a stored one. Every answer is compared with NumPy brute force, and the table says how many differ.
Peers come with the dependency group `bench`; a peer that isn't installed is listed as missing.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib
import importlib.metadata
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.index_peers import ASK, DISTANCE, PEERS, Ask
from simhash_pipeline import open_store
from simhash_pipeline.kept_sample import pack
from simhash_pipeline.own_text import KEPT_WINDOWS
from simhash_pipeline.page.visible import ENTRY
from simhash_pipeline.stores.contract import Action, Store, StoredPage, View

ROOT = Path(__file__).parent.parent
QUERIES = 1_000
SETTLED = 10_000
PAGES_A_SITE = 2_000
DEFAULT_N = [100_000, 1_000_000]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a contender costs at n values; None where it doesn't apply."""

    name: str
    n: int
    insert_us: float  # CPU time a value
    found: tuple[float, float]  # median and mean of the queries that find something, us
    not_found: tuple[float, float]
    memory_bytes: float  # a value
    wrong: int | None = None  # of QUERIES answers
    settle_us: float | None = None  # CPU time: look-up of URL and content, then storing
    disk_bytes: float | None = None  # a page beyond its URL
    open_secs: float | None = None  # CPU time


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--n", type=int, nargs="+", default=DEFAULT_N, help="stored values")
    parser.add_argument("--write", type=Path, help="folder for index.md, the table, and index.svg")
    parser.add_argument("--only", nargs="+", help="names of the contenders to run")
    parser.add_argument("--measure", help=argparse.SUPPRESS)  # one contender, in its own process
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(asdict(measured(options.measure, options.n[0]))))
        return
    names = options.only or [*OURS, *ASK]
    costs = [cost for n in options.n for name in names if (cost := in_own_process(name, n))]
    print(table(costs, names))
    if options.write:
        plot(costs, options.write / "index.svg")
        page = (
            f"# Index and store\n\n{table(costs, names)}\n\n"
            "![Cost by the number of values](index.svg)\n"
        )
        (options.write / "index.md").write_text(page, encoding="utf-8")


def in_own_process(name: str, n: int) -> Cost | None:
    """None when the contender isn't installed or isn't run with `n` values."""
    if name in PEERS and (n > PEERS[name].most_values or not PEERS[name].version()):
        return None
    print(f"{name}, {n:,} values", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "benchmarks.index", "--measure", name, "--n", str(n)]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **threads}, stdout=subprocess.PIPE, check=True
    )
    return Cost(**json.loads(done.stdout))


def measured(name: str, n: int) -> Cost:
    values = np.random.default_rng(n).integers(0, 2**64, n, dtype=np.uint64)
    if name in OURS:
        return OURS[name](name, values)
    return _of_index(name, values, ASK[name])


def _of_index(name: str, values: Any, make: Callable[[Any], Ask]) -> Cost:
    """The cost of something that is given all values and asked for neighbours."""
    make(values[:100])(int(values[0]))  # imports, buffers and caches are no cost of a value
    before, started = _memory(), time.process_time()
    ask = make(values)
    insert_us = 1e6 * (time.process_time() - started) / len(values)
    memory_bytes = (_memory() - before) / len(values)
    secs, answers = [], []
    for value in _asked(values):
        begun = time.perf_counter()
        answer = ask(value)
        secs.append(time.perf_counter() - begun)
        answers.append(answer)
    found, not_found = _by_answer(secs, answers)
    wrong = _wrong(values, answers)
    return Cost(name, len(values), insert_us, found, not_found, memory_bytes, wrong)


def _of_store(name: str, values: Any) -> Cost:
    """The cost of a store in an SQLite file, with its index in memory or on disk."""
    index = "?index=disk" if "disk" in name else ""
    before = _memory()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "pages.sqlite")
        with open_store(f"sqlite:///{path}{index}") as store:
            store.stamp({"bits": 64})
            started = time.process_time()
            store.insert_many(stored_pages(values))
            insert_us = 1e6 * (time.process_time() - started) / len(values)
            settle_us = _settled(store, len(values))
        beyond_url = path.stat().st_size - sum(
            len(page.url) for page in stored_pages(range(len(values) + SETTLED))
        )
        started = time.process_time()
        with open_store(f"sqlite:///{path}{index}") as store:
            store.stamp({"bits": 64})
            open_secs = time.process_time() - started
            memory_bytes = (_memory() - before) / len(values)
            secs, answers = _store_asked(store, values)
    disk_bytes = beyond_url / (len(values) + SETTLED)
    asked = (*_by_answer(secs, answers), memory_bytes, _wrong(values, answers))
    return Cost(name, len(values), insert_us, *asked, settle_us, disk_bytes, open_secs)


OURS: dict[str, Callable[[str, Any], Cost]] = {
    "SQLite store, index in memory": _of_store,
    "SQLite store, index on disk": _of_store,
}


def _settled(store: Store, stored: int) -> float:
    def decide(view: View) -> tuple[Action, None]:
        known = view.same_key() is not None or any(True for _ in view.near_content(DISTANCE))
        return (Action.SKIP if known else Action.KEEP), None

    rng = np.random.default_rng(stored + 1)
    new = rng.integers(0, 2**64, SETTLED, dtype=np.uint64).tolist()
    pages = list(stored_pages(new, first=stored))
    started = time.process_time()
    for page in pages:
        store.settle(page, decide)
    return 1e6 * (time.process_time() - started) / SETTLED


def _store_asked(store: Store, values: Any) -> tuple[list[float], list[list[int]]]:
    """Seconds of looking each value's neighbours up within `settle`, and the answers.

    Pages that this measurement settled are left out, by their numbers.
    """
    secs: list[float] = []

    def look(view: View) -> tuple[Action, list[int]]:
        begun = time.perf_counter()
        found = list(view.near_content(DISTANCE))
        secs.append(time.perf_counter() - begun)
        return Action.SKIP, [
            page.content or 0 for page, _ in found if int(page.url.rpartition("-")[2]) < len(values)
        ]

    pages = [next(stored_pages([value], first=-1)) for value in _asked(values)]
    answers = [store.settle(page, look) for page in pages]
    return secs, answers


def _by_answer(
    secs: list[float], answers: list[list[int]]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """(median, mean) in microseconds of the queries with an answer, and of those without."""
    asked = list(zip(secs, answers, strict=True))
    found, not_found = (
        [1e6 * one for one, answer in asked if bool(answer) is finds] for finds in (True, False)
    )
    return _middles(found), _middles(not_found)


def _middles(numbers: list[float]) -> tuple[float, float]:
    return statistics.median(numbers), statistics.mean(numbers)


def _wrong(values: Any, answers: list[list[int]]) -> int:
    """How many answers are not those of brute force; asked for apart, to leave caches alone."""
    asked = zip(_asked(values), answers, strict=True)
    return sum(sorted(answer) != _brute_force(values, value) for value, answer in asked)


def stored_pages(values: Any, first: int = 0) -> Iterator[StoredPage]:
    """Pages with URLs of about 74 bytes, like those of news sites."""
    samples = _samples()
    for number, value in enumerate(values, first):
        site = f"site-{number % PAGES_A_SITE}.co.uk"
        spread = number * 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835 % (1 << 100)
        url = f"https://www.{site}/news/{2000 + number % 30}/{number % 12}/{spread:025x}-{number}"
        seen = 1_700_000_000 + number // 100
        structure, sketch = spread & (1 << 64) - 1, spread << 28
        # Own texts are only stored: pages of random values have no neighbours to be compared with.
        sample = samples[number % len(samples)]
        fingerprints = (int(value), structure, sketch)
        page = StoredPage(url, "", site, *fingerprints, None, seen, seen, structure, sample)
        address = (spread & (1 << 64) - 1).to_bytes(8, "little")
        title = f"A title of some fifty characters, number {number:09}"
        yield replace(page, title=title, title_marks=1023, address=address)


@cache
def _samples() -> list[bytes]:
    """Of pages of 5,000 windows and 25 blocks of own text, as real ones have."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(64):
        entries = np.empty(KEPT_WINDOWS, ENTRY)
        entries["window"] = np.sort(rng.choice(2**32 // 5_000 * KEPT_WINDOWS, KEPT_WINDOWS, False))
        entries["block"] = rng.choice(rng.integers(0, 2**16, 25), KEPT_WINDOWS)
        found.append(pack(int(entries["window"][-1]), entries))
    return found


def _asked(values: Any) -> list[int]:
    rng = np.random.default_rng(1)
    asked: list[int] = rng.integers(0, 2**64, QUERIES, dtype=np.uint64).tolist()
    for place in range(0, QUERIES, 2):
        asked[place] = int(values[rng.integers(len(values))])
        for bit in rng.choice(64, rng.integers(6), replace=False):
            asked[place] ^= 1 << int(bit)
    return asked


def _brute_force(values: Any, asked: int) -> list[int]:
    near: list[int] = values[np.bitwise_count(values ^ np.uint64(asked)) <= DISTANCE].tolist()
    return sorted(near)


def _memory() -> int:
    """Resident bytes of this process, without what was given back; Linux with glibc only."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def table(costs: list[Cost], names: list[str]) -> str:
    """A Markdown table with what it was measured with."""
    titles = (
        "| | values | query that finds, us (p50 / mean) | that finds nothing | insert, us "
        "| memory, B a value | wrong answers | settle, us | disk, B a page + URL | open, s |"
    )
    lines = [
        titles,
        "|---|---|---|---|---|---|---|---|---|---|",
        *(_row(cost) for cost in costs),
        "",
        f"`python -m benchmarks.index {shlex.join(sys.argv[1:])}`",
        f"Python {platform.python_version()}, NumPy {np.__version__}, "
        + ", ".join(f"{peer} {PEERS[peer].version() or 'missing'}" for peer in PEERS)
        + f"; {platform.machine()}, {os.cpu_count()} cores, one used. {QUERIES:,} queries.",
    ]
    limits = [f"{name} up to {PEERS[name].most_values:,} values" for name in names if name in PEERS]
    bounds = f"Peers run within bounds of time: {', '.join(limits)}."
    return "\n".join([*lines, f"{bounds} MinHashLSH is approximate by design."])


def _row(cost: Cost) -> str:
    queries = [" / ".join(map(_cell, pair)) for pair in (cost.found, cost.not_found)]
    numbers = [cost.insert_us, cost.memory_bytes, cost.wrong, cost.settle_us]
    cells = [_cell(number) for number in [*numbers, cost.disk_bytes, cost.open_secs]]
    cells = [*queries, *cells]
    return f"| {cost.name} | {cost.n:,} | {' | '.join(cells)} |"


def _cell(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:,}" if isinstance(number, int) else f"{number:,.1f}"


def plot(costs: list[Cost], path: Path) -> None:
    """Query and memory against the number of values, both axes in powers of ten."""
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.5))
    for name in dict.fromkeys(cost.name for cost in costs):
        of_name = [cost for cost in costs if cost.name == name]
        sizes = [cost.n for cost in of_name]
        left.loglog(sizes, [cost.not_found[0] for cost in of_name], "o-", label=name)
        right.loglog(sizes, [max(1.0, cost.memory_bytes) for cost in of_name], "o-")
    left.set(xlabel="stored values", ylabel="query within 3 bits that finds nothing, us (median)")
    right.set(xlabel="stored values", ylabel="memory, bytes a value")
    left.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    main()
