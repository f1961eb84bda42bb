"""What makes a drop suspicious, in words."""

from typing import Any

import pytest

from simhash_pipeline.report.doubts import doubts
from tests.report.logs import drop

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
        ({"own_likeness": 0.6}, ["own texts differ: alike by 60%"]),
        ({"own_likeness": 0.7}, []),
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
        ({"reason": "unchanged", "content_distance": 3, "main_share": 0.1}, []),
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
