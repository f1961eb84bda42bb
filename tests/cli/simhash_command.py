"""`scrapy simhash` run inside the test's process, which spares a second of imports each time."""

from __future__ import annotations

import os
from pathlib import Path
from subprocess import CompletedProcess
from typing import Protocol
from unittest.mock import patch

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from tests.crawl.crawling import inside


class Simhash(Protocol):
    """`scrapy simhash <arguments>` in a directory, with the settings of `-s` alone."""

    def __call__(self, directory: Path, *arguments: str) -> CompletedProcess[str]: ...


@pytest.fixture
def simhash(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Simhash:
    def run(directory: Path, *arguments: str) -> CompletedProcess[str]:
        monkeypatch.chdir(directory)
        return _executed(arguments, Settings(), capsys)

    return run


@pytest.fixture
def simhash_in_project(capsys: pytest.CaptureFixture[str]) -> Simhash:
    """The same with the settings of the project in the directory."""

    def run(directory: Path, *arguments: str) -> CompletedProcess[str]:
        with inside(directory), patch.dict(os.environ):
            os.environ.pop("SCRAPY_SETTINGS_MODULE", None)
            return _executed(arguments, None, capsys)

    return run


def _executed(
    arguments: tuple[str, ...], settings: Settings | None, capsys: pytest.CaptureFixture[str]
) -> CompletedProcess[str]:
    with pytest.raises(SystemExit) as ended:
        execute(["scrapy", "simhash", *arguments], settings)
    output = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return CompletedProcess(arguments, ended.value.code, output.out, output.err)
