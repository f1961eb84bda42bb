"""The key by which stores know a page, and the site that it belongs to; both from its URL."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from w3lib.url import canonicalize_url

from simhash_pipeline.errors import PageError
from simhash_pipeline.page.bounds import has_long_host

if TYPE_CHECKING:
    import tldextract

# Servers accept some 8,000. Canonicalising a URL of ten million characters takes up to 16 s.
_MAX_URL_CHARS = 100_000


def page_key(url: str) -> str:
    """The URL as w3lib canonicalises it: query sorted, no fragment. PageError for a bad URL."""
    _refuse_long(url)
    if has_long_host(url):
        raise PageError("bad_url", "the host of the URL has over 1,000 characters")
    try:
        key = canonicalize_url(url)
    except ValueError as error:
        raise PageError("bad_url", f"{url!r} is not a URL: {error}") from error
    _refuse_long(key)  # percent-encoding turns a character into up to nine
    return key


def _refuse_long(url: str) -> None:
    if len(url) > _MAX_URL_CHARS:
        rule = f"the limit is {_MAX_URL_CHARS:,}"
        raise PageError("bad_url", f"the URL has {len(url):,} characters; {rule}")


def site_of(url: str) -> str:
    """The registered domain (example.co.uk), or the host if it has none (wiki.intranet)."""
    parts = _suffixes()(url)
    host = (parts.subdomain, parts.domain, parts.suffix)
    return parts.top_domain_under_public_suffix or ".".join(filter(None, host))


@cache
def _suffixes() -> tldextract.TLDExtract:
    """The public suffix list that comes with the package: no network, no cache file."""
    import tldextract  # takes 0.16 s, and most commands need no site

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
