import csv
from dataclasses import replace
from pathlib import Path

import pytest

from simhash_pipeline.answers import SheetLine, read_sheet, write_sheet
from simhash_pipeline.errors import SimhashError

LINE = SheetLine(
    "", 3, 7, "http://a.example/1", "http://a.example/2", "雾钟", "A bell", "[-a-] {+b+}"
)


def test_answers_come_back_by_both_urls(tmp_path: Path) -> None:
    other = replace(LINE, url="http://a.example/3", answer="another page")
    write_sheet(tmp_path / "s.csv", [LINE, replace(LINE, answer="copy", twin_url="x"), other])
    unsure = replace(LINE, url="http://a.example/4", answer="don't know", distance=None)
    assert answers(tmp_path / "s.csv") == {
        ("x", "http://a.example/2"): True,
        ("http://a.example/1", "http://a.example/3"): False,
    }
    write_sheet(tmp_path / "s.csv", [unsure])
    (line,) = read_sheet(tmp_path / "s.csv").values()
    assert (line.answer, line.twins, line.distance, line.sketch_distance) == (
        "don't know",
        None,
        None,
        7,
    )


def answers(path: Path) -> dict[tuple[str, str], bool | None]:
    return {pair: line.twins for pair, line in read_sheet(path).items()}


@pytest.mark.parametrize("answer", ["y", "Y", " yes ", "1"])
def test_yes_may_be_written_as_people_do(tmp_path: Path, answer: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(f"twin_url,url,answer\na,b,{answer}\nc,d,\n", encoding="utf-8")
    assert answers(path) == {("a", "b"): True}


def test_nothing_from_a_page_is_a_formula_to_a_spreadsheet(tmp_path: Path) -> None:
    hostile = replace(
        LINE, answer="copy", twin_title="=1+1", title="@x", words="-1", twin_url="+tel"
    )
    write_sheet(tmp_path / "s.csv", [hostile])
    with (tmp_path / "s.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert [row[name] for name in ("twin_title", "title", "words", "twin_url")] == [
        "'=1+1",
        "'@x",
        "'-1",
        "'+tel",
    ]
    assert answers(tmp_path / "s.csv") == {("+tel", "http://a.example/2"): True}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no column 'answer'"),
        (b"twin_url,url\na,b\n", "no column 'answer'"),
        (
            b"answer,twin_url,url\nmaybe,a,b\n",
            "line 2: answer is 'maybe', not copy, another page or don't know",
        ),
        (b"answer,twin_url,url,distance\ny,a,b,near\n", "line 2: distance is 'near', not a number"),
        (b"answer,twin_url,url,distance\ny,a,b,129\n", "a number of bits from 0 to 128"),
        (b"answer,twin_url,url,own_likeness\ny,a,b,much\n", "own_likeness is 'much', not a number"),
        (b"answer,twin_url,url,own_likeness\ny,a,b,nan\n", "own_likeness is 'nan', not a number"),
        (b"\xff\xfe\x00", "is no sheet of answers: 'utf-8' codec"),
    ],
)
def test_what_is_no_sheet_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(content)
    with pytest.raises(SimhashError) as refusal:
        read_sheet(path)
    assert message in str(refusal.value)
