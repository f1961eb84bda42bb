"""A spider middleware that makes fewer requests: none from pages that bring nothing new.

The requests that a page's callback yields wait until its items are through the pipelines. Then the
page is a *twin* if the pages of its items were all near-duplicates, and *old* if none of them
was new: twins, or too little text to judge. If nothing was judged, all links are followed.
"""

import logging
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.httpobj import urlparse_cached

from simhash_pipeline.crawl.pending import ResponseMiddleware
from simhash_pipeline.crawl.settings import options_of
from simhash_pipeline.options import Options

# Marks a request that a page without new content led to.
FOUND_WITHOUT_NEWS = "simhash_found_without_new_content"

logger = logging.getLogger(__name__)


def crawls_less(options: Options) -> bool:
    """Whether these options may leave links unfollowed."""
    limited = not options.follow_twins or options.trap_budget is not None
    return limited and not options.keeps_twins


class FollowMiddleware:
    """Applies SIMHASH_FOLLOW_TWINS and SIMHASH_TRAP_BUDGET; NotConfigured if neither is set."""

    def __init__(self, crawler: Crawler, options: Options) -> None:
        self._crawler, self._options = crawler, options
        # By host: consecutive pages without new content, each found on another.
        self._without_news: Counter[str] = Counter()
        self._warned: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "FollowMiddleware":
        options = options_of(crawler)
        if not options.enabled or not crawls_less(options):
            raise NotConfigured
        return cls(crawler, options)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        requests, failure = [], None
        try:
            async for each in result:
                if isinstance(each, Request):
                    requests.append(each)
                else:
                    yield each
        except Exception as error:  # what the callback yielded before counts
            failure = error
        for request in await self._followed(response, requests):
            yield request
        if failure is not None:
            raise failure

    async def _followed(self, response: Response, requests: list[Request]) -> list[Request]:
        responses = self._crawler.get_spider_middleware(ResponseMiddleware)
        pending = None if responses is None else responses.pending
        if pending is None or not await pending.all_done(response):
            return requests
        if not (verdicts := pending.of_response(response).verdicts):
            return requests
        unchanged = [each.reason == "unchanged" for each in verdicts]
        old = not any(unchanged) and not any(each.is_new_content for each in verdicts)
        host = urlparse_cached(response).netloc
        if response.meta.get(FOUND_WITHOUT_NEWS):
            self._without_news[host] = self._without_news[host] + 1 if old else 0
        twin = not any(unchanged) and all(each.dropped for each in verdicts)
        if (twin and not self._options.follow_twins) or (old and self._is_trap(host, response)):
            self._crawler.stats.inc_value("simhash/not_followed", len(requests))
            return []
        for request in requests:  # all, as a callback may hand the page's own meta on
            request.meta[FOUND_WITHOUT_NEWS] = old
        return requests

    def _is_trap(self, host: str, response: Response) -> bool:
        if (budget := self._options.trap_budget) is None or self._without_news[host] < budget:
            return False
        if host not in self._warned:
            self._warned.add(host)
            logger.warning(
                "%s looks like a trap: %d consecutive pages, each found on a page without "
                "new content, had no new content either, the last of them %s. Links on such "
                "pages of this host are no longer followed (SIMHASH_TRAP_BUDGET).",
                host,
                budget,
                response.url,
                extra={"spider": self._crawler.spider},
            )
        return True
