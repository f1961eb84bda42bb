"""Where an item's page is found: in its fields, or in the response that the item came from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse, Response
from w3lib.encoding import http_content_type_encoding

from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options
from simhash_pipeline.page.source import Source, item_source, item_url

if TYPE_CHECKING:
    from collections.abc import Iterator

# A carried text this long is the item's own; a shorter one may be a category that many share.
_OWN_WORDS, _OWN_CHARACTERS = 5, 20
_FIRST_UNSPACED = "\u0e00"  # Thai; the scripts before it put spaces between their words
_URL = re.compile(r"(?:[a-z][a-z\d+.-]*:)?/\S*", re.IGNORECASE)


def source(adapter: ItemAdapter, response: Response | None, options: Options) -> Source:
    """The item's page, by SIMHASH_HTML_FIELD; PageError when there is none."""
    if options.html_field is None:
        return _of_callback(adapter, response)
    return item_source(adapter, options)


def page_url(item: Any, response: Response | None, options: Options) -> str | None:
    """The URL of an item's page, as it came."""
    if options.html_field is None:
        return getattr(response, "url", None)  # an errback's item comes with a Failure
    return field_url(item, options)


def field_url(item: Any, options: Options) -> str | None:
    """What the item says its URL is."""
    try:
        return item_url(ItemAdapter(item), options)
    except Exception:  # it is no item, or its own code fails
        return None


def of_response(response: Response) -> Source:
    """The page that a response is."""
    content_type = response.headers.get("Content-Type") or b""
    charset = http_content_type_encoding(content_type.decode("latin-1"))
    return Source(response.body, response.url, charset)


def _of_callback(adapter: ItemAdapter, response: Response | None) -> Source:
    if response is None:
        rule = (
            "no response of a callback is known that the item came from (SIMHASH_HTML_FIELD is "
            "None, which needs the add-on, and the item's URL where a pipeline before made it anew)"
        )
        raise PageError("no_html", rule)
    if not isinstance(response, HtmlResponse):
        raise PageError("no_html", f"the item's response is no HTML but {type(response).__name__}")
    if _begun_elsewhere(adapter, response):
        rule = (
            "the item was begun on another page: the request of this one carried it, or a text of "
            "it (a field with that page's HTML, named by SIMHASH_HTML_FIELD, lets it be judged)"
        )
        raise PageError("other_page", rule)
    return of_response(response)


def _begun_elsewhere(adapter: ItemAdapter, response: Response) -> bool:
    """Whether the response's request carried the item, or one of its own texts."""
    carried = [*response.meta.values(), *response.cb_kwargs.values()]
    if any(value is adapter.item for value in carried):
        return True
    texts = {text for value in carried for text in _own_texts(value)}
    return bool(texts) and not texts.isdisjoint(_own_texts(adapter.item))


def _own_texts(value: object) -> Iterator[str]:
    """The fields of an item, or a str, that are long enough to be of one item alone; no URLs."""
    held = ItemAdapter(value).values() if ItemAdapter.is_item(value) else (value,)
    return (text for text in held if isinstance(text, str) and _is_own(text))


def _is_own(text: str) -> bool:
    if _URL.fullmatch(text.strip()):
        return False
    unspaced = sum(character >= _FIRST_UNSPACED for character in text)
    return len(text.split()) >= _OWN_WORDS or unspaced >= _OWN_CHARACTERS
