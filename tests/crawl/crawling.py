"""Real crawls in the tests' own process, and what came of them; a few in a process of their own.

A test gives the items to yield, or a spider, as Python objects. The crawl runs in an event loop of
its own without a Twisted reactor: it starts in some 30 ms, where a new Python takes over a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import io
import logging
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import scrapy
from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess, AsyncCrawlerRunner, Crawler, CrawlerProcess
from scrapy.exceptions import DropItem
from scrapy.settings import default_settings

from simhash_pipeline import NearDuplicate, Verdict, page_judged
from simhash_pipeline.errors import SimhashError
from tests.forked import run_forked

STORY = " ".join(f"word{i}" for i in range(200))
OTHER = " ".join(f"term{i}" for i in range(200))
TIMEOUT_SECS = 120
# An older Scrapy downloads by a reactor alone. One is then installed for all tests of the process.
NEEDS_REACTOR = importlib.util.find_spec("scrapy.core.downloader.handlers._aiohttp") is None
Items = Iterable[Any] | Callable[[], Iterable[Any]]


def html(body: str, title: str = "A page") -> str:
    return f"<html><head><title>{title}</title></head><body><p>{body}</p></body></html>"


def page(n: object, body: str = STORY, **more: Any) -> dict[str, Any]:
    return {"url": f"http://a.example/{n}", "html": html(body), **more}


class Unlucky:
    """A later pipeline that delays, drops, fails or replaces the items that say so."""

    async def process_item(self, item: Any) -> Any:
        adapter = ItemAdapter(item) if ItemAdapter.is_item(item) else {}
        if secs := adapter.get("secs"):
            await asyncio.sleep(secs)
        outcome = adapter.get("outcome")
        if outcome == "drop":
            raise DropItem("not wanted")
        if outcome == "fail":
            raise RuntimeError("failed")
        return dict(adapter) if outcome == "replace" else item


class ItemSpider(scrapy.Spider):
    """Yields items in order."""

    name = "items"
    start_urls = ["data:,"]  # noqa: RUF012  # as Scrapy has it
    items: Any = ()

    def parse(self, response: Any) -> Iterable[Any]:
        yield from self.items() if callable(self.items) else self.items


@dataclass
class Crawl:
    """What came of a crawl: the items that came out, the URLs of those dropped, stats, the log."""

    began: bool = False  # whether the spider was opened
    failure: str = ""  # why the crawl did not start
    items: list[Any] = field(default_factory=list)
    dropped: list[Any] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)  # of near-duplicates that were dropped
    reasons: list[str] = field(default_factory=list)  # of all verdicts
    stats: dict[str, Any] = field(default_factory=dict)
    log: str = ""

    @property
    def scraped(self) -> list[Any]:
        return [_url(item) for item in self.items]

    def watch(self, crawler: Crawler) -> list[tuple[Callable[..., None], object]]:
        """Enter what the crawl's signals say; returned are the receivers, which must be held."""

        def opened() -> None:
            self.began = True

        def scraped(item: Any) -> None:
            self.items.append(item)

        def dropped(item: Any, exception: BaseException) -> None:
            self.dropped.append(_url(item))
            if isinstance(exception, NearDuplicate):
                self.verdicts.append(exception.verdict)

        def failed(item: Any, failure: Any) -> None:
            self.errors.append(repr(failure.value))

        def judged(verdict: Verdict) -> None:
            self.reasons.append(verdict.reason)

        receivers: list[tuple[Callable[..., None], object]] = [
            (opened, signals.spider_opened),
            (scraped, signals.item_scraped),
            (dropped, signals.item_dropped),
            (failed, signals.item_error),
            (judged, page_judged),
        ]
        for receiver, signal in receivers:
            crawler.signals.connect(receiver, signal)
        return receivers


def _url(item: Any) -> Any:
    return ItemAdapter(item).get("url") if ItemAdapter.is_item(item) else None


def crawl(
    directory: Path,
    items: Items = (),
    *,
    spider: type[scrapy.Spider] = ItemSpider,
    later: type = Unlucky,
    at_once: int = 1,
    arguments: dict[str, Any] | None = None,
    **settings: Any,
) -> Crawl:
    """Crawl in `directory` with a spider that yields `items`, `at_once` of them in the pipelines.

    `later` is the pipeline behind SimhashPipeline; `arguments` are the spider's.
    """
    result = Crawl()
    chosen = _settings(later, at_once, settings)
    if not NEEDS_REACTOR:
        chosen["TWISTED_REACTOR_ENABLED"] = False
        chosen["DOWNLOAD_HANDLERS"] = dict.fromkeys(("http", "https"), _lazy_handler())
    with inside(directory), _logging(chosen.get("LOG_LEVEL", "INFO")) as log:
        runner = AsyncCrawlerRunner(chosen)
        crawler = runner.create_crawler(_with_items(spider, items))
        receivers = result.watch(crawler)

        async def run() -> None:
            await asyncio.wait_for(runner.crawl(crawler, **(arguments or {})), TIMEOUT_SECS)

        try:
            _run(run)
        except SimhashError as error:
            result.failure = repr(error)
        finally:
            for receiver, signal in receivers:
                crawler.signals.disconnect(receiver, signal)
    result.stats = _stats(crawler)
    result.log = log.getvalue()
    return result


def _settings(later: type, at_once: int, settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "ITEM_PIPELINES": {"simhash_pipeline.SimhashPipeline": 300, later: 400},
        "CONCURRENT_ITEMS": at_once,
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "LOG_LEVEL": "INFO",
        **settings,
    }


def _lazy_handler() -> type:
    """Scrapy's own; a crawl that fails to start never closes one that is made at once."""
    from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler

    return type("LazyHandler", (AiohttpDownloadHandler,), {"lazy": True, "experimental": False})


def _with_items(spider: type[scrapy.Spider], items: Items) -> type[scrapy.Spider]:
    held = staticmethod(items) if callable(items) else list(items)
    return type(spider.__name__, (spider,), {"items": held})


def _stats(crawler: Crawler) -> dict[str, Any]:
    try:
        stats = crawler.stats.get_stats() if crawler.stats is not None else {}
    except RuntimeError:  # an add-on was refused before there were any
        return {}
    return {name: n for name, n in stats.items() if not hasattr(n, "year")}


def _run(crawling: Callable[[], Any]) -> None:
    if not NEEDS_REACTOR:
        asyncio.run(crawling())
        return
    have_reactor()
    from twisted.internet import reactor

    reactor._asyncioEventloop.run_until_complete(crawling())


def have_reactor() -> None:
    """Where an older Scrapy needs a reactor, install one for this process."""
    if not NEEDS_REACTOR:
        return
    from scrapy.utils.reactor import install_reactor, is_reactor_installed

    if not is_reactor_installed():
        install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
        from twisted.internet import reactor

        reactor.getThreadPool().threadFactory = partial(threading.Thread, daemon=True)
        reactor.startRunning(installSignalHandlers=False)


@contextlib.contextmanager
def inside(directory: Path) -> Iterator[None]:
    """In this working directory, whose modules can be imported, and are forgotten afterwards."""
    before, path = Path.cwd(), sys.path.copy()
    os.chdir(directory)
    sys.path.insert(0, str(directory))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(str(directory)):
                del sys.modules[name]


@contextlib.contextmanager
def _logging(level: str) -> Iterator[io.StringIO]:
    """The log as Scrapy would write it to the terminal."""
    log, root = io.StringIO(), logging.getLogger()
    handler = logging.StreamHandler(log)
    handler.setLevel(level)
    handler.setFormatter(
        logging.Formatter(default_settings.LOG_FORMAT, default_settings.LOG_DATEFORMAT)
    )
    before = root.level
    root.setLevel(level)
    root.addHandler(handler)
    try:
        yield log
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def crawl_in_a_process(
    directory: Path, crawling: Callable[[], dict[str, Any]], **settings: Any
) -> Crawl:
    """The same in a process of its own, by CrawlerProcess, with warnings as errors.

    `crawling` is a function of a test module that returns the arguments of `crawl`.
    """
    result = run_forked(directory, partial(_crawl, crawling, settings))
    log = result.stderr.decode()
    assert result.returncode == 0, log
    crawled: Crawl = pickle.loads(result.stdout)
    crawled.log = log
    return crawled


def _crawl(crawling: Callable[[], dict[str, Any]], more: dict[str, Any]) -> None:
    """In that process."""
    given = crawling()
    spider = _with_items(given.pop("spider", ItemSpider), given.pop("items", ()))
    later, at_once = given.pop("later", Unlucky), given.pop("at_once", 1)
    settings = _settings(later, at_once, given | more)
    reactorless = settings.get("TWISTED_REACTOR_ENABLED") is False
    process = (AsyncCrawlerProcess if reactorless else CrawlerProcess)(settings)
    crawler = process.create_crawler(spider)
    result = Crawl()
    receivers = result.watch(crawler)
    process.crawl(crawler)
    process.start()
    result.stats = _stats(crawler)
    del receivers
    sys.stdout.buffer.write(pickle.dumps(result))
