"""`scrapy simhash dropped | report | rules`: what a drop log holds, and what it teaches."""

import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import ClassVar, TextIO

from scrapy.exceptions import UsageError

from simhash_pipeline.answers import FORMULA, read_sheet
from simhash_pipeline.cli.command import Command, atomic_write, minute, shown_path, text_of
from simhash_pipeline.cli.simhash import Parser
from simhash_pipeline.drop_log import CAUSES, REASONS, Drop, last_run, read_log
from simhash_pipeline.errors import SimhashError
from simhash_pipeline.review.summary import CLOSEST, Doubt, Summary, measures, rank, why_rejected
from simhash_pipeline.review.web_page import write_web_page
from simhash_pipeline.terminal import Grid, Line, bar, counted, print_lines, printable, progress
from simhash_pipeline.url_rules import Learnt, learn
from simhash_pipeline.urls import page_key

MAGNETS = 10  # pages
KEPT = 50  # near misses
SHORT_BAR = 8  # columns
# The fields of a drop in the sheet, as the report saves it: there `distance` is that of contents.
SHEET = (
    *("twin_url", "url", "twin_title", "title", "reason", "time", "content_distance"),
    *("sketch_distance", "structure_distance", "similarity", "fields", "main_share", "tokens"),
    *("run", "spider"),
)
SHOWN_RUNS = 20
SHOWN_RULES = 20  # rules of each kind, taken or not


class _DropsCommand(Command):
    """A command about the drops of a log, or of some of its runs."""

    runs: ClassVar[str]  # the default of --run

    def add_arguments(self, parser: Parser) -> None:
        parser.add_log()
        parser.add("--spider", "use this spider's drop log")
        parser.add("--run", "a run: how its id begins, `last` or `all`", default=self.runs)

    def summary(self, log: Path) -> Summary:
        """An empty one, which picks these runs."""
        run, spider = self.arguments.run, self.arguments.spider
        if run == "last":
            run = last_run(log, spider)
        return Summary(None if run == "all" else run, spider)


class DroppedCommand(_DropsCommand):
    runs = "last"

    def add_arguments(self, parser: Parser) -> None:
        super().add_arguments(parser)
        parser.flag("--kept", "list near misses; with --list, changed and replaced pages too")
        parser.flag("--list", "print each drop in a line: URL, twin, reason, row")
        parser.flag(
            "--csv",
            "print drops, or near misses with --kept, as CSV for Excel. With answers in the first "
            "column (copy, another page) it is a sheet for SIMHASH_ANSWERS",
        )
        parser.add("-o, --output", "write the CSV lines to this file", type=Path, metavar="FILE")
        what = "separate cells by semicolons, for Excel where numbers have a decimal comma"
        parser.flag("--semicolons", what)

    def run(self) -> int:
        arguments, logs = self.arguments, self.logs()
        listed = ("near miss", "changed", "replaced") if arguments.list else ("near miss",)
        kinds = listed if arguments.kept else (None,)
        drops = (each for log in logs for each in self._drops(log) if each.record in kinds)
        mark = ";" if arguments.semicolons else ","
        if arguments.output is not None:
            _refuse_sheet(arguments.output)
            with (
                atomic_write(arguments.output, logs) as part,
                part.open("w", encoding="utf-8", errors="replace", newline="") as file,
            ):
                lines = _write_sheet(drops, file, mark)
            print_lines([f"{arguments.output}: {counted(lines, 'line')}"])
        elif arguments.csv:
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="")
            _write_sheet(drops, sys.stdout, mark)
        elif arguments.list:
            for drop in drops:
                changed = f": {', '.join(drop.changed)}" if drop.record == "changed" else ""
                for twin_url, rows in (drop.rows or {drop.twin_url or "": [""]}).items():
                    start = f"{drop.url}  {twin_url}  {drop.reason}{changed}"
                    for row in rows:
                        print(printable(f"{start}  {row}".rstrip()))
        else:
            for place, log in enumerate(logs):
                summary = self.summary(log)
                summary.take(read_log(log))
                told = (kept_near if arguments.kept else summed_up)(shown_path(log), summary)
                print_lines(chain(["", ""] if place else [], told))
        return 0

    def _drops(self, log: Path) -> Iterator[Drop]:
        """The drops, near misses and changes of the chosen runs."""
        return (
            each
            for each in filter(self.summary(log).picks, read_log(log))
            if isinstance(each, Drop)
        )


def _refuse_sheet(path: Path) -> None:
    """UsageError for a sheet with answers, which a new one would replace, and for no CSV."""
    if path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise UsageError(f"{path}: the lines are CSV, which Excel reads; name it .csv")
    with suppress(SimhashError):  # another file
        if path.is_file() and (answers := len(read_sheet(path))):
            rule = "move it, or name another file"
            raise UsageError(f"{path} has {counted(answers, 'answer')}: {rule}")


def _write_sheet(drops: Iterator[Drop], file: TextIO, mark: str) -> int:
    """How many drops were written, behind a head with UTF-8's mark, which Excel needs.

    A log that can't be read fails before the head.
    """
    sheet, lines = csv.writer(file, delimiter=mark), 0
    first = list(islice(drops, 1))
    sheet.writerow(["\ufeffanswer", *(name.removeprefix("content_") for name in SHEET)])
    for drop in chain(first, drops):
        values = (getattr(drop, name) for name in SHEET)
        values = (", ".join(each) if isinstance(each, tuple) else each for each in values)
        texts = ("" if value is None else str(value) for value in values)
        texts = (f"'{text}" if text.startswith(FORMULA) else text for text in texts)
        sheet.writerow(["", *map(printable, texts)])
        lines += 1
    return lines


def _nearness(drop: Drop) -> str:
    """The bits that differ, with the settings' limits: "content 3 of 3, structure 9"."""
    parts = [
        f"{name} {bits}" if limit is None else f"{name} {bits} of {limit}"
        for name, bits, limit in measures(drop)
        if bits is not None
    ]
    if drop.similarity:
        parts.append(f"page-specific text {drop.similarity:.0%}")
    return ", ".join(parts)


def summed_up(log: str, summary: Summary) -> Iterator[Line]:
    """Totals of a drop log, what to look at first, and the reasons."""
    yield log
    yield _verdict(summary)
    yield "; ".join(_circumstances(summary))
    if summary.kept_near:
        yield f"{_kept_near(summary)}; --kept lists these"
    if not summary.drops:
        return
    yield from _first_looks(summary)
    yield from ("", "Reason")
    rows = [
        (name, f"{count:,}", bar(count, summary.drops, SHORT_BAR), REASONS.get(name, ""))
        for name, count in summary.reasons.most_common()
    ]
    yield Grid(rows, right=(1,), indent=2)
    if len(summary.runs) > 1:
        heading = f"Run (--run takes an id; the last {SHOWN_RUNS} at most)"
        rows = [
            (one.run[:8], one.spider, f"{minute(one.first)} UTC", counted(one.drops, "drop"))
            for one in [*summary.runs.values()][-SHOWN_RUNS:]
        ]
        yield from ("", heading, Grid(rows, right=(3,), indent=2))


def kept_near(log: str, summary: Summary) -> Iterator[Line]:
    """The near misses, the likeliest copies first."""
    yield log
    yield f"{_kept_near(summary)}{', listed first' if summary.kept_to_check else ''}"
    for near in sorted(summary.near_misses, key=rank)[:KEPT]:
        yield from _pair(near, [why_rejected(near.reason, near, near.thresholds)])
    yield from _more(summary.kept_near - min(KEPT, len(summary.near_misses)), "such pages")


def _kept_near(summary: Summary) -> str:
    likely = f"{summary.kept_to_check:,}" if summary.kept_to_check else "none"
    return f"{summary.kept_near:,} kept though near a stored page; likely copies: {likely}"


def _verdict(summary: Summary) -> str:
    if not summary.drops:
        return "no drops"
    verb = "would be dropped" if summary.dry == summary.drops else "dropped"
    dropped = f"{summary.drops:,} {verb}"
    if summary.runs_seen > 1:
        dropped = f"{summary.drops:,} drops in {summary.runs_seen:,} runs"
    elif summary.pages is not None:
        dropped = f"{summary.drops:,} of {summary.pages:,} pages {verb}"
    return f"{dropped}; {f'{summary.to_check:,} to check' if summary.to_check else 'none to check'}"


def _circumstances(summary: Summary) -> Iterator[str]:
    if summary.kept_known:
        yield f"{summary.kept.total():,} kept"
    if summary.unchanged:
        yield f"{summary.unchanged:,} dropped as unchanged"
    if summary.errors:
        yield f"{summary.errors.total():,} kept that could not be judged"
    if summary.dry:
        yield f"{counted(summary.dry, 'near-duplicate')}, also kept (dry run or tagged)"
    if summary.drops:
        first, last = minute(summary.first), minute(summary.last)
        yield f"{first} UTC" if first == last else f"{first} to {last} UTC"


def _first_looks(summary: Summary) -> Iterator[Line]:
    if pages := summary.magnets.worst():
        yield from ("", f"Look at this first. {CAUSES}")
        dry_run = summary.dry == summary.drops
        yield from (f"  {page.sentence(dry_run=dry_run)}" for page in pages[:MAGNETS])
        yield from _more(len(pages) - MAGNETS, "such pages")
    if closest := summary.closest():
        first = "Those to check, then the" if summary.to_check else "The"
        yield from ("", f"{first} nearest to the thresholds (at most {CLOSEST})")
        for drop, found in closest:
            yield from _pair(drop, found)


def _pair(drop: Drop, found: Sequence[Doubt]) -> Iterator[str]:
    yield f"  {drop.url}"
    yield f"    ≈ {drop.twin_url or ''}"
    if found:
        yield f"    {'; '.join(doubt.text for doubt in found)}"
    if drop.reason not in ("thin", "error page") and (nearness := _nearness(drop)):
        yield f"    ({nearness})"


def _more(count: int, what: str) -> Iterator[str]:
    if count > 0:
        yield f"  and {count:,} more {what}"


class ReportCommand(_DropsCommand):
    runs = "all"

    def add_arguments(self, parser: Parser) -> None:
        super().add_arguments(parser)
        parser.add("-o, --output", "the file to write", type=Path, default=Path("report.html"))
        parser.add("-S, --store", "the store with texts (default: those of the log's spiders)")

    def run(self) -> int:
        log, output, named = self.log(), self.arguments.output, self.arguments.store
        summary = self.summary(log)
        with ExitStack() as opened:
            read = [log, Path(self.arguments.log or log)]
            part = opened.enter_context(atomic_write(output, read))
            summary.take(read_log(log))
            spiders = (run.spider for run in reversed(summary.runs.values()))
            found = self.stores_of(spiders) if named is None else [self.store_at(named)]
            stores = [opened.enter_context(one.existing()) for one in found]
            write_web_page(part, summary, log.name, partial(text_of, stores))
        near, kilobytes = len(summary.near_misses), output.stat().st_size / 1_000
        misses = f", {near:,} near {'miss' if near == 1 else 'misses'}" if near else ""
        print_lines([f"{output}: {counted(summary.drops, 'drop')}{misses}, {kilobytes:,.0f} KB"])
        return 0


class RulesCommand(Command):
    epilog = (
        "A rule is taken if it explains enough drops and no two kept pages would have one URL by "
        "it. The file of -o is for duplicate-url-discarder: DUD_LOAD_RULE_PATHS = ['rules.json']."
    )

    def add_arguments(self, parser: Parser) -> None:
        what = "drop logs, with their spiders' stores (default: the one of this project)"
        parser.add("logs", what, nargs="*", type=Path)
        parser.add("--min-support", "how many drops a rule must explain", type=int, default=3)
        what = "make a rule of this query key in any case"
        parser.add("--take", what, action="append", metavar="KEY")
        parser.add("-o, --output", "write the rules to this JSON file", type=Path)
        parser.add_store()

    def run(self) -> int:
        arguments = self.arguments
        arguments.log = None  # the project's
        logs = arguments.logs or [self.log()]
        drops, spiders = [], dict[str, None]()
        for record in chain.from_iterable(map(read_log, logs)):
            spiders[record.spider] = None
            if isinstance(record, Drop) and record.twin_url and record.record is None:
                drops.append((page_key(record.url), page_key(record.twin_url)))
        stores = [] if arguments.store or arguments.spider else self.stores_of(spiders)
        kept = set()
        for named in stores or [self.store()]:
            with named.existing() as store:
                kept |= {page.url for page in progress(store.pages(), "pages", len(store))}
        learnt = learn(drops, kept, arguments.min_support, arguments.take or ())
        if absent := {*(arguments.take or ())} - {one.rule.key for one in learnt.evidence}:
            raise UsageError(f"no drop differs from its kept page in the key {min(absent)!r}")
        rules = [one.rule.for_discarder() for one in learnt.evidence if one.taken]
        lines = [*_rules(learnt, len(kept))]
        if arguments.output is not None:
            with atomic_write(arguments.output, arguments.logs) as part:
                part.write_text(json.dumps(rules, ensure_ascii=False, indent=2) + "\n", "utf-8")
            lines.append(f"{arguments.output}: {counted(len(rules), 'rule')}")
        print_lines(lines)
        return 0


def _rules(learnt: Learnt, kept: int) -> Iterator[Line]:
    """The rules, what speaks for and against each, and what they save of `kept` pages."""
    if not learnt.evidence:
        yield f"No query key explains enough drops; {counted(kept, 'page')} kept."
        return
    lost = sum(len(one.against) for one in learnt.evidence if one.taken)
    for taken, heading in (
        (True, "Rules" if lost else "Rules that lose no article"),
        (False, "Not taken (a query key that you know is taken by --take KEY)"),
    ):
        if rules := [one for one in learnt.evidence if one.taken == taken]:
            yield heading
            for one in rules[:SHOWN_RULES]:
                yield f"  {one.rule.key} in URLs of {one.rule.host}"
                against = one.refusal or f"{len(one.against) or 'no'} URLs against it"
                yield f"    {counted(one.support, 'drop')} explained; {against}"
                urls = one.against[0] if one.against else one.example[:1]
                yield from (f"    {url}" for url in urls)
            yield from _more(len(rules) - SHOWN_RULES, "rules")
            yield ""
    yield (
        f"By duplicate-url-discarder they would have saved {learnt.saved:,} of "
        f"{counted(learnt.urls, 'request')}, and lost {lost:,} of "
        f"{counted(kept, 'kept page')}."
    )
