"""What makes a drop suspicious, in words."""

from collections.abc import Sequence
from typing import Any

import pytest

from simhash_pipeline.drop_log import Drop, DropMagnet, host_of
from simhash_pipeline.review.summary import MANY, NOTHING_COUNTS, Doubt, all_doubts, to_check
from tests.review.logs import drop


def doubts(one: Drop) -> list[Doubt]:
    """About a drop without any others."""
    (found,) = all_doubts([one], [])
    return found


FR, EN = "http://a.example/fr-FR/1", "http://a.example/en/1"


@pytest.mark.parametrize(
    ("fields", "texts"),
    [
        ({}, []),
        ({"content_distance": 3}, ["at the threshold: content 3 of 3 bits"]),
        (
            {"content_distance": 3, "sketch_distance": 18},
            ["at the threshold: content 3 of 3 bits, sketch 18 of 18 bits"],
        ),
        ({"structure_distance": 3}, []),  # it didn't decide
        (
            {"structure_distance": 3, "reason": "structure"},
            ["at the threshold: structure 3 of 3 bits"],
        ),
        ({"content_distance": 0, "thresholds": {"content_distance": 0}}, []),  # nothing nearer
        (
            {"main_share": 0.19},
            ["main text is a small part of the page: 19% of what the page shows"],
        ),
        ({"main_share": 0.2}, []),
        ({"similarity": 0.6}, ["page-specific texts differ: alike by 60%"]),
        ({"similarity": 0.0}, [f"page-specific texts differ: {NOTHING_COUNTS}"]),
        ({"similarity": 0.7}, []),
        (
            {"reason": "thin", "content_distance": None, "tokens": 12},
            ["thin: 12 words, judged by title and text alone"],
        ),
        ({"url": FR, "twin_url": EN}, ["other language: fr and en in the addresses"]),
        (
            {"url": "http://de.a.example/", "twin_url": "http://fr.a.example/"},
            ["other language: de and fr in the addresses"],
        ),
        ({"url": "http://a.example/m/1", "twin_url": "http://a.example/w/1"}, []),
        ({"url": FR, "twin_url": "http://a.example/news/1"}, []),
        ({"twin_url": None}, []),
    ],
)
def test_a_drop_is_doubted_by_its_line_alone(fields: dict[str, Any], texts: list[str]) -> None:
    assert [doubt.text for doubt in doubts(drop(**fields))] == texts


@pytest.mark.parametrize(
    ("title", "other", "differ"),
    [
        ("The ferry stops", "The ferry stops", False),
        ("The ferry stops | Harbour Post", "The ferry stops | Inland Wire", False),
        ("Old ferry goes to the breakers", "A boat that was always late", True),
        ("Chapter 3 - A manual", "Chapter 4 - A manual", True),
        ("Chapter 3 - A manual", "Chapter 3 - A manual", False),
        ("The ferry stops (2)", "The ferry stops", False),  # one has no number
        ("渡轮三点开", "旧书店的诗", True),
        ("ＦＥＲＲＹ stops", "Ferry stops", False),
        ("", "The ferry stops", False),  # not known
    ],
)
def test_titles_differ_in_most_words_or_in_a_number(title: str, other: str, differ: bool) -> None:
    found = [doubt.kind for doubt in doubts(drop(title=title, twin_title=other))]
    assert found == ["titles differ"] * differ


def versions(count: int, **more: Any) -> list[Drop]:
    """Drops of two releases of a manual."""
    return [
        drop(
            url=f"http://a.example/15/{n}",
            title=f"Part{n} of Ropes 15",
            twin_title=f"Part{n} of Ropes 14",
            **more,
        )
        for n in range(count)
    ]


def test_a_change_of_titles_that_many_drops_share_is_no_doubt() -> None:
    other = drop(url="http://a.example/x", title="Chapter 3", twin_title="Chapter 4")
    assert checked([*versions(MANY - 1), other]) == MANY
    many = [*versions(MANY + 5), other]
    assert checked(many) == 1
    first, *_, last = all_doubts(many, [])
    assert (first, [doubt.kind for doubt in last]) == ([], ["titles differ"])


def test_what_else_is_odd_about_such_a_drop_remains() -> None:
    assert checked([*versions(MANY + 5), *versions(2, content_distance=3)]) == 2


def test_each_run_has_its_own_changes() -> None:
    assert checked([*versions(MANY), *versions(3, run="run-2")]) == 3


def test_of_one_kind_of_doubt_a_person_checks_some() -> None:
    thin = [drop(url=f"http://a.example/{n}", reason="thin", tokens=9) for n in range(300)]
    assert checked([*thin, *(drop(main_share=0.1) for _ in range(4))]) == MANY + 4


def test_of_a_swallowing_page_a_person_checks_one_in_each_run() -> None:
    magnets = DropMagnet("http://a.example/1", "a.example", 30, "http://a.example/0")
    thin = [drop(url=f"http://a.example/{n}", reason="thin", tokens=9) for n in range(30)]
    found = all_doubts(thin, [magnets])
    assert [doubt.kind for doubt in found[0]] == ["many drops of one page", "thin"]
    assert len(to_check(thin, found)) == 1
    runs = [*thin, drop(run="run-2")]
    assert len(to_check(runs, all_doubts(runs, [magnets]))) == 2


def checked(drops: Sequence[Drop]) -> int:
    return len(to_check(drops, all_doubts(drops, [])))


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
