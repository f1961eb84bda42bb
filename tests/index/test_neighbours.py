"""The index answers exactly like brute force."""

from __future__ import annotations

import random
from contextlib import nullcontext
from itertools import product
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_pipeline.index import neighbours
from simhash_pipeline.index.neighbours import FingerprintIndex
from tests.same import by_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

WIDTHS = [32, 64]  # of values; the preset java32 makes narrow ones


class Values(Protocol):
    def __call__(self, width: int, rng: random.Random) -> list[int]: ...


def brute_force(values: Iterable[int], asked: int, max_distance_bits: int) -> list[tuple[int, int]]:
    distances = {value: (value ^ asked).bit_count() for value in values}
    near = [(value, bits) for value, bits in distances.items() if bits <= max_distance_bits]
    return sorted(near, key=itemgetter(1, 0))


def loaded(index: FingerprintIndex, values: Iterable[int]) -> int:
    """How many of the values, which are stored at once, were new."""
    rows = np.array([*values], np.uint64)
    return int(index.load(rows, np.arange(len(rows), dtype=np.uint32)).sum())


def flipped(value: int, width: int, count: int, rng: random.Random) -> int:
    for bit in rng.sample(range(width), count):
        value ^= 1 << bit
    return value


def uniform(width: int, rng: random.Random) -> list[int]:
    return [rng.getrandbits(width) for _ in range(500)]


def clustered(width: int, rng: random.Random) -> list[int]:
    centres = [rng.getrandbits(width) for _ in range(12)]
    return [flipped(rng.choice(centres), width, rng.randrange(7), rng) for _ in range(500)]


def repeated(width: int, rng: random.Random) -> list[int]:
    return [0, (1 << width) - 1] * 5_000 + [flipped(0, width, 4, rng) for _ in range(100)]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("values_of", [uniform, clustered, repeated])
@pytest.mark.parametrize("in_bulk", [True, False])
@pytest.mark.parametrize("chosen", [nullcontext, by_python])
def test_every_distance_answers_like_brute_force(
    width: int, values_of: Values, in_bulk: bool, chosen: Callable[[], AbstractContextManager[None]]
) -> None:
    rng = random.Random(width)
    values = values_of(width, rng)
    index = FingerprintIndex()
    if in_bulk:
        loaded(index, values)
    else:
        for value in values:
            index.add(value)
    different = list(dict.fromkeys(values))
    for k in range(9):
        for value in rng.sample(values, 15):
            for asked in (flipped(value, width, k, rng), flipped(value, width, k + 1, rng)):
                with chosen():
                    found = index.near(asked, k)
                assert found == brute_force(different, asked, k)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("k", range(9))
def test_a_value_is_found_at_k_bits_wherever_they_lie_and_never_at_one_more(
    width: int, k: int
) -> None:
    rng = random.Random(k)
    for _ in range(100):
        index = FingerprintIndex()
        stored = rng.getrandbits(width)
        index.add(stored)
        assert index.near(flipped(stored, width, k, rng), k) == [(stored, k)]
        assert index.near(flipped(stored, width, k + 1, rng), k) == []


@settings(max_examples=60)
@given(
    width=st.sampled_from(WIDTHS),
    changes=st.lists(
        st.tuples(st.sampled_from(["add", "add", "load"]), st.integers(0, 40)), max_size=60
    ),
    seed=st.integers(0, 1_000),
    k=st.integers(0, 8),
)
def test_it_behaves_like_a_set_after_any_changes(
    width: int, changes: list[tuple[str, int]], seed: int, k: int
) -> None:
    rng = random.Random(seed)
    # Few centres and few flips: the same values and buckets come up again and again.
    pool = [flipped(seed, width, n % 5, rng) for n in range(41)]
    index = FingerprintIndex()
    expected: dict[int, None] = {}  # in the order of adding
    for change, number in changes:
        value = pool[number]
        if change == "add":
            assert index.add(value) is (value not in expected)
            expected.setdefault(value)
        else:
            batch = pool[number:]
            assert loaded(index, batch) == len(set(batch) - expected.keys())
            expected = {**expected, **dict.fromkeys(batch)}
    assert len(index) == len(expected)
    assert all((value in index) is (value in expected) for value in pool)
    assert index.near(pool[0], k) == brute_force(expected, pool[0], k)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("in_bulk", [True, False])
def test_longer_keys_for_more_values_change_no_answer(
    width: int, in_bulk: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "VALUES_A_BUCKET", 0.05)
    rng = random.Random(width)
    values = clustered(width, rng)
    index = FingerprintIndex()
    for start in range(0, 500, 100):
        chunk = values[start : start + 100]
        if in_bulk:
            loaded(index, chunk)
        else:
            assert [index.add(value) for value in chunk].count(True) <= 100
        for k in range(9):
            asked = flipped(rng.choice(values), width, k, rng)
            assert index.near(asked, k) == brute_force(values[: start + 100], asked, k)


def test_nearest_comes_first_then_the_smallest() -> None:
    index = FingerprintIndex()
    loaded(index, [0b1111, 0b0111, 0b0101, 0b0011, 0b0000])
    assert index.near(0b0001, 2) == [(0b0000, 1), (0b0011, 1), (0b0101, 1), (0b0111, 2)]


def test_a_value_keeps_its_numbers_in_their_order() -> None:
    index = FingerprintIndex()
    assert index.add(0b0000, number=3)
    assert index.add(0b0011, number=7)
    assert not index.add(0b0011, number=9)
    rows = np.array([0b0011, 0b0101, 0b0101], np.uint64)
    index.load(rows, np.array([5, 8, 2], np.uint32))
    values = (0b0011, 0b0000, 0b0101, 0b1001)
    assert [[*index.numbers_of(value)] for value in values] == [[7, 9, 5], [3], [8, 2], []]
    index.forget([7, 9, 8], values)
    assert [[*index.numbers_of(value)] for value in values] == [[7, 5], [3], [8, 2], []]


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 9])
def test_a_limit_cuts_the_answer(limit: int) -> None:
    index = FingerprintIndex()
    loaded(index, [0b0111, 0b0011, 0b0000])
    assert index.near(0b0001, 2, limit) == [(0b0000, 1), (0b0011, 1), (0b0111, 2)][:limit]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("values_a_bucket", [1_000, 0.4])
def test_the_nearest_of_a_crowd_are_those_of_brute_force(
    width: int, values_a_bucket: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "VALUES_A_BUCKET", values_a_bucket)  # keys of two lengths
    rng = random.Random(width)
    centre = rng.getrandbits(width)
    crowd = {flipped(centre, width, rng.randrange(6), rng): None for _ in range(4_000)}
    index = FingerprintIndex()
    loaded(index, list(crowd)[:1_000])
    for value in list(crowd)[1_000:]:
        index.add(value)
    for k, limit in product(range(9), (1, 30, 200)):
        for asked in (centre, flipped(centre, width, 3, rng), rng.choice(list(crowd))):
            assert index.near(asked, k, limit) == brute_force(crowd, asked, k)[:limit]


def test_a_value_added_ten_thousand_times_is_stored_once() -> None:
    index = FingerprintIndex()
    assert [index.add(42) for _ in range(10_000)].count(True) == 1
    assert len(index) == 1
    assert index.near(42, 8) == [(42, 0)]


def test_bytes_of_two_packed_values_are_not_taken_for_a_third() -> None:
    # Values of four equal-looking blocks: side by side, their bytes spell each other everywhere.
    alike = [int(f"{a}{b}{c}{d}", 16) for a, b, c, d in product(["0000", "0101", "0001"], repeat=4)]
    stored = set(random.Random(1).sample(alike, 40))
    index = FingerprintIndex()
    loaded(index, stored)
    assert [value for value in alike if value in index] == [v for v in alike if v in stored]


def test_many_values_added_to_many_are_the_union() -> None:
    rng = random.Random(5)
    first, second = ([rng.getrandbits(64) for _ in range(3_000)] for _ in range(2))
    index = FingerprintIndex()
    assert loaded(index, first) == 3_000
    assert loaded(index, first[:40] + second) == len(second)
    assert len(index) == 6_000
    assert all(value in index for value in first + second)


def test_an_empty_index_has_no_neighbours() -> None:
    index = FingerprintIndex()
    assert loaded(index, []) == 0
    assert index.near(0, 8) == []
    assert len(index) == 0


@pytest.mark.parametrize("value", [-1, 1 << 64, 1.0, "1", None])
def test_a_value_that_is_no_fingerprint_is_refused(value: Any) -> None:
    index = FingerprintIndex()
    for use in (index.add, index.__contains__, lambda v: index.near(v, 3)):
        with pytest.raises(ValueError, match=r"64 bits is a whole number from 0 to 2\*\*64 - 1"):
            use(value)


@pytest.mark.parametrize("distance", [-1, 9, 3.0, None])
def test_a_distance_outside_0_to_8_is_refused(distance: Any) -> None:
    with pytest.raises(ValueError, match="a distance is a whole number from 0 to 8 bits"):
        FingerprintIndex().near(0, distance)


def test_equal_values_above_half_of_the_range_are_loaded() -> None:
    index = FingerprintIndex()
    values = np.array([2**64 - 1, 2**64 - 1], np.uint64)
    assert index.load(values, np.array([1, 2], np.uint32)).tolist() == [True, False]
    assert index.load(values, np.array([3, 4], np.uint32)).tolist() == [False, False]
    assert index.near(2**64 - 2, 1) == [(2**64 - 1, 1)]
