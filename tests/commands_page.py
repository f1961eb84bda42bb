"""The page of all commands, made from their parsers: `python -m tests.commands_page`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from scrapy.settings import Settings

from simhash_pipeline.cli.simhash import COMMANDS, SimhashCommand
from tests import chinese
from tests.documents import DOCS

PAGES = {"en": DOCS / "reference/command-options.md", "zh": DOCS / "zh/commands.md"}
HEADS = {
    "en": """# All commands and options

Made from the code by `python -m tests.commands_page`. Each command is there as `scrapy simhash` and
as `simhash`; `--help` prints the same. Each takes `-s NAME=VALUE`, as often as needed: a setting in
place of the project's.
""",
    "zh": """# 命令和选项

本页由 `python -m tests.commands_page` 从代码生成。每个命令都可以写成 `scrapy simhash …` 或
`simhash …`；`--help` 显示英文说明。每个命令都接受任意多个 `-s 名称=值`，用来代替项目中的设置。
""",
}
COLUMNS = {"en": "argument | meaning", "zh": "参数 | 含义"}


def page(language: str) -> str:
    sections = (_section(name, language) for name in COMMANDS if name != "store")
    return HEADS[language] + "".join(sections)


def _section(name: str, language: str) -> str:
    parser = argparse.ArgumentParser()
    command = SimhashCommand()
    command.settings = Settings()
    command._add_arguments(parser, name)
    rows = "".join(
        f"| `{usage}` | {meaning} |\n" for usage, meaning in _arguments(parser, language)
    )
    table = f"\n| {COLUMNS[language]} |\n|---|---|\n{rows}" if rows else ""
    behind = f"\n{_cell(_said(parser.epilog, language))}\n" if parser.epilog else ""
    summary = _said(COMMANDS[name], language)
    stop = {"en": ".", "zh": "。"}[language]
    return f"\n## {name}\n\n{summary[0].upper()}{summary[1:]}{stop}\n{table}{behind}"


def _said(sentence: str, language: str) -> str:
    return sentence if language == "en" else chinese.COMMANDS[sentence]


def _arguments(parser: argparse.ArgumentParser, language: str) -> Iterator[tuple[str, str]]:
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
            yield usage.replace("|", "\\|"), _cell(_said(meaning, language))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


if __name__ == "__main__":
    for language, path in PAGES.items():
        path.write_text(page(language), encoding="utf-8")
