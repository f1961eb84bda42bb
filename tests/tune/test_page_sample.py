from __future__ import annotations

import random
from collections import Counter

from simhash_pipeline import PageFingerprint
from simhash_pipeline.tune.page_sample import drawn_pages


def page(url: str, text: str = "") -> PageFingerprint:
    return PageFingerprint(
        content=1, structure=None, sketch=None, text=text, title="", tokens=99, url=url
    )


def test_all_are_taken_where_there_are_no_more_and_of_a_url_the_last() -> None:
    pages = [page("b", "old"), page("a"), page("b", "new")]
    assert drawn_pages(pages, 2, seed=0) == ([page("a"), page("b", "new")], 2)
    assert drawn_pages([], 2, seed=0) == ([], 0)


def test_the_order_and_number_of_captures_do_not_matter() -> None:
    pages = [page(f"http://a.example/{n}") for n in range(50) for _ in range(1 + n % 7)]
    drawn, urls = drawn_pages(pages, 10, seed=3)
    assert (len(drawn), urls) == (10, 50)
    for order in range(20):
        random.Random(order).shuffle(pages)
        assert drawn_pages(pages, 10, seed=3) == (drawn, 50)


def test_each_url_is_as_likely_as_another() -> None:
    pages = [page(f"http://a.example/{n}") for n in range(10) for _ in range(1 if n else 100)]
    times = Counter(found.url for seed in range(2_000) for found in drawn_pages(pages, 3, seed)[0])
    assert len(times) == 10
    assert all(500 < number < 700 for number in times.values())  # 600 +- 5 deviations
