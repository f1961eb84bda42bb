"""What people type: numbers, ages and sizes as types of argparse, and options of many commands."""

from __future__ import annotations

import argparse
import dataclasses
import re
from functools import partial
from typing import TYPE_CHECKING

from simhash_pipeline.options import Options
from simhash_pipeline.rules import age_secs

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def add_text_field(parser: argparse.ArgumentParser) -> None:
    """The option of commands that read pages of archives; `archive_options` reads it."""
    parser.add_argument(
        "--text-field",
        metavar="FIELD",
        help="field or column that holds a text to be judged in place of a page",
    )


def archive_options(arguments: argparse.Namespace, settings: BaseSettings) -> Options:
    """The settings' options, with the field that --text-field names."""
    options = Options.from_settings(settings)
    if arguments.text_field is None:
        return options
    return dataclasses.replace(options, content_field=arguments.text_field)


def whole(least: int = 1) -> partial[int]:
    """The type of a whole number as people write it: 8e9, 8_000_000, 8,000,000 or 2^33."""
    return partial(_whole, least)


def _whole(least: int, text: str) -> int:
    digits = text.replace(",", "").replace("_", "")
    power = re.fullmatch(r"(\d{1,2})(?:\^|\*\*)(\d{1,2})", text)
    try:
        number = int(power[1]) ** int(power[2]) if power else int(digits)
    except ValueError:
        number = _exponential(digits)
    if number < least:
        raise argparse.ArgumentTypeError(f"must be a whole number, {least} or more, not {text!r}")
    return number


def _exponential(text: str) -> int:
    """8e9; -1 for what is no whole number."""
    try:
        return int(number) if (number := float(text)).is_integer() else -1
    except ValueError:
        return -1


def number_between(low: float, high: float) -> partial[float]:
    """The type of a number between these two, which are excluded."""
    return partial(_number_between, low, high)


def _number_between(low: float, high: float, text: str) -> float:
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        number = low
    if not low < number < high:
        raise argparse.ArgumentTypeError(
            f"must be a number between {low:g} and {high:g}, not {text!r}"
        )
    return number


def age(text: str) -> int:
    """Seconds of an age of one or more: 30m, 2h, 3d."""
    try:
        return age_secs(text)
    except ValueError:
        rule = "must be 1 or more, and s, m, h, d or w, as 90d"
        raise argparse.ArgumentTypeError(f"{rule}, not {text!r}") from None


def size_bytes(text: str) -> int:
    """Bytes of a size: 64GiB and 64G are 64 * 2^30, 64GB is 64 * 10^9."""
    size = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]+)?)\s*(?:([KMGTP])(I?B)?|B)?", text.upper())
    power = " KMGTP".index(size[2] or " ") if size else 0
    whole = int(float(size[1]) * (1000 if size[3] == "B" else 1024) ** power) if size else 0
    if whole < 1:
        raise argparse.ArgumentTypeError(
            f"must be a size of 1 byte or more, as 64GiB (2^30 each) or 2TB (10^12), not {text!r}"
        )
    return whole


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true", help="print JSON: one object a line, for programs"
    )


def add_store(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "which store",
        "Default: SIMHASH_STORE if it is set, else the only store of the project.",
    ).add_mutually_exclusive_group()
    group.add_argument("-S", "--store", help="its URL, as sqlite:///seen.sqlite, or an SQLite file")
    group.add_argument("--spider", help="the store of this spider's crawls")


def add_limit(parser: argparse.ArgumentParser, default: int | None, what: str) -> None:
    shown = "" if default is None else f" (default: {default})"
    parser.add_argument(
        "--limit", type=whole(), default=default, help=f"at most this many {what}{shown}"
    )
