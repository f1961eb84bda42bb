"""The settings tables of the README, made from Options: `python -m tests.settings_table`."""

import dataclasses
import re
from pathlib import Path
from typing import Any

from simhash_pipeline import Options

README = Path(__file__).parent.parent / "README.md"
HEADER = "| setting | default | meaning |\n|---|---|---|\n"


def tables() -> tuple[str, str]:
    """The settings of every day, and those that decide how fingerprints are made."""
    fields = dataclasses.fields(Options)
    start = [field.name for field in fields].index("preset")
    return _table(fields[:start]), _table(fields[start:])


def _table(fields: tuple["dataclasses.Field[Any]", ...]) -> str:
    rows = (
        f"| `SIMHASH_{field.name.upper()}` | `{field.default!r}` | {field.metadata['meaning']} |\n"
        for field in fields
    )
    return HEADER + "".join(rows)


if __name__ == "__main__":
    text, new = README.read_text(encoding="utf-8"), iter(tables())
    old = re.escape(HEADER) + r"(?:\|.*\n)+"
    README.write_text(re.sub(old, lambda _: next(new), text), encoding="utf-8")
