"""A drop log of several files: each command reads them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawl.crawling import OTHER, crawl, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.simhash_command import Simhash

LOG = "logs/%(name)s-%(time)s.jsonl"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two crawls, each of which drops one page; they would be hours apart."""
    folder = tmp_path_factory.mktemp("crawled")
    crawl(folder, [page(1), page(2)], SIMHASH_DROP_LOG=LOG)
    (first,) = (folder / "logs").iterdir()
    first.rename(first.with_name("items-2026-01-01T00-00-00+00-00.jsonl"))
    crawl(folder, [page(3, OTHER), page(4, OTHER)], SIMHASH_DROP_LOG=LOG)
    return folder


@pytest.mark.parametrize("by", ["setting", "argument"])
@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("dropped --run all", "2 drops in 2 runs"),
        ("dropped --list --run last", "http://a.example/4"),
        ("report -o {out}/report.html", "report.html: 2 drops"),
    ],
)
def test_a_log_of_several_files_is_read_as_one(
    simhash: Simhash, crawled: Path, tmp_path: Path, command: str, printed: str, by: str
) -> None:
    named = {"setting": ["-s", f"SIMHASH_DROP_LOG={LOG}"], "argument": [LOG]}
    assert len(list((crawled / "logs").iterdir())) == 2
    result = simhash(crawled, *command.format(out=tmp_path).split(), *named[by])
    assert result.returncode == 0, result.stderr
    assert printed in result.stdout
    assert "last" not in command or "http://a.example/2" not in result.stdout


@pytest.mark.parametrize("number", [2, 4])
def test_a_drop_of_any_crawl_is_explained(simhash: Simhash, crawled: Path, number: int) -> None:
    for log in (["-s", f"SIMHASH_DROP_LOG={LOG}"], ["--log", LOG]):
        result = simhash(crawled, "explain", f"http://a.example/{number}", *log)
        assert result.returncode == 0, result.stderr
        assert f"B  dropped  http://a.example/{number}" in result.stdout


def test_a_report_is_not_written_over_one_of_the_files(simhash: Simhash, crawled: Path) -> None:
    (one, *_) = (crawled / "logs").iterdir()
    result = simhash(crawled, "report", LOG, "-o", str(one))
    assert result.returncode == 2
    assert "is an input, and would be overwritten" in result.stderr
