"""`scrapy simhash report`: what was dropped, as a web page."""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from simhash_pipeline.atomic_write import atomic_write
from simhash_pipeline.cli.command import Command, counted
from simhash_pipeline.cli.dropped import add_log_and_filters, log_of, selected
from simhash_pipeline.cli.resolve import LogReader, store_of_spider
from simhash_pipeline.drop_log import log_files
from simhash_pipeline.report.summary import Summary
from simhash_pipeline.report.web_page import Texts, write_web_page
from simhash_pipeline.terminal import print_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from scrapy.settings import BaseSettings

MAX_LISTED = 100_000  # drops in one web page: some 20 MB


class ReportCommand(Command):
    prints_json = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_log_and_filters(parser)
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
            read = [*log_files(path), arguments.log or path]
            part = opened.enter_context(atomic_write(output, read))
            latest = deque(summary.take(log), maxlen=MAX_LISTED)
            texts = _texts(sorted({drop.spider for drop in latest}), settings, opened)
            write_web_page(part, summary, latest, log=path.name, texts=texts)
        listed = f", the latest {len(latest):,} listed" if len(latest) < summary.drops else ""
        kilobytes = output.stat().st_size / 1_000
        print_lines([f"{output}: {counted(summary.drops, 'drop')}{listed}, {kilobytes:,.0f} KB"])
        return log.exit_code()


def _texts(spiders: Iterable[str], settings: BaseSettings, opened: ExitStack) -> Texts:
    """Looks up texts in the stores of these spiders; None for a page whose text isn't kept."""
    named = {each.url: each for each in (store_of_spider(name, settings) for name in spiders)}
    stores = [opened.enter_context(one.existing()) for one in named.values() if one.is_there]

    def text_of(url: str, namespace: str) -> str | None:
        found = (store.text_of(namespace, url) for store in stores)
        return next((text.text for text in found if text is not None), None)

    return text_of
