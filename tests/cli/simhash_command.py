"""`scrapy simhash` run inside the test's process, which spares a second of imports each time."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess
from typing import Protocol

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings


class Simhash(Protocol):
    """`scrapy simhash <arguments>` in a directory, with the settings of `-s` alone."""

    def __call__(self, directory: Path, *arguments: str) -> CompletedProcess[str]: ...


@pytest.fixture
def simhash(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Simhash:
    def run(directory: Path, *arguments: str) -> CompletedProcess[str]:
        monkeypatch.chdir(directory)
        with pytest.raises(SystemExit) as ended:
            execute(["scrapy", "simhash", *arguments], Settings())
        output = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return CompletedProcess(arguments, ended.value.code, output.out, output.err)

    return run
