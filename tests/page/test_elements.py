from lxml import etree

from simhash_pipeline.page.parse import elements_of
from tests.trees import parse

HTML = "<html><head></head><body><ul><li>a<b>b</b></li><li>c</li></ul><p>d</p></body></html>"


def test_elements_stand_in_document_order_with_their_depths() -> None:
    page = elements_of(parse(HTML))
    assert page.tags == ["html", "head", "body", "ul", "li", "b", "li", "p"]
    assert page.depths == [0, 1, 1, 2, 3, 4, 3, 2]


def test_a_part_of_a_tree_has_depth_0_at_its_own_root() -> None:
    page = elements_of(parse(HTML)[1][0])
    assert page.tags == ["ul", "li", "b", "li"]
    assert page.depths == [0, 1, 2, 1]


def test_ten_thousand_levels_are_counted_without_recursion() -> None:
    root = deepest = etree.Element("div")
    for _ in range(10_000):
        deepest = etree.SubElement(deepest, "div")
    assert elements_of(root).depths == list(range(10_001))
