import pytest

from simhash_pipeline.compare.line_diff import MAX_CHARS, Row, rows


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("same", "same", ["same"]),
        ("", "", []),
        (
            "a fog bell\nrings three strokes",
            "a fog bell\nrings four strokes",
            ["a fog bell", (["rings ", "three", " strokes"], ["rings ", "four", " strokes"])],
        ),
        ("one\ntwo", "one", ["one", (["", "two"], [])]),
        ("two", "one\ntwo", [([], ["", "one"]), "two"]),
        ("渡轮三点开", "渡轮四点开", [(["渡轮", "三", "点开"], ["渡轮", "四", "点开"])]),
        ("end here", "end", [(["end ", "here"], ["end"])]),
        ("<b>", "<i>", [(["<", "b", ">"], ["<", "i", ">"])]),
        ("A bell, rung", "a bell; rang", [(["A bell, ", "rung"], ["a bell; ", "rang"])]),
    ],
)
def test_the_words_that_differ_are_marked(left: str, right: str, expected: list[Row]) -> None:
    assert rows(left, right) == expected


def test_both_texts_can_be_read_off_the_rows() -> None:
    left = "one two three\nfour\nfive six\nseven"
    right = "one 2 three\nfive six seven\nseven\neight nine"
    told = rows(left, right)
    for side, text in enumerate((left, right)):
        lines = [row if isinstance(row, str) else "".join(row[side]) for row in told]
        assert [line for line in lines if line] == text.splitlines()


def test_a_text_without_an_end_is_cut() -> None:
    (row,) = rows("a" * 1_000_000, "b" * 1_000_000)
    assert [len("".join(side)) for side in row] == [MAX_CHARS, MAX_CHARS]


def test_long_texts_that_have_little_in_common_are_compared_too() -> None:
    left = " ".join(f"word{n} the" for n in range(4_000))
    right = " ".join(f"term{n} the" for n in range(4_000))
    (row,) = rows(left, right)
    assert "".join(row[1]) == right[:MAX_CHARS]
