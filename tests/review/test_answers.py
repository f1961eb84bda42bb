"""How often a threshold is right, and which is recommended."""

import pytest

from simhash_pipeline.review.pairs import (
    Recommendation,
    answers_needed,
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
    found = precision(labels([(0, 0, True), (0, 0, True), (2, 0, False)], counts))
    assert found is not None
    assert found.answers == 3
    assert found.share == pytest.approx(0.9)
    even = precision(labels([(0, 0, True), (0, 0, True), (2, 0, False)], [2, 0, 1]))
    assert even is not None
    assert [even.low, even.high] == pytest.approx(wilson(2 / 3, 3))


def test_no_answers_have_no_precision() -> None:
    assert precision([]) is None


def answers(
    distance: int, sketch: int | None, yes: int, no: int = 0
) -> list[tuple[int, int | None, bool]]:
    return [(distance, sketch, True)] * yes + [(distance, sketch, False)] * no


@pytest.mark.parametrize(
    ("given", "verify", "expected"),
    [
        (answers(0, 2, 40) + answers(5, 8, 40), 18, Recommendation(5, 18)),
        # Wrong pairs at 6 bits whose sketches tell them: with a second look they don't count.
        (answers(0, 2, 80) + answers(6, 40, 0, 40), 18, Recommendation(0, 18)),
        (answers(0, 2, 80) + answers(6, 12, 0, 40), 18, Recommendation(0, 18)),
        (answers(0, 2, 80) + answers(6, 40, 0, 40), None, Recommendation(0, None)),
        # Twins whose sketches are farther apart than is set, and nothing wrong there.
        (answers(0, 2, 80) + answers(3, 9, 40) + answers(3, 30, 40), 18, Recommendation(3, 30)),
        # Beyond 8 nothing can be set, however right it were.
        (answers(2, 2, 80) + answers(12, 2, 80), 18, Recommendation(2, 18)),
        (answers(0, 2, 72), 18, None),
        (answers(0, 2, 10, 10), 18, None),
    ],
)
def test_the_largest_distance_that_is_right_often_enough_is_recommended(
    given: list[tuple[int, int | None, bool]], verify: int | None, expected: Recommendation | None
) -> None:
    counts = [sum(answer[0] == bits for answer in given) for bits in range(13)]
    assert recommended(labels(given, counts), verify, 0.95) == expected
