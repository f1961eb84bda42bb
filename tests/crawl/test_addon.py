"""The add-on: one line of settings, pages out of responses, and fewer links followed."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections import defaultdict
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

import pytest
import scrapy
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler
from scrapy.utils.trackref import live_refs

from simhash_pipeline.crawl import pending
from simhash_pipeline.crawl.feeds import Feeds
from simhash_pipeline.crawl.pending import PendingItems
from simhash_pipeline.drop_log import Run, read_log
from tests.crawl.crawling import Crawl, crawl, crawl_in_a_process, have_reactor, page
from tests.crawl.trap_site import STORIES, trap_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator
    from pathlib import Path

    from scrapy.crawler import Crawler
    from typing_extensions import Self


class Story(scrapy.Item):
    title = scrapy.Field()
    simhash = scrapy.Field()


class Everything(scrapy.Spider):
    """Keeps no page in its items, and yields one item a page unless a test says otherwise."""

    name = "everything"

    async def start(self) -> AsyncIterator[Any]:
        for url in getattr(self, "start_urls", None) or [self.settings["START_URL"]]:
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response: Any) -> Iterator[Any]:
        yield Story(title=response.css("title::text").get())
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)


def addon(settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "ADDONS": {"simhash_pipeline.Addon": 500},
        "ITEM_PIPELINES": {},
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        **settings,
    }


def crawl_site(
    directory: Path,
    url: str,
    settings: dict[str, Any],
    spider: type[scrapy.Spider] = Everything,
    **arguments: Any,
) -> Crawl:
    """A crawl with the add-on alone, from `url` on."""
    started = {"start_urls": [url], **arguments}
    return crawl(directory, spider=spider, at_once=100, arguments=started, **addon(settings))


def titles(result: Crawl) -> list[str]:
    return [item["title"] for item in result.items]


def requests(result: Crawl) -> int:
    return int(result.stats["downloader/request_count"])


FROM_RESPONSE = dict[str, Any]()  # the default, where items hold no page
UNHEARD = FROM_RESPONSE | {"SIMHASH_ITEM_FIELDS": None}  # the page alone is judged
# What ends a crawl into a trap.
UNTIL = {"CLOSESPIDER_PAGECOUNT": 100}
ALL_STORIES = {"Front page", *(f"Story {number}" for number in range(1, STORIES + 1))}


class Held(scrapy.Item):
    title, html, url = scrapy.Field(), scrapy.Field(), scrapy.Field()


class HoldsSome(Everything):
    """Yields articles that stand in the page of a list, and then the list."""

    def parse(self, response: Any) -> Iterator[Any]:
        for number in range(3):
            words = " ".join(f"w{number}x{n}" for n in range(99))
            url = response.urljoin(f"?article={number}")
            yield Held(title=str(number), html=f"<p>{words}", url=url)
        yield Held(title="without a URL", html="<p>Some words.")
        yield Held(title="the response", html=response.text)
        yield Held(title="empty", html="")
        yield Story(title="the list")


def test_an_item_is_judged_by_the_page_it_holds_and_else_by_its_response(tmp_path: Path) -> None:
    with trap_site("session") as url:
        result = crawl_site(tmp_path, url, {}, HoldsSome)
    assert len(titles(result)) == 7
    assert len(result.reasons) == 7  # one that gives no URL has its response's
    assert result.stats["simhash/errors"] == 0
    assert result.stats["simhash/store_pages"] == 4


def the_default_way() -> dict[str, Any]:
    return {"spider": Everything, "at_once": 100, **addon(FROM_RESPONSE | UNTIL)}


def test_a_page_is_taken_from_the_response_and_no_field_is_written(tmp_path: Path) -> None:
    """In a process of its own, by Scrapy's default reactor and downloader."""
    with trap_site("session") as url:
        result = crawl_in_a_process(tmp_path, the_default_way, START_URL=url)
    assert sorted(titles(result)) == sorted(ALL_STORIES)
    assert result.stats["item_dropped_reasons_count/NearDuplicate"] > 5
    assert "simhash/errors/field" not in result.stats


def test_a_response_that_can_not_be_judged_is_logged_with_its_address(tmp_path: Path) -> None:
    result = crawl_site(tmp_path, "data:text/html,%20", FROM_RESPONSE)
    assert result.stats["simhash/errors/empty"] == 1
    assert "data:text/html,%20: the page holds no element and no text. Further" in result.log


def test_items_of_one_response_share_its_verdict(tmp_path: Path) -> None:
    class TwoItems(Everything):
        def parse(self, response: Any) -> Iterator[Any]:
            yield Story(title="first")
            yield Story(title="second")
            if "sid=9" not in response.url:
                yield response.follow("/?sid=9")

    with trap_site("session") as url:
        result = crawl_site(tmp_path, url, FROM_RESPONSE, TwoItems)
    assert titles(result) == ["first", "second"]
    assert result.reasons == ["new", "new", "content", "content"]


def test_the_time_a_page_took_counts_once_however_many_items_it_has(tmp_path: Path) -> None:
    class ManyItems(Everything):
        def parse(self, response: Any) -> Iterator[Any]:
            for number in range(300):
                yield Story(title=str(number))

    with trap_site("session") as url:
        stats = crawl_site(tmp_path, url, FROM_RESPONSE, ManyItems).stats
    assert stats["simhash/kept"] == 300
    spent = stats["simhash/seconds/fingerprinting"] + stats["simhash/seconds/store"]
    assert 0 < spent < stats["elapsed_time_seconds"]


def test_a_request_or_an_item_may_opt_out(tmp_path: Path) -> None:
    class OptingOut(Everything):
        def parse(self, response: Any, twin: int = 0) -> Iterator[Any]:
            yield Story(title=f"copy {twin}", simhash=twin != 2)
            if twin < 3:
                meta, carried = {"simhash": twin != 0}, {"twin": twin + 1}
                yield response.follow(f"/?copy={twin + 1}", cb_kwargs=carried, meta=meta)

    with trap_site("session") as url:
        result = crawl_site(tmp_path, url, UNHEARD, OptingOut)
    assert sorted(titles(result)) == ["copy 0", "copy 1", "copy 2"]
    assert result.reasons == ["new", "content"]


class Anew:
    def process_item(self, item: Any) -> Any:
        return dict(item)


class MadeAnew(Everything):
    opting_out: bool
    custom_settings = {"ITEM_PIPELINES": {Anew: 50}}  # noqa: RUF012  # as Scrapy has it

    def parse(self, response: Any) -> Iterator[Any]:
        yield {"title": response.css("title::text").get(), "url": response.url}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, meta={"simhash": not self.opting_out})


def test_an_item_that_an_earlier_pipeline_made_anew_is_known_by_its_url(tmp_path: Path) -> None:
    with trap_site("session") as url:
        less = FROM_RESPONSE | {"SIMHASH_FOLLOW_TWINS": False}
        result = crawl_site(tmp_path, url, less, MadeAnew, opting_out=False)
        out = crawl_site(tmp_path, url, FROM_RESPONSE | UNTIL, MadeAnew, opting_out=True)
    assert set(titles(result)) == ALL_STORIES
    assert result.stats["simhash/not_followed"] > 0
    assert out.reasons == ["unchanged"]  # the first page, and no other is judged
    assert len(titles(out)) == out.stats["response_received_count"]


def test_one_object_yielded_for_several_pages_has_the_verdict_of_each(tmp_path: Path) -> None:
    class Repeated(Everything):
        def parse(self, response: Any) -> Iterator[Any]:
            story = Story(title=response.url)
            yield from [story] * 3
            if "copy" not in response.url:
                yield response.follow("/?copy=1")

    with trap_site("session") as url:
        result = crawl_site(tmp_path, url, FROM_RESPONSE | {"CONCURRENT_ITEMS": 1}, Repeated)
    assert titles(result) == [url] * 3
    assert result.reasons == ["new"] * 3 + ["content"] * 3


def test_a_middleware_that_swallows_items_keeps_no_crawl_from_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Swallow:
        async def process_spider_output(
            self, response: Any, result: AsyncIterator[Any]
        ) -> AsyncIterator[Any]:
            async for each in result:
                if isinstance(each, scrapy.Request):
                    yield each

    monkeypatch.setattr(pending, "MAX_WAIT_SECS", 0.2)
    with trap_site("calendar") as url:
        settings = FROM_RESPONSE | {"SIMHASH_FOLLOW_TWINS": False, "DEPTH_LIMIT": 2}
        result = crawl_site(tmp_path, url, settings | {"SPIDER_MIDDLEWARES": {Swallow: -2000}})
    assert result.stats["finish_reason"] == "finished"
    assert result.stats["request_depth_max"] == 2


def test_the_spiders_attributes_and_arguments_go_before_settings(tmp_path: Path) -> None:
    class WithAttribute(Everything):
        simhash_html_field = "none"

    with trap_site("session") as url:
        settings = {"SIMHASH_HTML_FIELD": "html", "SIMHASH_DRY_RUN": "False"} | UNTIL
        result = crawl_site(tmp_path, url, settings, WithAttribute, simhash_dry_run="1")
        assert result.stats["simhash/would_drop"] > 5
        assert len(titles(result)) == len(result.reasons)
        anew = {"simhash_namespace": "other"}
        again = crawl_site(tmp_path, url, settings, WithAttribute, **anew, SIMHASH_DRY_RUN="0")
    assert "Front page" in titles(again)
    assert again.reasons.count("unchanged") == 0


def test_custom_settings_and_the_command_lines_strings_are_read(tmp_path: Path) -> None:
    class Custom(Everything):
        custom_settings = {  # noqa: RUF012  # as Scrapy has it
            "SIMHASH_HTML_FIELD": None,
        }

    settings = {"SIMHASH_CONTENT_DISTANCE": "6", "SIMHASH_DROP_LOG": "none"}
    with trap_site("session") as url:
        result = crawl_site(tmp_path, url, settings | UNTIL, Custom)
    assert "INFO: Dropped near-duplicate" in result.log
    assert not list(tmp_path.glob(".scrapy/simhash/*.jsonl"))


def test_a_misspelt_argument_stops_the_crawl(tmp_path: Path) -> None:
    with trap_site("session") as url:
        result = crawl_site(tmp_path, url, {}, simhash_dryrun="1")
    rule = "SIMHASH_DRYRUN is not a setting; did you mean SIMHASH_DRY_RUN?"
    assert result.log.count(f"CRITICAL: Crawl not started: {rule}") == 1
    assert titles(result) == []


def test_a_pipeline_of_the_project_stays_where_its_settings_put_it(tmp_path: Path) -> None:
    settings = {"ITEM_PIPELINES": {"simhash_pipeline.SimhashPipeline": 800}}
    with trap_site("session") as url:
        result = crawl_site(tmp_path, url, FROM_RESPONSE | settings | UNTIL)
    assert result.stats["simhash/kept"] >= len(ALL_STORIES)
    assert result.log.count("SimhashPipeline") == 1


# --- fewer links -------------------------------------------------------------------------------


def test_links_of_near_duplicates_are_not_followed_and_nothing_new_is_lost(
    tmp_path: Path,
) -> None:
    with trap_site("session") as url:
        result = crawl_site(tmp_path, url, FROM_RESPONSE | {"SIMHASH_FOLLOW_TWINS": False})
        endless = crawl_site(tmp_path, url, FROM_RESPONSE | UNTIL, simhash_namespace="again")
    assert set(titles(result)) == ALL_STORIES
    assert result.stats["finish_reason"] == "finished"
    assert result.stats["simhash/not_followed"] > 0
    assert requests(result) < requests(endless) / 3


@pytest.mark.parametrize("trap", ["calendar", "session"])
def test_a_trap_is_left_when_its_budget_is_spent(tmp_path: Path, trap: str) -> None:
    with trap_site(trap) as url:
        result = crawl_site(tmp_path, url, FROM_RESPONSE | {"SIMHASH_TRAP_BUDGET": 8})
    assert result.stats["finish_reason"] == "finished"
    assert set(titles(result)) >= ALL_STORIES
    assert result.log.count("looks like a trap") == 1
    assert requests(result) < 60


def test_what_is_found_on_a_page_with_news_is_no_trap_whatever_meta_it_is_asked_with(
    tmp_path: Path,
) -> None:
    links = {"thin": ["news"], "news": ["leaf1", "leaf2", "leaf3", "leaf4", "leaf5"]}

    class Tree(Everything):
        def parse(self, response: Any) -> Iterator[Any]:
            name = response.css("p::text").get().split()[0]
            yield Story(title=name)
            for link in links.get(name, [f"end-of-{name}"] if name.startswith("leaf") else []):
                words = " ".join(f"w{i}" for i in range(99)) if link == "news" else ""
                page = f"data:text/html,<p>{link} {words}</p>"
                yield scrapy.Request(page, meta=response.meta, dont_filter=True)

    settings = FROM_RESPONSE | {"SIMHASH_TRAP_BUDGET": 3}
    result = crawl_site(tmp_path, "data:text/html,<p>thin</p>", settings, Tree)
    assert len([title for title in titles(result) if title.startswith("end-of-leaf")]) == 5


def test_a_crawl_ends_when_only_seen_content_remains(tmp_path: Path) -> None:
    with trap_site("session") as url:
        # Pages that come while a verdict waits for a slow disk are none of its concern.
        settings = FROM_RESPONSE | {"SIMHASH_CLOSE_AFTER_SEEN": 60, "DOWNLOAD_DELAY": 0.01}
        settings |= {"CLOSESPIDER_PAGECOUNT": 200}
        result = crawl_site(tmp_path, url, settings)
        dry = crawl_site(tmp_path, url, settings | {"SIMHASH_DRY_RUN": True})
    assert result.stats["finish_reason"] == "simhash_nothing_new"
    assert set(titles(result)) >= ALL_STORIES
    assert requests(result) < 200
    assert "Closing: 60 pages in a row without new content (SIMHASH_CLOSE" in result.log
    assert dry.stats["finish_reason"] == "closespider_pagecount"


def test_pages_not_their_items_are_counted_in_the_drop_log_and_until_the_end(
    tmp_path: Path,
) -> None:
    class Rows(Everything):
        def parse(self, response: Any) -> Iterator[Any]:
            for each in super().parse(response):
                yield from [each] if isinstance(each, scrapy.Request) else map(Story, [each] * 20)

    with trap_site("calendar") as url:
        settings = FROM_RESPONSE | {"SIMHASH_CLOSE_AFTER_SEEN": 15, "SIMHASH_DROP_LOG": "log"}
        result = crawl_site(tmp_path, url, settings | UNTIL, Rows)
    assert result.stats["finish_reason"] == "simhash_nothing_new"
    assert set(titles(result)) >= ALL_STORIES
    *_, run = read_log(tmp_path / "log")
    assert isinstance(run, Run)
    assert run.kept["new"] == len(ALL_STORIES)
    assert run.dropped == {"unchanged": 1}  # the start page is met twice
    assert 15 <= run.kept["thin"] <= requests(result)


def test_what_a_callback_yielded_before_it_failed_is_followed(tmp_path: Path) -> None:
    class Failing(Everything):
        def parse(self, response: Any) -> Iterator[Any]:
            yield from super().parse(response)
            if response.url.endswith("/"):
                raise RuntimeError("the callback fails")

    with trap_site("calendar") as url:
        settings = FROM_RESPONSE | {"SIMHASH_TRAP_BUDGET": 3}
        result = crawl_site(tmp_path, url, settings, Failing)
    assert set(titles(result)) >= ALL_STORIES
    assert result.stats["spider_exceptions/RuntimeError"] >= 1


class Check:
    """An earlier pipeline that drops some items, once others have reached the later one."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        title, *words = item["title"].split()
        met = self._met
        met[f"{title} is here"].set()
        if "early" in words:
            await met["a is judged"].wait()
            raise DropItem("not wanted")
        return item

    @property
    def _met(self) -> dict[str, asyncio.Event]:
        assert isinstance(self._crawler.spider, RowsThenTwins)
        return self._crawler.spider.met


class Save(Check):
    """A later pipeline: it drops an item or puts another in its place, and may wait for b or c."""

    async def process_item(self, item: Any) -> Any:
        title, *words = item["title"].split()
        self._met[f"{title} is judged"].set()
        if "late" in words:
            await self._met["c is here"].wait()
        if "after" in words:
            await self._met["b is judged"].wait()
        if "drop" in words:
            raise DropItem("not wanted")
        return Story(title=title)


class RowsThenTwins(Everything):
    rows: list[str]
    twins: list[str]
    met: dict[str, asyncio.Event]
    custom_settings = {"ITEM_PIPELINES": {Check: 50, Save: 400}}  # noqa: RUF012  # as Scrapy has it

    def parse(self, response: Any, rows: Iterable[str] = ()) -> Iterator[Any]:
        for row in rows or self.rows:
            yield Story(title=row)
        if not rows:
            yield response.follow("/?sid=9", cb_kwargs={"rows": self.twins})


@pytest.mark.parametrize(
    ("rows", "twins", "out", "at_once"),
    [
        (["a", "b drop"], ["c"], ["a"], 1),
        (["a drop", "b"], ["c"], ["b"], 1),
        (["a after drop", "b late"], ["c"], ["b"], 100),
        (["a late", "b early"], ["c"], ["a"], 100),
        (["a late drop"], ["c", "d"], ["c", "d"], 100),
    ],
)
def test_a_page_is_lost_with_the_last_of_its_items_and_safe_with_the_first(
    tmp_path: Path, rows: list[str], twins: list[str], out: list[str], at_once: int
) -> None:
    settings = {"SIMHASH_UNCHANGED": "drop", "CONCURRENT_ITEMS": at_once}
    with trap_site("session") as url:
        chosen = UNHEARD | settings
        own = {"rows": rows, "twins": twins, "met": defaultdict(asyncio.Event)}
        result = crawl_site(tmp_path, url, chosen, RowsThenTwins, **own)
    assert titles(result) == out


def test_no_response_is_held_when_later_pipelines_replace_the_items(tmp_path: Path) -> None:
    class Replace:
        def process_item(self, item: Any) -> Any:
            return Story(title=item["title"])

    class Replacing(Everything):
        custom_settings = {"ITEM_PIPELINES": {Replace: 400}}  # noqa: RUF012  # as Scrapy has it

        def closed(self, reason: str) -> None:
            gc.collect()
            self.crawler.stats.set_value("responses", len(live_refs[HtmlResponse]))

    gc.collect()
    before = len(live_refs[HtmlResponse])  # of other tests
    with trap_site("calendar") as url:
        settings = FROM_RESPONSE | {"CLOSESPIDER_PAGECOUNT": 40}
        result = crawl_site(tmp_path, url, settings, Replacing)
    assert len(titles(result)) >= 39  # the start page is met twice
    assert result.stats["responses"] - before < 10


def test_no_response_is_held_by_items_whose_outcome_is_never_reported() -> None:
    have_reactor()
    crawler: Any = get_crawler(settings_dict={"SIMHASH_HTML_FIELD": None})
    ledger = PendingItems(crawler, Feeds(crawler, print), crawler, print)
    response = HtmlResponse("http://a.example/rows")
    items = [{"row": row} for row in range(3)]
    for item in items:
        ledger.enter(item, response)
    entry = copy_context().run(ledger.track, items[0])
    assert entry.response is not None
    assert entry.response() is response
    held = weakref.ref(response)
    del response
    gc.collect()
    assert held() is None


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"ITEM_PIPELINES": {"simhash_pipeline.Addon": 300}}, "ITEM_PIPELINES names the add-on"),
        ({"ADDONS": {"simhash_pipeline.SimhashPipeline": 300}}, "ADDONS names the pipeline"),
    ],
)
def test_an_add_on_and_a_pipeline_that_are_mixed_up_stop_the_crawl_with_the_right_line(
    tmp_path: Path, settings: dict[str, Any], rule: str
) -> None:
    result = crawl(tmp_path, [page(1)], **settings)
    assert (result.scraped, result.began) == ([], False)
    line = 'write ADDONS = {"simhash_pipeline.Addon": 500}'
    assert f"CRITICAL: Crawl not started: {rule}; {line}" in result.log
