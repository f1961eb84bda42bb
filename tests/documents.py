"""The documents for users: the README and the pages of docs."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PATHS = [ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted(DOCS.rglob("*.md"))]
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in PATHS)


def is_printed(command: str, output: str) -> bool:
    """Whether the documents show this output of a command, or parts of it between lines of "…"."""
    example = TEXT.partition(f"```\n{command}")[2].partition("```\n")[0]
    first, *others = example.split("…\n")
    if not first or not (others or output == first):
        return False
    return output.startswith(first) and all(part in output for part in others)
