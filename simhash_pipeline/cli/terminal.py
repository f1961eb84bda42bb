"""What commands tell: JSON or words, how far they are, sizes and times."""

from __future__ import annotations

import argparse
import json
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tqdm import tqdm  # type: ignore[import-untyped]  # it has no type hints

from simhash_pipeline.printable import printable, printable_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

T = TypeVar("T")

_PROGRESS: dict[str, Any] = {"leave": False, "disable": None}  # None: quiet when no terminal


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


def progress(things: Iterable[T], unit: str, total: int | None = None) -> Iterator[T]:
    """The things, telling on the way how many have come; silent where stderr is no terminal."""
    return iter(tqdm(things, total=total, unit=f" {unit}", **_PROGRESS))


@contextmanager
def reading(path: Path) -> Iterator[Callable[[int], object] | None]:
    """What to call with each number of bytes read of a file; None where stderr is no terminal."""
    total = path.stat().st_size if path.is_file() else None
    with tqdm(total=total, unit="B", unit_scale=True, **_PROGRESS) as bar:
        yield None if bar.disable else bar.update


def size(size_bytes: float) -> str:
    """Three digits and a unit: 238 GiB."""
    units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while size_bytes >= 999.5 and len(units) > 1:
        size_bytes /= 1024
        del units[0]
    return f"{size_bytes:.3g} {units[0]}"


def counted(number: int, thing: str) -> str:
    """1 bit, 2 bits."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def iso(seconds: float) -> str:
    """Unix seconds as JSON tells them: 2026-11-03T10:12:09Z."""
    return _moment(seconds, "%Y-%m-%dT%H:%M:%SZ")


def minute(seconds: float) -> str:
    """Unix seconds as people are told them, in UTC: 2026-11-03 10:12."""
    return _moment(seconds, "%Y-%m-%d %H:%M")


def _moment(seconds: float, form: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime(form)
    except (OverflowError, OSError, ValueError):  # a file may say anything
        return str(seconds)
