import pytest

from simhash_pipeline.page.elements import elements_of
from simhash_pipeline.page.structure import tag_features, tag_sum_features
from tests.trees import parse


def test_a_child_weighs_decay_of_its_parent_and_weights_add_up() -> None:
    root = parse("<html><body><div><p>a</p><p>b</p></div><p>c</p></body></html>")
    assert tag_sum_features(elements_of(root), 0.5) == {
        "html": 1.0,
        "body": 0.5,
        "div": 0.25,
        "p": 0.25 + 2 * 0.125,
    }


def test_as_published_a_tag_weighs_its_last_occurrence() -> None:
    root = parse("<html><body><div><p>a</p></div><p>c</p><div></div></body></html>")
    weights = {"html": 0.5, "body": 0.25, "div": 0.125, "p": 0.125}
    assert tag_features(elements_of(root), 0.5) == weights


def test_without_decay_structure_counts_tags() -> None:
    root = parse("<html><body><p>a</p><p>b</p></body></html>")
    assert tag_sum_features(elements_of(root), 1.0) == {"html": 1.0, "body": 1.0, "p": 2.0}


@pytest.mark.parametrize("depth", [1_000, 2_000])
def test_a_deep_tree_neither_recurses_nor_underflows(depth: int) -> None:
    weights = tag_sum_features(elements_of(parse("<div>" * depth)), 0.45)
    assert weights["div"] == pytest.approx(0.45**2 / 0.55)
