"""`scrapy simhash tune`: which thresholds suit a person's answers about pairs of pages."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from simhash_pipeline.answers import read_sheet
from simhash_pipeline.bits import MAX_DISTANCE_BITS
from simhash_pipeline.cli.command import Command, counted, fields, share
from simhash_pipeline.options import Options
from simhash_pipeline.review.thresholds import (
    Thresholds,
    copies,
    joined,
    more_answers_needed,
    recommended,
    wilson,
)
from simhash_pipeline.terminal import Grid, Heading, bar, print_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from scrapy.settings import BaseSettings

    from simhash_pipeline.answers import SheetLine
    from simhash_pipeline.terminal import Line

_SHORT_BAR = 12  # columns: the table fits into 80


class TuneCommand(Command):
    prints_json = False
    epilog = (
        "The sheet is a CSV file with the columns answer (y for a copy, n for another page, ?), "
        "twin_url, url, distance and, where they are known, sketch_distance, own_likeness, "
        "structure_distance and reason, as the report saves it."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("sheet", type=Path, help="the answers that the report saved")
        parser.add_argument("--spider", help="compare with the settings of this spider's crawls")
        parser.add_argument(
            "--precision",
            type=share,
            default=0.95,
            help="the least precision of a recommended threshold (default: 0.95)",
        )

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        options = Options.from_settings(settings)
        answers = [
            line
            for line in read_sheet(arguments.sheet).values()
            if line.twins is not None and line.distance is not None
        ]
        if not answers:
            rule = "answer y or n, and have a distance"
            raise UsageError(f"{arguments.sheet} has no lines that {rule}")
        print_lines(_lines(answers, options, arguments.precision))
        return 0


def _lines(answers: Sequence[SheetLine], options: Options, least: float) -> Iterator[Line]:
    now = Thresholds(**fields(options, "content_distance", "sketch_distance", "own_likeness"))
    near, all_copies = joined(answers, now), copies(answers)
    dropped, kept = len(near) - copies(near), all_copies - copies(near)
    yield Heading("How often each content distance is right, and how many copies it finds")
    yield _precisions(answers, now)
    yield ""
    yield (
        f"The settings in force get {dropped + kept:,} of {counted(len(answers), 'answer')} "
        f"wrong: {dropped:,} dropped that is another page, {kept:,} kept that is a copy."
    )
    yield ""
    yield "The report asks about suspicious pairs first: where these alone were answered, the"
    yield "thresholds are better than these figures."
    yield ""
    best = recommended(answers, now, least)
    if best is None:
        yield f"No distance is surely right {least:g} of the time: the interval's lower end is"
        yield f"below. {_needed(near, options, least)} Or name a lower --precision."
        return
    found = copies(joined(answers, best))
    yield f"For settings.py, the loosest thresholds whose interval begins at {least:g} or above;"
    yield f"they find {found:,} of {all_copies:,} copies:"
    yield ""
    for name, value in dataclasses.asdict(best).items():
        if options.second_look or name == "content_distance":
            yield f"SIMHASH_{name.upper()} = {value}"


def _precisions(answers: Sequence[SheetLine], now: Thresholds) -> Grid:
    """By content distance, with the other thresholds as they are."""
    all_copies = copies(answers)
    rows = [("within", "answers", "right", "interval", "", f"finds of {all_copies:,}", "")]
    for bits in range(MAX_DISTANCE_BITS + 1):
        near = joined(answers, dataclasses.replace(now, content_distance=bits))
        found, right = copies(near), ("", "", "")
        if near:
            low, high = wilson(found, len(near))
            precision = found / len(near)
            right = f"{precision:.3f}", f"{low:.3f}-{high:.3f}", bar(precision, 1, _SHORT_BAR)
        share_found = bar(found, all_copies or 1, _SHORT_BAR)
        rows.append((str(bits), str(len(near)), *right, str(found), share_found))
    return Grid(rows, right=(0, 1, 2, 3, 5))


def _needed(near: Sequence[SheetLine], options: Options, least: float) -> str:
    """How many answers are still needed, for the distance that is set."""
    distance = counted(options.content_distance, "bit")
    more = more_answers_needed(near, least)
    if not more:
        return f"Within {distance} there are answers enough."
    pairs = f"pairs within {distance}"
    return f"It takes at least {counted(more, 'more answer')} to {pairs}, all of them copies."
