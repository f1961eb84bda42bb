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
    found = [_VERSION.sub(r"\1", text) for text in _sources(root)] + hidden + [*_data(root)]
    said = " ".join("\n".join(found).split())
    if url is not None and (path := urlsplit(url).path.rstrip("/")):
        said = re.sub(rf"(?<![\w/.]){re.escape(path)}(?![\w/.-])", "", said.replace(url, ""))
    packed = said.encode("utf-8", "replace")
    return hashlib.blake2b(packed, digest_size=DIGEST_SIZE).digest() if packed else b""


def _sources(root: _Element) -> Iterator[str]:
    """What media show, and what a page says of itself to other programs."""
    for element in root.iter():
        if element.tag in _MEDIA or "-" in element.tag:
            for name, value in _attributes(element):
                if name in _SOURCES or name.startswith("data-") or "-" in element.tag:
                    yield value
        elif element.tag == "meta":
            if (element.get("name") or element.get("property") or "").lower() in _TOLD:
                yield element.get("content", "")
        elif element.tag == "a" and element.get("download") is not None:
            yield element.get("href", "")
        elif "url(" in (style := element.get("style", "")):
            yield style


def _data(root: _Element) -> Iterator[str]:
    """The values of forms, texts that are shown elsewhere or later, and what scripts hold."""
    for element in root.iter():
        if element.tag in _TEXTS:
            yield "".join(map(str, element.itertext()))
        elif element.tag == "input" and element.get("type", "").lower() not in _NO_VALUES:
            yield element.get("value", "")
        elif element.tag == "option" and element.get("selected") is not None:
            yield element.text or ""
        elif element.tag == "script":
            text, kind = element.text or "", element.get("type", "")
            long = (each for each in _STRING.findall(text) if len(each) >= _LONG_CHARS)
            yield text if "json" in kind else " ".join(long)
        yield from (
            value
            for name, value in _attributes(element)
            if name.startswith("data-") and len(value) >= _LONG_CHARS
        )


def _attributes(element: _Element) -> Iterator[tuple[str, str]]:
    return ((str(name), str(value)) for name, value in element.items())
