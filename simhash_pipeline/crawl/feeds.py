"""Scraped items in; out comes when each one is safe: stored by feeds and pipelines.

A feed takes an item when it is scraped, and holds it back: a local file in its buffer, a storage
such as S3 or FTP until the feed, or its batch, is closed. A crash until then loses the item, so its
page must not count as seen before.

- Local files and standard output: the feed is flushed, and the item is safe. The operating system
  has it then; a kill of the crawl loses nothing, a power cut may.
- All other storages, feeds with postprocessing, exporters that Scrapy doesn't bring: the item is
  safe once its feed is stored.
- A pipeline that stores items later than it sees them holds them: `SimhashPipeline.hold`.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from scrapy import exporters, signals
from scrapy.crawler import Crawler
from scrapy.extensions.feedexport import FeedExporter, FeedSlot, FileFeedStorage, StdoutFeedStorage
from scrapy.extensions.postprocessing import PostProcessingManager

from simhash_pipeline.verdict import Verdict

# Scrapy's own exporters: each writes an item to the file at once.
_DIRECT_NAMES = {*exporters.__all__} - {"BaseItemExporter"}
_DIRECT_EXPORTERS = tuple(getattr(exporters, name) for name in _DIRECT_NAMES)
_DIRECT_STORAGES = (FileFeedStorage, StdoutFeedStorage)  # these alone: another class may do else

Stored = Callable[[], None]  # to be called by a pipeline once it has stored an item
_Place = FeedSlot | Stored


class Feeds:
    """Calls `confirm` with the verdict of each scraped item, once the item is safe."""

    def __init__(self, crawler: Crawler, confirm: Callable[[Verdict], None]) -> None:
        self._crawler = crawler
        self._confirm = confirm
        self._exporter = crawler.get_extension(FeedExporter)
        self._slots: Mapping[FeedSlot, int] = {}  # that take the next item, and how many they took
        # By feed or hold the pages that wait for it, each with all that its item has yet to be in.
        self._awaited: dict[_Place, list[tuple[Verdict, set[_Place]]]] = {}
        self._holds: dict[int, list[Stored]] = {}  # by the id of an item that is in the pipelines
        self.was_held = False  # whether any item was
        self._lost = 0  # pages whose items could not be stored
        self._closed: Counter[str] = Counter()  # slots that were closed, by their storage's name
        self._failed: Counter[str] = Counter()  # those of them whose feed could not be stored
        crawler.signals.connect(self._feeds_opened, signals.spider_opened)
        crawler.signals.connect(self._slot_closed, signals.feed_slot_closed)

    @property
    def are_awaited(self) -> bool:
        """Whether items wait for feeds that Scrapy has yet to close."""
        return any(isinstance(place, FeedSlot) for place in self._awaited)

    @property
    def unstored(self) -> int:
        """The number of pages whose items some feed or pipeline has not stored."""
        awaited = {id(each) for of_place in self._awaited.values() for each in of_place}
        return self._lost + len(awaited)

    def hold(self, item: Any) -> Stored:
        """Keep the item from being safe until what is returned is called; once is enough."""

        def stored() -> None:
            holds = self._holds.get(id(item), [])  # as it keeps the item, its id is no other's
            if stored in holds:  # before the item was scraped
                holds.remove(stored)
            self._stored(stored)

        self.was_held = True
        self._holds.setdefault(id(item), []).append(stored)
        return stored

    def lost(self, item: Any) -> None:
        """To be called of every item that a pipeline dropped or failed on."""
        self._holds.pop(id(item), None)

    def scraped(self, item: Any, verdict: Verdict | None) -> None:
        """To be called of every scraped item; `verdict` is what to confirm of it, if anything."""
        slots, self._slots = self._slots, self._current()  # a full batch has given way to the next
        holds = self._holds.pop(id(item), ())
        if verdict is None:
            return
        asked = {slot: taken for slot, taken in slots.items() if slot.filter.accepts(item)}
        if any(slot.itemcount == taken for slot, taken in asked.items()):
            self._lost += 1  # it could not be exported, as Scrapy has logged: it is never safe
            return
        places: set[_Place] = {*holds, *(slot for slot in asked if not _is_flushed(slot))}
        awaited = verdict, places
        for place in places:
            self._awaited.setdefault(place, []).append(awaited)
        if not places:
            self._confirm(verdict)

    def _current(self) -> Mapping[FeedSlot, int]:
        return {slot: slot.itemcount for slot in self._exporter.slots} if self._exporter else {}

    def _feeds_opened(self) -> None:
        self._slots = self._current()

    def _slot_closed(self, slot: FeedSlot) -> None:
        if self._is_stored(type(slot.storage).__name__):
            self._stored(slot)
        else:
            self._lost += len(self._awaited.pop(slot, ()))

    def _stored(self, place: _Place) -> None:
        for verdict, places in self._awaited.pop(place, ()):
            places.remove(place)
            if not places:
                self._confirm(verdict)

    def _is_stored(self, storage: str) -> bool:
        """Whether the feed that was closed just now was stored, by what Scrapy counts.

        Where several feeds were closed before this was asked, and one of them could not be stored,
        none is taken for stored.
        """
        stored, failed = (
            self._crawler.stats.get_value(f"feedexport/{outcome}_count/{storage}", 0)
            for outcome in ("success", "failed")
        )
        is_stored: bool = failed == self._failed[storage]
        self._closed[storage] += 1
        if self._closed[storage] == stored + failed:
            self._failed[storage] = failed
        return is_stored


def _is_flushed(slot: FeedSlot) -> bool:
    """Whether all that the feed took is out of this process."""
    file: Any = slot.file
    if type(slot.storage) not in _DIRECT_STORAGES or isinstance(file, PostProcessingManager):
        return False
    if not isinstance(slot.exporter, _DIRECT_EXPORTERS):
        return False  # or no item came yet
    try:
        if not file.closed:  # a full batch was closed already
            file.flush()
    except OSError:
        return False
    return True
