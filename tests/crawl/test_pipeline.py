"""Crawls of a few items: what comes out, what is dropped, counted, logged and remembered."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import bs4
import lxml.html
import pydantic
import pytest
import scrapy
from scrapy.exceptions import DropItem

from simhash_pipeline import SimhashPipeline, native, open_store
from simhash_pipeline.drop_log import DropLog, Run, read_log
from simhash_pipeline.errors import DropLogError, OptionsError
from tests.crawl.crawling import (
    OTHER,
    STORY,
    ItemSpider,
    Unlucky,
    crawl,
    crawl_in_a_process,
    html,
    page,
)
from tests.forked import scrapy_forked
from tests.read_only import read_only
from tests.review.logs import read_drops


class StoryItem(scrapy.Item):
    url = scrapy.Field()
    html = scrapy.Field()
    text = scrapy.Field()


@dataclasses.dataclass
class StoryDataclass:
    url: str
    html: object = None
    text: str = ""


@attrs.define
class StoryAttrs:
    url: str
    html: object = None
    text: str = ""


class StoryModel(pydantic.BaseModel):
    url: str
    html: object = None
    text: str = ""


ITEM_TYPES = [dict, StoryItem, StoryDataclass, StoryAttrs, StoryModel]

# Items, and the kind of fault each is counted as.
UNREADABLE: list[tuple[dict[str, Any], str]] = [
    (page("x", html={"a": 1}), "wrong_type"),
    (page("x", html=7), "wrong_type"),
    (page("x", html=""), "empty"),
    (page("x", html=b""), "empty"),
    (page("x", html=b"%PDF-1.4 binary"), "binary"),
    (page("x", html=bytes(range(256))), "binary"),
    ({"html": html(STORY)}, "no_url"),
    (page(1, url="http://[::1/"), "bad_url"),
    (page(1, url="http://a.example/\ud800"), "bad_url"),
]


@pytest.mark.parametrize("make", ITEM_TYPES)
def test_any_item_type_is_judged(tmp_path: Path, make: Callable[..., Any]) -> None:
    items = [make(**page(1)), make(**page(2)), make(**page(3, OTHER))]
    result = crawl(tmp_path, items, SIMHASH_ADDED_FIELDS={"text": "text"})
    assert result.scraped == ["http://a.example/1", "http://a.example/3"]
    assert result.dropped == ["http://a.example/2"]
    assert result.stats["simhash/kept"] == 2
    assert result.stats["simhash/dropped"] == 1
    assert result.stats["simhash/dropped/content"] == 1
    assert result.stats["item_dropped_reasons_count/NearDuplicate"] == 1
    assert "simhash/errors/field" not in result.stats


class Address:
    def __init__(self, url: str) -> None:
        self.url = url

    def __str__(self) -> str:
        return self.url


class StoryAtHttpUrl(pydantic.BaseModel):
    url: pydantic.HttpUrl
    html: str


def test_a_url_may_be_an_object_that_spells_one(tmp_path: Path) -> None:
    items = [
        StoryAtHttpUrl(**page(1)),
        page(2, url=Address("http://a.example/2")),
        StoryAtHttpUrl(**page(3, OTHER)),
    ]
    result = crawl(tmp_path, items)
    assert [str(url) for url in result.scraped] == ["http://a.example/1", "http://a.example/3"]
    assert result.stats["simhash/kept"] == 2


class Lazy(scrapy.Item):
    url, html = scrapy.Field(), scrapy.Field()

    def __getitem__(self, name: str) -> Any:
        raise ValueError("not loaded")


class PassOn:
    """A later pipeline that reads nothing of an item."""

    passed = 0

    def process_item(self, item: Any) -> Any:
        type(self).passed += 1
        return item


def test_an_item_whose_fields_fail_when_read_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PassOn, "passed", 0)
    result = crawl(tmp_path, [Lazy(url="http://a.example/1")], later=PassOn)
    assert PassOn.passed == len(result.items) == 1
    assert not result.errors


def test_a_drop_carries_its_verdict_and_logs_one_line_without_the_page(tmp_path: Path) -> None:
    result = crawl(tmp_path, [page(1), page(2)])
    (verdict,) = result.verdicts
    assert (verdict.reason, verdict.twin_url) == ("content", "http://a.example/1")
    lines = [line for line in result.log.splitlines() if "http://a.example/2" in line]
    (line,) = lines
    assert line.endswith(
        "Dropped near-duplicate http://a.example/2 of http://a.example/1 (content 0)"
    )
    assert "word17" not in result.log


def test_a_drop_that_is_no_matter_of_distances_says_so(tmp_path: Path) -> None:
    """Of two pages that declare one address, whose contents are beyond the limit."""
    link = '<link rel="canonical" href="http://a.example/1">'
    pages = [page(1), page(2, f"{STORY} {STORY[:200]} and more of it")]
    for each in pages:
        each["html"] = each["html"].replace("<title>", f"{link}<title>")
    result = crawl(tmp_path, pages, SIMHASH_CONTENT_DISTANCE=0)
    assert "of http://a.example/1 (address: content " in result.log


@pytest.mark.parametrize("missing", ["the compiled kernel", ""])
def test_a_crawl_says_once_that_the_kernel_was_not_built(
    tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "missing", missing)
    log = crawl(tmp_path, [page(1), page(2, OTHER)]).log
    assert log.count("Pages are read without the compiled kernel") == bool(missing)


@pytest.mark.parametrize("kernel", [native.kernel, None])
def test_a_crawl_says_at_its_start_whether_compiled_code_reads_its_pages(
    tmp_path: Path, kernel: native.Kernel | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "kernel", kernel)
    log = crawl(tmp_path, [page(1)]).log
    begins = f"simhash_pipeline ({native.kind()}) begins with an empty store: {tmp_path}"
    assert log.count(f"{begins}/.scrapy/simhash/items.sqlite\n") == 1


def test_a_crawl_names_its_store_at_the_start(tmp_path: Path) -> None:
    """A crawl from another directory, as by cron, finds another store: the line shows which."""
    crawl(tmp_path, [page(1), page(2, OTHER)])
    again = crawl(tmp_path, [page(3)]).log
    assert f"remembers 2 pages in {tmp_path}/.scrapy/simhash/items.sqlite\n" in again
    assert "begins with an empty store: memory:\n" in crawl(tmp_path, SIMHASH_STORE="memory:").log
    named = crawl(tmp_path, SIMHASH_STORE="seen.sqlite").log
    assert f"begins with an empty store: {tmp_path}/seen.sqlite\n" in named


def test_store_and_drop_log_lie_in_scrapys_data_directory(tmp_path: Path) -> None:
    crawl(tmp_path, [page(1), page(2)])
    directory = tmp_path / ".scrapy" / "simhash"
    assert (directory / "items.sqlite").is_file()
    (drop,) = read_drops(directory / "items.drops.jsonl")
    assert (drop.spider, drop.url) == ("items", "http://a.example/2")


def test_a_second_crawl_remembers_the_first(tmp_path: Path) -> None:
    crawl(tmp_path, [page(1)])
    result = crawl(tmp_path, [page(1), page(2)])
    assert result.scraped == ["http://a.example/1"]
    assert result.stats["simhash/unchanged"] == 1
    runs = {drop.run for drop in read_drops(tmp_path / ".scrapy/simhash/items.drops.jsonl")}
    assert len(runs) == 1


def test_an_item_without_a_readable_page_is_kept_counted_and_logged_once_a_kind(
    tmp_path: Path,
) -> None:
    items = [item for item, _ in UNREADABLE]
    items = [*items, *items, page(1)]
    result = crawl(tmp_path, items, SIMHASH_STORE="memory:")
    assert len(result.scraped) == 2 * len(UNREADABLE) + 1
    assert result.errors == []
    for kind, number in Counter(kind for _, kind in UNREADABLE).items():
        assert result.stats[f"simhash/errors/{kind}"] == 2 * number
        assert result.log.count(f"Further ones are only counted (simhash/errors/{kind})") == 1
    assert result.stats["simhash/errors"] == 2 * len(UNREADABLE)
    assert result.stats["simhash/kept"] == 1


@pytest.mark.parametrize("field", ["html", None])
def test_items_without_a_page_are_no_faults_and_a_crawl_of_nothing_else_says_so(
    tmp_path: Path, field: str | None
) -> None:
    items = [{"url": "http://a.example/x"}, page("x", html=None), {"price": 7}]
    result = crawl(tmp_path, items, SIMHASH_HTML_FIELD=field)
    assert len(result.items) == 3
    assert (result.stats["simhash/not_judged"], result.stats["simhash/errors"]) == (3, 0)
    (said,) = (line for line in result.log.splitlines() if "No page was judged" in line)
    assert "WARNING" in said
    assert f"none of 3 items holds a page (SIMHASH_HTML_FIELD is {field!r}) or a text" in said
    assert said.endswith('the add-on knows responses: ADDONS = {"simhash_pipeline.Addon": 500}')
    unread = crawl(tmp_path, [*items, page(1, url=7)])
    assert "No page was judged" not in unread.log
    some = crawl(tmp_path, [*items, page(1)])
    assert "No page was judged" not in some.log
    assert "kept 3 without a page" in some.log


def _as_selector(markup: str) -> object:
    return scrapy.Selector(text=markup)


def _as_soup(markup: str) -> object:
    return bs4.BeautifulSoup(markup, "lxml")


@pytest.mark.parametrize(
    "held",
    [
        *(str.encode, _as_selector, _as_soup, lxml.html.fromstring),
        lambda markup: [markup],
        lambda markup: (markup.encode(),),
        lambda markup: scrapy.Selector(text=markup).css("html"),
    ],
)
def test_a_page_may_be_held_in_several_ways(tmp_path: Path, held: Callable[[str], object]) -> None:
    items = [page(1), page(2, html=held(html(STORY))), page(3, html=held(html(OTHER)))]
    result = crawl(tmp_path, items)
    assert result.dropped == ["http://a.example/2"]
    assert result.stats["simhash/kept"] == 2


def test_a_str_with_a_wrong_declared_charset_is_read(tmp_path: Path) -> None:
    items = [page(1), page(2, html="<meta charset=big5>" + html(STORY))]
    assert crawl(tmp_path, items).stats["simhash/dropped"] == 1


def test_the_charset_of_the_http_header_is_used(tmp_path: Path) -> None:
    chinese = "昨天上午，三艘渔船在大雾中安全返回港口，船员全部平安。港务局说。" * 9
    items = [
        page(1, chinese),
        page(2, html=html(chinese).encode("gbk"), charset="gb2312"),
        page(3, html=html(chinese).encode("gbk"), charset=42),
    ]
    result = crawl(tmp_path, items)
    assert result.stats["simhash/dropped"] == 2


@pytest.mark.parametrize("outcome", ["drop", "fail"])
def test_a_page_whose_item_a_later_pipeline_loses_is_forgotten(
    tmp_path: Path, outcome: str
) -> None:
    result = crawl(tmp_path, [page(1, outcome=outcome), page(2), page(3)])
    assert result.scraped == ["http://a.example/2"]
    assert result.verdicts[0].twin_url == "http://a.example/2"


def test_a_page_whose_item_a_later_pipeline_replaces_is_remembered(tmp_path: Path) -> None:
    result = crawl(tmp_path, [page(1, outcome="replace"), page(2)])
    assert result.scraped == ["http://a.example/1"]


@pytest.mark.parametrize("error", [DropItem, RuntimeError])
def test_an_item_that_an_earlier_pipeline_loses_costs_no_page_of_its_url(
    tmp_path: Path, error: type[Exception]
) -> None:
    class Duplicates:
        seen: set[str] = set()  # noqa: RUF012  # of this test's crawl

        async def process_item(self, item: Any) -> Any:
            if item["url"] in self.seen:
                await asyncio.sleep(0.2)  # until the first is in the last pipeline
                raise error("seen already")
            self.seen.add(item["url"])
            return item

    pipelines = {Duplicates: 200, "simhash_pipeline.SimhashPipeline": 300, Unlucky: 400}
    items = [page(1, secs=0.5), page(1)]
    result = crawl(tmp_path, items, at_once=100, ITEM_PIPELINES=pipelines)
    assert result.scraped == ["http://a.example/1"]
    assert crawl(tmp_path, [page(2)]).dropped == ["http://a.example/2"]


def test_a_dry_run_drops_nothing_but_logs(tmp_path: Path) -> None:
    result = crawl(tmp_path, [page(1), page(2)], SIMHASH_DRY_RUN=True)
    assert len(result.scraped) == 2
    assert result.stats["simhash/would_drop/content"] == 1
    assert "Would drop near-duplicate http://a.example/2 of http://a.example/1" in result.log
    (drop,) = read_drops(tmp_path / ".scrapy/simhash/items.drops.jsonl")
    assert drop.dry_run


def test_a_dry_run_says_that_its_pages_will_be_dropped_as_unchanged(tmp_path: Path) -> None:
    said = "The pages of this dry run count as known: later crawls drop them as unchanged"
    assert said not in crawl(tmp_path, [page(1)], SIMHASH_DRY_RUN=True).log
    dry = crawl(tmp_path, [page(2, OTHER)], SIMHASH_DRY_RUN=True, SIMHASH_UNCHANGED="drop")
    assert said in dry.log
    real = crawl(tmp_path, [page(2, OTHER)], SIMHASH_UNCHANGED="drop")
    assert (real.scraped, real.dropped) == ([], ["http://a.example/2"])


def test_namespaces_know_nothing_of_one_another(tmp_path: Path) -> None:
    crawl(tmp_path, [page(1)], SIMHASH_NAMESPACE="news")
    trial = crawl(tmp_path, [page(2)], SIMHASH_NAMESPACE="trial")
    news = crawl(tmp_path, [page(3)], SIMHASH_NAMESPACE="news")
    assert (trial.scraped, news.dropped) == (["http://a.example/2"], ["http://a.example/3"])
    assert "remembers 1 page of all namespaces in" in trial.log
    assert "; 2 pages of all namespaces stored; list" in news.log


def test_pages_that_were_not_seen_for_so_long_are_forgotten(tmp_path: Path) -> None:
    crawl(tmp_path, [page(1), page(2, OTHER)])
    with open_store(f"sqlite:///{tmp_path}/.scrapy/simhash/items.sqlite") as store:
        pages = [dataclasses.replace(page, seen_at=page.seen_at - 90) for page in store.pages()]
        store.insert_many(page for page in pages if page.url.endswith("1"))
    trial = crawl(tmp_path, [page(5)], SIMHASH_EXPIRE_AFTER="1m", SIMHASH_NAMESPACE="trial")
    assert "simhash/expired" not in trial.stats
    result = crawl(tmp_path, [page(3), page(4, OTHER)], SIMHASH_EXPIRE_AFTER="1m")
    assert (result.scraped, result.dropped) == (["http://a.example/3"], ["http://a.example/4"])
    assert "Forgot 1 page not seen for so long (SIMHASH_EXPIRE_AFTER)" in result.log
    assert result.stats["simhash/expired"] == 1


def test_only_changed_pages_come_out_where_unchanged_ones_are_dropped(tmp_path: Path) -> None:
    crawl(tmp_path, [page(1), page(2, OTHER)])
    more = [page(1), page(2, " ".join(f"more{i}" for i in range(99)))]
    result = crawl(tmp_path, more, SIMHASH_UNCHANGED="drop")
    assert (result.scraped, result.dropped) == (["http://a.example/2"], ["http://a.example/1"])
    assert (result.stats["simhash/changed"], result.stats["simhash/unchanged"]) == (1, 1)


def test_many_known_pages_that_changed_are_reported(tmp_path: Path) -> None:
    """Adverts in their texts, mostly."""
    for visit, warned in ((1, False), (2, True)):
        texts = [" ".join(f"site{n}word{i}" for i in range(90)) for n in range(60)]
        items = [page(n, f"{text} {visit if n < 21 else 0}") for n, text in enumerate(texts)]
        result = crawl(tmp_path, items, at_once=100)
        said = "21 of 60 items of known pages have changed (21: main text). If nobody edited"
        assert (said in result.log) is warned
    assert "or give the item the page's own box as its html\n" in result.log


def test_the_log_names_what_changed_most(tmp_path: Path) -> None:
    for visit in (1, 2):
        items = [{**page(n, f"{OTHER} {n}", price=n * visit), "title": f"T{n}"} for n in range(2)]
        result = crawl(tmp_path, items, SIMHASH_ITEM_FIELDS=("price",))
    assert "INFO: 1 of 2 items of known pages have changed (1: price)" in result.log


def test_an_edit_of_a_page_that_an_earlier_crawl_dropped_comes_out(tmp_path: Path) -> None:
    assert crawl(tmp_path, [page(1), page(2)]).dropped == ["http://a.example/2"]
    time.sleep(1.1)  # times are whole seconds
    edited = f"{STORY} Nine were hurt."
    result = crawl(tmp_path, [page(3, edited), page(2, edited)])
    assert (result.scraped, result.dropped) == (["http://a.example/2"], ["http://a.example/3"])
    assert result.stats["simhash/changed"] == 1
    assert crawl(tmp_path, [page(2, edited)], SIMHASH_UNCHANGED="drop").scraped == []


def test_pages_that_the_second_look_told_apart_are_kept_and_counted(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"SIMHASH_CONTENT_DISTANCE": "8", "SIMHASH_SKETCH_DISTANCE": "0"}
    result = crawl(tmp_path, [page(1), page(2, STORY + " more")], **settings)
    assert result.scraped == ["http://a.example/1", "http://a.example/2"]
    assert result.stats["simhash/near_misses"] == 1
    assert (
        "Near misses: 1 kept though near a stored page (1: sketch); list them with `scrapy "
        "simhash dropped --kept --spider items`"
    ) in result.log


def test_the_last_lines_name_the_fields_that_kept_near_pages(tmp_path: Path) -> None:
    """A field that differs with each visit keeps every copy, from the first crawl on."""
    pages = [page(n) | {"rank": f"rank {n}"} for n in range(3)]
    for n, each in enumerate(pages):
        each["html"] = each["html"].replace("</body>", f"<b>rank {n}</b></body>")
        assert f"rank {n}" in each["html"]
    result = crawl(tmp_path, pages, SIMHASH_ITEM_FIELDS="rank")
    assert "Near misses: 2 kept though near a stored page (2: rank differs); list" in result.log


def test_unchanged_pages_are_counted_and_not_written_one_by_one(tmp_path: Path) -> None:
    """Every day's crawl meets them all again."""
    for level in ("INFO", "DEBUG", "INFO"):
        result = crawl(tmp_path, [page(1)], SIMHASH_UNCHANGED="drop", LOG_LEVEL=level)
        assert ("Dropped unchanged http://a.example/1\n" in result.log) == (level == "DEBUG")
    assert result.dropped == ["http://a.example/1"]
    assert "kept 0, dropped 1 (1: known URL, nothing has changed)" in result.log
    assert list(read_drops(tmp_path / ".scrapy/simhash/items.drops.jsonl")) == []


def test_a_hundred_drops_are_logged_one_by_one(tmp_path: Path) -> None:
    result = crawl(tmp_path, [page(n) for n in range(103)], at_once=100)
    lines = [line for line in result.log.splitlines() if "Dropped near-duplicate" in line]
    assert len(lines) == 100
    log = tmp_path / ".scrapy/simhash/items.drops.jsonl"
    assert f"More drops are in {log}\n" in result.log
    assert len(list(read_drops(log))) == 102


def test_drops_of_an_earlier_crawl_are_logged_at_debug(tmp_path: Path) -> None:
    """Every night meets the same copies; those of a dry run are new to the first real crawl."""
    pages = [page(n) for n in range(3)]
    said = "Drops as in an earlier crawl: {} (their lines are at level DEBUG)\n"
    dry = crawl(tmp_path, pages, SIMHASH_DRY_RUN=True, LOG_LEVEL="INFO").log
    first = crawl(tmp_path, pages, LOG_LEVEL="INFO").log
    assert (dry.count("Would drop near-"), first.count("Dropped near-")) == (2, 2)
    assert "as in an earlier crawl" not in dry + first
    night = crawl(tmp_path, [*pages, page(3)], LOG_LEVEL="INFO").log
    assert night.count("Dropped near-duplicate") == 1
    assert "Dropped near-duplicate http://a.example/3 of http://a.example/0" in night
    assert said.format(2) in night


def test_a_long_crawl_logs_running_sums(tmp_path: Path) -> None:
    """At the interval of Scrapy's own: LOGSTATS_INTERVAL."""
    items = [page(1, secs=0.3), page(2, secs=0.3), page(3, OTHER)]
    assert "Near-duplicates so far" not in crawl(tmp_path, items, SIMHASH_STORE="memory:").log
    log = crawl(tmp_path, items, LOGSTATS_INTERVAL=0.2).log
    assert "Near-duplicates so far: kept 1, dropped 1 (1: main text near that of a kept" in log


def test_the_last_line_names_the_log_that_was_written(tmp_path: Path) -> None:
    items = [page(1), page(2)]
    named = crawl(tmp_path, items, SIMHASH_DROP_LOG="my drops.jsonl", SIMHASH_STORE="memory:").log
    assert "list them with `scrapy simhash dropped --list 'my drops.jsonl'`\n" in named
    assert "dropped --list --spider items`\n" in crawl(tmp_path, items, SIMHASH_STORE="memory:").log
    assert "scrapy simhash" not in crawl(tmp_path, items, SIMHASH_DROP_LOG=None).log
    again = crawl(tmp_path, items[:1], SIMHASH_UNCHANGED="drop").log  # these are only counted
    assert "dropped 1 (1: known URL" in again
    assert "--list" not in again


def test_log_and_verdicts_show_addresses_as_they_came(tmp_path: Path) -> None:
    """Stores know a page by its canonical URL, whose query is sorted; its item does not."""
    one, two = "http://a.example/?b=2&a=1", "http://a.example/?c=3&b=2"
    items = [page(1, url=one), page(2, url=two), page(1, url="http://a.example/?a=1&b=2")]
    result = crawl(tmp_path, items, SIMHASH_TWIN_FIELD="copy_of")
    assert [item.get("copy_of") for item in result.items] == [None, one, one]
    (drop,) = read_drops(tmp_path / ".scrapy/simhash/items.drops.jsonl")
    assert (drop.url, drop.twin_url) == (two, one)
    assert f"{two} of {one}" in result.log


def test_links_are_followed_with_a_word_where_the_add_on_is_missing(tmp_path: Path) -> None:
    said = "SIMHASH_FOLLOW_TWINS and SIMHASH_TRAP_BUDGET need the add-on: all is followed"
    half: dict[str, Any] = {"SPIDER_MIDDLEWARES": {"simhash_pipeline.FollowMiddleware": 1}}
    for without in (dict[str, Any](), half):
        alone = crawl(tmp_path, [page(1)], SIMHASH_TRAP_BUDGET=3, **without)
        assert said in alone.log
    addon: dict[str, Any] = {"ADDONS": {"simhash_pipeline.Addon": 1}, "SIMHASH_TRAP_BUDGET": 3}
    for settings in (addon, addon | {"SIMHASH_DRY_RUN": True}):
        assert said not in crawl(tmp_path, [page(1)], **settings).log


class OwnPipeline(SimhashPipeline):
    pass


def test_a_subclass_of_the_pipeline_is_the_add_ons_own(tmp_path: Path) -> None:
    addon: dict[str, Any] = {"ADDONS": {"simhash_pipeline.Addon": 1}, "SIMHASH_UNCHANGED": "drop"}
    result = crawl(tmp_path, [page(1), page(2)], ITEM_PIPELINES={OwnPipeline: 250}, **addon)
    assert result.scraped == ["http://a.example/1"]
    assert (result.stats["simhash/kept"], result.stats["simhash/dropped"]) == (1, 1)


def test_with_the_add_on_an_item_without_its_url_is_known_by_its_response(tmp_path: Path) -> None:
    class Link:
        """Hands on another object, which says nothing of its URL."""

        def process_item(self, item: Any) -> Any:
            return {"link": item["url"]}

    class OnePageAResponse(ItemSpider):
        start_urls = [f"data:,{n}" for n in range(4)]  # noqa: RUF012  # as Scrapy has it

        def parse(self, response: Any) -> Iterator[Any]:
            yield page(response.text)

    addon: dict[str, Any] = {"ADDONS": {"simhash_pipeline.Addon": 1}}
    result = crawl(tmp_path, spider=OnePageAResponse, later=Link, **addon)
    assert len(result.items) == 1
    assert result.stats["simhash/dropped"] == 3


def test_an_extractor_need_not_take_every_page(tmp_path: Path) -> None:
    (tmp_path / "users_own.py").write_text(
        "def text(root):\n    return root.find('.//b').xpath('string()')"
    )
    items = [page(1, f"<b>{STORY}</b>"), page(2, "nothing bold"), page(3, f"<b>{STORY}</b>")]
    result = crawl(tmp_path, items, SIMHASH_EXTRACTOR="users_own.text")
    assert sorted(result.scraped) == ["http://a.example/1", "http://a.example/2"]
    assert result.stats["simhash/errors/extractor"] == 1


def test_pages_that_are_cut_are_counted_and_logged_once(tmp_path: Path) -> None:
    items = [page(1, STORY.ljust(10_000)), page(2, OTHER.ljust(10_000)), page(3)]
    result = crawl(tmp_path, items, SIMHASH_MAX_PAGE_BYTES=10_000)
    assert result.stats["simhash/cut"] == 2
    assert result.log.count("truncated at SIMHASH_MAX_PAGE_BYTES (10,000)") == 1
    assert result.dropped == ["http://a.example/3"]


def test_no_page_steers_the_terminal_that_shows_the_log(tmp_path: Path) -> None:
    hosts = ["a\u202e.example", "b\x9b.example", "[c\x1b[2J"]
    items = [page(1, url=f"http://{host}/\x1b[2J") for host in hosts]
    result = crawl(tmp_path, items, SIMHASH_DROP_LOG="drops.jsonl")
    (drop,) = read_drops(tmp_path / "drops.jsonl")
    assert result.stats["simhash/errors/bad_url"] == 1
    assert (drop.url, drop.twin_url) == (
        "http://b\x9b.example/\x1b[2J",
        "http://a\u202e.example/\x1b[2J",
    )
    ours = [line for line in result.log.splitlines() if "[simhash_pipeline" in line]
    assert any(r"http://b\u009b.example" in line for line in ours)
    assert any(r"http://[c\u001b[2J" in line for line in ours)
    assert all(line.isprintable() for line in ours)


def test_thin_pages_are_counted(tmp_path: Path) -> None:
    items = [page(1, "Closed today"), page(2, "Closed today"), page(3, "Open")]
    result = crawl(tmp_path, items)
    assert result.stats["simhash/thin"] == 3
    assert result.stats["simhash/dropped/thin"] == 1
    assert result.scraped == ["http://a.example/1", "http://a.example/3"]


def test_text_and_verdict_are_written_to_the_fields_named(tmp_path: Path) -> None:
    crawl(
        tmp_path,
        [page(1)],
        LOG_LEVEL="DEBUG",
        SIMHASH_ADDED_FIELDS={"text": "text", "verdict": "simhash"},
        FEEDS={"out.json": {"format": "json"}},
    )
    (item,) = json.loads((tmp_path / "out.json").read_text())
    assert item["text"].startswith("A page\nword0 word1")
    assert re.fullmatch("[0-9a-f]{16}", item["simhash"].pop("content_fingerprint"))
    assert item["simhash"] == {
        "reason": "new",
        "content_distance": None,
        "structure_distance": None,
        "sketch_distance": None,
    }


def test_a_field_the_item_does_not_declare_is_logged_not_fatal(tmp_path: Path) -> None:
    items = [StoryItem(**page(1)), StoryItem(**page(2, OTHER))]
    result = crawl(tmp_path, items, SIMHASH_ADDED_FIELDS={"verdict": "simhash"})
    assert len(result.scraped) == 2
    assert result.stats["simhash/errors/field"] == 2


class RefusedError(Exception):
    pass


def refuse(item: Any, field: Any, value: Any) -> None:
    raise RefusedError(field.name)


@attrs.define
class StubbornStory:
    url: str
    html: str
    text: str = attrs.field(default="", on_setattr=refuse)


def test_an_item_that_refuses_a_field_in_its_own_way_is_kept_with_its_page(tmp_path: Path) -> None:
    items = [StubbornStory(**page(1)), StubbornStory(**page(2))]
    result = crawl(tmp_path, items, SIMHASH_ADDED_FIELDS={"text": "text"})
    assert result.scraped == ["http://a.example/1"]
    assert result.dropped == ["http://a.example/2"]
    assert result.stats["simhash/errors/field"] == 1


def test_an_object_that_is_no_item_passes_and_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PassOn, "passed", 0)
    result = crawl(tmp_path, [page(1), object()], later=PassOn)
    assert PassOn.passed == len(result.items) == 2
    assert result.stats["simhash/errors/no_item"] == 1
    assert "object is not a type of item that Scrapy knows" in result.log


def test_what_the_drop_log_could_not_take_is_neither_dropped_nor_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(*_: object) -> None:
        raise DropLogError("no space is left")

    monkeypatch.setattr(DropLog, "write", write)
    result = crawl(tmp_path, [page(1), page(2), page(3)])
    assert result.scraped == [f"http://a.example/{n}" for n in (1, 2, 3)]
    assert result.stats["simhash/dropped"] == 0
    assert "Crawl stopped: no space is left" in result.log
    (run,) = read_log(tmp_path / ".scrapy/simhash/items.drops.jsonl")
    assert isinstance(run, Run)
    assert run.dropped == {}


def test_items_of_one_page_are_one_page_until_the_end(tmp_path: Path) -> None:
    words = [" ".join(f"page{n}word{i}" for i in range(99)) for n in range(9)]
    items = [page(n, words[n]) for n in range(9) for _ in range(6)]
    result = crawl(tmp_path, items, SIMHASH_CLOSE_AFTER_SEEN=3, CLOSESPIDER_ITEMCOUNT=54)
    assert result.stats["simhash/store_pages"] == 9
    assert result.stats["finish_reason"] != "simhash_nothing_new"


def test_bad_settings_stop_the_crawl_and_are_all_named(tmp_path: Path) -> None:
    result = crawl(tmp_path, [page(1)], SIMHASH_CONTENT_DISTANCE="nine", SIMHASH_MACTH="both")
    assert not result.began
    assert result.scraped == []
    assert "SIMHASH_CONTENT_DISTANCE is 'nine'; it must be a whole number of bits" in result.log
    assert "SIMHASH_MACTH is not a setting; did you mean SIMHASH_MATCH?" in result.log


def test_the_pipeline_is_out_where_it_is_not_enabled(tmp_path: Path) -> None:
    result = crawl(tmp_path, [page(1), page(2)], SIMHASH_ENABLED=False)
    assert len(result.scraped) == 2
    assert not (tmp_path / ".scrapy").exists()


def test_a_store_made_with_other_options_stops_the_crawl_untouched(tmp_path: Path) -> None:
    crawl(tmp_path, [page(1)])
    store = tmp_path / ".scrapy/simhash/items.sqlite"
    before = store.read_bytes()
    result = crawl(tmp_path, [page(2)], SIMHASH_NGRAMS=[3])
    assert (result.scraped, result.began) == ([], False)
    assert "ngrams" in result.log
    assert store.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database at all", b"PK\x03\x04" * 2000])
def test_a_store_file_that_is_not_ours_stops_the_crawl_untouched(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "seen.sqlite"
    path.write_bytes(content)
    result = crawl(tmp_path, [page(1)], SIMHASH_STORE="sqlite:///seen.sqlite")
    assert (result.scraped, result.began) == ([], False)
    assert "CRITICAL: Crawl not started: store " in result.log
    assert "close failure" not in result.log
    assert path.read_bytes() == content


@pytest.mark.parametrize("store", ["sqlite:///seen.sqlite", "seen.sqlite"])
def test_a_store_that_is_a_directory_stops_the_crawl(tmp_path: Path, store: str) -> None:
    (tmp_path / "seen.sqlite").mkdir()
    result = crawl(tmp_path, [page(1)], SIMHASH_STORE=store)
    assert (result.scraped, result.began) == ([], False)
    assert "seen.sqlite" in result.log


def on_a_full_disk() -> dict[str, Any]:
    import resource

    def items() -> Iterator[Any]:
        for n in range(3):
            yield page(n, f"{n} " * 60 + STORY[n * 50 :])
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
        for n in range(3, 3000):
            yield page(n, " ".join(f"term{n}x{i}" for i in range(100)))

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    return {"items": items, "SIMHASH_STORE": "sqlite:///full.sqlite"}


def test_a_disk_that_fills_up_stops_the_crawl_with_one_sentence_and_keeps_the_items(
    tmp_path: Path,
) -> None:
    result = crawl_in_a_process(tmp_path, on_a_full_disk)
    assert result.log.count("Crawl stopped: ") == 1
    assert "full.sqlite" in result.log
    assert result.stats["finish_reason"] == "simhash_store_failed"
    assert result.stats["simhash/errors/store"] >= 1
    assert result.errors == []
    unjudged = len(result.scraped) - result.stats["simhash/kept"]
    assert result.stats["simhash/unjudged"] == unjudged > 0
    assert f", dropped 0, kept {unjudged:,} unjudged" in result.log


NO_LOG = (
    "the drop log {here}/.scrapy/simhash/items.drops.jsonl can't be opened: Permission denied; "
    "allow writing to the file and its directory, or name another file (SIMHASH_DROP_LOG)"
)
NO_FOLDER = (
    "store {here}/.scrapy/simhash/items.sqlite can't be opened (Permission denied: "
    "{here}/.scrapy/simhash); name a file in a directory that can be written (SIMHASH_STORE)"
)
NO_STORE = (
    "store {here}/.scrapy/simhash/items.sqlite: it can't be opened; allow reading and writing of "
    "the file and its directory, or name another file (SIMHASH_STORE)"
)


@pytest.mark.parametrize(
    ("made", "log", "sentence"),
    [
        ("", "auto", NO_LOG),
        (".scrapy", None, NO_FOLDER),
        (".scrapy/simhash", None, NO_STORE),
    ],
)
def test_a_folder_that_cannot_be_written_stops_the_crawl_with_one_sentence(
    tmp_path: Path, made: str, log: str | None, sentence: str
) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    (tmp_path / made).mkdir(parents=True, exist_ok=True)
    with read_only(tmp_path):
        result = crawl(tmp_path, [page(1)], SIMHASH_DROP_LOG=log)
    assert (result.scraped, result.began) == ([], False)
    lines = [line for line in result.log.splitlines() if "CRITICAL" in line]
    assert [line.partition("not started: ")[2] for line in lines] == [
        sentence.format(here=tmp_path)
    ]
    assert "Traceback" not in result.log.partition("CRITICAL")[0]


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("SIMHASH_CONTENT_DISTANCE=99", "SIMHASH_CONTENT_DISTANCE is '99'; it must be a whole"),
        ("SIMHASH_STORE=/dev/null/seen.sqlite", "store /dev/null/seen.sqlite can't be opened"),
        pytest.param(
            *("SIMHASH_STORE=redis://localhost:1/0", "store redis://localhost:1/0: Error "),
            marks=pytest.mark.ci,
        ),
        pytest.param(
            "SIMHASH_DROP_LOG=/dev/null/drops.jsonl",
            "the drop log /dev/null/drops.jsonl can't be",
            marks=pytest.mark.ci,
        ),
    ],
)
def test_what_is_refused_at_the_start_ends_the_output_after_at_most_one_traceback(
    tmp_path: Path, setting: str, sentence: str
) -> None:
    (tmp_path / "spider.py").write_text(
        "import scrapy\nclass Nothing(scrapy.Spider):\n    name = 'nothing'\n"
    )
    addon = 'ADDONS={"simhash_pipeline.Addon": 500}'
    ended = scrapy_forked(tmp_path, "runspider", "spider.py", "-s", addon, "-s", setting)
    assert ended.stderr.count(f"CRITICAL: Crawl not started: {sentence}") == 1
    assert ended.stderr.count("Traceback") <= 1
    assert "AssertionError" not in ended.stderr
    assert sentence in ended.stderr.splitlines()[-1]


class Refusing:
    """An earlier pipeline that can't be opened."""

    def open_spider(self) -> None:
        raise OptionsError(["no database"])


def test_a_crawl_that_another_pipeline_refuses_closes_store_and_log(tmp_path: Path) -> None:
    pipelines = {Refusing: 200, SimhashPipeline: 300}
    result = crawl(tmp_path, [page(1)], ITEM_PIPELINES=pipelines, SIMHASH_STORE="seen.sqlite")
    assert "no database" in result.failure
    assert "close failure" not in result.log
    assert not (tmp_path / "seen.sqlite-wal").exists()  # SQLite removes it when it is closed


@pytest.mark.parametrize(("unchanged", "again"), [("keep", 2), ("drop", 0)])
def test_two_spiders_of_a_store_bring_a_url_out_once_if_unchanged_pages_are_dropped(
    tmp_path: Path, unchanged: str, again: int
) -> None:
    items, kept = [page(1), page(2), page(3, OTHER)], []
    for name in ("one", "two"):
        spider = type("Named", (ItemSpider,), {"name": name})
        shared: dict[str, Any] = {"SIMHASH_STORE": "seen.sqlite", "SIMHASH_UNCHANGED": unchanged}
        kept.append(len(crawl(tmp_path, items, spider=spider, **shared).items))
    assert kept == [2, again]


def test_a_near_duplicate_may_be_tagged_instead_of_dropped(tmp_path: Path) -> None:
    fields: dict[str, Any] = {
        "SIMHASH_TWIN_FIELD": "near_duplicate_of",
        "SIMHASH_ADDED_FIELDS": {"verdict": "verdict"},
    }
    result = crawl(tmp_path, [page(1), page(2), page(3, OTHER)], **fields)
    assert [item.get("near_duplicate_of") for item in result.items] == [
        None,
        "http://a.example/1",
        None,
    ]
    content = result.items[0]["verdict"]["content_fingerprint"]
    assert result.items[1]["verdict"] == {
        "content_fingerprint": content,
        "reason": "content",
        "content_distance": 0,
        "structure_distance": None,
        "sketch_distance": 0,
    }
    assert result.items[2]["verdict"]["reason"] == "new"
    assert (result.stats["simhash/kept"], result.stats["simhash/tagged"]) == (2, 1)
    assert result.stats["simhash/store_pages"] == 2
    assert "Tagged near-duplicate http://a.example/2 of http://a.example/1" in result.log
    (drop,) = read_drops(tmp_path / ".scrapy/simhash/items.drops.jsonl")
    assert drop.dry_run


def test_an_item_that_can_not_be_tagged_comes_out_all_the_same(tmp_path: Path) -> None:
    items = [page(1), StoryItem(**page(2))]
    result = crawl(tmp_path, items, SIMHASH_TWIN_FIELD="near_duplicate_of")
    assert len(result.items) == 2
    assert result.stats["simhash/errors/field"] == 1
    said = "Field not written of http://a.example/2: the item takes no field 'near_duplicate_of': "
    assert said in result.log


def whose_store_exits() -> dict[str, Any]:
    from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore

    def settle(*_: object) -> None:
        raise SystemExit("gone")

    SqliteStore.settle = settle  # type: ignore[assignment, method-assign]
    return {"items": [page(1), page(2)]}


def without_file_locks() -> dict[str, Any]:
    import errno
    import fcntl

    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    fcntl.flock = flock
    return {"items": [page(1), page(2)]}


@pytest.mark.parametrize(
    ("crawling", "said"),
    [
        (whose_store_exits, "the thread that asks the store met SystemExit: gone"),
        (without_file_locks, "its folder has no file locks ([Errno 37] No locks available)"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="there flock is no function of Python's")
def test_what_ends_the_store_s_work_ends_the_crawl_with_one_sentence(
    tmp_path: Path, crawling: Callable[[], dict[str, Any]], said: str
) -> None:
    result = crawl_in_a_process(tmp_path, crawling)
    assert result.stats["finish_reason"] == "simhash_store_failed"
    assert result.log.count("Crawl stopped: ") == result.log.count(said) == 1
    assert "Traceback" not in result.log
    assert len(result.scraped) == 2
    assert "Near-duplicates: kept 0, dropped 0, kept 2 unjudged" in result.log


def test_async_crawler_process_shows_no_traceback_for_a_bad_setting(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "from scrapy import Spider, version_info\n"
        "from scrapy.crawler import AsyncCrawlerProcess\n"
        "process = AsyncCrawlerProcess(\n"
        "    {'ADDONS': {'simhash_pipeline.Addon': 500}, 'SIMHASH_CONTENT_DISTANCE': 99}\n"
        ")\n"
        "process.crawl(type('S', (Spider,), {'name': 's'}))\n"
        "process.start()\n"
        "assert process.bootstrap_failed or version_info < (2, 15)\n"
    )
    ran = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, check=True)
    assert ran.stderr.count(b"SIMHASH_CONTENT_DISTANCE is 99") == 1
    assert b"Traceback" not in ran.stderr


def test_a_setting_that_comes_late_holds_from_then_on(tmp_path: Path) -> None:
    """Of pages that were stored before, their items' new fields and their texts aren't known."""
    items = [page(1, size="M"), page(2, OTHER, size="M")]
    late: dict[str, Any] = {"SIMHASH_KEEP_TEXT": True, "SIMHASH_ITEM_FIELDS": "size"}
    said = "SIMHASH_ITEM_FIELDS, SIMHASH_KEEP_TEXT changed: this holds for pages judged from now "
    assert "changed:" not in crawl(tmp_path, items).log
    assert said in crawl(tmp_path, items, **late).log
    assert "changed:" not in crawl(tmp_path, items, **late).log
    variant = crawl(tmp_path, [page(3, size="L")], **late)
    assert variant.scraped == ["http://a.example/3"]


SHELLS = (
    "<body><div id='root'></div><script src='/app.js'></script>",
    "<body><main class=x id=__next data-x=1>\n</main><script>1</script>",
    "<body><app-root></app-root><script src=main.js></script>",
    "<body><div id=app><div class=x><i></i> Loading…</div></div><script src=main.js></script>",
    "<body><div id=app><div class=spinner>Loading…</div></div><script src=main.js></script>",
)


def test_pages_drawn_by_javascript_get_one_line_a_host(tmp_path: Path) -> None:
    shells = [page(n, html=SHELLS[n % 5], url=f"http://a.example/{n}") for n in range(15)]
    few = [page(n, html=SHELLS[0], url=f"http://b.example/{n}") for n in range(2)]
    thin = [page("thin", html="<body><div id='root'>A few words.</div><script>1</script>")]
    thin += [page("wrap", html="<body>Words.<div id='wrapper'></div><script>1</script>")]
    full = [page("full", html=f"<body><p>{STORY}</p><div id=app></div><script>1</script>")]
    result = crawl(tmp_path, shells + few + thin + full, SIMHASH_ERROR_PAGES="keep")
    assert result.log.count("look drawn by JavaScript") == 1
    assert "3 pages of a.example look drawn by JavaScript" in result.log
    assert result.stats["simhash/drawn_by_script"] == 17
