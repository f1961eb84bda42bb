"""`scrapy simhash dropped | report`: what was dropped, in the terminal and as a page."""

from __future__ import annotations

import argparse
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from scrapy.exceptions import UsageError

from simhash_pipeline.atomic_write import atomic_write
from simhash_pipeline.cli.arguments import age_secs
from simhash_pipeline.cli.log_choice import LogReader, chosen_log
from simhash_pipeline.cli.store_choice import store_of_spider
from simhash_pipeline.cli.terminal import counted
from simhash_pipeline.drop_log import Drop, iso_time
from simhash_pipeline.printable import printable
from simhash_pipeline.report.lines import drop_lines, summary_lines
from simhash_pipeline.report.selection import REASONS, Selection
from simhash_pipeline.report.summary import Summary
from simhash_pipeline.report.summary_record import summary_record
from simhash_pipeline.report.tail import follow, last_run
from simhash_pipeline.report.web_page import Texts, write_web_page

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

MAX_LISTED = 100_000  # drops in one web page: some 20 MB


class DroppedCommand:
    name = "dropped"
    summary = "what was dropped, by reason, host, twin and distance, and which drops to look at"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        _add_log_and_filters(parser)
        parser.add_argument("--list", action="store_true", help="print each drop, no summary")
        parser.add_argument(
            "--json",
            action="store_true",
            help="print each drop as a line of JSON, as in the log, and last an object `summary`; "
            "with --list or --follow the drops alone",
        )
        parser.add_argument(
            "--follow", action="store_true", help="print drops as they come, until Ctrl-C"
        )

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        path = _log(options, settings)
        selection, log = _selection(options, path), LogReader(path)
        if options.follow:
            with suppress(KeyboardInterrupt):  # how it ends
                _print_drops(filter(selection.picks, follow(path)), options)
        elif options.list:
            _print_drops(Summary(selection).take(log), options)
        else:
            _print_summary(path, Summary(selection), log, options)
        return log.exit_code()


class ReportCommand:
    name = "report"
    summary = "write what was dropped as one HTML file, to search and look at in a browser"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        _add_log_and_filters(parser)
        parser.add_argument(
            *("-o", "--output"),
            type=Path,
            default=Path("report.html"),
            help="the file to write (default: report.html)",
        )

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        path = _log(options, settings)
        summary, log = Summary(_selection(options, path)), LogReader(path)
        with ExitStack() as opened:
            part = opened.enter_context(
                atomic_write(options.output, read=[path, options.log or path])
            )
            latest = deque(summary.take(log), maxlen=MAX_LISTED)
            texts = _texts(sorted({drop.spider for drop in latest}), settings, opened)
            write_web_page(part, summary, latest, log=path.name, texts=texts)
        listed = f", the latest {len(latest):,} listed" if len(latest) < summary.drops else ""
        size = options.output.stat().st_size / 1_000
        print(f"{options.output}: {counted(summary.drops, 'drop')}{listed}, {size:,.0f} KB")
        return log.exit_code()


def _texts(spiders: Iterable[str], settings: BaseSettings, opened: ExitStack) -> Texts:
    """Texts out of the stores of these spiders; None of a page whose text isn't kept."""
    named = {each.url: each for each in (store_of_spider(name, settings) for name in spiders)}
    stores = [opened.enter_context(one.existing()) for one in named.values() if one.is_there]

    def of(url: str, namespace: str) -> str | None:
        found = (store.text_of(namespace, url) for store in stores)
        return next((text.text for text in found if text is not None), None)

    return of


def _add_log_and_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "log", nargs="?", type=Path, help="a drop log (default: the one of this project)"
    )
    parser.add_argument("--spider", help="take this spider's log of the project")
    parser.add_argument("--run", help="a run by how its id begins, or `last`")
    parser.add_argument("--url", help="a part of the dropped page's URL or of its twin's")
    parser.add_argument("--host", help="a host, with those under it")
    parser.add_argument(
        "--since", type=_since, help="a date or time in UTC, or as 30m, 2h, 3d or 1w ago"
    )
    parser.add_argument("--reason", choices=REASONS, metavar="REASON", help=", ".join(REASONS))
    parser.add_argument(
        "--distance",
        type=int,
        choices=range(9),
        metavar="BITS",
        help="of content, or of structure where it decided, 0-8",
    )


def _log(options: argparse.Namespace, settings: BaseSettings) -> Path:
    if options.log is not None and options.spider is not None:
        raise UsageError(f"name {options.log} or --spider {options.spider}, not both")
    return chosen_log(options, settings)


def _selection(options: argparse.Namespace, path: Path) -> Selection:
    return Selection(
        url=options.url,
        host=None if options.host is None else options.host.lower(),
        since=options.since,
        reason=options.reason,
        distance=options.distance,
        run=last_run(path, options.spider) if options.run == "last" else options.run,
        spider=options.spider,
    )


def _print_summary(
    path: Path, summary: Summary, log: LogReader, options: argparse.Namespace
) -> None:
    drops = summary.take(log)
    name = printable(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))
    if options.json:
        _print_drops(drops, options)
        _print_json({"summary": summary_record(summary, log=name)})
        return
    deque(drops, maxlen=0)
    print(name)
    for line in summary_lines(summary):
        print(line)


def _print_drops(drops: Iterator[Drop], options: argparse.Namespace) -> None:
    for drop in drops:
        if options.json:
            _print_json(drop, flush=options.follow)
        else:
            print(drop_lines(drop), flush=options.follow)


def _print_json(record: object, *, flush: bool = False) -> None:
    print(printable(msgspec.json.encode(record).decode()), flush=flush)


def _since(text: str) -> str:
    """The time as the log writes it."""
    try:
        with suppress(argparse.ArgumentTypeError):
            return iso_time(time.time() - age_secs(text))
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return iso_time(moment.timestamp())
    except (ValueError, OverflowError, OSError):  # no time, or one before the year 1
        raise argparse.ArgumentTypeError(
            f"must be as 2026-11-21, 2026-11-21T13:30, 2h or 3d, not {text!r}"
        ) from None
