"""`scrapy simhash rules`: which parts of URLs lead to the same pages, learnt from drops."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_pipeline.atomic_write import atomic_write
from simhash_pipeline.cli.arguments import whole
from simhash_pipeline.cli.command import Command, Result, counted, print_result
from simhash_pipeline.cli.resolve import LogReader, resolve_log, resolve_store
from simhash_pipeline.drop_log import Drop
from simhash_pipeline.terminal import Grid, Heading, progress
from simhash_pipeline.url_rules import learn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from simhash_pipeline.terminal import Line
    from simhash_pipeline.url_rules import Evidence, Learnt

MIN_SUPPORT = 3
SHOWN = 20  # rules of each kind, taken or not


class RulesCommand(Command):
    epilog = (
        "A rule is taken if it explains enough drops and no two kept pages would have one URL by "
        "it. The file of -o is for duplicate-url-discarder: DUD_LOAD_RULE_PATHS = ['rules.json']."
    )
    takes_a_store = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "logs", nargs="*", type=Path, help="drop logs (default: the one of this project)"
        )
        parser.add_argument(
            "--min-support",
            type=whole(),
            default=MIN_SUPPORT,
            help=f"drops that a rule must explain (default: {MIN_SUPPORT})",
        )
        parser.add_argument("-o", "--output", type=Path, help="write the rules to this JSON file")

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        own = argparse.Namespace(log=None, spider=arguments.spider)
        logs = [LogReader(log) for log in arguments.logs or [resolve_log(own, settings)]]
        drops = [
            (record.url, record.twin_url)
            for log in logs
            for record in log
            if isinstance(record, Drop) and record.twin_url and record.reason != "unchanged"
        ]
        with resolve_store(arguments, settings).existing() as store:
            kept = {page.url for page in progress(store.pages(), "pages", len(store))}
        learnt = learn(drops, kept, arguments.min_support)
        written = [one.rule.for_discarder() for one in learnt.evidence if one.taken]
        rules = [rule for rule in written if rule is not None]
        if arguments.output is not None:
            with atomic_write(arguments.output, arguments.logs) as part:
                part.write_text(json.dumps(rules, ensure_ascii=False, indent=2) + "\n", "utf-8")
        print_result(PrintedRules(learnt, len(kept), len(rules), arguments.output), arguments)
        return max(log.exit_code() for log in logs)


@dataclass(frozen=True, slots=True)
class PrintedRules(Result):
    """The rules, what speaks for and against each, and what they save."""

    learnt: Learnt
    kept: int
    written: int  # of the rules, those that duplicate-url-discarder has
    output: Path | None

    def record(self) -> dict[str, Any]:
        return {
            "kept": self.kept,
            "urls": self.learnt.urls,
            "saved": self.learnt.saved,
            "lost": self.learnt.lost,
            "output": None if self.output is None else str(self.output),
            "written": self.written,
            "rules": [
                {**asdict(one.rule), **asdict(one), "rule": one.rule.for_discarder()}
                for one in self.learnt.evidence
            ],
        }

    def lines(self) -> Iterator[Line]:
        learnt = self.learnt
        taken = [one for one in learnt.evidence if one.taken]
        refused = [one for one in learnt.evidence if not one.taken]
        if not learnt.evidence:
            yield f"No part of a URL explains enough drops; {counted(self.kept, 'page')} kept."
            return
        if taken:
            yield Heading("Rules by which no story is lost")
            yield from _table(taken)
            yield ""
        if refused:
            yield Heading("Not taken: other stories differ in it")
            yield from _table(refused)
            yield ""
        yield (
            f"By duplicate-url-discarder they would have saved {learnt.saved:,} of "
            f"{counted(learnt.urls, 'request')}, and lost {learnt.lost:,} of "
            f"{counted(self.kept, 'kept page')}."
        )
        if left := len(taken) - self.written:
            yield f"It has no rules for suffixes and hosts: {left:,} of these are not counted."
        if self.output is not None:
            yield f"{self.output}: {counted(self.written, 'rule')}"


def _table(evidence: list[Evidence]) -> Iterator[Line]:
    head = ("what", "in URLs of", "", "drops", "stories lost", "such as")
    rows = [
        (
            one.rule.kind,
            one.rule.host,
            one.rule.value,
            f"{one.support:,}",
            f"{one.counter_examples:,}",
            (one.against or one.example)[one.against is not None],
        )
        for one in evidence[:SHOWN]
    ]
    yield Grid([head, *rows], right=(3, 4))
    if len(evidence) > SHOWN:
        yield f"and {len(evidence) - SHOWN:,} more (--json prints all)"
