"""Pages that a command is given as files, URLs or stdin, fingerprinted one by one.

URLs are fetched by a crawl of the project's settings: its user agent, robots.txt rule, proxies and
HTTP cache are in force. It has no items, and runs no pipeline, spider middleware or extension.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.http.request import NO_CALLBACK

from simhash_pipeline.crawl.item_source import of_response
from simhash_pipeline.errors import PageError
from simhash_pipeline.page.source import Source

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from scrapy.crawler import CrawlerProcess
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint

# Nothing that the project has set up for its crawls may run, write or count here.
SETTINGS: dict[str, Any] = {
    "SIMHASH_ENABLED": False,
    "ITEM_PIPELINES": {},
    "SPIDER_MIDDLEWARES": {},
    "EXTENSIONS": {},
    "FEEDS": {},
    "JOBDIR": None,
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy.dupefilters.RFPDupeFilter",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
}


def add_pages(parser: argparse.ArgumentParser, count: int | str) -> None:
    """The positional arguments, alike for all commands that take pages."""
    parser.add_argument(
        "page_names",
        nargs=count,
        metavar="page",
        help="a file, a URL (http:// or https://) or - for stdin; a URL is fetched by Scrapy",
    )


def needs_crawl(arguments: argparse.Namespace) -> bool:
    """Whether these arguments name a page that must be fetched, or say `--fetch`."""
    names = getattr(arguments, "page_names", ())
    return getattr(arguments, "fetch", False) or any(map(_is_url, names))


def fingerprinted(
    arguments: argparse.Namespace, fingerprinter: Fingerprinter, names: Sequence[str] | None = None
) -> Iterator[PageFingerprint | PageError]:
    """The page of each name, or why there is none, which begins with it.

    Without `names` those among the arguments.
    """
    if names is None:
        names = arguments.page_names
    fetched = _fetched(names, arguments.crawler_process)
    return (_fingerprinted(name, fetched.get(name), fingerprinter) for name in names)


def _is_url(name: str) -> bool:
    return "://" in name


def _fingerprinted(
    name: str, source: Source | PageError | None, fingerprinter: Fingerprinter
) -> PageFingerprint | PageError:
    try:
        source = source or _read(name)
        if isinstance(source, PageError):
            raise source
        return fingerprinter.fingerprint(*source)
    except PageError as error:
        return PageError(error.kind, f"{name}: {error}")


def _read(name: str) -> Source:
    if name == "-":
        return Source(sys.stdin.buffer.read(), name)
    try:
        path = Path(name).resolve()
        return Source(path.read_bytes(), path.as_uri())
    except FileNotFoundError:
        raise PageError("no_file", "no such file, and no URL, for that has a ://") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte
        raise PageError("no_file", getattr(error, "strerror", None) or str(error)) from error


def _fetched(
    names: Sequence[str], process: CrawlerProcess | None
) -> Mapping[str, Source | PageError]:
    """What came of each URL among the names; a crawl of them, if there are any."""
    urls = list(filter(_is_url, names))
    why = "it was not fetched; `-L INFO` tells more"
    found: dict[str, Source | PageError] = {url: PageError("unreachable", why) for url in urls}
    if urls and process is not None:
        process.crawl(_FetchSpider, found=found)
        process.start()
    return found


class _FetchSpider(Spider):
    """Fetches the keys of `found`, one after the other, and puts what came of them there."""

    name = "simhash"
    found: dict[str, Source | PageError]

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        settings.setdict(SETTINGS, priority="cmdline")

    async def start(self) -> AsyncIterator[Any]:
        for url in self.found:
            self.found[url] = await self._fetched(url)
        for nothing in list[Any]():
            yield nothing

    async def _fetched(self, url: str) -> Source | PageError:
        try:
            # Past scheduler and spider middlewares, and through the downloader's.
            request = Request(url, callback=NO_CALLBACK)
            return _source(await self.crawler.engine.download_async(request))
        except Exception as error:  # whatever a handler or middleware raises
            return PageError("unreachable", str(error) or type(error).__name__)


def _source(response: Response) -> Source | PageError:
    if not 200 <= response.status < 300:
        return PageError("unreachable", f"the server answers {response.status}")
    return of_response(response)
