"""What a short page says once its own address and a case number are left blank, as in a form.

A site answers many addresses with one page that is no page: an error page that names the address,
a wall with a case number. Their forms are equal. Two pages that differ in anything else, a word, a
name, a price, a date or a score, have two forms.

    /news/fog        Not found. There is no page /news/fog.        Not found. There is no page _.
    /news/gulls      Are you human? Your case: 8f3a22b1c.          Are you human? Your case: _.
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
# Letters and digits, joined by signs: no part of an amount, and without a unit.
_CODE = re.compile(
    r"(?<![0-9A-Za-z_.,+$€£¥])[0-9A-Za-z]+(?:[-_.][0-9A-Za-z]+)*(?!\w|[-_.,][0-9A-Za-z]|\s?[%°€$£¥])"
)
# Every text with a code has this, and many others lack it: the search begins at digits alone.
_MAY_BE_CODE = re.compile(r"[0-9](?:[0-9]{5}|[-_.]*[A-Za-z][-_.0-9A-Za-z]*[0-9])")
# A number of six digits or more; or eight characters with letters and digits by turns.
_MIN_DIGITS, _MIN_CODE_CHARS, _MIN_TURNS = 6, 8, 3
_TURN = re.compile(r"(?i)(?<=[0-9])(?=[a-z])|(?<=[a-z])(?=[0-9])")


def form_of(title: str, text: str, url: str) -> bytes | None:
    """A digest of the page's host and form; None if nothing is left blank, or it says much.

    `text` is all visible text. A code is a case number if it is the only one of the page and no
    part of its address: a page about the number that its address names says something by it. A code
    of digits must be the only number, too: beside it, a date or a price says something.
    """
    said = " ".join(f"{title} {text}".split())
    if len(said) > _MAX_CHARS:
        return None
    form = said
    if named := [re.escape(place) for place in _own_addresses(url) if place in said]:
        form = re.sub(rf"(?<!\w)(?:{'|'.join(named)})(?![\w/-])", _BLANK, said)
    words = _CODE.findall(form) if _MAY_BE_CODE.search(form) else []
    codes = {word for word in words if _is_code(word)}
    if len(codes) == 1:
        (code,) = codes
        has_others = code.isdigit() and {*re.findall(r"\d+", form)} != codes
        if not has_others and code.lower() not in unquote(url).lower():
            form = form.replace(code, _BLANK)
    if form == said:
        return None
    whole = f"{urlsplit(url).netloc}\n{form}".encode("utf-8", "replace")
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


def _is_code(word: str) -> bool:
    if word.isdigit():
        return len(word) >= _MIN_DIGITS and not word.startswith("0")  # as telephone numbers do
    return (
        len(word) >= _MIN_CODE_CHARS
        and len(_TURN.findall(re.sub(r"[-_.]", "", word))) >= _MIN_TURNS
    )
