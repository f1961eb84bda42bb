"""Stored pages on Redis, listed and removed without being judged."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from simhash_pipeline.stores.redis.check import faults
from simhash_pipeline.stores.redis.layout import (
    ID_SIZE,
    LEAVING,
    PAGE_HASHES,
    PREFIX,
    Claim,
    page_hashes,
    page_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simhash_pipeline.stores.contract import StoredPage
    from simhash_pipeline.stores.redis.layout import Record
    from simhash_pipeline.stores.redis.lease import Lease
    from simhash_pipeline.stores.redis.scripts import Command
    from simhash_pipeline.stores.redis.steps import Attempt, Entered, Steps

PAGES_A_READ = 1_000
CLAIM_WAIT_SECS = 0.01
NAMESPACES = PREFIX + b"namespaces"
PLACE = [("ticket", "<u8"), ("namespace", "<u4"), ("id", "<u8")]


class RedisPages:
    """The pages behind these steps; what it removes of others, it claims by the lease."""

    def __init__(self, steps: Steps, lease: Lease) -> None:
        self._steps = steps
        self._server = steps.server
        self._lease = lease

    def namespaces(self) -> list[str]:
        return sorted(name.decode() for name in self._server.ask("SMEMBERS", NAMESPACES))

    def count(self) -> int:
        commands: list[Command] = [
            ("HLEN", page_hashes(namespace, number).pages)
            for namespace in self.namespaces()
            for number in range(PAGE_HASHES)
        ]
        return sum(self._server.run(commands))

    def by_ticket(self) -> Iterator[StoredPage]:
        """All pages; 20 bytes of each are held in memory, to tell their order."""
        unpack, spaces = self._steps.layout.unpack, self.namespaces()
        parts = [
            np.array(
                [
                    (unpack(namespace, raw).ticket, number, int.from_bytes(known, "big"))
                    for known, raw in packed.items()
                ],
                PLACE,
            )
            for number, namespace in enumerate(spaces)
            for packed in self._packed(namespace)
        ]
        places = np.unique(np.concatenate([np.empty(0, PLACE), *parts]))  # sorted by ticket
        for first in range(0, len(places), PAGES_A_READ):
            chunk = [
                (spaces[number], known.to_bytes(ID_SIZE, "big"))
                for _, number, known in places[first : first + PAGES_A_READ].tolist()
            ]
            yield from (record.page for record, _ in self._read(chunk))

    def faults(self) -> Iterator[str]:
        for namespace in self.namespaces():
            for packed in self._packed(namespace):
                yield from faults(self._server, self._steps.layout, namespace, packed)

    def remove(self, namespace: str, url: str) -> bool:
        """False when it is not stored."""
        while found := self._read([(namespace, page_id(url))]):
            if found[0][0].page.url != url:  # another of the same id
                return False
            if self._evicted(namespace, found)[0]:
                return True
        return False

    def remove_where(self, namespace: str, test: Callable[[StoredPage], bool]) -> int:
        """How many pages were removed, of those that passed the test as they were read."""
        gone = 0
        for packed in self._packed(namespace):
            records = [(self._steps.layout.unpack(namespace, raw), raw) for raw in packed.values()]
            chosen = [pair for pair in records if test(pair[0].page)]
            while chosen:
                done = self._evicted(namespace, chosen)
                gone += sum(done)
                changed = [
                    (namespace, page_id(record.page.url))
                    for (record, _), ok in zip(chosen, done, strict=True)
                    if not ok
                ]
                chosen = [pair for pair in self._read(changed) if test(pair[0].page)]
        return gone

    def clean_up_after_others(self) -> None:
        """Forget what processes that died were judging, or had kept and not confirmed."""
        for namespace in self.namespaces():
            hashes = [page_hashes(namespace, number) for number in range(PAGE_HASHES)]
            claims = self._server.run([("HGETALL", keys.claims) for keys in hashes])
            held = [pair for found in claims for pair in found.items()]
            self._steps.clean_up_dead(namespace, held, self._lease)
            tentative = self._server.run([("HGETALL", keys.tentative) for keys in hashes])
            runs = {known: run for found in tentative for known, run in found.items()}
            dead = self._lease.dead(set(runs.values()))
            left = [(namespace, known) for known, run in runs.items() if run in dead]
            for record, packed in self._read(left):
                run = runs[page_id(record.page.url)]
                self._steps.forget_lost(record, packed, run, self._lease)

    def wait_for(self, held: Sequence[tuple[Attempt, Entered]]) -> None:
        """Let others end what they do with pages; clean up after those who died."""
        time.sleep(CLAIM_WAIT_SECS)
        for attempt, entered in held:
            self._steps.clean_up_dead(
                attempt.namespace, [(attempt.id, entered.held_packed)], self._lease
            )

    def _evicted(self, namespace: str, stored: Sequence[tuple[Record, bytes]]) -> list[bool]:
        """Remove pages of these records, also in their packed form; False for changed ones."""
        attempts = []
        for record, packed in stored:
            claim = Claim(LEAVING, self._lease.holder(), (record,))
            attempts.append((self._steps.attempt(namespace, record.page.url, claim), packed))
        done = self._steps.evict(attempts)
        refused = [attempt for (attempt, _), ok in zip(attempts, done, strict=True) if not ok]
        if refused:
            time.sleep(CLAIM_WAIT_SECS)
            claims = self._server.run([("HGET", each.hashes.claims, each.id) for each in refused])
            held = [(each.id, text) for each, text in zip(refused, claims, strict=True) if text]
            self._steps.clean_up_dead(namespace, held, self._lease)
        return done

    def _read(self, places: Sequence[tuple[str, bytes]]) -> list[tuple[Record, bytes]]:
        """The records, packed too, of these namespaces and ids; without those that are gone."""
        replies = self._server.run(
            [("HGET", page_hashes(namespace, known[0]).pages, known) for namespace, known in places]
        )
        return [
            (self._steps.layout.unpack(namespace, raw), raw)
            for (namespace, _), raw in zip(places, replies, strict=True)
            if raw is not None
        ]

    def _packed(self, namespace: str) -> Iterator[dict[bytes, bytes]]:
        """Packed records by id, about a thousand at a time; some may come twice."""
        for number in range(PAGE_HASHES):
            yield from self._server.scan(page_hashes(namespace, number).pages, PAGES_A_READ)
