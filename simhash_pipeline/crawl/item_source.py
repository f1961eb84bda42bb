"""Where an item's page is found: in its fields, or in the response that the item came from."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse, Response, TextResponse
from w3lib.encoding import http_content_type_encoding

from simhash_pipeline.bits import hash_of
from simhash_pipeline.items import flat_values, with_values
from simhash_pipeline.options import Options
from simhash_pipeline.page.bounds import checked_url
from simhash_pipeline.page.pdf import is_pdf
from simhash_pipeline.page.source import Source, item_source, item_url, markup, text_source


def find_page(
    adapter: Mapping[str, Any], response: Response | None, options: Options
) -> Source | None:
    """The text that the item holds, or its page, or else the response; None without any.

    PageError when SIMHASH_HTML_FIELD holds something else, and there is no HTML response.
    """
    if (source := _found(adapter, response, options)) is None:
        return None
    source = with_values(source, adapter, options)
    if (item := source.item) is None or response is None:
        return source
    texts = {text for each in _brought(response) for _, text, _ in flat_values("", each)}
    carried = frozenset([text for _, text, _ in item.pairs if text in texts])
    return source._replace(item=item._replace(carried=carried))


def _brought(response: Response) -> Iterator[Any]:
    """The values that came with the response's request, by meta or cb_kwargs."""
    if response.request is None:
        return
    for name, value in response.meta.items():  # where Scrapy's own numbers are, and CrawlSpider's
        if name == "link_text" or isinstance(value, (int, float)):
            continue
        if isinstance(value, str) or ItemAdapter.is_item(value):
            yield value
    yield from response.cb_kwargs.values()


def _found(
    adapter: Mapping[str, Any], response: Response | None, options: Options
) -> Source | None:
    own = response.url if isinstance(response, HtmlResponse) else None  # a JSON list has many items
    if (source := text_source(adapter, options, own)) is not None:
        return _joined(source, response)
    held = None if options.html_field is None else adapter.get(options.html_field)
    html = markup(held)
    if html and (
        item_url(adapter, options)
        or not (isinstance(response, HtmlResponse) and html in (response.body, response.text))
    ):
        return _joined(item_source(adapter, options, own), response)
    if isinstance(response, HtmlResponse) or (response and is_pdf(response.body)):
        return source_from_response(response)._replace(is_response=True)
    return None if held is None else item_source(adapter, options)  # PageError, unless it is empty


def _joined(source: Source, response: Response | None) -> Source:
    """The item's page with an absolute URL, and the response's, of which it may be a part."""
    if response is None:
        return source
    page = response.text if isinstance(response, TextResponse) else ""
    if not source.is_text and source.html in (response.body, page):
        page = ""
    url = source.url
    with suppress(ValueError):  # the judge refuses it
        url = response.urljoin(checked_url(url))
    return source._replace(url=url, page=page)


def source_from_response(response: Response) -> Source:
    """The response as a page, in the encoding that the spider or a middleware gave it, if any."""
    if (text := _text_as_set(response)) is not None:
        return Source(text, _address_of(response))
    content_type = response.headers.get("Content-Type") or b""
    charset = http_content_type_encoding(content_type.decode("latin-1"))
    return Source(response.body, _address_of(response), charset)


def _address_of(response: Response) -> str:
    """Its URL, with what else chose the page: a script's route, or a digest of the body sent."""
    if (request := response.request) is None or "#" in response.url:
        return response.url
    if request.body:
        return f"{response.url}#!/{request.method}/{hash_of(request.body).hex()}"
    asked, mark, route = request.url.partition("#")
    return f"{asked}{mark}{route}" if asked == response.url else response.url


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
        return item_url(item if type(item) is dict else ItemAdapter(item), options)
    except Exception:  # it is no item, or its own code fails
        return None
