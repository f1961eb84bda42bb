"""`dedupe`: pages of lists, generators and tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from simhash_pipeline import Judge, OptionsError, dedupe
from tests.archive.archives import OTHER, STORY, html, page, products, write_json_lines

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.simhash_command import Simhash

A, B = "http://a.example/1", "http://b.example/2"


@pytest.mark.parametrize(
    "pages",
    [
        [{"url": A, "html": html(STORY)}, {"url": B, "html": html(STORY)}],
        [{"url": A, "text": STORY}, {"url": B, "text": STORY}],
        [{"text": STORY}, {"text": STORY}],
        [(A, html(STORY)), (B, html(STORY).encode())],
        [STORY, STORY],
        [html(STORY), html(STORY)],
    ],
    ids=["dicts", "dicts of texts", "texts alone", "pairs", "plain texts", "plain pages"],
)
def test_the_first_is_kept_whatever_holds_it(pages: list[Any]) -> None:
    """The kept page is the object that was given."""
    dropped: list[tuple[Any, str | None]] = []
    found = dedupe(pages, on_drop=lambda page, verdict: dropped.append((page, verdict.twin_url)))
    (kept,) = found
    assert kept is pages[0]
    assert dropped in ([(pages[1], A)], [(pages[1], "row:0")])
    assert (found.kept, found.dropped.total(), found.unread.total()) == (1, 1, 0)


def test_a_table_with_empty_rows_loses_none_of_them() -> None:
    """None, NaN, NA and "" are kept and counted."""
    nothing: list[Any] = [None, float("nan"), pandas.NA, pandas.NaT, ""]
    frame = pandas.DataFrame({"link": [A, *nothing, B], "body": [STORY, *nothing, STORY]})
    found = dedupe(frame, url_field="link", content_field="body")
    assert list(frame.loc[[row.Index for row in found]].index) == [0, 1, 2, 3, 4, 5]
    assert (found.kept, found.unread) == (6, {"no_html": 5})
    assert found.dropped == {"content": 1}


def test_a_column_of_arrays_hides_no_copy(tmp_path: Path) -> None:
    rows = {"url": [A, B], "text": [STORY, STORY], "tags": [["x", "y"], ["x", "y"]]}
    pandas.DataFrame(rows).to_parquet(tmp_path / "rows.parquet")
    found = dedupe(pandas.read_parquet(tmp_path / "rows.parquet"))
    assert len(list(found)) == 1
    assert found.unread == {}


def test_a_column_of_another_name_is_noticed(caplog: pytest.LogCaptureFixture) -> None:
    frame = pandas.DataFrame({"url": [A, B], "body": [STORY, STORY]})
    assert len(list(dedupe(frame))) == 2
    (said,) = caplog.messages
    assert said.startswith("None of 2 pages could be judged: name their column by html_field or")
    assert len(list(dedupe(frame, content_field="body"))) == 1
    assert len(caplog.messages) == 1


def test_a_row_of_another_kind_is_kept() -> None:
    found = dedupe([3, None, b"\0\1", (A, None), {"url": 7, "html": []}, ("http://[", STORY)])
    assert len(list(found)) == 6
    assert found.unread.total() == 6


def test_a_page_is_read_when_it_is_asked_for() -> None:
    asked = []

    def pages() -> Iterator[str]:
        for text in (STORY, OTHER):
            asked.append(text)
            yield text

    found = dedupe(pages())
    assert asked == []
    assert next(found) == STORY
    assert asked == [STORY]


def test_one_page_is_no_list_of_pages() -> None:
    for one in (STORY, {"url": "http://a.example/1", "text": STORY}):
        with pytest.raises(TypeError, match="not one page"):
            dedupe(one)


def test_options_are_checked_before_the_first_page() -> None:
    with pytest.raises(OptionsError, match="CONTENT_DISTANCE"):
        dedupe([], content_distance=99)


def test_a_store_drops_what_an_earlier_call_kept(tmp_path: Path) -> None:
    store = str(tmp_path / "seen.sqlite")
    assert list(dedupe([STORY], store=store)) == [STORY]
    assert list(dedupe([OTHER, STORY], store=store)) == [OTHER]
    assert list(dedupe([STORY, OTHER], store=store)) == []


@pytest.mark.usefixtures("shared_workers")
def test_a_feed_is_deduplicated_as_by_the_command(tmp_path: Path, simhash: Simhash) -> None:
    rows = [
        page("a", price="5"),
        page("b", STORY + " More.", price="5"),
        page("c", OTHER),
        page("a", STORY),
        page("d", OTHER, url="http://d.example/"),
        {"url": A, "html": None},
    ]
    feed = write_json_lines(tmp_path / "feed.jsonl", rows)
    assert simhash(tmp_path, "dedup", str(feed), "-o", "kept.jsonl").returncode == 0
    results = (tmp_path / "kept.jsonl").read_text().splitlines()
    by_command = [row["url"] for row in map(json.loads, results) if row["kept"]]
    kept = [row["url"] for row in dedupe(rows)]
    assert kept == [*by_command, A]  # it has no page: dedup lists it as a fault


@pytest.mark.usefixtures("shared_workers")
def test_variants_are_kept_from_whatever_file_they_are_read(
    tmp_path: Path, simhash: Simhash
) -> None:
    """A line's other keys and a row's other columns are item values; so is no number of a row."""
    rows = [*products(), {**products()[4], "url": "http://a.example/again"}]
    frame = pandas.DataFrame(rows)
    write_json_lines(tmp_path / "a.jsonl", rows)
    frame.to_csv(tmp_path / "a.csv", index=False)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    urls = [row["url"] for row in products()]
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        assert simhash(tmp_path, "dedup", name, "-o", "kept.jsonl").returncode == 0
        results = map(json.loads, (tmp_path / "kept.jsonl").read_text().splitlines())
        assert [row["url"] for row in results if row["kept"]] == urls, name
    answers = map(json.loads, simhash(tmp_path, "judge", "a.jsonl").stdout.splitlines())
    assert [each["url"] for each in answers if not each["dropped"]] == urls
    with Judge() as judge:
        verdicts = [judge.judge(row["url"], row["html"], row) for row in rows]
    assert [each.url for each in verdicts if not each.dropped] == urls
    assert [row["url"] for row in dedupe(rows)] == urls
    assert [row.url for row in dedupe(frame)] == urls
    assert [row.url for row in dedupe(pandas.read_parquet(tmp_path / "a.parquet"))] == urls


def test_the_rows_of_a_polars_frame_come_as_dicts() -> None:
    class Frame(list[str]):  # iterates over its columns
        def iter_rows(self, *, named: bool) -> Iterator[dict[str, str]]:
            assert named
            yield from ({"url": url, "text": STORY} for url in (A, B))

    kept: list[Any] = [*dedupe(Frame(["url", "text"]))]
    assert [row["url"] for row in kept] == [A]


def test_the_number_of_a_frame_s_row_is_no_value() -> None:
    rows = [page("a", f"0 {STORY} 1"), page("b", f"0 {STORY} 1")]
    assert [row.Index for row in dedupe(pandas.DataFrame(rows))] == [0]


@pytest.mark.parametrize(
    ("field", "values", "kept"),
    [
        ("price", ("49.90", "39.90", "49.90"), 2),
        ("salePrice", (49.9, 39.9, 49.9), 2),
        ("sku", ("A100", "A101", "A100"), 2),
        ("颜色", ("红", "蓝", "红"), 2),
        ("id", (1, 2, 3), 1),
        ("date", ("2026-05-01", "2026-05-02", "2026-05-03"), 1),
        ("size", (812, 840, 811), 1),  # bytes, in corpora
    ],
)
def test_next_to_texts_what_names_an_offer_counts(
    field: str, values: tuple[Any, ...], kept: int
) -> None:
    rows = [{"url": f"{A}?{n}", "text": STORY, field: value} for n, value in enumerate(values)]
    assert len(list(dedupe(rows))) == kept


def test_a_judge_takes_a_text_in_place_of_a_page() -> None:
    with Judge() as judge:
        assert judge.judge(A, text=STORY).reason == "new"
        assert judge.judge(B, text=STORY).reason == "content"
        with pytest.raises(TypeError, match="not both"):
            judge.judge(A, html(STORY), text=STORY)
        with pytest.raises(TypeError, match="not both"):
            judge.judge(A)
