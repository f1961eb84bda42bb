"""Which page an item is judged by, where its page is the response."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import scrapy
from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse, Request

from simhash_pipeline.crawl.source import source
from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options

BODY = "A rope museum opens by the harbour."
CHINESE = "绳索博物馆今天上午在港口旁边的旧仓库里正式开馆"
URL = "http://a.example/story/3/comments"
HTML = b"<p>No comments yet.</p>"


class Story(scrapy.Item):
    title = scrapy.Field()
    body = scrapy.Field()


@dataclasses.dataclass
class Article:
    title: str
    body: str


def judged_by(item: Any, **carried: Any) -> str:
    """The URL of the item's page, or the kind of fault; `carried` are meta and cb_kwargs."""
    response = HtmlResponse(URL, body=HTML, request=Request(URL, **carried))
    try:
        page = source(ItemAdapter(item), response, Options(html_field=None))
    except PageError as error:
        return error.kind
    assert page.html == HTML
    return page.url


@pytest.mark.parametrize("way", ["meta", "cb_kwargs"])
@pytest.mark.parametrize(
    "item", [{"title": "x"}, Story(title="x"), Article("x", "y")], ids=["dict", "Item", "dataclass"]
)
def test_an_item_that_its_request_carried_is_of_another_page(way: str, item: Any) -> None:
    assert judged_by(item, **{way: {"item": item}}) == "other_page"
    assert judged_by(item, **{way: {"depth": 1}}) == URL


@pytest.mark.parametrize("body", [BODY, CHINESE])
def test_so_is_one_that_was_made_anew_with_a_carried_text(body: str) -> None:
    item = {"title": "x", "body": body, "comments": []}
    assert judged_by(item, cb_kwargs={"title": "x", "body": body}) == "other_page"
    assert judged_by(item, meta={"text": body}) == "other_page"
    assert judged_by(item, meta={"item": Story(title="x", body=body)}) == "other_page"
    assert judged_by(item, cb_kwargs={"item": Article("x", body)}) == "other_page"


@pytest.mark.parametrize("text", [BODY, CHINESE])
def test_a_carried_text_that_the_item_does_not_hold_tells_nothing(text: str) -> None:
    item = {"title": "x", "body": f"{text} And more."}
    assert judged_by(item, cb_kwargs={"text": text}, meta={"item": {"body": text}}) == URL


@pytest.mark.parametrize(
    "category",
    [
        "News from the region",
        "国际新闻和体育新闻",
        "Общественно-политические новости региона",
        "",
    ],
)
def test_a_category_that_many_items_share_is_no_text_of_the_item(category: str) -> None:
    item = {"category": category, "body": BODY}
    assert judged_by(item, cb_kwargs={"category": category}) == URL
    assert judged_by(item, meta={"listing": {"category": category}}) == URL


@pytest.mark.parametrize(
    "address",
    [
        "https://a.example/" + CHINESE,
        "HTTP://a.example/a-b-c-d-e-f-g",
        "/" + CHINESE,
        f"//a.example/{CHINESE}\n",
    ],
)
def test_an_address_is_no_text_of_the_item(address: str) -> None:
    item = {"url": address, "body": BODY}
    assert judged_by(item, cb_kwargs={"url": address}, meta={"listing": {"link": address}}) == URL


def test_a_text_of_five_words_or_twenty_characters_is_one() -> None:
    for enough in ("One two three four five", CHINESE[:20]):
        assert judged_by({"title": enough}, meta={"title": enough}) == "other_page"
    for less in ("One two three four", CHINESE[:19]):
        assert judged_by({"title": less}, meta={"title": less}) == URL


def test_an_item_that_holds_its_page_is_judged_by_it_whatever_was_carried() -> None:
    item = {"url": "http://a.example/story/3", "html": BODY}
    response = HtmlResponse(URL, body=HTML, request=Request(URL, meta={"item": item}))
    assert source(ItemAdapter(item), response, Options()).url == "http://a.example/story/3"
