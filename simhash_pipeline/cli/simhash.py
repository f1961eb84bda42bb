"""`scrapy simhash <command>`: hands over to one of COMMANDS, each a class in a file of its own.

Scrapy finds it by the entry point group `scrapy.commands`, inside a project and outside.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from dataclasses import dataclass
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from simhash_pipeline.cli import stores
from simhash_pipeline.cli.compare import CompareCommand
from simhash_pipeline.cli.copy import CopyCommand
from simhash_pipeline.cli.dedup import DedupCommand
from simhash_pipeline.cli.drops import DroppedCommand, ReportCommand
from simhash_pipeline.cli.explain import ExplainCommand
from simhash_pipeline.cli.fetch import needs_crawl
from simhash_pipeline.cli.fingerprint import FingerprintCommand
from simhash_pipeline.cli.learn import LearnCommand
from simhash_pipeline.cli.plan import PlanCommand
from simhash_pipeline.cli.store_info import InfoCommand
from simhash_pipeline.cli.store_pages import FindCommand, ListCommand
from simhash_pipeline.cli.tune import TuneCommand
from simhash_pipeline.crawl.settings import settings_of_spider
from simhash_pipeline.errors import SimhashError
from simhash_pipeline.printable import printable

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class Command(Protocol):
    """One `scrapy simhash` command; `summary` is its line in the help.

    Where its exit code answers something, or there is more to know, the parser's epilog tells.
    """

    name: str
    summary: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        """Print the answer and return the exit code; UsageError and SimhashError make it 2."""
        ...


@dataclass(frozen=True, slots=True)
class Group:
    """Commands under one name, as in `scrapy simhash store list`."""

    name: str
    summary: str
    commands: tuple[Command, ...]


COMMANDS: tuple[Command | Group, ...] = (
    CompareCommand(),
    DedupCommand(),
    DroppedCommand(),
    ExplainCommand(),
    FingerprintCommand(),
    LearnCommand(),
    PlanCommand(),
    ReportCommand(),
    Group(
        "store",
        "look into the store of a crawl, and look after it",
        (
            InfoCommand(),
            ListCommand(),
            FindCommand(),
            stores.RemoveCommand(),
            stores.ExpireCommand(),
            stores.ClearCommand(),
            stores.ExportCommand(),
            stores.ImportCommand(),
            CopyCommand(),
            stores.CheckCommand(),
        ),
    ),
    TuneCommand(),
)

# As shells report programs that these signals ended.
PIPE_CLOSED = 128 + 13
INTERRUPTED = 128 + 2


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
        parser.prog = "scrapy simhash"
        # Scrapy makes this parser, which would print its usage before what is wrong.
        parser.error = MethodType(_say_in_one_line, parser)  # type: ignore[method-assign]  # of it alone
        self._add_commands(parser, parser.prog, COMMANDS)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        if not hasattr(opts, "command"):
            if not hasattr(opts, "parser"):
                raise UsageError  # prints the help
            opts.parser.print_help()
            sys.exit(2)
        if args:
            opts.parser.error(f"unrecognized arguments: {' '.join(args)}")
        try:
            super().process_options(args, opts)
        except UsageError as error:
            opts.parser.error(str(error))
        # Scrapy looks at this after the options.
        self.requires_crawler_process = needs_crawl(opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if self.settings is None:
            raise TypeError("Scrapy sets a command's settings before it runs")
        opts.crawler_process = self.crawler_process
        if isinstance(sys.stdout, io.TextIOWrapper):  # whatever a title holds can be told
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            spider: str | None = getattr(opts, "spider", None)
            settings = settings_of_spider(spider, self.settings) if spider else self.settings
            self.exitcode = opts.command.run(opts, settings)
            sys.stdout.flush()
        except (UsageError, SimhashError) as error:
            opts.parser.error(str(error))
        except BrokenPipeError:  # as in `| head`
            self.exitcode = PIPE_CLOSED
            # What is left in the buffer goes nowhere, without another complaint.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            reason = error.strerror or str(error)  # not every library's errors have both
            opts.parser.error(f"{error.filename or 'output'}: {reason}")
        except KeyboardInterrupt:
            self.exitcode = INTERRUPTED

    def _add_commands(
        self, parser: argparse.ArgumentParser, prog: str, commands: tuple[Command | Group, ...]
    ) -> None:
        under = parser.add_subparsers(
            title="commands", prog=prog, metavar="command", parser_class=_OneLineParser
        )
        for command in commands:
            if isinstance(command, Group):
                group = under.add_parser(
                    command.name, help=command.summary, description=command.summary
                )
                group.set_defaults(parser=group)
                self._add_commands(group, f"{prog} {command.name}", command.commands)
                continue
            leaf = under.add_parser(command.name, help=command.summary, description=command.summary)
            command.add_arguments(leaf)
            super().add_options(leaf)
            leaf.set_defaults(command=command, parser=leaf)


class _OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, not under five lines of usage."""

    def error(self, message: str) -> NoReturn:
        _say_in_one_line(self, message)


def _say_in_one_line(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    parser.exit(2, f"{parser.prog}: {printable(message)} (see {parser.prog} -h)\n")
