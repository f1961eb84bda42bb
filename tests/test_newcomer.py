"""What a newcomer types on the first and on the second day, and what they expect.

Each row of the table names the test that tries it. What no other test says is tried here: a project
of one's own by `scrapy startproject`, one line in its settings, and a small paper on loopback.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import patch

import pytest
import scrapy
from scrapy.cmdline import execute
from scrapy.utils.project import get_project_settings

from tests.cli.simhash_command import Simhash
from tests.crawl.crawling import Crawl, inside
from tests.crawl.crawling import crawl as crawl_here

ROOT = Path(__file__).parent.parent
HERE = "tests/test_newcomer.py"
ADDON, PIPELINE = "tests/crawl/test_addon.py", "tests/crawl/test_pipeline.py"
EXPLAIN, PAGE = "tests/cli/test_explain.py", "tests/cli/test_page_commands.py"
REPORT, TOLD = "tests/review/test_web_page.py", "tests/test_told.py"

# What is typed, what is expected, and the test that says so.
FIRST_DAY = [
    ("pip install ., sdist or wheel, in an empty environment", "it works", "Makefile::dist"),
    ("make crawl", "what was kept, dropped and nearly dropped, and where to look next",
     "tests/test_demo_crawl.py::test_the_summary_tells_a_newcomer_what_happened_and_where_to_look"),
    ("ADDONS in settings.py, the spider as it was", "the response is judged",
     f"{HERE}::test_one_line_in_a_new_project_is_all_that_it_needs"),
    ("-s SIMHASH_DRY_RUN=True", "all items come out, drops are logged",
     f"{HERE}::test_a_dry_run_says_what_would_go"),
    ("scrapy simhash dropped --spider news", "how many, and which to look at first",
     f"{HERE}::test_the_three_commands_of_the_readme_answer"),
    ("scrapy simhash report -o report.html", "one file for the browser",
     f"{HERE}::test_the_three_commands_of_the_readme_answer"),
    ("scrapy simhash explain URL", "why the page was dropped",
     f"{HERE}::test_the_three_commands_of_the_readme_answer"),
    ("scrapy simhash explain URL, after another spider", "the page is found",
     f"{EXPLAIN}::test_a_page_is_found_whichever_spider_crawled_last"),
    ("scrapy simhash explain URL of a kept page", "the failed test, its measure and its limit",
     f"{EXPLAIN}::test_a_kept_page_is_explained_by_the_failed_test_its_measure_and_its_limit"),
    ("scrapy simhash compare A B", "both are fetched and compared",
     f"{PAGE}::test_compare_tells_twins_by_exit_code_0_and_others_by_1"),
    ("SIMHASH_SECOND_LOOK = False", "the distances alone decide",
     "tests/test_distance_alone.py::test_without_a_second_look_verdicts_are_those_of_brute_force"),
    ("-a simhash_dryrun=1", "did you mean SIMHASH_DRY_RUN?",
     f"{ADDON}::test_a_misspelt_argument_stops_the_crawl"),
    ("two bad values", "both are named at the start",
     f"{PIPELINE}::test_bad_settings_stop_the_crawl_and_are_all_named"),
    ("ADDONS and ITEM_PIPELINES mixed up", "the right line",
     f"{ADDON}::test_an_add_on_and_a_pipeline_that_are_mixed_up_stop_the_crawl_with_the_right_line"),
    ("the pipeline alone, items without a page", "the log says that nothing was judged, and why",
     f"{PIPELINE}::test_items_without_a_page_are_no_faults_and_a_crawl_of_nothing_else_says_so"),
    ("SIMHASH_TWIN_FIELD that the item doesn't declare", "all come out, the log names the field",
     f"{PIPELINE}::test_an_item_that_can_not_be_tagged_comes_out_all_the_same"),
    ("SIMHASH_TWIN_FIELD", "near-duplicates are tagged",
     f"{PIPELINE}::test_a_near_duplicate_may_be_tagged_instead_of_dropped"),
    ("a script with CrawlerProcess", "the same",
     "tests/crawl/test_outcomes.py::test_so_it_is_under_a_reactor"),
    ('Judge("seen.sqlite").judge(url, html)', "a verdict",
     "tests/test_judge.py::test_a_path_and_html_are_all_that_a_judge_needs"),
]  # fmt: skip
SECOND_DAY = [
    ("SIMHASH_UNCHANGED = 'drop', another day's boxes", "only the edited story comes out",
     f"{HERE}::test_on_the_second_day_only_what_is_new_or_edited_comes_out"),
    ("SIMHASH_ITEM_FIELDS = ('sku',)", "all variants come out",
     "tests/crawl/test_lists_crawl.py::test_variants_of_one_text_all_come_out_by_a_field_of_their_items"),
    ("another price", "changed, whatever the text says",
     f"{TOLD}::test_a_changed_field_makes_a_known_page_changed_whatever_its_text"),
    ("n in the report, save, SIMHASH_ANSWERS, crawl again", "the page is out again",
     f"{REPORT}::test_a_page_that_is_answered_by_n_comes_out_of_the_next_crawl"),
    ("two spiders, one store", "a story once",
     f"{PIPELINE}::test_two_spiders_of_a_store_bring_a_url_out_once_if_unchanged_pages_are_dropped"),
    ("the report of the second day", "twins have titles",
     f"{EXPLAIN}::test_the_title_of_a_twin_is_known_on_the_second_day"),
    ("scrapy simhash dropped --kept", "what was nearly dropped",
     "tests/review/test_near_misses.py::test_dropped_lists_what_a_crawl_kept_though_it_was_near"),
    ("scrapy simhash rules", "parts of URLs that don't matter, or what refuses them",
     "tests/test_url_rules.py::test_a_tracking_key_is_taken_though_the_crawl_missed_a_copy"),
    ("scrapy simhash store forget --all --spider news", "the next crawl begins anew",
     f"{HERE}::test_a_store_that_forgets_all_begins_anew"),
]  # fmt: skip


def test_each_of_28_scenarios_is_tried_by_a_test() -> None:
    named = [test for _, _, test in FIRST_DAY + SECOND_DAY]
    assert len(named) == 28
    for test in named:
        path, _, name = test.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        if path == "Makefile":
            assert re.search(rf"^{name}:", text, re.MULTILINE)
        else:
            defined = {each.name for each in ast.parse(text).body if hasattr(each, "name")}
            assert name in defined, test


STORIES = {
    name: " ".join(f"{name}{word % 7} said {word}{name} of it." for word in range(60))
    for name in ("ferry", "bakery", "museum")
}
NEW = "A line that the desk has added after the council met again on Tuesday."
SPIDER = """
import scrapy


class NewsSpider(scrapy.Spider):
    name = "news"

    async def start(self):
        yield scrapy.Request(self.site)

    def parse(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse_story)

    def parse_story(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}
"""


@dataclass
class Paper:
    """Three stories, each for print and with a tracking address too, beside boxes of a day."""

    url: str = ""
    day: int = 1

    def page(self, path: str) -> str:
        name, _, form = path.strip("/").partition("/")
        if not name:
            links = "".join(f"<a href=/{n}/{f}>{n}</a>" for n in STORIES for f in ("print", ""))
            return f"<title>The Paper</title><body>{links}"
        story = STORIES[name] + (NEW if (name, self.day) == ("museum", 2) else "")
        text = f"<h1>{name} news</h1><article><p>{story}</p></article>"
        boxes = [f"<li><a href=/>What {n} read on day {self.day}</a>" for n in STORIES]
        if form != "print":
            text += f"<aside><ul>{''.join(boxes)}</ul></aside><footer>{self.day}17 readers</footer>"
        return f"<title>{name} news | The Paper</title><body><nav><a href=/>Home</a></nav>{text}"


@pytest.fixture(scope="module")
def paper() -> Iterator[Paper]:
    made = Paper()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(404 if self.path == "/robots.txt" else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            if self.path != "/robots.txt":
                self.wfile.write(made.page(self.path).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.url = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, daemon=True).start()
        yield made
        server.shutdown()


class Project:
    """A project as `scrapy startproject` makes it, with one line of ours and a spider."""

    def __init__(self, folder: Path, paper: Paper) -> None:
        self.paper = paper
        with inside(folder), patch.dict(os.environ), pytest.raises(SystemExit) as ended:
            execute(["scrapy", "startproject", "papers"])
        assert not ended.value.code
        self.folder = folder / "papers"
        with (self.folder / "papers/settings.py").open("a") as settings:
            settings.write('ADDONS = {"simhash_pipeline.Addon": 500}\n')
        (self.folder / "papers/spiders/news.py").write_text(SPIDER)

    def crawl(self, day: int = 1, **settings: Any) -> Crawl:
        """`scrapy crawl news -s ...`, but for the second that a new project waits for each page."""
        self.paper.day = day
        with inside(self.folder), patch.dict(os.environ):
            os.environ.pop("SCRAPY_SETTINGS_MODULE", None)
            own = get_project_settings()
            spider: type[scrapy.Spider] = scrapy.spiderloader.SpiderLoader(own).load("news")
            chosen = {name: own[name] for name in own if own.getpriority(name) == 20}
            quick = {"DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS": 1}
            return crawl_here(
                self.folder,
                spider=spider,
                arguments={"site": self.paper.url},
                **{**chosen, "ITEM_PIPELINES": {}, **quick, **settings},
            )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, paper: Paper) -> Project:
    return Project(tmp_path_factory.mktemp("newcomer"), paper)


@pytest.fixture(scope="module")
def dry_run(project: Project) -> Crawl:
    return project.crawl(SIMHASH_DRY_RUN=True, SIMHASH_KEEP_TEXT=True)


@pytest.fixture(scope="module")
def first_day(project: Project, dry_run: Crawl) -> Crawl:
    assert dry_run.items
    return project.crawl()


def paths(crawl: Crawl) -> list[str]:
    return sorted("/" + url.split("/", 3)[3] for url in crawl.scraped)


def test_a_dry_run_says_what_would_go(project: Project, dry_run: Crawl) -> None:
    assert len(dry_run.scraped) == 6
    assert dry_run.log.count("Would drop near-duplicate") == 3
    said = "kept 3, would drop 3 (3: main text near that of a kept page); 3 pages stored"
    assert said in dry_run.log


def test_the_three_commands_of_the_readme_answer(
    project: Project, dry_run: Crawl, simhash_in_project: Simhash
) -> None:
    url = f"{project.paper.url}/ferry/print"
    dropped = simhash_in_project(project.folder, "dropped", "--spider", "news")
    assert "3 of 6 pages would be dropped; " in dropped.stdout
    report = simhash_in_project(project.folder, "report", "-o", "report.html")
    assert report.stdout.startswith("report.html: 3 drops")
    why = simhash_in_project(project.folder, "explain", url).stdout
    assert "main text near that of a kept page" in why
    assert f"A  kept     {project.paper.url}/ferry/\n" in why


def test_one_line_in_a_new_project_is_all_that_it_needs(first_day: Crawl) -> None:
    assert paths(first_day) == ["/bakery/", "/ferry/", "/museum/"]
    assert first_day.stats["simhash/unchanged"] == 3  # the dry run has stored them


def test_on_the_second_day_only_what_is_new_or_edited_comes_out(
    project: Project, first_day: Crawl
) -> None:
    second = project.crawl(2, SIMHASH_UNCHANGED="drop")
    assert paths(second) == ["/museum/"]
    assert second.stats["simhash/dropped/unchanged"] == len(first_day.scraped) - 1


def test_a_store_that_forgets_all_begins_anew(
    paper: Paper, tmp_path: Path, simhash_in_project: Simhash
) -> None:
    project = Project(tmp_path, paper)
    assert len(paths(project.crawl())) == 3
    forgotten = simhash_in_project(
        project.folder, "store", "forget", "--all", "--spider", "news", "--yes"
    )
    assert (forgotten.returncode, forgotten.stderr) == (0, "")
    again = project.crawl(SIMHASH_UNCHANGED="drop")
    assert len(paths(again)) == 3
    assert again.stats["simhash/store_pages"] == 3
