"""The settings tables of the documents, made from Options: `python -m tests.settings_table`."""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simhash_pipeline import Options
from tests.documents import DOCS

HEADER = "| setting | default | meaning |\n|---|---|---|\n"
EVERYDAY = (
    *("enabled", "dry_run", "match", "content_distance", "structure_distance", "second_look"),
    *("store", "namespace", "scope", "unchanged", "expire_after", "drop_log", "keep_text"),
    *("twin_field", "follow_twins", "trap_budget", "close_after_seen"),
)


def tables() -> dict[str, list[str]]:
    """By page: the settings of every day and the others, and those that make fingerprints."""
    fields = {field.name: field for field in dataclasses.fields(Options)}
    names = list(fields)
    making = names[names.index("preset") :]
    others = [name for name in names if name not in EVERYDAY and name not in making]
    rooms: dict[str, list[Sequence[str]]] = {
        "settings": [EVERYDAY, others],
        "fingerprint-settings": [making],
    }
    return {
        page: [_table([fields[name] for name in room]) for room in of_page]
        for page, of_page in rooms.items()
    }


def _table(fields: "list[dataclasses.Field[Any]]") -> str:
    rows = (
        f"| `SIMHASH_{field.name.upper()}` | `{field.default!r}` | {field.metadata['meaning']} |\n"
        for field in fields
    )
    return HEADER + "".join(rows)


def page_of(name: str) -> Path:
    return DOCS / f"reference/{name}.md"


if __name__ == "__main__":
    for name, of_page in tables().items():
        text, new = page_of(name).read_text(encoding="utf-8"), iter(of_page)
        old = re.escape(HEADER) + r"(?:\| `SIMHASH_.*\n)*"
        page_of(name).write_text(re.sub(old, lambda _, new=new: next(new), text), encoding="utf-8")  # type: ignore[misc]  # one page at a time
