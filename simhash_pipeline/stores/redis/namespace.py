"""The pages of a namespace on Redis: read, decide, and commit if nothing that was read has changed.

    read      the page's own record, and the buckets that can hold neighbours
    decide    in Python; the neighbours' records are read as they are asked for
    commit    one script: if the records and buckets are still, to the byte, what was read,
              it writes; otherwise all begins again

So of two twins exactly one is kept. There is no lock: who loses a race reads again. A process that
dies leaves nothing half done, only tentative pages; who meets one of them takes it for gone, and
removes it in its own commit.

While no other page was kept, nothing of what was read can make the page a twin, and the commit
looks no further. Otherwise a bucket shows every new value, and a page with a value that is there
already becomes the newest of the value's further pages. What a commit may overlook is that a page
has gone that was no twin, which could only have left this one kept.
"""

import heapq
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, TypeVar

from simhash_pipeline.errors import StoreDamaged, StoreError
from simhash_pipeline.index.neighbours import Near
from simhash_pipeline.stores import contract
from simhash_pipeline.stores.contract import Action, StoredPage, Values, View, Visit, page_id
from simhash_pipeline.stores.redis import layout
from simhash_pipeline.stores.redis.commit import EXCHANGE, READ, SHARING, Command, Commit
from simhash_pipeline.stores.redis.layout import Entry, Probe, Record, Space
from simhash_pipeline.stores.redis.server import Server

T = TypeVar("T")
Bucket = tuple[bytes, bytes]  # hash and field

PAGES_A_READ = 1_000
TEXTS_A_READ = 100
FIRST_PAGES, MOST_PAGES = 16, 512  # with a value; nearly always the first page is enough
MOST_DEAD = 100  # pages that one commit removes for their runs
RUN_SIZE = 8
RENEWALS = 4  # in the time of a lease


class RedisNamespace:
    """Raises what Server does.

    `mark` is the stamp that the namespace must have, else there is a StoreError where pages are
    judged or stored; pages are kept for `run`, b"" for good.
    """

    def __init__(self, name: str, server: Server, lease: "Lease", mark: bytes, run: bytes) -> None:
        self.space = Space(name)
        self.server = server
        self.lease = lease
        self.mark = mark
        self._run = run
        self.asked: dict[str, int] = {}  # distances, by the page before

    def settle(
        self, page: StoredPage, decide: Callable[[View], tuple[Action, T]], before: list[Command]
    ) -> tuple[Action | None, T]:
        """(the action, None when it could not be committed, what `decide` answered).

        `before` are commands to be sent with the first message.
        """
        view = RedisView(self, page, before)
        action, answer = decide(view)
        self.asked = view.asked
        return (action if self._committed(view, action, page) else None), answer

    def insert(self, pages: Sequence[StoredPage]) -> list[StoredPage]:
        """Store pages; those are returned that somebody else has changed meanwhile."""
        _, structures, records, _ = self.read_first([page_id(page.url) for page in pages])
        pairs = zip(pages, records, strict=True)
        todo = [(page, own) for page, own in pairs if own is None or own.page.url == page.url]
        commits = [self._commit(page, own).keep(page, own, b"", structures) for page, own in todo]
        done = self.server.run([commit.command() for commit in commits])
        return [page for (page, _), is_done in zip(todo, done, strict=True) if not is_done]

    def put_values(self, url: str, item_values: bytes, row_keys: bytes | None) -> None:
        while (found := self.there([page_id(url)])) and found[0].page.url == url:
            new = layout.changed(found[0], item_values=item_values, row_keys=row_keys)
            exchange = EXCHANGE([self.space.pages], found[0].id, found[0].raw, new)
            index = Commit(self.space).index(self.record(new), "row_keys")
            if all(self.server.run([exchange, index.command()])):
                return

    def remove(self, ids: Sequence[bytes], test: Callable[[StoredPage], bool]) -> int:
        """Remove the pages of these ids that pass the test, and return how many."""
        gone = 0
        while chosen := [each for each in self.there(ids) if test(each.page)]:
            gone += self._removed(chosen)
            ids = [each.id for each in chosen]
        return gone

    def remove_where(self, test: Callable[[StoredPage], bool]) -> int:
        """Remove the pages that pass the test, and return how many. Damaged ones stay."""
        gone = 0
        for found in self.server.scan(self.space.pages, PAGES_A_READ):
            records, _ = self._read_each("record", found, self.record)
            gone += self.remove([each.id for each in records if test(each.page)], test)
        return gone

    def remove_dead(self) -> None:
        for runs in self.server.scan(self.space.tentative, PAGES_A_READ):
            self._removed(self.lease.dead(self.there(list(runs))))

    def places(self) -> Iterator[tuple[int, bytes]]:
        """(number, id) of all pages."""
        for found in self.server.scan(self.space.pages, PAGES_A_READ):
            for known, raw in found.items():
                yield int.from_bytes(raw[: layout.NUMBER_SIZE], "big"), known

    def faults(self) -> Iterator[str]:
        """What can't be read."""
        for found in self.server.scan(self.space.texts, TEXTS_A_READ):
            yield from self._read_each("text", found, self.text)[1]
        for found in self.server.scan(self.space.pages, PAGES_A_READ):
            yield from self._read_each("record", found, self.record)[1]

    def repeated_text(self, host: str) -> bytes:
        return self.server.ask("HGET", self.space.repeated_text, host) or b""

    def record(self, raw: bytes, run: bytes | None = None) -> Record:
        packed = raw[layout.NUMBER_SIZE + layout.SALT_SIZE :]
        unpack = contract.unpacked_page
        page = self.unpacked("a page's record", unpack, self.space.namespace, packed)
        return Record(page, raw, run or b"")

    def text(self, raw: bytes) -> contract.PageText:
        return self.unpacked("a page's text", layout.unpack_text, self.space.namespace, raw)

    def visit(self, key: bytes, raw: bytes) -> Visit:
        return self.unpacked("a visit", layout.unpack_visit, self.space.namespace, key, raw)

    def unpacked(self, what: str, unpack: Callable[..., T], *packed: Any) -> T:
        """As Server's."""
        where = f"{what} of namespace {self.space.namespace!r}"
        return self.server.unpacked(where, unpack, *packed)

    def _read_each(
        self, kind: str, found: Mapping[bytes, bytes], read: Callable[[bytes], T]
    ) -> tuple[list[T], list[str]]:
        """(those that can be read, a message for each other one)."""
        whole, damaged = [], []
        for known, raw in found.items():
            try:
                whole.append(read(raw))
            except StoreDamaged as error:  # noqa: PERF203  # each by itself
                what = f"{kind} {known.hex()} of namespace {self.space.namespace!r}"
                damaged.append(f"{what} can't be read: {error.__cause__}")
        return whole, damaged

    def index_structures(self) -> None:
        """Have all pages found by their structures, as new ones are from now on.

        If several processes do it, or one begins anew after another has died, nothing is lost.
        """
        self.server.ask("HSETNX", self.space.head, layout.STRUCTURES, layout.BEGUN)
        ids = [known for _, known in sorted(self.places())]
        while ids:
            records = self.there(ids[:PAGES_A_READ])
            commits = [Commit(self.space).index(record, "structure") for record in records]
            done = self.server.run([commit.command() for commit in commits])
            changed = [each.id for each, is_done in zip(records, done, strict=True) if not is_done]
            ids = changed + ids[PAGES_A_READ:]
        self.server.ask("HSET", self.space.head, layout.STRUCTURES, layout.DONE)

    def _committed(self, view: "RedisView", action: Action, page: StoredPage) -> bool:
        if (own := view.own) is not None and own.page.url != page.url:  # two URLs of one id
            return True
        if action is Action.RENEW and own is not None and own not in view.dead:
            new = layout.changed(own, seen_at=max(own.page.seen_at, page.seen_at))
            return bool(self.server.ask(*EXCHANGE([self.space.pages], own.id, own.raw, new)))
        if action in (Action.SKIP, Action.RENEW) and not view.dead:
            return True
        commit = self._commit(page, own)
        if action is Action.KEEP:
            commit.expect_as_read(view.number, view.buckets)
            commit.keep(page, own, self._run, view.structures)
        elif action is Action.FORGET and own is not None:
            commit.remove(own)
        for each in view.dead:
            commit.remove(each)
        return bool(self.server.ask(*commit.command()))

    def _commit(self, page: StoredPage, own: Record | None) -> Commit:
        """One that expects the stamp, and what is stored of the page as it was read."""
        commit = Commit(self.space)
        commit.expect(self.space.head, layout.MADE_WITH, self.mark)
        commit.expect_page(page_id(page.url), own)
        return commit

    def _removed(self, records: Sequence[Record]) -> int:
        """Remove these pages, and return how many of them were still as they were read."""
        return sum(self.server.run([Commit(self.space).remove(each).command() for each in records]))

    def read_first(
        self, ids: Sequence[bytes], places: Sequence[Bucket] = (), before: Sequence[Command] = ()
    ) -> tuple[bytes, bytes, list[Record | None], list[bytes | None]]:
        """In one message: what head says, the records of these ids, and the texts of buckets.

        Head has the number of the newest page, and whether structures are indexed. StoreError if
        its stamp is another.
        """
        space = self.space
        keys = [space.head, space.pages, space.tentative, *(key for key, _ in places)]
        read = READ(keys, len(ids), *ids, *(field for _, field in places))
        mark, number, structures, *found = self.server.run([*before, read])[-1]
        if mark != self.mark:
            raise emptied(self.server)
        records = self.records(found[: 2 * len(ids)])
        return number or b"", structures or b"", records, found[2 * len(ids) :]

    def there(self, ids: Sequence[bytes]) -> list[Record]:
        """The records of these ids, without those that are gone."""
        hashes = (self.space.pages, self.space.tentative)
        replies = self.server.run([("HGET", key, known) for known in ids for key in hashes])
        return [record for record in self.records(replies) if record is not None]

    def records(self, replies: Sequence[Any]) -> list[Record | None]:
        """Of a record, its run, the next record, and so on."""
        pairs = zip(replies[::2], replies[1::2], strict=True)
        return [None if raw is None else self.record(raw, run) for raw, run in pairs]


class RedisView(View):
    """Notes what a page's commit has to check of what was read for it.

    With the page's own record it reads the buckets that the page before was compared in.
    """

    def __init__(self, namespace: RedisNamespace, page: StoredPage, before: list[Command]) -> None:
        self._namespace = namespace
        # What was read, of the values' further pages the newest.
        self.buckets: dict[Bucket, bytes] = {}
        self._unconfirmed: set[str] = set()
        self.asked: dict[str, int] = {}  # distances
        probes = [
            layout.probes(namespace.space, column, value, distance)
            for column, distance in namespace.asked.items()
            if (value := getattr(page, column)) is not None
        ]
        ids = list(dict.fromkeys([page_id(page.url), page.address or page_id(page.url)]))
        places = self._unread(chain.from_iterable(probes))
        visit = namespace.space.visits, contract.visit_key(page.namespace, page.url)
        found = namespace.read_first(ids, [visit, *places], before)
        self.number, self.structures, records, (self._visit, *texts) = found
        self._note(places, texts)
        self._records = dict(zip(ids, records, strict=True))
        self.own = records[0]
        self.dead: list[Record] = []
        super().__init__(page)

    def page_of(self, url: str) -> StoredPage | None:
        living = self._living([self._record_of(page_id(url))])
        return next((page for _, page in living if page.url == url), None)

    def _record_of(self, known: bytes) -> Record | None:
        if known not in self._records:  # a person named it
            self._records[known] = next(iter(self._namespace.there([known])), None)
        found = self._records[known]
        self.buckets[self._namespace.space.pages, known] = b"" if found is None else found.raw
        return found

    def last_visit(self) -> Visit | None:
        key = contract.visit_key(self._page.namespace, self._page.url)
        return None if self._visit is None else self._namespace.visit(key, self._visit)

    def is_unconfirmed(self, found: StoredPage) -> bool:
        return found.url in self._unconfirmed

    def _read_repeated_text(self, host: str) -> bytes:
        return self._namespace.repeated_text(host)

    def _near_values(self, column: str, value: int, max_distance_bits: int) -> Near:
        self.asked[column] = max_distance_bits
        if column == "structure" and self.structures != layout.DONE:
            self._namespace.index_structures()  # a new page is judged anew then
        probes = layout.probes(self._namespace.space, column, value, max_distance_bits)
        places = self._unread(probes)
        self._note(places, self._namespace.server.run([("HGET", *place) for place in places]))
        buckets = [(block, key, self.buckets[place[:2]]) for block, key, place in probes]
        what = f"a bucket of {column}"
        return self._namespace.unpacked(what, layout.near, value, max_distance_bits, buckets)

    def _sharing(self, column: str, values: Values, site: str | None) -> Iterator[StoredPage]:
        """Of further pages those of the site alone are read, where they are listed so."""
        space, at_address = self._namespace.space, []
        entries = [layout.entry(space, column, value, site) for value in values]
        entries = [each._replace(value=each.of_site or each.value) for each in entries]
        if column == "address" and isinstance(address := values[0], bytes):
            found = self._record_of(address)  # the page whose URL is the address
            if found is not None and found.page.address == address:
                at_address = list(self._living([found]))
        if column in contract.SAME_COLUMNS:
            self.asked[column] = 0
            # Without those whose bucket was read with the page, and hasn't the value.
            entries = [
                each
                for each in entries
                if (text := self.buckets.get(each.places[0][:2])) is None
                or layout.ref_in(each.places[0], text)
            ]
        replies = []
        if entries:
            reads = [self._read(entry, b"[" + entry.value, FIRST_PAGES) for entry in entries]
            # A page with this value is compared by its text without what its host repeats.
            host = self._page.host
            *replies, repeated_text = self._namespace.server.run(
                [*reads, ("HGET", space.repeated_text, host)]
            )
            self._repeated_text[host] = repeated_text or b""
        by_age = map(self._pages_of, entries, replies)
        for _, page in heapq.merge(at_address, *by_age, key=itemgetter(0)):
            # A hash of a site and another value may be the same.
            is_found = column == "row_keys" or getattr(page, column) in values
            if site in (None, page.site) and is_found:
                yield page

    def _read(self, entry: Entry, after: bytes, limit: int) -> Command:
        space, place = self._namespace.space, entry.places[0]
        keys = [space.pages, space.tentative, place.key, entry.more]
        return SHARING(keys, place.field, place.rest, entry.value, after, limit)

    def _pages_of(self, entry: Entry, reply: list[Any]) -> Iterator[tuple[int, StoredPage]]:
        """Of this value, oldest first; `reply` has the first of them."""
        newest, limit = b"", FIRST_PAGES
        while True:
            bucket, last, number, *found = reply
            self.buckets.setdefault(entry.places[0][:2], bucket)
            newest = last or newest
            yield from self._living(self._namespace.records(found))
            if number < limit:
                self.buckets[entry.more, entry.value] = newest
                return
            limit = MOST_PAGES
            reply = self._namespace.server.ask(*self._read(entry, b"(" + newest, limit))

    def _living(self, found: Sequence[Record | None]) -> Iterator[tuple[int, StoredPage]]:
        """(number, page) of those that are there, but those of dead runs."""
        records = [record for record in found if record is not None]
        dead = self._namespace.lease.dead(records)
        self.dead += dead[: MOST_DEAD - len(self.dead)]
        for each in records:
            if each not in dead:
                if each.run not in (b"", self._namespace.lease.run):
                    self._unconfirmed.add(each.page.url)
                yield each.number, each.page

    def _unread(self, probes: Iterable[Probe]) -> list[Bucket]:
        return [place[:2] for _, _, place in probes if place[:2] not in self.buckets]

    def _note(self, places: Sequence[Bucket], replies: Sequence[bytes | None]) -> None:
        self.buckets.update(zip(places, (text or b"" for text in replies), strict=True))


def emptied(server: Server) -> StoreError:
    """The error for a stamp that is no longer what it was."""
    return StoreError(
        f"store {server.shown} was emptied while it was open, or stamped by another: pages of two "
        "stamps could not be told apart; start again"
    )


class Lease:
    """A run's key, which is gone some seconds after its process; a thread renews it.

    Nothing rests on it but how soon others forget the tentative pages of the run: one that is only
    slow loses them, and finds nothing to confirm.
    """

    def __init__(self, server: Server, secs: float) -> None:
        self.run = secrets.token_bytes(RUN_SIZE)
        self._server = server
        self._secs = secs
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="simhash-lease", daemon=True)

    def begin(self) -> None:
        """Show it from now on."""
        self._server.ask(*self._shown())
        if not self._thread.is_alive():
            self._thread.start()

    def dead(self, records: Sequence[Record]) -> list[Record]:
        """Those whose runs' leases have run out: nobody confirms these pages any more."""
        runs = list({record.run for record in records} - {b"", self.run})
        if not runs:  # nearly always
            return []
        alive = self._server.run([("EXISTS", layout.run_key(run)) for run in runs])
        dead = {run for run, is_alive in zip(runs, alive, strict=True) if not is_alive}
        return [record for record in records if record.run in dead]

    def close(self) -> None:
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()
            self._server.tried("DEL", layout.run_key(self.run))

    def _renew(self) -> None:
        wait_secs = self._secs / RENEWALS
        while not self._closed.wait(wait_secs):
            is_shown = self._server.tried(*self._shown())
            wait_secs = self._secs / RENEWALS / (1 if is_shown else 4)

    def _shown(self) -> Command:
        return ("SET", layout.run_key(self.run), 1, "PX", int(self._secs * 1_000))
