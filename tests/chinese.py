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
HEAD = """# 命令（commands）

本页由 `python -m tests.chinese` 从代码生成。每个命令都可以写成 `scrapy simhash …` 或 `simhash …`；
`--help` 显示英文说明。每个命令都接受任意多个 `-s 名称=值`，用来代替项目中的设置。`--json` 输出
哪些键，见[英文页](../reference/commands.md)。

| 退出码 | 含义 |
|---|---|
| 0 | 完成 |
| 1 | 答案为否：见各命令的说明 |
| 2 | 命令得到了无法使用的输入；标准错误中有一行说明 |
| 130、141 | 按下 Ctrl-C；输出的读取方已退出 |

"""
_ALL: dict[str, dict[str, str]] = json.loads(SENTENCES.read_text(encoding="utf-8"))
SETTINGS, _COMMANDS = _ALL["settings"], _ALL["commands"]


def commands_page() -> str:
    """The English page with each sentence in Chinese; KeyError for one that has none."""
    _, *lines = re.split(r"(?=^## )", page(), maxsplit=1, flags=re.MULTILINE)
    chinese = (_line(line) for line in "".join(lines).splitlines())
    return HEAD + "\n".join(line for line in chinese if line is not None) + "\n"


def _line(line: str) -> str | None:
    if line == "| argument | meaning |":
        return "| 参数 | 含义 |"
    if row := re.fullmatch(r"(\| `.*` \| )(.*)( \|)", line):
        return row[1] + _COMMANDS[row[2]] + row[3]
    if line.startswith("Keys of its JSON: "):
        return None
    return line if line == "" or line.startswith(("#", "|---")) else _COMMANDS[line]


if __name__ == "__main__":
    PAGE.write_text(commands_page(), encoding="utf-8")
