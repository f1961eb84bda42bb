"""`scrapy simhash store … | settings`: what a crawl has stored, and how; looks after it."""

import argparse
import dataclasses
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader

from simhash_pipeline.cli.command import Command, NamedStore, age, iso
from simhash_pipeline.cli.simhash import Parser
from simhash_pipeline.drop_log import earlier_records, late_settings
from simhash_pipeline.errors import StoreDamaged, StoreError, StoreMismatch
from simhash_pipeline.options import PREFIX, Options, preset_options
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.stores.contract import Store, check_stamp, shown_url
from simhash_pipeline.stores.opening import open_store, store_file
from simhash_pipeline.terminal import Grid, Line, counted, printable, progress
from simhash_pipeline.urls import page_key

# By Scrapy's priority of a setting. A spider's attributes have that of the command line.
_SOURCES = {20: "settings.py", 30: "custom_settings", 40: "an attribute of the spider"}


class InfoCommand(Command):
    epilog = (
        "Reads everything, reports damage and repairs nothing. Without a name, all stores of a "
        "project are described. Exit code 1 when something is damaged."
    )

    def add_arguments(self, parser: Parser) -> None:
        what = "the same as --store"
        parser.add_argument("store", nargs="?", default=argparse.SUPPRESS, help=what)
        parser.add_store()
        parser.add_json()

    def run(self) -> int:
        exit_code = 0
        for place, named in enumerate(self.stores()):
            record = _described(named)
            if place and not self.arguments.json:
                print()
            self.print_result(record, _lines(record))
            exit_code |= bool(record["faults"])
        return exit_code


def _described(named: NamedStore) -> dict[str, Any]:
    """What is counted of a store, and how it was made; of a damaged one its faults alone."""
    try:
        with named.existing() as store:
            faults = store.check()
            sums = {} if faults else _counted(named, store)
    except StoreDamaged:
        faults, sums = ["too damaged to be opened"], {}
    return {"store": named.name, **sums, "faults": faults}


def _lines(record: Mapping[str, Any]) -> Iterator[Line]:
    if record["faults"]:
        yield from (f"{record['store']}: {fault}" for fault in record["faults"])
        yield "Restore a copy, or move the file away to start over."
        return
    shown = {**record, "made_with": _options(record["made_with"]), "damage": "none"}
    rows = [(name.replace("_", " "), _text(value)) for name, value in shown.items()]
    yield Grid([row for row in rows if row[1]])


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name or repr('')} {count:,}" for name, count in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value or "")


def _counted(named: NamedStore, store: Store) -> dict[str, Any]:
    thin, file = 0, store_file(named.url)
    files = [] if file is None else [file, Path(f"{file}-wal")]
    namespaces = Counter[str]()
    oldest, newest = math.inf, -math.inf  # when first and last seen, Unix seconds
    for page in progress(store.pages(), "pages", len(store)):
        thin += page.content is None
        namespaces[page.namespace] += 1
        oldest, newest = min(oldest, page.first_seen), max(newest, page.seen_at)
    return {
        "pages": namespaces.total(),
        "thin": thin,
        "namespaces": dict(namespaces.most_common()),
        "first_seen": iso(oldest) if namespaces else None,
        "seen_at": iso(newest) if namespaces else None,
        "texts": sum(1 for _ in progress(store.texts(), "texts")),
        "bytes": sum(one.stat().st_size for one in files if one.exists()) if files else None,
        "made_with": store.made_with(),
    }


def _options(stamp: Mapping[str, object] | None) -> str:
    if stamp is None:
        return "nothing noted"
    default = stamp_for(Options())
    other = [f"{name} {value!r}" for name, value in stamp.items() if default.get(name) != value]
    return f"the default options{' but ' if other else ''}{', '.join(other)}"


class SettingsCommand(Command):
    epilog = (
        "Prints the settings that differ from their defaults, then what they mean for each store, "
        "and whether its fingerprints were made with others."
    )

    def add_arguments(self, parser: Parser) -> None:
        parser.flag("--all", "print the defaults too")
        parser.add_store()
        parser.add_json()

    def run(self) -> int:
        arguments, options, late = self.arguments, self.options, ""
        if (name := arguments.spider) is not None:
            if name not in (spiders := get_spider_loader(self.settings).list()):
                known = f"; there are {', '.join(spiders)}" if spiders else ""
                raise UsageError(f"there is no spider {name!r} here{known}")
            arguments.log = None  # the project's
            with suppress(UsageError):  # there is none
                late = late_settings(earlier_records(self.logs()[0]), name, options)
        given = {each.partition("=")[0] for each in arguments.set}
        found = {}
        values = dataclasses.asdict(options) | {"store": shown_url(options.store)}
        for name, value in values.items():
            setting = f"{PREFIX}{name.upper()}"
            source = _SOURCES.get(self.settings.getpriority(setting) or 0, "default")
            if source == "default" and name in preset_options(options.preset):
                source = f"{PREFIX}PRESET"
            source = "-s" if setting in given else source
            if arguments.all or source != "default":
                found[setting] = {"value": value, "source": source}
        notes = dict[str, list[str]]()
        with suppress(UsageError):  # no crawl has left a store
            notes = {one.name: _notes(one, options, late) for one in self.stores() if one.is_there}
        self.print_result({"settings": found, "stores": notes}, _settings(found, notes))
        return 0


def _settings(
    settings: Mapping[str, Mapping[str, Any]], stores: Mapping[str, list[str]]
) -> Iterator[Line]:
    rows = [(name, repr(one["value"]), one["source"]) for name, one in settings.items()]
    yield Grid(rows) if rows else "All settings have their defaults."
    for store, notes in stores.items():
        yield from ("", f"store {store}:")
        yield from (f"  {note}" for note in notes)


def _notes(named: NamedStore, options: Options, late: str) -> list[str]:
    """What these settings mean for the pages of a store."""
    note = late or "what you change holds from the next crawl on, also for pages that were dropped"
    try:
        with named.existing() as store:
            pages, stamp = len(store), store.made_with()
            if pages and stamp is not None:
                check_stamp("it", stamp, stamp_for(options))
    except StoreMismatch as error:
        note = f"a crawl refuses it: {error}"
    except StoreError as error:
        return [str(error)]
    return [f"{counted(pages, 'page')}; {note}"]


class ForgetCommand(Command):
    epilog = (
        "A running crawl notices. The settings of the fingerprints stay. "
        "Exit code 1 when a URL is not stored, or the answer is no."
    )

    def add_arguments(self, parser: Parser) -> None:
        what = "a page's URL; the first may be the store's file"
        parser.add("urls", what, nargs="*", metavar="url")
        what = "forget pages not seen for so long: 30m (minutes), 12h, 90d, 4w"
        parser.add("--unseen", what, type=age, metavar="AGE")
        parser.flag("--all", "forget all pages; asks first")
        what = "that of the URLs (default: SIMHASH_NAMESPACE), or of --all, --unseen (default: all)"
        parser.add("--namespace", what)
        parser.flag("--yes", "don't ask")
        parser.add_store()
        parser.add_json()

    def run(self) -> int:
        arguments = self.arguments
        first = "".join(arguments.urls[:1])
        if "://" not in first and Path(first).is_file():
            if arguments.store:
                raise UsageError(f"name one store, {arguments.store} or {first}")
            arguments.store = arguments.urls.pop(0)
        if (bool(arguments.urls), arguments.unseen is not None, arguments.all).count(True) != 1:
            raise UsageError("name URLs, --unseen AGE or --all")
        named = self.store()
        with named.existing() as store:
            if arguments.urls:
                default = named.options.namespace
                namespace = default if arguments.namespace is None else arguments.namespace
                forgotten = _forgotten(store, namespace, arguments.urls)
            elif arguments.unseen is not None:
                forgotten = store.expire(time.time() - arguments.unseen, arguments.namespace)
            elif not (arguments.yes or _confirmed(named, store, arguments.namespace)):
                return 1
            else:
                forgotten = store.clear(arguments.namespace)
            record = {"store": named.name, "forgotten": forgotten, "pages": len(store)}
            line = f"{named.name}: {counted(forgotten, 'page')} forgotten, {len(store):,} left"
            self.print_result(record, [line])
        return 1 if forgotten < len(arguments.urls) else 0


def _forgotten(store: Store, namespace: str, urls: Sequence[str]) -> int:
    """How many of these pages there were; those that were not are named on stderr."""
    keys = [page_key(url) for url in urls]  # before any is forgotten
    absent = [key for key in keys if not store.forget(namespace, key)]
    for key in absent:
        print(printable(f"{key} is not stored"), file=sys.stderr)
    return len(keys) - len(absent)


def _confirmed(named: NamedStore, store: Store, namespace: str | None) -> bool:
    which = f"all {len(store):,} pages" if namespace is None else f"namespace {namespace!r}"
    if not sys.stdin.isatty():
        raise UsageError(f"{named.name}: to forget {which}, add --yes")
    question = f"{named.name}: forget {which} for good? [y/N] "
    print(printable(question), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


class CopyCommand(Command):
    epilog = (
        "Both are URLs or SQLite files; the target is created if it doesn't exist. Pages are "
        "copied, not judged; each replaces one of the same URL, so an interrupted copy can be "
        "repeated."
    )

    def add_arguments(self, parser: Parser) -> None:
        parser.add("source", "such as seen.sqlite")
        parser.add("target", "such as redis://localhost:6379/0")
        parser.add_json()

    def run(self) -> int:
        source, target = map(self.store_at, (self.arguments.source, self.arguments.target))
        if _place(source.url) == _place(target.url):
            raise UsageError(f"{source.name}: a store can't be copied into itself")
        if target.url == "memory:":
            raise UsageError("a store in memory is gone when the command ends; name another")
        with source.existing() as giving, open_store(target.url) as taking:
            if (stamp := giving.made_with()) is not None:
                taking.stamp(stamp)
            pages = taking.insert_many(progress(giving.pages(), "pages", len(giving)))
            for repeated_text in giving.all_repeated_text():
                taking.put_repeated_text(*repeated_text)
            taking.put_visits(giving.visits())
            number = count()
            numbered = zip(progress(giving.texts(), "texts"), number, strict=False)
            taking.keep_texts(text for text, _ in numbered)
            texts = next(number)
            record = {"source": source.name, "target": target.name, "copied": pages}
            record |= {"texts": texts, "pages": len(taking)}
        copied = f"{pages:,} pages{f' with {texts:,} texts' if texts else ''}"
        where = f"copied from {source.name}, {record['pages']:,} stored"
        self.print_result(record, [f"{target.name}: {copied} {where}"])
        return 0


def _place(url: str) -> str:
    """The same text for one file, however it is named."""
    path = store_file(url)
    return url if path is None else str(path.resolve())
