"""`scrapy simhash store copy`: a store's pages and texts into another, of whichever kind."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from simhash_pipeline.cli.store_choice import named
from simhash_pipeline.cli.terminal import add_json, progress, tell

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings

TEXTS_A_BATCH = 1_000


class CopyCommand:
    name = "copy"
    summary = "store the pages of one store in another, as when a crawl moves to Redis"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = (
            "Both are URLs or SQLite files; the second is made when there is none. Pages go in "
            "oldest first, each in place of one of the same URL, and nothing is judged; so the "
            "same may be done again after it was cut short."
        )
        parser.add_argument("source", help="as sqlite:///seen.sqlite")
        parser.add_argument("target", help="as redis://localhost:6379/0")
        add_json(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        source, target = (named(store, settings) for store in (options.source, options.target))
        if _place(source.url) == _place(target.url):
            raise UsageError(f"{source.name}: a store can't be copied into itself")
        if target.url == "memory:":
            raise UsageError("a store in memory is gone when the command ends; name another")
        with source.existing() as giving, target.open() as taking:
            stamp = giving.made_with()
            if stamp is not None:
                taking.stamp(stamp)
            count = taking.insert_many(progress(giving.pages(), "pages", len(giving)))
            for furniture in giving.all_furniture():
                taking.add_furniture(*furniture)
            rest = progress(giving.texts(), "texts")
            texts = 0
            while chunk := list(islice(rest, TEXTS_A_BATCH)):
                taking.keep_texts(chunk)
                texts += len(chunk)
            stored = len(taking)
        record = {
            "source": source.name,
            "target": target.name,
            "copied": count,
            "texts": texts,
            "pages": stored,
        }
        with_texts = f" with {texts:,} texts" if texts else ""
        words = f"{target.name}: {count:,} pages{with_texts} copied from {source.name}"
        words += f", {stored:,} stored"
        tell(record, words, as_json=options.json)
        return 0


def _place(url: str) -> str:
    """What is the same for one file, however it is named."""
    scheme, _, path = url.partition(":///")
    return str(Path(path).resolve()) if scheme == "sqlite" else url
