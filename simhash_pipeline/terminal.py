"""Text, tables and progress for people, the last on a terminal alone.

Nothing that a page contains steers the terminal: control characters are made visible, and markup
is never interpreted. Rich is imported when it is needed, so that a command starts without it.
"""

import json
import sys
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

# They join letters of Persian, of India's scripts and of emoji, and steer nothing.
JOINERS = "\u200c\u200d"
SHOW_AFTER_SECS = 0.5  # of work, a progress bar
_REDRAW_SECS = 0.1


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells in columns."""

    rows: Sequence[Sequence[str]]
    right: Collection[int] = ()  # numbers of the columns that are aligned to the right
    indent: int = 0


Line: TypeAlias = str | Grid  # a string is one line: a newline in it is made visible


def printable(text: str) -> str:
    """The text in one line, with what could steer a terminal written as in JSON: \\u001b.

    That is control and format characters, and halves of surrogate pairs. JSON stays JSON.
    """
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    if character.isprintable() or character in JOINERS or unicodedata.category(character) == "Zs":
        return character
    return json.dumps(character)[1:-1]


def counted(number: int, thing: str) -> str:
    """1 bit, 2 bits."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def bar(count: float, most: float, columns: int) -> str:
    """A bar that is there for every count above 0, and `columns` long for the most."""
    return "█" * max(round(count / most * columns), 1 if count else 0)


def print_json(record: Mapping[str, Any]) -> None:
    """Print an object as one line of JSON; other characters than ASCII's only where they can be."""
    has_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    print(printable(json.dumps(record, ensure_ascii=not has_unicode)))


def print_lines(lines: Iterable[Line]) -> None:
    """Print for people: row by row on a terminal, else all at once."""
    rows = chain.from_iterable(map(drawn, lines))
    for text in rows if sys.stdout.isatty() else ["\n".join(rows)]:
        print(text)


def drawn(line: Line) -> Iterator[str]:
    """The rows of a line, those of a grid without blanks at their ends."""
    if isinstance(line, str):
        yield printable(line.expandtabs())
        return
    from rich.cells import cell_len

    rows = [[printable(cell.expandtabs()) for cell in row] for row in line.rows]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (width - cell_len(cell))
            cells.append(f"{blanks}{cell}" if column in line.right else f"{cell}{blanks}")
        yield (" " * line.indent + "  ".join(cells)).rstrip()


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
    """What to call with each number of things done, and a note.

    The bar is drawn on stderr, if that is a terminal, after a moment, and removed at the end.
    """
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich import progress as rich
    from rich.console import Console

    shown = rich.Progress(
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn(unit, markup=False),
        rich.TextColumn("{task.fields[note]}", markup=False),
        rich.TimeRemainingColumn(),
        rich.TextColumn("left", markup=False),
        console=Console(stderr=True, highlight=False, markup=False, emoji=False),
        auto_refresh=False,  # by a thread, beside which no process should be forked
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    task = shown.add_task(printable(description), total=total, note="")
    done, draw_at = 0.0, time.monotonic() + SHOW_AFTER_SECS

    def advance(number: float, note: str = "") -> None:
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
