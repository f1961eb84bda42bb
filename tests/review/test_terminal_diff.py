from rich.cells import cell_len
from rich.console import Console

from simhash_pipeline.review.comparison import beside, bit_picture
from simhash_pipeline.terminal import drawn


def shown(left: str, right: str, columns: int, limit: int) -> list[str]:
    console = Console(width=1_000)
    lines = beside(left, right, limit, columns)
    return [row.plain for line in lines for row in drawn(line, console)]


def test_changed_lines_stand_beside_each_other_with_a_line_around_them() -> None:
    kept = "first\nsecond\nthe bell rings three times\nfourth\nfifth"
    dropped = kept.replace("three", "four")
    assert shown(kept, dropped, 61, 10) == [
        "...                           | ...",
        "second                        | second",
        "the bell rings [-three-]      | the bell rings {+four+} times",
        "times                         |",
        "fourth                        | fourth",
        "...                           | ...",
    ]


def test_a_line_that_only_one_has_stands_alone() -> None:
    assert shown("one", "one\ntwo", 43, 10) == [
        "one                  | one",
        "                     | {+two+}",
    ]


def test_chinese_keeps_its_column() -> None:
    told = shown("渡轮三点开往对岸的码头", "渡轮四点开往对岸的码头", 45, 10)
    assert {cell_len(line.partition("|")[0]) for line in told} == {22}
    assert "".join(line.partition("|")[0].strip() for line in told) == (
        "渡轮[-三-]点开往对岸的码头"
    )


def test_no_line_is_wider_than_the_terminal() -> None:
    kept = "港口的雾" * 40 + " and " + "x" * 300 + "\n" + "word " * 90
    dropped = kept.replace("雾", "霧").replace("x" * 300, "y" * 310)
    for columns in (43, 60, 101):
        assert max(map(cell_len, shown(kept, dropped, columns, 10))) <= columns


def test_the_middle_of_what_both_have_is_left_out() -> None:
    same = " ".join(f"w{n}" for n in range(400))
    told = " ".join(shown(f"old {same}", f"new {same}", 200, 10))
    assert "[-old-] w0 w1" in told
    assert "w399" not in told


def test_changes_past_the_limit_are_counted() -> None:
    kept = "\n".join(f"line {n}\nsame {n}\nsame too {n}" for n in range(5))
    told = shown(kept, kept.replace("line", "row"), 80, 2)
    assert sum("[-line-]" in line for line in told) == 2
    assert told[-1] == "and 3 more changed lines: --limit 5"


def test_texts_with_the_same_words_tell_nothing() -> None:
    assert [line for line in shown("a, b", "a b", 80, 10) if "[-" in line] == []


def test_set_bits_are_crosses_and_those_that_differ_are_marked() -> None:
    assert list(bit_picture(0x8000_0001_0F00_00FF, 0x8000_0001_0E00_00FF, 64)) == [
        "A  #....... ........ ........ .......#",
        "B  #....... ........ ........ .......#",
        "A  ....#### ........ ........ ########",
        "B  ....###. ........ ........ ########",
        "          ^",
    ]


def test_the_marks_are_as_many_as_the_bits_that_differ_and_stand_under_them() -> None:
    a, b = 0x2E9D55853ADB6CB9, 0x2E1D55852ADB2CB9
    rows = list(bit_picture(a, b, 64))
    marks = [row for row in rows if not row.startswith(("A", "B"))]
    assert sum(row.count("^") for row in marks) == (a ^ b).bit_count()
    for place, row in enumerate(rows):
        for column, mark in enumerate(row):
            if mark == "^":
                assert rows[place - 1][column] != rows[place - 2][column]
