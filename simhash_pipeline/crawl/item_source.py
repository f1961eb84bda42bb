"""Where an item's page is found: in its fields, or in the response that the item came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse, Response, TextResponse
from w3lib.encoding import http_content_type_encoding

from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options
from simhash_pipeline.page.source import (
    CHARSET_FIELD,
    Source,
    distinct_fields,
    item_source,
    item_url,
    markup,
    text_source,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_pipeline.page.fingerprint import PageFingerprint


class ItemPage(NamedTuple):
    """The page that an item is judged by."""

    source: Source
    is_response: bool  # else the item holds it itself


def find_page(adapter: ItemAdapter, response: Response | None, options: Options) -> ItemPage | None:
    """The text that the item holds, or its page, or else the response; None without any.

    PageError when SIMHASH_HTML_FIELD holds something else, and there is no HTML response.
    """
    page = _found(adapter, response, options)
    if page is None or not options.distinct_fields:
        return page
    return page._replace(source=page.source._replace(fields=distinct_fields(adapter, options)))


def _found(adapter: ItemAdapter, response: Response | None, options: Options) -> ItemPage | None:
    if (source := text_source(adapter, options)) is not None:
        return ItemPage(source, False)
    held = None if options.html_field is None else adapter.get(options.html_field)
    html = markup(held)
    if html:
        if url := item_url(adapter, options):
            charset = adapter.get(CHARSET_FIELD)
            return ItemPage(Source(html, url, charset if isinstance(charset, str) else None), False)
        if not _is_body(html, response):
            raise PageError("no_url", f"the item has no URL in its field {options.url_field!r}")
    if isinstance(response, HtmlResponse):
        return ItemPage(source_from_response(response), True)
    if held is None:
        return None
    return ItemPage(item_source(adapter, options), False)  # PageError, unless it is empty


def _is_body(html: bytes | str, response: Response | None) -> bool:
    return isinstance(response, HtmlResponse) and html in (response.body, response.text)


def source_from_response(response: Response) -> Source:
    """The response as a page, in the encoding that the spider or a middleware gave it, if any."""
    if (text := _text_as_set(response)) is not None:
        return Source(text, response.url)
    content_type = response.headers.get("Content-Type") or b""
    charset = http_content_type_encoding(content_type.decode("latin-1"))
    return Source(response.body, response.url, charset)


def _text_as_set(response: Response) -> str | None:
    """The text in the encoding that was given; None where none was, or the body isn't in it.

    `replace` gives also what Scrapy had guessed, which proves nothing.
    """
    given = getattr(response, "_encoding", None)
    if not isinstance(response, TextResponse) or given is None:
        return None
    if given == response.replace(encoding=None).encoding or "\ufffd" in response.text:
        return None
    return response.text


def field_url(item: Any, options: Options) -> str | None:
    """The URL that the item gives; None if it gives none, or can't be read."""
    try:
        return item_url(ItemAdapter(item), options)
    except Exception:  # it is no item, or its own code fails
        return None


def refuse_other_page(adapter: ItemAdapter, response: Response, page: PageFingerprint) -> None:
    """PageError if an item was begun on another page, and holds more from that than from this one.

    Its request carried the item or texts of it, by meta or cb_kwargs: an article is finished on the
    page of its comments, and that page is not the one to be kept once.
    """
    shown = " ".join(f"{page.text}\n{page.left_out}".split())
    brought = {text for text in _carried_texts(adapter, response) if text not in shown}
    if sum(map(len, brought)) > len(page.text):
        rule = (
            "the item was begun on another page, and this one says less than it brought along (it "
            "can be judged if its field SIMHASH_HTML_FIELD holds that page's HTML)"
        )
        raise PageError("other_page", rule)


def _carried_texts(adapter: ItemAdapter, response: Response) -> Iterator[str]:
    """The item's texts that came with the response's request; no URLs."""
    held = {text: " ".join(text.split()) for text in adapter.values() if isinstance(text, str)}
    for value in (*response.meta.values(), *response.cb_kwargs.values()):
        texts = ItemAdapter(value).values() if ItemAdapter.is_item(value) else (value,)
        for text in texts:
            if isinstance(text, str) and text in held and (" " in text or not text.isascii()):
                yield held[text]
