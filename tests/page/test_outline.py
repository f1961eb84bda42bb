import copy
from collections.abc import Callable
from typing import Any

import pytest
from lxml import etree

from crawler.demo_site.pages import all_pages
from simhash_pipeline import Fingerprinter, Options, PageError, hamming_distance
from simhash_pipeline.page.parse import elements_of
from simhash_pipeline.page.structure import outline
from tests.trees import parse

EXAMPLE = """
<html><head><title>x</title><script>1</script></head><body>
<div class="top bar"><ul></ul></div>
<div class="main"><h1>t <b>bold</b></h1><p>a</p><p>b</p><ul class="tags"><li>1</li><li>2</li></ul>
</div></body></html>
"""


def structure(root: etree._Element, **options: Any) -> int | None:
    html = etree.tostring(root, method="html", encoding="unicode")
    return Fingerprinter(Options(**options)).fingerprint(html).structure


def distance(a: int | None, b: int | None) -> int:
    assert a is not None
    assert b is not None
    return hamming_distance(a, b)


@pytest.fixture(scope="module")
def demo_trees() -> list[tuple[etree._Element, int]]:
    """The demo site's pages that have a structure fingerprint and are no generated monsters."""
    trees = []
    for page in all_pages().values():
        try:
            root = parse(page.body)
        except PageError:
            continue
        if len(page.body) < 100_000 and (fingerprint := structure(root)) is not None:
            trees.append((root, fingerprint))
    return trees


def with_banner(root: etree._Element) -> None:
    banner = etree.Element("div", {"class": "promo-banner"})
    banner.text = "Sale"
    next(root.iter("body")).insert(0, banner)


def with_wrapper(root: etree._Element) -> None:
    body = root.find("body")
    assert body is not None
    wrapper = etree.Element("div", {"class": "page-wrap"})
    wrapper.extend(list(body))
    body.append(wrapper)


def with_five_times_the_rows(root: etree._Element) -> None:
    for row in list(root.iter("li", "tr")):
        parent = row.getparent()
        assert parent is not None
        for _ in range(4):
            parent.append(copy.deepcopy(row))


def with_a_longer_head(root: etree._Element) -> None:
    for i in range(10):
        etree.SubElement(next(root.iter("head")), "meta", {"name": f"x{i}"})


def test_the_outline_merges_like_siblings_and_leaves_out_what_is_no_template() -> None:
    page = outline(elements_of(parse(EXAMPLE)))
    shown = sorted(zip(page.labels, (round(w, 2) for w in page.weights()), strict=True))
    assert shown == [
        ("body", 0.2),
        ("div.main", 0.42),
        ("div.top", 0.22),
        ("h1", 0.11),
        ("html", 1.0),
        ("li", 0.11),
        ("p", 0.11),
        ("ul", 0.11),
        ("ul.tags", 0.22),
    ]


def test_numbers_in_classes_do_not_matter() -> None:
    root = parse('<div class="col-1"><p>a</p></div><div class="col-27"><p>b</p></div>')
    one = outline(elements_of(root))
    assert one.labels == ["html", "body", "div.col-0", "p"]


@pytest.mark.parametrize(
    ("edit", "share"),
    [
        (with_banner, 0.95),
        (with_wrapper, 0.95),
        (with_five_times_the_rows, 0.99),
        (with_a_longer_head, 0.99),
    ],
)
def test_small_changes_of_a_template_leave_the_fingerprint_within_3_bits(
    demo_trees: list[tuple[etree._Element, int]],
    edit: Callable[[etree._Element], None],
    share: float,
) -> None:
    unmoved = 0
    for root, before in demo_trees:
        edited = copy.deepcopy(root)
        edit(edited)
        unmoved += distance(before, structure(edited)) <= 3
    assert len(demo_trees) > 50
    assert unmoved / len(demo_trees) >= share


def test_pages_of_different_templates_are_far_apart() -> None:
    pages = all_pages()
    article = structure(parse(pages["/en/port/crane-seven"].body))
    forum = structure(parse(pages["/en/forum/heron-on-the-weir"].body))
    product = structure(parse(pages["/en/shop/oiled-smock"].body))
    assert distance(article, forum) > 3
    assert distance(article, product) > 3
    assert distance(forum, product) > 3


def test_renamed_classes_move_at_most_the_bits_that_hear_classes() -> None:
    root = parse(EXAMPLE.replace("<p>a</p>", "<table><tr><td>a</table>"))
    before = structure(root)
    for element in root.iter():
        if element.get("class"):
            element.set("class", f"x-{element.get('class')}")
    after = structure(root)
    assert before is not None
    assert after is not None
    class_bits = sum(1 << bit for bit in range(64) if bit % 16 in (0, 3, 6, 9, 12))
    assert before & ~class_bits == after & ~class_bits
    assert before != after


def test_an_outline_under_10_nodes_has_no_fingerprint() -> None:
    assert structure(parse("<p>a</p><p>b</p>" * 20)) is None


def test_eight_thousand_labels_and_a_deep_tree_are_no_error() -> None:
    wide = "".join(
        f'<i class="c{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}x{i}y">x</i>' for i in range(9000)
    )
    assert structure(parse(wide)) is not None
    deep = "".join(f'<div class="{"abcdefgh"[i % 8]}">' for i in range(2000))
    assert structure(parse(deep)) is not None


def test_the_published_design_is_a_preset() -> None:
    root = parse(EXAMPLE)
    assert structure(root, preset="dom-decay") != structure(root)
    assert structure(root, preset="dom-decay") is not None
