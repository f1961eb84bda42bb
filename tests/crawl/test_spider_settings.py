"""`scrapy simhash … --spider` in a project whose spiders have settings of their own."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from simhash_pipeline.crawl.settings import spider_file, spider_files
from tests.crawl.crawling import crawl, inside

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.simhash_command import Simhash

    Told: TypeAlias = Callable[..., dict[str, Any]]

SETTINGS = """
BOT_NAME = "project"
SPIDER_MODULES = ["project.spiders"]
ADDONS = {"simhash_pipeline.Addon": 500}
SIMHASH_DROP_LOG = "drops.jsonl"
"""
SPIDERS = """
import scrapy

class News(scrapy.Spider):
    name = "news"
    custom_settings = {"SIMHASH_STORE": "sqlite:///own.sqlite", "SIMHASH_NGRAMS": "1"}
    simhash_top_n = 50
    start_urls = ["data:,"]
    def parse(self, response):
        for number in range(3):
            words = " ".join(f"{self.name}{i}" for i in range(200))
            yield {"url": f"http://{self.name}.example/{number}", "html": f"<p>{words}</p>"}

class Wire(News):
    name = "wire"
    custom_settings = {}
"""
URL = "http://news.example/1"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where both spiders have crawled, into one log and two stores."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "project").mkdir()
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = project.settings\n")
    for name, text in {"__init__": "", "settings": SETTINGS, "spiders": SPIDERS}.items():
        (folder / "project" / f"{name}.py").write_text(text)
    with inside(folder):
        spiders = importlib.import_module("project.spiders")
        of_project = vars(importlib.import_module("project.settings"))
        settings = {name: value for name, value in of_project.items() if name.isupper()}
        for spider in (spiders.News, spiders.Wire):
            result = crawl(folder, spider=spider, ITEM_PIPELINES={}, **settings)
            assert result.stats["finish_reason"] == "finished"
    return folder


@pytest.fixture
def told(simhash_in_project: Simhash, project: Path) -> Told:
    def told(*arguments: str) -> dict[str, Any]:
        result = simhash_in_project(project, *arguments, "--json")
        assert (result.returncode, result.stderr) == (0, "")
        found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
        return found

    return told


@pytest.mark.parametrize(("spider", "store"), [("news", "own"), ("wire", ".scrapy/simhash/wire")])
def test_the_store_is_the_one_that_the_spider_names(told: Told, spider: str, store: str) -> None:
    info = told("store", "info", "--spider", spider)
    assert str(info["store"]).endswith(f"{store}.sqlite")
    assert info["pages"] == 1


@pytest.mark.parametrize("spider", ["news", "wire"])
def test_of_a_log_that_spiders_share_one_spiders_drops_are_told(
    simhash_in_project: Simhash, project: Path, spider: str
) -> None:
    everyone = simhash_in_project(project, "dropped", "--run", "all").stdout
    assert "\n4 drops in 2 runs; " in everyone
    alone = simhash_in_project(project, "dropped", "--spider", spider, "--run", "last").stdout
    assert "\n2 of 3 pages dropped; " in alone
    report = project / f"{spider}.html"
    simhash_in_project(project, "report", "--spider", spider, "-o", str(report))
    assert f'"url":["http://{spider}.example/' in report.read_text(encoding="utf-8")


@pytest.mark.parametrize("options", [(), ("--spider", "news")])
def test_a_drop_is_explained_by_its_spiders_options(
    simhash_in_project: Simhash, project: Path, options: tuple[str]
) -> None:
    case = simhash_in_project(project, "explain", URL, *options)
    assert (case.returncode, case.stderr) == (0, "")
    assert case.stdout.startswith("Dropped ")
    assert "\nA  kept     http://news.example/0\n" in case.stdout


def test_a_spider_that_the_project_does_not_have_left_nothing(
    simhash_in_project: Simhash, project: Path
) -> None:
    result = simhash_in_project(project, "store", "info", "--spider", "none")
    assert result.returncode == 2
    assert f"there is no store at {project}/.scrapy/simhash/none.sqlite" in result.stderr


def test_projects_without_a_scrapy_cfg_share_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scrapyd runs all projects in one directory, by SCRAPY_SETTINGS_MODULE alone."""
    monkeypatch.delenv("SCRAPY_PROJECT", raising=False)
    names = ("bakery", "brewery", "a/b", "A B", "海港", "bakery.two")
    with inside(tmp_path):
        for number, bot in enumerate(names):
            (tmp_path / f"of_bot_{number}.py").write_text(f"BOT_NAME = {bot!r}\n", "utf-8")
            monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", f"of_bot_{number}")
            path = spider_file("news", ".sqlite")
            assert path.parent.parent == tmp_path / ".scrapy" / "simhash"
            path.parent.mkdir(parents=True)
            path.touch()
            assert spider_files(".sqlite") == {"news": path}
