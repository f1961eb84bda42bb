"""Bytes or text in, one lxml tree out: decoding, binary refused, too deep a nesting flattened."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import chardet
from lxml import etree
from w3lib.encoding import html_body_declared_encoding, read_bom, resolve_encoding

from simhash_pipeline.errors import PageError

# A charset fits when at most this share of the non-ASCII bytes does not decode: pages are often cut
# in the middle of a character, while a wrong multi-byte charset fails on a tenth or more.
_MAX_UNDECODED = 0.01
# Charsets named by servers that were never told; they decode anything, so they prove nothing.
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
_DETECT_BYTES = 8_192  # as good as 65,536 on the labelled pages, in half the time
_ASCII = bytes(range(128))
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
# With fewer non-ASCII bytes to go by, a declaration that fits is a better witness than the text.
_SURE_BYTES = 20
_MARKUP = re.compile(rb"(?is)<(script|style)\b.*?(?:</\1|\Z)|<[^>]*>")
# The "binary data bytes" of the WHATWG MIME sniffing standard, and its resource header's length.
_BINARY_BYTES = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_HEADER_BYTES = 1_445
_MAX_BINARY_SHARE = 0.05
# Browsers nest 512 levels and put what is deeper side by side; libxml2 gives up at 2,048.
_MAX_DEPTH = 512
# The content of a head, by the HTML standard.
_METADATA = frozenset(["base", "link", "meta", "noscript", "script", "style", "template", "title"])
# Elements that never nest: void ones, and those whose content is no markup.
_FLAT = frozenset(
    re.findall(
        r"\w+", "area base br col embed hr img input link meta source track wbr script style"
    )
)


def parse(html: bytes | str, charset: str | None = None) -> etree._Element:
    """The page's tree, without comments; `charset` is the HTTP header's, if any.

    PageError (kind empty, binary or unparsable) when there is no page to read.
    """
    source = html.encode("utf-8", "replace") if isinstance(html, str) else _utf8(html, charset)
    root, too_deep = _tree(source)
    if too_deep:
        root, _ = _tree(_flattened(source.decode("utf-8", "replace")).encode())
    _empty_head(root)
    return root


def decode(html: bytes, charset: str | None = None) -> str:
    """The page as text: BOM, valid UTF-8, HTTP charset, meta charset, then detection; never raises.

    What is declared yields to what the bytes say: text that is valid UTF-8 is UTF-8, a server's
    default (windows-1252) proves nothing, and an East Asian charset in which the page reads well
    beats a declared one.
    """
    bom_charset, bom = read_bom(html)
    if bom_charset is not None and bom is not None:
        return html[len(bom) :].decode(bom_charset, "replace")
    declared = _declared(html, charset)
    if declared == _SEVEN_BIT:
        return html.decode(declared, "replace")
    for text in _readings(html, declared):
        if text is not None:
            return text
    return html.decode(declared or "utf-8", "replace")


def _tree(source: bytes) -> tuple[etree._Element, bool]:
    """The tree of UTF-8 markup, and whether libxml2 gave up on its depth."""
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True
    )
    try:
        root = etree.fromstring(source, parser)
    except etree.LxmlError as error:
        raise PageError("unparsable", f"the page can't be parsed: {error}") from error
    if root is None:
        raise PageError("empty", "the page holds no element and no text")
    limit = etree.ErrorTypes.ERR_RESOURCE_LIMIT
    return root, any(entry.type == limit for entry in parser.error_log)


def _empty_head(root: etree._Element) -> None:
    """Move what is no metadata from the head to the front of the body, where a browser has it.

    In HTML both may go untold: `<title>x</title><main>` ends the head. libxml2 knows no main.
    """
    head = root.find("head")
    foreign = [] if head is None else [child for child in head if child.tag not in _METADATA]
    if not foreign:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    foreign[-1].tail = (foreign[-1].tail or "") + (body.text or "")
    body.text = None
    body[:0] = foreign


def _utf8(html: bytes, charset: str | None) -> bytes:
    _refuse_binary(html)
    if _is_plain(html) and _declared(html, charset) != _SEVEN_BIT:
        return html
    return decode(html, charset).encode("utf-8", "replace")


def _is_plain(html: bytes) -> bool:
    """Whether it is UTF-8 that `decode` and `encode` would copy.

    They take a byte order mark off, and many U+FFFD are what is left of another charset.
    """
    if html.startswith(codecs.BOM_UTF8) or "\ufffd".encode() in html:
        return False
    try:
        html.decode()
    except UnicodeDecodeError:
        return False
    return True


def _refuse_binary(html: bytes) -> None:
    header = html[:_HEADER_BYTES]
    if read_bom(html)[0] is not None:
        return
    binary = len(header) - len(header.translate(None, _BINARY_BYTES))
    if html.startswith(b"%PDF-") or binary > _MAX_BINARY_SHARE * len(header):
        raise PageError("binary", "the page is binary data, not HTML")


def _declared(html: bytes, charset: str | None) -> str | None:
    for label in (charset, html_body_declared_encoding(html)):
        if name := _codec(label):
            return name
    return None


def _codec(label: str | None) -> str | None:
    """Python's name of a charset label, read as browsers read it: gb2312 is gb18030."""
    name = resolve_encoding(label) if label else None
    return codecs.lookup(name).name if name else None


def _readings(html: bytes, declared: str | None) -> Iterator[str | None]:
    """What the page may say, best first; None for a charset that it isn't in."""
    yield _fitting(html, "utf-8")
    for charset in sorted(_FREQUENT, key=lambda name: name != declared):
        yield _fluent(html, charset)
    if declared is not None and declared not in _DEFAULT_CHARSETS:
        yield _fitting(html, declared)
    if (detected := _detected(html)) is not None:
        yield _fitting(html, detected)


def _fitting(html: bytes, charset: str) -> str | None:
    text = html.decode(charset, "replace")
    undecoded = text.count("\ufffd")
    if undecoded and undecoded > _MAX_UNDECODED * _not_ascii(html):
        return None
    return text


def _fluent(html: bytes, charset: str) -> str | None:
    """The text where the charset fits and its language is heard in more than a few words."""
    text, number = _fitting(html, charset), _not_ascii(html)
    if text is None or number < _SURE_BYTES:
        return None
    return text if sum(map(text.count, _FREQUENT[charset])) > _FREQUENT_SHARE * number else None


def _not_ascii(html: bytes) -> int:
    return len(html.translate(None, _ASCII))


def _detected(html: bytes) -> str | None:
    """The charset by a detector, which costs twice the parse."""
    plain = _MARKUP.sub(b" ", html)
    first = _NOT_ASCII.search(plain)
    sample = plain[first.start() if first else 0 :][:_DETECT_BYTES]
    guess = chardet.detect(sample, encoding_era=chardet.EncodingEra.MODERN_WEB)
    return _codec(guess["encoding"])


def _flattened(html: str) -> str:
    """The same page with the tags that nest deeper than 512 levels taken out; every text stays."""
    flattener = _Flattener()
    flattener.feed(html)
    flattener.close()
    return "".join(flattener.kept)


class _Flattener(HTMLParser):
    """Copies markup to `kept`, counting levels; a tag that is left out still separates words."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.kept: list[str] = []
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._keep_tag(self.get_starttag_text() or "", flat=tag in _FLAT)
        self._depth += tag not in _FLAT

    def handle_endtag(self, tag: str) -> None:
        self._depth = max(0, self._depth - (tag not in _FLAT))
        self._keep_tag(f"</{tag}>", flat=tag in _FLAT)

    def handle_data(self, data: str) -> None:
        self.kept.append(data)

    def handle_entityref(self, name: str) -> None:
        self.kept.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.kept.append(f"&#{name};")

    def _keep_tag(self, markup: str, *, flat: bool) -> None:
        self.kept.append(markup if flat or self._depth < _MAX_DEPTH else " ")
