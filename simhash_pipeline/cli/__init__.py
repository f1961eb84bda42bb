"""The command `simhash`: `scrapy simhash` without a word before it."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that stands on the command line."""
    from scrapy.cmdline import execute  # here, as each process that `dedup` starts reads this file

    execute(["scrapy", "simhash", *sys.argv[1:]])
