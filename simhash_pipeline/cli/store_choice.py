"""Which store `scrapy simhash store …` is about: the one that is named, or the project's."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from simhash_pipeline.crawl.settings import (
    STORE_SUFFIX,
    settings_of_spider,
    spider_file,
    spider_files,
)
from simhash_pipeline.errors import StoreError
from simhash_pipeline.options import Options
from simhash_pipeline.printable import printable
from simhash_pipeline.rules import STORE_URL
from simhash_pipeline.stores.contract import Store
from simhash_pipeline.stores.opening import SQLITE, open_store, refuse_absent, shown_url, store_file

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings


@dataclass(frozen=True, slots=True)
class NamedStore:
    """A store that need not be there; `name` is what people are told."""

    name: str
    url: str
    options: Options

    @property
    def path(self) -> Path | None:
        """Its file; None where it lies elsewhere."""
        return store_file(self.url)

    @property
    def size_bytes(self) -> int | None:
        """Of its file, with what waits in the log beside it."""
        if self.path is None:
            return None
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    @property
    def is_there(self) -> bool:
        """Whether it can be looked into; one that isn't a file may be."""
        try:
            refuse_absent(self.url)
        except StoreError:
            return False
        return True

    def open(self) -> Store:
        """The store, made when there is none."""
        return open_store(self.url, self.options.index)

    def existing(self) -> Store:
        """The store, which must be there: to look into one never makes one."""
        refuse_absent(self.url)
        return self.open()


def add_choice(parser: argparse.ArgumentParser) -> None:
    """`--store` and `--spider`, alike for all these commands."""
    group = parser.add_argument_group(
        "which store",
        "Without either: SIMHASH_STORE where it is set, else the only store of the project.",
    ).add_mutually_exclusive_group()
    group.add_argument("-S", "--store", help="its URL, as sqlite:///seen.sqlite, or an SQLite file")
    group.add_argument("--spider", help="the store of this spider's crawls")


def chosen(arguments: argparse.Namespace, settings: BaseSettings) -> NamedStore:
    """The store that is named or, told on stderr, the one there is; UsageError if several are."""
    found = all_chosen(arguments, settings)
    if len(found) > 1:
        spiders = " or ".join(
            f"--spider {shlex.quote(name)}" for name in spider_files(STORE_SUFFIX)
        )
        raise UsageError(f"there are {len(found)} stores here; name one: {spiders}")
    if not is_named(arguments):
        print(f"store: {printable(found[0].name)}", file=sys.stderr)
    return found[0]


def all_chosen(arguments: argparse.Namespace, settings: BaseSettings) -> list[NamedStore]:
    """The store that is named, or all there are, one at least."""
    options = Options.from_settings(settings)
    if arguments.store is not None:
        return [_of(arguments.store, options)]
    if arguments.spider is not None:
        return [store_of_spider(arguments.spider, settings)]
    if options.store != "auto":
        return [_of(options.store, options)]
    found = [_of_file(path, options) for path in spider_files(STORE_SUFFIX).values()]
    if not found:
        raise UsageError("no crawl has left a store here; name one by --store")
    return found


def named(url_or_file: str, settings: BaseSettings) -> NamedStore:
    """The store of this URL or file."""
    return _of(url_or_file, Options.from_settings(settings))


def store_of_spider(spider: str, settings: BaseSettings) -> NamedStore:
    """The store that the crawls of this spider keep, which need not be there."""
    options = Options.from_settings(settings_of_spider(spider, settings))
    if options.store == "auto":
        return _of_file(spider_file(spider, STORE_SUFFIX), options)
    return _of(options.store, options)


def is_named(arguments: argparse.Namespace) -> bool:
    return arguments.store is not None or arguments.spider is not None


def _of(url_or_file: str, options: Options) -> NamedStore:
    url = url_or_file if STORE_URL.match(url_or_file) else f"{SQLITE}{url_or_file}"
    return NamedStore(shown_url(url_or_file), url, options)


def _of_file(path: Path, options: Options) -> NamedStore:
    here = Path.cwd()
    name = path.relative_to(here) if path.is_relative_to(here) else path
    return NamedStore(str(name), f"{SQLITE}{path.as_posix()}", options)
