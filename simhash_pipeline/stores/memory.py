"""The store in memory, which is gone when it closes: dictionaries and the index."""

from __future__ import annotations

import heapq
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

from simhash_pipeline.errors import StoreError
from simhash_pipeline.index.neighbours import FingerprintIndex
from simhash_pipeline.stores.contract import (
    MOST_NEAR,
    Action,
    Column,
    PageText,
    StoredPage,
    View,
    check_stamp,
    stamped_bits,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from typing_extensions import Self

T = TypeVar("T")


class MemoryStore:
    """Keeps pages until it is closed; for the threads of one process."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._stamp: dict[str, object] | None = None
        self._pages: _MemoryLookup | None = _MemoryLookup(stamped_bits({}))  # None once closed
        self._texts: dict[tuple[str, str], PageText] = {}  # by (namespace, url)

    def stamp(self, made_with: Mapping[str, object]) -> None:
        with self._opened() as lookup:
            if self._stamp is None and not lookup.pages:
                self._pages = _MemoryLookup(stamped_bits(made_with))
                self._stamp = dict(made_with)
            check_stamp("the store in memory", self._stamp or {}, made_with)

    def made_with(self) -> dict[str, object] | None:
        with self._opened():
            return None if self._stamp is None else dict(self._stamp)

    def settle(self, page: StoredPage, decide: Callable[[View], tuple[Action, T]]) -> T:
        with self._opened() as lookup:
            action, answer = decide(View(lookup, page))
            if action is Action.RENEW:
                lookup.renew(page)
            if action in (Action.KEEP, Action.FORGET):
                self._remove(lookup, page.namespace, page.url)
            if action is Action.KEEP:
                lookup.insert(page)
            return answer

    def insert_many(self, pages: Iterable[StoredPage]) -> int:
        inserted = 0
        with self._opened() as lookup:
            for page in pages:
                self._remove(lookup, page.namespace, page.url)
                lookup.insert(page)
                inserted += 1
        return inserted

    def confirm(self, namespace: str, url: str) -> None:
        with self._opened():
            pass  # its pages are gone with the process in any case

    def flush(self) -> None:
        with self._opened():
            pass

    def forget(self, namespace: str, url: str) -> bool:
        with self._opened() as lookup:
            self._texts.pop((namespace, url), None)
            return lookup.remove(namespace, url)

    def expire(self, seen_before: float) -> int:
        with self._opened() as lookup:
            old = [page for page in lookup.pages.values() if page.seen_at < seen_before]
            self._texts = {
                key: text for key, text in self._texts.items() if text.kept_at >= seen_before
            }
            return sum(self._remove(lookup, page.namespace, page.url) for page in old)

    def clear(self, namespace: str) -> int:
        with self._opened() as lookup:
            its = [page.url for page in lookup.pages.values() if page.namespace == namespace]
            self._texts = {key: text for key, text in self._texts.items() if key[0] != namespace}
            for host in [key for key in lookup.furniture_of if key[0] == namespace]:
                del lookup.furniture_of[host]
            return sum(lookup.remove(namespace, url) for url in its)

    def furniture(self, namespace: str, host: str) -> bytes:
        with self._opened() as lookup:
            return lookup.furniture(namespace, host)

    def put_furniture(self, namespace: str, host: str, furniture: bytes) -> None:
        with self._opened() as lookup:
            lookup.furniture_of[namespace, host] = furniture

    def all_furniture(self) -> Iterator[tuple[str, str, bytes]]:
        with self._opened() as lookup:
            return iter([(*key, blocks) for key, blocks in lookup.furniture_of.items()])

    def keep_texts(self, texts: Iterable[PageText]) -> None:
        with self._opened():
            for text in texts:
                one_line = replace(text, title=" ".join(text.title.split()))
                self._texts[text.namespace, text.url] = one_line

    def text_of(self, namespace: str, url: str) -> PageText | None:
        with self._opened():
            return self._texts.get((namespace, url))

    def texts(self) -> Iterator[PageText]:
        with self._opened():
            return iter(list(self._texts.values()))

    def pages(self) -> Iterator[StoredPage]:
        with self._opened() as lookup:
            return iter(list(lookup.pages.values()))

    def check(self) -> list[str]:
        with self._opened():
            return []

    def close(self) -> None:
        self._pages = None

    def __len__(self) -> int:
        with self._opened() as lookup:
            return len(lookup.pages)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _remove(self, lookup: _MemoryLookup, namespace: str, url: str) -> bool:
        """Remove a page and its text; whether there was a page."""
        was_stored = lookup.remove(namespace, url)
        if was_stored:
            self._texts.pop((namespace, url), None)
        return was_stored

    @contextmanager
    def _opened(self) -> Iterator[_MemoryLookup]:
        with self._lock:
            if self._pages is None:
                raise StoreError("the store in memory is closed; open a new one")
            yield self._pages


class _MemoryLookup:
    """The pages, their numbers by key and by value, and the indexes of their fingerprints."""

    def __init__(self, bits: int) -> None:
        self.pages: dict[int, StoredPage] = {}  # by number, oldest first
        self.furniture_of: dict[tuple[str, str], bytes] = {}  # by (namespace, host)
        self._new_numbers = count(1)
        self._number_of: dict[tuple[str, str], int] = {}  # by (namespace, url)
        self._numbers: dict[tuple[str, Column, int | bytes], dict[int, None]] = {}  # oldest first
        self._indexes: defaultdict[tuple[str, Column], FingerprintIndex]  # by (namespace, column)
        self._indexes = defaultdict(partial(FingerprintIndex, bits))

    def page_of(self, namespace: str, url: str) -> tuple[int, StoredPage] | None:
        number = self._number_of.get((namespace, url))
        return None if number is None else (number, self.pages[number])

    def near_values(
        self, namespace: str, column: Column, value: int, max_distance_bits: int
    ) -> list[tuple[int, int]]:
        return self._indexes[namespace, column].near(value, max_distance_bits, MOST_NEAR)

    def sharing(
        self, namespace: str, column: Column, values: Sequence[int | bytes]
    ) -> Iterator[tuple[int, StoredPage]]:
        numbers = (self._numbers.get((namespace, column, value), {}) for value in values)
        return ((number, self.pages[number]) for number in heapq.merge(*numbers))

    def is_unconfirmed(self, namespace: str, url: str) -> bool:
        return False  # no other process sees its pages

    def furniture(self, namespace: str, host: str) -> bytes:
        return self.furniture_of.get((namespace, host), b"")

    def insert(self, page: StoredPage) -> None:
        values = _values(page)
        for column, value in values:
            if isinstance(value, int):  # refused here when it is too wide, before anything changes
                self._indexes[page.namespace, column].add(value)
        number = next(self._new_numbers)
        for column, value in values:
            self._numbers.setdefault((page.namespace, column, value), {})[number] = None
        self.pages[number] = page
        self._number_of[page.namespace, page.url] = number

    def renew(self, page: StoredPage) -> None:
        number = self._number_of.get((page.namespace, page.url))
        if number is not None:
            known = self.pages[number]
            self.pages[number] = replace(known, seen_at=max(known.seen_at, page.seen_at))

    def remove(self, namespace: str, url: str) -> bool:
        number = self._number_of.pop((namespace, url), None)
        if number is None:
            return False
        for column, value in _values(self.pages.pop(number)):
            sharing = self._numbers[namespace, column, value]
            del sharing[number]
            if not sharing:
                del self._numbers[namespace, column, value]
                if isinstance(value, int):
                    self._indexes[namespace, column].discard(value)
        return True


def _values(page: StoredPage) -> list[tuple[Column, int | bytes]]:
    """The values that the page can be found by."""
    values: list[tuple[Column, int | bytes | None]] = [
        ("content", page.content),
        ("structure", page.structure),
        ("digest", page.digest),
        ("address", page.address),
        ("form", page.form),
    ]
    return [(column, value) for column, value in values if value is not None]
