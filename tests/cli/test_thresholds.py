"""How often a threshold is right, and which is recommended."""

from dataclasses import replace
from typing import Any

import pytest

from simhash_pipeline import Options
from simhash_pipeline.answers import SheetLine
from simhash_pipeline.cli.tune import (
    copies,
    joined,
    recommended,
    wilson,
)


@pytest.mark.parametrize(
    ("right", "count", "low", "high"),
    [
        (73, 73, 0.95, 1.0),
        (9, 10, 0.5958, 0.9821),
        (50, 100, 0.4038, 0.5962),
        (0, 20, 0.0, 0.1611),
        (0, 0, 0.0, 1.0),
    ],
)
def test_the_interval_is_wilsons(right: int, count: int, low: float, high: float) -> None:
    assert wilson(right, count) == pytest.approx((low, high), abs=1e-4)


def answers(
    distance: int | None, sketch: int | None, yes: int, no: int = 0, **known: Any
) -> list[SheetLine]:
    copy = SheetLine(True, distance, sketch, "http://a.example/1", "http://a.example/2", **known)
    return [copy] * yes + [replace(copy, twins=False)] * no


def limits(content: int, sketch: int, similarity: float) -> Options:
    return Options(content_distance=content, sketch_distance=sketch, min_similarity=similarity)


NOW = limits(3, 18, 0.85)
ALONE = Options(second_look=False)  # no second look
RIGHT = answers(0, 2, 80)


def own(similarity: float | None, yes: int, no: int = 0, **known: Any) -> list[SheetLine]:
    return answers(0, 2, yes, no, reason="page-specific text", similarity=similarity, **known)


@pytest.mark.parametrize(
    ("given", "now", "expected"),
    [
        (answers(0, 2, 40) + answers(5, 8, 40), NOW, limits(5, 18, 0.85)),
        # Wrong pairs within the distance that is set, and none that speaks of it.
        (RIGHT + answers(2, 2, 0, 40), NOW, limits(0, 18, 0.85)),
        (RIGHT, NOW, limits(3, 18, 0.85)),
        # Wrong pairs at 6 bits whose sketches tell them: with a second look they don't count.
        (RIGHT + answers(6, 40, 0, 40), NOW, limits(3, 18, 0.85)),
        (RIGHT + answers(6, 12, 0, 40), NOW, limits(3, 18, 0.85)),
        (RIGHT + answers(6, 40, 0, 40), ALONE, ALONE),
        # Twins whose sketches are farther apart than is set, and nothing wrong there.
        (RIGHT + answers(3, 9, 40) + answers(3, 30, 40), NOW, limits(3, 30, 0.85)),
        # Beyond 8 nothing can be set, however right it were.
        (answers(2, 2, 80) + answers(12, 2, 80), NOW, limits(3, 18, 0.85)),
        # Copies that were kept for their page-specific texts, and other pages that are less alike.
        (RIGHT + own(0.7, 20) + own(0.5, 0, 20), NOW, limits(3, 18, 0.7)),
        (RIGHT + own(0.7, 20) + own(0.8, 0, 20), NOW, limits(3, 18, 0.85)),
        # Another limit holds in two templates, and no limit for texts that can't be compared.
        (RIGHT + own(0.4, 20, structure_distance=20), NOW, limits(3, 18, 0.85)),
        (RIGHT + own(None, 20), NOW, limits(3, 18, 0.85)),
        # These were found by a paragraph, a declared address and a person, at any distance.
        (RIGHT + answers(5, 2, 40, reason="sketch"), NOW, limits(3, 18, 0.85)),
        (RIGHT + answers(5, 2, 40, reason="address"), NOW, limits(3, 18, 0.85)),
        (RIGHT + answers(5, 2, 40, reason="answer"), NOW, limits(3, 18, 0.85)),
        (RIGHT + answers(5, 2, 40, reason="title"), NOW, limits(3, 18, 0.85)),
        (answers(0, 2, 72), NOW, None),
        (answers(0, 2, 10, 10), NOW, None),
    ],
)
def test_the_loosest_thresholds_that_are_right_often_enough_are_recommended(
    given: list[SheetLine], now: Options, expected: Options | None
) -> None:
    assert recommended(given, now, 0.95) == expected


@pytest.mark.parametrize(
    ("reason", "yes", "no"),
    [
        *(("title", 0, 0), ("shared notice", 0, 0), ("fields", 0, 0), ("template", 0, 0)),
        *(("address", 3, 2), ("answer", 3, 0)),
    ],
)
def test_no_threshold_changes_what_another_rule_decides(reason: str, yes: int, no: int) -> None:
    for distance in (0, 12):
        dropped = joined(answers(distance, 2, 3, 2, reason=reason), NOW)
        assert (copies(dropped), len(dropped) - copies(dropped)) == (yes, no)
