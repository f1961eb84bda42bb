"""What of an item came with its request, and what its page is called."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import scrapy
from itemadapter import ItemAdapter
from scrapy.http import (
    FormRequest,
    HtmlResponse,
    JsonResponse,
    Request,
    Response,
    TextResponse,
    XmlResponse,
)

from simhash_pipeline import Options, PageError
from simhash_pipeline.crawl.item_source import find_page, source_from_response
from simhash_pipeline.page.fingerprint import Fingerprinter
from simhash_pipeline.page.source import Source
from simhash_pipeline.urls import page_key

BODY = "A rope museum opens by the harbour."
URL = "http://a.example/story/3/comments"
PART = "<title>Flats</title><p>A flat.</p><b>Bremen</b>"
FORM = "http://a.example/search"


class Story(scrapy.Item):
    title = scrapy.Field()
    body = scrapy.Field()


@dataclasses.dataclass
class Article:
    title: str
    body: str


def source(item: Any, response: Response | None) -> Source:
    found = find_page(ItemAdapter(item), response, Options())
    assert found is not None
    return found


def carried(item: Any, **by_request: Any) -> set[str]:
    held = source(item, HtmlResponse(URL, request=Request(URL, **by_request))).item
    return set() if held is None else {*held.carried}


@pytest.mark.parametrize("way", ["meta", "cb_kwargs"])
@pytest.mark.parametrize("kind", [dict, Story, Article])
def test_what_came_with_the_request_is_known(way: str, kind: Any) -> None:
    item = kind(title="x", body=BODY)
    assert carried(item, **{way: {"item": item}}) == {"x", BODY}
    assert carried(item, **{way: {"text": BODY}}) == {BODY}
    assert carried(item, **{way: {"depth": 1}}) == set()


def test_numbers_come_by_arguments_alone_as_scrapy_s_own_are_in_meta() -> None:
    assert carried({"price": 9}, cb_kwargs={"price": 9}) == {"9"}
    assert carried({"depth": 1}, meta={"depth": 1}) == set()


def test_an_item_s_relative_url_is_joined_to_that_of_its_response() -> None:
    item = {"url": "../4?a=1", "html": f"<p>{BODY}"}
    assert source(item, HtmlResponse(URL)).url == "http://a.example/story/4?a=1"
    assert source({"url": URL, "html": BODY}, None).url == URL


def test_what_was_sent_and_the_route_are_part_of_the_address() -> None:
    def address(request: Request, url: str = FORM) -> str:
        return page_key(source({}, HtmlResponse(url, body=b"<p>", request=request)).url)

    one, two = (FormRequest(FORM, formdata={"page": n}) for n in "12")
    assert address(one) != address(two)
    assert address(one) == address(FormRequest(FORM, formdata={"page": "1"}))
    assert address(Request(f"{FORM}#!/a")) == f"{FORM}#!/a"
    assert address(Request(f"{FORM}#/b")) == f"{FORM}#/b"
    assert address(Request(f"{FORM}#top")) == FORM
    assert address(Request(f"{FORM}#!/a"), "http://a.example/elsewhere") == (
        "http://a.example/elsewhere"
    )


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
    found = source_from_response(response.replace(encoding=charset))
    assert Fingerprinter().read(found).text == "Rybacy wrócili do portu o świcie."


@pytest.mark.parametrize("wrong", ["utf-8", "euc-jp"])
def test_an_encoding_that_the_body_is_not_in_is_not_believed(wrong: str) -> None:
    response = HtmlResponse(URL, body=POLISH.encode("iso-8859-2")).replace(encoding=wrong)
    assert source_from_response(response).html == response.body


def test_what_scrapy_guessed_is_no_encoding_that_was_given() -> None:
    response = HtmlResponse(URL, body=POLISH.encode("iso-8859-2")).replace(url=URL)
    assert response._encoding is not None
    assert source_from_response(response).html == response.body


@pytest.mark.parametrize("kind", [JsonResponse, XmlResponse, HtmlResponse])
def test_the_values_of_a_text_are_looked_for_in_what_it_came_in(kind: type[TextResponse]) -> None:
    """As of an advertisement that an API gives with its town."""
    response = kind(URL, body=b'{"text": "A flat.", "town": "Bremen"}', request=Request(URL))
    item = ItemAdapter({"text": "A flat.", "url": URL})
    found = find_page(item, response, Options(content_field="text"))
    assert found is not None
    assert found.page == response.text


@pytest.mark.parametrize(("held", "page"), [("<p>A flat.</p>", PART), (PART, "")])
def test_so_they_are_of_a_part_of_the_page(held: str, page: str) -> None:
    response = HtmlResponse(URL, body=PART.encode(), encoding="utf-8", request=Request(URL))
    found = source({"html": held, "url": f"{URL}?1", "town": "Bremen"}, response)
    assert (found.html, found.page) == (held, page)


@pytest.mark.parametrize("url", ["http://[::1", "http://a" + "\u0f73" * 20_000])
def test_an_odd_address_next_to_a_response_is_refused_by_name(url: str) -> None:
    """And the marks of a host are not sorted while the crawl waits."""
    response = HtmlResponse(URL, body=PART.encode())
    source = find_page({"url": url, "html": "<p>A flat."}, response, Options())
    assert source is not None
    with pytest.raises(PageError) as caught:
        page_key(source.url)
    assert caught.value.kind == "bad_url"
