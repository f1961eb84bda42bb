"""What reaches a terminal is harmless, stands in columns, and is plain when it is piped."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

import pytest

from simhash_pipeline.terminal import (
    Grid,
    Line,
    drawn,
    print_json,
    print_lines,
    printable,
    progress,
    progress_bar,
)


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


if TYPE_CHECKING:
    from collections.abc import Iterator


def test_json_that_is_made_printable_means_the_same() -> None:
    values = ['\x1b\x7f\x9b\u202e\u2028\n\t"\\', "海港\U000e0001\U0001f600"]
    line = printable(json.dumps(values, ensure_ascii=False))
    assert line.isprintable()
    assert "海港" in line
    assert json.loads(line) == values


def shown(line: Line) -> list[str]:
    return list(drawn(line))


def test_a_string_is_one_line_whatever_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines(["one\n\ttwo\x1b", "[red]three[/] :smile:", ""])
    assert capsys.readouterr().out == "one\\n        two\\u001b\n[red]three[/] :smile:\n\n"


def test_columns_count_a_chinese_character_twice() -> None:
    grid = Grid([("港口", "1", "x"), ("a", "10", "")], right=[1])
    assert shown(grid) == ["港口   1  x", "a     10"]


def test_columns_count_no_mark_and_a_family_once() -> None:
    family = "👨\u200d👩\u200d👧"
    assert shown(Grid([("กั", "x"), ("a", "x"), (family, "x")])) == [
        "กั   x",
        "a   x",
        f"{family}  x",
    ]


def test_a_cell_is_no_markup_and_steers_nothing() -> None:
    assert shown(Grid([("[bold]x[/]", "\x1b[31m:smile:")], indent=2)) == [
        "  [bold]x[/]  \\u001b[31m:smile:"
    ]


def test_in_an_ascii_locale_json_is_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
    monkeypatch.setattr("sys.stdout", output)
    print_json({"title": "é 港"})
    output.seek(0)
    assert output.read() == '{"title": "\\u00e9 \\u6e2f"}\n'


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Stdout and stderr, as a terminal of 80 columns."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    shown = Terminal()
    monkeypatch.setattr("sys.stdout", shown)
    monkeypatch.setattr("sys.stderr", shown)
    return shown


def test_a_terminal_is_shown_each_row_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)

    def lines() -> Iterator[Line]:
        yield "Reason"
        assert terminal.getvalue() == "Reason\n"
        yield Grid([("content", "██")])

    print_lines(lines())
    assert terminal.getvalue() == "Reason\ncontent  ██\n"


def test_a_progress_bar_is_taken_away_after_an_error_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    monkeypatch.setattr("simhash_pipeline.terminal.SHOW_AFTER_SECS", -1.0)

    def fail() -> None:
        with progress_bar("pages", 9, "a\x1b") as advance:
            advance(3)
            raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        fail()
    shown = terminal.getvalue()
    assert "3/9" in shown
    assert "a\\u001b" in shown
    assert "\x1b[?25h" in shown  # the cursor is back
    assert shown.endswith("\x1b[1A\x1b[2K")  # and the line is empty


def test_a_progress_bar_has_a_note_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    monkeypatch.setattr("simhash_pipeline.terminal.SHOW_AFTER_SECS", -1.0)
    monkeypatch.setenv("COLUMNS", "110")
    with progress_bar("files", 9) as advance:
        advance(1, "3 pages, 2 drops")
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
    assert re.search(r"1/9 files 3 pages, 2 drops \S+ left", plain)


def test_work_of_a_moment_has_no_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    assert list(progress(range(3), "pages")) == [0, 1, 2]
    assert terminal.getvalue() == ""
