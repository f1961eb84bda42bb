"""What commands share: their shape, their store and drop log, results, and written files."""

import argparse
import shlex
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings
from scrapy.spiderloader import get_spider_loader

from simhash_pipeline.cli.simhash import Parser
from simhash_pipeline.crawl.settings import (
    STORE_SUFFIX,
    settings_of_spider,
    spider_files,
    store_url,
)
from simhash_pipeline.drop_log import LOG_SUFFIX
from simhash_pipeline.errors import SimhashError, StoreError
from simhash_pipeline.options import Options, age_secs
from simhash_pipeline.stores.contract import PageText, Store, shown_url
from simhash_pipeline.stores.opening import open_store, store_file, url_of_store, why_absent
from simhash_pipeline.terminal import Line, print_json, print_lines, printable
from simhash_pipeline.urls import page_key


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
        return why_absent(self.url) is None

    def existing(self) -> Store:
        """The store; StoreError if there is none."""
        if why := why_absent(self.url):
            raise StoreError(why)
        return open_store(self.url)


class Command:
    """One `scrapy simhash` command, and what it was given.

    Stores and logs are those that are named, or else the project's.
    """

    epilog: ClassVar[str | None] = None  # of its help; explains an exit code other than 0 and 2
    arguments: argparse.Namespace
    settings: BaseSettings  # with those of a named spider

    def add_arguments(self, parser: Parser) -> None:
        """Add what only this command takes."""

    def run(self) -> int:
        """Print the result and return the exit code; UsageError and SimhashError make it 2."""
        raise NotImplementedError

    @cached_property
    def options(self) -> Options:
        return Options.from_settings(self.settings)

    def print_result(self, record: Mapping[str, Any], lines: Iterable[Line]) -> None:
        """The record with --json, else the lines for people."""
        if self.arguments.json:
            print_json(record)
        else:
            print_lines(lines)

    def store(self) -> NamedStore:
        """The named store or the only one, which is reported on stderr; UsageError for several."""
        if len(found := self.stores()) > 1:
            names = ", ".join(shlex.quote(one.name) for one in found)
            raise UsageError(f"there are {len(found)} stores here; name one by --store: {names}")
        if not (self.arguments.store or self.arguments.spider):
            print(f"store: {printable(found[0].name)}", file=sys.stderr)
        return found[0]

    def stores(self) -> list[NamedStore]:
        """The named store or that of a named spider, or all of the project; UsageError for none."""
        if self.arguments.store:
            return [self.store_at(self.arguments.store)]
        if self.arguments.spider is not None:
            return [self._store_of(self.arguments.spider)]
        if self.options.store != "auto":
            return [self.store_at(self.options.store)]
        spiders = [*spider_files(STORE_SUFFIX), *spider_files(LOG_SUFFIX)]
        found = [one for one in self.stores_of(spiders) if store_file(one.url)]  # no server's
        if not found:
            raise UsageError("no crawl has left a store here; name one by --store")
        return found

    def stores_of(self, spiders: Iterable[str]) -> list[NamedStore]:
        """The stores of these spiders' crawls that are there, each once.

        None of a name that is no spider here: a named log may be that of `dedup` or `judge`.
        """
        known = {*spider_files(STORE_SUFFIX), *spider_files(LOG_SUFFIX)}
        known.update(get_spider_loader(self.settings).list())
        named = {one.url: one for one in map(self._store_of, filter(known.__contains__, spiders))}
        return [one for one in named.values() if one.is_there]

    def _store_of(self, spider: str) -> NamedStore:
        options = Options.from_settings(settings_of_spider(spider, self.settings))
        return NamedStore(url_of_store(store_url(options, spider)), options)

    def store_at(self, url_or_file: str) -> NamedStore:
        return NamedStore(url_of_store(url_or_file), self.options)

    def log(self) -> Path:
        """The newest of `logs`, which is reported on stderr if there are several."""
        if len(logs := self.logs()) == 1:
            return logs[0]
        newest = max(logs, key=lambda log: log.stat().st_mtime_ns)
        shown = printable(f"log: {shown_path(newest)}, the newest of {len(logs)}")
        print(f"{shown}; --spider names another", file=sys.stderr)
        return newest

    def logs(self) -> list[Path]:
        """The drop log of the arguments `log` and `spider`, else all of the project.

        UsageError for none. The result of `dedup` may be named instead of its log.
        """
        named, spider = self.arguments.log, self.arguments.spider
        if named is not None:
            log = Path(f"{named}{LOG_SUFFIX}")
            return [log if log.exists() else Path(named)]
        if (set_to := self.options.drop_log) is None:
            raise UsageError("SIMHASH_DROP_LOG is None, so crawls write no drop log; name another")
        if set_to != "auto":
            return [Path(set_to)]
        found = spider_files(LOG_SUFFIX)
        if logs := [path for name, path in found.items() if spider in (None, name)]:
            return logs
        of = f" of a spider {spider!r}" if spider is not None else ""
        raise UsageError(f"there is no drop log{of} in .scrapy/simhash; name one, or crawl first")


def shown_path(path: Path) -> str:
    """The path, relative to the current directory if it is below."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def text_of(stores: Iterable[Store], url: str, namespace: str) -> PageText | None:
    """The text that the first of these stores has kept of a page."""
    found = (store.text_of(namespace, page_key(url)) for store in stores)
    return next((text for text in found if text is not None), None)


def fields(thing: object, *names: str) -> dict[str, Any]:
    """These attributes by their names."""
    return {name: getattr(thing, name) for name in names}


@contextmanager
def atomic_write(path: Path, read: Iterable[Path] = ()) -> Iterator[Path]:
    """An empty file beside `path` that replaces it at the end of the block.

    If the block fails, the old file stays. SimhashError, before the block begins, for a path that
    can't be written and for one of the files that are `read`; and for an error of writing.
    """
    part = path.parent / f".{uuid.uuid4().hex}{path.suffix}"
    try:
        if not path.name or path.is_dir():
            raise SimhashError(f"{path} is a directory; name a file")
        if path.exists() and not path.is_file():
            raise SimhashError(f"{path} is not a regular file")
        if path.resolve() in {one.resolve() for one in read}:
            raise SimhashError(f"{path} is an input, and would be overwritten")
        part.touch()
        yield part
        part.replace(path)
    except OSError as error:
        if error.filename is not None and str(error.filename) != str(part):
            raise  # of another file, which it names
        raise SimhashError(f"{path}: {error.strerror}") from error
    finally:
        with suppress(OSError):  # it isn't there, or no file can be there
            part.unlink()


def iso(seconds: float) -> str:
    """Unix seconds in JSON: 2026-11-03T10:12:09Z."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):  # of a damaged store
        return str(seconds)


def minute(time: float | str) -> str:
    """Unix seconds, or a time in JSON, for people, in UTC: 2026-11-03 10:12."""
    return (time if isinstance(time, str) else iso(time))[:16].replace("T", " ")


def age(text: str) -> int:
    """Seconds of an age of one or more: 30m, 2h, 3d."""
    with suppress(ValueError):
        return age_secs(text)
    rule = "must be 1 or more, and s, m, h, d or w, as 90d"
    raise argparse.ArgumentTypeError(f"{rule}, not {text!r}")
