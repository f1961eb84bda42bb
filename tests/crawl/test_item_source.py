"""Which items are of another page than the response that they came from."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import scrapy
from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse, Request

from simhash_pipeline.crawl.item_source import refuse_other_page, source_from_response
from simhash_pipeline.errors import PageError
from simhash_pipeline.page.fingerprint import Fingerprinter

BODY = "A rope museum opens by the harbour."
CHINESE = "绳索博物馆今天上午在港口旁边的旧仓库里正式开馆"
URL = "http://a.example/story/3/comments"
COMMENTS = "<nav>All stories</nav><p>No comments yet.</p>"


class Story(scrapy.Item):
    title = scrapy.Field()
    body = scrapy.Field()


@dataclasses.dataclass
class Article:
    title: str
    body: str


def is_of_other_page(item: Any, html: str = COMMENTS, /, **carried: Any) -> bool:
    """`carried` are meta and cb_kwargs of the request whose response is the page."""
    response = HtmlResponse(URL, body=html.encode(), request=Request(URL, **carried))
    try:
        refuse_other_page(ItemAdapter(item), response, Fingerprinter().fingerprint(html))
    except PageError as error:
        return error.kind == "other_page"
    return False


@pytest.mark.parametrize("way", ["meta", "cb_kwargs"])
@pytest.mark.parametrize("body", [BODY, CHINESE])
@pytest.mark.parametrize("kind", [dict, Story, Article])
def test_an_item_that_its_request_carried_is_of_another_page(
    way: str, body: str, kind: Any
) -> None:
    item = kind(title="x", body=body)
    assert is_of_other_page(item, **{way: {"item": item}})
    assert not is_of_other_page(item, **{way: {"depth": 1}})


@pytest.mark.parametrize("body", [BODY, CHINESE])
def test_so_is_one_that_was_made_anew_with_a_carried_text(body: str) -> None:
    item = {"title": "x", "body": body, "comments": []}
    assert is_of_other_page(item, cb_kwargs={"title": "x", "body": body})
    assert is_of_other_page(item, meta={"text": body})
    assert is_of_other_page(item, meta={"item": Story(title="x", body=body)})
    assert not is_of_other_page({"body": f"{body} And more."}, meta={"text": body})


def test_a_teaser_that_a_list_gave_to_the_article_s_own_page_is_not() -> None:
    teaser = "Ropes of all kinds, in an old warehouse."
    item = {"title": BODY, "teaser": teaser}
    article = f"<h1>{BODY}</h1><p>{'The museum shows ropes from the age of sail. ' * 9}</p>"
    assert not is_of_other_page(item, article, meta={"item": item})
    assert is_of_other_page(item, COMMENTS, meta={"item": item})


def test_what_the_page_shows_itself_was_not_brought_along() -> None:
    item = {"title": BODY}
    assert not is_of_other_page(item, "<h1>A  rope museum opens\n by the harbour.</h1>", meta=item)
    assert not is_of_other_page(item, f"<nav>{BODY}</nav><p>Yes.</p>", meta=item)


def test_a_url_is_no_text() -> None:
    item = {"source": "http://a.example/a/very/long/list/of/stories/of/this/month"}
    assert not is_of_other_page(item, meta=item)


POLISH = "<p>Rybacy wrócili do portu o świcie.</p>"


@pytest.mark.parametrize("charset", ["iso-8859-2", "windows-1250", "utf-8", "cp852", "mac-latin2"])
@pytest.mark.parametrize("label", ["windows-1252", "iso-8859-5", "gb2312", None])
def test_an_encoding_that_a_spider_gives_its_response_is_believed(
    charset: str, label: str | None
) -> None:
    """Scrapy's own cure for a page or a server that names a wrong one."""
    head = "" if label is None else f'<meta charset="{label}">'
    headers = {} if label is None else {"Content-Type": f"text/html; charset={label}"}
    response = HtmlResponse(URL, body=(head + POLISH).encode(charset), headers=headers)
    source = source_from_response(response.replace(encoding=charset))
    assert Fingerprinter().read(source).text == "Rybacy wrócili do portu o świcie."


@pytest.mark.parametrize("wrong", ["utf-8", "euc-jp"])
def test_an_encoding_that_the_body_is_not_in_is_not_believed(wrong: str) -> None:
    response = HtmlResponse(URL, body=POLISH.encode("iso-8859-2")).replace(encoding=wrong)
    assert source_from_response(response).html == response.body


def test_what_scrapy_guessed_is_no_encoding_that_was_given() -> None:
    response = HtmlResponse(URL, body=POLISH.encode("iso-8859-2")).replace(url=URL)
    assert response._encoding is not None
    assert source_from_response(response).html == response.body
