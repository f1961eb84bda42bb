from pathlib import Path

import pytest

from tests.quality.floors import (
    CHANGELOG_FILE,
    Floors,
    Pin,
    pinned,
    read_floors,
    table,
    unexplained,
    verdict,
    write_floors,
)
from tests.quality.rows import Row

DIGESTS = {"pages.zip": "aa"}


def row(value: float, goal: float | None = 0.95) -> Row:
    return Row("pages.zip", "recall", "English", 1000, value, goal)


def floors(floor: float, digest: str = "aa") -> dict[str, Floors]:
    return {"pages.zip": Floors(digest, {"recall, English": Pin(floor)})}


@pytest.mark.parametrize(
    ("value", "word"), [(0.959, "BELOW"), (0.96, "ok"), (float("nan"), "BELOW")]
)
def test_a_value_below_its_floor_is_told(value: float, word: str) -> None:
    assert verdict(row(value), floors(0.96), DIGESTS) == (0.96, word)


def test_floors_of_other_pages_do_not_apply() -> None:
    told = verdict(row(0.5), floors(0.96, digest="bb"), DIGESTS)
    assert told == (None, "other pages: floors don't apply")


def test_a_value_that_is_only_told_has_no_verdict() -> None:
    assert verdict(row(0.5, goal=None), {}, DIGESTS) == (None, "")


@pytest.mark.parametrize(
    ("value", "floor"),
    [
        (0.998, 0.985),  # what was measured, less a hundredth, rounded down
        (0.955, 0.95),  # never less than the goal
        (0.90, 0.95),  # not even when it isn't reached
    ],
)
def test_a_first_floor_is_near_what_was_measured(value: float, floor: float) -> None:
    made = pinned([row(value)], "aa", None, lower=False)
    assert made.pins == {"recall, English": Pin(floor)}


def test_a_floor_leaves_room_for_two_pairs() -> None:
    few = Row("pages.zip", "recall", "English", 20, 0.95, goal=0.0)
    assert pinned([few], "aa", None, lower=False).pins == {"recall, English": Pin(0.85)}


def test_a_floor_rises_but_falls_only_when_told_to() -> None:
    old = floors(0.96)["pages.zip"]
    name = "recall, English"
    assert pinned([row(0.99)], "aa", old, lower=False).pins[name] == Pin(0.98)
    assert pinned([row(0.95)], "aa", old, lower=False).pins[name] == Pin(0.96)
    assert pinned([row(0.953)], "aa", old, lower=True).pins[name] == Pin(0.95, was=0.96)


def test_a_floor_of_nothing_stays_where_it_was() -> None:
    nothing = Row("pages.zip", "recall", "English", 0, float("nan"), goal=0.95)
    for old, floor in ((None, 0.95), (floors(0.96)["pages.zip"], 0.96)):
        assert pinned([nothing], "aa", old, lower=True).pins == {"recall, English": Pin(floor)}


def test_a_lowered_floor_must_stand_in_the_changelog() -> None:
    lowered = {"pages.zip": Floors("aa", {"recall, English": Pin(0.95, was=0.96)})}
    line = "Quality floor lowered: pages.zip, recall, English: 0.96 to 0.95"
    assert unexplained(lowered, "Nothing of the kind.") == [line]
    wrapped = line.replace("recall, ", "recall,\n  ")
    assert unexplained(lowered, f"- {wrapped}, because pages are shorter now.") == []


def test_every_lowered_floor_stands_in_our_changelog() -> None:
    assert unexplained(read_floors(), CHANGELOG_FILE.read_text(encoding="utf-8")) == []


def test_floors_are_read_as_they_were_written(tmp_path: Path) -> None:
    made = {"pages.zip": Floors("aa", {"precision": Pin(0.9), "recall": Pin(0.8, was=0.85)})}
    write_floors(made, tmp_path / "floors.json")
    assert read_floors(tmp_path / "floors.json") == made


def test_the_table_reads_as_markdown() -> None:
    assert table([row(0.5)], floors(0.96), DIGESTS).splitlines() == [
        "| pages     | measure | language |   of | value | floor |       |",
        "| --------- | ------- | -------- | ---: | ----: | ----: | ----- |",
        "| pages.zip | recall  | English  | 1000 | 0.500 | 0.960 | BELOW |",
    ]
