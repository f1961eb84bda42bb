"""Pages and pairs are drawn and counted as by comparing them one by one; sheets of pairs."""

import csv
import random
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from simhash_pipeline import PageFingerprint
from simhash_pipeline.errors import SimhashError
from simhash_pipeline.review.pairs import (
    LARGEST_DISTANCE,
    SheetLine,
    drawn_pages,
    read_sheet,
    sample_pairs,
    valley,
    write_sheet,
)

LINE = SheetLine(
    "", 3, 7, "http://a.example/1", "http://a.example/2", "雾钟", "A bell", "[-a-] {+b+}"
)


def near_values(bits: int, count: int) -> list[int]:
    """Groups of values that are 0 to some 14 bits from one of their own."""
    dice = random.Random(5)
    centres = [dice.getrandbits(bits) for _ in range(6)]
    values = []
    for _ in range(count):
        value = dice.choice(centres)
        for _ in range(dice.randrange(8)):
            value ^= 1 << dice.randrange(bits)
        values.append(value)
    return values


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_every_pair_of_distinct_values_is_counted_once(bits: int) -> None:
    values = near_values(bits, 300)
    sample = sample_pairs(values, bits, 10, seed=1)
    distinct = Counter((a ^ b).bit_count() for a, b in combinations(dict.fromkeys(values), 2))
    assert sample.counts[1:] == tuple(distinct[apart] for apart in range(1, bits + 1))
    assert sample.counts[0] == len(values) - len(set(values))


def test_so_many_of_each_distance_are_drawn_and_they_are_so_far_apart() -> None:
    values = near_values(64, 300)
    sample = sample_pairs(values, 64, 10, seed=1)
    assert len(set(sample.pairs)) == len(sample.pairs)
    for pair in sample.pairs:
        assert (values[pair.a] ^ values[pair.b]).bit_count() == pair.distance
    drawn = Counter(pair.distance for pair in sample.pairs)
    for distance in range(LARGEST_DISTANCE + 1):
        assert drawn[distance] == min(10, sample.counts[distance])


def test_a_seed_draws_the_same_again_and_another_does_not() -> None:
    values = near_values(64, 300)
    first = sample_pairs(values, 64, 5, seed=1)
    assert sample_pairs(values, 64, 5, seed=1) == first
    assert sample_pairs(values, 64, 5, seed=2).pairs != first.pairs


def test_equal_values_are_paired_with_the_first_of_them() -> None:
    sample = sample_pairs([7, 7, 0, 7], 64, 10, seed=1)
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


def test_answers_come_back_by_both_urls(tmp_path: Path) -> None:
    other = replace(LINE, url_b="http://a.example/3", answer="n")
    write_sheet(tmp_path / "s.csv", [LINE, replace(LINE, answer="y", url_a="x"), other])
    unsure = replace(LINE, url_b="http://a.example/4", answer="?", distance=None)
    assert answers(tmp_path / "s.csv") == {
        ("x", "http://a.example/2"): True,
        ("http://a.example/1", "http://a.example/3"): False,
    }
    write_sheet(tmp_path / "s.csv", [unsure])
    (line,) = read_sheet(tmp_path / "s.csv").values()
    assert (line.answer, line.twins, line.distance, line.sketch_distance) == ("?", None, None, 7)


def answers(path: Path) -> dict[tuple[str, str], bool | None]:
    return {pair: line.twins for pair, line in read_sheet(path).items()}


@pytest.mark.parametrize("answer", ["y", "Y", " yes ", "1"])
def test_yes_may_be_written_as_people_do(tmp_path: Path, answer: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(f"url_a,url_b,twins\na,b,{answer}\nc,d,\n", encoding="utf-8")
    assert answers(path) == {("a", "b"): True}


def test_nothing_from_a_page_is_a_formula_to_a_spreadsheet(tmp_path: Path) -> None:
    hostile = replace(LINE, answer="y", title_a="=1+1", title_b="@x", words="-1", url_a="+tel")
    write_sheet(tmp_path / "s.csv", [hostile])
    with (tmp_path / "s.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert [row[name] for name in ("title_a", "title_b", "words", "url_a")] == [
        "'=1+1",
        "'@x",
        "'-1",
        "'+tel",
    ]
    assert answers(tmp_path / "s.csv") == {("+tel", "http://a.example/2"): True}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no column 'twins'"),
        (b"url_a,url_b\na,b\n", "no column 'twins'"),
        (b"twins,url_a,url_b\nmaybe,a,b\n", "line 2: twins is 'maybe', not y, n or ?"),
        (b"twins,url_a,url_b,distance\ny,a,b,near\n", "line 2: distance is 'near', not a number"),
        (b"twins,url_a,url_b,distance\ny,a,b,129\n", "a number of bits from 0 to 128"),
        (b"\xff\xfe\x00", "is no sheet of pairs: 'utf-8' codec"),
    ],
)
def test_what_is_no_sheet_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(content)
    with pytest.raises(SimhashError) as refusal:
        read_sheet(path)
    assert message in str(refusal.value)
