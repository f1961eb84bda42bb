import csv
from dataclasses import replace
from pathlib import Path

import pytest

from simhash_pipeline.errors import SheetError
from simhash_pipeline.tune.sheet import SheetLine, read_answers, write_sheet

LINE = SheetLine(
    None, 3, 7, "http://a.example/1", "http://a.example/2", "雾钟", "A bell", "[-a-] {+b+}"
)


def test_answers_come_back_by_both_urls(tmp_path: Path) -> None:
    other = replace(LINE, url_b="http://a.example/3", twins=False)
    write_sheet(tmp_path / "s.csv", [LINE, replace(LINE, twins=True, url_a="x"), other])
    assert read_answers(tmp_path / "s.csv") == {
        ("x", "http://a.example/2"): True,
        ("http://a.example/1", "http://a.example/3"): False,
    }


@pytest.mark.parametrize("answer", ["y", "Y", " yes ", "1"])
def test_yes_may_be_written_as_people_do(tmp_path: Path, answer: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(f"url_a,url_b,twins\na,b,{answer}\nc,d,\n", encoding="utf-8")
    assert read_answers(path) == {("a", "b"): True}


def test_nothing_from_a_page_is_a_formula_to_a_spreadsheet(tmp_path: Path) -> None:
    hostile = replace(LINE, twins=True, title_a="=1+1", title_b="@x", words="-1", url_a="+tel")
    write_sheet(tmp_path / "s.csv", [hostile])
    with (tmp_path / "s.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert [row[name] for name in ("title_a", "title_b", "words", "url_a")] == [
        "'=1+1",
        "'@x",
        "'-1",
        "'+tel",
    ]
    assert read_answers(tmp_path / "s.csv") == {("+tel", "http://a.example/2"): True}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no column 'twins'"),
        (b"url_a,url_b\na,b\n", "no column 'twins'"),
        (b"twins,url_a,url_b\nmaybe,a,b\n", "line 2: twins is 'maybe', not y or n"),
        (b"\xff\xfe\x00", "is no sheet of pairs: 'utf-8' codec"),
    ],
)
def test_what_is_no_sheet_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(content)
    with pytest.raises(SheetError) as refusal:
        read_answers(path)
    assert message in str(refusal.value)
