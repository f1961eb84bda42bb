"""`scrapy simhash store …`: the commands that change a store, or make one of another."""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from simhash_pipeline.atomic_write import atomic_write
from simhash_pipeline.cli.arguments import age_secs
from simhash_pipeline.cli.resolve import NamedStore, add_store, resolve_store, store_at
from simhash_pipeline.cli.result import Result, add_json, print_result
from simhash_pipeline.stores.contract import stamped_bits
from simhash_pipeline.stores.exchange import kind_of, read_pages, read_stamp, write_pages
from simhash_pipeline.terminal import printable, progress
from simhash_pipeline.urls import page_key

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy.settings import BaseSettings

    from simhash_pipeline.stores.contract import Store

TEXTS_A_BATCH = 1_000


class RemoveCommand:
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = "Exit code 1 when one of them is not stored."
        parser.add_argument("urls", nargs="+", metavar="url")
        parser.add_argument("--namespace", help="the pages' namespace (default: SIMHASH_NAMESPACE)")
        add_store(parser)
        add_json(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        named = resolve_store(arguments, settings)
        given = arguments.namespace
        namespace = named.options.namespace if given is None else given
        all_there = True
        keys = [page_key(url) for url in arguments.urls]
        with named.existing() as store:
            for key in keys:
                removed = store.forget(namespace, key)
                all_there &= removed
                print_result(Removal(named.name, key, removed), arguments)
        return 0 if all_there else 1


@dataclass(frozen=True, slots=True)
class Removal(Result):
    store: str
    url: str
    removed: bool

    def lines(self) -> Sequence[str]:
        return [f"{self.store}: {self.url} {'removed' if self.removed else 'is not stored'}"]


class ExpireCommand:
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("age", type=age_secs, help="as 90d; s, h, d or w: seconds to weeks")
        add_store(parser)
        add_json(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        named = resolve_store(arguments, settings)
        with named.existing() as store:
            forgotten = store.expire(time.time() - arguments.age)
            print_result(Forgotten(named.name, forgotten, len(store)), arguments)
        return 0


class ClearCommand:
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = (
            "The options of the fingerprints stay noted: for others take another store, or move "
            "the file away. Exit code 1 when the answer is no."
        )
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--namespace",
            help="only the pages of this one; '' is one too (default: SIMHASH_NAMESPACE if it is "
            "set, else all)",
        )
        which.add_argument("--all", action="store_true", help="the pages of all namespaces")
        parser.add_argument("--yes", action="store_true", help="don't ask")
        add_store(parser)
        add_json(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        named = resolve_store(arguments, settings)
        namespace = arguments.namespace
        if namespace is None and not arguments.all:
            namespace = named.options.namespace or None
        with named.existing() as store:
            if not (arguments.yes or _confirmed(named, store, namespace)):
                return 1
            everything = namespace is None
            forgotten = store.expire(math.inf) if everything else store.clear(namespace)
            print_result(Forgotten(named.name, forgotten, len(store)), arguments)
        return 0


@dataclass(frozen=True, slots=True)
class Forgotten(Result):
    store: str
    forgotten: int
    pages: int  # left

    def lines(self) -> Sequence[str]:
        return [f"{self.store}: {self.forgotten:,} pages forgotten, {self.pages:,} left"]


def _confirmed(named: NamedStore, store: Store, namespace: str | None) -> bool:
    which = f"all {len(store):,} pages" if namespace is None else f"namespace {namespace!r}"
    if not sys.stdin.isatty():
        raise UsageError(f"{named.name}: to forget {which}, say --yes")
    question = f"{named.name}: forget {which} for good? [y/N] "
    print(printable(question), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


class ExportCommand:
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = "The file is written as a whole; a part of it never takes its place."
        parser.add_argument("file", type=Path, help="ending in .csv or .parquet")
        add_store(parser)
        add_json(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        kind_of(arguments.file)
        named = resolve_store(arguments, settings)
        read = [] if named.path is None else [named.path]
        with atomic_write(arguments.file, read) as part, named.existing() as store:
            pages = progress(store.pages(), "pages", len(store))
            written = write_pages(pages, part, store.made_with())
        print_result(Exported(named.name, str(arguments.file), written), arguments)
        return 0


@dataclass(frozen=True, slots=True)
class Exported(Result):
    store: str
    file: str
    pages: int

    def lines(self) -> Sequence[str]:
        return [f"{self.file}: {self.pages:,} pages"]


class ImportCommand:
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = (
            "The whole file is checked before its first page is stored. The store is created if "
            "there is none at the --store or --spider that is named."
        )
        parser.add_argument("file", type=Path, help="ending in .csv or .parquet")
        add_store(parser)
        add_json(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        file = arguments.file
        try:
            named = resolve_store(arguments, settings)
            stamp = read_stamp(file) or named.options.stamp()
            bits = stamped_bits(stamp)
            deque(progress(read_pages(file, bits), "pages checked"), maxlen=0)
            with named.open() as store:
                store.stamp(stamp)
                read = store.insert_many(progress(read_pages(file, bits), "pages"))
                stored = len(store)
        except OSError as error:
            raise UsageError(f"{file}: {error.strerror or error}") from error
        print_result(Imported(named.name, str(file), read, stored), arguments)
        return 0


@dataclass(frozen=True, slots=True)
class Imported(Result):
    store: str
    file: str
    read: int
    pages: int  # in the store now

    def lines(self) -> Sequence[str]:
        return [f"{self.store}: {self.read:,} pages read, {self.pages:,} stored"]


class CopyCommand:
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = (
            "Both are URLs or SQLite files; the second is created if it doesn't exist. Pages are "
            "copied oldest first, each replaces one of the same URL, and nothing is judged: an "
            "interrupted copy can be repeated."
        )
        parser.add_argument("source", help="as sqlite:///seen.sqlite")
        parser.add_argument("target", help="as redis://localhost:6379/0")
        add_json(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        source, target = (store_at(url, settings) for url in (arguments.source, arguments.target))
        if _place(source.url) == _place(target.url):
            raise UsageError(f"{source.name}: a store can't be copied into itself")
        if target.url == "memory:":
            raise UsageError("a store in memory is gone when the command ends; name another")
        with source.existing() as giving, target.open() as taking:
            pages, texts = _copy(giving, taking)
            stored = len(taking)
        print_result(Copied(source.name, target.name, pages, texts, stored), arguments)
        return 0


@dataclass(frozen=True, slots=True)
class Copied(Result):
    source: str
    target: str
    copied: int
    texts: int
    pages: int  # in the target now

    def lines(self) -> Sequence[str]:
        texts = f" with {self.texts:,} texts" if self.texts else ""
        copied = f"{self.copied:,} pages{texts} copied from {self.source}"
        return [f"{self.target}: {copied}, {self.pages:,} stored"]


def _copy(source: Store, target: Store) -> tuple[int, int]:
    """How many pages and texts were copied."""
    stamp = source.made_with()
    if stamp is not None:
        target.stamp(stamp)
    pages = target.insert_many(progress(source.pages(), "pages", len(source)))
    for furniture in source.all_furniture():
        target.add_furniture(*furniture)
    texts, rest = 0, progress(source.texts(), "texts")
    while batch := list(islice(rest, TEXTS_A_BATCH)):
        target.keep_texts(batch)
        texts += len(batch)
    return pages, texts


def _place(url: str) -> str:
    """The same text for one file, however it is named."""
    scheme, _, path = url.partition(":///")
    return str(Path(path).resolve()) if scheme == "sqlite" else url
