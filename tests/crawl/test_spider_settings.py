"""`scrapy simhash … --spider` in a project whose spiders have settings of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_commands import scrapy

if TYPE_CHECKING:
    from pathlib import Path

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
    simhash_hash = "fnv1a"
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
    for spider in ("news", "wire"):
        assert scrapy("crawl", spider, directory=folder).returncode == 0
    return folder


def told(project: Path, *arguments: str) -> dict[str, object]:
    result = scrapy("simhash", *arguments, "--json", directory=project)
    assert (result.returncode, result.stderr) == (0, "")
    found: dict[str, object] = json.loads(result.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(("spider", "store"), [("news", "own"), ("wire", ".scrapy/simhash/wire")])
def test_the_store_is_the_one_that_the_spider_names(project: Path, spider: str, store: str) -> None:
    info = told(project, "store", "info", "--spider", spider)
    assert str(info["store"]).endswith(f"{store}.sqlite")
    assert info["pages"] == 1


@pytest.mark.parametrize("spider", ["news", "wire"])
def test_of_a_log_that_spiders_share_one_spiders_drops_are_told(project: Path, spider: str) -> None:
    everyone = told(project, "dropped")["summary"]
    alone = told(project, "dropped", "--spider", spider, "--run", "last")["summary"]
    assert isinstance(everyone, dict)
    assert isinstance(alone, dict)
    assert (everyone["dropped"], alone["dropped"], alone["kept"]) == (4, 2, 1)
    assert [run["spider"] for run in alone["runs"]] == [spider]


@pytest.mark.parametrize("options", [(), ("--spider", "news")])
def test_a_drop_is_explained_by_its_spiders_options(project: Path, options: tuple[str]) -> None:
    case = told(project, "explain", URL, *options)
    assert case["status"] == "dropped"
    assert isinstance(twin := case["twin"], dict)
    assert twin["url"] == "http://news.example/0"


def test_a_spider_that_the_project_does_not_have_left_nothing(project: Path) -> None:
    result = scrapy("simhash", "store", "info", "--spider", "none", directory=project)
    assert result.returncode == 2
    assert f"there is no store at {project}/.scrapy/simhash/none.sqlite" in result.stderr
