"""What a store on Redis costs: memory, the server's CPU time, and what is read for a page.

    python -m benchmarks.redis [--n 1000000] [--server redis|"redis 6.2"|valkey]

Random values are the dearest: none is shared, none is near. Memory is INFO's used_memory; CPU is
that of the server's process, over a last tenth of the pages, which are stored a thousand at a time,
and over some thousand pages judged and confirmed one by one, as a crawl does, into the full store.
The first is what a page takes of a server that is busy, the second of one that is woken for each.
The CPU time of this process is that of judging and confirming a page.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.index import stored_pages
from benchmarks.table import markdown
from simhash_pipeline.stores.contract import Action, StoredPage, View
from simhash_pipeline.stores.redis.redis_store import RedisStore
from simhash_pipeline.urls import address_of
from tests.stores.servers import RunningServer, binary

if TYPE_CHECKING:
    from collections.abc import Callable

JUDGED = 2_000
COLUMNS = ("none", "content", "structure", "both")


def pages(number: int, columns: str, first: int = 0) -> Iterator[StoredPage]:
    """Pages like those of `benchmarks.index`, with random values in these columns alone."""
    values = np.random.default_rng(first + COLUMNS.index(columns)).integers(0, 2**63, number)
    for page in stored_pages(values, first):
        yield replace(
            page,
            content=page.content if columns in ("content", "both") else None,
            structure=page.structure if columns in ("structure", "both") else None,
            address=address_of(page.url, None),
        )


def policy(columns: str, max_distance_bits: int) -> Callable[[View], tuple[Action, bool]]:
    """Keep what is near nothing in any of these columns."""

    def decide(view: View) -> tuple[Action, bool]:
        near = [view.near_content] if columns != "structure" else []
        near += [view.near_structure] if columns in ("structure", "both") else []
        found = [view.same_address(), *(ask(max_distance_bits) for ask in near)]
        twin = any(True for one in found for _ in one)
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
            asked = iter(list(pages(JUDGED + 1, columns, first=n * (1 + k))))
            store.settle(next(asked), decide)  # from now on it knows what to ask for
            before, sent, own = cpu_secs(server), bytes_sent(server), time.process_time()
            for page in asked:
                store.settle(page, decide)
                store.confirm(page.namespace, page.url)
            judged = (cpu_secs(server) - before) / JUDGED
            client = (time.process_time() - own) / JUDGED
            read = (bytes_sent(server) - sent) / JUDGED
            figures = (held, 1e6 * stored, 1e6 * judged, 1e6 * client, read)
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
    header = "values, bits>, bytes of memory>, us of CPU stored>, us judged>, us of this process>"
    print(markdown(f"{header}, bytes read>", rows))


if __name__ == "__main__":
    main()
