from wcwidth import width

from simhash_pipeline.compare.terminal_diff import beside


def test_changed_lines_stand_beside_each_other_with_a_line_around_them() -> None:
    kept = "first\nsecond\nthe bell rings three times\nfourth\nfifth"
    dropped = kept.replace("three", "four")
    assert list(beside(kept, dropped, 61, 10)) == [
        "...                           | ...",
        "second                        | second",
        "the bell rings [-three-]      | the bell rings {+four+} times",
        "times                         |",
        "fourth                        | fourth",
        "...                           | ...",
    ]


def test_a_line_that_only_one_has_stands_alone() -> None:
    assert list(beside("one", "one\ntwo", 43, 10)) == [
        "one                  | one",
        "                     | {+two+}",
    ]


def test_chinese_keeps_its_column() -> None:
    told = list(beside("渡轮三点开往对岸的码头", "渡轮四点开往对岸的码头", 45, 10))
    assert {width(line.partition("|")[0]) for line in told} == {22}
    assert "".join(line.partition("|")[0].strip() for line in told) == (
        "渡轮[-三-]点开往对岸的码头"
    )


def test_no_line_is_wider_than_the_terminal() -> None:
    kept = "港口的雾" * 40 + " and " + "x" * 300 + "\n" + "word " * 90
    dropped = kept.replace("雾", "霧").replace("x" * 300, "y" * 310)
    for columns in (43, 60, 101):
        assert max(map(width, beside(kept, dropped, columns, 10))) <= columns


def test_the_middle_of_what_both_have_is_left_out() -> None:
    same = " ".join(f"w{n}" for n in range(400))
    told = " ".join(beside(f"old {same}", f"new {same}", 200, 10))
    assert "[-old-] w0 w1" in told
    assert "w399" not in told


def test_changes_past_the_limit_are_counted() -> None:
    kept = "\n".join(f"line {n}\nsame {n}\nsame too {n}" for n in range(5))
    told = list(beside(kept, kept.replace("line", "row"), 80, 2))
    assert sum("[-line-]" in line for line in told) == 2
    assert told[-1] == "and 3 more changed lines: --limit 5"


def test_texts_with_the_same_words_tell_nothing() -> None:
    assert [line for line in beside("a, b", "a b", 80, 10) if "[-" in line] == []
