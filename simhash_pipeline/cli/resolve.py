"""Which store and which drop log a command is about: the one that is named, or the project's."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings
from scrapy.spiderloader import get_spider_loader

from simhash_pipeline.crawl.settings import (
    STORE_SUFFIX,
    settings_of_spider,
    spider_files,
    store_url,
)
from simhash_pipeline.drop_log import LOG_SUFFIX, Drop, Run, read_log
from simhash_pipeline.errors import StoreError
from simhash_pipeline.options import Options
from simhash_pipeline.stores.contract import PageText, Store, shown_url
from simhash_pipeline.stores.opening import open_store, refuse_absent, store_file, url_of_store
from simhash_pipeline.terminal import printable, progress_bar


@dataclass(frozen=True, slots=True)
class NamedStore:
    """A store that need not exist."""

    url: str
    options: Options

    @property
    def name(self) -> str:
        """How messages call it: its file, or its URL without a password."""
        path = store_file(self.url)
        return shown_url(self.url) if path is None else shown_path(path)

    @property
    def is_there(self) -> bool:
        """False if it is known not to exist; a server may still turn out to be down."""
        try:
            refuse_absent(self.url)
        except StoreError:
            return False
        return True

    def existing(self, *, reading: bool = True) -> Store:
        """The store, for `reading` also if it can't be written; StoreError if there is none."""
        refuse_absent(self.url)
        return open_store(self.url, reading=reading)


def resolve_store(arguments: argparse.Namespace, settings: BaseSettings) -> NamedStore:
    """The named store or the only one, which is reported on stderr; UsageError for several."""
    found = resolve_stores(arguments, settings)
    if len(found) > 1:
        names = ", ".join(shlex.quote(one.name) for one in found)
        raise UsageError(f"there are {len(found)} stores here; name one by --store: {names}")
    if not (arguments.store or arguments.spider):
        print(f"store: {printable(found[0].name)}", file=sys.stderr)
    return found[0]


def resolve_stores(arguments: argparse.Namespace, settings: BaseSettings) -> list[NamedStore]:
    """The named store or that of a named spider, or all of the project; UsageError for none."""
    options = Options.from_settings(settings)
    if arguments.store:
        return [store_at(arguments.store, options)]
    if arguments.spider is not None:
        return [store_of_spider(arguments.spider, settings)]
    if not options.has_own_store:
        return [store_at(options.store, options)]
    spiders = [*spider_files(STORE_SUFFIX), *spider_files(LOG_SUFFIX)]
    found = [one for one in stores_of(spiders, settings) if store_file(one.url)]  # no server's
    if not found:
        raise UsageError("no crawl has left a store here; name one by --store")
    return found


def stores_of(spiders: Iterable[str], settings: BaseSettings) -> list[NamedStore]:
    """The stores of these spiders' crawls that are there, each once.

    None of a name that is no spider here: a named log may be that of `dedup` or `judge`.
    """
    known = {*spider_files(STORE_SUFFIX), *spider_files(LOG_SUFFIX)}
    known.update(get_spider_loader(settings).list())
    named = [store_of_spider(spider, settings) for spider in spiders if spider in known]
    return [one for one in {each.url: each for each in named}.values() if one.is_there]


def store_of_spider(spider: str, settings: BaseSettings) -> NamedStore:
    """The store of this spider's crawls, which need not exist."""
    options = Options.from_settings(settings_of_spider(spider, settings))
    return store_at(store_url(options, spider), options)


def store_at(url_or_file: str, options: Options) -> NamedStore:
    """The store at this URL or in this file."""
    file = Path(url_or_file)
    has_bare_name = file.is_file() and not file.is_absolute()
    url = url_of_store(f"./{url_or_file}" if has_bare_name else url_or_file)
    return NamedStore(url, options)


def text_of(stores: Iterable[Store], namespace: str, url: str) -> PageText | None:
    """The text that the first of these stores has kept of a page."""
    found = (store.text_of(namespace, url) for store in stores)
    return next((text for text in found if text is not None), None)


def shown_path(path: Path) -> str:
    """The path, relative to the current directory if it is below."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def resolve_log(arguments: argparse.Namespace, settings: BaseSettings) -> Path:
    """The newest of `resolve_logs`, which is reported on stderr if there are several."""
    logs = resolve_logs(arguments, settings)
    if len(logs) == 1:
        return logs[0]
    newest = max(logs, key=lambda path: path.stat().st_mtime_ns)
    shown = printable(f"log: {shown_path(newest)}, the newest of {len(logs)}")
    print(f"{shown}; --spider names another", file=sys.stderr)
    return newest


def resolve_logs(arguments: argparse.Namespace, settings: BaseSettings) -> list[Path]:
    """The drop log of the arguments `log` and `spider`, else all of the project.

    UsageError for none. The result of `dedup` may be named instead of its log.
    """
    if arguments.log is not None:
        named = Path(arguments.log)
        return [beside if (beside := Path(f"{named}{LOG_SUFFIX}")).exists() else named]
    set_to = Options.from_settings(settings).drop_log
    if set_to is None:
        raise UsageError("SIMHASH_DROP_LOG is None, so crawls write no drop log; name another")
    if set_to != "auto":
        return [Path(set_to)]
    logs = spider_files(LOG_SUFFIX)
    if arguments.spider is not None:
        logs = {spider: path for spider, path in logs.items() if spider == arguments.spider}
    if not logs:
        of = f" of a spider {arguments.spider!r}" if arguments.spider is not None else ""
        raise UsageError(f"there is no drop log{of} in .scrapy/simhash; name one, or crawl first")
    return [*logs.values()]


class LogReader:
    """The lines of a log, with a progress bar where stderr is a terminal."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = shown_path(path)
        self._cut: list[str] = []  # the place of a truncated last line

    def __iter__(self) -> Iterator[Drop | Run]:
        is_plain = self._path.is_file() and self._path.suffix != ".gz"
        total = self._path.stat().st_size if is_plain else None
        with progress_bar("B", total) as advance:
            yield from read_log(self._path, advance, self._cut.append)

    def exit_code(self) -> int:
        """0, or 2 for a truncated log, which is reported on stderr; the whole lines count.

        A line that a crash truncated is completed by the next crawl, and no longer reported.
        """
        if not self._cut:
            return 0
        said = "the last, is cut short and was passed over: the log is truncated"
        print(printable(f"{self._cut[0]}, {said}"), file=sys.stderr)
        return 2
