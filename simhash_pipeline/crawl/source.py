"""Where an item's page is found: in its fields, or in the response that the item came from."""

from __future__ import annotations

from typing import Any

from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse, Response
from w3lib.encoding import http_content_type_encoding

from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options
from simhash_pipeline.page.source import Source, item_source, item_url


def source(adapter: ItemAdapter, response: Response | None, options: Options) -> Source:
    """The item's page, by SIMHASH_HTML_FIELD; PageError when there is none."""
    if options.html_field is None:
        return _of_callback(response)
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


def _of_callback(response: Response | None) -> Source:
    if response is None:
        rule = (
            "no response of a callback is known that the item came from (SIMHASH_HTML_FIELD is "
            "None, which needs the add-on, and the item's URL where a pipeline before made it anew)"
        )
        raise PageError("no_html", rule)
    if not isinstance(response, HtmlResponse):
        raise PageError("no_html", f"the item's response is no HTML but {type(response).__name__}")
    return of_response(response)
