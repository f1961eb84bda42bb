"""What the commands read in folders that can't be written, and what they refuse there."""

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


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("store info", "pages       2\n"),
        ("explain http://a.example/2", "{+tale+}"),
        ("explain http://a.example/1", "Kept"),
        ("dropped", "1 of 3 pages dropped"),
        ("report -o {out}/report.html", "report.html: 1 drop"),
        ("dedup .scrapy/simhash/items.sqlite -o {out}/kept.jsonl", "2 (new 2)"),
    ],
)
def test_a_command_reads_what_cannot_be_written(
    simhash: Simhash, crawled: Path, tmp_path: Path, command: str, printed: str
) -> None:
    words = command.format(out=tmp_path).split()
    with read_only(crawled):
        result = simhash(crawled, *words)
    assert result.returncode == 0, result.stderr
    assert printed in result.stdout


def test_a_command_that_writes_says_that_it_cannot(simhash: Simhash, crawled: Path) -> None:
    with read_only(crawled):
        result = simhash(crawled, "store", "forget", "http://a.example/1")
    assert result.returncode == 2
    assert "it can't be written; allow writing to the file and its directory" in result.stderr


def test_a_project_without_a_store_that_cannot_be_written_has_none(
    simhash: Simhash, tmp_path: Path
) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    (tmp_path / "settings.py").touch()
    with read_only(tmp_path):
        result = simhash(tmp_path, "store", "info")
    assert result.returncode == 2
    assert "no crawl has left a store here; name one by --store" in result.stderr
