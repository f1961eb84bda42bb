"""A spider middleware that remembers which response an item came from, beside the item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from twisted.internet.defer import Deferred

from simhash_pipeline.crawl.deferreds import resolve, wait_or_none
from simhash_pipeline.crawl.settings import options_of

if TYPE_CHECKING:
    from simhash_pipeline.crawl.pending import Judgement
    from simhash_pipeline.judge import Verdict


class Origin:
    """What became of a response's items."""

    def __init__(self) -> None:
        self.judgement: Judgement | None = None  # of the response's page, where items share it
        self.verdicts: list[Verdict] = []
        self._items_on_their_way = 0
        self._ids: set[int] = set()  # of items that came
        self._waiting: list[Deferred[bool | None]] = []

    def item_came(self, item: Any) -> None:
        self._items_on_their_way += 1
        self._ids.add(id(item))

    def item_went(self) -> set[int]:
        """The ids of all items, once the last has gone; one of another object may have gone."""
        self._items_on_their_way -= 1
        if self._items_on_their_way:
            return set()
        waiting, self._waiting = self._waiting, []
        for deferred in waiting:
            resolve(deferred, True)
        ids, self._ids = self._ids, set()
        return ids

    async def all_gone(self) -> bool:
        """Waits until each item that came was exported, dropped or failed.

        False after a minute: a middleware nearer the engine may have swallowed one.
        """
        if not self._items_on_their_way:
            return True
        gone: Deferred[bool | None] = Deferred()
        self._waiting.append(gone)
        return await wait_or_none(gone) is True


@dataclass(slots=True)
class _Item:
    item: Any  # held so that its id isn't given to another
    response: Response
    times: int = 0  # it was yielded, and isn't gone


class ResponseMiddleware(BaseSpiderMiddleware):
    """Touches no item: what it knows stands in a table of its own.

    An item stands there until it has gone; one that another object took the place of, until all
    items of its response have.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if not options_of(crawler).enabled:
            raise NotConfigured
        self._origins: WeakKeyDictionary[Response, Origin] = WeakKeyDictionary()
        self._items: dict[int, _Item] = {}  # by the item's id
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(self._gone, signal)

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if response is not None:
            known = self._items.get(id(item))
            if known is None or known.response is not response:
                known = self._items[id(item)] = _Item(item, response)
            known.times += 1
            self.origin(response).item_came(item)
        return item

    def origin(self, response: Response) -> Origin:
        return self._origins.setdefault(response, Origin())

    def response_of(self, item: Any) -> Response | None:
        """None for an item of no callback, and for one that an earlier pipeline made anew."""
        known = self._items.get(id(item))
        return None if known is None else known.response

    def response_at(self, url: object) -> Response | None:
        """One of this URL with items on their way: that of an item made anew, which names it."""
        found = (known.response for known in self._items.values() if known.response.url == url)
        return next(found, None)

    def _gone(self, item: Any, response: Response | None) -> None:
        known = self._items.get(id(item))
        if known is not None:
            known.times -= 1
            if not known.times:
                del self._items[id(item)]
        if response is not None and response in self._origins:
            for key in self._origins[response].item_went():
                # The id of an item that went before may be another's by now.
                left = self._items.get(key)
                if left is not None and left.response is response:
                    del self._items[key]
