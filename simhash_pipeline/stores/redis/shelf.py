"""What a page that is judged sees of the others on Redis."""

from __future__ import annotations

import heapq
import time
from itertools import count
from typing import TYPE_CHECKING, Any

from simhash_pipeline.stores.redis.furniture import RedisFurniture
from simhash_pipeline.stores.redis.layout import ID_SIZE, JUDGING, LOST, REF_SIZE, page_hashes
from simhash_pipeline.stores.redis.scripts import SHARING, STATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from simhash_pipeline.stores.contract import Column, StoredPage
    from simhash_pipeline.stores.redis.layout import Claim, Layout, Probe, Record
    from simhash_pipeline.stores.redis.lease import Lease
    from simhash_pipeline.stores.redis.scripts import Command
    from simhash_pipeline.stores.redis.steps import Attempt, Steps

FIRST_REFS, MOST_REFS = 16, 1_024  # nearly always the first page is enough
FIRST_WAIT_SECS, LONGEST_WAIT_SECS = 0.001, 0.05
WAITS_A_LOOK = 5  # at the leases of those waited for


class RedisLookup:
    """Answers a View's questions for the page of an attempt that has taken this ticket.

    `read` holds the answers to `questions` that were asked as it entered, by column and distance.
    """

    def __init__(
        self,
        steps: Steps,
        lease: Lease,
        attempt: Attempt,
        ticket: int,
        stored: Record | None,
        read: Mapping[tuple[Column, int], Sequence[Any]],
    ) -> None:
        self._steps = steps
        self._lease = lease
        self._attempt = attempt
        self.ticket = ticket
        self._stored = stored
        self._read = read
        self.asked: dict[Column, int] = {}  # distances

    def page_of(self, namespace: str, url: str) -> tuple[int, StoredPage] | None:
        return None if self._stored is None else (self._stored.ticket, self._stored.page)

    def furniture(self, namespace: str, site: str) -> bytes:
        return RedisFurniture(self._steps.server).of_site(namespace, site)

    def near_values(
        self, namespace: str, column: Column, value: int, max_distance_bits: int
    ) -> list[tuple[int, int]]:
        layout = self._steps.layout
        self.asked[column] = max_distance_bits
        probes = layout.probes(namespace, column, value, max_distance_bits)
        read = self._read.get((column, max_distance_bits))
        if read is None:
            read = self._steps.server.run(questions(layout, namespace, column, value, probes))
        *buckets, others = read
        near = layout.near(
            value,
            max_distance_bits,
            [
                (block, key, bucket)
                for (block, key, _), bucket in zip(probes, buckets, strict=True)
                if bucket
            ],
        )
        alone = not others and self._attempt.record.ref == layout.first_ref(
            layout.entry(namespace, column, value), buckets[0] or b""
        )
        return [pair for pair in near if not alone or pair[0] != value]

    def sharing(
        self, namespace: str, column: Column, value: int | bytes
    ) -> Iterator[tuple[int, StoredPage]]:
        """Pages that a lower ticket put there, once they are decided; further ones as taken.

        A page may move from the further ones to the bucket, never back; so both are read each time.
        """
        entry = self._steps.layout.entry(namespace, column, value)
        place, last_ticket, seen = entry.places[0], 0, set[bytes]()
        ready: list[tuple[int, int, StoredPage]] = []
        order, limit = count(), FIRST_REFS
        while True:
            first, new, scored = self._steps.server.ask(
                *SHARING(
                    [place.key, entry.more],
                    *(place.number, place.rest, REF_SIZE, last_ticket, limit),
                )
            )
            unseen = [ref for ref in (first, *new, *scored[::2]) if ref and ref not in seen]
            seen.update(unseen)
            for record in self._decided(namespace, unseen):
                heapq.heappush(ready, (record.ticket, next(order), record.page))
            more = len(scored) == 2 * limit
            last_ticket = int(scored[-1]) if more else 0
            while ready and (not more or ready[0][0] <= last_ticket):
                ticket, _, page = heapq.heappop(ready)
                yield ticket, page
            if not more:
                return
            limit = min(2 * limit, MOST_REFS)

    def _decided(self, namespace: str, refs: Sequence[bytes]) -> Iterator[Record]:
        """The kept ones of these; waits for pages of lower tickets until they are decided."""
        wait_secs, looks = FIRST_WAIT_SECS, count(1)
        while refs:
            undecided = []
            for ref, kept, claim in self._states(namespace, refs):
                if kept is not None:
                    yield kept
                elif claim is not None:
                    undecided.append((ref, claim))
            refs = [ref for ref, _ in undecided]
            if undecided:
                time.sleep(wait_secs)
                wait_secs = min(2 * wait_secs, LONGEST_WAIT_SECS)
                if next(looks) % WAITS_A_LOOK == 0:
                    self._steps.clean_up_dead(namespace, undecided, self._lease)

    def _states(
        self, namespace: str, refs: Sequence[bytes]
    ) -> Iterator[tuple[bytes, Record | None, bytes | None]]:
        """(ref, its kept page, the packed claim of one to be waited for)."""
        layout = self._steps.layout
        states = self._steps.server.run(
            [STATE(page_hashes(namespace, ref[0])[:3], ref[:ID_SIZE]) for ref in refs]
        )
        dead = self._lease.dead({run for _, _, run in states if run})
        for ref, (stored, held, run) in zip(refs, states, strict=True):
            record = layout.unpack(namespace, stored) if stored else None
            if record is not None and record.ref == ref:
                if run not in dead:
                    yield ref, record, None
                    continue
                self._steps.forget_lost(record, stored, run, self._lease)
                if run != LOST:  # else it may just have been confirmed
                    yield from self._states(namespace, [ref])
            elif held and self._is_before(layout.unpack_claim(namespace, held), ref):
                yield ref, None, held

    def _is_before(self, claim: Claim, ref: bytes) -> bool:
        """Whether the claim judges the page of this ref, and did or may take a lower ticket."""
        if claim.state != JUDGING or claim.holder == self._attempt.claim.holder:
            return False
        return claim.records[0].ref == ref and claim.records[0].ticket < self.ticket


def questions(
    layout: Layout, namespace: str, column: Column, value: int, probes: Iterable[Probe]
) -> list[Command]:
    """What is read to find the neighbours: the buckets, and whether further pages share the value.

    The page itself always does, so that most pages need not be asked who else.
    """
    more = layout.entry(namespace, column, value).more
    return [*(look(place.key, place.number) for _, _, place in probes), ("ZCARD", more)]


def look(key: bytes, field: bytes) -> Command:
    """The command that reads a field."""
    return ("HGET", key, field)
