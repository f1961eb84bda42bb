"""What the documents say is so: their examples run, their tables are those of the code."""

import ast
import dataclasses
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from scrapy.settings import Settings

from simhash_pipeline import Options
from simhash_pipeline.cli.simhash import COMMANDS
from simhash_pipeline.drop_log import Drop
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from tests import chinese, settings_table
from tests.commands_page import PAGE, page
from tests.documents import DOCS, PATHS, ROOT, TEXT


def test_the_settings_pages_are_those_of_the_code() -> None:
    for path, text in settings_table.pages().items():
        assert path.read_text(encoding="utf-8") == text, (
            "write it by python -m tests.settings_table"
        )


@pytest.mark.parametrize("field", dataclasses.fields(Options), ids=lambda field: field.name)
def test_a_setting_has_a_heading_and_a_valid_example(field: "dataclasses.Field[object]") -> None:
    name = f"SIMHASH_{field.name.upper()}"
    sections = [each for each in TEXT.split("\n### ") if each.startswith(f"{name}\n")]
    examples = [re.search(rf"```\n{name} = (.*)\n```", each) for each in sections]
    assert len(examples) == 2, "one in English, one in Chinese"
    assert examples[0]
    value = ast.literal_eval(examples[0][1])
    other = {"SIMHASH_NGRAMS": (1,)} if field.name == "weights" else {}
    assert Options.from_settings({name: value, **other}) != Options()


@pytest.mark.parametrize("field", dataclasses.fields(Options), ids=lambda field: field.name)
def test_a_setting_is_described_in_sentences(field: "dataclasses.Field[object]") -> None:
    assert re.fullmatch(r"[A-Z`].*\.", settings_table.meanings()[field.name])


@pytest.mark.parametrize("field", dataclasses.fields(Options), ids=lambda field: field.name)
def test_a_setting_has_its_chinese_sentence(field: "dataclasses.Field[object]") -> None:
    assert re.fullmatch(r"[^|]*[\u4e00-\u9fff][^|]*。", chinese.SETTINGS.get(field.name, ""))


def test_distance_alone_is_set_in_the_same_three_lines_everywhere() -> None:
    block = re.search(r"```\n(SIMHASH_SECOND_LOOK = .*\n.*\n.*\n)```", TEXT)
    assert block
    set_by: dict[str, object] = {}
    exec(block[1], set_by)
    options = Options.from_settings({n: v for n, v in set_by.items() if n.startswith("SIMHASH")})
    assert options == Options(second_look=False)
    documents = ("docs/zh/tutorial.md", "docs/howto/thresholds.md")
    for place in ("crawler/settings.py", *documents):
        text = (ROOT / place).read_text(encoding="utf-8").replace("# SIMHASH", "SIMHASH")
        assert block[1] in text, place


def test_the_demo_project_sets_the_thresholds_to_their_defaults() -> None:
    settings = Settings()
    settings.setmodule("crawler.settings")
    assert Options.from_settings(settings) == Options()


def test_the_settings_pages_hold_no_setting_that_is_gone() -> None:
    known = {f"SIMHASH_{field.name.upper()}" for field in dataclasses.fields(Options)}
    assert set(re.findall(r"^### (SIMHASH_\w+)$", TEXT, re.MULTILINE)) == known


def test_the_python_examples_print_what_is_written_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert examples
    for number, example in enumerate(examples):
        (tmp_path / str(number)).mkdir()
        monkeypatch.chdir(tmp_path / str(number))
        exec(compile(example, "README.md", "exec"), {})
        written = re.findall(r"^print\(.*\)  # (.*)$", example, re.MULTILINE)
        printed = capsys.readouterr().out.splitlines()
        assert printed[len(printed) - len(written) :] == written


@pytest.mark.parametrize("place", ["reference/api.md", "zh/api.md"])
def test_the_example_with_requests_keeps_another_price(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of three pages the second is a copy of the first, the third has another price."""
    pytest.importorskip("requests")
    monkeypatch.chdir(tmp_path)
    text = "A ferry came home through fog. " * 20
    for name, price in {"a": 5, "copy": 5, "b": 6}.items():
        told = f"<article><p>{text}</article>"
        shown = f"<title>Ferry</title><h1>Ferry</h1><b class=price>{price}.00</b>{told}"
        (tmp_path / f"{name}.html").write_text(shown)
    (example,) = re.findall(
        r"```py\n(.*?)```", (DOCS / place).read_text(encoding="utf-8"), re.DOTALL
    )
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever).start()
        home = f"http://127.0.0.1:{server.server_port}"
        exec(example, {"urls": [f"{home}/{name}.html" for name in ("a", "copy", "b")]})
        server.shutdown()
    said = {"title": "Ferry", "price": "5.00", "text": text}
    assert capsys.readouterr().out == f"{said}\n{said | {'price': '6.00'}}\n"


def test_the_sql_examples_run_on_a_store_and_on_a_table_of_drops(tmp_path: Path) -> None:
    examples = re.findall(r"```sql\n(.*?)```", TEXT, re.DOTALL)
    assert len(examples) == 2
    SqliteStore(tmp_path / "seen.sqlite").close()
    columns = ", ".join(Drop.__dataclass_fields__)
    with closing(sqlite3.connect(tmp_path / "seen.sqlite")) as database:
        database.execute(f"CREATE TABLE drops ({columns})")
        for example in examples:
            database.execute(example)


def test_each_kind_of_error_stands_in_the_list_of_stats() -> None:
    package = ROOT / "simhash_pipeline"
    rooms = [package.glob("*.py"), package.glob("crawl/*.py"), package.glob("page/*.py")]
    code = "".join(path.read_text(encoding="utf-8") for path in chain(*rooms))
    kinds = set(re.findall(r'(?:\b(?:PageError|fault)\(\s*"|"errors/)(\w+)"', code))
    row = next(line for line in TEXT.splitlines() if line.startswith("- `simhash/errors/<kind>`"))
    assert len(kinds) > 10
    assert kinds <= set(re.findall(r"`(\w+)`", row))


def test_requirements_are_those_of_the_package() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (dependencies,) = re.findall(r"^dependencies = \[\n(.*?)^\]", project, re.DOTALL | re.MULTILINE)
    named = re.findall(r'^ +"(.*?)"', dependencies, re.MULTILINE)
    assert [line for line in lines if not line.startswith("#")] == named


def test_each_package_that_is_needed_has_its_reason_beside_it() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    core, extras = re.findall(
        r"^dependencies = \[\n(.*?)^\].*^\[project.optional-dependencies\]\n(.*?)^\[",
        project,
        re.DOTALL | re.MULTILINE,
    )[0]
    lines = [line for line in f"{core}{extras}".splitlines() if line]
    assert [line for line in lines if not re.search(r'["\],]  # \w.* \w', line)] == []
    assert {"lxml", "scrapy", "duckdb", "pandas"} <= set(re.findall(r'"([\w-]+)', core + extras))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_link_to_a_file_leads_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    files = [link for link in links if not link.startswith(("http://", "https://"))]
    assert [link for link in files if not (path.parent / link).exists()] == []


def test_each_test_that_security_names_exists() -> None:
    named = re.findall(
        r"(tests/\S+\.py)::(\w+)", (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    )
    assert len(named) == 14
    for path, name in named:
        assert f"\ndef {name}(" in (ROOT / path).read_text(encoding="utf-8"), name


# Variables of the environment about the compiled kernel.
ENVIRONMENT = {"SIMHASH_NATIVE", "SIMHASH_NO_NATIVE", "SIMHASH_REQUIRE_NATIVE"}


def test_each_setting_that_a_document_names_exists() -> None:
    known = {f"SIMHASH_{field.name.upper()}" for field in dataclasses.fields(Options)}
    known |= ENVIRONMENT
    assert set(re.findall(r"SIMHASH_[A-Z_]+[A-Z]", TEXT)) <= known


def test_each_command_that_a_document_names_exists() -> None:
    named = re.findall(
        r"scrapy simhash ([a-z]+(?: (?:info|list|find|forget|copy|check|export|import))?)", TEXT
    )
    assert {"dropped", "store info"} <= set(named) <= {*COMMANDS}


def test_the_page_of_commands_is_that_of_the_code() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert page() == written, "write it by python -m tests.commands_page"


def test_the_chinese_page_of_commands_is_that_of_the_code() -> None:
    written = chinese.PAGE.read_text(encoding="utf-8")
    assert chinese.commands_page() == written, "write it by python -m tests.chinese"


def test_the_readme_is_one_screen_that_sells_and_one_that_shows() -> None:
    """Two pictures, two commands before something works, and the same figures in both languages."""
    english, chinese = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh-CN.md")
    )
    assert len(english.split()) <= 400
    for text, facts in ((english, "## Good to know"), (chinese, "## 须知")):
        assert len(re.findall(r"^!\[", text, re.MULTILINE)) == 2
        assert text.partition("```\n")[2].partition("\n```")[0].count("\n") == 1
        assert facts in text
    figures = (
        re.findall(r"\d+(?:\.\d+)?", re.sub(r"\([^)]*\)|（[^）]*）", "", text))
        for text in (english, chinese)
    )
    first, second = (sorted(each) for each in figures)
    assert first == second


def test_an_index_gets_whole_addresses() -> None:
    """setup.py fills them in once the repository has an address."""
    source = (ROOT / "setup.py").read_text(encoding="utf-8").partition("NATIVE = [")[0]
    names: dict[str, Any] = {"__file__": str(ROOT / "setup.py")}
    exec(source, names)
    assert names["readme"]("") == (ROOT / "README.md").read_text(encoding="utf-8")
    text = names["readme"]("https://code.example/o/n")
    assert "](https://code.example/o/n/raw/main/docs/copies.svg)" in text
    assert "](https://code.example/o/n/blob/main/docs/tutorial.md)" in text
    assert not re.search(r"\]\((?!https:)", text)


def test_the_english_documents_stay_short() -> None:
    pages = [path for path in PATHS if "zh" not in str(path.relative_to(ROOT))]
    words = {path.name: len(path.read_text(encoding="utf-8").split()) for path in pages}
    assert sum(words.values()) <= 15_000, words


@pytest.mark.parametrize("folder", [".", pytest.param("zh", marks=pytest.mark.ci)])
def test_the_site_is_built_without_a_warning(tmp_path: Path, folder: str) -> None:
    source = str(DOCS / folder)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", source, str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")
    assert "ADDONS" in (tmp_path / "tutorial.html").read_text(encoding="utf-8")
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "{toctree}" not in index
    assert index.count('class="caption-text"') >= 3
