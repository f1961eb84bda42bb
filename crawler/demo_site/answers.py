"""The table of right answers: which demo page is kept, which is a near-duplicate."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

ANSWERS_FILE = Path(__file__).parent / "answers.csv"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a crawl must decide about one page."""

    path: str  # path?query, exactly as the site links it
    expected: Literal["keep", "drop", "one-of"]
    twin: str  # drop: the kept page's path; one-of: the group's name; keep: empty
    case: str
    why: str


def read_answers() -> tuple[Answer, ...]:
    """The rows of answers.csv, in file order."""
    with ANSWERS_FILE.open(encoding="utf-8", newline="") as file:
        return tuple(_answer(row) for row in csv.DictReader(file))


def _answer(row: dict[str, str]) -> Answer:
    if row["expected"] not in ("keep", "drop", "one-of"):
        raise ValueError(f"{row['path']}: expected must be keep, drop or one-of")
    expected = cast("Literal['keep', 'drop', 'one-of']", row["expected"])
    return Answer(row["path"], expected, row["twin"], row["case"], row["why"])
