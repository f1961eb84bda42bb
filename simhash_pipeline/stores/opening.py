"""Opens a store by its URL, and reads the parameters of the URL."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simhash_pipeline.errors import StoreError
from simhash_pipeline.options import STORE_URL, Rule, one_of, whole
from simhash_pipeline.stores.contract import SQLITE, WAIT_SECS, Store, shown_url
from simhash_pipeline.stores.sqlite.file import IN_MEMORY
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore

URL_FORMS = (
    "memory:, sqlite:///relative/path.sqlite or sqlite:////absolute/path.sqlite, "
    "redis://, rediss://, unix://, redis+cluster://, rediss+cluster:// or redis+sentinel://"
)
_ON_REDIS = re.compile(r"(?:rediss?(?:\+cluster|\+sentinel)?|unix)://")
_PARAMETERS: dict[str, Rule] = {  # of a server
    "wait_secs": whole(0, 10**6, "seconds"),
    "lost": one_of("stop", "keep"),
}


def open_store(url: str, *, tentative: bool = False) -> Store:
    """The store in an SQLite file, at `memory:` (gone when closed), or on a Redis or Valkey server.

    Created if it does not exist.

    :param url: a path or `sqlite:///path`: three slashes begin a relative path, four an absolute
        one; or the URL of a server, optionally with parameters such as `?lost=keep`.
    :param tentative: a kept page is permanent only after `confirm`; pages that a dead process had
        not confirmed are removed, because their items may not have been saved.
    :return: the open store, which is a context manager.
    :raises StoreError: for any other URL, and if it can't be opened.
    """
    url = url_of_store(url)
    if url == "memory:":
        return SqliteStore(IN_MEMORY)
    place = store_place(url)
    path = store_file(place.url)
    if path is not None and place.url.removeprefix(SQLITE) not in ("", ":memory:"):
        return SqliteStore(path, tentative=tentative)
    if _ON_REDIS.match(url):
        try:
            from simhash_pipeline.stores.redis.redis_store import RedisStore
        except ImportError as error:
            how = "pip install 'simhash-pipeline[redis]'"
            raise StoreError(f"store {shown_url(place.url)} needs redis-py: {how}") from error
        return RedisStore(place.url, tentative=tentative, wait_secs=place.wait_secs)
    raise StoreError(f"no store can be opened at {shown_url(url)!r}: its URL must be {URL_FORMS}")


def why_absent(url: str) -> str | None:
    """Why there can be no store yet, so that reading one never makes one; None if there can be."""
    if url == "memory:":
        return "a store in memory is gone when its crawl ends; name another"
    path = store_file(url)
    try:
        if path is None or path.is_dir() or (path.exists() and path.stat().st_size):
            return None
    except OSError as error:
        return f"there is no store at {path}: {error.strerror}"
    return f"there is no store at {path}"


@dataclass(frozen=True, slots=True)
class StorePlace:
    """Where a store is, and what its URL says of how it is used.

    A Redis or Valkey server that was lost is waited for, for `wait_secs`; then `lost` says whether
    to "stop" the crawl, or to "keep" all items unjudged until it is back.
    """

    url: str  # without these
    wait_secs: Any = WAIT_SECS
    lost: Any = "stop"


def store_place(url: str) -> StorePlace:
    """Read the URL, such as `redis://host?lost=keep`.

    StoreError for a value against its rule, and for a parameter of a file.
    """
    place, mark, query = url.partition("?")
    given, others = dict[str, Any](), []
    for part in query.split("&"):
        name, equals, value = part.partition("=")
        if url.startswith(SQLITE) and equals:
            raise StoreError(f"a store in a file has no parameters; {shown_url(url)} has {name!r}")
        if name not in _PARAMETERS:
            others.append(part)
            continue
        try:
            given[name] = _PARAMETERS[name].read(value)
        except (ValueError, KeyError):
            rule = f"{name} is {value!r}; it must be {_PARAMETERS[name].text}"
            raise StoreError(f"in {shown_url(url)}, {rule}") from None
    return StorePlace(f"{place}{mark if others else ''}{'&'.join(others)}", **given)


def url_of_store(url_or_path: str) -> str:
    """The URL; that of an SQLite file for a bare path, which has a dot or a slash in it.

    A text with an @ may hold a password.
    """
    may_be_path = "@" not in url_or_path and {".", "/"} & {*url_or_path}
    is_path = may_be_path and not STORE_URL.match(url_or_path)
    return f"{SQLITE}{url_or_path}" if is_path else url_or_path


def store_file(url: str) -> Path | None:
    """The SQLite file of a store's URL; None for another kind of store."""
    return Path(store_place(url).url.removeprefix(SQLITE)) if url.startswith(SQLITE) else None
