"""Pages read by BeautifulSoup: by SIMHASH_PARSER, and for an extractor that asks for a soup.

BeautifulSoup is imported when it is needed.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lxml import etree

from simhash_pipeline.errors import OptionsError, PageError

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import Tag

# lxml doesn't let one write what no XML may hold: most control characters, halves of pairs.
NO_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def check_parser(parser: str) -> None:
    """OptionsError if BeautifulSoup lacks what this parser needs."""
    from bs4 import BeautifulSoup, FeatureNotFound

    try:
        BeautifulSoup("", parser)
    except FeatureNotFound as error:
        rule = f"it needs {parser}: pip install 'simhash-pipeline[{parser}]'"
        raise OptionsError([f"SIMHASH_PARSER is {parser!r}; {rule}"]) from error


def soup_of(source: bytes, parser: str) -> BeautifulSoup:
    """The soup of UTF-8 markup; PageError (kind unparsable) if the parser fails on it."""
    from bs4 import BeautifulSoup

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pages that look like XML, or like a URL
        try:
            return BeautifulSoup(source.decode("utf-8", "replace"), parser)
        except Exception as error:  # html5lib lets its own errors out
            raise PageError("unparsable", f"{parser} can't parse the page: {error!r}") from error


def tree_of(soup: BeautifulSoup) -> tuple[etree._Element, int]:
    """The soup as a tree that lxml might have read, and its depth.

    `lxml.html.soupparser` does the same by recursion, and fails on control characters.
    """
    from bs4.element import PreformattedString, Tag

    make = etree.HTMLParser().makeelement
    root = make("html")
    elements, depths = {id(soup): root}, {id(soup): 0}
    for node in soup.descendants:
        parent = elements[id(node.parent)]
        if isinstance(node, Tag):
            depths[id(node)] = depths[id(node.parent)] + 1
            is_root = node.name == "html" and node.parent is soup
            elements[id(node)] = element = root if is_root else _element(make, node)
            if is_root:
                _copy_attributes(node, root)
            else:
                parent.append(element)
        elif not isinstance(node, PreformattedString):  # a comment, a doctype
            _append_text(parent, NO_XML.sub(" ", str(node)))
    return root, max(depths.values())


def asks_for_soup(extract: Callable[[Any], str]) -> bool:
    """Whether the type of its parameter is BeautifulSoup."""
    try:
        parameters = inspect.signature(extract).parameters.values()
    except (TypeError, ValueError):  # some of C's have none
        return False
    annotation = next((each.annotation for each in parameters), None)
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return name.rpartition(".")[2].strip("'\"") == "BeautifulSoup"


def _element(make: Callable[[str], etree._Element], node: Tag) -> etree._Element:
    try:
        element = make(node.name)
    except ValueError:  # html5lib takes names such as a"b
        element = make("span")
    _copy_attributes(node, element)
    return element


def _copy_attributes(node: Tag, element: etree._Element) -> None:
    for name, value in node.attrs.items():
        text = value if isinstance(value, str) else " ".join(value)
        try:
            element.set(name, NO_XML.sub(" ", text))
        except ValueError:
            continue  # no name for lxml, and none that is asked for


def _append_text(parent: etree._Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text
