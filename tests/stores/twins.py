"""Many processes that store near-duplicates at once, and whether exactly one of each is kept."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from simhash_pipeline.page.simhash import hamming_distance
from simhash_pipeline.stores.redis.redis_store import LEASE_SECS, RedisStore
from tests.forked import PROCESSES
from tests.stores.buckets import faults
from tests.stores.pages import page, unless_near

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from multiprocessing.process import BaseProcess


WORKERS = 8
DISTANCE_BITS = 3
SHORT_LEASE_SECS = 1.0  # where processes are killed; else one that is held up would seem dead too
MEET_SECS = 0.02
SECS_TO_A_KILL = (0.05, 0.3)


@dataclass(frozen=True, slots=True)
class Judged:
    """A page, and what its last judgement said."""

    url: str
    value: int
    kept: bool


@dataclass
class Outcome:
    """What all processes judged, and what the store holds in the end."""

    judged: dict[str, Judged] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)  # value by URL
    kills: int = 0
    faults: list[str] = field(default_factory=list)

    def kept_of(self, group: Iterable[str]) -> int:
        return sum(url in self.stored for url in group)

    def is_as_if_one_by_one(self) -> bool:
        """Whether some order gives this when one process judges all: no kept page is near
        another, and each dropped one is near a kept one."""
        kept = list(self.stored.values())
        apart = not any(is_near(*pair) for pair in combinations(kept, 2))
        return apart and all(
            judged.kept == (judged.url in self.stored)
            and (judged.kept or any(is_near(judged.value, value) for value in kept))
            for judged in self.judged.values()
        )


def is_near(value: int, other: int) -> bool:
    return hamming_distance(value, other) <= DISTANCE_BITS


def pairs(number: int, seed: int = 0) -> list[tuple[str, int]]:
    """(URL, value) of twins 1-3 bits apart, `<pair>a` and `<pair>b`."""
    rng = random.Random(seed)
    found = []
    for pair in range(number):
        value = rng.getrandbits(64)
        twin = value ^ sum(1 << bit for bit in rng.sample(range(64), rng.randint(1, 3)))
        found += [(f"{pair}a", value), (f"{pair}b", twin)]
    return found  # a twin beside the other: they go to different processes, at the same time


def run(
    url: str,
    pages: Sequence[tuple[str, int]],
    folder: Path,
    kills: int = 0,
    tentative: bool = False,
) -> Outcome:
    """Let all processes judge their shares; so often one is killed at random and begun anew.

    Tentative pages are confirmed as soon as they are kept. What one that is killed had not told of
    is lost then, so it is for no kills.
    """
    outcome, rng = Outcome(), random.Random(len(pages))
    logs = [folder / f"judged {worker}" for worker in range(WORKERS)]
    for worker, log in enumerate(logs):
        log.touch()
        share = "".join(f"{name} {value}\n" for name, value in pages[worker::WORKERS])
        (folder / f"share {worker}").write_text(share, encoding="utf-8")

    def begun(worker: int) -> BaseProcess:
        lease_secs = SHORT_LEASE_SECS if kills else LEASE_SECS
        process = PROCESSES.Process(target=work, args=(url, folder, worker, tentative, lease_secs))
        process.start()
        return process

    running = {worker: begun(worker) for worker in range(WORKERS)}
    begun_with = [0] * WORKERS  # bytes of its log; a process lives until it has judged something
    try:
        while running:
            time.sleep(rng.uniform(*SECS_TO_A_KILL) if kills else 0.05)
            for worker, process in list(running.items()):
                if process.exitcode is not None:
                    del running[worker]
                    if process.exitcode:
                        outcome.faults.append(f"process {worker} ended with {process.exitcode}")
            busy = [each for each in running if logs[each].stat().st_size > begun_with[each]]
            if busy and outcome.kills < kills:
                unlucky = rng.choice(busy)
                running[unlucky].kill()
                running[unlucky].join()
                begun_with[unlucky] = logs[unlucky].stat().st_size
                running[unlucky] = begun(unlucky)
                outcome.kills += 1
    finally:
        for process in running.values():
            process.kill()
            process.join()
    values = dict(pages)
    for log in logs:
        for line in log.read_text(encoding="utf-8").splitlines():
            name, kept = line.split()
            outcome.judged[name] = Judged(name, values[name], kept == "kept")
    with RedisStore(url) as store:
        outcome.stored = {stored.url: stored.content or 0 for stored in store.pages()}
        outcome.faults += faults(store)
    return outcome


def work(url: str, folder: Path, worker: int, tentative: bool, lease_secs: float) -> None:
    """Judge the pages of a share that the log doesn't tell of yet."""
    share, log = folder / f"share {worker}", folder / f"judged {worker}"
    done = {line.split()[0] for line in log.read_text(encoding="utf-8").splitlines()}
    todo = [line.split() for line in share.read_text(encoding="utf-8").splitlines()]
    opened = RedisStore(url, lease_secs=lease_secs, tentative=tentative)
    with opened as store, log.open("a", encoding="utf-8") as file:
        for round_number, (name, value) in enumerate(todo):
            if name not in done:
                _meet(store, round_number)
                twin = store.settle(page(name, int(value)), unless_near)
                store.confirm("", name)
                file.write(f"{name} {'kept' if twin is None else 'dropped'}\n")
                file.flush()


def _meet(store: RedisStore, round_number: int) -> None:
    """Wait a moment for the others, so that twins are judged at once."""
    give_up = time.monotonic() + MEET_SECS
    key = f"meeting:{round_number}"
    met = store._server.ask("INCR", key)
    while met < WORKERS and time.monotonic() < give_up:
        met = int(store._server.ask("GET", key))
