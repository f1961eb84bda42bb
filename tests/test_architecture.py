import ast
import subprocess
import sys
from pathlib import Path

import pytest

import simhash_pipeline

PACKAGE = Path(simhash_pipeline.__file__).parent
# Each room, and the rooms it may import from besides itself.
ROOMS = {
    "bits": set(),
    "errors": set(),
    "rules": set(),
    "whole_file": {"errors"},
    "presets": set(),
    "simplified": {"errors"},
    "options": {"bits", "errors", "rules", "presets", "simplified"},
    "page": {"bits", "errors", "options", "simplified"},
    "index": {"bits", "errors", "options", "rules"},
    "urls": {"errors", "page"},
    "own_text": {"page"},
    "judge": {"bits", "errors", "options", "page", "index", "own_text", "urls"},
    "timeline": set(),
    "drop_log": {"bits", "errors", "options", "page", "index", "judge", "timeline"},
    "printable": set(),
    "compare": {"options", "page", "index", "judge", "printable"},
    "tune": {"errors", "page", "index"},
    "report": {"errors", "timeline", "drop_log", "compare", "printable"},
    "archive": {
        "bits",
        "errors",
        "options",
        "page",
        "index",
        "rules",
        "urls",
        "own_text",
        "judge",
        "drop_log",
    },
    "crawl": {
        "bits",
        "errors",
        "options",
        "page",
        "index",
        "rules",
        "urls",
        "own_text",
        "judge",
        "drop_log",
        "archive",
        "report",
        "compare",
        "tune",
        "printable",
        "whole_file",
    },
}
# Libraries that only one place may import.
OUTSIDE = {
    "scrapy": {"crawl"},
    "itemadapter": {"crawl"},
    "twisted": {"crawl"},
    "redis": {"index"},
    "duckdb": {"archive"},
    "pyspark": {"archive"},
    "warcio": {"archive"},
}
MODULES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem != "__init__"
)


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_one_way(path: Path) -> None:
    names = [name.split(".") for name in imports(path) if name.startswith("simhash_pipeline.")]
    rooms = {name[1] for name in names}
    assert rooms <= ROOMS[room(path)] | {room(path)}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_shell_knows_scrapy(path: Path) -> None:
    for library in {name.split(".")[0] for name in imports(path)} & OUTSIDE.keys():
        assert room(path) in OUTSIDE[library]


def test_only_the_store_on_redis_knows_redis() -> None:
    knowing = {path.stem for path in MODULES if any(n.startswith("redis") for n in imports(path))}
    assert knowing == {"server"}


def test_the_core_runs_where_scrapy_is_absent() -> None:
    code = """
import sys
sys.modules.update(dict.fromkeys(["scrapy", "itemadapter", "twisted", "redis"]))
from simhash_pipeline import Fingerprinter, Judge, open_store
page = Fingerprinter().fingerprint("<p>" + "one two three four five " * 20 + "</p>")
with open_store("memory:") as store:
    judge = Judge(store)
    print([judge.judge(f"http://a.example/{i}", page).reason for i in (1, 2)])
"""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "['new', 'content']"


def test_public_names_are_sorted_and_there() -> None:
    assert simhash_pipeline.__all__ == sorted(simhash_pipeline.__all__)
    for name in simhash_pipeline.__all__:
        assert getattr(simhash_pipeline, name) is not None


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_module_says_what_it_does_in_its_first_sentence(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not source or ast.get_docstring(ast.parse(source))
