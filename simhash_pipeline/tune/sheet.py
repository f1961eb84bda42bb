"""A sheet of pairs of pages that a person fills in: written as CSV, and its answers read."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from simhash_pipeline.bits import SKETCH_BITS
from simhash_pipeline.errors import SheetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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
    """The lines that a person answered, by both URLs; SheetError names the first bad line.

    Of other columns than those of the answer, the URLs and the distances nothing is read.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            sheet = csv.DictReader(file)
            missing = {"twins", "url_a", "url_b"} - set(sheet.fieldnames or ())
            if missing:
                raise SheetError(f"{path} is no sheet of pairs: no column {min(missing)!r}")
            return {(line.url_a, line.url_b): line for line in _answered(path, sheet)}
    except (UnicodeDecodeError, csv.Error) as error:
        raise SheetError(f"{path} is no sheet of pairs: {error}") from error


def _answered(path: Path, sheet: csv.DictReader[str]) -> Iterator[SheetLine]:
    for row in sheet:
        answer = (row["twins"] or "").strip().lower()
        if not answer:
            continue
        where = f"{path}, line {sheet.line_num}"
        if answer not in ANSWERS:
            raise SheetError(f"{where}: twins is {answer!r}, not y, n or ?")
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
        raise SheetError(f"{where}: {column} is {text!r}, not {rule}")
    return int(text)


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _plain(cell: str | None) -> str:
    text = cell or ""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text
