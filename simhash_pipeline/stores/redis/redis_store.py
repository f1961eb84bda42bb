"""The shared store: many processes on many machines, one memory, on Redis or Valkey.

    settle ─▶ namespace.py: read, decide, commit; again where another process was first; which
                processes live, by which tentative pages are kept or removed
                commit.py: what the server checks and writes, one script
                layout.py: how pages, values and their buckets are packed
    server.py: the connection, which waits for a server that is gone for a moment

A namespace lies on one server, or on one node of a Cluster, where one script sees all of it.
"""

import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from typing import TypeVar

import numpy as np

from simhash_pipeline.errors import StoreDamaged, StoreError
from simhash_pipeline.stores import contract
from simhash_pipeline.stores.contract import Action, PageText, StoredPage, View, Visit, page_id
from simhash_pipeline.stores.redis import layout
from simhash_pipeline.stores.redis.commit import CONFIRM, EXPIRE, Command
from simhash_pipeline.stores.redis.layout import Space
from simhash_pipeline.stores.redis.namespace import TEXTS_A_READ, Lease, RedisNamespace, emptied
from simhash_pipeline.stores.redis.server import Server

T = TypeVar("T")

LEASE_SECS = 15.0
PAGES_A_BATCH = 1_000
KNOWN_FORMAT = b"1"
NO_STAMP = b"null"
PLACE = [("number", "<u8"), ("namespace", "<u4"), ("id", "<u8")]


class RedisStore(contract.Store):
    """Keeps pages on a server or a Cluster; for many threads, processes and machines at once.

    Each process opens it for itself, also after a fork. `tentative` pages are forgotten when the
    store is closed, or its process dies, before they were confirmed. Raises what Server does.
    """

    def __init__(
        self,
        url: str,
        *,
        tentative: bool = False,
        wait_secs: float = contract.WAIT_SECS,
        lease_secs: float = LEASE_SECS,
    ) -> None:
        self._server = Server(url, wait_secs)
        self._process_id = os.getpid()
        self._is_open = True
        self._tentative = tentative
        self._lease = Lease(self._server, lease_secs)
        self._lock = threading.Lock()
        self._begun: dict[str, RedisNamespace] = {}
        self._tentative_pages: set[tuple[str, str]] = set()  # namespace and URL
        self._confirmed: set[tuple[str, str]] = set()  # that are still tentative on the server
        try:
            self._mark = NO_STAMP
            self._mark = self._read_mark()
        except BaseException:
            self._server.close()
            raise

    def stamp(self, made_with: Mapping[str, object]) -> None:
        wanted = json.loads(json.dumps(dict(made_with)))
        if self.made_with() is None and len(self) == 0:
            self._server.ask("HSETNX", layout.STORE, layout.MADE_WITH, json.dumps(wanted))
            self._mark = self._read_mark()
            heads = [namespace.space.head for namespace in self._namespaces()]
            self._server.run([("HSET", head, layout.MADE_WITH, self._mark) for head in heads])
            self._begun.clear()
        contract.check_stamp(f"store {self._server.shown}", self.made_with() or {}, wanted)
        self._mark = self._read_mark()

    def made_with(self) -> dict[str, object] | None:
        self._usable()
        return self._server.unpacked("stamp", contract.unpacked_stamp, self._read_mark())

    def settle(self, page: StoredPage, decide: Callable[[View], tuple[Action, T]]) -> T:
        action, namespace = None, self._begun_namespace(page.namespace)
        while action is None:
            with self._confirming() as confirms:
                action, answer = namespace.settle(page, decide, confirms)
        if action is Action.KEEP and self._tentative:
            self._tentative_pages.add((page.namespace, page.url))
        return answer

    def insert_many(self, pages: Iterable[StoredPage]) -> int:
        number = 0
        for chunk in contract.batches(pages, PAGES_A_BATCH):
            last = {(page.namespace, page.url): place for place, page in enumerate(chunk)}
            of_namespaces: dict[str, list[StoredPage]] = {}
            for page in (chunk[place] for place in sorted(last.values())):
                of_namespaces.setdefault(page.namespace, []).append(page)
            for name, its_last in of_namespaces.items():
                todo = its_last
                while todo:
                    todo = self._begun_namespace(name).insert(todo)
            number += len(chunk)
        return number

    def confirm(self, namespace: str, url: str) -> None:
        self._usable()
        if (namespace, url) in self._tentative_pages:
            self._tentative_pages.discard((namespace, url))
            self._confirmed.add((namespace, url))

    def flush(self) -> None:
        self._usable()
        with self._confirming() as confirms:
            self._server.run(confirms)

    def put_visits(self, visits: Iterable[Visit]) -> None:
        its = self._begun_namespace
        self._set_many(
            ("HSET", its(each.namespace).space.visits, each.key, layout.pack_visit(each))
            for each in visits
        )

    def visits(self) -> Iterator[Visit]:
        for namespace in self._namespaces():
            for key, raw in self._server.items(namespace.space.visits, PAGES_A_BATCH):
                yield namespace.visit(key, raw)

    def forget(self, namespace: str, url: str) -> bool:
        self._tentative_pages.discard((namespace, url))
        self._confirmed.discard((namespace, url))
        found = self._namespace(namespace)
        known, visit = page_id(url), contract.visit_key(namespace, url)
        self._server.run([("HDEL", found.space.texts, known), ("HDEL", found.space.visits, visit)])
        return found.remove([known], lambda page: page.url == url) > 0

    def put_values(
        self, namespace: str, url: str, item_values: bytes, row_keys: bytes | None
    ) -> None:
        self._namespace(namespace).put_values(url, item_values, row_keys)

    def expire(self, seen_before: float, namespace: str | None = None) -> int:
        gone, before = 0, layout.TIME.pack(seen_before)
        for found in self._namespaces(namespace):
            gone += found.remove_where(lambda page: page.seen_at < seen_before)
            for known in (found.space.texts, found.space.visits):
                cursor = None
                while cursor != 0:
                    expire = EXPIRE([known], cursor or 0, TEXTS_A_READ, before)
                    cursor = int(self._server.ask(*expire))
        return gone

    def clear(self, namespace: str | None = None) -> int:
        count = 0
        for space in (found.space for found in self._namespaces(namespace)):
            count += self._server.run([("HLEN", space.pages), ("UNLINK", *space.all())])[0]
        return count

    def repeated_text(self, namespace: str, host: str) -> bytes:
        return self._namespace(namespace).repeated_text(host)

    def put_repeated_text(self, namespace: str, host: str, repeated_text: bytes) -> None:
        space = self._begun_namespace(namespace).space
        self._server.ask("HSET", space.repeated_text, host, repeated_text)

    def all_repeated_text(self) -> Iterator[tuple[str, str, bytes]]:
        for namespace in self._namespaces():
            found = self._server.items(namespace.space.repeated_text, PAGES_A_BATCH)
            for host, repeated_text in sorted(found):
                known = self._server.unpacked("name of a host", bytes.decode, host)
                yield namespace.space.namespace, known, repeated_text

    def keep_texts(self, texts: Iterable[PageText]) -> None:
        its = self._begun_namespace
        self._set_many(
            ("HSET", its(text.namespace).space.texts, page_id(text.url), layout.pack_text(text))
            for text in texts
        )

    def _set_many(self, sets: Iterable[Command]) -> None:
        for chunk in contract.batches(sets, PAGES_A_BATCH):
            self._server.run(chunk)

    def text_of(self, namespace: str, url: str) -> PageText | None:
        its = self._namespace(namespace)
        raw = self._server.ask("HGET", its.space.texts, page_id(url))
        found = None if raw is None else its.text(raw)
        return found if found is not None and found.url == url else None  # another of the same id

    def texts(self) -> Iterator[PageText]:
        for namespace in self._namespaces():
            for _, raw in self._server.items(namespace.space.texts, TEXTS_A_READ):
                yield namespace.text(raw)

    def pages(self) -> Iterator[StoredPage]:
        """20 bytes of each page are held in memory, to tell their order."""
        namespaces = self._namespaces()
        parts = [np.empty(0, PLACE)]
        for place, namespace in enumerate(namespaces):
            rows = ((number, place, int.from_bytes(i, "big")) for number, i in namespace.places())
            parts.append(np.fromiter(rows, PLACE))
        places = np.unique(np.concatenate(parts))  # sorted by number
        for first in range(0, len(places), PAGES_A_BATCH):
            chunk = places[first : first + PAGES_A_BATCH].tolist()
            for place, group in groupby(chunk, key=itemgetter(1)):
                ids = [known.to_bytes(contract.ID_SIZE, "big") for _, _, known in group]
                yield from (record.page for record in namespaces[place].there(ids))

    def check(self) -> list[str]:
        try:
            self.made_with()
            deque(chain(self.all_repeated_text(), self.visits()), maxlen=0)
            return [fault for namespace in self._namespaces() for fault in namespace.faults()]
        except StoreDamaged as error:
            return [str(error)]

    def close(self) -> None:
        if not self._is_open or os.getpid() != self._process_id:
            return
        try:
            with suppress(StoreError):  # the next to open forgets what this can't
                self.flush()
                for namespace, url in list(self._tentative_pages):
                    self.forget(namespace, url)
        finally:
            self._is_open = False
            self._lease.close()
            self._server.close()

    def __len__(self) -> int:
        hashes = [namespace.space.pages for namespace in self._namespaces()]
        held: int = sum(self._server.run([("HLEN", pages) for pages in hashes]))
        own = sorted(self._tentative_pages)
        asked = [("HEXISTS", Space(name).pages, page_id(url)) for name, url in own]
        there: int = sum(self._server.run(asked))
        return held - there

    @contextmanager
    def _confirming(self) -> Iterator[list[Command]]:
        """The commands that confirm pages on the server, which the block sends."""
        confirmed = sorted(self._confirmed)
        yield [
            CONFIRM([Space(name).tentative], self._lease.run, *(page_id(url) for _, url in group))
            for name, group in groupby(confirmed, key=itemgetter(0))
        ]
        self._confirmed.difference_update(confirmed)

    def _begun_namespace(self, name: str) -> RedisNamespace:
        """A namespace to store pages in."""
        self._usable()
        with self._lock:
            if name not in self._begun:
                self._begin(name)
            return self._begun[name]

    def _begin(self, name: str) -> None:
        """Write a namespace down before its first page, and forget what was not confirmed."""
        self._mark = self._read_mark()
        namespace = self._namespace(name)
        head = namespace.space.head
        found = self._server.run(
            [("HGET", head, layout.MADE_WITH), ("SISMEMBER", layout.NAMESPACES, name)]
        )
        if not all(found):  # a full server refuses these
            self._server.run(
                [
                    ("HSETNX", layout.STORE, layout.FORMAT, KNOWN_FORMAT),
                    ("SADD", layout.NAMESPACES, name),
                    ("HSETNX", head, layout.MADE_WITH, self._mark),
                ]
            )
        if self._tentative:
            self._lease.begin()
            namespace.remove_dead()
        self._begun[name] = namespace

    def _read_mark(self) -> bytes:
        stored, mark = self._server.ask("HMGET", layout.STORE, layout.FORMAT, layout.MADE_WITH)
        if stored not in (None, KNOWN_FORMAT):
            found = stored.decode("utf-8", "replace")
            raise StoreError(
                f"store {self._server.shown} has format {found}, and this version of "
                f"simhash-pipeline knows format {KNOWN_FORMAT.decode()}; install a newer one"
            )
        mark = mark or NO_STAMP
        if mark == NO_STAMP != self._mark:
            raise emptied(self._server)
        return bytes(mark)

    def _namespaces(self, name: str | None = None) -> list[RedisNamespace]:
        """The one of this name, or all of the store, with all that this process has confirmed."""
        if name is not None:
            return [self._namespace(name)]
        self._usable()
        with self._confirming() as confirms:
            *_, names = self._server.run([*confirms, ("SMEMBERS", layout.NAMESPACES)])
        read = partial(self._server.unpacked, "name of a namespace", bytes.decode)
        return [self._namespace(name) for name in sorted(map(read, names))]

    def _namespace(self, name: str) -> RedisNamespace:
        self._usable()
        run = self._lease.run if self._tentative else b""
        return RedisNamespace(name, self._server, self._lease, self._mark, run)

    def _usable(self) -> None:
        if not self._is_open:
            raise StoreError(f"store {self._server.shown} is closed; open it again")
        if os.getpid() != self._process_id:
            opened = f"store {self._server.shown} was opened by process {self._process_id}"
            raise StoreError(f"{opened}; open it again in each process")
