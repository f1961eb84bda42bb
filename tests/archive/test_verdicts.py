from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from simhash_pipeline import Judge, Options
from simhash_pipeline.index.memory import MemoryStore
from tests.archive.engines import outcome, write_rows
from tests.archive.test_relation import crowd
from tests.index.pages import page

if TYPE_CHECKING:
    from simhash_pipeline.archive.verdicts import Groups
    from simhash_pipeline.index.store import StoredPage

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


def test_families_don_t_hear_of_each_other(tmp_path: Path) -> None:
    pages = [page(f"http://a.example/{number}", (number // 2) << 20) for number in range(100)]
    found = told(tmp_path, pages, content_distance=0)
    assert [kept for _, kept, _ in found] == [True, False] * 50
