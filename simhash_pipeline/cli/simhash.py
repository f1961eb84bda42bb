"""`scrapy simhash <command>`: hands over to one of COMMANDS, and turns errors into one line.

Scrapy finds it by the entry point group `scrapy.commands`, inside a project and outside. It loads
this file at every start, so a command is imported only when it is named.
"""

import argparse
import importlib
import io
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import MethodType
from typing import Any, ClassVar, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

import simhash_pipeline
from simhash_pipeline.errors import SimhashError
from simhash_pipeline.native import kind
from simhash_pipeline.terminal import printable

# A command is a class named by its last word: `store info` is InfoCommand.
COMMANDS = {
    "compare": "compare two pages: distances, changed words, and whether a crawl would drop one",
    "dedup": "find the near-duplicates in archives: WARC, feeds, Parquet, folders",
    "dropped": "count what was dropped and why, and list the drops to check first",
    "explain": "explain why a page was dropped or kept",
    "judge": "judge pages from standard input, for any crawler",
    "report": "write the drops as one HTML file for the browser",
    "rules": "find the query keys that lead to the same pages, to request fewer",
    "settings": "print the settings in force, where each is set, and what they mean for the store",
    "store": "inspect and maintain a crawl's store",
    "store info": "print what a store contains, how it was made, and any damage",
    "store forget": "forget the pages of these URLs, those not seen for an age, or all",
    "store copy": "copy the pages of one store into another, for example to Redis",
    "tune": "recommend thresholds from the pairs you reviewed",
}

# The files of their classes, by the first word; of others the file has the word's own name.
_FILES = {
    **dict.fromkeys(("compare", "explain"), "page"),
    **dict.fromkeys(("dropped", "report", "rules"), "drops"),
    "dedup": "judge",
    "settings": "store",
}

# As shells report programs that these signals ended.
PIPE_CLOSED = 128 + 13
INTERRUPTED = 128 + 2


class SimhashCommand(ScrapyCommand):
    """The class that the entry point names."""

    requires_project = False
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "<command> [options]"

    def short_desc(self) -> str:
        return f"Near-duplicate detection: {', '.join(_names(''))}"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.prog = "simhash" if Path(sys.argv[0]).stem == "simhash" else "scrapy simhash"
        parser.usage = f"{parser.prog} {self.syntax()}"
        # Scrapy makes this parser, whose own method prints the usage before the error.
        parser.error = MethodType(Parser.error, parser)  # type: ignore[method-assign]  # of it alone
        version = f"simhash_pipeline {simhash_pipeline.__version__} ({kind()})"
        parser.add_argument("--version", action="version", version=version)
        self._add_commands(parser)

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
        self.requires_crawler_process = any(map(is_url, getattr(opts, "page_names", ())))

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if self.settings is None:
            raise TypeError("Scrapy sets a command's settings before it runs")
        opts.crawler_process = self.crawler_process
        if isinstance(sys.stdout, io.TextIOWrapper):  # any title can be printed
            sys.stdout.reconfigure(errors="backslashreplace")
        message = self._run(opts, self.settings)
        if message is not None:  # by now the progress bars of the error's frames are gone
            opts.parser.exit(2, f"{opts.parser.prog}: {printable(message)}\n")

    def _run(self, opts: argparse.Namespace, settings: BaseSettings) -> str | None:
        """Set the exit code; the message of an error."""
        try:
            if spider := getattr(opts, "spider", None):
                from simhash_pipeline.crawl.settings import settings_of_spider

                settings = settings_of_spider(spider, settings)
            opts.command.arguments, opts.command.settings = opts, settings
            self.exitcode = opts.command.run()
            sys.stdout.flush()
        except UsageError as error:
            return f"{error} (see {opts.parser.prog} -h)"
        except SimhashError as error:
            return str(error)
        except BrokenPipeError:  # as in `| head`
            self.exitcode = PIPE_CLOSED
            # What is left in the buffer goes nowhere, without another complaint.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            reason = error.strerror or str(error)  # not every library's errors have both
            return f"{error.filename or 'output'}: {reason}"
        except KeyboardInterrupt:
            self.exitcode = INTERRUPTED
        return None

    def _add_commands(self, parser: argparse.ArgumentParser, group: str = "") -> None:
        under = parser.add_subparsers(
            title="commands", prog=parser.prog, metavar="command", parser_class=Parser
        )
        for name in _names(group):
            full_name = f"{group}{name}"
            summary = COMMANDS[full_name]
            child = under.add_parser(name, help=summary, description=summary)
            if any(_names(f"{full_name} ")):
                child.set_defaults(parser=child)
                self._add_commands(child, f"{full_name} ")
            else:
                child.add_arguments = partial(self._add_arguments, child, full_name)

    def _add_arguments(self, parser: "Parser", name: str) -> None:
        words = name.split()
        file = _FILES.get(words[0], words[0])
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # see page/reader.py
        module = importlib.import_module(f"simhash_pipeline.cli.{file}")
        command: Any = getattr(module, f"{words[-1].capitalize()}Command")()
        parser.epilog = command.epilog
        command.add_arguments(parser)
        what = "override a setting of the project (may be repeated)"
        group = parser.add_argument_group("settings")
        group.add_argument(
            "-s", "--set", action="append", default=[], metavar="NAME=VALUE", help=what
        )
        # Scrapy reads more options of each command, which log or profile.
        off = dict.fromkeys(("logfile", "loglevel", "nolog", "profile", "pidfile", "pdb"))
        parser.set_defaults(command=command, parser=parser, **off)


def _names(group: str) -> list[str]:
    """The last words of the commands in a group, such as "store "; in "" those of one word."""
    names = (name.removeprefix(group) for name in COMMANDS if name.startswith(group))
    return [name for name in names if " " not in name]


def is_url(name: str) -> bool:
    """Whether a page is fetched; else it is a file's name or URL."""
    return name.lower().startswith(("http://", "https://"))


class Parser(argparse.ArgumentParser):
    """Reports an error in one line, and gets its arguments when it is to parse some."""

    add_arguments: Callable[[], None] | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        add_arguments, self.add_arguments = self.add_arguments, None
        if add_arguments is not None:
            add_arguments()
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message)} (see {self.prog} -h)\n")

    def add(self, names: str, meaning: str, **how: Any) -> None:
        """Add an argument, such as "-o, --output"; a default is printed behind its meaning."""
        default = f" (default: {how['default']})" if "default" in how else ""
        self.add_argument(*names.split(", "), help=f"{meaning}{default}", **how)

    def flag(self, name: str, meaning: str) -> None:
        """Add an option without a value, which is False unless it is given."""
        self.add_argument(name, action="store_true", help=meaning)

    def add_store(self) -> None:
        group = self.add_argument_group(
            "which store",
            "Default: SIMHASH_STORE if it is set, else the only store of the project.",
        ).add_mutually_exclusive_group()
        what = "its URL, as sqlite:///seen.sqlite, or an SQLite file"
        group.add_argument("-S", "--store", help=what)
        group.add_argument("--spider", help="the store of this spider's crawls")

    def add_json(self) -> None:
        self.flag("--json", "print JSON: one object a line, for programs")

    def add_log(self) -> None:
        what = "a drop log, or a result of `dedup` (default: that of the project)"
        self.add_argument("log", nargs="?", default=argparse.SUPPRESS, help=what)
        self.add("--log", "the same as log")
