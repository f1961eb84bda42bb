"""What tells short pages from one another beside their text: two digests.

**The error page pattern.** A site answers many addresses with one page that is no page: an error
page that names the address. With its own address left blank each is the same; two pages that differ
in anything else, a word, a price, a date or a code, have two patterns.

    /news/fog        Not found. There is no page /news/fog.        Not found. There is no page _.
    /shop/bell       Bell, 12.50 €, order by 040 123456 78.        none: nothing to leave blank

**What is not read.** A thin page shows pictures, forms and scripts' data beside the text that is
read: a comic, a video, a form with a record, a script's shell.

    <title>Gull Comics</title> <a href=/16>Previous</a> <img src=/strips/17.png>
    read      Gull Comics, Previous
    unread    /strips/17.png
"""

import re
from collections.abc import Iterator
from typing import cast
from urllib.parse import SplitResult, unquote, urlsplit

from lxml.etree import _Element

from simhash_pipeline.bits import hash_of
from simhash_pipeline.page.bounds import checked_url

MAX_TOKENS = 150  # of the main text
_MAX_CHARS = 20_000  # of all that is visible
_BLANK = "\0"
_MEDIA = frozenset(["audio", "embed", "iframe", "image", "img", "object", "source", "use", "video"])
_TEXTS = frozenset(["noscript", "svg", "template", "textarea"])
_SHOWN = _MEDIA | {"a", "input", "meta", "option", "script"}
_SOURCES = frozenset(["alt", "data", "href", "poster", "src", "srcdoc", "srcset", "xlink:href"])
_PREVIEWS = frozenset(["description", "og:description", "og:image", "og:video"])  # of a meta
_NO_VALUES = frozenset(["button", "hidden", "image", "password", "reset", "submit"])  # inputs
_LONG_CHARS = 80  # of an attribute, or a script's text, that holds what a script will show
# To the end of the line where there is no other: what can't fail is never tried again.
_STRING = re.compile(r""""(?:[^"\\\n]+|\\.)*"?|'(?:[^'\\\n]+|\\.)*'?""")
_GOES_ON_BEFORE, _GOES_ON = re.compile(r"[\w/.]"), re.compile(r"[\w/.-]")  # beside a path
# A file's version says nothing of its content; where no file is named, a parameter may name it.
_VERSION = re.compile(r"(\.[A-Za-z0-9]{2,5})\?\S*")


def error_pattern_of(title: str, text: str, url: str) -> bytes | None:
    """8 bytes of host, title and pattern; None if nothing is left blank, or the page is long.

    `text` is all visible text. Numbers and codes count: they may be all that a page is about.
    """
    path = url.partition("#")[0].partition("?")[0].partition("://")[2].partition("/")[2]
    if path.split() == [path] and "%" not in path and path not in text:
        return None  # it is a part of all own addresses
    said = " ".join(text.split())
    if len(said) > _MAX_CHARS:
        return None
    named = [re.escape(place) for place in _own_addresses(url) if place in said]
    form = re.sub(rf"(?<!\w)(?:{'|'.join(named)})(?![\w/-])", _BLANK, said) if named else said
    if form == said:
        return None
    return hash_of(f"{_split(url).netloc}\n{title}\n{form}")


def _own_addresses(url: str) -> list[str]:
    """The URL, and its ends that begin with the host or the path; the longest first."""
    whole = url.partition("#")[0]
    rest = whole.partition("://")[2]
    path = "/" + rest.partition("/")[2]
    places = {whole, rest, path, path[1:] if "/" in path[1:] else path}
    places |= {place.partition("?")[0] for place in places}
    names = {name for place in places for name in (place, unquote(place)) if len(name) > 1}
    return sorted(names, key=len, reverse=True)


def unread_digest(root: _Element, hidden: list[str], url: str | None) -> bytes:
    """8 bytes of all that is unread, `hidden` texts too; b"" without any.

    The page's own address in it is left out: an error page's data may name it.
    """
    found: list[str] = []
    inside: set[_Element] = set()  # of what holds text that isn't read
    for element in root.iter():
        tag, values = element.tag, "\n".join(cast("list[str]", element.values()))
        is_shown = tag in _SHOWN if tag != "a" else element.get("download") is not None
        if is_shown or "-" in tag or len(values) >= _LONG_CHARS or "url(" in values:
            found += _shown_by(element)
        is_inside = bool(inside) and element.getparent() in inside
        if is_inside or tag in _TEXTS:
            inside.add(element)
            found += [element.text or "", element.tail or "" if is_inside else ""]
    said = " ".join("\n".join([*found, *hidden]).split())
    path = "" if url is None else _split(url).path.rstrip("/")
    if path and path in said:
        said = _without(said.replace(url or "", ""), path)
    return hash_of(said) if said else b""


def _without(text: str, path: str) -> str:
    """The text without the path where it stands by itself; a regex tries each place anew."""
    first, *others = text.split(path)
    parts, before = [first], first
    for part in others:
        is_within = _GOES_ON_BEFORE.search(before[-1:]) or _GOES_ON.match(part)
        parts += [path * bool(is_within), part]
        before = part or path
    return "".join(parts)


def _shown_by(element: _Element) -> Iterator[str]:
    """What is shown or held by this element beside its text."""
    tag, given = element.tag, dict(cast("list[tuple[str, str]]", element.items()))
    if tag == "input" and given.get("type", "").lower() not in _NO_VALUES:
        yield given.get("value", "")
    elif tag == "option" and "selected" in given:
        yield element.text or ""
    elif tag == "script":
        text = element.text or ""
        long = (each for each in _STRING.findall(text) if len(each) >= _LONG_CHARS)
        yield text if "json" in given.get("type", "") else " ".join(long)
    elif tag == "meta" and (given.get("name") or given.get("property", "")).lower() in _PREVIEWS:
        yield given.get("content", "")
    elif tag == "a" and "download" in given:
        yield given.get("href", "")
    is_own = "-" in tag
    is_medium = is_own or tag in _MEDIA
    for name, value in given.items():
        if is_own or (is_medium and (name in _SOURCES or name[:5] == "data-")):
            yield _VERSION.sub(r"\1", value)
        elif (name[:5] == "data-" and len(value) >= _LONG_CHARS) or "url(" in value:
            yield value


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(checked_url(url))
    except ValueError:  # the judge refuses it
        return urlsplit("")
