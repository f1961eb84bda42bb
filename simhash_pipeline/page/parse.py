"""Bytes or text in, its markup and one lxml tree out; decode.py reads the bytes."""

from __future__ import annotations

import re
import sys

from lxml import etree

from simhash_pipeline.errors import PageError
from simhash_pipeline.page.bounds import (
    MAX_DEPTH,
    SHALLOW,
    first_bytes,
    first_tags,
    flattened,
    may_be_deep,
)
from simhash_pipeline.page.decode import as_utf8, without_line_ends
from simhash_pipeline.page.soup import NO_XML, soup_of, tree_of

# What libxml2 stops at, and browsers read on behind: they put it where it would stand without.
_ENDS_OF_PAGE = re.compile(rb"</(?:body|html)(?=[\t\n\f\r />])", re.IGNORECASE)
_LAST_ENDS = re.compile(rb"(?:</(?:body|html)>[\t\n\f\r ]*)*", re.IGNORECASE)
# The content of a head, by the HTML standard.
METADATA = frozenset(["base", "link", "meta", "noscript", "script", "style", "template", "title"])


def readable(
    html: bytes | str, charset: str | None = None, max_bytes: int = sys.maxsize
) -> tuple[bytes, bool]:
    """As much of a page as the limit allows, in UTF-8, and whether that is less than all of it.

    `charset` is the HTTP header's, if any. PageError, kind binary, when it is no page.
    """
    if isinstance(html, str):  # a character is a byte at least
        html = html[: max_bytes + 1].encode("utf-8", "replace")
        source = read = first_bytes(html, max_bytes)
    else:
        read = first_bytes(html, max_bytes)
        source = as_utf8(read, charset)
    source = source.replace(b"\0", b"")  # as browsers do in text; before tags are counted
    bounded = first_tags(source, max_bytes)
    return without_line_ends(bounded), len(read) < len(html) or len(bounded) < len(source)


def tree_of_page(source: bytes, parser: str = "lxml") -> etree._Element:
    """The tree of UTF-8 markup, without comments, by lxml, or by html5lib and BeautifulSoup.

    PageError (kind empty or unparsable) when there is none.
    """
    if parser != "lxml":
        return _tree_by_soup(source, parser)
    endless, is_deep = _without_ends(source), may_be_deep(source)
    root = _tree(endless, is_deep)
    if _is_too_deep(root):
        root = _tree(flattened(endless, MAX_DEPTH if is_deep else SHALLOW // 2), is_deep)
    _empty_head(root)
    return root


def _without_ends(source: bytes) -> bytes:
    """The markup with each `</body` and `</html` as `</body-` and `</html-`, which end nothing.

    A page that ends with them and has no others stays as it is: to copy it costs more than to look.
    To take them out would need a walk over the page, a tenth of what all else costs: in a script,
    comment or value, `</scr</body>ipt>`, what is left could be markup. This changes no other tag.
    """
    found = _ENDS_OF_PAGE.search(source)
    if found is None or _LAST_ENDS.fullmatch(source, start := found.start()):
        return source
    renamed = _ENDS_OF_PAGE.sub(rb"\g<0>-", source[start:])
    return b"".join([memoryview(source)[:start], renamed])


def _tree(source: bytes, is_deep: bool) -> etree._Element:
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
    foreign = [child for child in root.iterfind("head/*") if child.tag not in METADATA]
    if not foreign:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    foreign[-1].tail = NO_XML.sub(" ", (foreign[-1].tail or "") + (body.text or ""))
    body.text = None
    body[:0] = foreign
