"""Edits of real pages that leave the template what it was."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable

from lxml import etree
from lxml.etree import _Element

Edit = Callable[[_Element], bool]


def banner(root: _Element) -> bool:
    """One more div at the top of the body; False where the page has no body."""
    body = root.find("body")
    if body is None:
        return False
    body.insert(0, _element("div", "promo-banner", "Sale: everything must go"))
    return True


def wrapper(root: _Element) -> bool:
    """The whole body in one more div."""
    body = root.find("body")
    if body is None:
        return False
    wrapped = _element("div", "page-wrap", body.text)
    body.text = None
    wrapped.extend(list(body))
    body.append(wrapped)
    return True


def rows(root: _Element) -> bool:
    """The longest list or table five times as long; False where the page has none."""
    groups = Counter(row.getparent() for row in root.iter("tr", "li"))
    if not groups:
        return False
    (parent, _), *_ = groups.most_common(1)
    assert parent is not None
    own = [child for child in parent if child.tag in ("tr", "li")]
    for _ in range(4):
        parent.extend([copy.deepcopy(row) for row in own])
    return True


def head(root: _Element) -> bool:
    """Ten more elements in the head; False where the page has none."""
    element = root.find("head")
    if element is None:
        return False
    for number in range(10):
        etree.SubElement(element, "meta", name=f"more-{number}", content=f"{number}")
    return True


# Name of the edit, and the share of pages that must stay within 3 bits.
EDITS: dict[str, tuple[Edit, float]] = {
    "a banner div": (banner, 0.95),
    "the body in a div": (wrapper, 0.95),
    "five times the rows": (rows, 0.99),
    "ten more head elements": (head, 0.99),
}


def _element(tag: str, name: str, text: str | None) -> _Element:
    element = etree.Element(tag)
    element.set("class", name)
    element.text = text
    return element
