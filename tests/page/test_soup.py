"""Pages read by html5lib, and pages that are soups, selectors and trees already."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html
from parsel import Selector

from crawler.demo_site.pages import all_pages
from simhash_pipeline import Fingerprinter, Options, PageFingerprint
from simhash_pipeline.errors import OptionsError, PageError
from simhash_pipeline.page.parse import asks_for_soup
from simhash_pipeline.page.stamp import stamp_for
from tests.trees import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml.etree import _Element

STORY = " ".join(f"rope{number} museum{number % 7}" for number in range(60))
PAGE = f"<html><head><title>Rope</title></head><body><main><p>{STORY}</p></main></body></html>"


def main_of_soup(soup: BeautifulSoup) -> str:
    assert isinstance(soup, BeautifulSoup)
    main = soup.find("main")
    return "" if main is None else main.get_text()


def main_of_tree(tree: _Element) -> str:
    assert isinstance(tree, etree._Element)
    return tree.findtext(".//main/p") or ""


class Extractor:
    def __call__(self, soup: BeautifulSoup) -> str:
        return main_of_soup(soup)


by_instance = Extractor()


def read(source: str | bytes, parser: str) -> _Element:
    return parse(source, parser=parser)


def shape(element: _Element) -> Any:
    children = [shape(child) for child in element]
    attributes = sorted(map(str, element.attrib.items()))
    return element.tag, attributes, element.text or "", children, element.tail or ""


def test_a_sound_page_is_read_the_same() -> None:
    source = (
        '<html lang="en"><head><title>Ropes</title></head><body><div class="a b" id="x">'
        "one<!-- no text --> two<p>three &amp; four</p>five<br>six</div></body></html>"
    )
    assert shape(read(source, "html5lib")) == shape(read(source, "lxml"))


def test_pages_of_a_whole_site_have_the_same_fingerprints_by_html5lib() -> None:
    lxml, html5lib = Fingerprinter(), Fingerprinter(Options(parser="html5lib"))
    pages = [page.body for page in all_pages().values() if len(page.body) < 50_000][:30]
    differ = 0
    for body in pages:
        try:
            a = lxml.fingerprint(body)
        except PageError:
            continue
        b = html5lib.fingerprint(body)
        differ += (a.content, a.text) != (b.content, b.text)
    assert differ == 0


def outcome(read_page: Callable[[], str]) -> str:
    """What it returns, or the kind of its PageError."""
    try:
        return read_page()
    except PageError as error:
        return error.kind


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>one<svg><p>two", "two"),
        ("<image src=x>one", "one"),
        ("no tag at all", "no tag at all"),
        ('<a"b c=1>word</a"b>', "word"),
        ("<o:p onclick=1 @x=2>word</o:p>", "word"),
        ("<p>&#1;word\x01&#xD800;</p>", "word"),
        ("<p>&#x1F;&#11word&#65535; &#233;&#x31;", "word  é1"),
        (f"<p>&#{'1' * 5_000};word &#233;", "word é"),
        ("<div>" * 1_500 + "word", "word"),
    ],
)
def test_what_is_broken_is_read_too(source: str, text: str) -> None:
    root = read(source, "html5lib")
    assert text in "".join(map(str, root.itertext()))
    assert root.find("body") is not None
    Fingerprinter(Options(parser="html5lib")).fingerprint(source)


@given(source=st.text(st.sampled_from("<>/!-?=\"' &#;apbodyhtmlsvg\x00\x01\ud800é港"), max_size=60))
def test_no_markup_makes_it_fail(source: str) -> None:
    assert outcome(lambda: read(source, "html5lib").tag) in ("empty", "html")


@pytest.mark.parametrize("source", ["", " ", "<!-- no -->", "<!doctype html>"])
def test_an_empty_page_has_no_text(source: str) -> None:
    assert Fingerprinter(Options(parser="html5lib")).fingerprint(source).text == ""


def test_a_parser_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "html5lib", None)
    with pytest.raises(OptionsError, match=r"SIMHASH_PARSER is 'html5lib'; it needs html5lib: pip"):
        Fingerprinter(Options(parser="html5lib"))


def test_another_parser_is_stamped() -> None:
    stamps = [stamp_for(Options(parser=parser)) for parser in ("lxml", "html5lib")]
    assert len({stamp["parser"] for stamp in stamps}) == 2


def fingerprint(page: Any, **options: Any) -> PageFingerprint:
    return Fingerprinter(Options(**options)).fingerprint(page)


@pytest.mark.parametrize(
    "page",
    [
        BeautifulSoup(PAGE, "html.parser"),
        Selector(PAGE),
        etree.fromstring(PAGE, etree.HTMLParser()),
        etree.fromstring(PAGE, etree.HTMLParser()).getroottree(),
        html.fromstring(PAGE),
        [Selector(PAGE)],
    ],
    ids=["soup", "selector", "element", "tree", "lxml.html", "list"],
)
def test_a_page_may_be_read_already(page: Any) -> None:
    expected = fingerprint(PAGE)
    found = fingerprint(page)
    assert expected.content is not None
    assert (found.content, found.structure, found.title) == (
        *(expected.content, expected.structure),
        "Rope",
    )


def test_what_is_no_page_is_refused_by_its_type() -> None:
    with pytest.raises(TypeError, match="a page is bytes, text, a soup, selector or tree, not 12"):
        fingerprint(12)


@pytest.mark.parametrize("parser", ["lxml", "html5lib"])
@pytest.mark.parametrize("name", ["main_of_soup", "main_of_tree", "by_instance"])
def test_an_extractor_gets_the_soup_that_it_asks_for(name: str, parser: str) -> None:
    page = fingerprint(PAGE, extractor=f"tests.page.test_soup.{name}", parser=parser)
    assert page.text == STORY
    assert page.structure == fingerprint(PAGE).structure


def test_it_asks_by_the_type_of_its_parameter() -> None:
    assert asks_for_soup(main_of_soup)
    assert asks_for_soup(by_instance)
    assert not asks_for_soup(main_of_tree)
    assert not asks_for_soup(str)
    assert not asks_for_soup("".join)
