"""The table designs miss no neighbour, and cost what the paper says."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline.index.tables import Design, designs, optimum, plan

GIB = 1 << 30
# The designs of the paper's example 3.1: splits, tables, shortest and longest key, and how many
# candidates a probe finds among 2^34 pages.
PAPER = [
    ((4,), 4, 16, 16, 262_144),
    ((5,), 10, 25, 26, 512),
    ((4, 4), 16, 28, 28, 64),
    ((6,), 20, 31, 33, 8),
]


@st.composite
def any_design(draw: st.DrawFn) -> Design:
    design = Design(draw(st.sampled_from([32, 64])), draw(st.integers(0, 8)), ())
    for _ in range(draw(st.integers(0, 3))):
        blocks = draw(st.integers(design.distance + 1, design.distance + 4))
        with suppress(ValueError):  # no bits left to cut, or too many tables
            design = Design(design.bits, design.distance, (*design.splits, blocks))
    return design


@pytest.mark.parametrize(("splits", "tables", "shortest", "longest", "candidates"), PAPER)
def test_the_papers_four_designs_cost_what_it_says(
    splits: tuple[int, ...], tables: int, shortest: int, longest: int, candidates: int
) -> None:
    design = Design(64, 3, splits)
    assert design.probes == tables
    assert (min(design.key_bits), max(design.key_bits)) == (shortest, longest)
    assert design.candidates_per_probe(2**34) == candidates


@pytest.mark.parametrize("splits", [row[0] for row in PAPER])
def test_whichever_3_of_64_bits_differ_a_key_is_the_same(splits: tuple[int, ...]) -> None:
    differing = np.array(
        [sum(1 << bit for bit in bits) for k in range(4) for bits in combinations(range(64), k)],
        dtype=np.uint64,
    )
    masks = np.array(Design(64, 3, splits).tables, dtype=np.uint64)
    assert len(differing) == 1 + 64 + 2_016 + 41_664
    assert ((differing[:, None] & masks) == 0).any(axis=1).all()


@given(design=any_design(), data=st.data())
def test_whichever_k_bits_differ_a_key_is_the_same(design: Design, data: st.DataObject) -> None:
    bits = data.draw(st.sets(st.integers(0, design.bits - 1), max_size=design.distance))
    differing = sum(1 << bit for bit in bits)
    assert any(mask & differing == 0 for mask in design.tables)


def test_four_blocks_are_the_keys_of_four_tables() -> None:
    masks = [f"{mask:016x}" for mask in Design(64, 3, (4,)).tables]
    assert masks == ["ffff000000000000", "0000ffff00000000", "00000000ffff0000", "000000000000ffff"]


def test_the_case_worked_by_hand_meets_in_the_table_it_names() -> None:
    design = Design(64, 3, (4, 4))
    differing = 1 << 60 | 1 << 40 | 1 << 5
    bits_39_to_12 = (1 << 40) - (1 << 12)
    assert [mask for mask in design.tables if mask & differing == 0] == [bits_39_to_12]


def test_no_keys_are_longer_than_a_fingerprint() -> None:
    assert optimum(64, 0, 64) == Design(64, 0, (1,))
    assert optimum(64, 0, 65) is None
    assert optimum(64, 1, 64) is None


def test_no_split_is_one_table_to_scan() -> None:
    design = Design(64, 3, ())
    assert (design.tables, design.key_bits, design.probes) == ((0,), (0,), 1)
    assert design.candidates_per_query(1_000) == 1_000


def test_candidates_of_a_query_are_the_sum_over_tables_of_different_keys() -> None:
    # C(5, 3) choices of 2 blocks: 4 of the 10 take the narrow block of 12 bits.
    assert Design(64, 3, (5,)).candidates_per_query(2**34) == 4 * 2**9 + 6 * 2**8


def test_memory_is_every_page_in_every_table() -> None:
    design = Design(64, 3, (5,))
    assert design.memory_bytes(8_000_000_000) == 10 * 8 * 8_000_000_000
    assert Design(32, 3, (4,)).memory_bytes(1) == 4 * 4


def papers_x(bits: Fraction, distance: int, pages: Fraction, tau: Fraction) -> float:
    """X(f, k, d) as the paper has it, in fractions of bits; blocks to 20."""
    if pages <= tau:
        return 1
    return min(
        comb(r, distance)
        * papers_x(bits * distance / r, distance, pages - (r - distance) * bits / r, tau)
        for r in range(distance + 1, 20)
    )


@pytest.mark.parametrize(
    ("p_min", "tables"), [(0, 1), (16, 4), (25, 10), (28, 16), (31, 20), (32, 20), (34, 35)]
)
def test_x_64_3_34_is_the_paper_recursion(p_min: int, tables: int) -> None:
    assert papers_x(Fraction(64), 3, Fraction(34), Fraction(34 - p_min)) == tables


@pytest.mark.parametrize(("p_min", "splits"), [(0, ()), *((row[2], row[0]) for row in PAPER)])
def test_the_optimum_for_the_papers_keys_is_the_papers_design(
    p_min: int, splits: tuple[int, ...]
) -> None:
    assert optimum(64, 3, p_min) == Design(64, 3, splits)


def test_whole_bits_take_more_tables_than_the_paper_recursion_where_a_block_is_too_short() -> None:
    # 6 blocks of 10 2/3 bits would give 32; the three narrowest of 11, 11, 11, 11, 10, 10 have 31.
    assert optimum(64, 3, 32) == Design(64, 3, (7,))


@pytest.mark.parametrize(("bits", "distance"), [*product([32, 64], [1, 2, 3, 4]), (32, 8), (64, 8)])
def test_no_splits_give_such_keys_in_fewer_tables_than_the_optimum(
    bits: int, distance: int
) -> None:
    every = []
    for splits in (
        splits
        for count in (1, 2, 3)
        for splits in product(range(distance + 1, 14), repeat=count)
        if prod(comb(blocks, distance) for blocks in splits) <= 200
    ):
        with suppress(ValueError):  # a split into more blocks than bits are left
            every.append(Design(bits, distance, splits))
    assert len(every) > 3
    for design in every:
        best = optimum(bits, distance, min(design.key_bits))
        assert best is not None
        assert best.probes <= design.probes
        assert min(best.key_bits) >= min(design.key_bits)


def test_the_worthwhile_designs_are_the_papers_and_go_on_to_the_longest_key_asked_for() -> None:
    found = [design.splits for design in designs(64, 3, 40)]
    assert found == [(4,), (5,), (4, 4), (6,), (7,), (8,)]
    assert [design.splits for design in designs(64, 3, 31)] == [(4,), (5,), (4, 4), (6,)]


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("distance", range(9))
def test_there_is_a_plan_for_every_width_and_distance_up_to_2_to_the_40_pages(
    bits: int, distance: int
) -> None:
    for pages in (1, 1_000, 2**40):
        planned = plan(pages, distance, bits)
        costs = [(one.probes, -one.candidates_per_probe(pages)) for one in planned.designs]
        assert costs == sorted(costs)
        assert costs
        assert planned.recommended in planned.designs


def test_the_fewest_tables_with_100_candidates_a_probe_are_recommended() -> None:
    # 8e9 / 2^28 = 29.8 candidates in 16 tables; 10 tables would have 8e9 / 2^25 = 238.
    assert plan(8_000_000_000, 3).recommended == Design(64, 3, (4, 4))
    assert plan(1_000_000, 3).recommended == Design(64, 3, (4,))


def test_where_no_design_has_so_few_the_fewest_candidates_a_query_are_recommended() -> None:
    planned = plan(2**40, 8, bits=32)
    assert all(one.candidates_per_probe(2**40) > 100 for one in planned.designs)
    fewest = min(one.candidates_per_query(2**40) for one in planned.designs)
    assert planned.recommended.candidates_per_query(2**40) == fewest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((48, 3, (4,)), "32 or 64 bits, not 48"),
        ((64, 9, (10,)), "from 0 to 8 bits, not 9"),
        ((64, -1, (10,)), "from 0 to 8 bits, not -1"),
        ((64, 3, (3,)), "64 bits are cut into more than 3 blocks, the distance, .* not 3"),
        ((32, 3, (32, 4)), "at most 3, not 4"),
        ((64, 8, (13,)), "at most 1,000 tables, not 1,287"),
    ],
)
def test_an_impossible_design_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Design(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pages": 0}, "1 to 1,099,511,627,776 pages"),
        ({"pages": 2**40 + 1}, "not 1,099,511,627,777"),
        ({"bits": 16}, "not 16"),
        ({"distance": 9}, "not 9"),
    ],
)
def test_an_impossible_plan_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(**{"pages": 1, "distance": 3, **arguments})
