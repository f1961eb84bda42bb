"""The add-on beside what else a Scrapy project has: feeds, files, commands, middlewares, logs."""

from __future__ import annotations

import csv
import importlib
import json
import re
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import scrapy
from scrapy import signals
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from simhash_pipeline import open_store
from simhash_pipeline.crawl.feeds import Feeds
from simhash_pipeline.crawl.pending import PendingItems
from tests.crawl.crawling import Crawl, crawl, have_reactor, inside
from tests.crawl.trap_site import trap_site
from tests.documents import TEXT
from tests.forked import scrapy_forked

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent.parent

SETTINGS = """
ADDONS = {"simhash_pipeline.Addon": 500}
SPIDER_MODULES = ["shop.spiders"]
FILES_STORE = "files"
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
"""
# Two pages of one story, then another story; the first has a file that isn't there.
SPIDER = """
import scrapy

class Stories(scrapy.Spider):
    name = "stories"
    custom_settings = {"CONCURRENT_REQUESTS": 1}
    start_urls = ["@@@/story/1", "@@@/story/1?print=1", "@@@/story/2"]
    def parse(self, response):
        '''
        @url @@@/story/1
        @returns items 1 1
        @scrapes title
        '''
        file = "/" if response.url.endswith(("=1", "2")) else "/missing"
        yield {
            "title": response.css("title::text").get(),
            "url": response.url,
            "file_urls": [response.urljoin(file)],
        }
"""
BESIDE = """
import warnings
from scrapy.exceptions import DropItem
from scrapy.logformatter import LogFormatter
from scrapy.pipelines.files import FilesPipeline

class WithFiles(FilesPipeline):
    def item_completed(self, results, item, info):
        if not all(ok for ok, _ in results):
            raise DropItem("a file is missing")
        return super().item_completed(results, item, info)

# Scrapy's word on middlewares that are sync only, as long as it took them.
warnings.filterwarnings("ignore", ".*asynchronous spider output")

def seen(each):
    if isinstance(each, dict):
        each["seen"] = True
    return each

class SyncOnly:
    def process_spider_output(self, response, result):
        yield from map(seen, result)

class Async:
    async def process_spider_output(self, response, result):
        async for each in result:
            yield seen(each)

class Both(SyncOnly):
    async def process_spider_output_async(self, response, result):
        async for each in result:
            yield seen(each)

class OurFormatter(LogFormatter):
    def dropped(self, item, exception, response, spider):
        return {"level": 30, "msg": "Ours: %(why)s", "args": {"why": type(exception).__name__}}
"""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with trap_site("session") as url:
        yield url.rstrip("/")


@pytest.fixture
def project(tmp_path: Path, site: str) -> Path:
    """A Scrapy project with one spider, whose settings are those above."""
    spiders = tmp_path / "shop/spiders"
    spiders.mkdir(parents=True)
    (spiders / "__init__.py").touch()
    (spiders / "stories.py").write_text(SPIDER.replace("@@@", site))
    (tmp_path / "shop/__init__.py").touch()
    (tmp_path / "shop/settings.py").write_text(SETTINGS)
    (tmp_path / "shop/beside.py").write_text(BESIDE)
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = shop.settings\n")
    return tmp_path


def run(directory: Path, *arguments: str, **settings: object) -> tuple[str, str]:
    """Standard output and log of a Scrapy command that succeeds; warnings are errors."""
    given = [
        f"{name}={json.dumps(value) if isinstance(value, dict) else value}"
        for name, value in settings.items()
    ]
    chosen = [argument for setting in given for argument in ("-s", setting)]
    result = scrapy_forked(directory, *arguments, *chosen)
    assert result.returncode == 0, result.stderr
    return result.stdout, result.stderr


def crawl_project(directory: Path, feed: str = "", **settings: Any) -> Crawl:
    """The spider's crawl in the tests' process, with the project's settings and these."""
    with inside(directory):
        stories = importlib.import_module("shop.spiders.stories").Stories
        of_project: dict[str, Any] = vars(importlib.import_module("shop.settings"))
        chosen = {name: value for name, value in of_project.items() if name.isupper()}
        chosen |= {"ITEM_PIPELINES": {}, "LOG_LEVEL": "DEBUG", **settings}
        feeds = {feed: {"format": "jsonlines"}} if feed else {}
        result = crawl(directory, spider=stories, at_once=100, FEEDS=feeds, **chosen)
    assert (result.failure, result.stats["finish_reason"]) == ("", "finished")
    return result


def items(feed: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in feed.read_text(encoding="utf-8").splitlines()]


def titles(feed: Path) -> list[str]:
    return [item["title"] for item in items(feed)]


def test_feeds_hold_what_is_kept_and_no_field_of_ours(project: Path) -> None:
    run(project, "crawl", "stories", "-O", "out.jsonl", "-O", "out.csv")
    assert titles(project / "out.jsonl") == ["Story 1", "Story 2"]
    with (project / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["title"] for row in rows] == ["Story 1", "Story 2"]
    assert list(rows[0]) == ["title", "url", "file_urls"]


@pytest.mark.parametrize("order", [200, 400], ids=["before", "behind"])
def test_of_two_twins_the_one_whose_files_come_is_kept(project: Path, order: int) -> None:
    pipelines = {"shop.beside.WithFiles": order}
    crawl_project(project, "out.jsonl", ITEM_PIPELINES=pipelines)
    kept = items(project / "out.jsonl")
    assert sorted(item["url"].rpartition("/")[2] for item in kept) == ["1?print=1", "2"]
    assert all(item["files"] for item in kept)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["shell", "@@@/story/1", "-c", "response.css('h1::text').get()"], "Story 1\n"),
        (["fetch", "@@@/story/1"], "<h1>Story 1</h1>"),
        (["parse", "@@@/story/1", "--spider", "stories"], "'title': 'Story 1'"),
        (["check", "stories"], ""),
        pytest.param(["bench"], "", marks=pytest.mark.ci),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_commands_that_keep_no_items_work_and_store_no_page(
    project: Path, site: str, command: list[str], said: str
) -> None:
    arguments = [argument.replace("@@@", site) for argument in command]
    output, log = run(project, *arguments, CLOSESPIDER_PAGECOUNT=20)
    assert said in output
    assert "simhash_pipeline.crawl.pipeline.Addon" in log or command[0] == "check"
    for path in project.glob(".scrapy/simhash/*.sqlite"):
        with open_store(f"sqlite:///{path}") as store:
            assert len(store) == 0
    assert not any(path.read_bytes() for path in project.glob(".scrapy/simhash/*.jsonl"))
    if command[0] != "parse":  # which opens the files of its spider
        assert not list(project.glob(".scrapy/simhash/*"))


def test_parse_with_pipelines_judges_items_that_hold_their_page(project: Path, site: str) -> None:
    spider = project / "shop/spiders/stories.py"
    spider.write_text(spider.read_text().replace('"url"', '"html": response.text, "url"'))
    arguments = ["parse", f"{site}/story/1", "--spider", "stories", "--pipelines"]
    _, log = run(project, *arguments)
    assert "'simhash/kept': 1" in log
    with open_store(f"sqlite:///{project}/.scrapy/simhash/stories.sqlite") as store:
        assert len(store) == 0  # its item came out nowhere
    # By the response: Scrapy leaves spider middlewares out.
    _, log = run(project, *arguments, SIMHASH_HTML_FIELD="none")
    assert "'simhash/not_judged': 1" in log
    assert "No page was judged" in log


def test_a_single_file_spider_runs_outside_a_project(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    spider = (project / "shop/spiders/stories.py").rename(outside / "stories.py")
    (project / "scrapy.cfg").unlink()
    addons = {"simhash_pipeline.Addon": 500}
    arguments = ["runspider", spider.name, "-O", "out.jsonl"]
    run(outside, *arguments, ADDONS=addons)
    assert titles(outside / "out.jsonl") == ["Story 1", "Story 2"]
    assert (outside / ".scrapy/simhash/stories.sqlite").is_file()


REFUSED = pytest.mark.skipif(
    scrapy.version_info >= (2, 19), reason="this Scrapy refuses middlewares that are sync only"
)


@pytest.mark.parametrize("kind", [pytest.param("SyncOnly", marks=REFUSED), "Async", "Both"])
def test_middlewares_of_others_see_every_item_whether_async_or_not(
    project: Path, kind: str
) -> None:
    crawl_project(
        project,
        "out.jsonl",
        SPIDER_MIDDLEWARES={f"shop.beside.{kind}": 543},
        SIMHASH_FOLLOW_TWINS=False,
    )
    assert [item["seen"] for item in items(project / "out.jsonl")] == [True, True]


def test_an_item_that_got_the_id_of_one_that_is_done_keeps_its_response() -> None:
    have_reactor()
    crawler: Any = get_crawler(settings_dict={"SIMHASH_HTML_FIELD": None})
    pending = PendingItems(crawler, Feeds(crawler, print), crawler, print)
    one, other = (HtmlResponse(f"http://a.example/{n}") for n in (1, 2))
    done, sibling = {"n": 1}, {"n": 2}
    pending.enter(done, one)
    pending.enter(sibling, one)
    crawler.signals.send_catch_log(signals.item_scraped, item=done, response=one, spider=None)
    number = id(done)
    del done
    item = next(each for each in ({"n": n} for n in range(1_000)) if id(each) == number)
    pending.enter(item, other)
    crawler.signals.send_catch_log(signals.item_scraped, item=sibling, response=one, spider=None)
    entry = copy_context().run(pending.track, item)
    assert entry.response is not None
    assert entry.response() is other


def test_the_pipeline_alone_needs_no_add_on(project: Path) -> None:
    spider = project / "shop/spiders/stories.py"
    spider.write_text(spider.read_text().replace('"url"', '"html": response.text, "url"'))
    crawl_project(
        project,
        "out.jsonl",
        ADDONS={},
        ITEM_PIPELINES={"simhash_pipeline.SimhashPipeline": 300},
        SPIDER_MIDDLEWARES={"shop.beside.Both": 543, "shop.beside.Async": 544},
        SIMHASH_HTML_FIELD="html",
    )
    assert titles(project / "out.jsonl") == ["Story 1", "Story 2"]


def test_a_projects_own_log_formatter_stays_in_force_beside_our_line(project: Path) -> None:
    log = crawl_project(project, LOG_FORMATTER="shop.beside.OurFormatter").log
    assert log.count("WARNING: Ours: NearDuplicate") == 1
    assert log.count("INFO: Dropped near-duplicate") == 1


def test_the_stats_that_the_readme_names_are_there_after_a_crawl(project: Path) -> None:
    result = crawl_project(project)
    named = set(re.findall(r"`(simhash/[a-z_/]+)`\\\*", TEXT))
    assert named
    assert named <= result.stats.keys()
