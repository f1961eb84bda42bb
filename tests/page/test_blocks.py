from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from lxml.etree import _Element

from simhash_pipeline.page.blocks import Blocks, hint_of, read
from simhash_pipeline.page.parse import elements_of
from tests.trees import parse

INLINE = ["b", "i", "span", "a"]
BLOCKS = ["p", "li", "h1", "pre", "tr"]
BOXES = ["div", "nav", "article", "td", "form"]
HIDDEN = ["script", "select", "canvas"]
ATTRIBUTES = ["", ' class="comments"', ' id="forum-list"', " hidden", ' style="display:none"']


def body_of(html: str) -> _Element:
    body = parse(f"<html><body>{html}</body></html>").find("body")
    assert body is not None
    return body


def blocks_of(html: str) -> Blocks:
    return read(elements_of(body_of(html)))


def dull_texts(element: _Element) -> list[str]:
    """The blocks' texts, found by recursion: the pieces between two block-level tags."""
    pieces = "".join(_pieces(element)).split("\0")
    return [" ".join(piece.split()) for piece in pieces if piece.strip()]


def _pieces(element: _Element) -> Iterator[str]:
    hiding = "hidden" in element.attrib or "style" in element.attrib
    flat = element.tag in [*INLINE, "br"]
    yield "" if flat or element.tag in HIDDEN else "\0"
    if element.tag not in HIDDEN and (flat or not hiding):
        yield " " if element.tag == "br" else element.text or ""
        for child in element:
            yield from _pieces(child)
            yield child.tail or ""
    yield "" if flat or element.tag in HIDDEN else "\0"


@given(
    st.recursive(
        st.sampled_from(["word", "Some words, with a comma.", "字，", " ", "<br>", "&amp; ", "\n"]),
        lambda inner: st.builds(
            lambda tag, attribute, parts: f"<{tag}{attribute}>{''.join(parts)}</{tag}>",
            st.sampled_from([*INLINE, *BLOCKS, *BOXES, *HIDDEN]),
            st.sampled_from(ATTRIBUTES),
            st.lists(inner, max_size=4),
        ),
        max_leaves=30,
    )
)
def test_the_walk_reads_what_a_dull_recursion_reads(html: str) -> None:
    body = body_of(html)
    assert read(elements_of(body)).texts == dull_texts(body)


def test_boxes_are_ranges_of_blocks_outer_ones_first() -> None:
    page = blocks_of('<div><nav><p>a</p><p>b</p></nav><article class="x">c</article></div>d')
    assert page.texts == ["a", "b", "c", "d"]
    assert page.tags == ["p", "p", "article", "div"]
    assert page.boxes == [(0, 3, "div", ""), (0, 2, "nav", ""), (2, 3, "article", "x")]


def test_of_two_boxes_round_the_same_blocks_the_outer_one_comes_first() -> None:
    page = blocks_of("<main><article><p>a</p></article></main>")
    assert page.boxes == [(0, 1, "main", ""), (0, 1, "article", "")]


def test_an_anchor_that_is_only_a_target_is_no_link() -> None:
    page = blocks_of('<h2><a name="x">one</a></h2><h2><a id="y">two</a></h2><a>button</a>')
    assert page.link_shares == [0, 0, 1]


def test_a_headings_link_to_itself_is_no_link() -> None:
    html = (
        '<section id="a"><h2><a href="#a">one</a></h2></section>'
        '<dl><dt id="b"><a href="#b"><b>two</b></a></dt></dl><p><a id="c" href="#c">three</a></p>'
        '<ul><li><a href="#a">contents</a></li><li><a href="#">top</a></li></ul>'
    )
    assert blocks_of(html).link_shares == [0, 0, 0, 1, 1]


def test_tag_author_and_header_are_boilerplate_only_where_links_fill_the_box() -> None:
    html = (
        '<dl class="Bl-tag"><dt>EFAULT</dt><dd>The address is bad.</dd></dl>'
        '<div class="tags"><a href="/bell">bell</a> <a href="/fog">fog</a></div>'
        '<div class="author">Ann writes about <a href="/sea">the sea</a>.</div>'
    )
    assert blocks_of(html).hints == [(2, 3, "boilerplate")]


@pytest.mark.parametrize("main", ["main", "div role=main", "main class=menu"])
def test_what_stands_around_the_only_main_box_is_outside(main: str) -> None:
    html = f"<p>before</p><{main}><h1>Bells</h1><p>They ring.</p></{main.split()[0]}><p>behind</p>"
    assert blocks_of(html).hints == [(0, 1, "outside"), (3, 4, "outside")]


def test_a_main_box_says_nothing_if_it_is_one_of_two_or_holds_less_than_half_of_the_text() -> None:
    assert blocks_of("<main>bells</main><main>ropes</main><p>behind</p>").hints == []
    assert blocks_of("<p>Bells are old.</p><main>Search</main>").hints == []


def test_links_and_boxes_of_other_names_take_nothing_from_the_only_main_box() -> None:
    html = "<a href='/'>All bells of all towers</a><main>bells</main><footer>Who owns them</footer>"
    assert blocks_of(html).hints == [(0, 1, "outside"), (2, 3, "footer"), (2, 3, "outside")]


@pytest.mark.parametrize("tag", ["bgsound", "embed", "image", "keygen", "source", "track", "wbr"])
def test_an_element_without_end_tag_neither_cuts_nor_hides_what_follows(tag: str) -> None:
    page = blocks_of(f"<div>one <{tag} style='display:none' class=menu>two</div><p>three</p>")
    assert page.texts == ["one two", "three"]
    assert page.hints == []


def test_a_drawing_is_left_out() -> None:
    svg = "<svg><text>x</text><foreignObject><p>x</p></foreignObject></svg>"
    assert blocks_of(f"<div>a{svg}c</div>").texts == ["ac"]


def test_a_link_share_counts_characters_of_links() -> None:
    page = blocks_of("<p>one <a href='/'>two</a> <button>three</button></p><p>none</p>")
    assert page.link_shares == [8 / 13, 0]


def test_sizes_are_utf_8_bytes() -> None:
    assert blocks_of("<p>bell</p><p>钟</p>").sizes == [4, 3]


def test_a_box_is_called_by_its_tag_or_role_or_a_word_of_its_class_or_id() -> None:
    html = (
        '<footer class="comment">a</footer><div role="dialog" class="menu">b</div>'
        '<div class="col siteMenu">c</div><div id="qa-list">d</div><div class="qa menu">e</div>'
        '<div class="heading">f</div>'
    )
    assert [hint for _, _, hint in blocks_of(html).hints] == [
        "footer",
        "consent",
        "boilerplate",
        "forum",
        "boilerplate",
    ]


def test_a_hidden_box_takes_the_boxes_in_it_along() -> None:
    page = blocks_of('<div>a</div><div hidden><div class="menu">b</div></div><div>c</div>')
    assert page.texts == ["a", "c"]
    assert page.boxes == [(0, 1, "div", ""), (1, 2, "div", "")]
    assert page.hints == []


def test_what_stands_beside_the_body_is_not_read() -> None:
    root = etree.fromstring("<html>a<head><p>b</p></head><body><p>c</p></body>d<div>e</div></html>")
    assert read(elements_of(root)).texts == ["c"]


def test_ten_thousand_levels_are_read_without_recursion() -> None:
    root = deepest = etree.Element("body")
    for _ in range(10_000):
        deepest = etree.SubElement(deepest, "div")
    deepest.text = "bottom"
    assert read(elements_of(root)).texts == ["bottom"]


@pytest.mark.parametrize(
    "html",
    [
        "<map name=m><area shape=default><p>The harbour.</p>",
        "<map name=m><area href=/a><area href=/b></map><p>The harbour.</p>",
        "<map><p>The harbour.</p></map>",
        "<map name=m><area alt=x>The harbour.</map>",
        "<div><map name=m></div><p>The harbour.</p>",
        "<img usemap=#m><map name=m><area coords=1,1,2,2></map>The harbour.",
        "<p><map name=m>The <area>harbour.</map></p>",
    ],
)
def test_what_a_map_holds_is_shown(html: str) -> None:
    """A `<map>` that nothing ends holds all that follows."""
    assert " ".join(blocks_of(html).texts) == "The harbour."


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("box-suche", "boilerplate"),
        ("zone-recherche", "boilerplate"),
        ("publicidad", "boilerplate"),
        ("werbung2", "boilerplate"),
        ("liste-commentaires", "comment"),
        ("KommentareBox", "comment"),
        ("yorumlar", "comment"),
        ("rodape", "footer"),
        ("recherchen", None),
    ],
)
def test_boxes_are_heard_in_other_languages(name: str, hint: str | None) -> None:
    assert hint_of("div", "", name, "") == hint
