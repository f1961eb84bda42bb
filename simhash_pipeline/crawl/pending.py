"""Items that later pipelines have in hand, the fate of the pages stored for them, and who waits.

Scrapy tells an item's fate by an object: of a lost item it is the one that the callback yielded, of
an exported one the last that a pipeline made of it. What holds whatever the order of the fates:

- Every item that leaves the pipeline is entered, also one that stored nothing, so that its fate is
  not taken for another's. One that is found by its URL, or as the only one of its response, had
  another object put in its place.
- A page is safe once the first of its items came out, and lost once the last of them was lost;
  nothing changes that afterwards. Whoever is near it waits until then.
- A page whose URL was stored anew meanwhile is in the store no longer: its fate moves nothing.
- Neither an item nor a response is held. Where an item's id is given to another it is gone, and was
  exported: Scrapy holds an item that is to be lost until it has said so.
- Nothing is kept of an item once its fate was told, nor of a page once it is decided.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import ReferenceType, ref

from twisted.internet.defer import Deferred

from simhash_pipeline.crawl.deferreds import resolve
from simhash_pipeline.judge import Verdict

if TYPE_CHECKING:
    from concurrent.futures import Future

    from simhash_pipeline.crawl.judging import Judged


@dataclass(slots=True, eq=False)
class Kept:
    """A stored page, and what is known of its items."""

    verdict: Verdict  # that stored it
    items: int = 0  # of it, in hand
    lost: bool | None = None  # None while that isn't decided
    waiting: list[Deferred[bool | None]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Judgement:
    """One judgement of a page, for all items of it."""

    judged: Future[Judged]
    kept: Kept | None = None  # what it stored, once an item was found to be kept
    told: bool = False  # of an item

    @property
    def lost(self) -> bool:
        """Whether what it stored was forgotten, so that it says nothing of a further item."""
        return self.kept is not None and self.kept.lost is True


@dataclass(frozen=True, slots=True)
class _Item:
    url: object  # of its page, as it came
    response: ReferenceType[object] | None  # that it came from, where that is known; not held
    yielded: bool  # whether it is known to be the very object that the callback yielded
    kept: Kept | None  # its page, where one is stored


class PendingItems:
    """Takes items and their fates; `exported` and `lost` return what follows for the store."""

    def __init__(self) -> None:
        self._items: dict[int, _Item] = {}  # by the item's id
        self._undecided: dict[str, Kept] = {}  # by URL, the last stored of each

    def page_of(self, verdict: Verdict) -> Kept | None:
        """The page stored by this verdict just now, or the one that it found unchanged in hand."""
        if verdict.stored:
            self._undecided[verdict.url] = Kept(verdict)
        return self._undecided.get(verdict.url)

    def enter(
        self, item: Any, url: object, response: object, kept: Kept | None, *, yielded: bool
    ) -> Verdict | None:
        """Take an item in; returned is what to confirm of one that had the same id before."""
        before = self._items.pop(id(item), None)
        origin = None if response is None else ref(response)
        self._items[id(item)] = _Item(url, origin, yielded, kept)
        if kept is not None:
            kept.items += 1
        return None if before is None else self._came_out(before)

    def exported(self, item: Any, url: object, response: object) -> Verdict | None:
        """What to confirm, where this was the first item of its page to come out."""
        found = self._items.pop(id(item), None) or self._replaced(url, response)
        return None if found is None else self._came_out(found)

    def lost(self, item: Any, url: object, response: object) -> Kept | None:
        """The page to forget and tell `decided` of, where this was the last item of it."""
        found = self._items.pop(id(item), None) or self._replaced(url, response, yielded=False)
        if found is None or found.kept is None:
            return None
        kept = found.kept
        kept.items -= 1
        if kept.items or kept.lost is not None:
            return None
        kept.lost = True
        if self._is_stored(kept):
            return kept
        self.decided(kept)
        return None

    def end(self) -> list[Verdict]:
        """What to confirm at last: of the items left, all that were lost have been told."""
        items = list(self._items.values())
        self._items.clear()
        return [verdict for verdict in map(self._came_out, items) if verdict is not None]

    def fate_of(self, url: str | None) -> Deferred[bool | None] | None:
        """Fires, with whether it was lost, once that is decided; None if it is, or not in hand."""
        kept = None if url is None else self._undecided.get(url)
        if kept is None:
            return None
        fate: Deferred[bool | None] = Deferred()  # None by one who waits no longer
        kept.waiting.append(fate)
        return fate

    def is_lost(self, url: str) -> bool:
        """Whether the page last stored of this URL is lost, and yet to be forgotten."""
        kept = self._undecided.get(url)
        return kept is not None and kept.lost is True

    def decided(self, kept: Kept) -> None:
        """The page is safe, or forgotten: those who waited go on."""
        if self._is_stored(kept):
            del self._undecided[kept.verdict.url]
        waiting, kept.waiting = kept.waiting, []
        for fate in waiting:
            resolve(fate, kept.lost is True)

    def _came_out(self, item: _Item) -> Verdict | None:
        kept = item.kept
        if kept is None:
            return None
        kept.items -= 1
        if kept.lost is not None:
            return None
        kept.lost = False
        stored = self._is_stored(kept)
        self.decided(kept)
        return kept.verdict if stored else None

    def _replaced(
        self, url: object, response: object, *, yielded: bool | None = None
    ) -> _Item | None:
        """The first item of this URL, or the only one of this response; of this kind where said."""
        items = {k: i for k, i in self._items.items() if yielded in (None, i.yielded)}
        found = [key for key, item in items.items() if url is not None and item.url == url][:1]
        if not found and response is not None:
            found = [k for k, i in items.items() if i.response and i.response() is response]
        return self._items.pop(found[0]) if len(found) == 1 else None

    def _is_stored(self, kept: Kept) -> bool:
        """Whether it is the last that was stored of its URL."""
        return self._undecided.get(kept.verdict.url) is kept
