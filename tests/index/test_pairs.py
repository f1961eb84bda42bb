"""The pairs of an array are those of brute force."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_pipeline.index import pairs
from simhash_pipeline.index.pairs import pairs_within
from simhash_pipeline.index.tables import Design

# For each distance ways to split 32 bits or more; () is the scan without a key.
SPLITS: dict[int, list[tuple[int, ...]]] = {
    0: [(1,), ()],
    1: [(2,), (3,), (2, 2)],
    2: [(3,), (4,), (3, 4)],
    3: [(4,), (5,), (4, 4), (6,), (4, 4, 4), ()],
    4: [(5,), (6,), (5, 5)],
    5: [(6,), (7,)],
    6: [(7,), (8,)],
    7: [(8,), (9,)],
    8: [(9,), (10,)],
}
DESIGNS = [
    Design(bits, distance, splits)
    for bits in (32, 64, 128)
    for distance, choices in SPLITS.items()
    for splits in choices
]
Pair = tuple[int, int, int]


def brute_force(values: list[int], distance: int) -> list[Pair]:
    first = {value: row for row, value in reversed(list(enumerate(values)))}
    chained = [(first[value], row, 0) for row, value in enumerate(values) if first[value] < row]
    near = [
        (i, j, (values[i] ^ values[j]).bit_count())
        for i, j in combinations(sorted(first.values()), 2)
        if (values[i] ^ values[j]).bit_count() <= distance
    ]
    return sorted(chained + near)


def found(values: Any, distance: int, design: Design) -> list[Pair]:
    return sorted(tuple(row) for part in pairs_within(values, distance, design) for row in part)


def flipped(value: int, bits: int, count: int, rng: random.Random) -> int:
    for bit in rng.sample(range(bits), count):
        value ^= 1 << bit
    return value


def uniform(bits: int, rng: random.Random) -> list[int]:
    return [rng.getrandbits(bits) for _ in range(200)]


def clustered(bits: int, rng: random.Random) -> list[int]:
    centres = [rng.getrandbits(bits) for _ in range(8)]
    return [flipped(rng.choice(centres), bits, rng.randrange(7), rng) for _ in range(200)]


def repeated(bits: int, rng: random.Random) -> list[int]:
    values = [0, (1 << bits) - 1] * 50 + [flipped(0, bits, 4, rng) for _ in range(40)]
    rng.shuffle(values)
    return values


def crowded(bits: int, rng: random.Random) -> list[int]:
    """Values in which all but the low ten bits are the same: most buckets hold them all."""
    return [(1 << bits) - 1024 + rng.getrandbits(10) for _ in range(70)]


@pytest.mark.parametrize("design", DESIGNS, ids=str)
@pytest.mark.parametrize("values_of", [uniform, clustered, repeated, crowded])
def test_every_design_finds_the_pairs_of_brute_force(
    design: Design, values_of: Callable[[int, random.Random], list[int]]
) -> None:
    values = values_of(design.bits, random.Random(design.bits + design.distance))
    assert found(values, design.distance, design) == brute_force(values, design.distance)


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_a_pair_at_k_bits_is_found_and_one_at_k_plus_1_is_not(design: Design) -> None:
    rng = random.Random(7)
    for _ in range(8):
        value = rng.getrandbits(design.bits)
        at, beyond = (
            flipped(value, design.bits, k, rng) for k in (design.distance, design.distance + 1)
        )
        assert found([value, at], design.distance, design) == [(0, 1, design.distance)]
        assert found([value, beyond], design.distance, design) == []


@settings(max_examples=200)
@given(
    design=st.sampled_from(DESIGNS),
    seeds=st.lists(st.integers(0, 2**128 - 1), min_size=1, max_size=4),
    moves=st.lists(st.tuples(st.integers(0, 3), st.sets(st.integers(0, 127), max_size=9))),
)
def test_any_values_give_the_pairs_of_brute_force(
    design: Design, seeds: list[int], moves: list[tuple[int, set[int]]]
) -> None:
    width = (1 << design.bits) - 1
    values = [
        (seeds[number % len(seeds)] ^ sum(1 << bit for bit in bits)) & width
        for number, bits in moves
    ]
    assert found(values, design.distance, design) == brute_force(values, design.distance)


@pytest.mark.parametrize("distance", range(9))
def test_a_design_answers_every_shorter_distance_too(distance: int) -> None:
    values = clustered(64, random.Random(3))
    assert found(values, distance, Design(64, 8, (9,))) == brute_force(values, distance)


def test_equal_values_are_chained_to_the_first_of_them_which_speaks_for_all() -> None:
    assert found([9, 8, 9, 9, 8], 3, Design(64, 3, (4,))) == [
        (0, 1, 1),
        (0, 2, 0),
        (0, 3, 0),
        (1, 4, 0),
    ]


def test_a_million_equal_values_are_a_chain() -> None:
    values = np.full(1_000_000, 42, dtype=np.uint64)
    parts = list(pairs_within(values, 3, Design(64, 3, (4,))))
    assert sum(len(part) for part in parts) == 999_999
    assert all((part[:, 0] == 0).all() for part in parts)


def test_a_bucket_of_10000_values_is_compared_in_little_memory() -> None:
    # One block is the same in all: 50 million pairs to compare, 800 MB if kept.
    rng = np.random.default_rng(1)
    values = rng.integers(0, 1 << 48, 10_000, dtype=np.uint64)
    tracemalloc.start()
    parts = list(pairs_within(values, 3, Design(64, 3, (4,))))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert parts == []
    assert peak < 3_000_000


@pytest.mark.parametrize(("bits", "bytes_a_value"), [(64, 50), (128, 72)])
def test_memory_is_some_tens_of_bytes_a_value(bits: int, bytes_a_value: int) -> None:
    shape = (100_000, bits // 64) if bits > 64 else 100_000
    values = np.random.default_rng(1).integers(0, 1 << 63, shape, dtype=np.uint64)
    tracemalloc.start()
    for _ in pairs_within(values, 3, Design(bits, 3, (5,))):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < bytes_a_value * 100_000


def test_rows_are_compared_beyond_the_end_of_their_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "ROWS_AT_A_TIME", 3)
    values = crowded(64, random.Random(4))
    assert found(values, 3, Design(64, 3, (4,))) == brute_force(values, 3)


def test_no_values_and_one_value_have_no_pairs() -> None:
    for values in ([], [7]):
        assert found(values, 3, Design(64, 3, (4,))) == []


@pytest.mark.parametrize("distance", [4, -1])
def test_a_distance_the_design_is_not_for_is_refused(distance: int) -> None:
    with pytest.raises(ValueError, match=f"for 0 to 3 bits, not {distance}"):
        pairs_within([1, 2], distance, Design(64, 3, (4,)))
