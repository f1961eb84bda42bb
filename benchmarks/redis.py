"""What a store on Redis costs: memory, the server's CPU time, and what is read for a page.

    python -m benchmarks.redis [--n 1000000] [--server redis|"redis 6.2"|valkey]

Random values are the dearest: none is shared, none is near. Memory is INFO's used_memory; CPU is
that of the server's process, over a last tenth of the pages, which are stored a thousand at a time,
and over some thousand pages judged and confirmed one by one, as a crawl does, into the full store.
The first is what a page takes of a server that is busy, the second of one that is woken for each.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.table import markdown
from simhash_pipeline.stores.contract import Action, StoredPage, View
from simhash_pipeline.stores.redis.redis_store import RedisStore
from tests.stores.servers import RunningServer, binary

if TYPE_CHECKING:
    from collections.abc import Callable

JUDGED = 2_000
COLUMNS = ("none", "content", "structure", "both")


def pages(number: int, columns: str, first: int = 0) -> Iterator[StoredPage]:
    """Pages with a URL of 40 characters and random values in these columns."""
    rng = random.Random(first + COLUMNS.index(columns))
    for place in range(first, first + number):
        yield StoredPage(
            url=f"https://www.example.com/pages/{place:010}",
            namespace="",
            site="example.com",
            content=rng.getrandbits(64) if columns in ("content", "both") else None,
            structure=rng.getrandbits(64) if columns in ("structure", "both") else None,
            sketch=rng.getrandbits(128),
            digest=None,
            first_seen=1_700_000_000.0,
            seen_at=1_700_000_000.0,
            story=rng.getrandbits(64),
            sample=rng.randbytes(388),
        )


def policy(columns: str, max_distance_bits: int) -> Callable[[View], tuple[Action, bool]]:
    """Keep what is near nothing in any of these columns."""

    def decide(view: View) -> tuple[Action, bool]:
        near = [view.near_content] if columns != "structure" else []
        near += [view.near_structure] if columns in ("structure", "both") else []
        twin = any(next(ask(max_distance_bits), None) is not None for ask in near)
        return (Action.SKIP if twin else Action.KEEP), twin

    return decide


def measured(executable: Path, columns: str, n: int) -> Iterator[list[str]]:
    """Rows of the table: columns, distance, memory, CPU twice, and bytes read a page."""
    with (
        tempfile.TemporaryDirectory() as folder,
        RunningServer(executable, Path(folder), "--appendonly", "no") as server,
        RedisStore(server.url, tentative=True) as store,
    ):
        empty = server.tell("INFO")["used_memory"]
        last = n // 10
        store.insert_many(pages(n - last, columns))
        before = cpu_secs(server)
        store.insert_many(pages(last, columns, first=n - last))
        stored = (cpu_secs(server) - before) / last
        held = (server.tell("INFO")["used_memory"] - empty) / n
        for k in (3, 6, 8) if columns == "content" else (3,):
            decide = policy(columns, k)
            asked = pages(JUDGED + 1, columns, first=n * (1 + k))
            store.settle(next(asked), decide)  # from now on it knows what to ask for
            before, sent = cpu_secs(server), bytes_sent(server)
            for page in asked:
                store.settle(page, decide)
                store.confirm(page.namespace, page.url)
            judged = (cpu_secs(server) - before) / JUDGED
            read = (bytes_sent(server) - sent) / JUDGED
            figures = (held, 1e6 * stored, 1e6 * judged, read)
            yield [columns, str(k), *(f"{figure:,.0f}" for figure in figures)]


def cpu_secs(server: RunningServer) -> float:
    told = server.tell("INFO")
    return float(told["used_cpu_user"] + told["used_cpu_sys"])


def bytes_sent(server: RunningServer) -> int:
    return int(server.tell("INFO")["total_net_output_bytes"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--columns", nargs="*", default=COLUMNS, choices=COLUMNS)
    parser.add_argument("--server", default="redis")
    options = parser.parse_args()
    executable = binary(options.server)
    if executable is None:
        parser.error(f"no server {options.server!r} here")
    rows = [row for columns in options.columns for row in measured(executable, columns, options.n)]
    header = "values, bits>, bytes of memory>, us of CPU stored>, us judged>, bytes read>"
    print(markdown(header, rows))


if __name__ == "__main__":
    main()
