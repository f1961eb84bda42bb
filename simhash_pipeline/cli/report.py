"""`scrapy simhash report`: what was dropped, as a web page."""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from simhash_pipeline.atomic_write import atomic_write
from simhash_pipeline.cli.command import Command, counted
from simhash_pipeline.cli.dropped import add_log_and_filters, log_of, selected
from simhash_pipeline.cli.resolve import LogReader, store_of_spider
from simhash_pipeline.options import Options
from simhash_pipeline.review.pairs import nearest_distances
from simhash_pipeline.review.summary import Summary
from simhash_pipeline.review.web_page import Neighbours, Texts, write_web_page
from simhash_pipeline.stores.contract import PageText, Store, stamped_bits
from simhash_pipeline.terminal import print_lines, progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy.settings import BaseSettings

MAX_LISTED = 100_000  # drops in one web page: some 20 MB
MAX_NEIGHBOURS = 200_000  # pages of a store that are compared: some 2 s to read
DRAWN_NEIGHBOURS = 1_000  # of these, compared with all others: at most some 5 s


class ReportCommand(Command):
    prints_json = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_log_and_filters(parser, " (default: all; the report opens at the last)")
        parser.add_argument(
            *("-o", "--output"),
            type=Path,
            default=Path("report.html"),
            help="the file to write (default: report.html)",
        )

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        path, output = log_of(arguments, settings), arguments.output
        summary, log = Summary(selected(arguments, path)), LogReader(path)
        with ExitStack() as opened:
            read = [path, arguments.log or path]
            part = opened.enter_context(atomic_write(output, read))
            latest = deque(summary.take(log), maxlen=MAX_LISTED)
            stores = _stores(summary, settings, opened)
            write_web_page(
                part,
                summary,
                latest,
                log=path.name,
                texts=_texts(stores),
                neighbours=_neighbours(stores, Options.from_settings(settings)),
            )
        listed = f", the latest {len(latest):,} listed" if len(latest) < summary.drops else ""
        kilobytes = output.stat().st_size / 1_000
        print_lines([f"{output}: {counted(summary.drops, 'drop')}{listed}, {kilobytes:,.0f} KB"])
        return log.exit_code()


def _stores(summary: Summary, settings: BaseSettings, opened: ExitStack) -> list[Store]:
    """The stores of the log's spiders that are there; the last run's first."""
    spiders = dict.fromkeys(run.spider for run in reversed(summary.runs.values()))
    named = {each.url: each for each in (store_of_spider(name, settings) for name in spiders)}
    return [opened.enter_context(one.existing()) for one in named.values() if one.is_there]


def _texts(stores: Sequence[Store]) -> Texts:
    """Looks up texts in these stores; None for a page whose text isn't kept."""

    def text_of(url: str, namespace: str) -> PageText | None:
        found = (store.text_of(namespace, url) for store in stores)
        return next((text for text in found if text is not None), None)

    return text_of


def _neighbours(stores: Sequence[Store], options: Options) -> Neighbours | None:
    """How near the kept pages of the first store are to each other; None without a store."""
    if not stores:
        return None
    made_with = stores[0].made_with()
    if made_with is None:
        return None
    found = islice(stores[0].pages(), MAX_NEIGHBOURS)
    values = [
        page.content
        for page in progress(found, "pages")
        if page.content is not None and page.namespace == options.namespace
    ]
    counts = nearest_distances(values, stamped_bits(made_with), DRAWN_NEIGHBOURS, seed=0)
    return Neighbours(counts, len(values)) if counts else None
