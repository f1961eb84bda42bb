"""What commands print: JSON or words, and nothing that could steer a terminal."""

from __future__ import annotations

import argparse
import json
import re
import unicodedata
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeVar

from tqdm import tqdm  # type: ignore[import-untyped]  # it has no type hints

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

T = TypeVar("T")

# They join letters of Persian, of India's scripts and of emoji, and steer nothing.
JOINERS = "\u200c\u200d"


def printable(text: str) -> str:
    """The text in one line, with what could steer a terminal written as in JSON: \\u001b.

    That is control and format characters, turned writing directions among them, and halves of
    surrogate pairs. JSON stays JSON, with the same meaning.
    """
    return text if text.isprintable() else "".join(map(_printable, text))


def printable_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "\n".join(printable(line.expandtabs()) for line in text.split("\n"))


def add_json(parser: argparse.ArgumentParser) -> None:
    """`--json`, alike for all commands."""
    parser.add_argument(
        "--json", action="store_true", help="print JSON: one object a line, for programs"
    )


def tell(record: Mapping[str, Any], words: str, *, as_json: bool) -> None:
    """Print one object as a line of JSON, or what it is in words."""
    if as_json:
        print(printable(json.dumps(record, ensure_ascii=False)))
    else:
        print(printable_lines(words))


def aligned(rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Rows of as many cells each as lines of columns; those numbered in `right` end evenly."""
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            _padded(cell, width, at_left=place in right)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def progress(things: Iterable[T], unit: str, total: int | None = None) -> Iterator[T]:
    """The things, telling on the way how many have come; silent where stderr is no terminal."""
    return iter(tqdm(things, total=total, unit=f" {unit}", leave=False, disable=None))


def size(size_bytes: float) -> str:
    """Three digits and a unit: 238 GiB."""
    units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while size_bytes >= 999.5 and len(units) > 1:
        size_bytes /= 1024
        del units[0]
    return f"{size_bytes:.3g} {units[0]}"


def iso(seconds: float) -> str:
    """Unix seconds as JSON tells them: 2026-11-03T10:12:09Z."""
    return _moment(seconds, "%Y-%m-%dT%H:%M:%SZ")


def minute(seconds: float) -> str:
    """Unix seconds as people are told them, in UTC: 2026-11-03 10:12."""
    return _moment(seconds, "%Y-%m-%d %H:%M")


def fingerprint_hex(fingerprint: int | None, bits: int) -> str | None:
    """All its digits, 16 of 64 bits; None for none."""
    return None if fingerprint is None else f"{fingerprint:0{bits // 4}x}"


def count(text: str) -> int:
    """An argument that must be a whole number, 1 or more."""
    if not re.fullmatch("0*[1-9][0-9]{0,9}", text):
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more, not {text!r}")
    return int(text)


def _moment(seconds: float, form: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime(form)
    except (OverflowError, OSError, ValueError):  # an imported file may say anything
        return str(seconds)


def _printable(character: str) -> str:
    harmless = character.isprintable() or character in JOINERS
    if harmless or unicodedata.category(character) == "Zs":
        return character
    return json.dumps(character)[1:-1]


def _padded(cell: str, width: int, *, at_left: bool) -> str:
    spaces = " " * (width - _width(cell))
    return spaces + cell if at_left else cell + spaces


def _width(text: str) -> int:
    """Columns of a terminal: a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
