import ast
import inspect
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from operator import attrgetter
from pathlib import Path
from typing import Any

import simhash_pipeline
from simhash_pipeline.stores.contract import Store

PACKAGE = Path(simhash_pipeline.__file__).parent
ENGINE = {"bits", "errors", "item_values", "on_page", "options", "page", "stores", "urls"} | {
    "items",
    "twins",
    "verdict",
    "judge",
    "drop_log",
}
# Each room, and the rooms it may import from besides itself.
ROOMS = {
    "bits": set(),
    "errors": set(),
    "options": {"bits", "errors"},
    "native": set(),
    "page": {"bits", "errors", "options", "native"},
    "index": {"bits", "native"},
    "stores": {"bits", "errors", "options", "index", "urls"},
    "urls": {"bits", "errors", "page"},
    "answers": {"bits", "errors", "options", "stores", "urls"},
    "repeated_text": {"bits", "errors", "native", "page", "stores", "verdict"},
    "specific_text": {"errors", "native", "repeated_text", "page"},
    "notation": {"page"},
    "on_page": {"notation", "page", "urls"},
    "item_values": {"bits", "page"},
    "items": {"bits", "item_values", "notation", "on_page", "options", "page"},
    "twins": {"bits", "repeated_text", "item_values", "options", "specific_text", "page", "stores"}
    | {"urls", "verdict"},
    "candidates": {"options", "stores", "twins", "verdict"},
    "verdict": {"page", "stores"},
    "run_memory": {"item_values", "page", "stores", "twins", "urls", "verdict"},
    "kept_texts": {"page", "stores", "verdict"},
    "judge": ENGINE - {"drop_log"}
    | {"answers", "candidates", "repeated_text", "run_memory", "specific_text", "verdict"},
    "deduped": {"errors", "items", "judge", "options", "page", "verdict"},
    "drop_log": {"bits", "errors", "options", "page", "verdict"},
    "terminal": set(),
    "review": ENGINE | {"repeated_text"},
    "archive": ENGINE | {"repeated_text", "terminal"},
    "crawl": ENGINE | {"native", "kept_texts", "terminal"},
    "cli": ENGINE
    | {"answers", "archive", "crawl", "deduped", "repeated_text", "index", "native", "review"}
    | {"kept_texts", "terminal", "url_rules"},
    "url_rules": {"urls"},
}
# Libraries that only one place may import.
OUTSIDE = {
    "scrapy": {"crawl", "cli"},
    "itemadapter": {"crawl"},
    "twisted": {"crawl"},
    "redis": {"stores"},
    "duckdb": {"archive"},
    "pyspark": {"archive"},
    "warcio": {"archive"},
}
MODULES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem != "__init__"
)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def module_name(path: Path) -> str:
    inside = path.relative_to(PACKAGE.parent).with_suffix("")
    return ".".join(inside.parts).removesuffix(".__init__")


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_imports_run_one_way() -> None:
    upward = {
        (module_name(path), name)
        for path in MODULES
        for name in imports(path)
        if name.startswith("simhash_pipeline.")
        and name.split(".")[1] not in ROOMS[room(path)] | {room(path)}
    }
    assert upward == set()


def test_no_room_is_dead() -> None:
    rooms = {room(path) for path in MODULES}
    assert ROOMS.keys() == rooms >= set().union(*ROOMS.values())


def test_a_pipe_is_judged_without_a_crawl() -> None:
    names = imports(PACKAGE / "cli" / "judge.py")
    assert {name for name in names if name.startswith("simhash_pipeline.crawl.")} == set()


def test_no_imports_run_in_a_circle() -> None:
    names = {module_name(path): path for path in MODULES}
    arrows = {
        name: {found for taken in imports(path) for found in (taken, taken.rpartition(".")[0])}
        & names.keys() - {name}
        for name, path in names.items()
    }
    assert list(TopologicalSorter(arrows).static_order())  # raises CycleError, which names it


def test_only_the_shell_knows_scrapy() -> None:
    misplaced = {
        (module_name(path), library)
        for path in MODULES
        for library in {name.split(".")[0] for name in imports(path)} & OUTSIDE.keys()
        if room(path) not in OUTSIDE[library]
    }
    assert misplaced == set()


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


def test_public_names_are_there() -> None:
    for name in simhash_pipeline.__all__:
        assert getattr(simhash_pipeline, name) is not None


def test_the_api_page_has_the_public_names() -> None:
    page = (PACKAGE.parent / "docs/reference/api.md").read_text(encoding="utf-8")
    named = re.findall(r"^\.\. (?:auto\w+|data):: simhash_pipeline\.(\w+)", page, re.MULTILINE)
    assert sorted(named) == sorted(simhash_pipeline.__all__)


def public_callables() -> dict[str, tuple[Any, str]]:
    """What users call, by name, with its docstring: of the API page, and the methods of a store."""
    page = (PACKAGE.parent / "docs/reference/api.md").read_text(encoding="utf-8")
    entries = re.findall(r"simhash_pipeline\.(\w+)(?:\n   :members: (.*))?\n\n", page)
    methods = [f"{name}.{each}" for name, more in entries for each in re.findall(r"\w+", more)]
    found = {
        each: attrgetter(each)(simhash_pipeline) for each in ("Fingerprinter", "Judge", *methods)
    }
    functions = {name: getattr(simhash_pipeline, name) for name, _ in entries}
    found |= {name: each for name, each in functions.items() if inspect.isfunction(each)}
    documented = {name: (each, each.__doc__) for name, each in found.items() if callable(each)}
    of_stores = {name: each for name, each in vars(Store).items() if not name.startswith("_")}
    return documented | {
        f"Store.{name}": (each, f"{Store.__doc__}{each.__doc__}")
        for name, each in of_stores.items()
    }


def test_public_callables_document_parameters_and_results() -> None:
    lacking = set()
    callables = public_callables()
    assert {"Judge", "Judge.judge", "Store.settle", "dedupe"} < callables.keys()
    for name, (one, docstring) in callables.items():
        signature = inspect.signature(one)
        wanted = {f":param {each}:" for each in signature.parameters if each != "self"}
        if signature.return_annotation not in ("None", inspect.Signature.empty):
            wanted.add(":return:")
        lacking |= {f"{name} {field}" for field in wanted if field not in docstring}
    assert lacking == set()


def test_every_module_says_what_it_does_in_its_first_sentence() -> None:
    silent = {
        module_name(path)
        for path in MODULES
        if path.stat().st_size and not ast.get_docstring(tree(path))
    }
    assert silent == set()
