"""A page in, its markup and one tree out, and its elements in a list.

BeautifulSoup is imported only for an extractor that asks for a soup.
"""

import inspect
import re
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from lxml import etree
from lxml.etree import _Element

from simhash_pipeline.errors import PageError
from simhash_pipeline.page import bounds
from simhash_pipeline.page.decode import as_utf8, without_line_ends

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

# What libxml2 stops at, and browsers read on behind: they put it where it would stand without.
_ENDS_OF_PAGE = re.compile(rb"</(?:body|html)(?=[\t\n\f\r />])", re.IGNORECASE)
_LAST_ENDS = re.compile(rb"(?:</(?:body|html)>[\t\n\f\r ]*)*", re.IGNORECASE)
# The content of a head, by the HTML standard.
METADATA = frozenset(["base", "link", "meta", "noscript", "script", "style", "template", "title"])
# lxml doesn't let one write what no XML may hold: most control characters, halves of pairs.
_NO_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
NO_DEPTH = 2**31  # deeper than any element
# A tree's elements, each before its children, with its tag and depth; the root's is 0.
Elements: TypeAlias = list[tuple[_Element, str, int]]


def readable(
    html: bytes | str, charset: str | None = None, max_bytes: int = sys.maxsize
) -> tuple[bytes, bool]:
    """As much of a page as the limit allows, in UTF-8, and whether that is less than all of it.

    `charset` is the HTTP header's, if any. PageError, kind binary, when it is no page.
    """
    if isinstance(html, str):  # a character is a byte at least
        html = html[: max_bytes + 1].encode("utf-8", "replace")
        source = read = bounds.first_bytes(html, max_bytes)
    else:
        read = bounds.first_bytes(html, max_bytes)
        source = as_utf8(read, charset)
    source = source.replace(b"\0", b"")  # as browsers do in text; before tags are counted
    bounded = bounds.first_tags(source, max_bytes)
    return without_line_ends(bounded), len(read) < len(html) or len(bounded) < len(source)


def tree_of_page(source: bytes) -> _Element:
    """The tree of UTF-8 markup, without comments.

    PageError (kind empty or unparsable) when there is none.
    """
    endless, is_deep = _without_ends(source), bounds.may_be_deep(source)
    root = _tree(endless, is_deep)
    limit = etree.ErrorTypes.ERR_RESOURCE_LIMIT
    if any(entry.type == limit for entry in root.getroottree().parser.error_log):  # too deep
        most = bounds.MAX_DEPTH if is_deep else bounds.SHALLOW // 2
        root = _tree(bounds.flattened(endless, most), is_deep)
    _empty_head(root)
    return root


def _without_ends(source: bytes) -> bytes:
    """The markup with each `</body` and `</html` as `</body-` and `</html-`, which end nothing.

    A page that ends with them and has no others stays as it is. To take them out would need a walk
    over the page: of a script's `</scr</body>ipt>` markup could be left.
    """
    found = _ENDS_OF_PAGE.search(source)
    if found is None or _LAST_ENDS.fullmatch(source, start := found.start()):
        return source
    renamed = _ENDS_OF_PAGE.sub(rb"\g<0>-", source[start:])
    return b"".join([memoryview(source)[:start], renamed])


def _tree(source: bytes, is_deep: bool) -> _Element:
    parser = etree.HTMLParser(
        encoding="utf-8",
        remove_comments=True,
        remove_pis=True,
        huge_tree=is_deep,
        collect_ids=False,
    )
    try:
        root = etree.fromstring(source, parser)
    except etree.LxmlError as error:
        raise PageError("unparsable", f"the page can't be parsed: {error}") from error
    if root is None:
        raise PageError("empty", "the page holds no element and no text")
    return root


def _empty_head(root: _Element) -> None:
    """Move what is no metadata from the head to the front of the body, where a browser has it.

    In HTML both may go untold: `<title>x</title><main>` ends the head. libxml2 knows no main.
    """
    foreign = [child for child in root.iterfind("head/*") if child.tag not in METADATA]
    if not foreign:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    foreign[-1].tail = _NO_XML.sub(" ", (foreign[-1].tail or "") + (body.text or ""))
    body.text = None
    body[:0] = foreign


def soup_of(source: bytes) -> "BeautifulSoup":
    from bs4 import BeautifulSoup

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pages that look like XML, or like a URL
        return BeautifulSoup(source.decode("utf-8", "replace"), "lxml")


def asks_for_soup(extract: Callable[[Any], str]) -> bool:
    """Whether the type of its parameter is BeautifulSoup."""
    try:
        parameters = inspect.signature(extract).parameters.values()
    except (TypeError, ValueError):  # some of C's have none
        return False
    annotation = next((each.annotation for each in parameters), None)
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return name.rpartition(".")[2].strip("'\"") == "BeautifulSoup"


def elements_of(root: _Element) -> Elements:
    """The rows of a tree as it is now: without comments, as parse.py leaves it."""
    rows, levels = [], {root.getparent(): -1}
    for element in root.iter():
        levels[element] = level = levels[element.getparent()] + 1
        rows.append((element, element.tag, level))
    return rows
