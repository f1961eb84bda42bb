from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simhash_pipeline import Judge, Options
from simhash_pipeline.archive.parts import stored_pages
from simhash_pipeline.stores.contract import StoredPage
from simhash_pipeline.stores.opening import open_store
from tests.archive.engines import crowd, outcome, rows_of, write_rows
from tests.stores.pages import full_page, page

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
    columns: dict[str, list[Any]] | None = None,
    **options: Any,
) -> list[tuple[str, bool, int]]:
    """Of each page the end of its URL, whether it is kept, and its group."""
    made = Options(**options)
    write_rows(folder, pages, **(columns or {}))
    rows = outcome(folder, made, keep)
    return [(row["url"].rpartition("/")[2], row["kept"], row["group"]) for row in rows]


def test_a_stored_page_comes_out_of_a_row_as_it_went_in() -> None:
    bare = StoredPage("http://a.example/2", "", "", None, None, None, None, 0, 0)
    pages = [full_page(), bare]
    (batch,) = rows_of(pages).to_batches()
    assert list(stored_pages(batch)) == pages


@pytest.mark.parametrize("match", ["content", "structure", "both", "either"])
@pytest.mark.parametrize("scope", ["all", "site"])
@pytest.mark.parametrize("unchanged", ["keep", "drop"])
def test_verdicts_are_those_of_a_crawl_that_meets_the_pages_in_order(
    tmp_path: Path, match: str, scope: str, unchanged: str
) -> None:
    options = Options(match=match, scope=scope, unchanged=unchanged)
    pages = [replace(one, sketch=(number % 5) << 30) for number, one in enumerate(crowd())]
    write_rows(tmp_path, pages)
    with open_store("memory:") as store:
        judge = Judge(store, options)
        live = [judge.judge_stored(one) for one in pages]
    expected = [(not one.dropped, one.reason, one.twin_url, one.content_distance) for one in live]
    for in_order in (False, True):
        assert [
            (row["kept"], row["reason"], row["twin_url"], row["content_distance"])
            for row in outcome(tmp_path, options, in_order=in_order)
        ] == expected
        for verdicts in tmp_path.glob("verdicts*"):
            verdicts.unlink()
        for kept in tmp_path.glob("kept*"):
            kept.unlink()


def test_a_star_has_no_page_far_from_the_kept_one(tmp_path: Path) -> None:
    assert told(tmp_path, CHAIN) == [
        ("1", True, 0), ("2", False, 0), ("3", True, 2), ("4", False, 2)
    ]  # fmt: skip


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
def test_which_of_the_twins_is_kept_may_be_chosen(tmp_path: Path, keep: str, kept: str) -> None:
    names = ["aaa", "bb", "cccc", "d", "eeeee"]
    columns: dict[str, list[Any]] = {
        "time": [9.0, 1.0, 8.0, None, 7.0],
        "text_chars": [5, 6, 7, None, 4],
        "is_canonical": [False, None, False, False, True],
    }
    pages = [page(f"http://a.example/{name}", 7) for name in names]
    found = told(tmp_path, pages, keep, columns)
    assert [name for name, is_kept, _ in found if is_kept] == [kept]
    assert {group for _, _, group in found} == {names.index(kept)}


def test_many_like_pages_are_each_compared_with_one(tmp_path: Path) -> None:
    pages = [page(f"http://a.example/{number}", number % 2) for number in range(8_000)]
    found = told(tmp_path, pages)
    assert [name for name, kept, _ in found if kept] == ["0"]
