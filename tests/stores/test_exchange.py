"""Pages that go out to a file and come back are the same pages."""

from __future__ import annotations

import csv
import dataclasses
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from simhash_pipeline.errors import StoreError
from simhash_pipeline.stores.contract import StoredPage
from simhash_pipeline.stores.exchange import read_pages, read_stamp, write_pages
from tests.stores.pages import page

KINDS = [".csv", ".parquet"]
PAGES = [
    page("https://a.org/1", 0, 2**64 - 1, sketch=2**128 - 1),
    page("https://a.org/2", None, None, digest=bytes(range(16)), seen_at=1_700_000_000.25),
    page('https://a.org/?q="x,\ny"', 5, None, namespace="名前", sketch=0),
]


def write(path: Path, pages: list[StoredPage], bits: int = 64) -> Path:
    assert write_pages(iter(pages), path, {"bits": bits, "ngrams": [1, 2]}) == len(pages)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_pages_come_back_as_they_were(tmp_path: Path, kind: str) -> None:
    assert list(read_pages(write(tmp_path / f"pages{kind}", PAGES), 64)) == PAGES


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_fingerprints_of_every_width_come_back(tmp_path: Path, kind: str, bits: int) -> None:
    widest = [page("https://a.org/", 2**bits - 1, 1 << (bits - 1))]
    assert list(read_pages(write(tmp_path / f"pages{kind}", widest, bits), bits)) == widest


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_no_pages_holds_none(tmp_path: Path, kind: str) -> None:
    assert list(read_pages(write(tmp_path / f"pages{kind}", []), 64)) == []


def test_many_batches_keep_their_order(tmp_path: Path) -> None:
    many = [page(f"https://a.org/{number}", number) for number in range(25_000)]
    assert list(read_pages(write(tmp_path / "pages.parquet", many), 64)) == many


def test_csv_is_readable_by_people(tmp_path: Path) -> None:
    path = write(tmp_path / "pages.csv", PAGES)
    with path.open(encoding="utf-8", newline="") as file:
        first, thin, _ = csv.DictReader(file)
    assert first["content"] == "0000000000000000"
    assert first["structure"] == "f" * 16
    assert (thin["content"], thin["digest"]) == ("", "000102030405060708090a0b0c0d0e0f")
    assert thin["seen_at"] == "1700000000.25"


def test_parquet_holds_numbers_and_what_they_were_made_with(tmp_path: Path) -> None:
    path = write(tmp_path / "pages.parquet", PAGES)
    table = pyarrow.parquet.read_table(path)
    assert table["structure"].to_pylist() == [2**64 - 1, None, None]
    assert read_stamp(path) == {"bits": 64, "ngrams": [1, 2]}
    assert read_stamp(write(tmp_path / "pages.csv", PAGES)) is None


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a,b", "line 2, is no page"),
        (",https://a.org/,a.org,xyz,,,,0,0", "line 2, is no page: invalid literal for int()"),
    ],
)
def test_a_row_that_is_no_page_is_named(tmp_path: Path, row: str, said: str) -> None:
    path = tmp_path / "pages.csv"
    names = "namespace,url,site,content,structure,sketch,digest,first_seen,seen_at,visible,sample"
    path.write_text(f"{names}\n{row},,\n", encoding="utf-8")
    with pytest.raises(StoreError) as caught:
        list(read_pages(path, 64))
    assert said in str(caught.value)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pages.csv"
    path.write_text("url,content\n", encoding="utf-8")
    with pytest.raises(StoreError, match="has no column digest, first_seen, namespace"):
        list(read_pages(path, 64))
    arrow = tmp_path / "pages.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"url": ["x"]}), arrow)
    with pytest.raises(StoreError, match="has no column content, digest, first_seen"):
        list(read_pages(arrow, 64))


@pytest.mark.parametrize(
    ("kind", "said"), [(".csv", "is no text in UTF-8"), (".parquet", "is no Parquet file")]
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, kind: str, said: str) -> None:
    path = tmp_path / f"pages{kind}"
    path.write_bytes(b"\xff\xfe junk " * 100)
    with pytest.raises(StoreError, match=said):
        list(read_pages(path, 64))


def test_a_parquet_column_of_another_type_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "pages.parquet", PAGES)
    table = pyarrow.parquet.read_table(path)
    place = table.schema.get_field_index("content")
    signed = pyarrow.array([1, 2, 3], pyarrow.int64())
    pyarrow.parquet.write_table(table.set_column(place, "content", signed), path)
    with pytest.raises(StoreError, match="column content is int64, and must be uint64"):
        list(read_pages(path, 64))


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"pages\.json must end in \.csv or \.parquet"):
        write_pages([], tmp_path / "pages.json", None)


def test_without_pyarrow_parquet_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(StoreError, match=r"pip install 'simhash-pipeline\[parquet\]'"):
        write_pages([], tmp_path / "pages.parquet", None)


def test_every_field_of_a_page_is_a_column(tmp_path: Path) -> None:
    path = write(tmp_path / "pages.csv", [])
    named = path.read_text(encoding="utf-8").strip().split(",")
    assert named == [field.name for field in dataclasses.fields(StoredPage)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("secs", [1.7e12, 1e300, float("inf"), float("nan"), -1.0])
def test_a_time_that_no_calendar_has_is_no_page_s(tmp_path: Path, kind: str, secs: float) -> None:
    odd = dataclasses.replace(PAGES[0], seen_at=secs)
    path = write(tmp_path / f"pages{kind}", [PAGES[0], odd])
    where = {".csv": "line 3", ".parquet": "row 2"}[kind]
    with pytest.raises(StoreError, match=f"{where}, is no page: seen_at must be Unix seconds, 0 "):
        list(read_pages(path, 64))


@pytest.mark.parametrize("name", ["url", "namespace", "site", "first_seen", "seen_at"])
def test_a_parquet_row_without_a_text_or_time_is_named(tmp_path: Path, name: str) -> None:
    without: dict[str, Any] = {name: None}
    path = write(tmp_path / "pages.parquet", [dataclasses.replace(PAGES[0], **without)])
    with pytest.raises(StoreError, match=f"row 1, is no page: it has no {name}"):
        list(read_pages(path, 64))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (f"u,,,1{'0' * 16},,,,0,0", "content must be of 64 bits, not 10000000000000000"),
        ("u,,,,-1,,,0,0", "structure must be of 64 bits, not -1"),
        (f"u,,,,,1{'0' * 32},,0,0", "sketch must be of 128 bits, not 1000"),
        ("u,,,,,,00,0,0", "digest must be of 16 bytes, not 00"),
        (",,,,,,,0,0", "its url is empty"),
    ],
)
def test_what_no_store_could_hold_is_no_page_s(tmp_path: Path, row: str, said: str) -> None:
    path = write(tmp_path / "pages.csv", PAGES[:1])
    path.write_text(f"{path.read_text(encoding='utf-8')}{row},,\n", encoding="utf-8")
    with pytest.raises(StoreError, match=f"line 3, is no page: {said}"):
        list(read_pages(path, 64))


def test_a_damaged_parquet_file_is_named_with_the_last_whole_row(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    many = [page(f"https://a.org/{number}", number) for number in range(25_000)]
    data = bytearray(write(path, many).read_bytes())
    start = pyarrow.parquet.ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    data[start : start + 40] = b"\xff" * 40
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"pages.parquet is damaged after row \d+: \S"):
        list(read_pages(path, 64))


@pytest.mark.parametrize("stamp", ["{", "[]", '{"bits": 9}', '{"bits": "x"}', "\udcff"])
def test_options_that_are_damaged_are_told(tmp_path: Path, stamp: str) -> None:
    path = write(tmp_path / "pages.parquet", PAGES)
    told = {"simhash_pipeline": stamp.encode("utf-8", "surrogateescape")}
    table = pyarrow.parquet.read_table(path).replace_schema_metadata(told)
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(StoreError, match=r"pages.parquet doesn't say what it was made with: "):
        read_stamp(path)


@pytest.mark.parametrize("kind", KINDS)
def test_the_longest_url_comes_back(tmp_path: Path, kind: str) -> None:
    longest = [page("https://a.org/" + "%E6" * 3 * 99_986)]
    assert list(read_pages(write(tmp_path / f"pages{kind}", longest), 64)) == longest


def test_a_file_that_another_program_gave_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "pages.csv", PAGES)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert list(read_pages(path, 64)) == PAGES
