"""Where the fields of an item hold a page, and the page as it came."""

import re
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from lxml import etree

from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options

# An element that a script fills, in lower case, empty or with a word of waiting in it:
# <div id="root"></div>, <main id=__next><div class=spinner>Loading…</div></main>.
_DRAWN = re.compile(
    rb"<(?:div|main)\s[^<>]{0,200}?\bid\s?=\s?[\"']?(?:[\w-]{0,30}[_-])?(?:app|root|next|nuxt|gatsby)"
    rb"\b[^<>]{0,200}>\s{0,200}(?:(?:<(?:div|span|svg|img|i)\b[^<>]{0,200}>\s{0,200}){1,5}(?:[^<>\s][^<>]{0,39})?)?"
    rb"</(?:div|main|span|svg|i)\b|<app-root\b"
)
_DRAWN_CHARS = 300_000  # of the page that are looked at
Item = Mapping[str, Any]  # or its adapter
CHARSET_FIELD = "charset"  # of an item: what the HTTP header said; items may lack it


class ItemValues(NamedTuple):
    """What an item holds beside its page: see item_values.py."""

    # Names, values as text, and the places of these in lists: see `flat_values`.
    pairs: tuple[tuple[str, str, str], ...]
    is_named: bool = False  # ITEM_FIELDS names them
    added: frozenset[str] = frozenset()  # names that count wherever the values are from
    is_row: bool = False  # several items are of one page
    waits: bool = False  # for rows of other lists
    carried: frozenset[str] = frozenset()  # texts that came with the page's request


class Source(NamedTuple):
    """A page as it came; `charset` is the HTTP header's.

    With `is_text` it is no HTML but all the text there is, and the title is known.
    """

    html: bytes | str
    url: str
    charset: str | None = None
    is_text: bool = False
    title: str = ""
    page: str = ""  # the response that it is a part of, where its item's other values stand
    item: ItemValues | None = None  # what its item holds beside it
    is_response: bool = False  # from which a crawl made its items


def looks_drawn_by_script(html: bytes | str) -> bool:
    """Whether a page of little text is one that a browser's scripts fill."""
    head = html[:_DRAWN_CHARS]
    lower = (head.encode("utf-8", "replace") if isinstance(head, str) else head).lower()
    return b"<script" in lower and _DRAWN.search(lower) is not None


def page_field(options: Options) -> str:
    """The field or column that holds the page; `html` where HTML_FIELD is None."""
    return options.html_field or "html"


def item_url(item: Item, options: Options) -> str | None:
    """What URL_FIELD holds: text, or an object that spells it, as pydantic's HttpUrl does."""
    url = item.get(options.url_field)
    if url is None or isinstance(url, str):
        return url
    return None if type(url).__module__ == "builtins" else str(url)


def item_source(item: Item, options: Options, url: str | None = None) -> Source:
    """The item's page, by HTML_FIELD (`html` where it is None) and its like.

    `url` is that of an item without one. PageError, kind no_html, wrong_type or no_url, when there
    is no page.
    """
    if (source := text_source(item, options, url)) is not None:
        return source
    html_field = page_field(options)
    held = item.get(html_field)
    if held is None:
        text = "" if options.content_field is None else f"no text in {options.content_field!r} and "
        rule = f"{text}no page in its field {html_field!r} (SIMHASH_HTML_FIELD)"
        raise PageError("no_html", f"the item has {rule}")
    if (html := markup(held)) is None:
        rule = f"holds {type(held).__name__}, not a page (SIMHASH_HTML_FIELD)"
        raise PageError("wrong_type", f"field {html_field!r} {rule}")
    charset = item.get(CHARSET_FIELD)
    return Source(html, _url_of(item, options, url), charset if isinstance(charset, str) else None)


def text_source(item: Item, options: Options, url: str | None = None) -> Source | None:
    """The text that CONTENT_FIELD holds, or its paragraphs; None where it holds none.

    `url` is that of an item without one. PageError (kind wrong_type or no_url) if the field holds
    something else, or there is no URL.
    """
    held = None if options.content_field is None else item.get(options.content_field)
    if isinstance(held, (list, tuple)) and all(isinstance(part, str) for part in held):
        held = "\n".join(held)
    if not held:
        return None
    if not isinstance(held, str):
        rule = f"holds {type(held).__name__}, not text (SIMHASH_CONTENT_FIELD)"
        raise PageError("wrong_type", f"field {options.content_field!r} {rule}")
    title = item.get("title")
    title = title if isinstance(title, str) else ""
    return Source(held, _url_of(item, options, url), is_text=True, title=title)


def _url_of(item: Item, options: Options, default: str | None) -> str:
    if url := item_url(item, options) or default:
        return url
    rule = f"no URL in its field {options.url_field!r} (SIMHASH_URL_FIELD)"
    raise PageError("no_url", f"the item has {rule}")


def markup(held: Any) -> bytes | str | None:
    """The HTML of text, bytes, a soup, a parsel selector, an lxml tree or element; else None.

    Or of a list of one of them, as an ItemLoader leaves it.
    """
    if isinstance(held, (list, tuple)) and len(held) == 1:
        held = held[0]
    if isinstance(held, (etree._Element, etree._ElementTree)):
        return etree.tostring(held, encoding="unicode", method="html")
    if _is_a(held, "parsel", "Selector"):
        held = held.get()
    elif _is_a(held, "bs4", "Tag"):
        held = str(held)
    return held if isinstance(held, (bytes, str)) else None


def _is_a(held: Any, module: str, name: str) -> bool:
    """Whether it is an object of this class; a module that wasn't imported has made none."""
    return module in sys.modules and isinstance(held, getattr(sys.modules[module], name))
