"""`scrapy simhash check | expire | export | import`: what people do with a store between crawls."""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from simhash_pipeline.index.exchange import read_pages, read_stamp, write_pages
from simhash_pipeline.index.store import Store, open_store
from simhash_pipeline.options import Options

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

SECS = {"s": 1, "h": 3_600, "d": 86_400, "w": 604_800}


class CheckCommand:
    name = "check"
    summary = "read a whole store and say what is damaged; mends nothing"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        _add_store(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        with _existing(options.store) as store:
            faults = store.check()
            if not faults:
                print(f"{options.store}: {len(store):,} pages, all well")
        for fault in faults:
            print(f"{options.store}: {fault}")
        if faults:
            print("Restore a copy, or move the file away to begin anew.")
        return 1 if faults else 0


class ExpireCommand:
    name = "expire"
    summary = "forget the pages that were not seen for so long"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        _add_store(parser)
        parser.add_argument("age", type=_secs, help="as 90d; s, h, d or w: seconds to weeks")

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        with _existing(options.store) as store:
            gone = store.expire(time.time() - options.age)
            print(f"{options.store}: {gone:,} pages forgotten, {len(store):,} left")
        return 0


class ExportCommand:
    name = "export"
    summary = "write a store's pages to a file"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        _add_store(parser)
        parser.add_argument("file", type=Path, help="ending in .csv or .parquet")

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        part = options.file.with_name(f"part-{options.file.name}")
        try:
            with _existing(options.store) as store:
                count = write_pages(store.pages(), part, store.made_with())
            part.replace(options.file)
        except OSError as error:
            raise UsageError(f"{options.file}: {error.strerror}") from error
        print(f"{options.file}: {count:,} pages")
        return 0


class ImportCommand:
    name = "import"
    summary = "store the pages of such a file, each in place of a stored page of the same URL"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="ending in .csv or .parquet")
        _add_store(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        try:
            stamp = read_stamp(options.file) or Options.from_settings(settings).stamp()
            with open_store(_url(options.store)) as store:
                store.stamp(stamp)
                count = store.insert_many(read_pages(options.file))
                print(f"{options.store}: {count:,} pages read, {len(store):,} stored")
        except OSError as error:
            raise UsageError(f"{options.file}: {error.strerror}") from error
        except ValueError as error:  # a fingerprint that is wider than the store's
            raise UsageError(f"{options.file}: {error}") from error
        return 0


def _add_store(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", help="a store's URL, as sqlite:///seen.sqlite, or an SQLite file")


def _existing(store: str) -> Store:
    """The store, which must be there: to look into one never makes one."""
    url = _url(store)
    path = Path(url.partition(":///")[2])
    if url.startswith("sqlite:///") and not path.is_file():
        raise UsageError(f"there is no store at {path}")
    return open_store(url)


def _url(store: str) -> str:
    return store if ":" in store.partition("/")[0] else f"sqlite:///{store}"


def _secs(text: str) -> int:
    age = re.fullmatch(r"(\d{1,9})([shdw])", text)
    if age is None:
        raise argparse.ArgumentTypeError(f"must be a number and s, h, d or w, as 90d, not {text!r}")
    return int(age[1]) * SECS[age[2]]
