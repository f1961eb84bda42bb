"""What the index and the stores cost, beside other programs on the same values.

    python -m benchmarks.index [--n 100000 1000000] [--write benchmarks]

Every contender runs in a process of its own, on one thread, with the same seeded 64-bit values, and
is asked one value at a time for those within 3 bits. Half of the asked values lie 0 to 5 bits from
a stored one. A query is timed by CPU, on Redis by the clock, as most of it is waiting there. Every
answer is compared with NumPy brute force, and the table says how many differ. Random values cost a
store the most: none is shared, and hardly one is near another. On Redis the memory is the server's,
and what is settled is confirmed, as in a crawl.
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

from benchmarks.table import markdown
from simhash_pipeline import FingerprintIndex, open_store
from simhash_pipeline.specific_text import KEPT_WINDOWS, pack
from simhash_pipeline.stores.contract import Action, Store, StoredPage, View
from simhash_pipeline.stores.redis.redis_store import RedisStore
from simhash_pipeline.urls import address_of
from tests.stores.servers import RunningServer, binary

Ask = Callable[[int], list[int]]  # value -> the stored values within DISTANCE

ROOT = Path(__file__).parent.parent
DISTANCE = 3
WIDE_DISTANCE = 6
QUERIES = 1_000
SETTLED = 10_000
PAGES_A_SITE = 2_000
DEFAULT_N = [100_000, 1_000_000]
REDIS = "redis"  # of tests/stores/servers.py
FAISS_HASHES = 4
MINHASH_PERMUTATIONS = 128


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
    written_kb: float | None = None  # to the file and its log, for a page that is settled
    disk_bytes: float | None = None  # a page beyond its URL
    open_secs: float | None = None  # CPU time
    server_us: float | None = None  # CPU time of the server for a page that is settled
    read_bytes: float | None = None  # sent by the server for a page that is settled


@dataclass(frozen=True, slots=True)
class Peer:
    """Another program; `most_values` keeps the benchmark within minutes."""

    package: str
    most_values: int

    def version(self) -> str | None:
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None


PEERS = {
    "PyPI simhash": Peer("simhash", 1_000_000),
    "FAISS MultiHash": Peer("faiss-cpu", 100_000_000),
    "datasketch MinHashLSH": Peer("datasketch", 100_000),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--n", type=int, nargs="+", default=DEFAULT_N, help="stored values")
    parser.add_argument("--write", type=Path, help="folder for index.md")
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
        page = f"# Index and stores\n\n{table(costs, names)}\n"
        (options.write / "index.md").write_text(page, encoding="utf-8")


def in_own_process(name: str, n: int) -> Cost | None:
    """None when the contender isn't installed or isn't run with `n` values."""
    if name in PEERS and (n > PEERS[name].most_values or not PEERS[name].version()):
        return None
    if OURS.get(name) is _of_redis and binary(REDIS) is None:
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
        begun = time.process_time()
        answer = ask(value)
        secs.append(time.process_time() - begun)
        answers.append(answer)
    wrong = _wrong(values, answers, DISTANCE)
    return Cost(name, len(values), insert_us, *_by_answer(secs, answers), memory_bytes, wrong)


def _of_store(name: str, values: Any) -> Cost:
    """The cost of a store in an SQLite file."""
    before = _memory()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "pages.sqlite")
        with open_store(f"sqlite:///{path}") as store:
            store.stamp({"hash": "murmur3"})
            started = time.process_time()
            store.insert_many(_by_own_address(_pages(values)))
            insert_us = 1e6 * (time.process_time() - started) / len(values)
        # Opened once more, as each crawl does: what bulk insertion left in caches is another's.
        with open_store(f"sqlite:///{path}") as store:
            store.stamp({"hash": "murmur3"})
            written = _written()
            settle_us = _settled(store, _by_own_address(_new_pages(len(values))), DISTANCE)
        written_kb = (_written() - written) / SETTLED / 1_000
        beyond_url = path.stat().st_size - sum(
            len(page.url) for page in _pages(range(len(values) + SETTLED))
        )
        started = time.process_time()
        with open_store(f"sqlite:///{path}") as store:
            store.stamp({"hash": "murmur3"})
            open_secs = time.process_time() - started
            memory_bytes = (_memory() - before) / len(values)
            secs, _, answers = _store_asked(store, values, DISTANCE)
    disk_bytes = beyond_url / (len(values) + SETTLED)
    asked = (*_by_answer(secs, answers), memory_bytes, _wrong(values, answers, DISTANCE))
    spent = (settle_us, written_kb, disk_bytes, open_secs)
    return Cost(name, len(values), insert_us, *asked, *spent)


def _written() -> int:
    """Bytes that this process has handed to write()."""
    counts = Path("/proc/self/io").read_text(encoding="ascii")
    return int(counts.partition("wchar: ")[2].split()[0])


def _of_redis(name: str, values: Any) -> Cost:
    """The cost of a store on a Redis server of its own."""
    bits = WIDE_DISTANCE if f"{WIDE_DISTANCE} bits" in name else DISTANCE
    executable = binary(REDIS)
    assert executable is not None
    with (
        tempfile.TemporaryDirectory() as folder,
        RunningServer(executable, Path(folder), "--appendonly", "no") as server,
        RedisStore(server.url, tentative=True) as store,
    ):
        empty = server.tell("INFO")["used_memory"]
        started = time.process_time()
        store.insert_many(_by_own_address(_pages(values)))
        insert_us = 1e6 * (time.process_time() - started) / len(values)
        memory_bytes = (server.tell("INFO")["used_memory"] - empty) / len(values)
        _, secs, answers = _store_asked(store, values, bits)
        cpu, sent = _spent(server)
        settle_us = _settled(store, _by_own_address(_new_pages(len(values))), bits)
        cpu, sent = _spent(server)[0] - cpu, _spent(server)[1] - sent
    asked = (*_by_answer(secs, answers), memory_bytes, _wrong(values, answers, bits))
    costs = (insert_us, *asked, settle_us, None, None, None)
    return Cost(name, len(values), *costs, 1e6 * cpu / SETTLED, sent / SETTLED)


def _spent(server: RunningServer) -> tuple[float, int]:
    """Seconds of CPU of the server's process, and bytes that it sent."""
    told = server.tell("INFO")
    return told["used_cpu_user"] + told["used_cpu_sys"], told["total_net_output_bytes"]


OURS: dict[str, Callable[[str, Any], Cost]] = {
    "SQLite store": _of_store,
    "Redis store": _of_redis,
    f"Redis store, {WIDE_DISTANCE} bits": _of_redis,
}


def _settled(store: Store, pages: Iterator[StoredPage], bits: int) -> float:
    def decide(view: View) -> tuple[Action, None]:
        known = view.same_key() is not None or any(True for _ in view.near("content", bits))
        return (Action.SKIP if known else Action.KEEP), None

    asked = list(pages)
    started = time.process_time()
    for page in asked:
        store.settle(page, decide)
        store.confirm(page.namespace, page.url)
    return 1e6 * (time.process_time() - started) / SETTLED


def _store_asked(
    store: Store, values: Any, bits: int
) -> tuple[list[float], list[float], list[list[int]]]:
    """Seconds of CPU of each look-up within `settle`, seconds of each `settle`; the answers.

    On Redis `settle` has read what the look-up will need. Pages that this measurement settled are
    left out, by their numbers.
    """
    looked: list[float] = []
    settled: list[float] = []
    answers = []

    def look(view: View) -> tuple[Action, list[int]]:
        begun = time.process_time()
        found = list(view.near("content", bits))
        looked.append(time.process_time() - begun)
        return Action.SKIP, [
            page.content or 0 for page, _ in found if int(page.url.rpartition("-")[2]) < len(values)
        ]

    for value in _asked(values):
        page = next(_pages([value], first=-1))
        begun = time.perf_counter()
        answers.append(store.settle(page, look))
        settled.append(time.perf_counter() - begun)
    return looked, settled, answers


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


def _wrong(values: Any, answers: list[list[int]], bits: int) -> int:
    """How many answers are not those of brute force; asked for apart, to leave caches alone."""
    asked = zip(_asked(values), answers, strict=True)
    return sum(sorted(answer) != _near(values, value, bits) for value, answer in asked)


def _new_pages(stored: int) -> Iterator[StoredPage]:
    rng = np.random.default_rng(stored + 1)
    return _pages(rng.integers(0, 2**64, SETTLED, dtype=np.uint64).tolist(), first=stored)


def _by_own_address(pages: Iterator[StoredPage]) -> Iterator[StoredPage]:
    """The pages, each declared by its own URL."""
    return (replace(page, address=address_of(page.url, None)) for page in pages)


def _pages(values: Any, first: int = 0) -> Iterator[StoredPage]:
    """Pages with URLs of about 74 bytes, like those of news sites."""
    samples = _samples()
    for number, value in enumerate(values, first):
        site = f"site-{number % PAGES_A_SITE}.co.uk"
        spread = number * 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835 % (1 << 100)
        url = f"https://www.{site}/news/{2000 + number % 30}/{number % 12}/{spread:025x}-{number}"
        seen = 1_700_000_000 + number // 100
        structure, sketch = spread & (1 << 64) - 1, spread << 28
        # Samples are only stored: pages of random values have no neighbours.
        sample = samples[number % len(samples)]
        fingerprints = (int(value), structure, sketch)
        # As unlike one another as real ones are.
        address, digest = (each.to_bytes(8, "little") for each in (structure, structure ^ 1))
        page = StoredPage(url, "", site, *fingerprints, digest, seen, seen, structure)
        title = f"A title of some fifty characters, number {number:09}"
        minhash = (structure ^ 2).to_bytes(8, "little")
        page = replace(page, title=title, title_marks=1023, address=address)
        yield replace(page, minhash=minhash, sample=sample)


@cache
def _samples() -> list[bytes]:
    """Of pages of 5,000 windows and 25 blocks of page-specific text, as real ones have."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(64):
        windows = sorted(rng.choice(2**32 // 5_000 * KEPT_WINDOWS, KEPT_WINDOWS, False).tolist())
        blocks = rng.choice(rng.integers(0, 2**16, 25), KEPT_WINDOWS).tolist()
        found.append(pack(windows[-1], zip(windows, blocks, strict=True)))
    return found


def _asked(values: Any) -> list[int]:
    rng = np.random.default_rng(1)
    asked: list[int] = rng.integers(0, 2**64, QUERIES, dtype=np.uint64).tolist()
    for place in range(0, QUERIES, 2):
        asked[place] = int(values[rng.integers(len(values))])
        for bit in rng.choice(64, rng.integers(6), replace=False):
            asked[place] ^= 1 << int(bit)
    return asked


def _near(values: Any, asked: int, bits: int) -> list[int]:
    near: list[int] = values[np.bitwise_count(values ^ np.uint64(asked)) <= bits].tolist()
    return sorted(near)


def _memory() -> int:
    """Resident bytes of this process, without what was given back; Linux with glibc only."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _index(values: Any) -> Ask:
    index = FingerprintIndex()
    for chunk in np.array_split(values, 1 + len(values) // 1_000):
        for value in chunk.tolist():
            index.add(value)
    return lambda value: [stored for stored, _ in index.near(value, DISTANCE)]


def _brute_force(values: Any) -> Ask:
    stored = values.copy()

    def ask(value: int) -> list[int]:
        near = np.bitwise_count(stored ^ np.uint64(value)) <= DISTANCE
        found: list[int] = stored[near].tolist()
        return found

    return ask


def _pypi_simhash(values: Any) -> Ask:
    simhash = importlib.import_module("simhash")
    index = simhash.SimhashIndex([], k=DISTANCE)
    for value in values.tolist():
        index.add(str(value), simhash.Simhash(value))
    return lambda value: [int(found) for found in index.get_near_dups(simhash.Simhash(value))]


def _faiss(values: Any) -> Ask:
    faiss = importlib.import_module("faiss")
    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryMultiHash(64, FAISS_HASHES, 64 // FAISS_HASHES)
    index.add(values.view(np.uint8).reshape(-1, 8))

    def ask(value: int) -> list[int]:
        row = np.array([value], np.uint64).view(np.uint8).reshape(1, 8)
        _, _, places = index.range_search(row, DISTANCE + 1)  # FAISS counts what is below
        found: list[int] = values[places].tolist()
        return found

    return ask


def _datasketch(values: Any) -> Ask:
    """Sets, not bits: 64 members for the 64 bits, near by Jaccard at 61 of 67 alike."""
    datasketch = importlib.import_module("datasketch")

    def minhash(value: int) -> Any:
        members = [f"{bit}{value >> bit & 1}".encode() for bit in range(64)]
        made = datasketch.MinHash(MINHASH_PERMUTATIONS)
        made.update_batch(members)
        return made

    lsh = datasketch.MinHashLSH(threshold=0.91, num_perm=MINHASH_PERMUTATIONS)
    for value in values.tolist():
        lsh.insert(value, minhash(value), check_duplication=False)

    def ask(value: int) -> list[int]:
        found = lsh.query(minhash(value))
        return [stored for stored in found if (stored ^ value).bit_count() <= DISTANCE]

    return ask


ASK: dict[str, Callable[[Any], Ask]] = {
    "FingerprintIndex": _index,
    "NumPy brute force": _brute_force,
    "PyPI simhash": _pypi_simhash,
    "FAISS MultiHash": _faiss,
    "datasketch MinHashLSH": _datasketch,
}


def table(costs: list[Cost], names: list[str]) -> str:
    """A Markdown table with what it was measured with."""
    header = (
        "what, values>, query that finds us (p50 / mean)>, that finds nothing>, insert us>,"
        "memory B a value>, wrong answers>, settle us>,"
        "written KB>, disk B a page + URL>, open s>, server us a page>, read B a page>"
    )
    lines = [
        markdown(header, [_row(cost) for cost in costs]),
        "",
        f"`python -m benchmarks.index {shlex.join(sys.argv[1:])}`",
        f"Python {platform.python_version()}, NumPy {np.__version__}, "
        + ", ".join(f"{peer} {PEERS[peer].version() or 'missing'}" for peer in PEERS)
        + f"; {platform.machine()}, {os.cpu_count()} cores, one used. {QUERIES:,} queries.",
    ]
    limits = [f"{name} up to {PEERS[name].most_values:,} values" for name in names if name in PEERS]
    bounds = f"Peers run within bounds of time: {', '.join(limits)}."
    return "\n".join([*lines, f"{bounds} MinHashLSH is approximate by design."])


def _row(cost: Cost) -> list[str]:
    queries = [" / ".join(map(_cell, pair)) for pair in (cost.found, cost.not_found)]
    spent = (cost.insert_us, cost.memory_bytes, cost.wrong, cost.settle_us)
    kept = (cost.written_kb, cost.disk_bytes, cost.open_secs, cost.server_us, cost.read_bytes)
    return [cost.name, f"{cost.n:,}", *queries, *map(_cell, (*spent, *kept))]


def _cell(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:,}" if isinstance(number, int) else f"{number:,.1f}"


if __name__ == "__main__":
    main()
