"""`scrapy simhash <command>`: hands over to one of COMMANDS, each a class in a file of its own.

Scrapy finds it by the entry point group `scrapy.commands`, inside a project and outside.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from simhash_pipeline.crawl.learn import LearnCommand
from simhash_pipeline.crawl.plan import PlanCommand
from simhash_pipeline.crawl.stores import CheckCommand, ExpireCommand, ExportCommand, ImportCommand
from simhash_pipeline.errors import SimhashError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class Command(Protocol):
    """One `scrapy simhash` command; `summary` is its line in the help."""

    name: str
    summary: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        """Print the answer and return the exit code; UsageError and SimhashError make it 2."""
        ...


COMMANDS: tuple[Command, ...] = (
    CheckCommand(),
    ExpireCommand(),
    ExportCommand(),
    ImportCommand(),
    LearnCommand(),
    PlanCommand(),
)


class SimhashCommand(ScrapyCommand):
    """What the entry point names: hands over to one of COMMANDS."""

    requires_project = False
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "<command> [options]"

    def short_desc(self) -> str:
        return f"Near-duplicate detection: {', '.join(command.name for command in COMMANDS)}"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        commands = parser.add_subparsers(
            title="commands",
            prog="scrapy simhash",
            metavar="command",
            parser_class=_OneLineParser,
        )
        for command in COMMANDS:
            under = commands.add_parser(
                command.name, help=command.summary, description=command.summary
            )
            command.add_arguments(under)
            super().add_options(under)
            under.set_defaults(command=command, parser=under)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        if not hasattr(opts, "command"):
            raise UsageError  # prints the help
        if args:
            opts.parser.error(f"unrecognized arguments: {' '.join(args)}")
        try:
            super().process_options(args, opts)
        except UsageError as error:
            opts.parser.error(str(error))

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if self.settings is None:
            raise TypeError("Scrapy sets a command's settings before it runs")
        try:
            self.exitcode = opts.command.run(opts, self.settings)
        except (UsageError, SimhashError) as error:
            opts.parser.error(str(error))


class _OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, not under five lines of usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} -h)\n")
