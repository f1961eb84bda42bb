"""The settings tables of the documents, made from Options: `python -m tests.settings_table`."""

import dataclasses
import re
from typing import Any

from simhash_pipeline import Options
from tests.documents import DOCS

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
    for name, table in zip(("settings", "fingerprint-settings"), tables(), strict=True):
        page = DOCS / f"reference/{name}.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(HEADER)
        behind = rest[re.match(r"(\|.*\n)*", rest).end() :]  # type: ignore[union-attr]  # it matches ""
        page.write_text(f"{before}{table}{behind}", encoding="utf-8")
