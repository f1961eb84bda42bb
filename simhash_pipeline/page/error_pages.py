"""What a short page says once its own address is left blank, as in a form.

A site answers many addresses with one page that is no page: an error page that names the address.
Their forms are equal. Two pages that differ in anything else, a word, a name, a price, a date, a
number or a code, have two forms.

    /news/fog        Not found. There is no page /news/fog.        Not found. There is no page _.
    /shop/bell       Bell, 12.50 €, order by 040 123456 78.        none: nothing to leave blank
"""

from __future__ import annotations

import hashlib
import re
from urllib.parse import unquote, urlsplit

FORM_SIZE = 8
MAX_TOKENS = 150  # of the main text
_MAX_CHARS = 20_000  # of all that is visible
_BLANK = "\0"


def error_pattern_of(title: str, text: str, url: str) -> bytes | None:
    """A digest of the page's host, title and form; None if nothing is left blank, or it says much.

    `text` is all visible text. Numbers and codes count: they may be all that a page is about.
    """
    said = " ".join(text.split())
    if len(said) > _MAX_CHARS:
        return None
    named = [re.escape(place) for place in _own_addresses(url) if place in said]
    form = re.sub(rf"(?<!\w)(?:{'|'.join(named)})(?![\w/-])", _BLANK, said) if named else said
    if form == said:
        return None
    whole = f"{urlsplit(url).netloc}\n{title}\n{form}".encode("utf-8", "replace")
    return hashlib.blake2b(whole, digest_size=FORM_SIZE).digest()


def _own_addresses(url: str) -> list[str]:
    """The URL, and its ends that begin with the host or the path; the longest first."""
    whole = url.partition("#")[0]
    rest = whole.partition("://")[2]
    path = "/" + rest.partition("/")[2]
    places = {whole, rest, path, path[1:] if "/" in path[1:] else path}
    places |= {place.partition("?")[0] for place in places}
    names = {name for place in places for name in (place, unquote(place)) if len(name) > 1}
    return sorted(names, key=len, reverse=True)
