"""The Chinese page of commands, from the English one: `python -m tests.chinese`.

docs/zh/sentences.json has the Chinese sentence of each setting, by its name, and of each sentence
about a command, by the English one.
"""

from __future__ import annotations

import json
import re

from tests.commands_page import page
from tests.documents import DOCS

SENTENCES = DOCS / "zh/sentences.json"
PAGE = DOCS / "zh/commands.md"
_ALL: dict[str, dict[str, str]] = json.loads(SENTENCES.read_text(encoding="utf-8"))
SETTINGS, _COMMANDS = _ALL["settings"], _ALL["commands"]


def commands_page() -> str:
    """The English page with each sentence in Chinese; KeyError for one that has none."""
    _, *lines = re.split(r"(?=^## )", page(), maxsplit=1, flags=re.MULTILINE)
    chinese = (_line(line) for line in "".join(lines).splitlines())
    head = PAGE.read_text(encoding="utf-8").partition("## ")[0]
    return head + "\n".join(line for line in chinese if line is not None) + "\n"


def _line(line: str) -> str | None:
    if row := re.fullmatch(r"- (`[^`]*`): (.*)", line):
        return f"- {row[1]}：{_COMMANDS[row[2]]}"
    if line.startswith("Keys of its JSON: "):
        return None
    return line if line == "" or line.startswith(("#", "- `")) else _COMMANDS[line]


if __name__ == "__main__":
    PAGE.write_text(commands_page(), encoding="utf-8")
