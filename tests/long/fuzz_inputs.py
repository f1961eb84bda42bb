"""Hostile input: what it is made of, and the changes that are made to what is sound."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

CHARSETS = [
    "utf-8", "utf-16", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "iso-2022-jp",
    "windows-1251", "latin-1", "utf-7", "hz",
]  # fmt: skip
# Labels that a header or a meta tag may carry beside those.
LIES = ["hex", "punycode", "idna", "rot13", "unicode_escape", "a\0b", "\ud800", "", "x" * 10_000]
MARKUP = [
    "<div>", "</div>", "<p>", "<b>", "</b>", "<table>", "<tr>", "<td>", "</table>", "<script>",
    "</script>", "<style>", "<title>", "<svg>", "<math>", "<template>", "<iframe>", "<body>",
    "<html>", "<head>", "<frameset>", "<select>", "<option>", "<textarea>", "<!--", "-->",
    "<![CDATA[", "]]>", "<!DOCTYPE", "<?xml", "<a", "href=\"", "<p", "class=\"",
    "style=\"display:none\"", "hidden", "aria-hidden=\"true\"", ">", "\"", "'", "=", "&amp;",
    "&#0;", "&#x110000;", "&#xD800;", "&lt", "&nosuch;", "<meta", "charset=", "<link",
    "rel=canonical", "href=\"http://[", "\0", "\x1b[2J", "\ufffd", "\ufdfa", "\u0301", "\u202e",
    "\u6e2f", "\u7684\u4e00\u662f", "\u306e\u306b", "\U0001f600",
]  # fmt: skip
URL_PIECES = [
    "http://", "https://", "//", "a.example", "b.example", "[::1]", "[", "]", ":80", ":x", "/", "?",
    "#", "%", "%00", "%zz", "&a=1", "'", '"', ";--", "\0", "\n", "\r", "\t", "\u202e", "\ud800",
    "港", "é", " ", "\x1b[2J", "x" * 3_000, "..", "@", "\\"
]  # fmt: skip
SETTINGS = [
    "0", "-1", "1e9", "3.7", "True", "none", "(1,2)", "[", "a.b", ":memory:", "\0", "9" * 5000, "²",
    "٣", "nan", "inf", None, 0, -1, 2**70, 1.5, float("nan"), [], (1, 2), b"x", object(), {"a": 1},
    [[1]], "1,1e400", "\ud800"
]  # fmt: skip
DROP_LOG_LINES = [
    (b'{"schema": 1, "time": "2026-01-01T00:00:00.000Z", "run": "r", "spider": "s",'
    b' "namespace": "", "url": "u", "title": "t", "twin_url": null, "twin_first_seen": null,'
    b' "reason": "content", "content_distance": 1, "structure_distance": null,'
    b' "sketch_distance": 2, "content": "ab", "structure": null, "tokens": 3,'
    b' "thresholds": {}, "dry_run": false}'),
    (b'{"schema": 1, "record": "run", "run": "r", "spider": "s", "started": "", "ended": "",'
    b' "kept": {"new": 1}, "dropped": {}, "errors": {}, "options": {}, '
    b'"dry_run": false}'),
]  # fmt: skip


def mutated(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The data after up to five changes."""
    for _ in range(chance.randrange(6)):
        data = chance.choice(_CHANGES)(chance, data, others)
    return data


def _cut(chance: random.Random, data: bytes) -> tuple[bytes, bytes, bytes]:
    one, two = sorted(chance.choices(range(len(data) + 1), k=2))
    return data[:one], data[one:two], data[two:]


def _without(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    head, _, tail = _cut(chance, data)
    return head + tail


def _truncated(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _repeated(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    head, middle, tail = _cut(chance, data)
    return head + middle[:200] * chance.randrange(2, 50) + tail


def _spliced(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    head, _, tail = _cut(chance, data)
    return head + _cut(chance, chance.choice(others))[1] + tail


def _marked_up(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    head, middle, tail = _cut(chance, data)
    marks = "".join(chance.choices(MARKUP, k=chance.randrange(1, 20))).encode(errors="replace")
    return head + marks + middle + marks + tail


def _flipped(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    changed = bytearray(data)
    for place in chance.choices(range(len(data)), k=chance.randrange(20)) if data else ():
        changed[place] = chance.randrange(256)
    return bytes(changed)


def _noisy(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    head, _, tail = _cut(chance, data)
    return head + chance.randbytes(chance.randrange(200)) + tail


_CHANGES: list[Callable[[random.Random, bytes, Sequence[bytes]], bytes]] = [
    _without, _truncated, _repeated, _spliced, _marked_up, _flipped, _noisy
]  # fmt: skip


def url_of(chance: random.Random) -> str:
    start = chance.choice(["http://a.example/", "http://b.example/", ""])
    return start + "".join(chance.choices(URL_PIECES, k=chance.randrange(6)))
