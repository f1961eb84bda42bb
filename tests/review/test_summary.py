from typing import Any

import pytest

from simhash_pipeline.drop_log import Drop, Run
from simhash_pipeline.review.summary import MAX_RUNS, Summary, bits_left
from tests.review.logs import closing, drop


def summary(*records: Drop | Run, **asked: Any) -> Summary:
    summary = Summary(**asked)
    summary.take(records)
    return summary


def test_drops_are_counted_by_reason() -> None:
    told = summary(
        drop(),
        drop(url="http://b.example/x", content_distance=3),
        drop(reason="thin", content_distance=None, twin_url="http://c.example/"),
    )
    assert told.drops == 3
    assert told.reasons == {"content": 2, "thin": 1}


def test_an_exact_copy_is_near_no_threshold() -> None:
    copy = drop(url="http://a.example/2", content_distance=0, sketch_distance=0)
    told = summary(copy, drop(url="http://a.example/3", content_distance=2))
    assert [pair.url for pair, _ in told.closest()] == ["http://a.example/3"]


def test_only_what_is_selected_is_counted() -> None:
    told = summary(drop(), drop(reason="address", run="run-2"), run="run-2")
    assert (told.drops, told.reasons) == (1, {"address": 1})


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({"content_distance": 3, "sketch_distance": 18}, (0, 0)),
        ({"content_distance": 0, "sketch_distance": 4}, (3, 14)),
        ({"content_distance": 0, "sketch_distance": None}, (3, 128)),
        ({"reason": "structure", "structure_distance": 2}, (1, 128)),
        ({"reason": "content and structure", "structure_distance": 3}, (0, 14)),
        ({"reason": "thin"}, None),
        ({"thresholds": {}}, (128, 128)),
    ],
)
def test_the_bits_left_are_those_to_the_thresholds_that_decided(
    fields: dict[str, Any], left: tuple[int, int] | None
) -> None:
    assert bits_left(drop(**fields)) == left


def test_the_closest_are_the_ten_pairs_nearest_the_threshold_each_once() -> None:
    pairs = [
        drop(url=f"http://a.example/{n}", content_distance=n % 4, sketch_distance=n % 19)
        for n in range(400)
    ]
    told = summary(*pairs, *pairs)
    expected = sorted(pairs, key=lambda pair: bits_left(pair) or (999, 0))[:10]
    assert [bits_left(pair) for pair, _ in told.closest()] == [bits_left(pair) for pair in expected]
    assert len({pair.url for pair, _ in told.closest()}) == 10


def test_kept_pages_are_known_when_every_run_was_closed() -> None:
    told = summary(drop(), closing())
    assert told.kept_known
    assert told.kept == {"new": 6, "thin": 1}
    assert told.errors == {"no_html": 2}
    assert told.runs["run-1"].settings["min_tokens"] == 50


def test_kept_pages_are_unknown_when_a_run_was_killed() -> None:
    assert not summary(drop(), closing(), drop(run="run-2")).kept_known
    assert not summary().kept_known
    assert summary(drop(), closing(), drop(run="run-2"), run="run-1").kept_known


def test_a_run_that_dropped_nothing_is_told_too() -> None:
    told = summary(closing(dropped={}))
    assert told.kept_known
    assert (told.drops, told.runs["run-1"].drops) == (0, 0)


def test_of_many_runs_the_latest_are_told_one_by_one_and_all_are_counted() -> None:
    told = summary(*(drop(run=f"run-{n}") for n in range(MAX_RUNS + 50)))
    assert told.runs_seen == MAX_RUNS + 50
    assert next(iter(told.runs)) == "run-50"
    assert len(told.runs) == MAX_RUNS


def test_drops_of_the_spider_that_is_asked_for_are_counted() -> None:
    daily = drop(spider="daily")
    assert summary(drop(spider="news"), daily, daily, spider="daily").drops == 2
