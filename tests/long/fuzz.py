"""Hostile input to whatever reads from outside: no error but ours, no hang.

    python -m tests.long.fuzz [--inputs 1000000] [--secs 600] [--seed 0] [--processes 2] [--only X]

Of every hundred inputs 59 are pages, one is a damaged file of a store, the rest drop logs, options,
URLs and pages judged against two stores, WARC files and feeds. An input of a seed and number is the
same at every run. What breaks the rule is told with its number; exit code 1 when something did.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from multiprocessing.synchronize import Event
from pathlib import Path
from types import FrameType

from tqdm import tqdm

from tests.long import parser_of
from tests.long.fuzz_targets import TARGETS, Hang, Targets

HANG_SECS = 10  # of CPU
_BATCH = 200
_SHARES = {"pages": 59, "store_files": 1} | dict.fromkeys(
    ("drop_log", "options", "stores", "warc", "feeds"), 8
)


def one(targets: Targets, seed: int, number: int, only: str | None) -> tuple[str, str | None]:
    """The target of this input, and what went wrong with it, if anything."""
    chance = random.Random(f"{seed} {number}")
    target = only or chance.choices(list(_SHARES), list(_SHARES.values()))[0]
    signal.setitimer(signal.ITIMER_VIRTUAL, HANG_SECS)
    try:
        getattr(targets, target)(chance)
    except Exception:
        return target, f"{target}, input {number} of seed {seed}:\n{traceback.format_exc()}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return target, None


def _batches(
    arguments: argparse.Namespace, first: int, stop: Event
) -> Iterator[tuple[Counter[str], list[str]]]:
    """Every so-manieth batch of inputs, until there are no more or it is time to stop."""
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(Targets(Path(folder))) as targets,
    ):
        for start in range(first * _BATCH, arguments.inputs, arguments.processes * _BATCH):
            if stop.is_set():
                return
            numbers = range(start, min(start + _BATCH, arguments.inputs))
            ran = [one(targets, arguments.seed, number, arguments.only) for number in numbers]
            faults = [fault for _, fault in ran if fault is not None]
            yield Counter(target for target, _ in ran), faults


def _work(
    arguments: argparse.Namespace,
    first: int,
    stop: Event,
    told: multiprocessing.Queue[tuple[Counter[str], list[str]] | None],
) -> None:
    signal.signal(signal.SIGVTALRM, _hang)
    for batch in _batches(arguments, first, stop):
        told.put(batch)
    told.put(None)


def _hang(number: int, frame: FrameType | None) -> None:
    raise Hang(f"more than {HANG_SECS} seconds of CPU")


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--secs", type=int, default=3_600, help="stop after so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", choices=TARGETS)
    arguments = parser.parse_args()
    stop = multiprocessing.Event()
    told: multiprocessing.Queue[tuple[Counter[str], list[str]] | None] = multiprocessing.Queue()
    workers = [
        multiprocessing.Process(target=_work, args=(arguments, first, stop, told))
        for first in range(arguments.processes)
    ]
    for worker in workers:
        worker.start()
    started, running = time.monotonic(), len(workers)
    ran: Counter[str] = Counter()
    faults = 0
    with tqdm(total=arguments.inputs, unit=" inputs", disable=None) as progress:
        while running:
            batch = told.get()
            if batch is None:
                running -= 1
                continue
            ran += batch[0]
            faults += len(batch[1])
            progress.update(batch[0].total())
            for fault in batch[1]:
                progress.write(fault, file=sys.stderr)
            if time.monotonic() - started > arguments.secs:
                stop.set()
    for worker in workers:
        worker.join()
    shares = ", ".join(f"{target} {count:,}" for target, count in sorted(ran.items()))
    print(f"{ran.total():,} inputs of seed {arguments.seed} ({shares}): {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
