"""A spider middleware that remembers which response an item came from, beside the item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from twisted.internet.defer import Deferred

from simhash_pipeline.crawl.settings import options_of

if TYPE_CHECKING:
    from simhash_pipeline.crawl.in_hand import Judgement
    from simhash_pipeline.judge import Verdict


class Origin:
    """What became of a response's items."""

    def __init__(self) -> None:
        self.judgement: Judgement | None = None  # of the response's page, where items share it
        self.verdicts: list[Verdict] = []
        self._items_on_their_way = 0
        self._ids: set[int] = set()  # of items that came
        self._waiting: list[Deferred[None]] = []

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
            deferred.callback(None)
        ids, self._ids = self._ids, set()
        return ids

    def all_gone(self) -> Deferred[None]:
        """Fires when each item that came was exported, dropped or failed."""
        gone: Deferred[None] = Deferred()
        if self._items_on_their_way:
            self._waiting.append(gone)
        else:
            gone.callback(None)
        return gone


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
        # By the item's id; the item is held so that its id isn't given to another.
        self._responses: dict[int, tuple[Any, Response]] = {}
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(self._gone, signal)

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if response is not None:
            self._responses[id(item)] = item, response
            self.origin(response).item_came(item)
        return item

    def origin(self, response: Response) -> Origin:
        return self._origins.setdefault(response, Origin())

    def response_of(self, item: Any) -> Response | None:
        """None for an item of no callback, and for one that an earlier pipeline made anew."""
        return self._responses.get(id(item), (item, None))[1]

    def _gone(self, item: Any, response: Response | None) -> None:
        self._responses.pop(id(item), None)
        if response is not None and response in self._origins:
            for key in self._origins[response].item_went():
                # The id of an item that went before may be another's by now.
                if self._responses.get(key, (None, None))[1] is response:
                    del self._responses[key]
