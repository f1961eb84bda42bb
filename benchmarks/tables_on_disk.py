"""What 4, 10, 16 and 20 tables of an index on disk cost: file, look-ups, bytes that they read.

    python -m benchmarks.tables_on_disk [values ...]     default 1e6; 1e7 takes ten minutes

Values are evenly spread. Half of those that are asked lie 0 to 3 bits from one of them, half far
from all. SQLite keeps 2 MB of the file in memory ("cold") or all that it has read ("warm"); what it
reads of the file, from the system's cache too, is counted by Linux. Every answer to 200 queries is
compared with brute force.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import markdown
from simhash_pipeline.stores.contract import Tables
from simhash_pipeline.stores.sqlite.disk_index import DiskIndex

DESIGNS: tuple[Tables, ...] = (4, 10, 16, 20)
DISTANCE = 3
QUERIES, COMPARED = 2_000, 200
COLD_KB, WARM_KB = 2_000, 4_000_000
_ROWS = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("values", nargs="*", type=float, default=[1e6])
    rows = [
        measured(int(count), tables) for count in parser.parse_args().values for tables in DESIGNS
    ]
    head = ["values", "tables", "bytes a page", "made in s"]
    head += [f"{kind} look-up {unit}" for kind in ("cold", "warm") for unit in ("us", "KB")]
    print(markdown(", ".join([*head, "wrong answers"]), rows))


def measured(count: int, tables: Tables) -> list[str]:
    rng = np.random.default_rng(count)
    values = rng.integers(0, 1 << 64, count, dtype=np.uint64)
    asked = _asked(values, rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pages.sqlite"
        without = _written(path, values)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            started = time.perf_counter()
            DiskIndex(connection, 64, tables).catch_up(count)
            secs = time.perf_counter() - started
        bytes_a_page = (path.stat().st_size - without) / count
        cold, warm = (_look_ups(path, asked, tables, kb) for kb in (COLD_KB, WARM_KB))
        wrong = _wrong(path, values, asked[:COMPARED], tables)
    cells = [f"{count:,}", str(tables), f"{bytes_a_page:.0f}", f"{secs:.0f}"]
    return [*cells, *(f"{figure:.0f}" for figure in (*cold, *warm)), str(wrong)]


def _written(path: Path, values: Any) -> int:
    """The size of a file with these values and no index."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("CREATE TABLE page (id INTEGER PRIMARY KEY, content INTEGER)")
        for start in range(0, len(values), _ROWS):
            rows = values[start : start + _ROWS].astype(np.int64).tolist()
            connection.executemany(
                "INSERT INTO page (content) VALUES (?)", ((row,) for row in rows)
            )
        connection.commit()
    return path.stat().st_size


def _asked(values: Any, rng: np.random.Generator) -> list[int]:
    asked = []
    for number, row in enumerate(rng.integers(0, len(values), QUERIES).tolist()):
        bits = rng.choice(64, size=rng.integers(0, 4) if number % 2 else 30, replace=False)
        asked.append(int(values[row]) ^ sum(1 << bit for bit in bits.tolist()))
    return asked


def _look_ups(path: Path, asked: list[int], tables: Tables, cache_kb: int) -> tuple[float, float]:
    """(median microseconds of CPU, kilobytes read) of one."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA cache_size = -{cache_kb}")
        index = DiskIndex(connection, 64, tables)
        index.catch_up(0)
        for value in asked:  # reads ahead what is read each time
            index.near_values("content", value, DISTANCE)
        before, secs = _read(), []
        for value in asked:
            started = time.process_time()
            index.near_values("content", value, DISTANCE)
            secs.append(time.process_time() - started)
        return statistics.median(secs) * 1e6, (_read() - before) / len(asked) / 1_000


def _read() -> float:
    """Bytes that this process has read; not a number where the system doesn't count them."""
    try:
        counts = Path("/proc/self/io").read_text()
    except OSError:
        return float("nan")
    return float(counts.partition("rchar: ")[2].split()[0])


def _wrong(path: Path, values: Any, asked: list[int], tables: Tables) -> int:
    with closing(sqlite3.connect(path)) as connection:
        index = DiskIndex(connection, 64, tables)
        index.catch_up(0)
        wrong = 0
        for value in asked:
            near = values[np.bitwise_count(values ^ np.uint64(value)) <= DISTANCE]
            found = {stored for stored, _ in index.near_values("content", value, DISTANCE)}
            wrong += found != set(near.tolist())
        return wrong


if __name__ == "__main__":
    main()
