"""The Scrapy item pipeline: items in, kept items out, near-duplicates dropped, as judge.py says."""

from __future__ import annotations

import dataclasses
import logging
import uuid
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.spider import DefaultSpider
from twisted.internet.defer import Deferred

from simhash_pipeline.bits import fingerprint_hex
from simhash_pipeline.crawl.deferreds import resolve, result_of, wait_or_none
from simhash_pipeline.crawl.follow import FollowMiddleware, crawls_less
from simhash_pipeline.crawl.item_source import field_url, page_url, refuse_other_page, source
from simhash_pipeline.crawl.judging import Judged, Judging
from simhash_pipeline.crawl.outcomes import ItemOutcomes
from simhash_pipeline.crawl.pending import Judgement, Kept
from simhash_pipeline.crawl.responses import Origin, ResponseMiddleware
from simhash_pipeline.crawl.settings import (
    drop_log_path,
    is_resumed,
    options_of,
    reasoned,
    store_url,
)
from simhash_pipeline.crawl.stats import Tally, drop_line
from simhash_pipeline.drop_log import DropLog
from simhash_pipeline.errors import DropLogError, PageError, StoreError, StoreLost

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from simhash_pipeline.judge import Verdict
    from simhash_pipeline.options import Options
    from simhash_pipeline.page.fingerprint import PageFingerprint
    from simhash_pipeline.page.source import Source

# Signal: an item's page was judged. Receivers get item, verdict, page (its fingerprints), spider.
page_judged = object()
# An item's field and a request's meta key: False keeps the item unjudged.
OPT_OUT = "simhash"

logger = logging.getLogger(__name__)


class NearDuplicate(DropItem):
    """The item's page is a near-duplicate of a stored one; `verdict` says of which and how near."""

    def __init__(self, verdict: Verdict) -> None:
        # The pipeline has logged a line of its own: Scrapy's would print the item, page and all.
        super().__init__(drop_line(verdict), log_level="NOTSET")
        self.verdict = verdict


class SimhashPipeline:
    """Keeps each page once.

    OptionsError for bad settings; StoreError or DropLogError when a file can't be used.
    """

    def __init__(self, crawler: Crawler, options: Options) -> None:
        self._crawler = crawler
        self._options = options
        self._tally = Tally(crawler, options)
        self._files: ExitStack | None = None  # open from open_spider on
        self._stopping = False
        self._latest_news: str | None = None  # the last page that brought something new
        self._nothing_new: set[str] = set()  # pages that came after it
        self._at_work = 0  # items that came and were not handed on
        self._all_through: Deferred[bool | None] | None = None  # once the crawl ends

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SimhashPipeline:
        options = options_of(crawler)
        if not options.enabled:
            raise NotConfigured("SIMHASH_ENABLED is False")
        if crawler.spidercls is DefaultSpider:
            raise NotConfigured  # `scrapy shell` or `fetch`: no item comes
        return cls(crawler, options)

    def open_spider(self) -> None:
        options, spider = self._options, self._crawler.spider
        self._responses = self._crawler.get_spider_middleware(ResponseMiddleware)
        following = self._crawler.get_spider_middleware(FollowMiddleware)
        if crawls_less(options) and None in (following, self._responses):
            logger.warning(
                "SIMHASH_FOLLOW_TWINS and SIMHASH_TRAP_BUDGET need the add-on: all is followed",
                extra={"spider": spider},
            )
        with reasoned(), ExitStack() as files:
            if spider is None:
                raise RuntimeError("the crawler has no spider yet")
            store, path = store_url(options, spider.name), drop_log_path(options, spider.name)
            self._drop_log = None
            if path is not None:
                self._drop_log = DropLog(
                    path, run=uuid.uuid4().hex, spider=spider.name, options=options
                )
                files.callback(self._drop_log.close)
            if options.reset and is_resumed(self._crawler):
                told = "Nothing is forgotten: SIMHASH_RESET is for the first run of a JOBDIR"
                logger.info(told, extra={"spider": spider})
                options = dataclasses.replace(options, reset=False)
            self._judging = Judging(options, store)
            self._fates = ItemOutcomes(self, self._crawler, options, self._judging)
            self._files = files.pop_all()
        self._tally.begun(store, path)

    async def process_item(self, item: Any) -> Any:
        response = None if self._responses is None else self._responses.response_of(item)
        yielded = response is not None
        if self._responses is not None and response is None:
            response = self._responses.response_at(field_url(item, self._options))
        kept = None
        self._at_work += 1
        try:
            if not self._stopping:
                kept = await self._kept(item, response)
        finally:
            self._fates.await_of(item, response, kept, yielded=yielded)
            self._at_work -= 1
            if self._all_through is not None and not self._at_work:
                resolve(self._all_through, True)
        return item

    async def _kept(self, item: Any, response: Response | None) -> Kept | None:
        """The page that was stored for the item, if one was; NearDuplicate for a dropped one."""
        try:
            adapter = _adapter(item)
            if _opted_out(adapter, response):
                return None
            page = source(adapter, response, self._options)
            judgement = await self._judged(page, response)
            if self._stopping:  # a page that could not be forgotten may be its twin
                return None
            judged = judgement.judged.result()
            if judged.verdict.dropped and self._options.html_field is None and response is not None:
                refuse_other_page(adapter, response, judged.page)
            self._tell(item, judgement, response)
        except PageError as error:
            self._tally.fault(error.kind, str(error), page_url(item, response, self._options))
        except (StoreError, DropLogError) as error:
            self.go_on_or_stop(error, page_url(item, response, self._options))
        except Exception:  # a fault of ours must not cost the user the item
            self._tally.unexpected()
        else:
            if judged.verdict.dropped and not self._options.dry_run:
                raise NearDuplicate(judged.verdict)
            self._write_fields(adapter, judged, page_url(item, response, self._options))
            if judgement.kept is None and not judged.verdict.dropped:
                judgement.kept = self._fates.in_hand.page_of(judged.verdict)
            return judgement.kept
        return None

    async def close_spider(self) -> None:
        if self._files is None:  # Scrapy closes what it failed to open
            return
        self._tally.ending()
        if self._at_work:  # `scrapy parse` doesn't wait for them
            self._all_through = Deferred()
            await wait_or_none(self._all_through)
        self._fates.end()
        with self._files:
            stored = None
            try:
                stored = await result_of(self._judging.end())
            except StoreError as error:
                self._goes_on_after(error)
            self._tally.ended(stored)
            try:
                if self._drop_log is not None:
                    self._drop_log.write_run(self._tally.errors)
            except DropLogError as error:
                self._tally.stopped(error)

    async def _judged(self, page: Source, response: Response | None) -> Judgement:
        """The judgement; twins of a page whose item is still in hand wait for what becomes of it.

        Items of one response share the judgement of its page.
        """
        origin = self._origin(response)
        if origin.judgement is None:
            origin.judgement = Judgement(self._judging.judge(page))
        while True:
            judgement = origin.judgement
            judged = await result_of(judgement.judged)
            if not judgement.lost and not await self._is_outdated(judged.verdict):
                return judgement
            if origin.judgement is judgement:  # no other item of the page was here before
                origin.judgement = Judgement(self._judging.judge_again(page.url, judged))

    def _origin(self, response: Response | None) -> Origin:
        """One of its own for an item that brings its own page."""
        if self._options.html_field is not None or self._responses is None or response is None:
            return Origin()
        return self._responses.origin(response)

    async def _is_outdated(self, verdict: Verdict) -> bool:
        """Whether the stored page that speaks in this verdict is none: its item came to nothing.

        A page that is to be kept instead is waited for; PageError where that can't be.
        """
        if verdict.reason == "unchanged" and not verdict.dropped:
            return self._fates.in_hand.is_lost(verdict.url)
        if not verdict.dropped or self._options.dry_run:
            return False
        fate = self._fates.in_hand.fate_of(verdict.twin_url)
        if fate is None:
            return False
        lost = await wait_or_none(fate)
        if lost is None:
            waited = f"later pipelines still have its twin {verdict.twin_url} in hand"
            raise PageError("undecided", waited)
        return lost

    def _tell(self, item: Any, judgement: Judgement, response: Response | None) -> None:
        judged, told = judgement.judged.result(), judgement.told
        if not told:
            self._tell_page(judged.verdict, judged.page)
        judgement.told = True
        self._tally.judged(judged.shared() if told else judged)
        if response is not None and self._responses is not None:
            self._responses.origin(response).verdicts.append(judged.verdict)
        self._crawler.signals.send_catch_log(
            page_judged,
            item=item,
            verdict=judged.verdict,
            page=judged.page,
            spider=self._crawler.spider,
        )

    def _tell_page(self, verdict: Verdict, page: PageFingerprint) -> None:
        """What counts pages, however many items they have."""
        if self._drop_log is not None:
            if verdict.dropped:
                self._drop_log.write(verdict, page)
            self._drop_log.count(verdict)
        if verdict.dropped:
            self._tally.page_dropped(verdict)
        if self._options.close_after_seen is not None and not self._options.dry_run:
            self._close_where_nothing_is_new(verdict, self._options.close_after_seen)

    def _close_where_nothing_is_new(self, verdict: Verdict, after: int) -> None:
        if verdict.news:
            self._latest_news = verdict.url
            self._nothing_new.clear()
        elif verdict.url != self._latest_news and verdict.url not in self._nothing_new:
            self._nothing_new.add(verdict.url)
            if len(self._nothing_new) == after:
                self._close("simhash_nothing_new")

    def _write_fields(self, adapter: ItemAdapter, judged: Judged, url: object) -> None:
        page = judged.page
        content = fingerprint_hex(page.content, self._options.bits)
        for field, value in (
            (self._options.text_field, page.text),
            (self._options.fingerprint_field, content),
        ):
            if field is None:
                continue
            try:
                adapter[field] = value
            except Exception as error:  # an item's own check may raise anything
                self._tally.fault("field", f"the item takes no field {field!r}: {error}", url)

    def go_on_or_stop(self, error: Exception, url: object) -> None:
        """Where the crawl is to stop, the items in flight are kept unjudged."""
        if self._goes_on_after(error, url) or self._stopping:
            return
        self._stopping = True
        self._close("simhash_store_failed")

    def _goes_on_after(self, error: Exception, url: object = None) -> bool:
        """Says what failed; True where the crawl is to go on all the same."""
        borne = isinstance(error, StoreLost) and self._options.store_lost == "keep"
        if borne:
            self._tally.fault("store_lost", str(error), url)
        else:
            self._tally.stopped(error)
        return borne

    def _close(self, reason: str) -> None:
        deferred_from_coro(self._crawler.engine.close_spider_async(reason=reason))


def _adapter(item: Any) -> ItemAdapter:
    """PageError for an object that is no item to Scrapy, which hands it on all the same."""
    if not ItemAdapter.is_item(item):
        raise PageError("no_item", f"{type(item).__name__} is no type of item that Scrapy knows")
    return ItemAdapter(item)


def _opted_out(adapter: ItemAdapter, response: Response | None) -> bool:
    by_request = response is not None and response.meta.get(OPT_OUT) is False
    return by_request or adapter.get(OPT_OUT) is False
