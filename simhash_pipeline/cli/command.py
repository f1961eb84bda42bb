"""What commands share: their shape, and their results, printed as JSON or for people."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, ClassVar

from simhash_pipeline.terminal import print_json, print_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from scrapy.settings import BaseSettings

    from simhash_pipeline.terminal import Line


class Command:
    """One `scrapy simhash` command."""

    epilog: ClassVar[str | None] = None  # of its help; explains an exit code other than 0 and 2
    takes_a_store: ClassVar[bool] = False  # by --store or --spider
    prints_json: ClassVar[bool] = True  # with --json

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add what only this command takes."""

    def needs_crawl(self, arguments: argparse.Namespace) -> bool:
        """Whether a page has to be fetched."""
        return False

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        """Print the result and return the exit code; UsageError and SimhashError make it 2."""
        raise NotImplementedError


class Result:
    """A subclass is a dataclass; its fields are the keys of its JSON, or `record` has others."""

    __slots__ = ()
    TEXT: ClassVar[str] = ""

    def record(self) -> dict[str, Any]:
        """The result for programs."""
        fields = dataclasses.asdict(self)  # type: ignore[call-overload]  # of a subclass
        return dict(fields)

    def lines(self) -> Iterable[Line]:
        """The result for people; by default one line of TEXT."""
        return [self.TEXT.format_map(self.record())]


def fields(thing: object, *names: str) -> dict[str, Any]:
    """These attributes by their names."""
    return {name: getattr(thing, name) for name in names}


def print_result(result: Result, arguments: argparse.Namespace) -> None:
    if arguments.json:
        print_json(result.record())
    else:
        print_lines(result.lines())


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
    """Unix seconds in JSON: 2026-11-03T10:12:09Z."""
    return _moment(seconds, "%Y-%m-%dT%H:%M:%SZ")


def minute(seconds: float) -> str:
    """Unix seconds for people, in UTC: 2026-11-03 10:12."""
    return _moment(seconds, "%Y-%m-%d %H:%M")


def to_minute(time: str) -> str:
    """The same of a time in JSON."""
    return time[:16].replace("T", " ")


def _moment(seconds: float, form: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime(form)
    except (OverflowError, OSError, ValueError):  # a file may hold any number
        return str(seconds)
