"""Pages that are soups, selectors and trees already, and soups for extractors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html
from parsel import Selector

from simhash_pipeline import Fingerprinter, Options, PageFingerprint
from simhash_pipeline.page.parse import asks_for_soup, soup_of

if TYPE_CHECKING:
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


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>one<svg><p>two", "two"),
        ("<image src=x>one", "one"),
        ("no tag at all", "no tag at all"),
        ('<a"b c=1>word</a"b>', "word"),
        ("<o:p onclick=1 @x=2>word</o:p>", "word"),
        ("<p>&#1;word\x01&#xD800;</p>", "word"),
        ("<p>&#x1F;&#11word&#65535; &#233;&#x31;", " é1"),
        (f"<p>&#{'1' * 5_000};word &#233;", "word é"),
        ("<div>" * 1_500 + "word", "word"),
    ],
)
def test_a_soup_of_broken_markup_has_its_text(source: str, text: str) -> None:
    assert text in soup_of(source.encode("utf-8", "replace")).get_text()


@given(source=st.text(st.sampled_from("<>/!-?=\"' &#;apbodyhtmlsvg\x00\x01\ud800é港"), max_size=60))
def test_no_markup_makes_a_soup_fail(source: str) -> None:
    soup_of(source.encode("utf-8", "replace"))


def first_string(soup: BeautifulSoup) -> Any:
    return next(soup.strings)


def test_of_a_soup_s_string_the_text_alone_is_kept() -> None:
    """It is a str, and holds its soup."""
    page = fingerprint(PAGE, extractor=f"{__name__}.first_string")
    assert type(page.text) is str
    assert page.text == "Rope"


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


@pytest.mark.parametrize("name", ["main_of_soup", "main_of_tree", "by_instance"])
def test_an_extractor_gets_the_soup_that_it_asks_for(name: str) -> None:
    page = fingerprint(PAGE, extractor=f"tests.page.test_soup.{name}")
    assert page.text == STORY
    assert page.structure == fingerprint(PAGE).structure


def test_it_asks_by_the_type_of_its_parameter() -> None:
    assert asks_for_soup(main_of_soup)
    assert asks_for_soup(by_instance)
    assert not asks_for_soup(main_of_tree)
    assert not asks_for_soup(str)
    assert not asks_for_soup("".join)
