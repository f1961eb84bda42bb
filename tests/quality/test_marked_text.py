import random

from lxml import etree, html

from tests.quality.marked_text import (
    all_marked_nodes,
    first_words,
    marked_nodes,
    nodes_beside,
    set_title,
    with_other_words,
    word_count,
)
from tests.trees import title_of

PAGE = """
<html><head><title>The crane is back</title></head><body>
<div>Menu of the port</div>
<p>The crane is <b>back</b> in the harbour, said <a>Ann</a>.</p>
<script>The crane is</script>
<div>Ann</div>
</body></html>
"""
MARKED = "The crane is back in the harbour, said Ann."


def test_marked_text_is_found_where_it_is_visible() -> None:
    nodes = marked_nodes(html.document_fromstring(PAGE), MARKED)
    assert [node.text for node in nodes] == ["The crane is", "in the harbour, said"]


def test_short_pieces_of_marked_text_are_found_between_longer_ones_alone() -> None:
    nodes = all_marked_nodes(html.document_fromstring(PAGE), MARKED)
    assert [node.text for node in nodes] == ["The crane is", "back", "in the harbour, said"]


def test_links_and_longer_texts_beside_the_marked_text_are_found() -> None:
    page = html.document_fromstring(
        f"<p>{MARKED}</p><p>Menu of the port</p><a>Four words of link</a><i><a>Three words "
        "only</a></i><div>A text of eight words that nobody marked</div><script>var of eight words "
        "that nobody will ever see</script><title>A title of eight words that stands below</title>"
    )
    found = [(node.text, node.is_linked) for node in nodes_beside(page, MARKED)]
    assert found == [
        ("Four words of link", True),
        ("A text of eight words that nobody marked", False),
    ]


def test_a_title_is_exchanged_and_a_page_without_one_gets_it() -> None:
    for page in (PAGE, "<p>The crane is back</p><svg><title>Show</title></svg>"):
        root = html.document_fromstring(page)
        set_title(root, "Two cranes")
        assert title_of(root) == "Two cranes"


def test_a_replaced_text_leaves_the_elements_where_they_are() -> None:
    root = html.document_fromstring(PAGE)
    for node in marked_nodes(root, MARKED):
        node.replace("new")
    paragraph = next(root.iter("p"))
    text = etree.tostring(paragraph, encoding="unicode", method="html", with_tail=False)
    assert text == "<p>new<b>back</b> new <a>Ann</a>.</p>"


def test_words_are_exchanged_and_punctuation_is_not() -> None:
    chance = random.Random(7)
    assert with_other_words("One, two (three).", ["new"], chance) == "new, new (new)."
    assert with_other_words("港口，起重机。", ["新闻"], chance) == "新闻，新闻新闻。"


def test_two_chinese_characters_count_as_a_word() -> None:
    assert word_count("The crane, 起重机") == 4


def test_a_text_is_cut_after_so_many_words() -> None:
    assert first_words("One, two (three).", 2) == "One, two"
    assert first_words("One, two.", 5) == "One, two"
    assert first_words("", 5) == ""
