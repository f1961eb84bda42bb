"""The shared store: many processes on many machines, one memory, on Redis or Valkey.

How a page is judged, on one server or on a Cluster, without a lock:

    1. claim    its record says "judging", by whom, without a ticket       slot of the page
    2. append   its values go into their buckets                           slots of the buckets
    3. ticket   one number more than anybody took before; the claim        slot of the counter,
                shows it                                                   of the page
    4. read     the buckets that can hold neighbours, then their records
    5. decide   a kept neighbour counts; one that is being judged and has
                a lower ticket, or shows none yet, is waited for
    6. finish   the record is kept and the claim goes; or the claim says   slot of the page
                "leaving", the entries are removed, and then it goes

Exactly one of two twins is kept. Let A and B be near each other and A have the lower ticket. All of
A's entries were there before A took its ticket, so before B took its own, so before B read: B finds
A unless A has left. If A is kept, B is its twin. If A is judged, B waits until it is not. If A has
left, it was dropped for another or forgotten. A in turn passes over B, whose ticket is higher, as
long as B is judged; and B can't have been kept, for it waits for A. So by induction every page is
decided by the kept ones of lower tickets, as if all had been judged one by one in that order. A
page that is replaced or forgotten meanwhile counts as gone from then on.

Waits can't circle. Who has no ticket yet waits for nobody but to claim its URL, and holds nothing
then that others wait for; all other waits go from higher to lower tickets, or to who has none. Two
that judge one URL at the same time do so one after the other, by the claim.

Processes may die or be taken for dead. A process renews a lease; whoever waits for a claim whose
lease has run out takes it over: one script exchanges it for a claim of its own if it is still the
same. From then on the page isn't kept: finishing it looks for the claim, and when that is lost the
page is judged again. So the lease decides how soon, never what. Entries are told apart by a salt
of each attempt, so that what a slow process still appends or removes is never another attempt's.

A message and its reply do for most new pages of a crawl: what one page asked for is read for the
next as it enters, and a page that is kept tentatively on one server is finished by the message of
the next page, or by a thread that sends it a moment later (outbox.py). Until then it is judged, to
all others, who wait for it as for any. Its own process knows already; should that be taken for dead
before it tells, the page isn't stored, as a tentative page isn't that is never confirmed: whoever
passes over such a page first marks it as lost, so that it can't be confirmed any more. Where
pages are not tentative, what `settle` answers is stored, and so it takes a second message. (To take
a page for kept until somebody objects, others would have to know how it was decided.)

Values that several pages share stand once in a bucket. On a Cluster the last page of a value
leaves like this: read the counts of appends of its further buckets; remove its entry from the
first, which says whether another page has the value; if none, remove the value from the further
ones where the count is the same. A page enters the first bucket before the others, so either the
leaving page sees it in the first, or the count has grown; then the value stays, which does no harm.

Every step may be done twice, since a reply can be lost: claims, entries and removals are of one
attempt, and the record it leaves bears its ticket.
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

from simhash_pipeline.errors import StoreError
from simhash_pipeline.stores.contract import (
    Action,
    Column,
    PageText,
    StoredPage,
    View,
    check_stamp,
    stamped_bits,
)
from simhash_pipeline.stores.redis.furniture import RedisFurniture
from simhash_pipeline.stores.redis.layout import (
    JUDGING,
    PREFIX,
    SALT_SIZE,
    Claim,
    Layout,
    Record,
    renewed,
)
from simhash_pipeline.stores.redis.lease import Lease
from simhash_pipeline.stores.redis.outbox import Outbox
from simhash_pipeline.stores.redis.pages import NAMESPACES, RedisPages
from simhash_pipeline.stores.redis.server import Server
from simhash_pipeline.stores.redis.shelf import RedisLookup, questions
from simhash_pipeline.stores.redis.steps import Attempt, Change, Entered, Steps
from simhash_pipeline.stores.redis.texts import RedisTexts
from simhash_pipeline.stores.store_url import WAIT_SECS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from typing_extensions import Self

    from simhash_pipeline.stores.redis.scripts import Command

T = TypeVar("T")

LEASE_SECS = 30.0
PAGES_A_BATCH = 1_000
FORMAT = b"1"
STAMP, FORMAT_KEY = PREFIX + b"made_with", PREFIX + b"format"


class RedisStore:
    """Keeps pages on a server or a Cluster; for many threads, processes and machines at once.

    Each process opens it for itself, also after a fork. `tentative` pages are forgotten when the
    store is closed, or its process dies, before they were confirmed. Raises what Server does.
    """

    def __init__(
        self,
        url: str,
        *,
        tentative: bool = False,
        wait_secs: float = WAIT_SECS,
        lease_secs: float = LEASE_SECS,
    ) -> None:
        self._server = Server(url, wait_secs)
        self._process_id = os.getpid()
        self._is_open = True
        self._tentative = tentative
        self._namespaces: set[str] = set()
        self._asked: dict[Column, int] = {}  # distances, by the page before
        try:
            self._refuse_other_formats()
            self._lease = Lease(self._server, lease_secs)
            self._steps = Steps(self._server, Layout(stamped_bits(self.made_with() or {})))
            self._pages = RedisPages(self._steps, self._lease)
            self._texts = RedisTexts(self._server)
            self._furniture = RedisFurniture(self._server)
            self._outbox = Outbox(self._steps, self._lease.run)
        except BaseException:
            self._server.close()
            raise

    def stamp(self, made_with: Mapping[str, object]) -> None:
        wanted = json.loads(json.dumps(dict(made_with)))
        bits = stamped_bits(wanted)
        stamp = self.made_with()
        if stamp is None and len(self) == 0:
            self._usable().ask("SETNX", STAMP, json.dumps(wanted))
            stamp = self.made_with()
        check_stamp(f"store {self._server.shown}", stamp or {}, wanted)
        self._steps.layout = Layout(bits)

    def made_with(self) -> dict[str, object] | None:
        stamp = self._usable().ask("GET", STAMP)
        return None if stamp is None else dict(json.loads(stamp))

    def settle(self, page: StoredPage, decide: Callable[[View], tuple[Action, T]]) -> T:
        self._begin(page.namespace)
        while True:
            attempt = self._attempt(page)
            entered, read = self._entered(attempt)
            if entered.held is not None:
                self._pages.wait_for([(attempt, entered)])
                continue
            done, answer = self._settled(attempt, entered, read, decide)
            if done:
                return answer

    def insert_many(self, pages: Iterable[StoredPage]) -> int:
        self._usable_pages()
        number, rest = 0, iter(pages)
        while chunk := list(islice(rest, PAGES_A_BATCH)):
            last = {(page.namespace, page.url): place for place, page in enumerate(chunk)}
            todo = [chunk[place] for place in sorted(last.values())]
            for page in todo:
                self._begin(page.namespace)
            while todo:
                todo = self._insert(todo)
            number += len(chunk)
        return number

    def confirm(self, namespace: str, url: str) -> None:
        self._usable()
        self._outbox.confirm(namespace, url)

    def forget(self, namespace: str, url: str) -> bool:
        self._usable()
        self._outbox.forget(namespace, url)
        removed = self._pages.remove(namespace, url)
        if not removed:  # else its text went with it
            self._texts.remove(namespace, url)
        return removed

    def expire(self, seen_before: float) -> int:
        pages = self._usable_pages()
        gone = 0
        for namespace in pages.namespaces():
            gone += pages.remove_where(namespace, lambda page: page.seen_at < seen_before)
            self._texts.expire(namespace, seen_before)
        return gone

    def clear(self, namespace: str) -> int:
        gone = self._usable_pages().remove_where(namespace, lambda page: True)
        self._texts.clear(namespace)
        self._furniture.clear(namespace)
        return gone

    def furniture(self, namespace: str, site: str) -> bytes:
        self._usable()
        return self._furniture.of_site(namespace, site)

    def add_furniture(self, namespace: str, site: str, blocks: bytes) -> None:
        self._begin(namespace)
        self._furniture.add(namespace, site, blocks)

    def all_furniture(self) -> Iterator[tuple[str, str, bytes]]:
        for namespace in self._usable_pages().namespaces():
            for site, blocks in self._furniture.of_namespace(namespace):
                yield namespace, site, blocks

    def keep_texts(self, texts: Iterable[PageText]) -> None:
        self._usable()
        rest = iter(texts)
        while chunk := list(islice(rest, PAGES_A_BATCH)):
            for namespace in {text.namespace for text in chunk}:
                self._begin(namespace)
            self._texts.keep(chunk)

    def text_of(self, namespace: str, url: str) -> PageText | None:
        self._usable()
        return self._texts.text_of(namespace, url)

    def texts(self) -> Iterator[PageText]:
        for namespace in self._usable_pages().namespaces():
            yield from self._texts.of_namespace(namespace)

    def text_sizes(self) -> Iterator[int]:
        for namespace in self._usable_pages().namespaces():
            yield from self._texts.sizes_of_namespace(namespace)

    def pages(self) -> Iterator[StoredPage]:
        return self._usable_pages().by_ticket()

    def check(self) -> list[str]:
        return list(self._usable_pages().faults())

    def close(self) -> None:
        if not self._is_open or os.getpid() != self._process_id:
            return
        try:
            unconfirmed = self._outbox.close()
            with suppress(StoreError):  # the next to open forgets what this can't
                for namespace, url in unconfirmed:
                    self.forget(namespace, url)
        finally:
            self._is_open = False
            self._lease.close()
            self._server.close()

    def __len__(self) -> int:
        return self._usable_pages().count()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _entered(
        self, attempt: Attempt
    ) -> tuple[Entered, Mapping[tuple[Column, int], Sequence[Any]]]:
        """Enter the page, and read what the page before has asked for."""
        asked = self._questions(attempt.record.page)
        questions = list(chain.from_iterable(asked.values()))
        with self._outbox.batch() as batch:
            entered, answers = self._steps.enter([attempt], questions, batch)
        rest = iter(answers)
        read = {what: list(islice(rest, len(questions))) for what, questions in asked.items()}
        return entered[0], read

    def _settled(
        self,
        attempt: Attempt,
        entered: Entered,
        read: Mapping[tuple[Column, int], Sequence[Any]],
        decide: Callable[[View], tuple[Action, T]],
    ) -> tuple[bool, T]:
        """(whether the page was still ours to decide, the answer)."""
        stored = self._stored(attempt, entered)
        shelf = RedisLookup(self._steps, self._lease, attempt, entered.ticket, stored, read)
        try:
            action, answer = decide(View(shelf, attempt.record.page))
        except BaseException:
            self._steps.finish([self._change(attempt, entered, stored, Action.SKIP)])
            raise
        self._asked = shelf.asked
        change = self._change(attempt, entered, stored, action)
        if change.run and not change.leaving and not self._server.is_cluster:
            self._outbox.add(change)
            return True, answer
        done = self._steps.finish([change])[0]
        if done and change.run:
            self._outbox.sent(change)
        return done, answer

    def _stored(self, attempt: Attempt, entered: Entered) -> Record | None:
        """The stored page of the same URL, unless its process died before it was confirmed."""
        stored, run = entered.stored, entered.tentative_run
        if stored is None or stored.page.url != attempt.record.page.url:
            return None
        return None if run and self._lease.dead({run}) else stored

    def _change(
        self, attempt: Attempt, entered: Entered, stored: Record | None, action: Action
    ) -> Change:
        new, old = attempt.record, entered.stored
        if old is not None and old.page.url != new.page.url:  # two URLs of one id
            return Change(attempt, "leave", None, (new,))
        replaced = () if old is None else (old,)
        if action is Action.KEEP:
            record = Record(new.page, entered.ticket, new.salt)
            run = self._lease.run if self._tentative else b""
            return Change(attempt, "set", record, replaced, run)
        if action is Action.RENEW and stored is not None:
            return Change(attempt, "renew", renewed(stored, new.page.seen_at), (new,))
        if action is Action.FORGET or stored is not old:
            return Change(attempt, "delete", None, (new, *replaced))
        return Change(attempt, "leave", None, (new,))

    def _attempt(self, page: StoredPage) -> Attempt:
        record = Record(page, 0, secrets.token_bytes(SALT_SIZE))
        claim = Claim(JUDGING, self._lease.holder(), (record,))
        return self._steps.attempt(page.namespace, page.url, claim)

    def _questions(self, page: StoredPage) -> dict[tuple[Column, int], list[Command]]:
        """What the page before looked at, to be read for this one as it enters."""
        layout, space = self._steps.layout, page.namespace
        return {
            (column, distance): questions(
                layout, space, column, value, layout.probes(space, column, value, distance)
            )
            for column, distance in self._asked.items()
            if (value := getattr(page, column)) is not None
        }

    def _insert(self, pages: list[StoredPage]) -> list[StoredPage]:
        """Store pages; those are returned that somebody else is working on."""
        attempts = list(map(self._attempt, pages))
        entered, _ = self._steps.enter(attempts)
        pairs = list(zip(attempts, entered, strict=True))
        free = [pair for pair in pairs if pair[1].held is None]
        changes = [self._change(*pair, self._stored(*pair), Action.KEEP) for pair in free]
        done = self._steps.finish([replace(change, run=b"") for change in changes])
        lost = [change.attempt for change, ok in zip(changes, done, strict=True) if not ok]
        held = [pair for pair in pairs if pair[1].held is not None]
        if held:
            self._pages.wait_for(held)
        return [attempt.record.page for attempt in [*(pair[0] for pair in held), *lost]]

    def _begin(self, namespace: str) -> None:
        """Before the first page: write its namespace down, and forget what was not confirmed."""
        server = self._usable()
        if namespace not in self._namespaces:
            server.ask("SADD", NAMESPACES, namespace)
            if self._tentative and not self._namespaces:
                self._pages.clean_up_after_others()
            self._namespaces.add(namespace)

    def _refuse_other_formats(self) -> None:
        self._server.ask("SETNX", FORMAT_KEY, FORMAT)
        found = self._server.ask("GET", FORMAT_KEY)
        if found != FORMAT:
            raise StoreError(
                f"store {self._server.shown} has format {found.decode()}, and this version of "
                f"simhash-pipeline knows format {FORMAT.decode()}; install a newer one"
            )

    def _usable_pages(self) -> RedisPages:
        """The pages, with all that this process has decided."""
        self._usable()
        self._outbox.flush()
        return self._pages

    def _usable(self) -> Server:
        if not self._is_open:
            raise StoreError(f"store {self._server.shown} is closed; open it again")
        if os.getpid() != self._process_id:
            raise StoreError(
                f"store {self._server.shown} was opened by process {self._process_id}; "
                "open it again in each process"
            )
        return self._server
