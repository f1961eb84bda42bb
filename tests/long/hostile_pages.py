"""Pages made to cost more than their size: a function of the bytes wanted for each kind."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

Make = Callable[[int], "bytes | str"]

_HAN = "".join(map(chr, range(0x4E00, 0x9FA6)))
_RARE = "龘靐齉爩鱻麤灪龗"
_NEWS = "海港日报讯昨天上午三艘渔船在大雾中安全返回港口船员全部平安"
_DEEP = b"<div>" * 3_000
# Parsed twice, and looked through for what isn't open.
_TOO_DEEP_LATE = b"<x>" * 2_040 + b"</y>" * 150_000 + b"<x>" * 50 + b"<p>"
_PAIRS_LATE = b"<x>" * 2_040 + b"</y><br>" * 75_000 + b"<x>" * 50 + b"<p>"


def _of(unit: str | bytes, size: int, head: bytes = b"") -> bytes:
    """`head`, and then `unit` again and again."""
    data = unit.encode() if isinstance(unit, str) else unit
    return (head + data * (max(0, size - len(head)) // len(data) + 1))[:size]


def _again(unit: str | bytes, head: bytes = b"") -> Make:
    return lambda size: _of(unit, size, head)


def _numbered(unit: bytes, head: bytes = b"", tail: bytes = b"") -> Make:
    """`unit` with a number of its own each time."""
    length = len(unit % 999_999)
    return lambda size: head + b"".join(unit % i for i in range(size // length)) + tail


def _halves(first: str, second: str, head: bytes = b"") -> Make:
    return lambda size: _of(first, size // 2, head) + _of(second, size // 2)


def _drawn(characters: str, head: bytes = b"<p>") -> Make:
    def make(size: int) -> bytes:
        chance = random.Random(0)
        return head + "".join(chance.choices(characters, k=size // 3)).encode()

    return make


def _random(size: int) -> bytes:
    return _of("<p>word ", 3_000) + random.Random(0).randbytes(size)


def _entities(size: int) -> bytes:
    """Ten entities, each ten times the one before: "a billion laughs"."""
    names = [f"e{i}" for i in range(10)]
    entities = '<!ENTITY e0 "laugh">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise(names)
    )
    return _of("&e9; ", size, f"<!DOCTYPE html [{entities}]><p>".encode())


PAGES: dict[str, Make] = {
    # What nests.
    "nested div": _again("<div>"),
    "nested div with text": _again("<div>ab "),
    "nested b": _again("<b>"),
    "nested, then other end tags": _halves("<x>", "</y>"),
    "2,000 levels, then other end tags": _again("</y>", b"<x>" * 2_000),
    "1,900 levels, then end tags of what is below": _again("</tt>", b"<tt><div>" + b"<b>" * 1_900),
    "nested tables": _again("<table><tr><td>"),
    "nested hidden": _halves("<div hidden>x ", "</div>"),
    "nested h1, then br": _again("<br>", b"<h1>" * 500),
    "nested and closed": _again(_DEEP + b"x" + b"</div>" * 3_000),
    "deep, open quotes": _again('<a "', _DEEP),
    "deep, <!": _again("<!", _DEEP),
    "deep, <!--": _again("<!--", _DEEP),
    "deep, <?": _again("<?", _DEEP),
    "deep, </": _again("</", _DEEP),
    "deep, <a": _again("<a ", _DEEP),
    "deep, &": _again("&", _DEEP),
    "deep, script in script": _again("<script></", _DEEP),
    "deep, CDATA": _again("<![CDATA[", _DEEP),
    "levels, other end tags, characters of six words": _again("㌖a a", _TOO_DEEP_LATE),
    "levels, end tags and breaks, characters of six words": _again("㌖a a", _PAIRS_LATE),
    # What is never closed, and tags without end.
    "open p": _again("<p>a"),
    "open li": _again("<li>x"),
    "open td": _again("<td>x", b"<table>"),
    "open a": _again("<a href=x>y"),
    "open options": _again("<select><option>"),
    "empty i": _again("<i></i>"),
    "br": _again("<br>"),
    "end tags": _again("</a>"),
    "links": _again("<a href=x>y</a> "),
    "titles": _again("<title></title>"),
    "h1": _again("<h1>word</h1>"),
    "empty h1": _again("<h1></h1>"),
    "link rel": _again("<link rel=x>", b"<head>"),
    "no body tag": _again("<main></main>", b"<title>x</title>"),
    "ends of the body": _again("</body>text"),
    "ends of the page": _again("</html>text"),
    "bodies": _again("<p>a</p></body></html>b<html><head></head><body>c"),
    "scripts": _again("<script>x</script>"),
    "articles": _numbered(b"<article><p>It is a sentence, number %d.</p></article>"),
    "boxes": _numbered(b"<div class=nav>text of %d.</div>"),
    "comments": _again("<div class=comment><p>It is a sentence, here. "),
    # Attributes.
    "attributes": _numbered(b"a%x ", b"<p ", b">text"),
    "attributes that hold >": _numbered(b"a%x='>' ", b"<p ", b">text"),
    "attributes behind a script": _numbered(
        b"a%x ", b'<script><!--<script></script><b x="--></script><p ', b'>"'
    ),
    "attributes of a title": _numbered(b"a%x ", b"<title ", b">text"),
    "3,000 attributes each": _again(b"<p %b>text" % b"".join(b"a%x " % i for i in range(3_000))),
    "attributes behind an empty script": _numbered(b"a%x ", b"<p>text<script/><p ", b">text"),
    "tags in a value": lambda size: _of(b"<b y=".ljust(size // 490, b"c"), size, b'<p x="'),
    "attributes of html": _numbered(b"<html a%x=1>"),
    "a long class": _again("a b1 ", b'<p class="'),
    "classes": _numbered(b"<p class=c%x>"),
    "ids": _numbered(b"<div id=nav%x></div>"),
    "a long style": _again("display ", b'<p style="'),
    "a long style of spaces": _again(" ", b'<p style="display'),
    "a long canonical link": _again("../", b'<link rel=canonical href="'),
    # Text.
    "one text": _again("the harbour master said ", b"<p>"),
    "short words": _again("a b c d ", b"<p>"),
    "one word": _again("x", b"<p>"),
    "points": _again('."""', b"<p>It is a sentence without an end"),
    "white space": _again(" \n", b"<p>a"),
    "a long title": _again("word ", b"<title>"),
    "a long title, and lines that it may hold": lambda size: (
        _of("ab", size // 2, b"<title>") + _of("<hr>abababc", size // 2, b"</title>")
    ),
    "a long script": _again("x <y ", b"<script>"),
    "a script of one string": _again("a", b"<p>word<script>'"),
    "boxes that a script fills": _again(f"<div id=app><i>{' ' * 150}</i{' ' * 40}"),
    "entities": _again("&lt;a ", b"<p>"),
    "character references": _again("&#65; ", b"<p>"),
    "an entity bomb": _entities,
    "an open reference": _again("a", b"<p>&"),
    "Chinese": _again(_NEWS, b"<p>"),
    "Chinese without words": _drawn(_HAN),
    "rare Chinese": _drawn(_RARE),
    "one Chinese character": _again("的", b"<p>"),
    "Chinese and letters": _again("港a", b"<p>"),
    "Chinese in GBK": _again(_NEWS.encode("gbk"), b"<p>"),
    "Chinese in UTF-16": lambda size: ("<p>" + "的" * (size // 2)).encode("utf-16"),
    "kana": _again("のにはを", b"<p>"),
    "Thai": _again("\u0e01\u0e02", b"<p>"),
    "marks": _again("\u0301", b"<p>a"),
    "marks that NFKC sorts": _again("\u0316\u0301", b"<p>a"),
    "marks of class 0": _again("\u0f73", b"<p>a"),
    "kana's marks": _again("\uff9e\u0301", b"<p>a"),
    "a canonical host of marks": _again("\u0f73", b'<link rel=canonical href="http://a'),
    "a character that is six words": _again("㌖a a", b"<p>"),
    "dashes in a script, 3,000 levels deep": _again("-x", b"<b>" * 3_000 + b"<script><!--"),
    "letters with marks": _again("x\u0301\u0316", b"<p>"),
    "a character that is eighteen": _again("\ufdfa", b"<p>"),
    "fullwidth": _again("，ａ", b"<p>"),
    "surrogates": lambda size: "<p>" + "\ud800 " * (size // 2),
    "surrogates in UTF-8": _again(b"\xed\xa0\x80 ", b"<p>"),
    "NUL": _again("a\0", _of("<p>word ", 3_000)),
    # Bytes.
    "Latin-1": _again(b"\xe9t\xe9 ", b"<p>"),
    "Latin-1, open tags": _again(b"<a \xe9", b"<p>"),
    "Latin-1, then <": _again("<", b"<p>\xe9t\xe9 "),
    "Latin-1, open scripts": _again("<script ", b"\xe9"),
    "0xFF": _again(b"\xff", b"<p>"),
    "random bytes": _random,
    "U+FFFD": _again("\ufffd", b"<p>"),
    "ISO-2022-JP": _again(b"\x1b$B9A\x1b(B", b"<meta charset=iso-2022-jp><p>"),
    "UTF-7": _again("+AAA-", b"<meta charset=utf-7><p>"),
    "punycode": _again("a-b", b"<meta charset=punycode><p>\xe9"),
    "<": _again("<"),
    "&": _again("&"),
    "open comments": _again("<!--x-"),
    "processing instructions": _again("<?a>"),
}
