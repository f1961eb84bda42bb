import pytest

from simhash_pipeline.review.doubts import host_of
from simhash_pipeline.review.summary import Selection
from tests.review.logs import drop


@pytest.mark.parametrize(
    ("asked", "fields", "picked"),
    [
        ({"since": "2026-05-04T12:00:00.000Z"}, {}, True),
        ({"since": "2026-05-04T12:00:00.001Z"}, {}, False),
        ({"run": "run"}, {}, True),
        ({"run": "run-2"}, {}, False),
        ({"run": "run-1", "spider": "news"}, {}, True),
        ({"run": "run-1", "spider": "daily"}, {}, False),
    ],
)
def test_a_drop_is_picked_when_all_that_is_asked_holds(
    asked: dict[str, str], fields: dict[str, object], picked: bool
) -> None:
    assert Selection(**asked).picks(drop(**fields)) is picked


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://a.example/x", "a.example"),
        ("https://user:word@a.example:80/x@y", "a.example:80"),
        ("http://a.example?q=http://b.example/", "a.example"),
        ("data:,x", ""),
        ("", ""),
    ],
)
def test_the_host_of_a_url(url: str, host: str) -> None:
    assert host_of(url) == host


def test_what_a_run_kept_stands_only_beside_whole_runs() -> None:
    assert Selection().whole_runs
    assert Selection(run="run-1").whole_runs
    assert not Selection(run="run-1", since="2026-05-04").whole_runs
