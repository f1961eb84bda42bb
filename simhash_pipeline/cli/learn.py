"""`scrapy simhash learn`: a frozen idf out of a sample of pages."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from simhash_pipeline.archive.records import Fault
from simhash_pipeline.atomic_write import atomic_write
from simhash_pipeline.cli.arguments import count
from simhash_pipeline.cli.samples import pages_in
from simhash_pipeline.cli.terminal import add_json, progress, tell
from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter
from simhash_pipeline.page.weights import write_idf_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy.settings import BaseSettings


class LearnCommand:
    name = "learn"
    summary = "learn from a sample of pages how much each word tells, for SIMHASH_WEIGHTS = 'table'"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "sample",
            nargs="+",
            help="an archive as dedup reads it: a feed, a folder of .html files, a WARC file, …",
        )
        parser.add_argument("--to", type=Path, required=True, help="the file to write")
        parser.add_argument(
            "--min-pages",
            type=count,
            default=2,
            help="what fewer pages hold weighs as what none holds (default: 2)",
        )
        add_json(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        # What is learnt is the weights: all else is as the pages are to be fingerprinted.
        made_with = dataclasses.replace(
            Options.from_settings(settings), weights="tf", weights_table=None
        )
        sample = _Sample(made_with)
        with atomic_write(options.to, read=map(Path, options.sample)) as part:
            learnt = write_idf_table(sample.counts(options.sample), part, options.min_pages)
            if not learnt:
                raise UsageError(f"no page with text in {', '.join(options.sample)}")
            if learnt < options.min_pages:
                least = f"--min-pages is {options.min_pages:,}"
                raise UsageError(f"{least}, and the sample has {learnt:,} pages with text")
        left_out = " and ".join(
            f"{count:,} {why}"
            for count, why in (
                (sample.empty, "without text"),
                (sample.unread, "that can't be read"),
            )
            if count
        )
        left_out = f" ({left_out} left out)" if left_out else ""
        tell(
            {"table": str(options.to), "pages": learnt, "left_out": sample.empty + sample.unread},
            f"Learnt from {learnt:,} pages{left_out}. For settings.py:\n\n"
            f'SIMHASH_WEIGHTS = "table"\nSIMHASH_WEIGHTS_TABLE = "{options.to}"',
            as_json=options.json,
        )
        return 0


class _Sample:
    """Pages out of files, as counted features."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._fingerprinter = Fingerprinter(options)
        self.empty = self.unread = 0

    def counts(self, samples: list[str]) -> Iterator[Mapping[str, int]]:
        pages = (page for name in samples for page in pages_in(name, self._options))
        for page in progress(pages, "pages"):
            if isinstance(page, Fault):
                self.unread += 1
            elif counts := self._counted(page.html):
                yield counts
            else:
                self.empty += 1

    def _counted(self, html: bytes | str) -> Mapping[str, int]:
        try:
            return self._fingerprinter.feature_counts(html)
        except PageError:
            return {}
