from lxml import etree

from simhash_pipeline.page.parse import elements_of
from tests.trees import parse

HTML = "<html><head></head><body><ul><li>a<b>b</b></li><li>c</li></ul><p>d</p></body></html>"


def test_elements_stand_in_document_order_with_their_depths() -> None:
    _, tags, depths = zip(*elements_of(parse(HTML)), strict=True)
    assert tags == ("html", "head", "body", "ul", "li", "b", "li", "p")
    assert depths == (0, 1, 1, 2, 3, 4, 3, 2)


def test_a_part_of_a_tree_has_depth_0_at_its_own_root() -> None:
    rows = [row[1:] for row in elements_of(parse(HTML)[1][0])]
    assert rows == [("ul", 0), ("li", 1), ("b", 2), ("li", 1)]


def test_ten_thousand_levels_are_counted_without_recursion() -> None:
    root = deepest = etree.Element("div")
    for _ in range(10_000):
        deepest = etree.SubElement(deepest, "div")
    assert [depth for _, _, depth in elements_of(root)] == list(range(10_001))
