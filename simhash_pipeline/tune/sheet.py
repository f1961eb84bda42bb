"""A sheet of pairs of pages that a person fills in: written as CSV, and its answers read."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simhash_pipeline.errors import SheetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

COLUMNS = ("twins", "distance", "sketch_distance", "url_a", "url_b", "title_a", "title_b", "words")
ANSWERS = {"y": True, "yes": True, "1": True, "n": False, "no": False, "0": False}
# A spreadsheet takes a cell that begins so for a formula; no text of a page must be run.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class SheetLine:
    """A pair of the sheet; `words` are those that differ between the two."""

    twins: bool | None  # None: not answered yet
    distance: int
    sketch_distance: int | None
    url_a: str
    url_b: str
    title_a: str
    title_b: str
    words: str


def write_sheet(path: Path, lines: Iterable[SheetLine]) -> None:
    """Write the lines, with y, n or nothing in the first column."""
    with path.open("w", encoding="utf-8-sig", errors="replace", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(COLUMNS)
        for line in lines:
            answer = "" if line.twins is None else "y" if line.twins else "n"
            sheet.writerow([answer, *(_cell(getattr(line, name)) for name in COLUMNS[1:])])


def read_answers(path: Path) -> dict[tuple[str, str], bool]:
    """The answers by both URLs, of lines that have one; SheetError names the first bad line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            sheet = csv.DictReader(file)
            missing = {"twins", "url_a", "url_b"} - set(sheet.fieldnames or ())
            if missing:
                raise SheetError(f"{path} is no sheet of pairs: no column {min(missing)!r}")
            return dict(_answers(path, sheet))
    except (UnicodeDecodeError, csv.Error) as error:
        raise SheetError(f"{path} is no sheet of pairs: {error}") from error


def _answers(path: Path, sheet: csv.DictReader[str]) -> Iterator[tuple[tuple[str, str], bool]]:
    for row in sheet:
        answer = (row["twins"] or "").strip().lower()
        if not answer:
            continue
        if answer not in ANSWERS:
            raise SheetError(f"{path}, line {sheet.line_num}: twins is {answer!r}, not y or n")
        yield (_plain(row["url_a"]), _plain(row["url_b"])), ANSWERS[answer]


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _plain(cell: str | None) -> str:
    text = cell or ""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text
