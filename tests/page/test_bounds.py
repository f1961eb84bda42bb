"""What is read of a page that is long, dense or deep; what it costs: tests/long/hostile.py."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline import Fingerprinter, Options, PageError
from simhash_pipeline.page.bounds import (
    _PART,
    before_wide_tag,
    first_bytes,
    first_of_text,
    first_tags,
)
from simhash_pipeline.page.parse import elements_of
from tests.long.hostile_pages import PAGES
from tests.skipping import examples
from tests.trees import parse

LIMIT = 5_000_000
STORY = " ".join(f"On day {number} the ferry came home through the fog." for number in range(3_000))


def without_excess(source: bytes, max_bytes: int) -> bytes:
    return before_wide_tag(first_tags(source, max_bytes))


def fingerprinter(max_page_bytes: int = 10_000) -> Fingerprinter:
    return Fingerprinter(Options(max_page_bytes=max_page_bytes))


def test_a_page_is_read_up_to_the_limit() -> None:
    html = f"<p>{STORY[:2_000]}</p>".ljust(10_000) + f"<p>{STORY[:500]}</p>"
    page = fingerprinter().fingerprint(html)
    assert page.cut
    assert page.text == STORY[:2_000].strip()


def test_a_page_of_the_limit_is_read_whole() -> None:
    html = f"<p>{STORY[:2_000]}</p>".ljust(10_000).encode()
    assert not fingerprinter().fingerprint(html).cut
    assert fingerprinter().fingerprint(html + b" ").cut


def test_end_tags_are_half_of_the_tags_that_are_read() -> None:
    whole = b"<p>x</p>" * 1_000
    assert without_excess(whole, 64_000) == whole
    assert without_excess(whole + b"</y>" * 10, 64_000) == whole
    assert without_excess(b"<p>" + b"</y>" * 1_500 + whole, 64_000) == b"<p>" + b"</y>" * 1_000


def test_a_page_of_many_end_tags_is_read_as_a_shallow_tree() -> None:
    """Each of these end tags costs libxml2 a look at all levels: it may not end the div."""

    def levels_of(end_tags: int) -> int:
        root = parse(b"<tt><div>" + b"<b>" * 1_900 + b"</tt>" * end_tags + b"word")
        assert "".join(map(str, root.itertext())).endswith("word")
        return max(depth for _, _, depth in elements_of(root))

    assert levels_of(8_000) == 1_903
    assert levels_of(8_001) == 129


@pytest.mark.parametrize("max_page_bytes", [30_000, LIMIT])
def test_the_limit_does_not_move_a_page_below_it(max_page_bytes: int) -> None:
    html = f"<h1>Ferries</h1><p>{STORY[:3_000]}</p><p>{'雾中的渡轮' * 100}</p>"
    wide = fingerprinter(10**9).fingerprint(html)
    assert fingerprinter(max_page_bytes).fingerprint(html) == wide


def test_text_and_bytes_are_cut_alike() -> None:
    html = f"<p>{STORY[:1_000]} {'雾中的渡轮。' * 5_000}"
    assert fingerprinter().fingerprint(html) == fingerprinter().fingerprint(html.encode())


@pytest.mark.parametrize("character", ["a", "é", "港", "🚀"])
@pytest.mark.parametrize("max_bytes", range(9, 14))
def test_no_character_of_utf8_is_cut_in_two(character: str, max_bytes: int) -> None:
    cut = first_bytes((character * 10).encode(), max_bytes)
    assert max_bytes - 4 < len(cut) <= max_bytes or len(cut) == len((character * 10).encode())
    assert set(cut.decode()) == {character}


@pytest.mark.parametrize("charset", ["gb18030", "big5", "utf-16"])
def test_a_page_that_is_cut_is_still_read_in_its_charset(charset: str) -> None:
    html = ("<p>" + "港口在霧中。" * 5_000).encode(charset)
    page = fingerprinter().fingerprint(html, charset=charset)
    assert page.cut
    assert set(page.text.rstrip("\ufffd")) == set("港口在霧中。")


def test_a_page_may_have_one_tag_to_32_bytes_of_the_limit() -> None:
    tags = LIMIT // 32
    assert without_excess(b"<b>" * tags, LIMIT) == b"<b>" * tags
    assert without_excess(b"<b>" * (tags + 1) + b"x", LIMIT) == b"<b>" * tags


def test_a_main_text_may_be_a_fifth_of_the_limit() -> None:
    assert first_of_text("a" * 1_000, 5_000) == "a" * 1_000
    assert first_of_text("a" * 1_001, 5_000) == "a" * 1_000
    assert first_of_text("港" * 1_000, 5_000) == "港" * 333
    page = fingerprinter().fingerprint("<p>" + STORY[:4_000])
    assert page.cut
    assert len(page.text) == 2_000


def many(number: int) -> bytes:
    return b" ".join(b"a%d='>'" % i for i in range(number))


@pytest.mark.parametrize(
    "before", [b"", b"<!-->", b"<title a='</title>'></title>", b"<a x=y>", b"<script/>"]
)
def test_a_large_page_ends_before_a_tag_of_more_than_500_attributes(before: bytes) -> None:
    rest = b"x" * 100_000
    whole = b"<p>one</p>%b<p %b>two</p>%b" % (before, many(500), rest)
    assert without_excess(whole, LIMIT) == whole
    head = b"<p>one</p>" + before
    assert without_excess(b"%b<p %b>two</p>%b" % (head, many(501), rest), LIMIT) == head


def test_a_small_page_keeps_its_many_attributes() -> None:
    assert parse(b"<p %b>one</p>" % many(2_000)).xpath("string(//p/@a1999)") == ">"


# What tells markup from text, in any order; <q stands for a tag that libxml2 may see or not.
MARKUP = [
    *("<q", "<q>", "</q>", '<q x="', "<q x='", "<q/x=", ">", "/", "=", '"', "'", "a=", '="', "&"),
    *("<!--", "-->", "--!>", "<!-->", "<!--->", "<!-", "<!", "<!x", "<?x", "</1", "<1", "]]>"),
    *("<script", "<script>", "</script", "</script>", "</scriptx", "<style>", "</style>"),
    *("<title>", "</title", '<textarea x="', "</textarea>", "<xmp>", "</xmp>", "<![CDATA["),
    *(" ", "\n", "\f", "\v"),
]


@examples(1_000)
@given(st.lists(st.sampled_from(MARKUP), max_size=30))
def test_every_tag_that_libxml2_finds_is_found_before(pieces: list[str]) -> None:
    """Otherwise a page could hide a tag that costs more than it should."""
    html = "<b>" + "".join(p.replace("<q", f"<q{i}") for i, p in enumerate(pieces))
    parts = [part for part in _PART.finditer(html.encode()) if not part["closes"]]
    found = {part["name"].decode().lower() for part in parts if part["name"]}
    assert {element.tag for element in parse(html).iter() if element.tag.startswith("q")} <= found


@pytest.mark.parametrize("name", PAGES)
def test_a_hostile_page_is_a_page_or_a_page_error(name: str) -> None:
    with contextlib.suppress(PageError):
        Fingerprinter().fingerprint(PAGES[name](150_000))
