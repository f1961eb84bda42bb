"""The steps of judging a page on Redis, for one page or many: enter, finish, clean up.

On one server a step is one pipeline of scripts; on a Cluster, whose scripts may touch one slot,
a step is several pipelines, and what must come first has been answered before the next begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from simhash_pipeline.stores.redis import scripts
from simhash_pipeline.stores.redis.layout import (
    ID_SIZE,
    LEAVING,
    LOST,
    PREFIX,
    Claim,
    Layout,
    Record,
    page_hashes,
    page_id,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simhash_pipeline.stores.redis.layout import Entry, PageHashes, Place
    from simhash_pipeline.stores.redis.lease import Lease
    from simhash_pipeline.stores.redis.scripts import Command
    from simhash_pipeline.stores.redis.server import Server

TICKET = PREFIX + b"ticket"

Key = tuple[str, str]  # namespace, URL


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try to change a page: its id and hashes, and the claim to it."""

    namespace: str
    id: bytes
    hashes: PageHashes
    claim: Claim

    @property
    def record(self) -> Record:
        """The one that is judged."""
        return self.claim.records[0]


@dataclass(frozen=True, slots=True)
class Entered:
    """What entering found; when somebody else holds a claim to the page, that and no more."""

    held: Claim | None
    held_packed: bytes = b""
    stored: Record | None = None
    tentative_run: bytes = b""  # has kept it, and not confirmed it yet
    ticket: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """What an attempt comes to."""

    attempt: Attempt
    action: Literal["set", "renew", "delete", "leave"]
    record: Record | None  # to be stored by the first two
    leaving: tuple[Record, ...] = ()  # records whose entries are to be removed
    run: bytes = b""  # that is to confirm the page later on; none when empty

    @property
    def left(self) -> Attempt:
        """The claim that is left behind until the entries are removed."""
        old = self.attempt
        claim = Claim(LEAVING, old.claim.holder, self.leaving)
        return Attempt(old.namespace, old.id, old.hashes, claim)


@dataclass(slots=True)
class Batch:
    """What goes before the commands of a message; its sender writes the replies here."""

    changes: dict[Key, Change] = field(default_factory=dict)
    confirmed: list[Attempt] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    replies: Sequence[object] | None = None


class Steps:
    """Every method may be called again with the same attempts when it was cut short."""

    def __init__(self, server: Server, layout: Layout) -> None:
        self.server = server
        self.layout = layout

    def attempt(self, namespace: str, url: str, claim: Claim) -> Attempt:
        known = page_id(url)
        return Attempt(namespace, known, page_hashes(namespace, known[0]), claim)

    def enter(
        self,
        attempts: Sequence[Attempt],
        then: Sequence[Command] = (),
        batch: Batch | None = None,
    ) -> tuple[list[Entered], list[bytes | None]]:
        """Claim, append, take a ticket; and only then read, the replies to which come second.

        A batch goes before it all, in the same message.
        """
        first = [] if batch is None else batch.commands
        if self.server.is_cluster:
            return self._enter_by_slots(attempts, then, batch)
        replies = self.server.run([*first, *map(self._enter_at_once, attempts), *then])
        replies = _split(replies, batch)
        entered = [
            self._entered(attempt, reply, reply[3] if len(reply) > 3 else 0)
            for attempt, reply in zip(attempts, replies, strict=False)
        ]
        return entered, replies[len(attempts) :]

    def finish(self, changes: Sequence[Change]) -> list[bool]:
        """Change what is stored, and clean up; False where the claim was lost meanwhile."""
        commands = list(map(self.finishing, changes))
        left = [change.left for change in changes if change.leaving]
        if not self.server.is_cluster:
            done = self.server.run([*commands, *map(self._remove_at_once, left)])
            return [bool(ok) for ok in done[: len(changes)]]
        done = self.server.run(commands + self._scores(changes))[: len(changes)]
        kept = [change for change, ok in zip(changes, done, strict=True) if ok]
        self.clean_up([change.left for change in kept if change.leaving])
        return [bool(ok) for ok in done]

    def clean_up(self, attempts: Sequence[Attempt]) -> None:
        """Remove the entries of records that leave, and give the claims back."""
        if not attempts:
            return
        if self.server.is_cluster:
            self._remove_by_slots(attempts)
        else:
            self.server.run([self._remove_at_once(attempt) for attempt in attempts])

    def evict(self, attempts: Sequence[tuple[Attempt, bytes]], run: bytes = b"*") -> list[bool]:
        """Remove pages that have these packed records, and this run if any; False where not.

        A run that is named can't confirm the pages from then on, whether they could be removed yet
        or not.
        """
        commands = []
        for attempt, packed in attempts:
            claim = self.layout.pack_claim(attempt.claim)
            commands.append(scripts.EVICT(attempt.hashes, attempt.id, packed, claim, run, LOST))
        done = self.server.run(commands)
        self.clean_up([attempt for (attempt, _), ok in zip(attempts, done, strict=True) if ok])
        return [bool(ok) for ok in done]

    def take_over(self, attempt: Attempt, held: bytes) -> bool:
        """Clean up after a process that died; False when the claim has changed."""
        packed = self.layout.pack_claim(attempt.claim)
        if not self.server.ask(*scripts.TAKE([attempt.hashes.claims], attempt.id, held, packed)):
            return False
        self.clean_up([attempt])
        return True

    def clean_up_dead(
        self, namespace: str, held: Iterable[tuple[bytes, bytes]], lease: Lease
    ) -> None:
        """Take over those of the claims, by ids or refs, whose processes have died."""
        claims = [
            (key[:ID_SIZE], text, self.layout.unpack_claim(namespace, text)) for key, text in held
        ]
        dead = lease.dead({claim.run for _, _, claim in claims})
        for known, text, claim in claims:
            if claim.run in dead:
                heir = Claim(LEAVING, lease.holder(), claim.records)
                self.take_over(
                    Attempt(namespace, known, page_hashes(namespace, known[0]), heir), text
                )

    def forget_lost(self, record: Record, packed: bytes, run: bytes, lease: Lease) -> None:
        """Forget a page that a dead run has kept, unless it confirmed the page after all."""
        page = record.page
        heir = Claim(LEAVING, lease.holder(), (record,))
        self.evict([(self.attempt(page.namespace, page.url, heir), packed)], run)

    def _entered(self, attempt: Attempt, reply: Sequence[bytes], ticket: int) -> Entered:
        if reply[0]:
            return Entered(self.layout.unpack_claim(attempt.namespace, reply[0]), reply[0])
        stored = self.layout.unpack(attempt.namespace, reply[1]) if reply[1] else None
        return Entered(None, b"", stored, reply[2], ticket)

    def _enter_at_once(self, attempt: Attempt) -> Command:
        entries = list(self.layout.entries(attempt.record.page))
        keys: list[bytes] = []
        rows: list[bytes] = []
        for entry in entries:
            keys += [entry.places[0].key, entry.more]
            rows += [entry.places[0].number, entry.places[0].rest]
        for place in _further(entries):
            keys.append(place.key)
            rows += [place.number, place.rest]
        return scripts.ENTER(
            [*attempt.hashes[:3], TICKET, *keys],
            attempt.id,
            self.layout.pack_claim(attempt.claim),
            attempt.record.ref,
            len(entries),
            *rows,
        )

    def finishing(self, change: Change) -> Command:
        """The command that changes what is stored; 0 in reply when the claim was lost."""
        layout, attempt = self.layout, change.attempt
        return scripts.FINISH(
            attempt.hashes,
            attempt.id,
            attempt.claim.head,
            change.action,
            b"" if change.record is None else layout.pack(change.record),
            layout.pack_claim(change.left.claim) if change.leaving else b"",
            change.run,
        )

    def _remove_at_once(self, attempt: Attempt) -> Command:
        keys: list[bytes] = []
        rows: list[bytes | int] = []
        for record in attempt.claim.records:
            for entry in self.layout.entries(record.page):
                keys += [entry.places[0].key, entry.more, *(p.key for p in entry.places[1:])]
                rows += [record.ref, len(entry.places)]
                for place in entry.places:
                    rows += [place.number, place.rest]
        head = attempt.claim.head
        return scripts.REMOVE([attempt.hashes.claims, *keys], attempt.id, head, *rows)

    def _enter_by_slots(
        self, attempts: Sequence[Attempt], then: Sequence[Command], batch: Batch | None
    ) -> tuple[list[Entered], list[bytes | None]]:
        run, first = self.server.run, [] if batch is None else batch.commands
        packed = [self.layout.pack_claim(attempt.claim) for attempt in attempts]
        claiming = [
            scripts.CLAIM(attempt.hashes[:3], attempt.id, text)
            for attempt, text in zip(attempts, packed, strict=True)
        ]
        claimed = _split(run([*first, *claiming]), batch)
        ours = [place for place, reply in enumerate(claimed) if not reply[0]]
        if not ours:
            return [self._entered(*pair, 0) for pair in zip(attempts, claimed, strict=True)], []
        records = [attempts[place].record for place in ours]
        entries = [
            (record, entry) for record in records for entry in self.layout.entries(record.page)
        ]
        run(
            [
                scripts.ENLIST(
                    [entry.places[0].key, entry.more],
                    entry.places[0].number,
                    entry.places[0].rest,
                    record.ref,
                )
                for record, entry in entries
            ]
        )
        run(
            [
                scripts.APPEND([place.key], place.number, place.rest)
                for place in _further(entry for _, entry in entries)
            ]
        )
        last: int = self.server.ask("INCRBY", TICKET, len(ours))
        tickets = dict(zip(ours, range(last - len(ours) + 1, last + 1), strict=True))
        shown = [
            scripts.SHOW([each.hashes.claims], each.id, each.claim.head, ticket)
            for each, ticket in ((attempts[place], ticket) for place, ticket in tickets.items())
        ]
        replies = run([*shown, *then])
        tickets = dict(zip(ours, replies, strict=False))
        entered = [
            self._entered(attempt, reply, tickets.get(place, 0))
            for place, (attempt, reply) in enumerate(zip(attempts, claimed, strict=True))
        ]
        return entered, replies[len(ours) :]

    def _scores(self, changes: Iterable[Change]) -> list[Command]:
        """Sort kept pages among those of their values, where they entered without a ticket."""
        return [
            ("ZADD", entry.more, "XX", change.record.ticket, change.record.ref)
            for change in changes
            if change.action == "set" and change.record is not None
            for entry in self.layout.entries(change.record.page)
        ]

    def _remove_by_slots(self, attempts: Sequence[Attempt]) -> None:
        run = self.server.run
        entries = [
            (record, entry)
            for attempt in attempts
            for record in attempt.claim.records
            for entry in self.layout.entries(record.page)
        ]
        counts = iter(
            run(
                [
                    scripts.COUNT([place.key], place.number)
                    for place in _further(entry for _, entry in entries)
                ]
            )
        )
        counted = [(entry, [next(counts) for _ in entry.places[1:]]) for _, entry in entries]
        struck = run(
            [
                scripts.STRIKE(
                    [entry.places[0].key, entry.more],
                    entry.places[0].number,
                    entry.places[0].rest,
                    record.ref,
                )
                for record, entry in entries
            ]
        )
        run(
            [
                scripts.CUT([place.key], place.number, place.rest, count)
                for (entry, by_place), gone in zip(counted, struck, strict=True)
                if gone
                for place, count in zip(entry.places[1:], by_place, strict=True)
            ]
        )
        run(
            [
                scripts.RELEASE([attempt.hashes.claims], attempt.id, attempt.claim.head)
                for attempt in attempts
            ]
        )


def _split(replies: list[Any], batch: Batch | None) -> list[Any]:
    """The replies behind those to a batch, which gets its own."""
    if batch is None:
        return replies
    number = len(batch.commands)
    batch.replies = replies[:number]
    return replies[number:]


def _further(entries: Iterable[Entry]) -> Iterator[Place]:
    """The buckets of all blocks but the first."""
    for entry in entries:
        yield from entry.places[1:]
