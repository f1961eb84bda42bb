"""Text, tables and progress for people: in colour on a terminal, plain when piped.

Nothing that a page contains steers the terminal: control characters are made visible, and markup
is never interpreted. Rich is imported when it is needed, so that a command starts without it.
"""

from __future__ import annotations

import json
import sys
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias, TypeVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn
    from rich.text import Text

T = TypeVar("T")

# They join letters of Persian, of India's scripts and of emoji, and steer nothing.
JOINERS = "\u200c\u200d"
_UNBOUNDED = 1_000_000  # columns: nothing is wrapped
_COLOURS = {"cyan": "█+", "red": r"\[-.*?(-\]|$)", "green": r"\{\+.*?(\+\}|$)"}
SHOW_AFTER_SECS = 0.5  # of work, a progress bar
_REDRAW_SECS = 0.1


class Heading(str):
    """A line that begins a section: bold on a terminal."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells in columns; a terminal that is too narrow wraps one of them."""

    rows: Sequence[Sequence[str]]
    right: Collection[int] = ()  # numbers of the columns that are aligned to the right
    indent: int = 0
    wraps: int = -1  # number of the column that may be wrapped; from the end if negative


Line: TypeAlias = "str | Grid"  # a string is one line: a newline in it is made visible


def printable(text: str) -> str:
    """The text in one line, with what could steer a terminal written as in JSON: \\u001b.

    That is control and format characters, and halves of surrogate pairs. JSON stays JSON.
    """
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    harmless = character.isprintable() or character in JOINERS
    if harmless or unicodedata.category(character) == "Zs":
        return character
    return json.dumps(character)[1:-1]


def bar(count: float, most: float, columns: int) -> str:
    """A bar that is there for every count above 0, and `columns` long for the most."""
    return "█" * max(round(count / most * columns), 1 if count else 0)


def print_json(record: Mapping[str, Any]) -> None:
    """Print an object as one line of JSON; other characters than ASCII's only where they can be."""
    has_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    print(printable(json.dumps(record, ensure_ascii=not has_unicode)))


def print_lines(lines: Iterable[Line]) -> None:
    """Print for people: row by row on a terminal, else all at once."""
    if sys.stdout.isatty():
        console = _console(sys.stdout)
        for row in chain.from_iterable(drawn(line, console) for line in lines):
            console.print(row, soft_wrap=True)
    else:
        print("\n".join(chain.from_iterable(map(_plain, lines))))


def _plain(line: Line) -> Iterable[str]:
    if isinstance(line, str):
        return [printable(line.expandtabs())]
    return (row.plain for row in drawn(line, _console(sys.stdout)))


def drawn(line: Line, console: Console) -> Iterator[Text]:
    """The rows that a console shows, without blanks at their ends."""
    if not isinstance(line, str):
        return _table_rows(line, console)
    return _wrapped(_styled(line, "bold" if isinstance(line, Heading) else ""), console)


def progress(things: Iterable[T], unit: str, total: int | None = None) -> Iterator[T]:
    """The things, with a progress bar where stderr is a terminal."""
    with progress_bar(unit, total) as advance:
        for thing in things:
            yield thing
            advance(1)


@contextmanager
def progress_bar(
    unit: str, total: int | None = None, description: str = ""
) -> Iterator[Callable[..., object]]:
    """What to call with each number of things done, and a note; the unit "B" is for bytes.

    The bar is drawn on stderr, if that is a terminal, after a moment, and removed at the end.
    """
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    shown = _progress(unit)
    task = shown.add_task(printable(description), total=total, note="")
    done, draw_at = 0, time.monotonic() + SHOW_AFTER_SECS

    def advance(number: int, note: str = "") -> None:
        nonlocal done, draw_at
        done += number
        if time.monotonic() > draw_at:
            draw_at = time.monotonic() + _REDRAW_SECS
            shown.start()  # does nothing the second time
            shown.update(task, completed=done, note=note, refresh=True)

    try:
        yield advance
    finally:
        shown.stop()


def _progress(unit: str) -> Progress:
    from rich import progress as rich

    counts: list[ProgressColumn] = [rich.DownloadColumn(binary_units=True)]
    if unit != "B":
        counts = [rich.MofNCompleteColumn(), rich.TextColumn(unit, markup=False)]
    return rich.Progress(
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        *counts,
        rich.TextColumn("{task.fields[note]}", markup=False),
        rich.TimeRemainingColumn(),
        rich.TextColumn("left", markup=False),
        console=_console(sys.stderr),
        auto_refresh=False,  # by a thread, beside which no process should be forked
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def _console(file: TextIO) -> Console:
    from rich.console import Console

    width = None if file.isatty() else _UNBOUNDED
    return Console(file=file, width=width, highlight=False, markup=False, emoji=False)


def _styled(text: str, style: str = "") -> Text:
    from rich.text import Text

    styled = Text(printable(text.expandtabs()), style)
    for colour, pattern in _COLOURS.items():
        styled.highlight_regex(pattern, colour)
    return styled


def _wrapped(text: Text, console: Console) -> Iterator[Text]:
    """The line in lines of words that are indented alike; as it is if it has a word of a line.

    That is a URL mostly. A terminal wraps such a line itself, and copies the URL as one.
    """
    indent = len(text.plain) - len(text.plain.lstrip())
    columns = console.width - indent
    if text.cell_len <= console.width or any(len(word) > columns for word in text.plain.split()):
        yield text
        return
    for row in text[indent:].wrap(console, columns):
        row.rstrip()
        yield type(text)(" " * indent).append_text(row)


def _table_rows(grid: Grid, console: Console) -> Iterator[Text]:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    columns = range(len(grid.rows[0]) if grid.rows else 0)
    for column in columns:
        justify: Literal["right", "left"] = "right" if column in grid.right else "left"
        table.add_column(justify=justify, no_wrap=column != columns[grid.wraps], overflow="fold")
    for cells in grid.rows:
        table.add_row(*map(_styled, cells))
    options = console.options.update_width(console.width - grid.indent)
    for parts in console.render_lines(table, options, pad=False):
        row = Text.assemble(" " * grid.indent, *((part.text, part.style or "") for part in parts))
        row.rstrip()
        yield row
