"""Where an item's page is found: in its fields, or in the response that the item came from."""

from __future__ import annotations

from typing import NamedTuple

from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse, Response
from w3lib.encoding import http_content_type_encoding

from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options


class Source(NamedTuple):
    """A page as it came; `charset` is the HTTP header's."""

    html: bytes | str
    url: str
    charset: str | None = None


def source(adapter: ItemAdapter, response: Response | None, options: Options) -> Source:
    """The item's page, by SIMHASH_HTML_FIELD; PageError when there is none."""
    if options.html_field is None:
        return _of_response(response)
    html, url = adapter.get(options.html_field), adapter.get(options.url_field)
    charset = adapter.get(options.charset_field)
    if html is None:
        rule = "SIMHASH_HTML_FIELD; None: the page is the response that the item came from"
        message = f"the item has no page in its field {options.html_field!r} ({rule})"
        raise PageError("no_html", message)
    if not isinstance(html, (bytes, str)):
        found = type(html).__name__
        raise PageError("wrong_type", f"field {options.html_field!r} holds {found}, not a page")
    if not isinstance(url, str) or not url:
        raise PageError("no_url", f"the item has no URL in its field {options.url_field!r}")
    return Source(html, url, charset if isinstance(charset, str) else None)


def _of_response(response: Response | None) -> Source:
    if response is None:
        rule = "SIMHASH_HTML_FIELD is None, and the item came from no response of a callback"
        raise PageError("no_html", rule)
    if not isinstance(response, HtmlResponse):
        raise PageError("no_html", f"the item's response is no HTML but {type(response).__name__}")
    content_type = response.headers.get("Content-Type") or b""
    charset = http_content_type_encoding(content_type.decode("latin-1"))
    return Source(response.body, response.url, charset)
