"""What the commands say in folders that can't be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawl.crawling import OTHER, STORY, crawl, page
from tests.read_only import read_only

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.simhash_command import Simhash

ITEMS = [page(1), page(2, STORY.replace("word100", "tale")), page(3, OTHER)]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawled")
    crawl(folder, ITEMS, SIMHASH_KEEP_TEXT=True)
    return folder


def test_a_drop_log_that_cannot_be_written_is_read(simhash: Simhash, crawled: Path) -> None:
    with read_only(crawled):
        result = simhash(crawled, "dropped")
    assert result.returncode == 0, result.stderr
    assert "1 of 3 pages dropped" in result.stdout


@pytest.mark.parametrize(
    "command",
    [
        *("store info", "store forget http://a.example/1"),
        *("explain http://a.example/2", "report -o {out}/report.html"),
    ],
)
def test_a_command_says_in_one_line_that_a_store_cannot_be_written(
    simhash: Simhash, crawled: Path, tmp_path: Path, command: str
) -> None:
    with read_only(crawled):
        result = simhash(crawled, *command.format(out=tmp_path).split())
    assert result.returncode == 2
    *_, line = result.stderr.splitlines()
    assert line.endswith(
        f"store {crawled}/.scrapy/simhash/items.sqlite: it can't be written; allow writing to the "
        "file and its directory, or name another file"
    )
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_project_without_a_store_that_cannot_be_written_has_none(
    simhash: Simhash, tmp_path: Path
) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    (tmp_path / "settings.py").touch()
    with read_only(tmp_path):
        result = simhash(tmp_path, "store", "info")
    assert result.returncode == 2
    assert "no crawl has left a store here; name one by --store" in result.stderr
