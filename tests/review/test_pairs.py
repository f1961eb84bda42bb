"""How pages and pairs are drawn, and pairs counted: held against comparing them one by one."""

import random
from collections import Counter
from itertools import combinations

import pytest

from simhash_pipeline import PageFingerprint
from simhash_pipeline.review.pairs import (
    LARGEST_DISTANCE,
    drawn_pages,
    sample_pairs,
    valley,
)


def near_values(count: int) -> list[int]:
    """Groups of values that are 0 to some 14 bits from one of their own."""
    dice = random.Random(5)
    centres = [dice.getrandbits(64) for _ in range(6)]
    values = []
    for _ in range(count):
        value = dice.choice(centres)
        for _ in range(dice.randrange(8)):
            value ^= 1 << dice.randrange(64)
        values.append(value)
    return values


def test_every_pair_of_distinct_values_is_counted_once() -> None:
    values = near_values(300)
    sample = sample_pairs(values, 10, seed=1)
    distinct = Counter((a ^ b).bit_count() for a, b in combinations(dict.fromkeys(values), 2))
    assert sample.counts[1:] == tuple(distinct[apart] for apart in range(1, 65))
    assert sample.counts[0] == len(values) - len(set(values))


def test_so_many_of_each_distance_are_drawn_and_they_are_so_far_apart() -> None:
    values = near_values(300)
    sample = sample_pairs(values, 10, seed=1)
    assert len(set(sample.pairs)) == len(sample.pairs)
    for pair in sample.pairs:
        assert (values[pair.a] ^ values[pair.b]).bit_count() == pair.distance
    drawn = Counter(pair.distance for pair in sample.pairs)
    for distance in range(LARGEST_DISTANCE + 1):
        assert drawn[distance] == min(10, sample.counts[distance])


def test_a_seed_draws_the_same_again_and_another_does_not() -> None:
    values = near_values(300)
    first = sample_pairs(values, 5, seed=1)
    assert sample_pairs(values, 5, seed=1) == first
    assert sample_pairs(values, 5, seed=2).pairs != first.pairs


def test_equal_values_are_paired_with_the_first_of_them() -> None:
    sample = sample_pairs([7, 7, 0, 7], 10, seed=1)
    assert {(pair.a, pair.b) for pair in sample.pairs if not pair.distance} == {(0, 1), (0, 3)}
    assert (sample.counts[0], sample.counts[3]) == (2, 1)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([9, 4, 0, 0, 0, 3, 80, 90, 20], (2, 4)),
        ([9, 4, 2, 1, 3, 80], (3, 3)),
        ([0, 0, 0, 0, 5, 9], (0, 3)),
        ([0, 0, 0], None),
        ([9, 3, 1], None),
    ],
)
def test_the_valley_is_the_longest_emptiest_stretch_below_the_commonest_distance(
    counts: list[int], expected: tuple[int, int] | None
) -> None:
    assert valley(counts) == expected


def page(url: str, text: str = "") -> PageFingerprint:
    return PageFingerprint(
        content=1, structure=None, sketch=None, text=text, title="", tokens=99, url=url
    )


def test_all_are_taken_where_there_are_no_more() -> None:
    assert drawn_pages([page("b"), page("a")], 2, seed=0) == ([page("a"), page("b")], 2)
    assert drawn_pages([], 2, seed=0) == ([], 0)


def test_the_order_of_pages_does_not_matter() -> None:
    pages = [page(f"http://a.example/{n}") for n in range(50)]
    drawn, urls = drawn_pages(pages, 10, seed=3)
    assert (len(drawn), urls) == (10, 50)
    for order in range(20):
        random.Random(order).shuffle(pages)
        assert drawn_pages(pages, 10, seed=3) == (drawn, 50)


def test_each_url_is_as_likely_as_another() -> None:
    pages = [page(f"http://a.example/{n}") for n in range(10)]
    times = Counter(found.url for seed in range(2_000) for found in drawn_pages(pages, 3, seed)[0])
    assert len(times) == 10
    assert all(500 < number < 700 for number in times.values())  # 600 +- 5 deviations
