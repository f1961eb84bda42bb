import dataclasses
import re
from itertools import chain
from pathlib import Path

import pytest

from simhash_pipeline import Options
from tests.settings_table import tables

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", tables(), ids=["of every day", "of fingerprints"])
def test_the_settings_tables_are_those_of_the_code(table: str) -> None:
    assert table in README, "write them by python -m tests.settings_table"


@pytest.mark.parametrize("field", dataclasses.fields(Options), ids=lambda field: field.name)
def test_a_setting_is_described_in_sentences(field: "dataclasses.Field[object]") -> None:
    assert re.fullmatch(r"[A-Z`].*\.", field.metadata["meaning"])


def test_the_settings_table_holds_no_setting_that_is_gone() -> None:
    known = {f"SIMHASH_{field.name.upper()}" for field in dataclasses.fields(Options)}
    assert set(re.findall(r"^\| `(SIMHASH_\w+)`", README, re.MULTILINE)) == known


def test_the_python_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})


def test_each_kind_of_error_stands_in_the_table_of_stats() -> None:
    package = ROOT / "simhash_pipeline"
    rooms = [package.glob("*.py"), package.glob("crawl/*.py"), package.glob("page/*.py")]
    code = "".join(path.read_text(encoding="utf-8") for path in chain(*rooms))
    kinds = set(re.findall(r'(?:(?:PageError|fault)\(\s*"|"errors/)(\w+)"', code))
    row = next(line for line in README.splitlines() if line.startswith("| `simhash/errors/<kind>`"))
    assert len(kinds) > 10
    assert kinds <= set(re.findall(r"`(\w+)`", row))


def test_requirements_are_those_of_the_package() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (dependencies,) = re.findall(r"^dependencies = \[\n(.*?)^\]", project, re.DOTALL | re.MULTILINE)
    named = re.findall(r'"(.*?)"', dependencies)
    assert [line for line in lines if not line.startswith("#")] == named


def test_each_package_that_is_needed_stands_in_the_table_with_its_reason_and_no_other() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    core, extras = re.findall(
        r"^dependencies = \[\n(.*?)^\].*^\[project.optional-dependencies\]\n(.*?)^\[",
        project,
        re.DOTALL | re.MULTILINE,
    )[0]
    needed = {name: set[str]() for name in re.findall(r'"([\w-]+)', core)}
    for extra, packages in re.findall(r"^(\w+) = \[(.*)\]", extras, re.MULTILINE):
        for name in set(re.findall(r'"([\w-]+)', packages)) - {"simhash-pipeline"}:
            needed.setdefault(name, set()).add(f"`[{extra}]`")
    section = README.partition("\n## What it needs\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w-]+)` \| (.*?)\| \w.* \|$", section, re.MULTILINE)
    assert {name: set(re.findall(r"`.*?`", extra)) for name, extra in rows} == needed
    assert {"lxml", "scrapy", "duckdb", "pandas"} <= set(needed)
