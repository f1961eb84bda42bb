"""`scrapy simhash tune`: which thresholds suit a person's answers about pairs of pages."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError

from simhash_pipeline.answers import SheetLine, read_sheet
from simhash_pipeline.bits import MAX_DISTANCE_BITS
from simhash_pipeline.cli.command import Command
from simhash_pipeline.cli.simhash import Parser
from simhash_pipeline.options import Options
from simhash_pipeline.terminal import Grid, Line, bar, counted, print_lines

THRESHOLDS = ("content_distance", "sketch_distance", "min_similarity")
_MOST_FIELDS = 10  # that are named
_SHORT_BAR = 12  # columns: the table fits into 80
_SETTABLE_BITS = range(MAX_DISTANCE_BITS + 1)
Z = 1.959964  # of a 95 % interval
# By the reason of a drop or near miss: whether the page is dropped, whatever the thresholds are.
_BY_RULE = {
    **dict.fromkeys(("title", "shared notice", "fields", "template"), False),
    **dict.fromkeys(("address", "item", "structure"), True),
}


class TuneCommand(Command):
    epilog = (
        "The sheet is CSV, as the report saves it, with the columns answer (y: a copy, n: another "
        "page, ?), twin_url, url, distance and, where known, sketch_distance, similarity, "
        "structure_distance, reason and fields."
    )

    def add_arguments(self, parser: Parser) -> None:
        parser.add("sheet", "the answers that the report saved", type=Path)
        parser.add("--spider", "compare with the settings of this spider's crawls")
        what = "the lowest precision of a recommended threshold"
        parser.add("--precision", what, type=float, default=0.95)

    def run(self) -> int:
        answers = [
            line
            for line in read_sheet(self.arguments.sheet).values()
            if line.twins is not None and line.distance is not None
        ]
        if not answers:
            rule = "answer y or n, and have a distance"
            raise UsageError(f"{self.arguments.sheet} has no lines that {rule}")
        print_lines(_lines(answers, self.options, self.arguments.precision))
        return 0


def _lines(answers: Sequence[SheetLine], now: Options, least: float) -> Iterator[Line]:
    near, all_copies = joined(answers, now), copies(answers)
    dropped, kept = len(near) - copies(near), all_copies - copies(near)
    yield "How often each content distance is right, and how many copies it finds"
    yield from (_precisions(answers, now), "")
    yield (
        f"Alone, the thresholds in force get {dropped + kept:,} of "
        f"{counted(len(answers), 'answer')} wrong: other pages dropped {dropped:,}, "
        f"copies kept {kept:,}. A crawl knows addresses, titles and items, too."
    )
    yield from ("", "If you answered only suspicious pairs, these figures are too low.", "")
    keeping = (line for line in answers if line.twins and line.reason == "fields")
    if apart := Counter(name for line in keeping for name in line.fields):
        names = ", ".join(f"{name} ({kept:,})" for name, kept in apart.most_common(_MOST_FIELDS))
        yield f"Fields that keep copies: {names}. SIMHASH_ITEM_FIELDS may exclude a position or"
        yield from ("a notation, but no text: select that without adverts.", "")
    best = recommended(answers, now, least)
    if best is None:
        yield f"No distance is right {least:.0%} of the time with enough certainty."
        equal = joined(answers, replace(now, content_distance=0))
        if wrong := len(equal) - copies(equal):
            yield f"{counted(wrong, 'wrong pair')} 0 bits apart: scrape what differs, or add it."
        others = sum(_by_rule(line) is not None for line in answers)
        more = f"; something else decides {others:,} of these answers" * bool(others)
        yield f"Answer more pairs, or name a lower --precision{more}."
        return
    found = copies(joined(answers, best))
    yield f"For settings.py, the loosest thresholds whose interval begins at {least:g} or above,"
    loose = "each as in force, or as the farthest answered copy needs"
    yield f"{loose}; they find {found:,} of {all_copies:,} copies:"
    yield ""
    for name in THRESHOLDS if now.second_look else THRESHOLDS[:1]:
        yield f"SIMHASH_{name.upper()} = {getattr(best, name)}"


def _precisions(answers: Sequence[SheetLine], now: Options) -> Grid:
    """By content distance, with the other thresholds as they are."""
    all_copies = copies(answers)
    rows = [("within", "answers", "right", "interval", "", f"finds of {all_copies:,}", "")]
    for bits in _SETTABLE_BITS:
        near = joined(answers, replace(now, content_distance=bits))
        found, right = copies(near), ("", "", "")
        if near:
            low, high = wilson(found, len(near))
            precision = found / len(near)
            right = f"{precision:.3f}", f"{low:.3f}-{high:.3f}", bar(precision, 1, _SHORT_BAR)
        share_found = bar(found, all_copies or 1, _SHORT_BAR)
        rows.append((str(bits), str(len(near)), *right, str(found), share_found))
    return Grid(rows, right=(0, 1, 2, 3, 5))


def copies(answers: Iterable[SheetLine]) -> int:
    """How many of the answered pairs are copies."""
    return sum(line.twins is True for line in answers)


def joined(answers: Iterable[SheetLine], limits: Options) -> list[SheetLine]:
    """The answered pairs that are near-duplicates by these thresholds."""
    return [line for line in answers if _is_joined(line, limits)]


def _is_joined(line: SheetLine, limits: Options) -> bool:
    by_rule = _by_rule(line)
    if by_rule is not None:
        return by_rule
    distance = 0 if line.reason == "sketch" else line.distance
    sketch, similarity = line.sketch_distance, _similarity(line)
    return (
        (distance is not None and distance <= limits.content_distance)
        and (sketch is None or sketch <= limits.sketch_distance)
        and (similarity is None or similarity >= limits.min_similarity)
    )


def _by_rule(line: SheetLine) -> bool | None:
    """Whether the page is dropped, whatever the thresholds are; None if they decide."""
    if line.reason == "answer":
        return line.twins is True
    if line.reason == "page-specific text" and _similarity(line) is None:
        return False
    return _BY_RULE.get(line.reason)


def _similarity(line: SheetLine) -> float | None:
    """None for pages in two templates: another limit holds for them, which is no setting."""
    return line.similarity if (line.structure_distance or 0) <= MAX_DISTANCE_BITS else None


def wilson(right: int, count: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for the share of `right` in `count` answers; (0, 1) for none."""
    if not count:
        return 0.0, 1.0
    share = right / count
    middle = share + Z**2 / (2 * count)
    spread = Z * math.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2))
    scale = 1 + Z**2 / count
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def recommended(answers: Sequence[SheetLine], now: Options, least: float) -> Options | None:
    """The thresholds that find the most copies with an interval that begins at `least` or above.

    One after the other, in the order of THRESHOLDS, each is as loose as that allows: as far as an
    answered copy is, or as now, of which there may be no answers. None if no distance is so right.
    Pairs that an item or an address decides say nothing of it.
    """
    decided = [line for line in answers if _by_rule(line) is None]
    found = [line for line in decided if line.twins]
    distances = {line.distance for line in found if line.reason != "sketch"}
    choices: dict[str, set[Any]] = {
        "content_distance": {now.content_distance, *distances.intersection(_SETTABLE_BITS)},
        "sketch_distance": {now.sketch_distance, *(line.sketch_distance for line in found)},
        "min_similarity": {now.min_similarity, *(_similarity(line) for line in found)},
    }
    best = now
    for name, values in choices.items():
        for value in sorted(values - {None}, reverse=name != "min_similarity"):
            limits = replace(best, **{name: value})
            near = joined(decided, limits)
            if wilson(copies(near), len(near))[0] >= least:
                best = limits
                break
        else:
            return None
    return best
