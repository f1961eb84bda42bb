"""The URLs of stores: their forms, what they may say beside a place, and how they may be shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simhash_pipeline.errors import StoreError
from simhash_pipeline.options import STORE_URL, Rule, one_of, whole

URL_FORMS = (
    "memory:, sqlite:///relative/path.sqlite or sqlite:////absolute/path.sqlite, "
    "redis://, rediss://, unix://, redis+cluster://, rediss+cluster:// or redis+sentinel://"
)
SQLITE = "sqlite:///"  # and the path
REDIS_SCHEMES = (
    "redis",
    "rediss",
    "unix",
    "redis+cluster",
    "rediss+cluster",
    "redis+sentinel",
    "rediss+sentinel",
)
WAIT_SECS = 60
_OF_SQLITE: dict[str, Rule] = {"index": one_of("memory", "disk")}
_OF_REDIS: dict[str, Rule] = {
    "wait_secs": whole(0, 10**6, "seconds"),
    "lost": one_of("stop", "keep"),
}
# A parameter whose name speaks of a secret, which may hold an `&`, up to one of redis-py's own.
_SECRET_PARAMETER = re.compile(
    r"(?is)([?&][^=&]*(?:pass|pw|secret|token|auth)[^=&]*=)"
    r".*?(?=&(?:db|protocol|username|client_name|wait_secs|lost|(?:ssl|socket)_\w+)=|\Z)"
)
_SCHEME = r"\s*(?:[a-z][\w+.-]*(?:[:;]/*|//+)|(?:redis|valkey)\w*/|//+)"
_CREDENTIALS = re.compile(rf"(?is)\A({_SCHEME}|\s*)(?:([^:/]*)(:.*))?")
_NO_PORT = re.compile(rf"(?is)\A((?:{_SCHEME}[^:/?\[]+|\s*[^:/?\[]{{2,}}):)(?!/|\d*(?:[/?,]|\Z)).*")


@dataclass(frozen=True, slots=True)
class StorePlace:
    """Where a store is, and what its URL says of how it is used.

    `index` is where an SQLite file's pages are looked up: in "memory" (38 bytes a page at ten
    million, and a second for each million to open it) or on "disk" (no memory, but a page takes
    several times as long, and 83 bytes more of disk). A Redis or Valkey server that was lost is
    waited for, for `wait_secs`; then `lost` says whether to "stop" the crawl, or to "keep" all
    items unjudged until it is back.
    """

    url: str  # without these
    index: Any = "memory"
    wait_secs: Any = WAIT_SECS
    lost: Any = "stop"


def store_place(url: str) -> StorePlace:
    """Read the URL, such as `sqlite:///seen.sqlite?index=disk` or `redis://host?lost=keep`.

    StoreError for a value against its rule, and for a parameter of another kind of store.
    """
    rules = _OF_SQLITE if url.startswith(SQLITE) else _OF_REDIS
    place, mark, query = url.partition("?")
    given, others = dict[str, Any](), []
    for part in query.split("&"):
        name, equals, value = part.partition("=")
        if name in rules and equals:
            given[name] = _read(name, value, rules[name], url)
        elif name in _OF_SQLITE | _OF_REDIS or (equals and rules is _OF_SQLITE):
            known = " and ".join(rules)
            raise StoreError(f"parameters of {shown_url(url)} are {known}, not {name!r}")
        else:
            others.append(part)
    return StorePlace(f"{place}{mark if others else ''}{'&'.join(others)}", **given)


def _read(name: str, value: str, rule: Rule, url: str) -> Any:
    try:
        return rule.read(value)
    except (ValueError, KeyError):
        message = f"in {shown_url(url)}, {name} is {value!r}; it must be {rule.text}"
        raise StoreError(message) from None


def url_of_store(url_or_path: str) -> str:
    """The URL; that of an SQLite file for a bare path, which has a dot or a slash in it.

    A text with an @ may hold a password.
    """
    may_be_path = "@" not in url_or_path and {".", "/"} & {*url_or_path}
    is_path = may_be_path and not STORE_URL.match(url_or_path)
    return f"{SQLITE}{url_or_path}" if is_path else url_or_path


def store_file(url: str) -> Path | None:
    """The SQLite file of a store's URL; None for another kind of store."""
    if not url.startswith(SQLITE):
        return None
    return Path(store_place(url).url.removeprefix(SQLITE))


def shown_url(url: str) -> str:
    """The URL as logs and messages may show it: whatever may be a password is masked.

    So is what stands where a password does in a mistyped URL: `u:pw@host`, `redis//u:pw@host`.
    """
    if url.strip() == "memory:" or url.startswith(SQLITE):
        return url
    shown = _SECRET_PARAMETER.sub(r"\1***", url)
    credentials, at, place = shown.rpartition("@")
    if not at:
        return _NO_PORT.sub(r"\1***", shown)  # u:pw, the host forgotten
    scheme, user, password = _CREDENTIALS.findall(credentials)[0]
    if not scheme.strip() and not password:
        return shown
    return f"{scheme}{user}:***@{place}" if password else f"{scheme}***@{place}"
