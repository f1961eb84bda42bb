"""`scrapy simhash check | expire | export | import`, each as a process of its own."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from simhash_pipeline import Options, open_store
from tests.crawl.test_commands import scrapy
from tests.index.pages import keep, page


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory that is in no Scrapy project, with a store of three pages."""
    now = time.time()
    with open_store(f"sqlite:///{tmp_path / 'seen.sqlite'}") as store:
        store.stamp(Options().stamp())
        for days, url in enumerate(("https://a.org/1", "https://a.org/2", "https://a.org/3")):
            keep(store, page(url, days, seen_at=now - days * 86_400))
    return tmp_path


def urls(path: Path) -> list[str]:
    with open_store(f"sqlite:///{path}") as store:
        return [stored.url for stored in store.pages()]


def test_check_tells_that_all_is_well(outside: Path) -> None:
    result = scrapy("simhash", "check", "seen.sqlite", directory=outside)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "seen.sqlite: 3 pages, all well\n"


def test_check_tells_damage_and_leaves_it(outside: Path) -> None:
    path = outside / "seen.sqlite"
    damaged = bytearray(path.read_bytes())
    damaged[8_192:12_288] = b"\xff" * 4_096
    path.write_bytes(damaged)
    result = scrapy("simhash", "check", "seen.sqlite", directory=outside)
    assert result.returncode in (1, 2)
    assert "damaged" in result.stdout + result.stderr or "Restore a copy" in result.stdout
    assert path.read_bytes() == damaged


def test_expire_forgets_what_was_not_seen_for_so_long(outside: Path) -> None:
    result = scrapy("simhash", "expire", "seen.sqlite", "36h", directory=outside)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "seen.sqlite: 1 pages forgotten, 2 left\n"
    assert urls(outside / "seen.sqlite") == ["https://a.org/1", "https://a.org/2"]


@pytest.mark.parametrize("file", ["pages.csv", "pages.parquet"])
def test_what_is_exported_can_be_imported(outside: Path, file: str) -> None:
    exported = scrapy("simhash", "export", "seen.sqlite", file, directory=outside)
    assert (exported.returncode, exported.stdout) == (0, f"{file}: 3 pages\n"), exported.stderr
    imported = scrapy("simhash", "import", file, "sqlite:///other.sqlite", directory=outside)
    assert imported.returncode == 0, imported.stderr
    assert imported.stdout == "sqlite:///other.sqlite: 3 pages read, 3 stored\n"
    with (
        open_store(f"sqlite:///{outside / 'seen.sqlite'}") as one,
        open_store(f"sqlite:///{outside / 'other.sqlite'}") as other,
    ):
        assert list(one.pages()) == list(other.pages())
        other.stamp(Options().stamp())


def test_import_refuses_a_store_made_with_other_options(outside: Path) -> None:
    scrapy("simhash", "export", "seen.sqlite", "pages.parquet", directory=outside)
    with open_store(f"sqlite:///{outside / 'other.sqlite'}") as other:
        other.stamp(Options(ngrams=(3,)).stamp())
    result = scrapy("simhash", "import", "pages.parquet", "other.sqlite", directory=outside)
    assert (result.returncode, result.stdout) == (2, "")
    assert "made with other options: ngrams [3] (now [1, 2])" in result.stderr


def test_import_says_when_a_fingerprint_is_too_wide(outside: Path) -> None:
    rows = "namespace,url,site,content,structure,sketch,digest,first_seen,seen_at"
    wide = f",https://a.org/,a.org,1{'0' * 16},,,,0,0"
    (outside / "wide.csv").write_text(f"{rows}\n{wide}\n", encoding="utf-8")
    result = scrapy("simhash", "import", "wide.csv", "seen.sqlite", directory=outside)
    assert (result.returncode, result.stdout) == (2, "")
    assert "wide.csv: a fingerprint of 64 bits can't be 18446744073709551616" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "nowhere.sqlite"], "there is no store at nowhere.sqlite"),
        (["check", "redis://localhost"], "no store can be opened at 'redis://localhost'"),
        (["expire", "seen.sqlite", "90"], "must be a number and s, h, d or w, as 90d, not '90'"),
        (["export", "seen.sqlite", "pages.json"], "pages.json must end in .csv or .parquet"),
        (["export", "seen.sqlite", "no/such/pages.csv"], "no/such/pages.csv: No such file"),
        (["import", "nowhere.csv", "seen.sqlite"], "nowhere.csv: No such file"),
    ],
)
def test_bad_input_gets_one_line(outside: Path, arguments: list[str], said: str) -> None:
    before = sorted(outside.iterdir())
    result = scrapy("simhash", *arguments, directory=outside)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(outside.iterdir()) == before
