"""`scrapy simhash`: found by its entry point, in a new process where `scrapy` runs it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from simhash_pipeline.cli.command import size
from simhash_pipeline.cli.plan import PlanCommand
from simhash_pipeline.cli.simhash import COMMANDS
from tests.cli.simhash_command import Simhash
from tests.documents import is_printed

ROOT = Path(__file__).parent.parent.parent


def scrapy(
    *arguments: str, directory: Path = Path(__file__).parent
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "scrapy", *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory that is in no Scrapy project."""
    return tmp_path


def test_the_plan_for_8_billion_pages_is_the_one_in_the_readme(outside: Path) -> None:
    result = scrapy("simhash", "plan", "--pages", "8e9", "--distance", "3", directory=outside)
    assert (result.returncode, result.stderr) == (0, "")
    assert is_printed("$ scrapy simhash plan --pages 8e9 --distance 3\n", result.stdout)


def test_the_plan_gives_the_papers_figures_for_2_to_the_34_pages(
    simhash: Simhash, outside: Path
) -> None:
    result = simhash(outside, "plan", "--pages", "17_179_869_184")
    rows = [line.removeprefix("->").split() for line in result.stdout.splitlines()[3:7]]
    assert [(row[0], row[-5], row[-4]) for row in rows] == [
        ("4", "16", "262,144"),
        ("10", "25-26", "512"),
        ("16", "28", "64"),
        ("20", "31-33", "8.0"),
    ]


def test_the_command_runs_inside_a_project_too() -> None:
    result = scrapy("simhash", "plan", "--pages", "1_000_000", directory=ROOT)
    assert (result.returncode, result.stderr) == (0, "")
    assert "-> 4 tables: the fewest with at most 100 candidates a probe." in result.stdout


def test_the_plan_warns_of_fingerprints_too_short_for_so_many_pages(
    simhash: Simhash, outside: Path
) -> None:
    # 5,489 of 2^32 values are within 3 bits of any: 8e9 / 2^32 * 5,489 = 10,224.
    short = simhash(outside, "plan", "--pages", "8e9", "--bits", "32")
    assert "by mere chance 10,224 of these pages are that near to a query" in short.stdout
    longer = simhash(outside, "plan", "--pages", "8e9")
    assert "chance" not in longer.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: --pages"),
        (["--pages", "many"], "argument --pages: must be a whole number, 1 or more"),
        (["--pages", "1.5"], "argument --pages: must be a whole number, 1 or more"),
        (["--pages", "1e400"], "argument --pages: must be a whole number, 1 or more"),
        (["--pages", "2e12"], "a plan is for 1 to 1,099,511,627,776 pages (2^40)"),
        (["--pages", "9", "--distance", "9"], "a distance is a whole number from 0 to 8 bits"),
        (["--pages", "9", "--bits", "65"], "a fingerprint has 32 or 64 bits, not 65"),
        (["--pages", "9", "--pagse", "8"], "unrecognized arguments: --pagse 8"),
        (["--pages", "9", "-s", "nonsense"], "Invalid -s value, use -s NAME=VALUE"),
    ],
)
def test_bad_input_is_told_in_one_line_with_exit_code_2(
    simhash: Simhash, arguments: list[str], message: str, outside: Path
) -> None:
    result = simhash(outside, "plan", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"scrapy simhash plan: {message}")
    assert result.stderr.endswith(" (see scrapy simhash plan -h)\n")
    assert result.stderr.count("\n") == 1


def test_without_a_command_or_with_one_unknown_there_is_help_and_exit_code_2(
    simhash: Simhash, outside: Path
) -> None:
    nothing = simhash(outside)
    assert nothing.returncode == 2
    assert re.search(r"plan +compare table designs for a number of pages", nothing.stdout)
    unknown = scrapy("simhash", "plann", directory=outside)
    assert unknown.returncode == 2
    assert re.fullmatch(
        r"scrapy simhash: .*invalid choice: 'plann'.* \(see scrapy simhash -h\)\n", unknown.stderr
    )


def test_an_error_of_a_library_is_told_in_its_own_words(
    simhash: Simhash, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError("the words of a library")

    monkeypatch.setattr(PlanCommand, "run", fail)
    result = simhash(outside, "plan", "--pages", "10")
    assert result.returncode == 2
    assert ": output: the words of a library (see " in result.stderr


def test_a_start_imports_no_more_than_the_command_that_is_named(outside: Path) -> None:
    code = """
import sys
from scrapy.cmdline import execute
try:
    execute(["scrapy", "simhash", "plan", "-h"])
except SystemExit:
    loaded = set(sys.modules)
    own = {name for name in loaded if name.startswith("simhash_pipeline.cli.")}
    print(*sorted(name.rpartition(".")[2] for name in own))
    print(*sorted(loaded & {"rich", "tldextract", "msgspec", "jieba", "mmh3", "duckdb"}))
"""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=outside,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.splitlines()[-2:] == ["command plan simhash", ""]


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


@pytest.mark.parametrize(
    ("size_bytes", "told"),
    [(0, "0 bytes"), (999, "999 bytes"), (1_000, "0.977 KiB"), (255_550_000_000, "238 GiB")],
)
def test_sizes_have_three_digits_and_a_unit(size_bytes: int, told: str) -> None:
    assert size(size_bytes) == told
