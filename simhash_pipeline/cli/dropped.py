"""`scrapy simhash dropped`: what a drop log holds, summed up, listed or as it grows."""

from __future__ import annotations

import argparse
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from scrapy.exceptions import UsageError

from simhash_pipeline.cli.arguments import age
from simhash_pipeline.cli.command import Command, Result, counted, fields, to_minute
from simhash_pipeline.cli.resolve import LogReader, resolve_log, shown_path
from simhash_pipeline.drop_log import Drop, follow, iso_time, last_run
from simhash_pipeline.review.selection import REASONS, Selection
from simhash_pipeline.review.summary import CLOSEST, MAX_RUNS, MAX_URLS, Summary
from simhash_pipeline.review.swallowing import CAUSES
from simhash_pipeline.terminal import Grid, Heading, bar, print_json, print_lines

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping

    from scrapy.settings import BaseSettings

    from simhash_pipeline.terminal import Line

HOSTS = GROUPS = 10
RUNS = 5
_HALF_BAR = 20  # columns: two of them, with their counts, fit into 80
_GROUP_KEYS = ("example", "nearest", "farthest")
_PAIR_KEYS = (
    *("url", "twin_url", "reason", "own_likeness"),
    *("content_distance", "structure_distance", "sketch_distance"),
)
_SWALLOWING_KEYS = ("twin_url", "host", "dropped", "example")
_RUN_KEYS = ("run", "spider", "first", "kept")
# Distances with a line each; longer ones only mean another template.
_SINGLE_BITS = range(9)
_WIDE_BITS = {"9-16": range(9, 17), "17-32": range(17, 33), "33 or more": range(33, 129)}


class DroppedCommand(Command):
    prints_json = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_log_and_filters(parser, " (default: last, or all that --since picks)")
        parser.add_argument("--list", action="store_true", help="print each drop, no summary")
        parser.add_argument(
            "--json",
            action="store_true",
            help="print each drop as a line of JSON, as in the log, and last an object `summary`; "
            "with --list or --follow the drops alone",
        )
        parser.add_argument(
            "--follow", action="store_true", help="print new drops as they come, until Ctrl-C"
        )

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        path = log_of(arguments, settings)
        reads_all = arguments.since is not None or arguments.follow or path.is_fifo()
        if arguments.run is None and not reads_all:
            arguments.run = "last"
        selection, log = selected(arguments, path), LogReader(path)
        summary = Summary(selection)
        if arguments.follow:
            with suppress(KeyboardInterrupt):  # how it ends
                _print_drops(filter(selection.picks, follow(path)), arguments)
        elif arguments.list:
            _print_drops(summary.take(log), arguments)
        elif arguments.json:
            _print_drops(summary.take(log), arguments)
            print_json({"summary": DropSummary(shown_path(path), summary).record()})
        else:
            deque(summary.take(log), maxlen=0)
            print_lines(DropSummary(shown_path(path), summary).lines())
        return log.exit_code()


def add_log_and_filters(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "log", nargs="?", type=Path, help="a drop log (default: the one of this project)"
    )
    parser.add_argument("--spider", help="take this spider's log of the project")
    parser.add_argument("--run", help=f"a run by how its id begins, `last` or `all`{default}")
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
        help="of content, or of structure if that decided, 0-8",
    )


def log_of(arguments: argparse.Namespace, settings: BaseSettings) -> Path:
    if arguments.log is not None and arguments.spider is not None:
        raise UsageError(f"name {arguments.log} or --spider {arguments.spider}, not both")
    return resolve_log(arguments, settings)


def selected(arguments: argparse.Namespace, path: Path) -> Selection:
    """What the arguments select; of all runs unless they name one."""
    run = arguments.run
    if run in ("last", "all"):
        run = last_run(path, arguments.spider) if run == "last" else None
    return Selection(
        url=arguments.url,
        host=None if arguments.host is None else arguments.host.lower(),
        since=arguments.since,
        reason=arguments.reason,
        distance=arguments.distance,
        run=run,
        spider=arguments.spider,
    )


def _since(text: str) -> str:
    """The time as the log writes it."""
    try:
        with suppress(argparse.ArgumentTypeError):
            return iso_time(time.time() - age(text))
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return iso_time(moment.timestamp())
    except (ValueError, OverflowError, OSError):  # no time, or one before the year 1
        raise argparse.ArgumentTypeError(
            f"must be as 2026-11-21, 2026-11-21T13:30, 2h or 3d, not {text!r}"
        ) from None


def _print_drops(drops: Iterator[Drop], arguments: argparse.Namespace) -> None:
    for drop in drops:
        if arguments.json:
            print_json(msgspec.to_builtins(drop), flush=arguments.follow)
        else:
            print_lines(_drop_lines(drop), flush=arguments.follow)


def _drop_lines(drop: Drop) -> tuple[str, str]:
    """When, which page; the stored page it is near, and how near."""
    return (
        f"{drop.time[:19].replace('T', ' ')}  {drop.url}",
        f"{'':13}twin of  {drop.twin_url or 'no page'}  ({_nearness(drop)})",
    )


def _nearness(drop: Drop, limits: Mapping[str, Any] | None = None) -> str:
    """The reason, or the bits that differ: "content 3, structure 9, sketch 7".

    With the settings' limits: "content 3 of 3, structure 9, sketch 7 of 18".
    """
    if drop.reason in ("thin", "unchanged"):
        return drop.reason
    by_content, by_structure = "content" in drop.reason, "structure" in drop.reason
    parts = []
    for name, bits, setting, counts in (
        ("content", drop.content_distance, "content_distance", by_content),
        ("structure", drop.structure_distance, "structure_distance", by_structure),
        ("sketch", drop.sketch_distance, "verify_distance", by_content),
    ):
        limit = (limits or {}).get(setting) if counts else None
        if bits is not None:
            parts.append(f"{name} {bits}" if limit is None else f"{name} {bits} of {limit}")
    if drop.own_likeness is not None:
        parts.append(f"own text {drop.own_likeness:.0%}")
    return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class DropSummary(Result):
    """Totals of a drop log, and the largest of each kind."""

    log: str
    summary: Summary

    def record(self) -> dict[str, Any]:
        summary = self.summary
        hosts, groups, swallowing = summary.hosts, summary.groups, summary.swallowing.worst()
        return {
            "log": self.log,
            "dropped": summary.drops,
            "pages": summary.pages,
            "urls": summary.urls,
            "to_check": summary.to_check,
            "dry_run": summary.dry,
            "kept": summary.kept.total() if summary.kept_known else None,
            "first": summary.first or None,
            "last": summary.last or None,
            "swallowing": [fields(page, *_SWALLOWING_KEYS) for page in swallowing[:GROUPS]],
            "more_swallowing": max(len(swallowing) - GROUPS, 0),
            "reasons": dict(summary.reasons.most_common()),
            "hosts": {host: tally.drops for host, tally in hosts.top(HOSTS)},
            "more_hosts": max(len(hosts) - HOSTS, 0),
            "content_distances": _by_bits(summary.content),
            "structure_distances": _by_bits(summary.structure),
            "groups": [
                {"twin_url": url, "dropped": tally.drops, **fields(tally, *_GROUP_KEYS)}
                for url, tally in groups.top(GROUPS)
            ],
            "more_groups": max(len(groups) - GROUPS, 0),
            "groups_lacking": groups.lacking,
            "closest": [
                {
                    **fields(drop, *_PAIR_KEYS),
                    "doubts": [doubt.text for doubt in summary.doubts_about(drop)],
                }
                for drop in summary.closest()
            ],
            "runs": [
                {**fields(tally, *_RUN_KEYS), "dropped": tally.drops}
                for tally in list(summary.runs.values())[-RUNS:]
            ],
            "earlier_runs": max(summary.runs_seen - RUNS, 0),
        }

    def lines(self) -> Iterator[Line]:
        summary = self.summary
        yield self.log
        yield Heading(_verdict(summary))
        yield "; ".join(_circumstances(summary))
        if not summary.drops:
            return
        yield from _swallowing(summary)
        yield from _closest(summary)
        yield from _counts("Reason", summary.reasons.most_common(), summary.drops)
        hosts = [(host or "none", tally.drops) for host, tally in summary.hosts.top(HOSTS)]
        yield from _counts("Host", hosts, summary.drops)
        yield from _more(len(summary.hosts) - HOSTS, "hosts")
        yield from _histograms(summary)
        yield from _groups(summary)
        yield from _runs(summary)


def _verdict(summary: Summary) -> str:
    if not summary.drops:
        is_all = summary.selection.whole_runs and (summary.runs_seen or not summary.other_runs)
        return "no drops" if is_all else "no drops that match"
    dropped = f"{summary.drops:,} dropped"
    if summary.runs_seen > 1:
        urls = summary.urls
        pages = f"over {MAX_URLS:,} pages" if urls is None else counted(urls, "page")
        dropped = f"{summary.drops:,} drops in {summary.runs_seen:,} runs, of {pages}"
    elif summary.pages is not None:
        dropped = f"{summary.drops:,} of {summary.pages:,} pages dropped"
    return f"{dropped}; {f'{summary.to_check:,} to check' if summary.to_check else 'none to check'}"


def _circumstances(summary: Summary) -> Iterator[str]:
    if summary.kept_known:
        yield f"{summary.kept.total():,} kept"
    if summary.errors:
        yield f"{summary.errors.total():,} not judged"
    if summary.dry:
        yield f"{summary.dry:,} by a dry run: their items were kept"
    if summary.drops:
        first, last = to_minute(summary.first), to_minute(summary.last)
        yield f"{first} UTC" if first == last else f"{first} to {last} UTC"
    if summary.other_runs:
        more = "at least " * (len(summary.other_runs) == MAX_RUNS)
        yield f"{more}{counted(len(summary.other_runs), 'other run')}: --run all"


def _by_bits(counts: Counter[int]) -> dict[str, int]:
    return {str(bits): count for bits, count in sorted(counts.items())}


def _swallowing(summary: Summary) -> Iterator[Line]:
    pages = summary.swallowing.worst()
    if not pages:
        return
    yield ""
    yield Heading(f"Look at this first. {CAUSES}")
    dry_run = summary.dry == summary.drops
    yield from (f"  {page.sentence(dry_run=dry_run)}" for page in pages[:GROUPS])
    yield from _more(len(pages) - GROUPS, "such pages")


def _counts(heading: str, counts: list[tuple[str, int]], total: int) -> Iterator[Line]:
    yield ""
    yield Heading(heading)
    rows = [(name, f"{count:,}", bar(count, total)) for name, count in counts]
    yield Grid(rows, right=(1,), indent=2, wraps=0)


def _histograms(summary: Summary) -> Iterator[Line]:
    bins = {str(bits): range(bits, bits + 1) for bits in _SINGLE_BITS} | _WIDE_BITS
    content, structure = (
        [sum(counts[bits] for bits in each) for each in bins.values()]
        for counts in (summary.content, summary.structure)
    )
    most = max([*content, *structure, 1])
    yield ""
    yield Heading("Bits apart")
    rows = [("", "content", "", "structure", "")]
    for name, here, there in zip(bins, content, structure, strict=True):
        if here or there:
            left, right = bar(here, most, _HALF_BAR), bar(there, most, _HALF_BAR)
            rows.append((name, f"{here:,}", left, f"{there:,}", right))
    yield Grid(rows, right=(0, 1, 3), indent=2)


def _groups(summary: Summary) -> Iterator[Line]:
    groups = summary.groups
    if not len(groups):
        return
    yield ""
    yield Heading("Most dropped in favour of one page")
    for url, tally in groups.top(GROUPS):
        yield f"  {tally.drops:>9,}  {url}"
        yield f"{'':13}as {tally.example}{_span(tally.nearest, tally.farthest)}"
    yield from _more(len(groups) - GROUPS, "pages")
    if groups.lacking:
        yield f"  (too many pages to count each: these may lack up to {groups.lacking:,} drops)"


def _span(nearest: int | None, farthest: int | None) -> str:
    if nearest is None:
        return ""
    return f"  (content {nearest})" if nearest == farthest else f"  (content {nearest}-{farthest})"


def _closest(summary: Summary) -> Iterator[Line]:
    closest = summary.closest()
    if not closest:
        return
    yield ""
    yield Heading(f"The likeliest to be wrong (at most {CLOSEST})")
    for drop in closest:
        yield f"  {drop.url}"
        yield f"    ≈ {drop.twin_url or ''}"
        if found := summary.doubts_about(drop):
            yield f"    {'; '.join(doubt.text for doubt in found)}"
        if drop.reason != "thin":
            yield f"    ({_nearness(drop, limits=drop.thresholds)})"


def _runs(summary: Summary) -> Iterator[Line]:
    if summary.runs_seen < 2:
        return
    yield ""
    rows = [("Run", "spider", "began (UTC)", "kept", "dropped")]
    for tally in list(summary.runs.values())[-RUNS:]:
        kept = "unknown" if tally.kept is None else f"{tally.kept:,}"
        shown = kept if summary.selection.whole_runs else ""
        began = to_minute(tally.first)
        rows.append((tally.run[:8], tally.spider, began, shown, f"{tally.drops:,}"))
    yield Grid(rows, right=(3, 4), wraps=1)
    yield from _more(summary.runs_seen - RUNS, "earlier runs")


def _more(count: int, what: str) -> Iterator[str]:
    if count > 0:
        yield f"  and {count:,} more {what}"
