"""Crawls that judge items by their responses: lists of rows, and items of two pages."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import scrapy

from simhash_pipeline.crawl.pending import Event
from simhash_pipeline.drop_log import Drop, read_log
from tests import list_sites
from tests.crawl.test_addon import FROM_RESPONSE, Everything, Story, crawl_site, titles
from tests.crawl.trap_site import html, prose, served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from tests.cli.simhash_command import Simhash


class Rows(Everything):
    def parse(self, response: Any) -> Iterator[Any]:
        for name in response.css("main a::text").getall():
            yield Story(title=name)


# By path: the site, what its rows are called, how many a page has, its layout and language.
LISTS = {
    "shop": (list_sites.shop, "shop", list_sites.TILES, "cards", "English"),
    "商店": (list_sites.shop, "shop", list_sites.TILES, "list", "Chinese"),
    "jobs": (list_sites.jobs, "job", list_sites.JOBS, "table", "English"),
    "工作": (list_sites.jobs, "job", list_sites.JOBS, "definitions", "Chinese"),
}


class Article(scrapy.Item):
    title = scrapy.Field()
    body = scrapy.Field()


class TwoSteps(Everything):
    """An article from its own page, finished on the page of its comments, in three ways."""

    def parse(
        self, response: Any, item: Any = None, title: str | None = None, body: str | None = None
    ) -> Iterator[Any]:
        if response.url.endswith("/comments"):
            yield item or response.meta.get("item") or Article(title=title, body=body)
            return
        way, path = response.url.split("/")[3], f"{response.url}/comments"
        title = f"{way}: {response.css('h1::text').get()}"
        article = Article(title=title, body=response.css("main p::text").get())
        carried: dict[str, dict[str, Any]] = {
            "meta": {"meta": {"item": article}},
            "cb_kwargs": {"cb_kwargs": {"item": article}},
            "strings": {"cb_kwargs": dict(article)},
        }
        yield scrapy.Request(path, **carried[way])


WAYS = ("meta", "cb_kwargs", "strings")


def list_page(address: str) -> bytes:
    name, _, number = address[1:].partition("/")
    site, _, _, layout, language = LISTS[list(LISTS)[int(name)]]
    return site(int(number), layout, language).encode()


def test_every_row_of_lists_that_differ_in_their_rows_comes_out(tmp_path: Path) -> None:
    """20 pages of each, so that repeated text is learnt: 240 rows of the shops, 200 of the jobs."""
    with served(list_page) as site:
        pages = [f"{site}{name}/{n}" for name in range(4) for n in range(list_sites.PAGES)]
        result = crawl_site(tmp_path, site, FROM_RESPONSE, Rows, start_urls=pages)
    assert len(titles(result)) == 240 + 240 + 200 + 200
    expected = [
        row
        for _, kind, rows, _, language in LISTS.values()
        for page in range(list_sites.PAGES)
        for row in list_sites.names(kind, page, rows, language)
    ]
    assert sorted(titles(result)) == sorted(expected)


def story_page(address: str) -> bytes:
    if address.endswith("/comments"):
        return html("Comments", "No comments yet.", ["/"])
    return html(f"Story {address[-1]}", prose(f"story{address[-1]}"), [f"{address}/comments"])


def test_items_begun_on_another_page_all_come_out(tmp_path: Path) -> None:
    with served(story_page) as site:
        pages = [f"{site}{way}/story/{n}" for way in WAYS for n in (1, 2, 3)]
        result = crawl_site(tmp_path, site, FROM_RESPONSE, TwoSteps, start_urls=pages)
    assert sorted(titles(result)) == sorted(f"{way}: Story {n}" for way in WAYS for n in (1, 2, 3))


class FromLists(Everything):
    def parse(self, response: Any, found_on: str | None = None) -> Iterator[Any]:
        """A story as two lists link to it; the item names the list."""
        if found_on is not None:
            yield {"title": response.css("h1::text").get(), "found_on": found_on}
            return
        path = f"/story?list={response.url[-1]}"
        yield response.follow(path, cb_kwargs={"found_on": response.url})


def test_the_address_of_the_list_that_led_to_a_page_says_nothing_of_it(tmp_path: Path) -> None:
    with served(lambda _: html("A story", prose("story"), [])) as site:
        pages = [f"{site}list/1", f"{site}list/2"]
        result = crawl_site(tmp_path, site, FROM_RESPONSE, FromLists, start_urls=pages)
    assert titles(result) == ["A story"]


class FromShelf(Everything):
    """A bench's price and badge stand on the list that links to it."""

    def parse(self, response: Any, row: Any = None) -> Iterator[Any]:
        if row is not None:
            yield {"url": response.url, "title": response.css("h1::text").get(), **row}
            return
        row = {name: response.css(f"i.{name}::text").get() for name in ("price", "badge")}
        yield response.follow("/bench", cb_kwargs={"row": row})


@pytest.mark.parametrize("gone", ["price", "badge"])
def test_a_value_that_has_gone_from_the_list_changes_a_known_page(
    tmp_path: Path, gone: str
) -> None:
    row = {"price": "11.00", "badge": "Sale"}
    settings = {**FROM_RESPONSE, "SIMHASH_UNCHANGED": "drop"}

    def shop(address: str) -> bytes:
        if address == "/bench":
            return html("Bench", prose("bench"), [])
        shown = "".join(f"<i class={name}>{value}</i>" for name, value in row.items())
        return html("Shelf", shown, [])

    with served(shop) as site:
        night = partial(crawl_site, tmp_path, site, settings, FromShelf, start_urls=[f"{site}list"])
        assert [len(night().items) for _ in range(2)] == [1, 0]
        del row[gone]
        assert [item[gone] for item in night().items] == [None]
        assert not night().items


class Variants(Everything):
    def parse(self, response: Any) -> Iterator[Any]:
        yield {"title": "Runner", "sku": response.url.rpartition("/")[2]}


def test_variants_of_one_text_all_come_out_by_a_field_of_their_items(tmp_path: Path) -> None:
    """The number stands in the address alone, so it counts only where it is named."""
    shoe = html("Runner", prose("shoe"), [])
    with served(lambda _: shoe) as site:
        pages = [f"{site}{number}" for number in range(1, 10)]
        for fields, kept in ((), 1), (("sku",), 9), (("-sku",), 1):
            (folder := tmp_path / str(fields)).mkdir()
            settings = {**FROM_RESPONSE, "SIMHASH_ITEM_FIELDS": fields}
            found = crawl_site(folder, site, settings, Variants, start_urls=pages)
            assert len(found.items) == kept


def test_a_named_field_that_no_item_has_is_logged_at_the_end(tmp_path: Path) -> None:
    fields = {"SIMHASH_ITEM_FIELDS": ("sku", "colour"), "SIMHASH_HTML_FIELD": "pagina"}
    settings = {**FROM_RESPONSE, **fields, "SIMHASH_CONTENT_FIELD": "sku"}
    with served(lambda _: html("Runner", prose("shoe"), [])) as site:
        found = crawl_site(tmp_path, site, settings, Variants)
    assert "No item had a field 'colour' (SIMHASH_ITEM_FIELDS)" in found.log
    assert "No item had a field 'pagina' (SIMHASH_HTML_FIELD)" in found.log
    assert "No item had a field 'sku'" not in found.log


PINNED = "a pinned offer"


class PricedRows(Everything):
    def parse(self, response: Any) -> Iterator[Any]:
        for row in response.css("li"):
            title, price = row.css("a::text").get(), row.css("b::text").get()
            yield {"title": title, "price": price, "at": time.time()}


def linked_rows(response: Any) -> Iterator[dict[str, Any]]:
    for row in response.css("li"):
        link = response.urljoin(row.css("a::attr(href)").get())
        yield {"title": row.css("a::text").get(), "price": row.css("b::text").get(), "at": link}


class LinkedRows(Everything):
    def parse(self, response: Any) -> Iterator[Any]:
        return linked_rows(response)


def priced_list(rows: list[str], price: str = "") -> bytes:
    """The price is the last row's."""
    prices = {row: f"{len(row)}.50" for row in rows} | ({rows[-1]: price} if price else {})
    lines = "".join(
        f"<li><a href=/row-{row.replace(' ', '-')}>{row}</a> <b>{prices[row]}</b></li>"
        for row in rows
    )
    text = list_sites.introduction("English")
    return f"<title>Shop</title><main><p>{text}</p><ul>{lines}</ul></main>".encode()


def rows_of(page: int, count: int = 12) -> list[str]:
    return [PINNED, *list_sites.names("shop", page, count - 1, "English")]


def priced_crawl(
    folder: Path,
    site: str,
    paths: list[str],
    spider: type[scrapy.Spider] = PricedRows,
    **settings: Any,
) -> list[str]:
    chosen = FROM_RESPONSE | {"SIMHASH_STORE": str(folder / "seen.sqlite")} | settings
    result = crawl_site(folder, site, chosen, spider, start_urls=[site + path for path in paths])
    assert result.stats["simhash/errors"] == 0
    return titles(result)


def test_a_row_is_dropped_only_if_that_very_row_came_before(tmp_path: Path) -> None:
    """Ten lists with one first row, their copies at other addresses, and the next day."""
    pages = {f"/{n}": rows_of(n) for n in range(10)} | {f"/copy/{n}": rows_of(n) for n in range(10)}
    with served(lambda address: priced_list(pages[address])) as site:
        first = priced_crawl(tmp_path, site, [str(n) for n in range(10)])
        assert set(first) == {row for n in range(10) for row in rows_of(n)}
        assert priced_crawl(tmp_path, site, [f"copy/{n}" for n in range(10)]) == []
        for n in range(10):
            pages[f"/{n}"] = [PINNED, f"fresh {n}", *rows_of(n)[1:]]
        again = priced_crawl(tmp_path, site, [str(n) for n in range(10)], SIMHASH_UNCHANGED="drop")
        assert sorted(again) == [f"fresh {n}" for n in range(10)]


def test_each_dropped_row_is_named_with_the_page_that_had_it(
    tmp_path: Path, simhash: Simhash
) -> None:
    """In the crawl's log, at INFO once; the drop log has a line for each list."""
    one, two = rows_of(1)[1:], rows_of(2)[1:]
    pages = {"/1": one, "/2": two, "/copy": one[:6] + two[:5]}
    settings = {"SIMHASH_UNCHANGED": "drop"}
    with served(lambda address: priced_list(pages[address])) as site:
        expected = [(f"{site}1", row) for row in one[:6]] + [(f"{site}2", row) for row in two[:5]]
        for address in ("1", "2"):
            crawl_site(tmp_path, site, settings, LinkedRows, start_urls=[f"{site}{address}"])
        for is_first in (True, False):
            result = crawl_site(tmp_path, site, settings, LinkedRows, start_urls=[f"{site}copy"])
            assert result.items == []
            for url, row in expected:
                line = f"INFO: Dropped a row of {site}copy, as on {url}: {row}, {len(row)}.50, "
                found = f"{line}{site}row-{row.replace(' ', '-')}\n" in result.log
                assert found is is_first
            assert ("Drops as in an earlier crawl: 11" in result.log) is not is_first
    log = tmp_path / f".scrapy/simhash/{LinkedRows.name}.drops.jsonl"
    drops = [one for one in read_log(log) if isinstance(one, Drop) and one.record is None]
    assert [(drop.url, [*map(len, drop.rows.values())]) for drop in drops] == [
        (f"{site}copy", [6, 5]),
        (f"{site}copy", [6, 5]),
    ]
    lines = simhash(tmp_path, "dropped", "--list").stdout.splitlines()
    assert [line.split(", ")[0] for line in lines] == [
        f"{site}copy  {url}  {drops[-1].reason}  {row}" for url, row in expected
    ]
    explained = simhash(tmp_path, "explain", f"{site}copy", "--limit", "5").stdout
    assert explained.startswith("Rows dropped 20")
    assert f"Its rows that are on {site}1: 6\n  {one[0]}, " in explained
    assert one[5] not in explained
    link = f"{site}row-{two[0].replace(' ', '-')}"
    assert f"{site}copy" in simhash(tmp_path, "explain", link).stdout
    assert simhash(tmp_path, "explain", link[:-1]).returncode == 1


def test_a_list_that_is_met_at_the_same_moment_waits_for_the_other_one_s_rows(
    tmp_path: Path,
) -> None:
    pages = {f"/{kind}/{n}": rows_of(n) for n in range(5) for kind in ("one", "two")}
    with served(lambda address: priced_list(pages[address])) as site:
        found = priced_crawl(tmp_path, site, [path[1:] for path in pages])
    assert sorted(set(found)) == sorted({row for rows in pages.values() for row in rows})
    assert len(found) <= 5 * 12 + 12  # the first list is not known to be one yet


def pages_of(rows: list[str], folder: str = "") -> dict[str, list[str]]:
    return {f"{folder}/{n}": rows[12 * n : 12 * n + 12] for n in range(10)}


def test_a_row_with_its_link_comes_out_once_in_whatever_order(tmp_path: Path) -> None:
    """Ten lists; then sorted by name; then with five new rows before all others."""
    rows = [row for n in range(10) for row in list_sites.names("shop", n, 12, "English")]
    new = [f"fresh row {n}" for n in range(5)]
    pages = pages_of(rows) | pages_of(sorted(rows), "/by-name")
    settings = {"SIMHASH_UNCHANGED": "drop"}
    with served(lambda address: priced_list(pages[address])) as site:
        day, by_name = [str(n) for n in range(10)], [f"by-name/{n}" for n in range(10)]
        assert sorted(priced_crawl(tmp_path, site, day, LinkedRows, **settings)) == sorted(rows)
        assert priced_crawl(tmp_path, site, by_name, LinkedRows, **settings) == []
        pages |= pages_of(new + rows)
        assert sorted(priced_crawl(tmp_path, site, day, LinkedRows, **settings)) == new


class RowsOfTheirList(Everything):
    """As most spiders do, each row holds where it was scraped."""

    def parse(self, response: Any) -> Iterator[Any]:
        yield from ({**row, "url": response.url} for row in linked_rows(response))


def test_a_row_that_holds_its_list_s_address_comes_out_once(tmp_path: Path) -> None:
    """Of a list that is met once more, in another session or sorted."""
    rows = list_sites.names("shop", 0, 12, "English")
    with served(lambda _: priced_list(rows)) as site:
        paths = ["all?page=1", "all?page=1&PHPSESSID=ffeeddccbbaa9988", "all?page=1&sort=date"]
        assert sorted(priced_crawl(tmp_path, site, paths, RowsOfTheirList)) == sorted(rows)


def test_a_row_that_each_night_pushes_down_comes_out_once(tmp_path: Path) -> None:
    """It stands on another page before the first one forgets it."""
    rows = [row for n in range(10) for row in list_sites.names("shop", n, 12, "English")]
    pages = pages_of(rows)
    with served(lambda address: priced_list(pages[address])) as site:
        for night in range(5):
            paths = [str(n) for n in range(10)]
            found = priced_crawl(tmp_path, site, paths, LinkedRows, SIMHASH_UNCHANGED="drop")
            assert sorted(found) == sorted(rows[:3] if night else rows)
            rows = [f"fresh row {night} {n}" for n in range(3)] + rows
            pages |= pages_of(rows)


def test_rows_of_another_day_come_out_where_unchanged_pages_do(tmp_path: Path) -> None:
    rows = [row for n in range(10) for row in list_sites.names("shop", n, 12, "English")]
    pages = pages_of(rows) | pages_of(sorted(rows), "/by-name")
    by_name = [f"by-name/{n}" for n in range(10)]
    with served(lambda address: priced_list(pages[address])) as site:
        priced_crawl(tmp_path, site, [str(n) for n in range(10)], LinkedRows)
        assert len(priced_crawl(tmp_path, site, by_name, LinkedRows)) > 100


class AtOnce(Everything):
    """Rows of three lists, which come at once: no second row before the first of each."""

    async def start(self) -> AsyncIterator[Any]:
        self.begun, self.all_begun = 0, Event()
        await Event().wait(1.1)  # what the store saw in the run's first second may be of another
        async for request in super().start():
            yield request

    async def parse(self, response: Any) -> AsyncIterator[Any]:  # type: ignore[override]  # both do
        first, *others = linked_rows(response)
        yield first
        self.begun += 1
        if self.begun < 3:
            await self.all_begun.wait()
        self.all_begun.happen()
        for row in others:
            yield row


def test_a_row_is_dropped_only_for_a_page_that_gives_it_in_the_same_run(tmp_path: Path) -> None:
    """Each of three lists may lose it to another one; then the first list has it no longer."""
    pages = {f"/{n}": [f"own row {n}", "shared oak", "shared elm"] for n in "abc"}
    rows = ["own row a", "own row b", "own row c", "shared elm", "shared oak"]
    with served(lambda address: priced_list(pages[address])) as site:
        assert set(priced_crawl(tmp_path, site, [*"abc"], AtOnce)) == {*rows}
        assert sorted(priced_crawl(tmp_path, site, [*"abc"], AtOnce)) == rows
        pages["/a"].remove("shared oak")
        assert sorted(priced_crawl(tmp_path, site, [*"abc"], AtOnce)) == rows


def test_a_price_that_comes_back_comes_out_again(tmp_path: Path) -> None:
    prices = ["10", "12", "12", "10"]
    with served(lambda _: priced_list(rows_of(0), prices[0])) as site:
        for out in (12, 1, 0, 1):
            found = priced_crawl(tmp_path, site, ["0"], LinkedRows, SIMHASH_UNCHANGED="drop")
            assert len(found) == out
            prices.pop(0)


class Details(Everything):
    """Rows whose details are fetched within the callback."""

    async def parse(self, response: Any) -> AsyncIterator[Any]:  # type: ignore[override]  # both do
        for link in response.css("li a::attr(href)").getall():
            request = scrapy.Request(response.urljoin(link), dont_filter=True)
            detail = await self.crawler.engine.download_async(request)
            yield {"name": detail.css("h2::text").get(), "price": detail.css("b::text").get()}


def test_details_that_a_callback_fetched_all_come_out(tmp_path: Path) -> None:
    intro = list_sites.introduction("English")

    def page_at(address: str) -> bytes:
        kind, _, number = address[1:].partition("/")
        if kind == "detail":
            return f"<h2>Rope {number}</h2><b>{len(number)}.90</b>".encode()
        links = "".join(f"<li><a href=/detail/{number}{n}>More</a></li>" for n in "abc")
        return f"<title>Shop</title><main><p>{intro}</p><ul>{links}</ul></main>".encode()

    with served(page_at) as site:
        lists = [f"{site}list/{n}" for n in range(5)]
        found = crawl_site(tmp_path, site, FROM_RESPONSE, Details, start_urls=lists)
    names = sorted(item["name"] for item in found.items)
    assert names == [f"Rope {n}{detail}" for n in range(5) for detail in "abc"]
