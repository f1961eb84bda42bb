"""A store that is plainly right: a list of pages, all of which each question looks through."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from simhash_pipeline.stores.contract import (
    MOST_NEAR,
    Action,
    PageText,
    StoredPage,
    View,
    Visit,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")


class DullStore:
    """Answers as every store must; it has those methods that histories of changes call."""

    def __init__(self) -> None:
        self._pages: list[StoredPage] = []  # oldest first
        self._texts: dict[tuple[str, str], PageText] = {}  # by (namespace, url)

    def settle(self, page: StoredPage, decide: Callable[[View], tuple[Action, T]]) -> T:
        action, answer = decide(DullView(self._pages, page))
        if action is Action.RENEW:
            self._pages = [
                replace(known, seen_at=max(known.seen_at, page.seen_at))
                if (known.namespace, known.url) == (page.namespace, page.url)
                else known
                for known in self._pages
            ]
        if action in (Action.KEEP, Action.FORGET) and self._has(page.namespace, page.url):
            self.forget(page.namespace, page.url)
        if action is Action.KEEP:
            self._pages.append(page)
        return answer

    def forget(self, namespace: str, url: str) -> bool:
        was_stored = self._has(namespace, url)
        self._texts.pop((namespace, url), None)
        self._pages = [one for one in self._pages if (one.namespace, one.url) != (namespace, url)]
        return was_stored

    def expire(self, seen_before: float, namespace: str | None = None) -> int:
        def is_old(time: float, of: str) -> bool:
            return time < seen_before and namespace in (None, of)

        self._texts = {
            key: text for key, text in self._texts.items() if not is_old(text.kept_at, key[0])
        }
        old = [page for page in self._pages if is_old(page.seen_at, page.namespace)]
        return sum(self.forget(page.namespace, page.url) for page in old)

    def keep_texts(self, texts: Iterable[PageText]) -> None:
        self._texts |= {(text.namespace, text.url): text for text in texts}

    def text_of(self, namespace: str, url: str) -> PageText | None:
        return self._texts.get((namespace, url))

    def texts(self) -> Iterator[PageText]:
        return iter(self._texts.values())

    def pages(self) -> Iterator[StoredPage]:
        return iter(self._pages)

    def _has(self, namespace: str, url: str) -> bool:
        return any((one.namespace, one.url) == (namespace, url) for one in self._pages)


class DullView(View):
    """Looks through all pages for each answer."""

    def __init__(self, pages: Iterable[StoredPage], page: StoredPage) -> None:
        self._pages = [one for one in pages if one.namespace == page.namespace]
        super().__init__(page)

    def page_of(self, url: str) -> StoredPage | None:
        return next((page for page in self._pages if page.url == url), None)

    def last_visit(self) -> Visit | None:
        return None

    def is_unconfirmed(self, found: StoredPage) -> bool:
        return False

    def _near_values(
        self, column: str, value: int, max_distance_bits: int
    ) -> list[tuple[int, int]]:
        stored = dict.fromkeys(getattr(page, column) for page in self._pages)
        stored.pop(None, None)
        near = [(other, (other ^ value).bit_count()) for other in stored]
        within = [pair for pair in near if pair[1] <= max_distance_bits]
        return sorted(within, key=itemgetter(1, 0))[:MOST_NEAR]

    def _sharing(
        self, column: str, values: Sequence[int | bytes], site: str | None
    ) -> Iterator[StoredPage]:
        for page in self._pages:
            if site in (None, page.site) and getattr(page, column) in values:
                yield page

    def _read_repeated_text(self, host: str) -> bytes:
        return b""
