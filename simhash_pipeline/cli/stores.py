"""`scrapy simhash store …`, those that write: what people do with a store between crawls."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from simhash_pipeline.atomic_write import atomic_write
from simhash_pipeline.cli.arguments import age_secs
from simhash_pipeline.cli.store_choice import NamedStore, add_choice, chosen
from simhash_pipeline.cli.terminal import add_json, progress, tell
from simhash_pipeline.errors import StoreDamaged
from simhash_pipeline.printable import printable
from simhash_pipeline.stores.contract import stamped_bits
from simhash_pipeline.stores.exchange import kind_of, read_pages, read_stamp, write_pages
from simhash_pipeline.urls import page_key

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from simhash_pipeline.stores.contract import Store


class CheckCommand:
    name = "check"
    summary = "read a whole store and say what is damaged; mends nothing"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = "Exit code 1 when something is damaged."
        add_choice(parser)
        add_json(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        named = chosen(options, settings)
        pages = None
        try:
            with named.existing() as store:
                faults = store.check()
                pages = None if faults else len(store)
        except StoreDamaged:
            faults = ["too damaged to be opened"]
        lines = [f"{named.name}: {fault}" for fault in faults]
        if faults:
            lines.append("Restore a copy, or move the file away to begin anew.")
        else:
            lines.append(f"{named.name}: {pages:,} pages, all well")
        record = {"store": named.name, "pages": pages, "faults": faults}
        tell(record, "\n".join(lines), as_json=options.json)
        return 1 if faults else 0


class ExpireCommand:
    name = "expire"
    summary = "forget the pages that were not seen for so long"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("age", type=age_secs, help="as 90d; s, h, d or w: seconds to weeks")
        add_choice(parser)
        add_json(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        named = chosen(options, settings)
        with named.existing() as store:
            gone = store.expire(time.time() - options.age)
            _tell_gone(named, gone, len(store), as_json=options.json)
        return 0


class RemoveCommand:
    name = "remove"
    summary = "forget the pages of these URLs, as if they had never been seen"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = "Exit code 1 when one of them is not stored."
        parser.add_argument("urls", nargs="+", metavar="url")
        parser.add_argument("--namespace", help="the pages' namespace (default: SIMHASH_NAMESPACE)")
        add_choice(parser)
        add_json(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        named = chosen(options, settings)
        given = options.namespace
        namespace = named.options.namespace if given is None else given
        keys = [page_key(url) for url in options.urls]
        all_there = True
        with named.existing() as store:
            for key in keys:
                removed = store.forget(namespace, key)
                all_there &= removed
                record = {"store": named.name, "url": key, "removed": removed}
                words = f"{named.name}: {key} {'removed' if removed else 'is not stored'}"
                tell(record, words, as_json=options.json)
        return 0 if all_there else 1


class ClearCommand:
    name = "clear"
    summary = "forget all pages, or all of a namespace; asks before"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = (
            "The options of the fingerprints stay noted: for others take another store, or move "
            "the file away. Exit code 1 when the answer is no."
        )
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--namespace",
            help="only the pages of this one; '' is one too (default: SIMHASH_NAMESPACE where that "
            "is set, else all)",
        )
        which.add_argument("--all", action="store_true", help="the pages of all namespaces")
        parser.add_argument("--yes", action="store_true", help="don't ask")
        add_choice(parser)
        add_json(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        named = chosen(options, settings)
        namespace = options.namespace
        if namespace is None and not options.all:
            namespace = named.options.namespace or None
        with named.existing() as store:
            if not (options.yes or _confirmed(named, store, namespace)):
                return 1
            gone = _cleared(store, namespace)
            _tell_gone(named, gone, len(store), as_json=options.json)
        return 0


class ExportCommand:
    name = "export"
    summary = "write a store's pages to a file"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = "The file is there when it is whole; a shorter one never takes its place."
        parser.add_argument("file", type=Path, help="ending in .csv or .parquet")
        add_choice(parser)
        add_json(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        kind_of(options.file)
        named = chosen(options, settings)
        read = [] if named.path is None else [named.path]
        with atomic_write(options.file, read) as part, named.existing() as store:
            pages = progress(store.pages(), "pages", len(store))
            count = write_pages(pages, part, store.made_with())
        record = {"store": named.name, "file": str(options.file), "pages": count}
        tell(record, f"{options.file}: {count:,} pages", as_json=options.json)
        return 0


class ImportCommand:
    name = "import"
    summary = "store the pages of such a file, each in place of a stored page of the same URL"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = (
            "The whole file is checked before its first page is stored. The store is made when "
            "there is none at the --store or --spider that is named."
        )
        parser.add_argument("file", type=Path, help="ending in .csv or .parquet")
        add_choice(parser)
        add_json(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        try:
            named = chosen(options, settings)
            stamp = read_stamp(options.file) or named.options.stamp()
            bits = stamped_bits(stamp)
            deque(progress(read_pages(options.file, bits), "pages checked"), maxlen=0)
            with named.open() as store:
                store.stamp(stamp)
                count = store.insert_many(progress(read_pages(options.file, bits), "pages"))
                stored = len(store)
        except OSError as error:
            raise UsageError(f"{options.file}: {error.strerror or error}") from error
        record = {"store": named.name, "file": str(options.file), "read": count, "pages": stored}
        words = f"{named.name}: {count:,} pages read, {stored:,} stored"
        tell(record, words, as_json=options.json)
        return 0


def _tell_gone(named: NamedStore, gone: int, left: int, *, as_json: bool) -> None:
    record = {"store": named.name, "forgotten": gone, "pages": left}
    tell(record, f"{named.name}: {gone:,} pages forgotten, {left:,} left", as_json=as_json)


def _confirmed(named: NamedStore, store: Store, namespace: str | None) -> bool:
    which = f"all {len(store):,} pages" if namespace is None else f"namespace {namespace!r}"
    if not sys.stdin.isatty():
        raise UsageError(f"{named.name}: to forget {which}, say --yes")
    question = f"{named.name}: forget {which} for good? [y/N] "
    print(printable(question), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _cleared(store: Store, namespace: str | None) -> int:
    if namespace is None:
        return store.expire(math.inf)
    return store.clear(namespace)
