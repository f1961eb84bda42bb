import csv
from dataclasses import replace
from pathlib import Path

import pytest

from simhash_pipeline.errors import SimhashError
from simhash_pipeline.review.pairs import SheetLine, read_sheet, write_sheet

LINE = SheetLine(
    "", 3, 7, "http://a.example/1", "http://a.example/2", "雾钟", "A bell", "[-a-] {+b+}"
)


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
