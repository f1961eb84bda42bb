"""What people type, as types of argparse: counts, ages and sizes, alike for all commands."""

from __future__ import annotations

import argparse
import re

_SECS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def count(text: str) -> int:
    """A whole number, 1 or more."""
    if not re.fullmatch("0*[1-9][0-9]{0,9}", text):
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more, not {text!r}")
    return int(text)


def age_secs(text: str) -> int:
    """Seconds of an age of one or more: 30m, 2h, 3d."""
    age = re.fullmatch("(0*[1-9][0-9]{0,8})([smhdw])", text)
    if age is None:
        rule = "must be 1 or more, and s, m, h, d or w, as 90d"
        raise argparse.ArgumentTypeError(f"{rule}, not {text!r}")
    return int(age[1]) * _SECS[age[2]]


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
