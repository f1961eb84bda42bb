"""The Scrapy item pipeline: it keeps each page once and drops near-duplicates, as judge.py says.

`ADDONS = {"simhash_pipeline.Addon": 500}`, one line, enables it and what serves beside it.
"""

import os
import time
import uuid
from collections.abc import Callable, MutableMapping
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Any

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import load_object

from simhash_pipeline.bits import fingerprint_hex
from simhash_pipeline.crawl.feeds import Feeds
from simhash_pipeline.crawl.follow import FollowMiddleware, crawls_less
from simhash_pipeline.crawl.item_source import find_page
from simhash_pipeline.crawl.pending import (
    MAX_ROWS_WAIT_SECS,
    MAX_WAIT_SECS,
    Event,
    PendingItem,
    PendingItems,
    ResponseItems,
    ResponseMiddleware,
    SharedVerdict,
)
from simhash_pipeline.crawl.settings import drop_log_path, options_of, reasoned, store_url
from simhash_pipeline.crawl.stats import CrawlStats, drop_line
from simhash_pipeline.crawl.worker import JudgedPage, JudgeWorker, result_of
from simhash_pipeline.drop_log import DropLog
from simhash_pipeline.errors import DropLogError, OptionsError, PageError, StoreError, StoreLost
from simhash_pipeline.item_values import names_itself, row_of
from simhash_pipeline.items import as_row, said_by
from simhash_pipeline.options import Options
from simhash_pipeline.page.source import Source, looks_drawn_by_script
from simhash_pipeline.stores.opening import store_place
from simhash_pipeline.urls import declared_url
from simhash_pipeline.verdict import Verdict

# Signal: an item's page was judged. Receivers get item, verdict, page (its fingerprints), spider.
page_judged = object()
OPT_OUT = "simhash"  # an item's field and a request's meta key: False keeps the item unjudged
PIPELINE_ORDER = 100  # before a project's own: Scrapy's template and most tutorials give those 300
# Next to the engine, after all others: what passes here is scheduled, or becomes an item.
RESPONSES_ORDER = -999
FOLLOW_ORDER = -1000
OTHER_CRAWL_LOOK_SECS = 0.5  # between looks at a page that another crawl has not confirmed
IMPATIENT_SECS = 600.0  # after a wait for another crawl in vain, none is waited for


class NearDuplicate(DropItem):
    """The item's page is a near-duplicate of a stored one: `verdict` says which, and how near."""

    def __init__(self, verdict: Verdict) -> None:
        # The pipeline has logged a line of its own: Scrapy's would print the item, page and all.
        super().__init__(drop_line(verdict), log_level="NOTSET")
        self.verdict = verdict


class SimhashPipeline:
    """Keeps each page once.

    :raises OptionsError: for bad settings.
    :raises StoreError: if the store can't be used.
    :raises DropLogError: if the drop log can't be used.
    """

    def __init__(self, crawler: Crawler, options: Options) -> None:
        if (spider := crawler.spider) is None:
            raise RuntimeError("the crawler has no spider yet")
        self._crawler = crawler
        self._options = options
        self._stats = CrawlStats(crawler, options)
        self._store_url = store_url(options, spider.name)
        self._drop_log: DropLog | None = None
        with ExitStack() as files:
            if path := drop_log_path(options, spider.name):
                run = uuid.uuid4().hex
                self._drop_log = DropLog(path, run=run, spider=spider.name, options=options)
                files.callback(self._drop_log.close)
            gathers = not crawls_less(options)  # links wait for verdicts then
            self._worker = JudgeWorker(options, self._store_url, self._is_closing, gathers=gathers)
            self._files = files.pop_all()
        self._feeds = Feeds(crawler, self._worker.confirm)
        self._pending = PendingItems(crawler, self._feeds, self._forget, self._end_list)
        self._stopping = False
        self._patient_from = 0.0  # by the monotonic clock
        self._items = 0  # that are being judged
        self._no_items = Event()
        # Fields that no item had yet, and the settings that name them.
        self._unseen_fields = {n.lstrip("+-"): "ITEM_FIELDS" for n in options.item_fields or ()}
        named = {"HTML_FIELD": options.html_field, "CONTENT_FIELD": options.content_field}
        own = {name: setting for setting, name in named.items() if name not in (None, "html")}
        self._unseen_fields |= own
        self._last_new_url: str | None = None  # of the last page with new content
        self._urls_since: set[str] = set()  # of the pages that came after it

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "SimhashPipeline":
        if not crawler.settings.frozen:  # only add-ons are made so early
            _refuse('ADDONS names the pipeline; write ADDONS = {"simhash_pipeline.Addon": 500}')
        options = options_of(crawler)
        if not options.enabled:
            raise NotConfigured("SIMHASH_ENABLED is False")
        if _is_without_items(crawler):
            raise NotConfigured
        with reasoned():  # no engine yet: Scrapy ends with this error alone
            return cls(crawler, options)

    def open_spider(self) -> None:
        responses = self._crawler.get_spider_middleware(ResponseMiddleware)
        following = self._crawler.get_spider_middleware(FollowMiddleware)
        if crawls_less(self._options) and None in (following, responses):
            self._stats.logger.warning(
                "SIMHASH_FOLLOW_TWINS and SIMHASH_TRAP_BUDGET need the add-on: all is followed"
            )
        if responses is not None:
            responses.pending = self._pending
        self._crawler.signals.connect(self._name_storing, signals.item_scraped)
        path = None if self._drop_log is None else self._drop_log.path
        pages, knows_responses = self._worker.pages_before, responses is not None
        self._stats.open(self._store_url, pages, path, knows_responses=knows_responses)

    def hold(self, item: Any) -> Callable[[], None]:
        """For a later pipeline that stores items after it has returned them, in batches say.

            self.simhash = crawler.get_item_pipeline(SimhashPipeline)  # in open_spider
            self.batch.append((item, self.simhash.hold(item)))         # in process_item
            for item, stored in self.batch: stored()                   # after the commit

        :param item: what its `process_item` was called with.
        :return: to be called on the loop's thread once the item is stored: only then its page
            counts as seen. If it never is, the next crawl fetches the page again.
        """
        return self._feeds.hold(item)

    def _name_storing(self) -> None:
        """Log at the first scraped item which pipelines may store items too early or late."""
        self._crawler.signals.disconnect(self._name_storing, signals.item_scraped)
        pipelines = self._crawler.engine.scraper.itemproc.middlewares
        place = pipelines.index(self)
        early, late = (
            ", ".join(type(one).__qualname__ for one in part if hasattr(one, "close_spider"))
            for part in (pipelines[:place], pipelines[place + 1 :])
        )
        if early and not self._options.keeps_twins:
            self._stats.logger.warning(
                "%s runs before SimhashPipeline and gets the near-duplicates too: give it a higher "
                "number in ITEM_PIPELINES",
                early,
            )
        if late and not self._feeds.was_held:
            self._stats.logger.info(
                "If %s stores items in batches, call SimhashPipeline.hold(); otherwise a killed "
                "crawl may lose them (see 'Lose no item' in the documentation)",
                late,
            )

    async def process_item(self, item: Any) -> Any:
        entry = self._pending.track(item)
        self._items += 1
        try:
            if self._stopping:
                self._stats.count("unjudged")
            else:
                await self._judge(item, entry)
        finally:
            self._items -= 1
            if not self._items:
                self._no_items.happen()
        return item

    async def _judge(self, item: Any, entry: PendingItem) -> None:
        """NearDuplicate if the item's page is dropped; any fault keeps the item unjudged."""
        response = entry.response()
        url = entry.url or (None if response is None else response.url)
        try:
            adapter = _adapter(item)
            opts_out = response is not None and response.meta.get(OPT_OUT) is False
            if opts_out or adapter.get(OPT_OUT) is False:
                return
            if (source := find_page(adapter, response, self._options)) is None:
                self._stats.count("not_judged")
                return
            url = source.url
            for name in self._unseen_fields.keys() & {*adapter}:
                del self._unseen_fields[name]
            shared = await self._verdict_on(source, response)
            if self._stopping:  # a page that could not be forgotten may be its twin
                self._stats.count("unjudged")
                return
            judged = shared.judged.result()
            self._report(item, shared, judged, response)
            if judged.page.content is None and looks_drawn_by_script(source.html):
                self._stats.count_drawn(url)
        except PageError as error:
            self._stats.fault(error.kind, str(error), url)
        except (StoreError, DropLogError) as error:
            self._go_on_or_stop(error, url)
            if self._stopping:
                self._stats.count("unjudged")
        except Exception:  # a fault of ours must not cost the user the item
            self._stats.unexpected()
        else:
            if judged.verdict.dropped and not self._options.keeps_twins:
                raise NearDuplicate(judged.verdict)
            self._write_fields(adapter, judged, url)
            self._pending.keep(entry, shared, judged.verdict)

    async def _verdict_on(self, source: Source, response: Response | None) -> SharedVerdict:
        """The verdict, once it is known what became of a pending twin.

        Items of one response share the verdict on its page if it is kept. While it is dropped, each
        has one by what it says itself.
        """
        items, gives_rows = ResponseItems(), False
        if source.is_response and response is not None:  # else the item holds its own page
            items = self._pending.of_response(response)
            gives_rows = self._pending.gives_rows(response)
            source = as_row(source) if gives_rows else source
        if items.shared is None:
            items.first = source
            shared = items.shared = SharedVerdict(self._worker.judge(source))
        else:
            shared = await self._verdict_on_row(items, items.shared, source)
        deadline = started = time.monotonic()
        if deadline >= self._patient_from:
            deadline += MAX_WAIT_SECS
        while True:
            judged = await result_of(shared.judged)
            is_forgotten = shared.page is not None and shared.page.lost is True
            if is_forgotten or await self._must_judge_again(judged.verdict, deadline):
                if items.shared is not None and items.shared is not shared:
                    # Another item of the page was here before.
                    shared = await self._verdict_on_row(items, items.shared, source)
                    continue
            elif not judged.verdict.dropped or gives_rows or items.entered < 2:
                return shared
            else:  # the first item of a list, as has turned out
                gives_rows = True
            if gives_rows:
                source = as_row(source, waits=time.monotonic() < started + MAX_ROWS_WAIT_SECS)
            shared = items.shared = SharedVerdict(self._worker.judge_again(source, judged.page))

    async def _verdict_on_row(
        self, items: ResponseItems, shared: SharedVerdict, source: Source
    ) -> SharedVerdict:
        """That on the page, or on this further item of it."""
        judged = await result_of(shared.judged)
        while items.shared is not None and items.shared is not shared:  # another row has asked
            shared = items.shared
            judged = await result_of(shared.judged)
        said = said_by(judged.page, source)
        if said.values is None or judged.said.values is None:
            return shared
        row = row_of(said.values)
        if not items.rows and items.first is not None:
            first = said_by(judged.page, as_row(items.first)).values
            items.rows[row_of(first or b"\0\0")] = None
        items.rows[row] = None
        if judged.verdict.dropped and said.values != judged.said.values:
            shared = items.shared = SharedVerdict(self._worker.judge_again(source, judged.page))
        elif row in judged.verdict.known_rows and self._options.unchanged == "drop":
            shared = SharedVerdict(Future(), reported=True)
            shared.judged.set_result(judged.of_known_row())
        elif not judged.verdict.dropped and names_itself(row):
            repeat = self._worker.judge_row(judged, source, said)
            if await result_of(repeat) is not judged:
                shared = SharedVerdict(repeat)
        return shared

    async def _must_judge_again(self, verdict: Verdict, deadline: float) -> bool:
        """Whether the page is to be judged again: its twin was forgotten, or may yet be.

        Waits for the outcome of the item of a twin, for one in another crawl until `deadline`;
        PageError if it takes too long.
        """
        if verdict.reason == "unchanged" and not verdict.dropped:
            return self._pending.is_being_forgotten(verdict)
        if not verdict.dropped or self._options.dry_run:
            return False
        lost = await self._pending.is_twin_lost(verdict)
        if not lost and verdict.provisional and not await self._pending.are_rows_known(verdict):
            await self._wait_for_other_crawl(verdict, deadline)
        return lost or verdict.provisional

    async def _wait_for_other_crawl(self, verdict: Verdict, deadline: float) -> None:
        """Wait a moment for another crawl; a wait in vain is followed by minutes without any."""
        now = time.monotonic()
        if now >= deadline:
            if now >= self._patient_from:  # else this page was not waited for
                self._patient_from = now + IMPATIENT_SECS
            rule = f"the item of its twin {verdict.twin_url} is still pending in another crawl"
            raise PageError("undecided", rule)
        await Event().wait(OTHER_CRAWL_LOOK_SECS)

    def _report(
        self, item: Any, shared: SharedVerdict, judged: JudgedPage, response: Response | None
    ) -> None:
        """Log and count the verdict: pages and rows in the drop log, items in the stats."""
        verdict, page = judged.verdict, judged.page
        items = ResponseItems() if response is None else self._pending.of_response(response)
        is_next_row = any(each.dropped and each.key == verdict.key for each in items.verdicts)
        if not shared.reported and not (is_next_row and verdict.dropped):
            self._report_page(judged)
        elif verdict.row and self._drop_log is not None:
            self._drop_log.write(verdict, page)
        self._stats.count_item(judged, is_first=not shared.reported)
        shared.reported = True
        items.verdicts.append(verdict)
        if verdict.stored and response is not None:
            self._pending.store_list(items, judged)
        self._crawler.signals.send_catch_log(
            page_judged, item=item, verdict=verdict, page=page, spider=self._crawler.spider
        )

    def _report_page(self, judged: JudgedPage) -> None:
        verdict = judged.verdict
        if self._drop_log is not None:
            self._drop_log.write(verdict, judged.page)
            self._drop_log.count(verdict.reason, kept=not verdict.dropped)
        if verdict.dropped:
            self._stats.count_dropped_page(verdict)
        limit = self._options.close_after_seen
        if limit is not None and not self._options.keeps_twins:
            self._close_if_nothing_is_new(verdict, limit)

    def _close_if_nothing_is_new(self, verdict: Verdict, limit: int) -> None:
        if verdict.is_new_content:
            self._last_new_url = verdict.key
            self._urls_since.clear()
        elif verdict.key != self._last_new_url and verdict.key not in self._urls_since:
            self._urls_since.add(verdict.key)
            if len(self._urls_since) == limit:
                said = "Closing: %d pages in a row without new content (SIMHASH_CLOSE_AFTER_SEEN)"
                self._stats.logger.info(said, limit)
                self._close("simhash_nothing_new")

    def _write_fields(
        self, adapter: MutableMapping[str, Any], judged: JudgedPage, url: str | None
    ) -> None:
        verdict, options = judged.verdict, self._options
        fields = {field: _added(name, judged) for name, field in options.added_fields.items()}
        if verdict.dropped and not options.dry_run and options.twin_field is not None:
            fields[options.twin_field] = verdict.twin_url
        for field, value in fields.items():
            try:
                adapter[field] = value
            except Exception as error:  # noqa: PERF203 - an item's own check may raise any
                self._stats.fault("field", f"the item takes no field {field!r}: {error}", url)

    def _end_list(self, items: ResponseItems) -> None:
        """All items of a response are out: write which rows it gave, and which were dropped."""
        if items.stored is not None:
            self._worker.add_rows(items.stored, items.rows)
        try:
            if self._drop_log is not None and items.verdicts:
                self._drop_log.end_list(items.verdicts[0])
        except DropLogError as error:
            self._go_on_or_stop(error)

    async def _forget(self, verdict: Verdict) -> None:
        try:
            await result_of(self._worker.forget(verdict))
        except StoreError as error:
            self._go_on_or_stop(error, verdict.url)

    def _go_on_or_stop(self, error: Exception, url: str | None = None) -> None:
        """Report the failure; the crawl goes on all the same if the store's URL says so.

        If it stops, the items that are still to be judged are kept unjudged.
        """
        if isinstance(error, StoreLost) and store_place(self._store_url).lost == "keep":
            self._stats.fault("store_lost", str(error), url)
            return
        self._stats.stopped(error)
        if not self._stopping:
            self._stopping = True
            self._close("simhash_store_failed")

    def _close(self, reason: str) -> None:
        deferred_from_coro(self._crawler.engine.close_spider_async(reason=reason))

    def _is_closing(self) -> bool:
        """Whether Scrapy is closing the spider, which it does after the last item was judged.

        It sends no signal before that, so this looks at what it notes of the spider.
        """
        slot = getattr(self._crawler.engine, "_slot", None)
        return not self._crawler.crawling or getattr(slot, "closing", None) is not None

    async def close_spider(self) -> None:
        if self._items:  # `scrapy parse` doesn't wait for them
            await self._no_items.wait()
        if self._feeds.are_awaited:  # Scrapy closes feeds after pipelines
            self._crawler.signals.connect(self._finish, signals.feed_exporter_closed)
        else:
            await self._finish()

    async def _finish(self) -> None:
        """Close the store and the drop log, after the last confirmation."""
        self._stopping = True
        if self._feeds.unstored:
            self._stats.logger.warning(
                "%d pages do not count as seen, because their items were not stored; the next "
                "crawl fetches them again",
                self._feeds.unstored,
            )
        for name, setting in self._unseen_fields.items():
            self._stats.logger.warning("No item had a field %r (SIMHASH_%s)", name, setting)
        with self._files:
            stored_pages = None
            try:
                stored_pages = await result_of(self._worker.end())
            except StoreError as error:
                self._go_on_or_stop(error)
            self._stats.close(stored_pages, self._worker.expired, self._worker.answers.counts)
            try:
                if self._drop_log is not None:
                    self._drop_log.write_run(self._stats.errors)
            except DropLogError as error:
                self._go_on_or_stop(error)


class Addon:
    """Adds the pipeline and the spider middlewares that the settings don't name themselves.

    A subclass counts as named too: with two pipelines the second would find every page known.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        for setting, component, order in (
            ("ITEM_PIPELINES", SimhashPipeline, PIPELINE_ORDER),
            ("SPIDER_MIDDLEWARES", ResponseMiddleware, RESPONSES_ORDER),
            ("SPIDER_MIDDLEWARES", FollowMiddleware, FOLLOW_ORDER),
        ):
            named = map(load_object, settings.getdict(setting))
            if not any(isinstance(one, type) and issubclass(one, component) for one in named):
                settings.setdefault_in_component_priority_dict(setting, component, order)

    def open_spider(self) -> None:
        """OptionsError: Scrapy calls this of a pipeline alone."""
        _refuse('ITEM_PIPELINES names the add-on; write ADDONS = {"simhash_pipeline.Addon": 500}')


def _refuse(rule: str) -> None:
    with reasoned():
        raise OptionsError([rule])


def _is_without_items(crawler: Crawler) -> bool:
    """For `scrapy shell`, `fetch`, `bench` and `check`, which should leave no file behind.

    A shell that has a spider's name runs the pipelines, but never calls `Crawler.crawl`. Scrapy
    2.14 starts that spider beside what is typed.
    """
    own_module = crawler.spidercls.__module__.startswith(("scrapy.utils.", "scrapy.commands."))
    return own_module or not crawler.crawling or "SCRAPY_CHECK" in os.environ


def _adapter(item: Any) -> MutableMapping[str, Any]:
    """PageError for an object that is no item to Scrapy, which passes it on all the same."""
    if type(item) is dict:  # an adapter asks it the same, in five times the steps
        return item
    try:
        return ItemAdapter(item)
    except TypeError:
        rule = "is not a type of item that Scrapy knows"
        raise PageError("no_item", f"{type(item).__name__} {rule}") from None


def _added(name: str, judged: JudgedPage) -> object:
    """What an item receives by this name of ADDED_FIELDS."""
    page, verdict = judged.page, judged.verdict
    if name == "text":
        return judged.text
    if name == "address":
        return declared_url(verdict.url, page.canonical_url)
    names = ("reason", "content_distance", "structure_distance", "sketch_distance")
    fields = {name: getattr(verdict, name) for name in names}
    replaced = {} if verdict.replaces is None else {"replaces": verdict.replaces}
    return {**fields, **replaced, "content_fingerprint": fingerprint_hex(page.content)}
