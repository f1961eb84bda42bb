"""Crawls one site, whole: every HTML page of its host becomes an item that carries the page."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from w3lib.encoding import http_content_type_encoding

from crawler.demo_site import DemoSite
from crawler.demo_site.server import DEFAULT_PORT, HOST


@dataclass(slots=True)
class Page:
    """One page as it came over the wire."""

    url: str
    title: str
    html: bytes
    charset: str | None  # of the HTTP header


class SiteSpider(Spider):
    """`scrapy crawl site -a url=https://… -a max_pages=…`

    A site's store, drop log and feed are named by its host.

    Without a URL it serves and crawls the demo site, on one port each time, so that a second crawl
    finds the addresses of the first again.
    """

    name = "site"

    def __init__(
        self,
        url: str | None = None,
        max_pages: int | str = 500,
        port: int | str = DEFAULT_PORT,
        **attributes: Any,  # such as simhash_dry_run
    ) -> None:
        super().__init__(**attributes)
        self.demo_port = _number("port", port) if url is None else None
        self.max_pages = _number("max_pages", max_pages)
        self.url = url or f"http://{HOST}:{port}/"
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            _refuse(f"url is {url!r}; it must be an address like https://example.org/")
        self.allowed_domains = [str(parts.hostname).removeprefix("www.")]
        if url is not None:  # a store, a drop log and a feed of its own for each site
            self.name = self.allowed_domains[0]
        self._links = LinkExtractor()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> SiteSpider:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.settings.set("CLOSESPIDER_PAGECOUNT", spider.max_pages, priority="spider")
        if spider.demo_port is not None:
            crawler.settings.set("AUTOTHROTTLE_ENABLED", False, priority="spider")
            site = contextlib.ExitStack()
            try:
                site.enter_context(DemoSite(spider.demo_port))
            except OSError as error:
                _refuse(f"the demo site can't listen on port {spider.demo_port} ({error.strerror})")
            crawler.signals.connect(site.close, signals.engine_stopped, weak=False)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.url, callback=self.parse)

    def parse(self, response: Response) -> Iterator[Page | Request]:
        if not isinstance(response, HtmlResponse):
            return
        yield Page(
            url=response.url,
            title=response.xpath("normalize-space(//title)").get(""),
            html=response.body,
            charset=_header_charset(response),
        )
        for link in self._links.extract_links(response):
            yield Request(link.url, callback=self.parse)


def _number(name: str, value: int | str) -> int:
    if not str(value).isdecimal():
        _refuse(f"{name} is {value!r}; it must be a whole number")
    return int(value)


def _refuse(message: str) -> NoReturn:
    """End the command with one line and exit code 2."""
    print(message, file=sys.stderr)
    sys.exit(2)


def _header_charset(response: Response) -> str | None:
    content_type = response.headers.get("Content-Type")
    return http_content_type_encoding(content_type.decode("latin-1")) if content_type else None
