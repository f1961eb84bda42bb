"""The page of all commands, made from their parsers: `python -m tests.commands_page`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from scrapy.settings import Settings

from simhash_pipeline.cli.simhash import COMMANDS, SimhashCommand
from tests.documents import DOCS

PAGE = DOCS / "reference/command-options.md"
HEAD = """# All commands and options

Made from the code by `python -m tests.commands_page`. Each command is there as `scrapy simhash` and
as `simhash`; `--help` prints the same. Each takes `-s NAME=VALUE`, as often as needed: a setting in
place of the project's.
"""


def page() -> str:
    return HEAD + "".join(_section(name) for name in COMMANDS if name != "store")


def _section(name: str) -> str:
    parser = argparse.ArgumentParser()
    command = SimhashCommand()
    command.settings = Settings()
    command._add_arguments(parser, name)
    rows = "".join(f"| `{usage}` | {meaning} |\n" for usage, meaning in _arguments(parser))
    table = f"\n| argument | meaning |\n|---|---|\n{rows}" if rows else ""
    behind = f"\n{_cell(parser.epilog)}\n" if parser.epilog else ""
    summary = COMMANDS[name]
    return f"\n## {name}\n\n{summary[0].upper()}{summary[1:]}.\n{table}{behind}"


def _arguments(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    formatter = parser._get_formatter()
    for group in parser._action_groups:
        if group.title == "settings":  # -s, which the head of the page describes
            continue
        for action in group._group_actions:
            if action.help is argparse.SUPPRESS or isinstance(action, argparse._HelpAction):
                continue
            value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
            usage = ", ".join(action.option_strings) + value if action.option_strings else value[1:]
            meaning = formatter._expand_help(action) if action.help else ""
            yield usage.replace("|", "\\|"), _cell(meaning)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
