from __future__ import annotations

import pytest

from simhash_pipeline.page.parse import elements_of
from simhash_pipeline.page.structure import tag_features
from tests.trees import parse


def test_as_published_a_tag_weighs_its_last_occurrence() -> None:
    root = parse("<html><body><div><p>a</p></div><p>c</p><div></div></body></html>")
    weights = {"html": 0.45, "body": 0.2025, "div": 0.091125, "p": 0.091125}
    assert tag_features(elements_of(root), 0.45) == pytest.approx(weights)


@pytest.mark.parametrize("depth", [1_000, 2_000])
def test_a_deep_tree_neither_recurses_nor_overflows(depth: int) -> None:
    assert tag_features(elements_of(parse("<div>" * depth)), 0.45)["div"] >= 0.0
