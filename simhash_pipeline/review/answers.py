"""A person's answers about pairs of pages: the sheet that they fill in, and what follows from it.

The sheet is written as CSV, and its answers are read. From answers follows how often each
threshold is right, and which settings are recommended.
"""

from __future__ import annotations

import csv
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from simhash_pipeline.bits import SKETCH_BITS
from simhash_pipeline.errors import SimhashError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

COLUMNS = ("twins", "distance", "sketch_distance", "url_a", "url_b", "title_a", "title_b", "words")
Answer: TypeAlias = Literal["y", "n", "?", ""]  # "?": looked at, and not known; "": not yet asked
ANSWERS: dict[str, Answer] = {
    **dict.fromkeys(("y", "yes", "1"), "y"),
    **dict.fromkeys(("n", "no", "0"), "n"),
    **dict.fromkeys(("?", "d", "don't know"), "?"),
}
# A spreadsheet takes a cell that begins so for a formula; no text of a page must be run.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
Z = 1.959964  # of a 95 % interval
LARGEST_SETTING = 8  # bits, of SIMHASH_CONTENT_DISTANCE


@dataclass(frozen=True, slots=True)
class SheetLine:
    """A pair of the sheet; `words` are those that differ between the two."""

    answer: Answer
    distance: int | None  # None in a sheet that doesn't say, and for a thin page
    sketch_distance: int | None
    url_a: str
    url_b: str
    title_a: str = ""
    title_b: str = ""
    words: str = ""

    @property
    def twins(self) -> bool | None:
        """None without an answer."""
        return None if self.answer in ("", "?") else self.answer == "y"


def write_sheet(path: Path, lines: Iterable[SheetLine]) -> None:
    """Write the lines, with y, n, ? or nothing in the first column."""
    with path.open("w", encoding="utf-8-sig", errors="replace", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(COLUMNS)
        for line in lines:
            sheet.writerow([line.answer, *(_cell(getattr(line, name)) for name in COLUMNS[1:])])


def read_sheet(path: Path) -> dict[tuple[str, str], SheetLine]:
    """The lines that a person answered, by both URLs; SimhashError names the first bad line.

    Of other columns than those of the answer, the URLs and the distances nothing is read.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            sheet = csv.DictReader(file)
            missing = {"twins", "url_a", "url_b"} - set(sheet.fieldnames or ())
            if missing:
                raise SimhashError(f"{path} is no sheet of pairs: no column {min(missing)!r}")
            return {(line.url_a, line.url_b): line for line in _answered(path, sheet)}
    except (UnicodeDecodeError, csv.Error) as error:
        raise SimhashError(f"{path} is no sheet of pairs: {error}") from error


def _answered(path: Path, sheet: csv.DictReader[str]) -> Iterator[SheetLine]:
    for row in sheet:
        answer = (row["twins"] or "").strip().lower()
        if not answer:
            continue
        where = f"{path}, line {sheet.line_num}"
        if answer not in ANSWERS:
            raise SimhashError(f"{where}: twins is {answer!r}, not y, n or ?")
        yield SheetLine(
            answer=ANSWERS[answer],
            distance=_bits(row, "distance", where),
            sketch_distance=_bits(row, "sketch_distance", where),
            url_a=_plain(row["url_a"]),
            url_b=_plain(row["url_b"]),
        )


def _bits(row: dict[str, str], column: str, where: str) -> int | None:
    text = (row.get(column) or "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) > SKETCH_BITS:
        rule = f"a number of bits from 0 to {SKETCH_BITS}"
        raise SimhashError(f"{where}: {column} is {text!r}, not {rule}")
    return int(text)


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _plain(cell: str | None) -> str:
    text = cell or ""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text


@dataclass(frozen=True, slots=True)
class Label:
    """A person's answer about two pages; distances in bits."""

    distance: int
    sketch_distance: int | None
    are_twins: bool
    weight: float  # how many pairs of its distance it stands for


@dataclass(frozen=True, slots=True)
class Precision:
    """The share of pairs that are twins, 0-1, with its interval, and the number of answers."""

    answers: int
    worth: float  # answers that are all of one weight, and tell as much
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Settings that would have been right often enough."""

    content_distance: int
    verify_distance: int | None


def labels(answers: Sequence[tuple[int, int | None, bool]], counts: Sequence[int]) -> list[Label]:
    """Answers as (distance, sketch distance, twins?), weighted by the pairs that each stands for.

    The sample has equally many pairs of each distance, whether there are ten or ten thousand.
    """
    asked = [distance for distance, _, _ in answers]
    return [
        Label(distance, sketch, twins, max(counts[distance], 1) / asked.count(distance))
        for distance, sketch, twins in answers
    ]


def precision(found: Sequence[Label]) -> Precision | None:
    """With Wilson's interval of 95 %, for the effective sample size of the weights (Kish).

    None without answers.
    """
    total = math.fsum(label.weight for label in found)
    if not total:
        return None
    share = math.fsum(label.weight for label in found if label.are_twins) / total
    worth = total**2 / math.fsum(label.weight**2 for label in found)
    return Precision(len(found), worth, share, *wilson(share, worth))


def wilson(share: float, count: float) -> tuple[float, float]:
    """Wilson's interval of a share that was observed `count` times."""
    middle = share + Z**2 / (2 * count)
    spread = Z * math.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2))
    scale = 1 + Z**2 / count
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def answers_needed(least: float) -> int:
    """How many answers, all of them yes, raise the interval's lower end to this share."""
    return math.ceil(least * Z**2 / (1 - least))


def more_answers_needed(found: Sequence[Label], least: float) -> int:
    """How many more answers, all of them yes, raise the lower end for these labels to this share.

    0 if it is there already.
    """
    measured = precision(found)
    if measured is None:
        return answers_needed(least)
    yes, count = measured.share * measured.worth, measured.worth
    return next(
        n for n in itertools.count() if wilson((yes + n) / (count + n), count + n)[0] >= least
    )


def joined(found: Sequence[Label], distance: int, verify: int | None) -> list[Label]:
    """The pairs that these settings call twins."""
    return [
        label
        for label in found
        if label.distance <= distance
        and (verify is None or label.sketch_distance is None or label.sketch_distance <= verify)
    ]


def recommended(found: Sequence[Label], verify: int | None, least: float) -> Recommendation | None:
    """The largest content distance of answered pairs whose precision has a low of `least` or more.

    Then, with a second look, the largest sketch distance for which that holds: the one that is
    set, or one of twins within that content distance. None if no content distance is right so
    often.
    """
    answered = {label.distance for label in joined(found, LARGEST_SETTING, verify)}
    content = _largest(answered, lambda n: joined(found, n, verify), least)
    if content is None or verify is None:
        return None if content is None else Recommendation(content, None)
    sketches = {
        label.sketch_distance
        for label in joined(found, content, None)
        if label.are_twins and label.sketch_distance is not None
    }
    sketch = _largest(sketches | {verify}, lambda n: joined(found, content, n), least)
    return Recommendation(content, sketch)


def _largest(
    distances: set[int], joined_within: Callable[[int], list[Label]], least: float
) -> int | None:
    for distance in sorted(distances, reverse=True):
        measured = precision(joined_within(distance))
        if measured is not None and measured.low >= least:
            return distance
    return None
