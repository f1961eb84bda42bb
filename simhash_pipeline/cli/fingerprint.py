"""`scrapy simhash fingerprint`: the fingerprints of pages that are files, URLs or stdin.

URLs are fetched by a crawl of the project's settings: its user agent, robots.txt rule, proxies and
HTTP cache are in force. It has no items, and runs no pipeline, spider middleware or extension.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.http.request import NO_CALLBACK

from simhash_pipeline.bits import SKETCH_BITS, fingerprint_hex
from simhash_pipeline.cli.command import Command, Result, print_result
from simhash_pipeline.crawl.item_source import source_from_response
from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.page.source import Source
from simhash_pipeline.terminal import Grid, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from scrapy.crawler import CrawlerProcess
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from simhash_pipeline.terminal import Line

_FETCHED = ("http://", "https://")
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


class PagesCommand(Command):
    """A command that takes pages: files, URLs or stdin."""

    def needs_crawl(self, arguments: argparse.Namespace) -> bool:
        return any(map(_is_url, arguments.page_names))


class FingerprintCommand(PagesCommand):
    epilog = "Exit code 2 when a page can't be read; the others are printed."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_pages(parser, "+")
        parser.add_argument("--text", action="store_true", help="print the main text too")

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        options = Options.from_settings(settings)
        exit_code = 0
        for page in fingerprinted(arguments, Fingerprinter(options)):
            if isinstance(page, PageError):
                print(f"{arguments.parser.prog}: {printable(str(page))}", file=sys.stderr)
                exit_code = 2
            else:
                print_result(PagePrint(page, options, with_text=arguments.text), arguments)
        return exit_code


@dataclass(frozen=True, slots=True)
class PagePrint(Result):
    """A page's fingerprints."""

    page: PageFingerprint
    options: Options
    with_text: bool = False

    def record(self) -> dict[str, Any]:
        page, bits = self.page, self.options.bits
        record = {
            "url": page.url,
            "title": page.title,
            "content": fingerprint_hex(page.content, bits),
            "structure": fingerprint_hex(page.structure, bits),
            "sketch": fingerprint_hex(page.sketch, SKETCH_BITS),
            "tokens": page.tokens,
            "main_share": None if page.main_share is None else round(page.main_share, 2),
            "thin": page.content is None,
        }
        return record | ({"text": page.text} if self.with_text else {})

    def lines(self) -> Iterator[Line]:
        record, page = self.record(), self.page
        fewer = f", fewer than {self.options.min_tokens}: thin" if page.content is None else ""
        share = "none" if page.main_share is None else f"{page.main_share:.0%} of the page"
        names = ("title", "content", "structure", "sketch")
        rows = [(name, record[name] or "none") for name in names]
        yield page.url or ""
        yield Grid([*rows, ("tokens", f"{page.tokens:,}{fewer}"), ("main text", share)], indent=2)
        if self.with_text:
            yield from ("", *page.text.split("\n"), "")


def add_pages(parser: argparse.ArgumentParser, number: int | str) -> None:
    """The positional arguments, alike for all commands that take pages."""
    parser.add_argument(
        "page_names",
        nargs=number,
        metavar="page",
        help="a file, a URL (http:// or https://) or - for stdin; a URL is fetched by Scrapy",
    )


def fingerprinted(
    arguments: argparse.Namespace, fingerprinter: Fingerprinter, urls: Sequence[str] | None = None
) -> Iterator[PageFingerprint | PageError]:
    """The page of each name among the arguments, or a PageError whose message begins with the name.

    `urls` take their place: they come from a log, which may name a file, and no file is read.
    """
    names = arguments.page_names if urls is None else urls
    asked = list(filter(_is_url, names)) if urls is None else urls
    fetched = _fetched(asked, arguments.crawler_process)
    return (_fingerprinted(name, fetched.get(name), fingerprinter) for name in names)


def all_fingerprinted(
    arguments: argparse.Namespace, fingerprinter: Fingerprinter, urls: Sequence[str] | None = None
) -> list[PageFingerprint]:
    """All the pages; PageError for the first that can't be read."""
    pages = []
    for page in fingerprinted(arguments, fingerprinter, urls):
        if isinstance(page, PageError):
            raise page
        pages.append(page)
    return pages


def _is_url(name: str) -> bool:
    return "://" in name


def _fingerprinted(
    name: str, source: Source | PageError | None, fingerprinter: Fingerprinter
) -> PageFingerprint | PageError:
    try:
        source = source or _read(name)
        if isinstance(source, PageError):
            raise source
        return fingerprinter.read(source)
    except PageError as error:
        return PageError(error.kind, f"{name}: {error}")


def _read(name: str) -> Source:
    if name == "-":
        return Source(sys.stdin.buffer.read(), name)
    try:
        path = Path(name).resolve()
        return Source(path.read_bytes(), path.as_uri())
    except FileNotFoundError:
        raise PageError("no_file", "no such file, and no URL, which has a ://") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte
        raise PageError("no_file", getattr(error, "strerror", None) or str(error)) from error


def _fetched(
    urls: Sequence[str], process: CrawlerProcess | None
) -> Mapping[str, Source | PageError]:
    """The page or the error of each URL, by one crawl."""
    why = "it was not fetched; `-s LOG_ENABLED=True` logs why"
    found: dict[str, Source | PageError] = {
        url: PageError("unreachable", why) for url in urls if url.lower().startswith(_FETCHED)
    }
    if found and process is not None:
        process.crawl(_FetchSpider, found=found)
        process.start()
    other = PageError("unreachable", "only http:// and https:// URLs are fetched")
    return dict.fromkeys(urls, other) | found


class _FetchSpider(Spider):
    """Fetches the keys of `found`, one after the other, and replaces their values."""

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
    return source_from_response(response)
