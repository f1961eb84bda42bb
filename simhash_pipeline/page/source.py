"""Where the fields of an item hold a page, and the page as it came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from simhash_pipeline.errors import PageError

if TYPE_CHECKING:
    from simhash_pipeline.options import Options


class Source(NamedTuple):
    """A page as it came; `charset` is the HTTP header's."""

    html: bytes | str
    url: str
    charset: str | None = None


class Fields(Protocol):
    """An item, or its adapter: all that is asked is what a field holds."""

    def get(self, key: str, /) -> Any: ...


def page_field(options: Options) -> str:
    """The field or column that holds the page; `html` where HTML_FIELD is None."""
    return options.html_field or "html"


def item_url(item: Fields, options: Options) -> str | None:
    """What URL_FIELD holds: text, or an object that spells it, as pydantic's HttpUrl does."""
    url = item.get(options.url_field)
    if url is None or isinstance(url, str):
        return url
    return None if type(url).__module__ == "builtins" else str(url)


def item_source(item: Fields, options: Options) -> Source:
    """The item's page, by HTML_FIELD (`html` where it is None) and its like.

    PageError, kind no_html, wrong_type or no_url, when there is none.
    """
    html_field = page_field(options)
    held, url = item.get(html_field), item_url(item, options)
    if held is None:
        rule = "SIMHASH_HTML_FIELD"
        raise PageError("no_html", f"the item has no page in its field {html_field!r} ({rule})")
    html = the_only(held)
    if not isinstance(html, (bytes, str)):
        found = type(held).__name__
        raise PageError("wrong_type", f"field {html_field!r} holds {found}, not a page")
    if not url:
        raise PageError("no_url", f"the item has no URL in its field {options.url_field!r}")
    charset = item.get(options.charset_field)
    return Source(html, url, charset if isinstance(charset, str) else None)


def the_only(value: Any) -> Any:
    """The element of a list of one, as an ItemLoader leaves it; anything else as it is."""
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value
