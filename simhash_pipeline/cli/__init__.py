"""The command `simhash`: what stands on the command line, without `scrapy simhash` before it."""

import sys


def main() -> None:
    from scrapy.cmdline import execute  # here, as each process that `dedup` starts reads this file

    execute(["scrapy", "simhash", *sys.argv[1:]])
