"""Where the words and lines of two texts differ."""

import random

import pytest

from simhash_pipeline.review.comparison import (
    CONTEXT_WORDS,
    MAX_CHARS,
    MAX_LOOKED_AT,
    Matched,
    Piece,
    Row,
    line_diff,
    text_diff,
)


def marked(a: str, b: str) -> list[str]:
    marks = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    changes = text_diff(a, b)
    return [" ".join(marks[piece.kind].format(piece.text) for piece in one) for one in changes]


def test_a_changed_word_is_told_with_its_neighbours_and_their_punctuation() -> None:
    assert marked("The ferry, at noon, came home.", "The ferry, at dusk, came home.") == [
        "The ferry, at [-noon,-] {+dusk,+} came home."
    ]


def test_only_words_count_not_case_punctuation_or_spacing() -> None:
    assert marked("The  ferry came\nhome.", "the Ferry -- came ＨＯＭＥ!") == []


def test_words_gone_and_words_new_stand_apart() -> None:
    assert marked("a b c", "a c") == ["a [-b-] c"]
    assert marked("a c", "a b c") == ["a {+b+} c"]
    assert marked("", "a b") == ["{+a b+}"]
    assert marked("a b", "") == ["[-a b-]"]
    assert marked("", "") == []


def test_chinese_is_compared_by_characters() -> None:
    assert marked("五月的潮水，涨到下午四点。", "六月的潮水，涨到下午四点。") == [
        "[-五-] {+六+} 月的潮水，涨到"
    ]


def test_changes_far_apart_are_told_each_for_itself() -> None:
    between = " ".join(f"w{i}" for i in range(40))
    assert marked(f"a {between} b", f"x {between} y") == [
        "[-a-] {+x+} w0 w1 w2 w3 w4 w5",
        "w34 w35 w36 w37 w38 w39 [-b-] {+y+}",
    ]


def test_of_a_common_beginning_and_end_only_the_context_is_told() -> None:
    same = " ".join(f"w{i}" for i in range(60_000))
    (change,) = text_diff(f"{same} gone {same}", f"{same} {same}")
    assert [piece.kind for piece in change] == ["same", "removed", "same"]
    assert change[1] == Piece("removed", "gone")
    assert [len(change[i].text.split()) for i in (0, 2)] == [CONTEXT_WORDS] * 2


def test_the_pieces_of_either_side_put_together_are_its_words() -> None:
    dice = random.Random(3)
    for _ in range(200):
        a = [dice.choice("abcdefg港口雾") for _ in range(dice.randrange(30))]
        b = [word for word in a if dice.random() > 0.2]
        b[len(b) // 2 : len(b) // 2] = [dice.choice("xyz中") for _ in range(dice.randrange(4))]
        # Contexts that touch would be one change, so a single change holds all but the ends.
        text_a, text_b = " ".join(a), " ".join(b)
        for change in text_diff(text_a, text_b):
            for side, text in (("added", text_b), ("removed", text_a)):
                other = {"added": "removed", "removed": "added"}[side]
                told = " ".join(piece.text for piece in change if piece.kind != other)
                assert told in text


def test_texts_that_share_every_other_word_are_compared_in_bounded_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each match leaves all the rest to be looked at again: without an end to it 13 seconds."""
    monkeypatch.setattr(Matched, "left", MAX_LOOKED_AT // 10)
    kept = " ".join(f"w{n} x" for n in range(4_000))
    dropped = " ".join(f"y{n} x w{n}" for n in range(4_000))
    assert text_diff(kept, dropped)


def test_what_is_no_more_looked_for_is_told_as_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = "one same two same three", "four same five same six"
    assert len(text_diff(a, b)[0]) == 8
    monkeypatch.setattr("simhash_pipeline.review.comparison.Matched.left", 4)
    assert text_diff(a, b) == [[Piece("removed", a), Piece("added", b)]]


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
    assert line_diff(left, right) == expected


def test_both_texts_can_be_read_off_the_rows() -> None:
    left = "one two three\nfour\nfive six\nseven"
    right = "one 2 three\nfive six seven\nseven\neight nine"
    rows = line_diff(left, right)
    for side, text in enumerate((left, right)):
        lines = [row if isinstance(row, str) else "".join(row[side]) for row in rows]
        assert [line for line in lines if line] == text.splitlines()


def test_a_text_without_an_end_is_cut() -> None:
    (row,) = line_diff("a" * 1_000_000, "b" * 1_000_000)
    assert [len("".join(side)) for side in row] == [MAX_CHARS, MAX_CHARS]


def test_long_texts_that_have_little_in_common_are_compared_too() -> None:
    left = " ".join(f"word{n} the" for n in range(4_000))
    right = " ".join(f"term{n} the" for n in range(4_000))
    (row,) = line_diff(left, right)
    assert "".join(row[1]) == right[:MAX_CHARS]
