"""Bytes or text in, one lxml tree out: decoded, binary refused, neither too long nor too deep."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

from lxml import etree
from w3lib.encoding import html_body_declared_encoding, read_bom, resolve_encoding

from simhash_pipeline import native
from simhash_pipeline.errors import PageError
from simhash_pipeline.page.bounds import (
    MAX_DEPTH,
    SHALLOW,
    first_bytes,
    first_tags,
    flattened,
    may_be_deep,
)
from simhash_pipeline.page.soup import NO_XML, soup_of, tree_of

# A charset fits when at most this share of the non-ASCII bytes does not decode: pages are often cut
# in the middle of a character, while a wrong multi-byte charset fails on a tenth or more.
_MAX_UNDECODED = 0.01
# The charsets that servers name by default. They decode any bytes, so they prove nothing.
_DEFAULT_CHARSETS = frozenset({"cp1252", "iso8859-1", "ascii"})
# East Asian charsets decode one another's bytes, and these characters tell them apart at a tenth of
# a detector's cost. Measured on 1,059 real pages, 26 published in these charsets and the others put
# into them: most hold one in 40 non-ASCII bytes when read rightly, and one in 2,000 at most when
# read wrongly; 17 with little text hold none, and are left to what is declared and the detector.
_FREQUENT = {
    "gb18030": "的一是不在",
    "big5hkscs": "的一是不在",
    "cp932": "のにはをた",
    "euc_jp": "のにはをた",
    "cp949": "이다는을의",
}
_FREQUENT_SHARE = 0.002  # such characters to a non-ASCII byte
_SEVEN_BIT = "iso2022_jp"  # valid UTF-8 too, so a declaration is all there is to go by
_ESCAPE = b"\x1b"  # begins its every change to Japanese
# Without a byte order mark; for browsers only HTTP can declare it.
_UTF_16 = {"utf-16": "utf-16-le", "utf-16-le": "utf-16-le", "utf-16-be": "utf-16-be"}
# Codecs of Python that a page may name and that are no charsets: most can't decode a page at all.
_NO_CHARSETS = frozenset(
    [
        "base64",
        "bz2",
        "hex",
        "idna",
        "punycode",
        "quopri",
        "raw-unicode-escape",
        "rot-13",
        "undefined",
        "unicode-escape",
        "uu",
        "zlib",
    ]
)
_MAX_CUT = 60  # bytes of characters that ten parts of a page may begin and end in
_DETECT_BYTES = 8_192  # as good as 65,536 on the labelled pages, in half the time
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
# With fewer non-ASCII bytes to go by, a declaration that fits is a better witness than the text.
_SURE_BYTES = 20
_MARKUP = re.compile(rb"(?is)<(script|style)\b.*?(?:</\1|\Z)|<[^>]*(?:>|\Z)")
# The "binary data bytes" of the WHATWG MIME sniffing standard, and its resource header's length.
_BINARY_BYTES = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_HEADER_BYTES = 1_445
_MAX_BINARY_SHARE = 0.05
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
        source = _utf8(read, charset)
    source = source.replace(b"\0", b"")  # as browsers do in text; before tags are counted
    bounded = first_tags(source, max_bytes)
    return bounded, len(read) < len(html) or len(bounded) < len(source)


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


def decode(html: bytes, charset: str | None = None) -> str:
    """The page as text: BOM, valid UTF-8, HTTP charset, meta charset, then detection; never raises.

    What is declared yields to what the bytes say: text that is valid UTF-8 is UTF-8, a server's
    default (windows-1252) proves nothing, and an East Asian charset in which the page reads well
    beats a declared one. HTTP's UTF-16 is believed where the page begins with a tag in it.
    """
    bom_charset, bom = read_bom(html)
    if bom_charset is not None and bom is not None:
        return html[len(bom) :].decode(bom_charset, "replace")
    if (utf_16 := _utf_16(html, charset)) is not None:
        return html.decode(utf_16, "replace")
    declared = _declared(html, charset)
    if declared == _SEVEN_BIT and _ESCAPE in html:
        return html.decode(declared, "replace")
    for text in _readings(html, declared):
        if text is not None:
            return text
    return html.decode(declared or "utf-8", "replace")


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


def _utf8(html: bytes, charset: str | None) -> bytes:
    if _utf_16(html, charset) is None:
        _refuse_binary(html)
        is_seven_bit = _ESCAPE in html and _declared(html, charset) == _SEVEN_BIT
        if _is_plain(html) and not is_seven_bit:
            return html
    return decode(html, charset).encode("utf-8", "replace")


def _utf_16(html: bytes, charset: str | None) -> str | None:
    """The UTF-16 that HTTP declares; None where no tag is near the beginning when it is read so."""
    name = _UTF_16.get(_codec(charset) or "")
    if name is None or "<" not in html[:_HEADER_BYTES].decode(name, "replace"):
        return None
    return name


def _is_plain(html: bytes) -> bool:
    """Whether it is UTF-8 that `decode` and `encode` would copy.

    They take a byte order mark off, and many U+FFFD are what is left of another charset.
    """
    if html.isascii():
        return True
    if html.startswith(codecs.BOM_UTF8):
        return False
    if native.kernel is not None:
        return native.kernel.is_plain(html)
    try:
        return "\ufffd" not in html.decode()
    except UnicodeDecodeError:
        return False


def _refuse_binary(html: bytes) -> None:
    header = html[:_HEADER_BYTES]
    binary = len(header) - len(header.translate(None, _BINARY_BYTES))
    is_binary = html.startswith(b"%PDF-") or binary > _MAX_BINARY_SHARE * len(header)
    if is_binary and read_bom(html)[0] is None:
        raise PageError("binary", "the page is binary data, not HTML")


def _declared(html: bytes, charset: str | None) -> str | None:
    for label in (charset, html_body_declared_encoding(html)):
        if (name := _codec(label)) and name not in _UTF_16:
            return name
    return None


@lru_cache(maxsize=64)  # most pages of a crawl have one
def _codec(label: str | None) -> str | None:
    """Python's name of a charset label, read as browsers read it: gb2312 is gb18030."""
    try:
        name = codecs.lookup(resolve_encoding(label or "") or "").name
    except (LookupError, ValueError):  # w3lib lets a NUL in it through
        return None
    return None if name in _NO_CHARSETS else name


def _readings(html: bytes, declared: str | None) -> Iterator[str | None]:
    """What the page may say, best first; None for a charset that it isn't in."""
    not_ascii = len(html.translate(None, bytes(range(128))))
    yield _fitting(html, "utf-8", not_ascii)
    for charset in sorted(_FREQUENT, key=lambda name: name != declared):
        yield _fluent(html, charset, not_ascii)
    if declared is not None and declared not in _DEFAULT_CHARSETS:
        yield _fitting(html, declared, not_ascii)
    if (detected := _detected(html)) is not None:
        yield _fitting(html, detected, not_ascii)


def _fitting(html: bytes, charset: str, not_ascii: int) -> str | None:
    """The text in that charset; None where it doesn't fit, which a tenth of the page often shows.

    (Python takes a hundred times as long for a byte that it can't decode as for one that it can.)
    """
    allowed = _MAX_UNDECODED * not_ascii
    size = len(html) // 100
    tenth = b"".join(html[10 * size * i : (10 * i + 1) * size] for i in range(10))
    if tenth.decode(charset, "replace").count("\ufffd") > allowed + _MAX_CUT:
        return None
    text = html.decode(charset, "replace")
    return None if text.count("\ufffd") > allowed else text


def _fluent(html: bytes, charset: str, not_ascii: int) -> str | None:
    """The text where the charset fits and its language is heard in more than a few words."""
    text = _fitting(html, charset, not_ascii)
    if text is None or not_ascii < _SURE_BYTES:
        return None
    heard = accumulate(map(text.count, _FREQUENT[charset]))  # the first is often enough
    return text if any(count > _FREQUENT_SHARE * not_ascii for count in heard) else None


def _detected(html: bytes) -> str | None:
    """The charset by a detector, which costs twice the parse, and 25 MB and 0.06 s at first."""
    import chardet

    plain = _MARKUP.sub(b" ", html)
    first = _NOT_ASCII.search(plain)
    sample = plain[first.start() if first else 0 :][:_DETECT_BYTES]
    guess = chardet.detect(sample, encoding_era=chardet.EncodingEra.MODERN_WEB)
    return _codec(guess["encoding"])
