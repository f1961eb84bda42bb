"""Bytes or text in, one lxml tree out, neither too long nor too deep; decode.py reads the bytes."""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

from lxml import etree

from simhash_pipeline import native
from simhash_pipeline.errors import PageError
from simhash_pipeline.native import Head
from simhash_pipeline.page.bounds import MAX_DEPTH, first_bytes, flattened, without_excess
from simhash_pipeline.page.decode import as_utf8, without_line_ends
from simhash_pipeline.page.head import head_of
from simhash_pipeline.page.soup import NO_XML, soup_of, tree_of

# What libxml2 stops at, and browsers read on behind: they put it where it would stand without.
_ENDS_OF_PAGE = re.compile(rb"</(?:body|html)(?=[\t\n\f\r />])", re.IGNORECASE)
_LAST_ENDS = re.compile(rb"(?:</(?:body|html)>[\t\n\f\r ]*)*", re.IGNORECASE)
# The content of a head, by the HTML standard.
_METADATA = frozenset(["base", "link", "meta", "noscript", "script", "style", "template", "title"])


class ParsedPage(NamedTuple):
    """As much of a page as the limit allows."""

    root: etree._Element
    source: bytes  # UTF-8
    cut: bool  # whether it is less than all of the page
    head: Head


def parsed_page(
    html: bytes | str,
    charset: str | None = None,
    max_bytes: int = sys.maxsize,
    parser: str = "lxml",
) -> ParsedPage:
    """The page's tree, without comments; `charset` is the HTTP header's, if any.

    `parser` is lxml, or html5lib by BeautifulSoup. PageError (kind empty,
    binary or unparsable) when there is no page to read.
    """
    if isinstance(html, str):  # a character is a byte at least
        html = html[: max_bytes + 1].encode("utf-8", "replace")
        source = read = first_bytes(html, max_bytes)
    else:
        read = first_bytes(html, max_bytes)
        source = as_utf8(read, charset)
    source = source.replace(b"\0", b"")  # as browsers do in text; before tags are counted
    bounded = without_excess(source, max_bytes)
    cut = len(read) < len(html) or len(bounded) < len(source)
    bounded = without_line_ends(bounded)
    if parser != "lxml":
        root = _tree_by_soup(bounded, parser)
        return ParsedPage(root, bounded, cut, head_of(root))
    endless = _without_ends(bounded)
    root = _tree(endless)
    if _is_too_deep(root):
        root = _tree(flattened(endless))
    head = head_of(root)
    if not {row[0] for row in head} <= _METADATA:
        _empty_head(root)
    return ParsedPage(root, bounded, cut, head)


def _without_ends(source: bytes) -> bytes:
    """The markup with each `</body` and `</html` as `</body-` and `</html-`, which end nothing.

    A page that ends with them and has no others stays as it is: to copy it costs more than to look.
    To take them out would need a walk over the page, a tenth of what all else costs: in a script,
    comment or value, `</scr</body>ipt>`, what is left could be markup. This changes no other tag.
    """
    first = 0 if native.kernel is None else native.kernel.end_tag(source)
    found = _ENDS_OF_PAGE.search(source, first)
    if found is None or _LAST_ENDS.fullmatch(source, start := found.start()):
        return source
    renamed = _ENDS_OF_PAGE.sub(rb"\g<0>-", source[start:])
    return b"".join([memoryview(source)[:start], renamed])


def _tree(source: bytes) -> etree._Element:
    """The tree of UTF-8 markup."""
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True, collect_ids=False
    )
    try:
        root = etree.fromstring(source, parser)
    except etree.LxmlError as error:
        raise PageError("unparsable", f"the page can't be parsed: {error}") from error
    if root is None:
        raise PageError("empty", "the page holds no element and no text")
    return root


def _is_too_deep(root: etree._Element) -> bool:
    """Whether libxml2 gave up on its depth."""
    limit = etree.ErrorTypes.ERR_RESOURCE_LIMIT
    return any(entry.type == limit for entry in root.getroottree().parser.error_log)


def _tree_by_soup(source: bytes, parser: str) -> etree._Element:
    root, depth = tree_of(soup_of(source, parser))
    if depth > MAX_DEPTH:
        root, _ = tree_of(soup_of(flattened(source), parser))
    return root


def _empty_head(root: etree._Element) -> None:
    """Move what is no metadata from the head to the front of the body, where a browser has it.

    In HTML both may go untold: `<title>x</title><main>` ends the head. libxml2 knows no main.
    """
    foreign = [child for child in root.iterfind("head/*") if child.tag not in _METADATA]
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    foreign[-1].tail = NO_XML.sub(" ", (foreign[-1].tail or "") + (body.text or ""))
    body.text = None
    body[:0] = foreign
