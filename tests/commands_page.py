"""The page of all commands, made from their parsers: `python -m tests.commands_page`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from scrapy.settings import Settings

from simhash_pipeline.cli.simhash import COMMANDS, Parser, SimhashCommand
from tests.documents import DOCS

PAGE = DOCS / "reference/commands.md"
HEAD = """# Commands

Each command exists as `scrapy simhash` and as `simhash`; `--help` prints the same. Each takes
`-s NAME=VALUE`, repeatedly: a setting in place of the project's. Where a section names them,

- `--json` prints JSON, one object a line;
- `-S`, `--store` names a store: a URL such as `sqlite:///seen.sqlite`, or an SQLite file;
- `LOG`, `--log` names a drop log, or a result of `dedup`; default: that of the project;
- `--spider` selects the store, or the drop log, of this spider.

Exit code 0: done. 1: the answer is no, as the section says. 2: something that the command cannot
use; one line on stderr. 130, 141: Ctrl-C; the reader of the output has gone.
"""
# Arguments that HEAD describes, where they mean this.
COMMON = {
    "--json": {"print JSON: one object a line, for programs"},
    "-S, --store STORE": {"its URL, as sqlite:///seen.sqlite, or an SQLite file"},
    "LOG": {"a drop log, or a result of `dedup` (default: that of the project)"},
    "--spider SPIDER": {
        "the store of this spider's crawls",
        "use this spider's drop log",
    },
}
# The keys of what a command prints with --json. In brackets: a value, or the keys of its objects.
KEYS = {
    "judge": (
        "`url`, `dropped`, `reason`, `twin_url`, `content_distance`, "
        "`structure_distance`, `sketch_distance`, `similarity`, `rejected_by`, `provisional`; or "
        "`url`, `error` (its kind), `message`; or `url`, `done` (`confirm` or `forget`)"
    ),
    "dedup": (
        "`kept`, `dropped` (pages by reason), `skipped`, `faults` (by kind), `item_values` (pages "
        "that have some), `output`, "
        "`drop_log`; `copies` and `unread` where they are written"
    ),
    "settings": (
        "`settings` (by name: `value`, `source`), `stores` (by name: sentences on what the "
        "settings mean for it)"
    ),
    "store info": (
        "`store`, `pages`, `thin`, `namespaces`, `first_seen`, "
        "`seen_at`, `texts`, `bytes`, `made_with`, "
        "`faults` (of a damaged store only `store` and `faults`)"
    ),
    "store forget": "`store`, `forgotten`, `pages` (left)",
    "store copy": "`source`, `target`, `copied`, `texts`, `pages` (stored)",
}


def page() -> str:
    return HEAD + "".join(_section(name) for name in COMMANDS if name != "store")


def _section(name: str) -> str:
    parser = Parser()
    command = SimhashCommand()
    command.settings = Settings()
    command._add_arguments(parser, name)
    named = _arguments(parser)
    arguments = {usage: text for usage, text in named if not text.startswith("the same as ")}
    shared = [usage for usage in arguments if arguments[usage] in COMMON.get(usage, ())]
    rows = [f"- `{usage}`: {arguments[usage]}" for usage in arguments if usage not in shared]
    if shared:
        rows.append(f"- {', '.join(f'`{usage}`' for usage in shared)}")
    table = "\n" + "\n".join(rows) + "\n" if rows else ""
    behind = f"\n{_cell(parser.epilog)}\n" if parser.epilog else ""
    keys = f"\nKeys of its JSON: {KEYS[name]}.\n" if name in KEYS else ""
    summary = COMMANDS[name]
    return f"\n## {name}\n\n{summary[0].upper()}{summary[1:]}.\n{table}{behind}{keys}"


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
            yield usage, _cell(meaning)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;").replace("*", "\\*")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
