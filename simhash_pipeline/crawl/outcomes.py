"""Hears what becomes of the items behind the pipeline, and has the store follow."""

from __future__ import annotations

from itertools import takewhile
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.defer import deferred_from_coro

from simhash_pipeline.crawl.deferreds import result_of
from simhash_pipeline.crawl.item_source import page_url
from simhash_pipeline.crawl.pending import Kept, PendingItems
from simhash_pipeline.errors import StoreError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from simhash_pipeline.crawl.judging import Judging
    from simhash_pipeline.crawl.pipeline import SimhashPipeline
    from simhash_pipeline.judge import Verdict
    from simhash_pipeline.options import Options


class ItemOutcomes:
    """Confirms the pages whose items came out, and forgets those whose items were lost."""

    def __init__(
        self, pipeline: SimhashPipeline, crawler: Crawler, options: Options, judging: Judging
    ) -> None:
        self._pipeline = pipeline
        self._crawler = crawler
        self._options = options
        self._judging = judging
        self.in_hand = PendingItems()
        crawler.signals.connect(self._exported, signals.item_scraped)
        crawler.signals.connect(self._dropped, signals.item_dropped)
        crawler.signals.connect(self._failed, signals.item_error)

    def await_of(
        self, item: Any, response: Response | None, kept: Kept | None, *, yielded: bool
    ) -> None:
        """The item goes on to later pipelines, or was dropped by this one."""
        url = page_url(item, response, self._options)
        self._confirm(self.in_hand.enter(item, url, response, kept, yielded=yielded))

    def end(self) -> None:
        """All fates were told but those of items that other objects took the place of."""
        for verdict in self.in_hand.end():
            self._confirm(verdict)

    def _exported(self, item: Any, response: Response | None) -> None:
        url = page_url(item, response, self._options)
        self._confirm(self.in_hand.exported(item, url, response))

    def _confirm(self, verdict: Verdict | None) -> None:
        if verdict is not None:
            self._judging.confirm(verdict)

    def _dropped(self, item: Any, response: Response | None, exception: BaseException) -> None:
        self._lost(item, response, exception)

    def _failed(self, item: Any, response: Response | None, failure: Failure) -> None:
        self._lost(item, response, failure.value)

    def _lost(self, item: Any, response: Response | None, error: BaseException | None) -> None:
        """Forget the page that lost its last item: none was exported, so it has no twins."""
        if self._never_came(error):
            return
        kept = self.in_hand.lost(item, page_url(item, response, self._options), response)
        if kept is not None:
            # Asked for at once, before any page that is judged from now on.
            deferred_from_coro(self._forgotten(kept, self._judging.forget(kept.verdict)))

    def _never_came(self, error: BaseException | None) -> bool:
        """Whether a pipeline before ours raised it: another item may have the same URL."""
        processor = self._crawler.engine.scraper.itemproc
        pipelines = getattr(processor, "middlewares", ())  # ITEM_PROCESSOR may be another's
        before = list(takewhile(lambda each: each is not self._pipeline, pipelines))
        trace = getattr(error, "__traceback__", None)
        raised = (frame.f_locals.get("self") for frame, _ in walk_tb(trace))
        return any(one is each for one in raised for each in before)

    async def _forgotten(self, kept: Kept, forgotten: Future[None]) -> None:
        try:
            await result_of(forgotten)
        except StoreError as error:
            self._pipeline.go_on_or_stop(error, kept.verdict.url)
        self.in_hand.decided(kept)
