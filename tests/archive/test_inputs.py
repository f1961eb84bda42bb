from __future__ import annotations

import contextlib
import os
import random
import sys
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from simhash_pipeline import Options
from simhash_pipeline.archive import Page
from simhash_pipeline.archive.inputs import open_input
from simhash_pipeline.errors import ArchiveError
from tests.archive.archives import PAGES, html, warc_of, write_json_lines

URLS = [page["url"] for page in PAGES]


def urls(name: object, time_field: str | None = None) -> list[str]:
    archive = open_input(str(name), Options(), time_field)
    found = [record for record, _ in archive.read()]
    return [record.source.url for record in found if isinstance(record, Page)]


def test_a_warc_file_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(warc_of(PAGES))
    (tmp_path / "a.warc").write_bytes(warc_of(PAGES, is_compressed=False))
    assert urls(tmp_path / "a.warc.gz") == urls(tmp_path / "a.warc") == URLS


def test_what_is_no_parquet_file_is_an_archive_error(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("text")
    with pytest.raises(ArchiveError, match=r"a\.parquet is not a Parquet file"):
        list(open_input(str(tmp_path / "a.parquet"), Options()).read())


def test_a_parquet_file_holds_a_page_a_row(tmp_path: Path) -> None:
    pq.write_table(
        pa.Table.from_pylist([{**page, "at": 9.5} for page in PAGES]), tmp_path / "a.parquet"
    )
    archive = open_input(str(tmp_path / "a.parquet"), Options(), "at")
    found, shares = zip(*archive.read(), strict=True)
    pages = [(page.source.url, page.time) for page in found if isinstance(page, Page)]
    assert pages == [(url, 9.5) for url in URLS]
    assert shares == (0.25, 0.5, 0.75, 1)


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        (pa.scalar(datetime(2026, 1, 2, 3, 4, 5, 500_000)), 1767323045.5),
        (
            pa.scalar(datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=1)))),
            1767319445.0,
        ),
        (pa.scalar(date(2026, 1, 2)), 1767312000.0),
        (pa.scalar(1767323045_500_000_001, pa.timestamp("ns")), 1767323045.5),
        (pa.scalar(1767323045_500, pa.timestamp("ms", "Asia/Shanghai")), 1767323045.5),
        (pa.scalar(2**60, pa.timestamp("us")), None),  # after the year 9999
        (pa.scalar(2**30, pa.date32()), None),
        (pa.scalar(None, pa.timestamp("ns")), None),
    ],
)
def test_a_column_of_times_tells_when_a_page_was_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: pa.Scalar, seconds: float | None
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)  # where it is there, pyarrow leans on it
    page = pa.Table.from_pylist([PAGES[0]])
    pq.write_table(page.append_column("at", pa.array([told], told.type)), tmp_path / "a.parquet")
    ((found, _),) = open_input(str(tmp_path / "a.parquet"), Options(), "at").read()
    assert isinstance(found, Page)
    assert found.time == seconds


def test_pages_in_parquet_may_be_bytes(tmp_path: Path) -> None:
    rows = [{"url": "http://a.example/", "html": html("é").encode("latin-1")}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    ((found, _),) = open_input(str(tmp_path / "a.parquet"), Options()).read()
    assert isinstance(found, Page)
    assert found.source.html == rows[0]["html"]


def test_a_parquet_file_without_pages_is_refused_by_its_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"link": ["x"], "html": ["y"]}), tmp_path / "a.parquet")
    message = r"has no column 'url' \(SIMHASH_HTML_FIELD, SIMHASH_URL_FIELD\); it has link, html"
    with pytest.raises(ArchiveError, match=message):
        urls(tmp_path / "a.parquet")


def test_nested_columns_are_item_values_as_in_feeds(tmp_path: Path) -> None:
    """Not those of bytes, nor times that Python doesn't know: the row is read."""
    columns = {
        "about.x": ["flat"],
        "of": [{"binary": "yes"}],
        "props": [{"colour": "red", "sizes": [{"eu": 41}, {"eu": 42}]}],
        "tags": [["new", "sale"]],
        "codes": pa.array([[("ean", "400123")]], pa.map_(pa.string(), pa.string())),
        "raw": [b"bytes"],
        "at": pa.array([10**18], pa.timestamp("us")),
    }
    one = {"url": ["http://a.example/"], "html": ["<p>x"]}
    pq.write_table(pa.table({**one, **columns}), tmp_path / "a.parquet")
    ((found, _),) = open_input(str(tmp_path / "a.parquet"), Options()).read()
    assert isinstance(found, Page)
    assert found.source.item is not None
    assert found.source.item.pairs == (
        ("url", "http://a.example/", ""),
        ("about.x", "flat", ""),
        ("of.binary", "yes", ""),
        ("props.sizes.eu", "41", "/0"),
        ("props.sizes.eu", "42", "/1"),
        ("props.colour", "red", ""),
        ("tags", "new\nsale", ""),
        ("codes.ean", "400123", ""),
    )


def test_a_copy_of_parquet_has_the_other_rows_and_all_columns(tmp_path: Path) -> None:
    rows = [{**page, "more": [number]} for number, page in enumerate(PAGES)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    open_input(str(tmp_path / "a.parquet"), Options()).copy(tmp_path / "copy.parquet", {2, 4})
    assert pq.read_table(tmp_path / "copy.parquet").to_pylist() == [rows[0], rows[2]]


def test_a_folder_holds_a_page_a_file(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/1.html", "a.htm", "c.xhtml", "d.txt"):
        (tmp_path / name).write_text("x" if name == "d.txt" else html("x"))
    os.utime(tmp_path / "a.htm", (0, 1_000.0))
    assert urls(tmp_path) == [
        (tmp_path / name).as_uri() for name in ("a.htm", "b/1.html", "c.xhtml")
    ]
    (first, _), *_ = open_input(str(tmp_path), Options()).read()
    assert isinstance(first, Page)
    assert first.time == 1_000.0


def test_a_file_of_comments_alone_is_no_page_and_costs_no_time(tmp_path: Path) -> None:
    """The other file has a comment and a declaration before its element."""
    (tmp_path / "notes").write_text("<!---->" * 200)
    (tmp_path / "1002").write_text("<?xml version='1.0'?><!-- saved --> <!DOCTYPE html><p>x")
    assert urls(tmp_path) == [(tmp_path / "1002").as_uri()]


def test_a_copy_of_a_folder_lacks_those_files(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for name in ("1.html", "2.html", "style.css"):
        (site / name).write_text(name)
    open_input(str(site), Options()).copy(tmp_path / "copy", {1})
    assert sorted(file.name for file in (tmp_path / "copy").iterdir()) == ["2.html", "style.css"]


def test_a_folder_of_pages_in_capitals_and_a_directory_of_a_page_s_name(tmp_path: Path) -> None:
    (tmp_path / "x.html").mkdir()
    for name in ("A.HTML", "x.html/b.Htm"):
        (tmp_path / name).write_text("x")
    assert urls(tmp_path) == [(tmp_path / name).as_uri() for name in ("A.HTML", "x.html/b.Htm")]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArchiveError, match="empty holds no page: no file in it begins as"):
        urls(tmp_path / "empty")


def test_a_folder_in_it_that_can_not_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("b", "a.html", "c.html"):
        (tmp_path / name).mkdir() if name == "b" else (tmp_path / name).write_text(html("x"))
    look = os.scandir

    def scandir(path: str) -> Any:
        if Path(path).name == "b":
            raise PermissionError(13, "Permission denied", path)
        return look(path)

    monkeypatch.setattr("os.scandir", scandir)
    with pytest.raises(ArchiveError, match=r"/b can't be read: Permission denied"):
        open_input(str(tmp_path), Options())


def test_a_link_that_leads_nowhere_does_not_end_a_copy(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "1.html").write_text("1")
    (site / "gone.css").symlink_to(tmp_path / "nowhere")
    open_input(str(site), Options()).copy(tmp_path / "copy", set())
    assert [file.name for file in (tmp_path / "copy").iterdir()] == ["1.html"]


def test_nothing_outside_a_folder_is_read_or_copied(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "key").write_text("secret")
    (private / "page.html").write_text("secret")
    site = tmp_path / "site"
    (site / "below").mkdir(parents=True)
    (site / "1.html").write_text("1")
    (site / "2.html").symlink_to(private / "page.html")
    (site / "key").symlink_to(private / "key")
    (site / "loop").symlink_to(site)
    (site / "below" / "elsewhere").symlink_to(private)
    os.mkfifo(site / "pipe.html")
    archive = open_input(str(site), Options())
    found = [record for record, _ in archive.read()]
    assert [each.source.html for each in found if isinstance(each, Page)] == [b"1"]
    assert len(found) == 1
    archive.copy(tmp_path / "copy", set())
    copied = {file.relative_to(tmp_path / "copy") for file in (tmp_path / "copy").rglob("*")}
    assert copied == {Path("1.html"), Path("below")}


def test_csv_of_a_long_first_field_is_a_feed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"{'x' * 200_000},url,html\n,http://a.example/,<p>x\n")
    assert urls(tmp_path / "a.csv") == ["http://a.example/"]


def test_a_feed_is_of_the_kind_that_its_name_ends_with(tmp_path: Path) -> None:
    assert urls(write_json_lines(tmp_path / "items.csv.jsonl", PAGES)) == URLS
    assert urls(write_json_lines(tmp_path / "items.csv.jsonl.gz", PAGES)) == URLS


def test_of_a_large_row_group_a_few_pages_are_in_memory_and_a_copy_has_large_groups(
    tmp_path: Path,
) -> None:
    path, copy = tmp_path / "a.parquet", tmp_path / "copy.parquet"
    texts = [random.Random(n).randbytes(25_000).hex() for n in range(1_000)]
    table = pa.table({"url": [str(n) for n in range(1_000)], "html": texts})
    pq.write_table(table, path, use_dictionary=False, compression="NONE", write_batch_size=16)
    del table, texts
    assert pq.ParquetFile(path).metadata.row_group(0).total_byte_size > 50_000_000
    before, most = pa.total_allocated_bytes(), 0
    for record, _ in open_input(str(path), Options()).read():
        most = max(most, pa.total_allocated_bytes() - before)
        del record
    assert most < 15_000_000
    open_input(str(path), Options()).copy(copy, {1})
    written = pq.ParquetFile(copy).metadata
    assert (written.num_rows, written.num_row_groups) == (999, 2)


def test_a_parquet_file_with_text_that_is_no_utf_8_is_named(tmp_path: Path) -> None:
    array = pa.array([b"<p>\xff"]).view(pa.string())
    pq.write_table(pa.table({"url": ["http://a.example/"], "html": array}), tmp_path / "a.parquet")
    with pytest.raises(ArchiveError, match=r"a.parquet is damaged: .*UTF-?8"):
        urls(tmp_path / "a.parquet")


def test_an_input_of_no_known_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "items.xml").write_text("[]")
    with pytest.raises(
        ArchiveError, match=r"items.xml must be a WARC or WET file \(.warc, .wet, also .gz\)"
    ):
        open_input(str(tmp_path / "items.xml"), Options())


def test_an_input_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="can't be read: No such file"):
        open_input(str(tmp_path / "none.jsonl"), Options())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes among files")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(ArchiveError, match="is no file, and an input is read twice"):
        open_input(str(tmp_path / "pipe.jsonl"), Options())


def test_a_feed_named_for_parquet_is_refused(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "a.parquet", PAGES)
    with pytest.raises(Exception, match="is not a Parquet file"):
        urls(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("column", "time_field"),
    [
        (pa.array([1], pa.time64("ns")), "other"),
        (pa.array([10**18], pa.duration("ns")), "other"),
        (pa.array([1234567], pa.timestamp("ns")), None),
        (pa.array([10**18], pa.timestamp("us")), None),
        (pa.array([1], pa.timestamp("s", "Nowhere/City")), None),
    ],
)
def test_values_that_python_has_no_names_for_are_an_archive_error(
    tmp_path: Path, column: Any, time_field: str | None
) -> None:
    columns = {"url": ["http://a.example/"], "html": ["<p>x"]}
    columns |= {"html": column} if time_field is None else {time_field: column}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with contextlib.suppress(ArchiveError):
        urls(tmp_path / "a.parquet", time_field)


def test_a_parquet_file_whose_columns_have_no_names_in_utf_8_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(PAGES), tmp_path / "a.parquet", store_schema=False)
    data = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(data.replace(b"html", b"\xe1tml"))
    with pytest.raises(ArchiveError, match=r"a\.parquet is not a Parquet file"):
        urls(tmp_path / "a.parquet")
