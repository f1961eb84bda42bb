"""The one ledger of items: from the callback that yields an item to what became of it.

An item is entered when its callback yields it, and again when it reaches the pipeline. Scrapy then
reports its outcome by item_scraped, item_dropped or item_error. It sends these signals in the
context in which it ran the item's pipelines. So a context variable says which item is meant,
whatever object a later pipeline put in its place, and whether the item reached this pipeline.

- A page is safe once the first of its items was scraped, and lost once the last of them was lost;
  nothing changes that afterwards. A near-duplicate of it waits until then.
- If a page's URL was stored again meanwhile, the first page's outcome changes nothing in the store.
- No response is held. An item is held until its outcome, as Scrapy holds it.
"""

from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary, ref

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from simhash_pipeline.crawl.feeds import Feeds
from simhash_pipeline.crawl.item_source import field_url
from simhash_pipeline.crawl.settings import options_of
from simhash_pipeline.crawl.worker import JudgedPage
from simhash_pipeline.errors import PageError
from simhash_pipeline.page.source import Source
from simhash_pipeline.verdict import Verdict

MAX_WAIT_SECS = 60.0
MAX_ROWS_WAIT_SECS = 10.0  # for all rows of a list that is like another one


class Event:
    """Something that coroutines wait for, under any event loop that Scrapy runs on."""

    def __init__(self) -> None:
        self._waiting: list[Deferred[bool]] = []

    async def wait(self, most_secs: float = MAX_WAIT_SECS) -> bool:
        """True when it happens, False if it has not after so many seconds."""
        happened: Deferred[bool] = Deferred()
        self._waiting.append(happened)
        timer = call_later(most_secs, _resolve, happened, False)
        result = await maybe_deferred_to_future(happened)
        timer.cancel()
        return result

    def happen(self) -> None:
        """Resume everything that waits now."""
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            _resolve(each, True)


def _resolve(deferred: Deferred[bool], value: bool) -> None:
    if not deferred.called:
        deferred.callback(value)


@dataclass(slots=True, eq=False)
class TentativePage:
    """A stored page whose items are pending."""

    verdict: Verdict  # that stored it
    items: int = 0  # of it that are pending
    lost: bool | None = None  # None until that is decided
    decided: Event = field(default_factory=Event)


@dataclass(slots=True, eq=False)
class SharedVerdict:
    """One verdict on a page, for all its items."""

    judged: Future[JudgedPage]
    page: TentativePage | None = None  # that it stored, once an item was found to be kept
    reported: bool = False  # whether the page was logged and counted, for the first of its items


@dataclass(slots=True, eq=False)
class ResponseItems:
    shared: SharedVerdict | None = None  # the last on the response's page
    first: Source | None = None  # with what the first item holds
    verdicts: list[Verdict] = field(default_factory=list)
    pending: int = 0
    entered: int = 0
    all_done: Event = field(default_factory=Event)
    stored: JudgedPage | None = None  # the last that stored the page
    rows: dict[bytes, None] = field(default_factory=dict)  # what each item says, see `row_of`


@dataclass(slots=True, eq=False)
class PendingItem:
    """An item that a callback yielded, or that reached the pipeline."""

    item: Any  # held so that no other object gets its id; None once its outcome is known
    response: Callable[[], Response | None] = lambda: None  # that it came from, while that lives
    url: str | None = None  # that it gives, once it reached the pipeline
    page: TentativePage | None = None  # that is stored for it


_current: ContextVar[PendingItem | None] = ContextVar("simhash_current", default=None)


class PendingItems:
    """The ledger. Once it is decided, it gives each stored page to `feeds`, or calls `forget`."""

    def __init__(
        self,
        crawler: Crawler,
        feeds: Feeds,
        forget: Callable[[Verdict], Awaitable[None]],
        end_list: Callable[[ResponseItems], None],  # when all items of a response are out
    ) -> None:
        self._options = options_of(crawler)
        self._feeds, self._forget, self._end_list = feeds, forget, end_list
        self._responses: WeakKeyDictionary[Response, ResponseItems] = WeakKeyDictionary()
        self._list_callbacks: set[str] = set()
        self._lists: dict[tuple[str, str], ResponseItems] = {}  # stored, and items are pending
        # By the item's id: what callbacks yielded, and what reached the pipeline.
        self._yielded: dict[int, list[PendingItem]] = {}
        self._arrived: dict[int, PendingItem] = {}
        # By namespace and URL, the last stored of each.
        self._undecided: dict[tuple[str, str | None], TentativePage] = {}
        crawler.signals.connect(self._scraped, signals.item_scraped)
        crawler.signals.connect(self._lost, signals.item_dropped)
        crawler.signals.connect(self._lost, signals.item_error)

    def gives_rows(self, response: Response) -> bool:
        """Whether its callback has given several items of one page."""
        return _callback_of(response) in self._list_callbacks

    def of_response(self, response: Response) -> ResponseItems:
        return self._responses.setdefault(response, ResponseItems())

    async def all_done(self, response: Response) -> bool:
        """Wait until every item of the response was scraped, dropped or failed.

        False after a minute: a middleware nearer the engine may have removed an item.
        """
        items = self.of_response(response)
        return not items.pending or await items.all_done.wait(MAX_WAIT_SECS)

    def enter(self, item: Any, response: Response) -> None:
        """A callback yields the item."""
        self._yielded.setdefault(id(item), []).append(PendingItem(item, ref(response)))
        items = self.of_response(response)
        items.pending += 1
        items.entered += 1
        if items.entered > 1:
            self._list_callbacks.add(_callback_of(response))

    def track(self, item: Any) -> PendingItem:
        """The item reaches the pipeline; from here on its outcome is the one of this context."""
        entry = self._leave_yielded(item) or PendingItem(item)
        entry.url = field_url(item, self._options)
        if entry.response() is None:
            entry.response = self._response_at(entry.url)
        self._arrived[id(item)] = entry
        _current.set(entry)
        return entry

    def keep(self, entry: PendingItem, shared: SharedVerdict, verdict: Verdict) -> None:
        """The item is kept: a page that the verdict stored, or found pending, waits for it."""
        if shared.page is None and not verdict.dropped:
            if verdict.stored:
                self._undecided[_key(verdict)] = TentativePage(verdict)
            shared.page = self._undecided.get(_key(verdict))
        if shared.page is not None:
            shared.page.items += 1
            entry.page = shared.page

    def store_list(self, items: ResponseItems, judged: JudgedPage) -> None:
        """The items' page was stored: further rows of it may follow."""
        items.stored = judged
        self._lists[_key(judged.verdict)] = items

    async def are_rows_known(self, verdict: Verdict) -> bool:
        """Wait until all items of its twin are out; False if nothing is known of such."""
        items = self._lists.get((verdict.namespace, verdict.twin_key or ""))
        return items is not None and await items.all_done.wait(MAX_ROWS_WAIT_SECS)

    async def is_twin_lost(self, verdict: Verdict) -> bool:
        """Wait until it is decided whether the page's twin is lost; PageError after a minute."""
        page = self._undecided.get((verdict.namespace, verdict.twin_key))
        if page is not None and not await page.decided.wait(MAX_WAIT_SECS):
            rule = f"the item of its twin {verdict.twin_url} is still in a later pipeline"
            raise PageError("undecided", rule)
        return page is not None and page.lost is True

    def is_being_forgotten(self, verdict: Verdict) -> bool:
        """Whether the page was lost by an item before, and is still in the store."""
        page = self._undecided.get(_key(verdict))
        return page is not None and page.lost is True

    def _scraped(self, item: Any, response: Response | None) -> None:
        page = self._leave(_current.get(), item, response)
        verdict = None  # to be confirmed once the item is stored
        if page is not None and page.lost is None:
            page.lost = False
            verdict = page.verdict if self._holds_its_url(page) else None
            self._settle(page)
        self._feeds.scraped(item, verdict)

    async def _lost(self, item: Any, response: Response | None) -> None:
        """Scrapy waits for this: what was judged before may have a lost page for its twin."""
        self._feeds.lost(item)
        entry = _current.get()
        if entry is not None and not self._is_of(entry, item, response):
            entry = None  # of another item: a task inherits the context of what started it
        page = self._leave(entry, item, response)
        if page is None or page.items or page.lost is not None:
            return
        page.lost = True
        if self._holds_its_url(page):
            await self._forget(page.verdict)
        self._settle(page)

    def _is_of(self, entry: PendingItem, item: Any, response: Response | None) -> bool:
        if (own := entry.response()) is not None:
            return own is response
        return entry.item is item or entry.url == field_url(item, self._options)

    def _leave(
        self, entry: PendingItem | None, item: Any, response: Response | None
    ) -> TentativePage | None:
        """The outcome is known; the page that is stored for the item, if one is."""
        if entry is None or entry.item is None:  # also where pipelines run in tasks of their own
            entry = self._arrived.get(id(item))
        if entry is None or entry.item is not item:
            self._leave_yielded(item)
        page = None
        if entry is not None:
            self._arrived.pop(id(entry.item), None)
            entry.item = None  # a context may live on
            page = entry.page
        if page is not None:
            page.items -= 1
        if response is not None and response in self._responses:
            self._leave_response(response, self._responses[response])
        return page

    def _leave_response(self, response: Response, items: ResponseItems) -> None:
        items.pending -= 1
        if items.pending:
            return
        entered = chain.from_iterable(self._yielded.values())
        for entry in [each for each in entered if each.response() is response]:
            self._leave_yielded(entry.item)
        if items.stored is not None:
            self._lists.pop(_key(items.stored.verdict), None)
        self._end_list(items)
        items.all_done.happen()

    def _leave_yielded(self, item: Any) -> PendingItem | None:
        entries = self._yielded.get(id(item), [])
        entry = entries.pop(0) if entries else None
        if not entries:
            self._yielded.pop(id(item), None)
        return entry

    def _response_at(self, url: str | None) -> Callable[[], Response | None]:
        """The response of this URL with pending items; an earlier pipeline replaced the item."""
        for entry in chain.from_iterable(self._yielded.values()):
            if (response := entry.response()) is not None and response.url == url:
                return entry.response
        return lambda: None

    def _settle(self, page: TentativePage) -> None:
        if self._holds_its_url(page):
            del self._undecided[_key(page.verdict)]
        page.decided.happen()

    def _holds_its_url(self, page: TentativePage) -> bool:
        """Whether its URL was not stored again meanwhile."""
        return self._undecided.get(_key(page.verdict)) is page


def _callback_of(response: Response) -> str:
    callback = None if response.request is None else response.request.callback
    return getattr(callback, "__qualname__", "parse")


def _key(verdict: Verdict) -> tuple[str, str]:
    return verdict.namespace, verdict.key


class ResponseMiddleware(BaseSpiderMiddleware):
    """A spider middleware that enters which response an item came from; it changes no item."""

    pending: PendingItems | None = None  # of the pipeline, where one judges

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if response is not None and self.pending is not None:
            self.pending.enter(item, response)
        return item
