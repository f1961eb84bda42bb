"""`scrapy simhash learn`: the idf of each word, frozen, from a sample of pages."""

from __future__ import annotations

import argparse
import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from simhash_pipeline.archive.inputs import StoredPages, open_input
from simhash_pipeline.archive.records import Fault, Page
from simhash_pipeline.atomic_write import atomic_write
from simhash_pipeline.cli.arguments import add_text_field, archive_options, whole
from simhash_pipeline.cli.command import Command, Result, print_result
from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter
from simhash_pipeline.page.weights import write_idf_table
from simhash_pipeline.stores.store_url import shown_url
from simhash_pipeline.terminal import progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy.settings import BaseSettings

    from simhash_pipeline.page.source import Source


class LearnCommand(Command):
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "sample",
            nargs="+",
            help="an archive as dedup reads it: a feed, a folder of .html files, a WARC file, …",
        )
        add_text_field(parser)
        parser.add_argument("--to", type=Path, required=True, help="the file to write")
        parser.add_argument(
            "--min-pages",
            type=whole(),
            default=2,
            help="a word on fewer pages weighs as much as one on none (default: 2)",
        )

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        # Only the weights are learnt: all else is as the pages will be fingerprinted.
        options = dataclasses.replace(
            archive_options(arguments, settings), weights="tf", weights_table=None
        )
        names = arguments.sample
        sample = _Sample(options)
        with atomic_write(arguments.to, read=map(Path, names)) as part:
            learnt = write_idf_table(sample.counts(names), part, arguments.min_pages)
            if not learnt:
                raise UsageError(f"no page with text in {', '.join(names)}")
            if learnt < arguments.min_pages:
                least = f"--min-pages is {arguments.min_pages:,}"
                raise UsageError(f"{least}, and the sample has {learnt:,} pages with text")
        print_result(Learnt(str(arguments.to), learnt, sample.empty, sample.unread), arguments)
        return 0


@dataclass(frozen=True, slots=True)
class Learnt(Result):
    table: str
    pages: int
    empty: int  # pages without text
    unread: int  # pages that can't be read

    def record(self) -> dict[str, Any]:
        return {"table": self.table, "pages": self.pages, "left_out": self.empty + self.unread}

    def lines(self) -> Iterator[str]:
        counts = ((self.empty, "without text"), (self.unread, "that can't be read"))
        left_out = " and ".join(f"{count:,} {why}" for count, why in counts if count)
        left_out = f" ({left_out} left out)" if left_out else ""
        yield f"Learnt from {self.pages:,} pages{left_out}. For settings.py:"
        yield ""
        yield 'SIMHASH_WEIGHTS = "table"'
        yield f'SIMHASH_WEIGHTS_TABLE = "{self.table}"'


class _Sample:
    """Pages out of archives, as counted features."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._fingerprinter = Fingerprinter(options)
        self.empty = self.unread = 0

    def counts(self, names: list[str]) -> Iterator[Mapping[str, int]]:
        pages = (page for name in names for page in pages_in(name, self._options))
        for page in progress(pages, "pages"):
            if isinstance(page, Fault):
                self.unread += 1
            elif counts := self._counted(page):
                yield counts
            else:
                self.empty += 1

    def _counted(self, page: Source) -> Mapping[str, int]:
        try:
            return self._fingerprinter.feature_counts(page)
        except PageError:
            return {}


def pages_in(name: str, options: Options) -> Iterator[Source | Fault]:
    """The pages, and the records that can't be read.

    UsageError for an archive where there is none but such records, and for one without pages'
    texts.
    """
    archive, fault, some = open_input(name, options), None, False
    if isinstance(archive, StoredPages):
        how = "name a feed, a WARC file or a folder of pages"
        raise UsageError(f"{shown_url(name)} can't be read as pages: stores hold no pages; {how}")
    for record, _ in archive.read():
        if isinstance(record, Page):
            some = True
            yield record.source
        elif isinstance(record, Fault):
            fault = fault or record
            yield record
    if fault is not None and not some:
        raise UsageError(f"no page of {name} can be read: {fault.place}: {fault.message}")
