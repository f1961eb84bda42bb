"""How often a threshold is right, and which is recommended."""

from dataclasses import replace
from typing import Any

import pytest

from simhash_pipeline.answers import SheetLine
from simhash_pipeline.review.pairs import (
    Thresholds,
    answers_needed,
    joined,
    labels,
    precision,
    recommended,
    wilson,
)


@pytest.mark.parametrize(
    ("share", "count", "low", "high"),
    [
        (1.0, 73, 0.95, 1.0),
        (0.9, 10, 0.5958, 0.9821),
        (0.5, 100, 0.4038, 0.5962),
        (0.0, 20, 0.0, 0.1611),
    ],
)
def test_the_interval_is_wilsons(share: float, count: int, low: float, high: float) -> None:
    assert wilson(share, count) == pytest.approx((low, high), abs=1e-4)


def test_so_many_answers_all_yes_reach_a_precision_and_one_fewer_does_not() -> None:
    needed = answers_needed(0.95)
    assert needed == 73
    assert wilson(1.0, needed)[0] >= 0.95 > wilson(1.0, needed - 1)[0]


def test_an_answer_counts_for_the_pairs_that_it_stands_for() -> None:
    counts = [90, 0, 10]
    found = precision(labels([*answers(0, 0, 2), *answers(2, 0, 0, 1)], counts))
    assert found is not None
    assert found.answers == 3
    assert found.share == pytest.approx(0.9)
    even = precision(labels([*answers(0, 0, 2), *answers(2, 0, 0, 1)], [2, 0, 1]))
    assert even is not None
    assert [even.low, even.high] == pytest.approx(wilson(2 / 3, 3))


def test_no_answers_have_no_precision() -> None:
    assert precision([]) is None


def answers(
    distance: int | None, sketch: int | None, yes: int, no: int = 0, **known: Any
) -> list[SheetLine]:
    copy = SheetLine("copy", distance, sketch, "http://a.example/1", "http://a.example/2", **known)
    return [copy] * yes + [replace(copy, answer="another page")] * no


NOW = Thresholds(3, 18, 0.85)
ALONE = Thresholds(3, 128, 0.0)  # no second look
RIGHT = answers(0, 2, 80)


def own(likeness: float | None, yes: int, no: int = 0, **known: Any) -> list[SheetLine]:
    return answers(0, 2, yes, no, reason="own text", own_likeness=likeness, **known)


@pytest.mark.parametrize(
    ("given", "now", "expected"),
    [
        (answers(0, 2, 40) + answers(5, 8, 40), NOW, Thresholds(5, 18, 0.85)),
        # Wrong pairs at 6 bits whose sketches tell them: with a second look they don't count.
        (RIGHT + answers(6, 40, 0, 40), NOW, Thresholds(0, 18, 0.85)),
        (RIGHT + answers(6, 12, 0, 40), NOW, Thresholds(0, 18, 0.85)),
        (RIGHT + answers(6, 40, 0, 40), ALONE, Thresholds(0, 128, 0.0)),
        # Twins whose sketches are farther apart than is set, and nothing wrong there.
        (RIGHT + answers(3, 9, 40) + answers(3, 30, 40), NOW, Thresholds(3, 30, 0.85)),
        # Beyond 8 nothing can be set, however right it were.
        (answers(2, 2, 80) + answers(12, 2, 80), NOW, Thresholds(2, 18, 0.85)),
        # Copies that were kept for their own texts, and other pages that are less alike.
        (RIGHT + own(0.7, 20) + own(0.5, 0, 20), NOW, Thresholds(0, 18, 0.7)),
        (RIGHT + own(0.7, 20) + own(0.8, 0, 20), NOW, Thresholds(0, 18, 0.85)),
        # Another limit holds in two templates, and no limit for texts that can't be compared.
        (RIGHT + own(0.4, 20, structure_distance=20), NOW, Thresholds(0, 18, 0.85)),
        (RIGHT + own(None, 20), NOW, Thresholds(0, 18, 0.85)),
        (answers(0, 2, 72), NOW, None),
        (answers(0, 2, 10, 10), NOW, None),
    ],
)
def test_the_loosest_thresholds_that_are_right_often_enough_are_recommended(
    given: list[SheetLine], now: Thresholds, expected: Thresholds | None
) -> None:
    counts = [sum(line.distance == bits for line in given) for bits in range(13)]
    assert recommended(labels(given, counts), now, 0.95) == expected


@pytest.mark.parametrize(
    ("reason", "yes", "no"),
    [
        *(("title", 0, 0), ("no page", 0, 0), ("fields", 0, 0), ("template", 0, 0)),
        *(("address", 3, 2), ("answer", 3, 0)),
    ],
)
def test_no_threshold_changes_what_another_rule_decides(reason: str, yes: int, no: int) -> None:
    for distance in (0, 12):
        given = labels(answers(distance, 2, 3, 2, reason=reason), [1] * 13)
        dropped = [label.are_twins for label in joined(given, NOW)]
        assert (dropped.count(True), dropped.count(False)) == (yes, no)


def test_a_thin_pair_has_no_distance_and_teaches_no_threshold() -> None:
    assert labels(answers(None, None, 3), [1]) == []
