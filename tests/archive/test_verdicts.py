from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from simhash_pipeline import Judge, Options
from simhash_pipeline.page.simhash import hamming_distance
from simhash_pipeline.stores.memory import MemoryStore
from tests.archive.engines import outcome, write_rows
from tests.archive.test_relation import crowd
from tests.stores.pages import page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_pipeline.archive.verdicts import Groups
    from simhash_pipeline.judge import Reason
    from simhash_pipeline.stores.contract import StoredPage, View

# Each two bits from the last: 1 and 3 are four bits apart.
CHAIN = [
    page("http://a.example/1", 0b000000),
    page("http://a.example/2", 0b000011),
    page("http://a.example/3", 0b001111),
    page("http://a.example/4", 0b111111),
]


def told(
    folder: Path,
    pages: list[StoredPage],
    keep: str = "first",
    groups: Groups = "stars",
    columns: dict[str, list[Any]] | None = None,
    **options: Any,
) -> list[tuple[str, bool, int]]:
    """Of each page the end of its URL, whether it is kept, and its group."""
    made = Options(**options)
    write_rows(folder, pages, made, **(columns or {}))
    rows = outcome(folder, made, keep, groups)
    return [(row["url"].rpartition("/")[2], row["kept"], row["group"]) for row in rows]


@pytest.mark.parametrize("match", ["content", "structure", "both", "either"])
@pytest.mark.parametrize("scope", ["all", "site"])
@pytest.mark.parametrize("unchanged", ["keep", "drop"])
@pytest.mark.parametrize("bits", [64, 128])
def test_verdicts_are_those_of_a_crawl_that_meets_the_pages_in_order(
    tmp_path: Path, match: str, scope: str, unchanged: str, bits: int
) -> None:
    options = Options(match=match, scope=scope, unchanged=unchanged, bits=bits)
    pages = [
        replace(one, site=f"{number % 3}.example", sketch=(number % 5) << 30)
        for number, one in enumerate(crowd(bits))
    ]
    write_rows(tmp_path, pages, options)
    with MemoryStore() as store:
        judge = Judge(store, options)
        live = [judge.judge_stored(one) for one in pages]
    assert [
        (row["kept"], row["reason"], row["twin_url"], row["content_distance"])
        for row in outcome(tmp_path, options)
    ] == [(not one.dropped, one.reason, one.twin_url, one.content_distance) for one in live]


def test_a_star_has_no_page_far_from_the_kept_one(tmp_path: Path) -> None:
    assert told(tmp_path, CHAIN) == [
        ("1", True, 0), ("2", False, 0), ("3", True, 2), ("4", False, 2)
    ]  # fmt: skip


def test_a_component_is_a_whole_chain(tmp_path: Path) -> None:
    assert told(tmp_path, CHAIN, groups="components") == [
        ("1", True, 0), ("2", False, 0), ("3", False, 0), ("4", False, 0)
    ]  # fmt: skip


def test_the_distances_in_a_component_are_those_to_the_kept_page(tmp_path: Path) -> None:
    write_rows(tmp_path, CHAIN, Options())
    rows = outcome(tmp_path, Options(), groups="components")
    assert [row["content_distance"] for row in rows] == [None, 2, 4, 6]
    assert {row["reason"] for row in rows[1:]} == {"content"}


def test_a_page_that_joins_two_chains_makes_them_one(tmp_path: Path) -> None:
    pages = [CHAIN[0], CHAIN[3], CHAIN[2], CHAIN[1]]
    found = told(tmp_path, pages, groups="components")
    assert [kept for _, kept, _ in found] == [True, False, False, False]


def test_the_sketch_parts_components_too(tmp_path: Path) -> None:
    pages = [
        page("http://a.example/1", 7, sketch=0),
        page("http://a.example/2", 7, sketch=2**30 - 1),
    ]
    assert [kept for _, kept, _ in told(tmp_path, pages, groups="components")] == [True, True]


def test_equal_contents_don_t_end_a_chain_of_structures_or_of_sketches(tmp_path: Path) -> None:
    thin = [page(f"http://a.example/{bits}", None, bits) for bits in (0, 0b11, 0b11111)]
    found = told(tmp_path / "a", thin, groups="components", match="structure")
    assert [kept for _, kept, _ in found] == [True, False, False]
    sketches = (0, 2**10 - 1, 2**20 - 1)
    alike = [page(f"http://a.example/{bits}", 7, sketch=bits) for bits in sketches]
    found = told(tmp_path / "b", alike, groups="components")
    assert [kept for _, kept, _ in found] == [True, False, False]


@pytest.mark.parametrize("match", ["content", "structure", "both", "either"])
@pytest.mark.parametrize("scope", ["all", "site"])
@pytest.mark.parametrize("verify_distance", [None, 18])
def test_components_are_those_of_comparing_all_with_all(
    tmp_path: Path, match: str, scope: str, verify_distance: int | None
) -> None:
    options = Options(match=match, scope=scope, verify_distance=verify_distance)
    pages = [one for number in range(60) for one in cloud(number)]
    write_rows(tmp_path, pages, options)
    group = list(range(len(pages)))
    for a, b in combinations(range(len(pages)), 2):
        if is_near(pages[a], pages[b], options):
            low, high = sorted([group[a], group[b]])
            group = [low if one == high else one for one in group]
    rows = outcome(tmp_path, options, groups="components")
    assert [row["group"] for row in rows] == group
    assert [row["kept"] for row in rows] == [one == place for place, one in enumerate(group)]


def cloud(number: int) -> list[StoredPage]:
    """Pages near each other in a namespace of their own, some thin, some equal in part."""
    random = Random(number)
    steps = [0, 0b11, 0b11111, 0b1111111, 0b11110000]
    return [
        page(
            f"http://a.example/{number}/{place}",
            None if (thin := random.random() < 0.3) else random.choice(steps),
            random.choice([None, *steps]),
            namespace=str(number),
            site=random.choice(["a.example", "b.example"]),
            sketch=None if thin else random.choice([0, 2**10 - 1, 2**20 - 1, 2**30 - 1]),
            digest=random.choice([b"a" * 16, b"b" * 16]) if thin else None,
        )
        for place in range(8)
    ]


def is_near(a: StoredPage, b: StoredPage, options: Options) -> bool:
    if a.namespace != b.namespace or (options.scope == "site" and a.site != b.site):
        return False
    content = a.digest is not None and a.digest == b.digest
    if a.content is not None and b.content is not None:
        content = hamming_distance(a.content, b.content) <= options.content_distance
        if options.verify_distance is not None and a.sketch is not None and b.sketch is not None:
            content &= hamming_distance(a.sketch, b.sketch) <= options.verify_distance
    structure = (
        a.structure is not None
        and b.structure is not None
        and hamming_distance(a.structure, b.structure) <= options.structure_distance
    )
    is_missing = a.structure is None or b.structure is None
    return {
        "content": content,
        "structure": structure,
        "both": content and (structure or is_missing),
        "either": content or structure,
    }[options.match]


def test_captures_of_one_url_are_dropped_from_a_component(tmp_path: Path) -> None:
    pages = [page("http://a.example/1", 7), page("http://a.example/1", 7)]
    assert [kept for _, kept, _ in told(tmp_path / "a", pages)] == [True, True]
    found = told(tmp_path / "b", pages, groups="components")
    assert [kept for _, kept, _ in found] == [True, False]


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ("first", "aaa"),
        ("earliest", "bb"),
        ("longest", "cccc"),
        ("shortest-url", "d"),
        ("canonical", "eeeee"),
    ],
)
@pytest.mark.parametrize("groups", ["stars", "components"])
def test_which_of_the_twins_is_kept_may_be_chosen(
    tmp_path: Path, keep: str, kept: str, groups: Groups
) -> None:
    names = ["aaa", "bb", "cccc", "d", "eeeee"]
    columns: dict[str, list[Any]] = {
        "time": [9.0, 1.0, 8.0, None, 7.0],
        "text_chars": [5, 6, 7, None, 4],
        "is_canonical": [False, None, False, False, True],
    }
    pages = [page(f"http://a.example/{name}", 7) for name in names]
    found = told(tmp_path, pages, keep, groups, columns)
    assert [name for name, is_kept, _ in found if is_kept] == [kept]
    assert {group for _, _, group in found} == {names.index(kept)}


@pytest.mark.parametrize("groups", ["stars", "components"])
def test_many_like_pages_are_each_compared_with_one(tmp_path: Path, groups: Groups) -> None:
    pages = [page(f"http://a.example/{number}", number % 2) for number in range(20_000)]
    found = told(tmp_path, pages, groups=groups)
    assert [name for name, kept, _ in found if kept] == ["0"]


@pytest.mark.parametrize("match", ["structure", "either"])
def test_pages_of_one_template_are_each_compared_with_one(
    tmp_path: Path, match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []
    neighbours = Judge.neighbours

    def counted(judge: Judge, page: StoredPage, view: View) -> Iterator[tuple[StoredPage, Reason]]:
        for found in neighbours(judge, page, view):
            compared.append(found)
            yield found

    monkeypatch.setattr(Judge, "neighbours", counted)
    pages = [page(f"http://a.example/{number}", number << 20, 7) for number in range(300)]
    found = told(tmp_path, pages, groups="components", match=match, content_distance=0)
    assert [name for name, kept, _ in found if kept] == ["0"]
    assert len(compared) == 299


def test_families_don_t_hear_of_each_other(tmp_path: Path) -> None:
    pages = [page(f"http://a.example/{number}", (number // 2) << 20) for number in range(100)]
    found = told(tmp_path, pages, content_distance=0)
    assert [kept for _, kept, _ in found] == [True, False] * 50
