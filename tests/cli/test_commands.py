"""`scrapy simhash`: found by its entry point, in a new process where `scrapy` runs it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from simhash_pipeline.cli.page import CompareCommand
from simhash_pipeline.cli.simhash import COMMANDS
from tests.cli.simhash_command import Simhash
from tests.forked import scrapy_forked

ROOT = Path(__file__).parent.parent.parent
PAGE = str(ROOT / "crawler/demo_site/templates/shop.html")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory that is in no Scrapy project."""
    return tmp_path


def test_the_command_runs_inside_a_project_too() -> None:
    command = [sys.executable, "-W", "error", "-m", "scrapy", "simhash", "compare", PAGE]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "title" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: page"),
        ([PAGE, "--jsno"], "unrecognized arguments: --jsno"),
        ([PAGE, "-s", "nonsense"], "Invalid -s value, use -s NAME=VALUE"),
    ],
)
def test_bad_input_is_told_in_one_line_with_exit_code_2(
    simhash: Simhash, arguments: list[str], message: str, outside: Path
) -> None:
    result = simhash(outside, "compare", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"scrapy simhash compare: {message}")
    assert result.stderr.endswith(" (see scrapy simhash compare -h)\n")
    assert result.stderr.count("\n") == 1


def test_without_a_command_or_with_one_unknown_there_is_help_and_exit_code_2(
    simhash: Simhash, outside: Path
) -> None:
    nothing = simhash(outside)
    assert nothing.returncode == 2
    assert re.search(r"dedup +find", nothing.stdout)
    unknown = scrapy_forked(outside, "simhash", "dedupp")
    assert unknown.returncode == 2
    assert re.fullmatch(
        r"scrapy simhash: .*invalid choice: 'dedupp'.* \(see scrapy simhash -h\)\n", unknown.stderr
    )


def test_an_error_of_a_library_is_told_in_its_own_words(
    simhash: Simhash, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError("the words of a library")

    monkeypatch.setattr(CompareCommand, "run", fail)
    result = simhash(outside, "compare", PAGE)
    assert result.returncode == 2
    assert result.stderr.endswith(": output: the words of a library\n")


def test_a_start_imports_no_more_than_the_command_that_is_named(outside: Path) -> None:
    code = """
import sys
from scrapy.cmdline import execute
try:
    execute(["scrapy", "simhash", "tune", "-h"])
except SystemExit:
    loaded = set(sys.modules)
    own = {name for name in loaded if name.startswith("simhash_pipeline.cli.")}
    print(*sorted(name.rpartition(".")[2] for name in own))
    print(*sorted(loaded & {"rich", "jieba", "mmh3", "duckdb"}))
"""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=outside,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.splitlines()[-2:] == ["command simhash tune", ""]


def test_processes_that_read_the_command_s_script_again_import_no_scrapy() -> None:
    code = "import sys; from simhash_pipeline.cli import main; print('scrapy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert result.stdout.strip() == b"False"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help(simhash: Simhash, outside: Path, name: str) -> None:
    result = simhash(outside, *name.split(), "-h")
    assert (result.returncode, result.stderr) == (0, "")
    assert f"usage: scrapy simhash {name} [-h]" in result.stdout
    assert name == "store" or "--set NAME=VALUE" in result.stdout
    assert "--pidfile" not in result.stdout  # nor other options of Scrapy that a crawl takes
