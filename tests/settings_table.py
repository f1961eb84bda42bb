"""The settings pages of the documents, made from Options: `python -m tests.settings_table`.

Between `<!-- settings: everyday -->` and `<!-- end -->` each setting has a heading, so that it can
be linked, its default, its meaning and one example.
"""

import ast
import dataclasses
import inspect
import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from simhash_pipeline import Options
from tests import chinese
from tests.documents import DOCS

PAGES = {
    "en": (DOCS / "reference/settings.md", DOCS / "reference/fingerprint-settings.md"),
    "zh": (DOCS / "zh/settings.md",),
}
DEFAULT = {"en": "Default: `{}`. {}", "zh": "默认值：`{}`。{}"}
EVERYDAY = (
    *("enabled", "dry_run", "match", "content_distance", "structure_distance", "second_look"),
    *("store", "namespace", "scope", "unchanged", "keep", "item_fields", "answers", "expire_after"),
    *("drop_log", "keep_text", "twin_field", "follow_twins", "trap_budget", "close_after_seen"),
)
EXAMPLES: dict[str, object] = {
    "added_fields": {"verdict": "near_duplicate", "address": "address", "text": "main_text"},
    "answers": "answers.csv",
    "close_after_seen": 500,
    "content_distance": 6,
    "content_field": "body",
    "drop_log": "drops.jsonl",
    "dry_run": True,
    "enabled": False,
    "error_pages": "keep",
    "expire_after": "90d",
    "extractor": "myproject.text.main_text",
    "follow_twins": False,
    "html_field": "page",
    "item_fields": ("-position", "-related"),
    "keep": "canonical",
    "keep_text": True,
    "match": "both",
    "max_page_bytes": 20_000_000,
    "min_similarity": 0.95,
    "min_tokens": 30,
    "namespace": "test",
    "ngrams": (1, 2, 3),
    "page_timeout_secs": 60,
    "preset": "dom-decay",
    "scope": "site",
    "second_look": False,
    "segmenter": "jieba",
    "sketch_distance": 24,
    "stop_words": "noise.txt",
    "store": "redis://localhost:6379/0",
    "structure_distance": 5,
    "to_simplified": True,
    "top_n": 200,
    "trap_budget": 50,
    "twin_field": "near_duplicate_of",
    "unchanged": "drop",
    "url_field": "link",
    "user_dict": "words.txt",
    "weights": "levels.by_level",
}


def pages() -> dict[Path, str]:
    """What each page must be."""
    return {path: _filled(path, language) for language in PAGES for path in PAGES[language]}


def groups() -> dict[str, Sequence[str]]:
    """The names of the settings by group: everyday ones, others, and those of fingerprints."""
    fields = {field.name: field.metadata for field in dataclasses.fields(Options)}
    making = [name for name in fields if fields[name]["makes"]]
    others = [name for name in fields if name not in {*EVERYDAY, *making}]
    return {"everyday": EVERYDAY, "others": others, "fingerprints": making}


@cache
def meanings() -> dict[str, str]:
    """What each setting means, by its name: the text below its field."""
    (options,) = ast.parse(inspect.getsource(Options)).body
    assert isinstance(options, ast.ClassDef)
    return {
        field.target.id: " ".join(ast.literal_eval(text.value).split())
        for field, text in pairwise(options.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
    }


def _filled(path: Path, language: str) -> str:
    text = path.read_text(encoding="utf-8")
    for group, names in groups().items():
        made = "".join(_section(name, language) for name in names)
        text = re.sub(
            rf"(<!-- settings: {group} -->\n).*?(<!-- end -->)",
            lambda found, made=made: f"{found[1]}{made}\n{found[2]}",  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
    return text


def _section(name: str, language: str) -> str:
    setting = f"SIMHASH_{name.upper()}"
    meaning = meanings()[name] if language == "en" else chinese.SETTINGS[name]
    described = DEFAULT[language].format(repr(getattr(Options(), name)), meaning)
    value = EXAMPLES[name]
    example = f"{value:_}" if type(value) is int else repr(value).replace("'", '"')
    return f"\n### {setting}\n\n{described}\n\n```\n{setting} = {example}\n```\n"


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
