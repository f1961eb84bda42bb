"""The store that is gone when it closes: dictionaries and the in-memory index."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

from simhash_pipeline.errors import StoreError
from simhash_pipeline.index.neighbours import FingerprintIndex
from simhash_pipeline.stores.contract import (
    Action,
    Column,
    PageText,
    StoredPage,
    View,
    check_stamp,
    joined_furniture,
    stamped_bits,
)
from simhash_pipeline.stores.text_packing import packed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from typing_extensions import Self

T = TypeVar("T")


class MemoryStore:
    """Keeps pages until it is closed; for the threads of one process."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._stamp: dict[str, object] | None = None
        self._shelf: _MemoryLookup | None = _MemoryLookup(stamped_bits({}))  # None once closed
        self._texts: dict[tuple[str, str], PageText] = {}  # by (namespace, url)

    def stamp(self, made_with: Mapping[str, object]) -> None:
        with self._open_shelf() as shelf:
            if self._stamp is None and not shelf.pages:
                self._shelf = _MemoryLookup(stamped_bits(made_with))
                self._stamp = dict(made_with)
            check_stamp("the store in memory", self._stamp or {}, made_with)

    def made_with(self) -> dict[str, object] | None:
        with self._open_shelf():
            return None if self._stamp is None else dict(self._stamp)

    def settle(self, page: StoredPage, decide: Callable[[View], tuple[Action, T]]) -> T:
        with self._open_shelf() as shelf:
            action, answer = decide(View(shelf, page))
            if action is Action.RENEW:
                shelf.renew(page)
            if action in (Action.KEEP, Action.FORGET):
                self._remove(shelf, page.namespace, page.url)
            if action is Action.KEEP:
                shelf.insert(page)
            return answer

    def insert_many(self, pages: Iterable[StoredPage]) -> int:
        count = 0
        with self._open_shelf() as shelf:
            for page in pages:
                self._remove(shelf, page.namespace, page.url)
                shelf.insert(page)
                count += 1
        return count

    def confirm(self, namespace: str, url: str) -> None:
        with self._open_shelf():
            pass  # confirmed or not, its pages go with the process

    def forget(self, namespace: str, url: str) -> bool:
        with self._open_shelf() as shelf:
            stored = self._remove(shelf, namespace, url)
            self._texts.pop((namespace, url), None)
            return stored

    def expire(self, seen_before: float) -> int:
        with self._open_shelf() as shelf:
            old = [page for page in shelf.pages.values() if page.seen_at < seen_before]
            for text in [text for text in self._texts.values() if text.kept_at < seen_before]:
                del self._texts[text.namespace, text.url]
            return sum(self._remove(shelf, page.namespace, page.url) for page in old)

    def clear(self, namespace: str) -> int:
        with self._open_shelf() as shelf:
            its = [page for page in shelf.pages.values() if page.namespace == namespace]
            self._texts = {key: text for key, text in self._texts.items() if key[0] != namespace}
            for site in [key for key in shelf.furniture_of if key[0] == namespace]:
                del shelf.furniture_of[site]
            return sum(shelf.remove(namespace, page.url) for page in its)

    def furniture(self, namespace: str, site: str) -> bytes:
        with self._open_shelf() as shelf:
            return shelf.furniture(namespace, site)

    def add_furniture(self, namespace: str, site: str, blocks: bytes) -> None:
        with self._open_shelf() as shelf:
            known = shelf.furniture(namespace, site)
            shelf.furniture_of[namespace, site] = joined_furniture(known, blocks)

    def all_furniture(self) -> Iterator[tuple[str, str, bytes]]:
        with self._open_shelf() as shelf:
            return iter([(*key, blocks) for key, blocks in shelf.furniture_of.items()])

    def keep_texts(self, texts: Iterable[PageText]) -> None:
        with self._open_shelf():
            for text in texts:
                one_line = replace(text, title=" ".join(text.title.split()))
                self._texts[text.namespace, text.url] = one_line

    def text_of(self, namespace: str, url: str) -> PageText | None:
        with self._open_shelf():
            return self._texts.get((namespace, url))

    def texts(self) -> Iterator[PageText]:
        with self._open_shelf():
            return iter(list(self._texts.values()))

    def text_sizes(self) -> Iterator[int]:
        return (len(packed(text)) for text in self.texts())

    def pages(self) -> Iterator[StoredPage]:
        with self._open_shelf() as shelf:
            return iter(list(shelf.pages.values()))

    def check(self) -> list[str]:
        with self._open_shelf():
            return []

    def close(self) -> None:
        self._shelf = None

    def __len__(self) -> int:
        with self._open_shelf() as shelf:
            return len(shelf.pages)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _remove(self, shelf: _MemoryLookup, namespace: str, url: str) -> bool:
        """Remove a page, and with it its text."""
        stored = shelf.remove(namespace, url)
        if stored:
            self._texts.pop((namespace, url), None)
        return stored

    @contextmanager
    def _open_shelf(self) -> Iterator[_MemoryLookup]:
        with self._lock:
            if self._shelf is None:
                raise StoreError("the store in memory is closed; open a new one")
            yield self._shelf


class _MemoryLookup:
    """The pages, the ways to find them, and the indexes of their fingerprints."""

    def __init__(self, bits: int) -> None:
        self.pages: dict[int, StoredPage] = {}  # by number, oldest first
        self._bits = bits
        self._new_numbers = count(1)
        self._number_of: dict[tuple[str, str], int] = {}  # by (namespace, url)
        self._numbers: dict[tuple[str, Column, int | bytes], dict[int, None]] = {}  # oldest first
        self._indexes: dict[tuple[str, Column], FingerprintIndex] = {}  # by (namespace, column)
        self.furniture_of: dict[tuple[str, str], bytes] = {}  # by (namespace, site)

    def page_of(self, namespace: str, url: str) -> tuple[int, StoredPage] | None:
        number = self._number_of.get((namespace, url))
        return None if number is None else (number, self.pages[number])

    def near_values(
        self, namespace: str, column: Column, value: int, max_distance_bits: int
    ) -> list[tuple[int, int]]:
        return self._index(namespace, column).near(value, max_distance_bits)

    def sharing(
        self, namespace: str, column: Column, value: int | bytes
    ) -> Iterator[tuple[int, StoredPage]]:
        numbers = self._numbers.get((namespace, column, value), {})
        return ((number, self.pages[number]) for number in numbers)

    def furniture(self, namespace: str, site: str) -> bytes:
        return self.furniture_of.get((namespace, site), b"")

    def insert(self, page: StoredPage) -> None:
        for column, fingerprint in _fingerprints(page):
            self._index(page.namespace, column).add(fingerprint)
        number = next(self._new_numbers)
        self.pages[number] = page
        self._number_of[page.namespace, page.url] = number
        for column, value in _values(page):
            self._numbers.setdefault((page.namespace, column, value), {})[number] = None

    def renew(self, page: StoredPage) -> None:
        number = self._number_of.get((page.namespace, page.url))
        if number is not None:
            self.pages[number] = replace(self.pages[number], seen_at=page.seen_at)

    def remove(self, namespace: str, url: str) -> bool:
        number = self._number_of.pop((namespace, url), None)
        if number is None:
            return False
        page = self.pages.pop(number)
        for column, value in _values(page):
            del self._numbers[namespace, column, value][number]
            if not self._numbers[namespace, column, value]:
                del self._numbers[namespace, column, value]
        for column, fingerprint in _fingerprints(page):
            if (namespace, column, fingerprint) not in self._numbers:
                self._index(namespace, column).discard(fingerprint)
        return True

    def _index(self, namespace: str, column: Column) -> FingerprintIndex:
        if (namespace, column) not in self._indexes:
            self._indexes[namespace, column] = FingerprintIndex(self._bits)
        return self._indexes[namespace, column]


def _fingerprints(page: StoredPage) -> list[tuple[Column, int]]:
    both: list[tuple[Column, int | None]] = [
        ("content", page.content),
        ("structure", page.structure),
    ]
    return [(column, value) for column, value in both if value is not None]


def _values(page: StoredPage) -> list[tuple[Column, int | bytes]]:
    digest: list[tuple[Column, int | bytes]] = (
        [] if page.digest is None else [("digest", page.digest)]
    )
    return [*_fingerprints(page), *digest]
