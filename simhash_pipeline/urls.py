"""The key by which stores know a page, its site, and the address that it declares."""

import re
from functools import cache, lru_cache, partial
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList
from w3lib.url import canonicalize_url

from simhash_pipeline.bits import hash_of
from simhash_pipeline.errors import PageError
from simhash_pipeline.page.bounds import MAX_URL_CHARS, checked_url, has_long_host

# Parameters that say where a visitor comes from, and nothing of the page: of sources and campaigns,
# clicks, mailings, counters, shares, shops' recommendations and sessions. Half of them are from the
# rules of duplicate-url-discarder (MIT), without keys that say nothing on one site alone: page, id.
_TRACKING = re.compile(
    r"""(?ix) (?:amp(?:;|%3b))* (?:
    (?: utm | itm | mtm | piwik | matomo | hsa | guce | vero | oly | snrai | _sgm | yottly )_\w+
    | (?: at | cm | ns | pk | share | wt )_(?!id\b)\w+  # ids of records are theirs
    | \w*cl(?:ic)?k?id | srsltid | g(?:clsrc|ad_\w+) | [gw]braid | igsh(?:id)? | li_fat_id | epik
    | erid | tblci | dicbo | _openstat | ef_id | s_(?:kw)?cid | s[cm]c?id | [ino]cid | cmpid | xtor
    | int_?cmp | mc_[ce]id | mkt_tok | __?hs\w+ | hsctatracking | ml_subscriber\w* | dm_i
    | _k[ex] | ck_subscriber_id | _g[al]\w* | guccounter | ref_(?:src|url)
    | fb_(?:action|source|ref)\w* | __twitter_impression | spm(?:_id_from)? | scm | vd_source
    | chksm | isappinstalled | pr_(?:rec|ref|prod)_\w+ | (?:php|asp|j)?sess(?:ion)?_?id\w*
    | cfid | cftoken | oscsid | zenid | s(?:id)?(?==[0-9a-f]{26,}$)
    ) (?:=.*)?"""
)
_SESSION = re.compile(r"(?i);\w*s(?:ess(?:ion)?)?id=[^/]*|/\(s\(\w{24}\)\)")
# A place with and without what makes no other page: a scheme, the usual host, port and index. It
# has some thousand spellings, so nobody makes many URLs of it, which a store finds by one hash.
_END = r"(?:(?<!/)/{1,2}(?:(?:[Ii]ndex|[Dd]efault)\.(?:[sp]?html?|php|aspx?|jsp|cfm))?)?$"
_PLACE = re.compile(
    rf"https?://(?:www[0-9]?\.)?([^/:]*)(?::(?:80|443)(?=/|$))?((?:[^/\n]+|(?!{_END}).)*){_END}",
    re.DOTALL,
)
# What w3lib leaves as it is, and most URLs are; it takes 30 us a URL.
_CANONICAL = re.compile(
    r"https?://[a-z0-9.-]{1,253}(?::[1-5]?[1-9][0-9]{0,3})?(?:/(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*)?)+"
    r"(?:\?[A-Za-z0-9._~-]+=[A-Za-z0-9._~-]+)?"
)
_ROUTE = re.compile("[^#]*#!?/.")
_suffixes = cache(partial(PublicSuffixList, accept_unknown=False))  # takes 3 MB and 0.03 s


def is_tracking(key: str) -> bool:
    """Whether a query key says where a visitor comes from, and nothing of the page."""
    return _TRACKING.fullmatch(f"{key}=") is not None


def page_key(url: str) -> str:
    """The URL as w3lib canonicalises it: query sorted, no fragment. PageError for a bad URL.

    A fragment that begins with / or !/ is a route that a script reads, and stays.
    """
    _refuse_long(url)
    if _CANONICAL.fullmatch(url):
        return url
    if has_long_host(url):
        raise PageError("bad_url", "the host of the URL has over 1,000 characters")
    try:
        key = canonicalize_url(url, keep_fragments=_ROUTE.match(url) is not None)
    except ValueError as error:
        raise PageError("bad_url", f"{url!r} is not a URL: {error}") from error
    _refuse_long(key)  # percent-encoding turns a character into up to nine
    return key


def declared_url(url: str, canonical_url: str | None) -> str:
    """The address that a page declares, or else its own, without tracking and session."""
    is_declared = declared_key(page_key(url), canonical_url) is not None
    return without_tracking(canonical_url if canonical_url and is_declared else url)


def is_declared(key: str, address: bytes | None) -> bool:
    """Whether a page of this key is where its address says that it is."""
    return key == without_tracking(key) and address == place_id(key)


def is_one_visit(key: str, other: str) -> bool:
    """Whether two pages' keys are of one place, but for tracking."""
    return place_id(without_tracking(key)) == place_id(without_tracking(other))


def address_of(key: str, canonical_url: str | None) -> bytes:
    """8 bytes of `declared_url`, without what makes no other page, as a slash at the end."""
    return place_id(without_tracking(declared_key(key, canonical_url) or key))


@lru_cache(maxsize=8)  # asked for by the judge, and by a store when it looks up and inserts
def place_id(url: str) -> bytes:
    """8 bytes of the place that a URL names: see `_PLACE`.

    Among a billion places about one pair shares them.
    """
    place, mark, query = url.partition("?")
    if found := _PLACE.match(place):
        place = f"https://{found[1]}{found[2]}"
    return hash_of(f"{place}{mark}{query}")


def declared_key(key: str, canonical_url: str | None) -> str | None:
    """The key of a canonical URL; None for another site's: a page speaks for its own alone."""
    if canonical_url is None:
        return None
    try:
        declared = page_key(canonical_url)
    except PageError:
        return None
    return declared if site_of(declared) == site_of(key) else None


def without_tracking(url: str) -> str:
    """The URL without what says where a visitor comes from, and without a session."""
    page, *route = url.partition("#")
    place, _, query = page.partition("?")
    kept = [part for part in query.split("&") if part and not _TRACKING.fullmatch(part)]
    return "".join([_SESSION.sub("", place), *(["?", "&".join(kept)] if kept else []), *route])


def _refuse_long(url: str) -> None:
    if len(url) > MAX_URL_CHARS:
        rule = f"the limit is {MAX_URL_CHARS:,}"
        raise PageError("bad_url", f"the URL has {len(url):,} characters; {rule}")


def site_of(url: str) -> str:
    """The registered domain (example.co.uk), or the host if it has none (wiki.intranet).

    Below a domain whose names are given to strangers, such as github.io, each name is a site.
    """
    return _site_of_host("/".join(url.split("/", 3)[:3]))


@lru_cache(maxsize=256)
def _site_of_host(url: str) -> str:
    try:
        parts = urlsplit(checked_url(url))
        host = parts.hostname or parts.scheme or url
    except ValueError:
        return url
    return _suffixes().privatesuffix(host) or host.rstrip(".")
