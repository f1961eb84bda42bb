"""A crawl's options and files, by its settings and its spider's attributes."""

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.project import data_path, get_project_settings

from simhash_pipeline.drop_log import LOG_SUFFIX
from simhash_pipeline.errors import DropLogError, SimhashError, StoreError
from simhash_pipeline.options import PREFIX, Options
from simhash_pipeline.stores.contract import SQLITE

DIRECTORY = "simhash"
STORE_SUFFIX = ".sqlite"

logger = logging.getLogger(__name__)


def options_of(crawler: Crawler) -> Options:
    """The SIMHASH_ settings; an attribute of the spider, as `simhash_dry_run`, takes precedence.

    `scrapy crawl -a simhash_dry_run=1` sets one, in capitals too. OptionsError names every fault.
    """
    with reasoned():
        return Options.from_settings({**crawler.settings, **_attributes(crawler.spider)})


def settings_of_spider(name: str, settings: BaseSettings) -> BaseSettings:
    """The settings with those of the project's spider; unchanged if there is no such spider."""
    try:
        spider = get_spider_loader(settings).load(name)
    except KeyError:
        return settings
    settings = settings.copy()
    spider.update_settings(settings)
    settings.setdict(_attributes(spider), "cmdline")
    return settings


def _attributes(spider: object) -> dict[str, Any]:
    """The attributes of a spider or its class that are options, by the settings' names."""
    names = (name for name in dir(spider) if name.upper().startswith(PREFIX))
    given = {name.upper(): getattr(spider, name) for name in names}
    return {name: value for name, value in given.items() if not callable(value)}


@contextlib.contextmanager
def reasoned() -> Iterator[None]:
    """Log in one line why a crawl can't start, and which setting it is.

    Scrapy adds a traceback; not AsyncCrawlerProcess, whose task's error counts as seen then.
    """
    try:
        yield
    except SimhashError as error:
        by_kind = {StoreError: " (SIMHASH_STORE)", DropLogError: " (SIMHASH_DROP_LOG)"}
        setting = "".join(name for kind, name in by_kind.items() if isinstance(error, kind))
        logger.critical("Crawl not started: %s%s", error, setting)
        with contextlib.suppress(RuntimeError):  # no loop runs yet
            if task := asyncio.current_task():
                task.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise error from None


def store_url(options: Options, spider_name: str) -> str:
    """The URL of SIMHASH_STORE, which may be `auto`."""
    if options.store != "auto":
        return options.store
    return f"{SQLITE}{spider_file(spider_name, STORE_SUFFIX).as_posix()}"


def drop_log_path(options: Options, spider_name: str) -> Path | None:
    """None if there is no drop log."""
    if options.drop_log == "auto":
        return spider_file(spider_name, LOG_SUFFIX)
    return None if options.drop_log is None else Path(options.drop_log)


def spider_file(spider_name: str, suffix: str) -> Path:
    """A spider's file in Scrapy's data directory (.scrapy/simhash/ in a project)."""
    return _directory() / f"{quote(spider_name, safe='')}{suffix}"


def spider_files(suffix: str) -> dict[str, Path]:
    """The files that crawls left there, by the names of their spiders."""
    paths = sorted(_directory().glob(f"*{suffix}"))
    return {unquote(path.name.removesuffix(suffix)): path for path in paths}


def _directory() -> Path:
    try:
        path = Path(data_path(DIRECTORY))
    except NotConfigured:  # SCRAPY_SETTINGS_MODULE without scrapy.cfg: scrapyd's projects share it
        path = Path(".scrapy", DIRECTORY, quote(get_project_settings()["BOT_NAME"], safe=""))
    except OSError as error:  # it can't be made: who opens a file in it says so
        path = Path(error.filename, DIRECTORY)
    return path.resolve()
