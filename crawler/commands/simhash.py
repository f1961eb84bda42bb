"""`scrapy simhash` in a clone in which the package is not installed."""

from simhash_pipeline.cli.simhash import SimhashCommand


class Command(SimhashCommand):
    """An installed package brings this command itself."""
