"""The settings tables of the documents, made from Options: `python -m tests.settings_table`."""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simhash_pipeline import Options
from tests import chinese
from tests.documents import DOCS

HEADERS = {"en": "| setting | default | meaning |\n", "zh": "| 设置 | 默认值 | 含义 |\n"}
EVERYDAY = (
    *("enabled", "dry_run", "match", "content_distance", "structure_distance", "second_look"),
    *("store", "namespace", "scope", "unchanged", "keep", "item_fields", "answers", "expire_after"),
    *("drop_log", "keep_text", "twin_field", "follow_twins", "trap_budget", "close_after_seen"),
)


def tables() -> dict[str, list[str]]:
    """By page: the settings of every day and the others, and those that make fingerprints."""
    names = [field.name for field in dataclasses.fields(Options)]
    making = names[names.index("preset") :]
    others = [name for name in names if name not in EVERYDAY and name not in making]
    return {
        "reference/settings": [_table(EVERYDAY, "en"), _table(others, "en")],
        "reference/fingerprint-settings": [_table(making, "en")],
        "zh/settings": [_table(room, "zh") for room in (EVERYDAY, others, making)],
    }


def _table(names: Sequence[str], language: str) -> str:
    fields = {field.name: field for field in dataclasses.fields(Options)}
    rows = (
        f"| `SIMHASH_{name.upper()}` | `{getattr(Options(), name)!r}` | "
        f"{_meaning(fields[name], language)} |\n"
        for name in names
    )
    return f"{HEADERS[language]}|---|---|---|\n{''.join(rows)}"


def _meaning(field: "dataclasses.Field[Any]", language: str) -> str:
    return str(field.metadata["meaning"] if language == "en" else chinese.SETTINGS[field.name])


def page_of(name: str) -> Path:
    return DOCS / f"{name}.md"


if __name__ == "__main__":
    old = "(?:" + "|".join(map(re.escape, HEADERS.values())) + r")\|---.*\n(?:\| `SIMHASH_.*\n)*"
    for name, of_page in tables().items():
        text, new = page_of(name).read_text(encoding="utf-8"), iter(of_page)
        page_of(name).write_text(re.sub(old, lambda _, new=new: next(new), text), encoding="utf-8")  # type: ignore[misc]  # one page at a time
