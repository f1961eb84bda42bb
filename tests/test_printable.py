"""What reaches a terminal is harmless, and stands in columns."""

import json

import pytest

from simhash_pipeline.printable import aligned, printable, printable_lines


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("海港的雾 – ça va?", "海港的雾 – ça va?"),
        ("a\u3000b\u00a0c", "a\u3000b\u00a0c"),  # spaces of other widths
        ("नि\u200dत", "नि\u200dत"),  # a joiner inside a word
        ("\x1b[31mred", "\\u001b[31mred"),
        ("\x9b2J", "\\u009b2J"),  # one character that is an escape and a bracket
        ("a\rb\nc\td\x7f", "a\\rb\\nc\\td\\u007f"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("\u2028\ufeff\ud800", "\\u2028\\ufeff\\ud800"),
    ],
)
def test_what_could_steer_a_terminal_is_spelt_out(text: str, told: str) -> None:
    assert printable(text) == told


def test_json_that_is_made_printable_means_the_same() -> None:
    values = ['\x1b\x7f\x9b\u202e\u2028\n\t"\\', "海港\U000e0001\U0001f600"]
    line = printable(json.dumps(values, ensure_ascii=False))
    assert line.isprintable()
    assert "海港" in line
    assert json.loads(line) == values


def test_lines_stay_lines() -> None:
    assert printable_lines("one\n\ttwo\x1b") == "one\n        two\\u001b"


def test_columns_count_a_chinese_character_twice() -> None:
    assert aligned([("港口", "1", "x"), ("a", "10", "")], right=[1]) == "港口   1  x\na     10"


def test_columns_count_no_mark_and_a_family_once() -> None:
    assert aligned([("กั", "x"), ("a", "x"), ("👨\u200d👩\u200d👧", "x")]) == (
        "กั   x\na   x\n👨\u200d👩\u200d👧  x"
    )
