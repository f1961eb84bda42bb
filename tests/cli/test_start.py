"""The ways to start the commands: installed, as a module, and from a clone without either."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SCRIPT = Path(sys.executable).with_name("simhash")


def started(*command: str, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_commands_need_no_scrapy_before_them(tmp_path: Path) -> None:
    told = started(str(SCRIPT), "compare", "-h", directory=tmp_path)
    assert told.returncode == 0
    assert "usage: simhash compare" in told.stdout
    wrong = started(str(SCRIPT), "store", "info", directory=tmp_path)
    assert wrong.returncode == 2
    assert len(wrong.stderr.splitlines()) == 1


def test_a_clone_has_the_commands_before_it_is_installed(tmp_path: Path) -> None:
    hidden = "import importlib.metadata as m; m.entry_points = lambda **_: []\n"
    code = f"{hidden}from scrapy.cmdline import execute; execute(['scrapy', 'simhash', '-h'])"
    told = started(sys.executable, "-c", code, directory=ROOT)
    assert told.returncode == 0, told.stderr
    assert "scrapy simhash" in told.stdout
