from pathlib import Path

import pytest

from simhash_pipeline.answers import read_sheet
from simhash_pipeline.errors import SimhashError


def test_answers_come_back_by_both_urls(tmp_path: Path) -> None:
    head = "answer,distance,sketch_distance,twin_url,url,twin_title,title,words"
    lines = [
        ",3,7,http://a.example/1,http://a.example/2,雾钟,A bell,[-a-] {+b+}",
        "copy,3,7,x,http://a.example/2,雾钟,A bell,",
        "another page,3,7,http://a.example/1,http://a.example/3,雾钟,A bell,",
        "don't know,,7,http://a.example/1,http://a.example/4,雾钟,A bell,",
    ]
    path = tmp_path / "s.csv"
    path.write_text("\n".join([head, *lines]), encoding="utf-8-sig")
    found = read_sheet(path)
    assert {pair: line.twins for pair, line in found.items()} == {
        ("x", "http://a.example/2"): True,
        ("http://a.example/1", "http://a.example/3"): False,
        ("http://a.example/1", "http://a.example/4"): None,
    }
    assert [line.distance for line in found.values()] == [3, 3, None]
    assert {line.sketch_distance for line in found.values()} == {7}


def answers(path: Path) -> dict[tuple[str, str], bool | None]:
    return {pair: line.twins for pair, line in read_sheet(path).items()}


@pytest.mark.parametrize(
    ("mark", "encoding"), [(",", "utf-16"), (";", "utf-8"), ("\t", "utf-16"), (";", "utf-8-sig")]
)
def test_a_sheet_of_a_shell_or_spreadsheet_on_windows_is_read(
    tmp_path: Path, mark: str, encoding: str
) -> None:
    path = tmp_path / "s.csv"
    lines = ["answer,twin_url,url", "copy,http://a.example/港,b", ""]
    path.write_bytes("\r\n".join(lines).replace(",", mark).encode(encoding))
    assert answers(path) == {("http://a.example/港", "b"): True}


@pytest.mark.parametrize(
    ("title", "charset"),
    [("Le Château à 5 €", "cp1252"), ("雾钟。丄聉", "gb18030"), ("功許", "big5"), ("表", "cp932")],
)
def test_a_sheet_saved_in_a_charset_of_windows_is_read(
    tmp_path: Path, title: str, charset: str
) -> None:
    """Titles play no part, so their charset doesn't either; a URL in it is named."""
    path = tmp_path / "s.csv"
    text = f"answer,title,twin_url,url\r\nn,{title},http://a.example/1,{{}}\r\n"
    path.write_bytes(text.format("http://a.example/2").encode(charset))
    assert answers(path) == {("http://a.example/1", "http://a.example/2"): False}
    path.write_bytes(text.format(f"http://a.example/{title[-1]}").encode(charset))
    with pytest.raises(SimhashError, match=r"line 2: a URL is not in UTF-8; save the sheet as CSV"):
        read_sheet(path)


def test_a_bad_url_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(b"answer,twin_url,url\r\nn,http://a.example/1,http://[\r\n")
    with pytest.raises(SimhashError, match=r"s\.csv, line 2: .*http://\["):
        read_sheet(path)


def test_a_decimal_comma_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(b"answer;similarity;twin_url;url\r\nn;0,97;a;b\r\n")
    assert [line.similarity for line in read_sheet(path).values()] == [0.97]


def test_lines_may_end_as_on_an_old_macintosh(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(b"answer,title,twin_url,url\rn,Fog; and rain,a,b\r")
    assert answers(path) == {("a", "b"): False}


@pytest.mark.parametrize("answer", ["y", "Y", " yes ", "1"])
def test_yes_may_be_written_as_people_do(tmp_path: Path, answer: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(f"twin_url,url,answer\na,b,{answer}\nc,d,\n", encoding="utf-8")
    assert answers(path) == {("a", "b"): True}


def test_the_sign_that_keeps_a_cell_from_being_a_formula_is_no_part_of_a_url(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.csv"
    path.write_text("answer,twin_url,url\ny,'+tel,'b\n", encoding="utf-8")
    assert answers(path) == {("+tel", "'b"): True}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no column 'answer'"),
        (b"twin_url,url\na,b\n", "no column 'answer'"),
        (
            b"answer,twin_url,url\nmaybe,a,b\n",
            "line 2: answer is 'maybe', not copy, another page or don't know",
        ),
        (
            b"answer,twin_url,url,distance\ny,a,b,near\n",
            "line 2: distance is 'near', not a whole number",
        ),
        (b"answer,twin_url,url,distance\ny,a,b,129\n", "a whole number of bits from 0 to 128"),
        (b"answer,twin_url,url,similarity\ny,a,b,much\n", "similarity is 'much', not a number"),
        (b"answer,twin_url,url,similarity\ny,a,b,nan\n", "similarity is 'nan', not a number"),
        (b"\xff\xfe\x00", "is not a sheet of answers: 'utf-16-le' codec"),
    ],
)
def test_what_is_no_sheet_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(content)
    with pytest.raises(SimhashError) as refusal:
        read_sheet(path)
    assert message in str(refusal.value)
