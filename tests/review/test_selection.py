import pytest

from simhash_pipeline.review.selection import Selection, host_of
from tests.review.logs import drop


@pytest.mark.parametrize(
    ("asked", "fields", "picked"),
    [
        ({"url": "a.example/2"}, {}, True),
        ({"url": "a.example/1"}, {}, True),  # its twin's
        ({"url": "a.example/3"}, {}, False),
        ({"url": "旧书店"}, {"url": "http://a.example/%E6%97%A7%E4%B9%A6%E5%BA%97"}, True),
        ({"url": "%E6%97%A7"}, {"url": "http://a.example/%E6%97%A7%E4%B9%A6%E5%BA%97"}, True),
        ({"url": "none"}, {"twin_url": None}, False),
        ({"host": "a.example"}, {}, True),
        ({"host": "example"}, {}, True),
        ({"host": "a.example"}, {"url": "http://news.a.example/"}, True),
        ({"host": "a.example"}, {"url": "http://aa.example/"}, False),
        ({"host": "a.example"}, {"url": "http://a.example:8642/"}, True),
        ({"host": "a.example:8642"}, {"url": "http://a.example:8642/"}, True),
        ({"host": "a.example:8642"}, {"url": "http://a.example:8643/"}, False),
        ({"since": "2026-05-04T12:00:00.000Z"}, {}, True),
        ({"since": "2026-05-04T12:00:00.001Z"}, {}, False),
        ({"reason": "thin"}, {"reason": "thin"}, True),
        ({"reason": "content"}, {"reason": "content and structure"}, False),
        ({"distance": 1}, {}, True),
        ({"distance": 9}, {}, False),
        ({"distance": 9}, {"reason": "structure"}, True),
        ({"distance": 0}, {"content_distance": None}, False),
        ({"run": "run"}, {}, True),
        ({"run": "run-2"}, {}, False),
        ({"run": "run-1", "distance": 1, "host": "a.example"}, {}, True),
        ({"run": "run-1", "distance": 2, "host": "a.example"}, {}, False),
    ],
)
def test_a_drop_is_picked_when_all_that_is_asked_holds(
    asked: dict[str, object], fields: dict[str, object], picked: bool
) -> None:
    assert Selection(**asked).picks(drop(**fields)) is picked  # type: ignore[arg-type]  # table


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
    assert not Selection(run="run-1", reason="thin").whole_runs
