"""URLs in, what stores know pages by out: the key of a page, and the site it is of."""

from __future__ import annotations

from functools import cache

import tldextract
from w3lib.url import canonicalize_url

from simhash_pipeline.errors import PageError
from simhash_pipeline.page.bounds import has_long_host

# Servers take 8,000 or less; canonicalising one of ten million takes up to 16 s.
_MAX_URL_CHARS = 100_000


def page_key(url: str) -> str:
    """The URL as w3lib canonicalises it: query sorted, fragment gone. PageError when it is none."""
    _refuse_long(url)
    if has_long_host(url):
        raise PageError("bad_url", "a URL with a host of over 1,000 characters is none")
    try:
        key = canonicalize_url(url)
    except ValueError as error:
        raise PageError("bad_url", f"{url!r} is not a URL: {error}") from error
    _refuse_long(key)  # percent-encoded a character may take nine
    return key


def _refuse_long(url: str) -> None:
    if len(url) > _MAX_URL_CHARS:
        rule = f"one may have {_MAX_URL_CHARS:,}"
        raise PageError("bad_url", f"a URL of {len(url):,} characters is too long; {rule}")


def site_of(url: str) -> str:
    """The registered domain (example.co.uk), or the host where there is none (wiki.intranet)."""
    parts = _suffixes()(url)
    host = (parts.subdomain, parts.domain, parts.suffix)
    return parts.top_domain_under_public_suffix or ".".join(filter(None, host))


@cache
def _suffixes() -> tldextract.TLDExtract:
    """The public suffix list that comes with the package: no network, no cache file."""
    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
