"""What commands share: their shape, options, results for programs and people, and written files."""

from __future__ import annotations

import argparse
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, ClassVar

from scrapy.settings import BaseSettings

from simhash_pipeline.errors import SimhashError
from simhash_pipeline.options import age_secs
from simhash_pipeline.terminal import Line, print_json, print_lines

FILE = "file://"


class Command:
    """One `scrapy simhash` command."""

    epilog: ClassVar[str | None] = None  # of its help; explains an exit code other than 0 and 2
    takes_a_store: ClassVar[bool] = False  # by --store or --spider
    prints_json: ClassVar[bool] = True  # with --json

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add what only this command takes."""

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        """Print the result and return the exit code; UsageError and SimhashError make it 2."""
        raise NotImplementedError


def is_url(name: str) -> bool:
    """Whether a page is fetched; else it is a file's name or URL."""
    return name.lower().startswith(("http://", "https://"))


def fields(thing: object, *names: str) -> dict[str, Any]:
    """These attributes by their names."""
    return {name: getattr(thing, name) for name in names}


def print_result(
    record: Mapping[str, Any], lines: Iterable[Line], arguments: argparse.Namespace
) -> None:
    """The record with --json, else the lines for people."""
    if arguments.json:
        print_json(record)
    else:
        print_lines(lines)


@contextmanager
def atomic_write(path: Path, read: Iterable[Path] = ()) -> Iterator[Path]:
    """An empty file beside `path` that replaces it at the end of the block.

    If the block fails, the old file stays. SimhashError, before the block begins, for a path that
    can't be written and for one of the files that are `read`; and for an error of writing.
    """
    part = path.parent / f".{uuid.uuid4().hex}{path.suffix}"
    try:
        _refuse(path, read)
        part.touch()
        yield part
        part.replace(path)
    except OSError as error:
        if error.filename is not None and str(error.filename) != str(part):
            raise  # of another file, which it names
        # Arrow's own words for it name the part.
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise SimhashError(f"{path}: {reason}") from error
    finally:
        with suppress(OSError):  # it isn't there, or no file can be there
            part.unlink()


def _refuse(path: Path, read: Iterable[Path]) -> None:
    if not path.name or path.is_dir():
        raise SimhashError(f"{path} is a directory; name a file")
    if path.exists() and not path.is_file():
        raise SimhashError(f"{path} is not a regular file")
    if path.resolve() in {one.resolve() for one in read}:
        raise SimhashError(f"{path} is an input, and would be overwritten")


def counted(number: int, thing: str) -> str:
    """1 bit, 2 bits."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def iso(seconds: float) -> str:
    """Unix seconds in JSON: 2026-11-03T10:12:09Z."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):  # of a damaged store
        return str(seconds)


def minute(time: float | str) -> str:
    """Unix seconds, or a time in JSON, for people, in UTC: 2026-11-03 10:12."""
    return (time if isinstance(time, str) else iso(time))[:16].replace("T", " ")


def whole(text: str) -> int:
    """A whole number from 1 on."""
    if text.isdecimal() and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more, not {text!r}")


def share(text: str) -> float:
    """A number between 0 and 1, which are excluded."""
    with suppress(ValueError):
        if 0 < float(text) < 1:
            return float(text)
    raise argparse.ArgumentTypeError(f"must be a number between 0 and 1, not {text!r}")


def age(text: str) -> int:
    """Seconds of an age of one or more: 30m, 2h, 3d."""
    with suppress(ValueError):
        return age_secs(text)
    rule = "must be 1 or more, and s, m, h, d or w, as 90d"
    raise argparse.ArgumentTypeError(f"{rule}, not {text!r}")


def add(parser: argparse.ArgumentParser, names: str, meaning: str, **how: Any) -> None:
    """Add an argument, such as "-o, --output"; a default is printed behind its meaning."""
    default = f" (default: {how['default']})" if "default" in how else ""
    parser.add_argument(*names.split(", "), help=f"{meaning}{default}", **how)


def flag(parser: argparse.ArgumentParser, name: str, meaning: str) -> None:
    """Add an option without a value, which is False unless it is given."""
    parser.add_argument(name, action="store_true", help=meaning)


def add_store(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "which store",
        "Default: SIMHASH_STORE if it is set, else the only store of the project.",
    ).add_mutually_exclusive_group()
    group.add_argument("-S", "--store", help="its URL, as sqlite:///seen.sqlite, or an SQLite file")
    group.add_argument("--spider", help="the store of this spider's crawls")


def add_log(parser: argparse.ArgumentParser) -> None:
    what = "a drop log, or a result of `dedup` (default: that of the project)"
    parser.add_argument("log", nargs="?", default=argparse.SUPPRESS, help=what)
    add(parser, "--log", "the same as log")
