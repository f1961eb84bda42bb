"""What a page shows, or may show, beside the text that is read: its pictures, forms and data.

It counts where there is little text: a comic, a video, a form with a record, a script's shell.
Elsewhere a text says what a page is, whatever picture stands beside it.

    <title>Gull Comics</title> <a href=/16>Previous</a> <img src=/strips/17.png>
    read      Gull Comics, Previous
    unread    /strips/17.png
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from lxml.etree import _Element

DIGEST_SIZE = 8
_MEDIA = frozenset(["audio", "embed", "iframe", "image", "img", "object", "source", "use", "video"])
_TEXTS = frozenset(["noscript", "svg", "template", "textarea"])
_SOURCES = frozenset(["alt", "data", "href", "poster", "src", "srcdoc", "srcset", "xlink:href"])
_TOLD = frozenset(["description", "og:description", "og:image", "og:video"])  # by a meta
_NO_VALUES = frozenset(["button", "hidden", "image", "password", "reset", "submit"])  # inputs
_LONG_CHARS = 80  # of an attribute, or a script's text, that holds what a script will show
# To the end of the line where there is no other: what can't fail is never tried again.
_STRING = re.compile(r""""(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?""")
# A file's version says nothing of its content; where no file is named, a parameter may name it.
_VERSION = re.compile(r"(\.[A-Za-z0-9]{2,5})\?\S*")


def unread_digest(root: _Element, hidden: list[str], url: str | None) -> bytes:
    """8 bytes of all that is unread, `hidden` texts too; b"" without any.

    The page's own address in it is left out: an error page's data may name it.
    """
    found, inside = list[str](), set[_Element]()  # of what holds text that isn't read
    for element in root.iter():
        found += _told_by(element)
        is_inside = element.getparent() in inside
        if is_inside or element.tag in _TEXTS:
            inside.add(element)
            found += [element.text or "", element.tail or "" if is_inside else ""]
    said = " ".join("\n".join([*found, *hidden]).split())
    if url is not None and (path := urlsplit(url).path.rstrip("/")):
        said = re.sub(rf"(?<![\w/.]){re.escape(path)}(?![\w/.-])", "", said.replace(url, ""))
    packed = said.encode("utf-8", "replace")
    return hashlib.blake2b(packed, digest_size=DIGEST_SIZE).digest() if packed else b""


def _told_by(element: _Element) -> Iterator[str]:
    """What is shown or held by this element beside its text."""
    tag, given = element.tag, {str(name): str(value) for name, value in element.items()}
    if tag == "input" and given.get("type", "").lower() not in _NO_VALUES:
        yield given.get("value", "")
    elif tag == "option" and "selected" in given:
        yield element.text or ""
    elif tag == "script":
        text = element.text or ""
        long = (each for each in _STRING.findall(text) if len(each) >= _LONG_CHARS)
        yield text if "json" in given.get("type", "") else " ".join(long)
    elif tag == "meta" and (given.get("name") or given.get("property", "")).lower() in _TOLD:
        yield given.get("content", "")
    elif tag == "a" and "download" in given:
        yield given.get("href", "")
    is_medium = tag in _MEDIA or "-" in tag
    for name, value in given.items():
        if (is_medium and (name in _SOURCES or name[:5] == "data-")) or "-" in tag:
            yield _VERSION.sub(r"\1", value)
        elif (name[:5] == "data-" and len(value) >= _LONG_CHARS) or "url(" in value:
            yield value
