"""With other plugins, and with items of every kind, 12 of 24 pages come out and 12 are dropped."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pydantic
import pytest
import scrapy

from tests.crawl.crawling import Crawl, crawl, crawl_in_a_process, have_reactor
from tests.crawl.trap_site import html, prose, served
from tests.skipping import skip_aloud

STORIES = 12
ADDONS: dict[Any, int] = {"simhash_pipeline.Addon": 500}


class Declared(scrapy.Item):
    url = scrapy.Field()
    title = scrapy.Field()
    image_urls = scrapy.Field()


@dataclasses.dataclass
class Plain:
    url: str
    title: str


@attrs.define
class Attrs:
    url: str
    title: str


class Pydantic(pydantic.BaseModel):
    url: str
    title: str


KINDS: dict[str, Callable[..., Any]] = {
    "dict": dict,
    "Item": Declared,
    "dataclass": Plain,
    "attrs": Attrs,
    "pydantic": Pydantic,
}


class Stories(scrapy.Spider):
    """Twelve stories, then each at another address."""

    name = "stories"
    site = ""
    kind: Callable[..., Any] = dict
    meta: dict[str, Any] = {}  # noqa: RUF012  # as Scrapy's own

    async def start(self) -> Any:
        for number in range(2 * STORIES):
            path = f"story/{number % STORIES}{'?print=1' if number >= STORIES else ''}"
            site = self.site or self.settings["SITE"]
            yield scrapy.Request(site + path, meta=dict(self.meta))

    def parse(self, response: Any) -> Any:
        yield self.kind(url=response.url, title=response.css("title::text").get())


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    def page_at(address: str) -> bytes:
        name = address.partition("?")[0].strip("/")
        return html(name, prose(name.replace("/", "")), ["/"]) if "story" in name else b""

    with served(page_at) as address:
        yield address


def crawled(folder: Path, site: str, *, kind: Callable[..., Any] = dict, **settings: Any) -> Crawl:
    spider = type("Stories", (Stories,), {"site": site, "kind": staticmethod(kind)})
    given = {"ADDONS": ADDONS, "ITEM_PIPELINES": {}, "CONCURRENT_REQUESTS": 1, **settings}
    return crawl(folder, spider=spider, **given)


def half(done: Crawl) -> bool:
    """Whether each story came out once, and nothing went wrong."""
    assert done.failure == "", done.failure
    assert not done.errors, done.errors
    return (len(done.items), len(done.dropped), len(set(done.scraped))) == (12, 12, 12)


@pytest.mark.parametrize("kind", KINDS)
def test_items_of_every_kind(tmp_path: Path, site: str, kind: str) -> None:
    assert half(crawled(tmp_path, site, kind=KINDS[kind]))


def test_http_cache(tmp_path: Path, site: str) -> None:
    """The second crawl reads all its pages from the cache; without the store it keeps the same."""
    assert half(crawled(tmp_path, site, HTTPCACHE_ENABLED=True, HTTPCACHE_DIR="cache"))
    shutil.rmtree(tmp_path / ".scrapy/simhash", ignore_errors=True)
    again = crawled(
        tmp_path, site, HTTPCACHE_ENABLED=True, HTTPCACHE_DIR="cache", SIMHASH_STORE="memory:"
    )
    assert half(again)
    assert again.stats["httpcache/hit"] == 24


def test_jobdir(tmp_path: Path, site: str) -> None:
    assert half(crawled(tmp_path, site, JOBDIR="job"))


def test_images(tmp_path: Path, site: str) -> None:
    done = crawled(
        tmp_path,
        site,
        kind=lambda **fields: Declared(image_urls=[], **fields),
        ITEM_PIPELINES={"scrapy.pipelines.images.ImagesPipeline": 400},
        IMAGES_STORE=str(tmp_path / "images"),
    )
    assert half(done)


def test_duplicate_url_discarder(tmp_path: Path, site: str) -> None:
    """Its rules take a key away before the request, so that nothing is left to drop."""
    rule = {"args": ["print"], "order": 100, "processor": "queryRemoval"}
    (tmp_path / "rules.json").write_text(json.dumps([rule | {"urlPattern": {"include": []}}]))
    addons = {**ADDONS, "duplicate_url_discarder.Addon": 600}
    assert half(crawled(tmp_path, site, ADDONS=addons))
    ruled = crawled(
        tmp_path,
        site,
        ADDONS=addons,
        DUD_LOAD_RULE_PATHS=["rules.json"],
        SIMHASH_STORE="memory:",
    )
    assert (len(ruled.items), len(ruled.dropped)) == (12, 0)


def test_spidermon(tmp_path: Path, site: str) -> None:
    monitors = "spidermon.contrib.scrapy.monitors"
    done = crawled(
        tmp_path,
        site,
        SPIDERMON_ENABLED=True,
        EXTENSIONS={"spidermon.contrib.scrapy.extensions.Spidermon": 500},
        SPIDERMON_SPIDER_CLOSE_MONITORS=(f"{monitors}.SpiderCloseMonitorSuite",),
        SPIDERMON_MIN_ITEMS=12,
    )
    assert half(done)
    assert done.stats["simhash/dropped"] == 12


def test_scrapy_poet(tmp_path: Path, site: str) -> None:
    """The page object's HTML is the response's."""
    have_reactor()
    assert half(crawled(tmp_path, site, ADDONS={**ADDONS, "scrapy_poet.Addon": 300}))


def with_playwright() -> dict[str, Any]:
    handler = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
    options = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
    return {
        "spider": type("Rendered", (Stories,), {"meta": {"playwright": True}}),
        "ADDONS": ADDONS,
        "ITEM_PIPELINES": {},
        "CONCURRENT_REQUESTS": 1,
        "DOWNLOAD_HANDLERS": {"http": handler, "https": handler},
        "PLAYWRIGHT_LAUNCH_OPTIONS": options,
    }


@pytest.mark.ci
def test_scrapy_playwright(tmp_path: Path, site: str) -> None:
    """The rendered page is judged."""
    if shutil.which("chromium") is None:
        skip_aloud("no chromium here: apt-get install chromium")
    assert half(crawl_in_a_process(tmp_path, with_playwright, SITE=site))
