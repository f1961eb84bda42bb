"""Opens a store by its URL, and reads what the URL says beside a place."""

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
_OF_SQLITE: dict[str, Rule] = {"index": one_of("memory", "disk")}
_OF_REDIS: dict[str, Rule] = {
    "wait_secs": whole(0, 10**6, "seconds"),
    "lost": one_of("stop", "keep"),
}


def open_store(url: str, *, tentative: bool = False, reading: bool = False) -> Store:
    """The store in an SQLite file, at `memory:` (gone when closed), or on a Redis or Valkey server.

    Created if it does not exist.

    :param url: a path or `sqlite:///path`, optionally with parameters such as `?index=disk`; three
        slashes begin a relative path, four an absolute one; or the URL of a server.
    :param tentative: a kept page is permanent only after `confirm`; pages that a dead process had
        not confirmed are removed, because their items may not have been saved.
    :param reading: open a file that can't be written, too.
    :return: the open store, which is a context manager.
    :raises StoreError: for any other URL, and if it can't be opened.
    """
    url = url_of_store(url)
    if url == "memory:":
        return SqliteStore(IN_MEMORY)
    place = store_place(url)
    path = store_file(place.url)
    if path is not None and place.url.removeprefix(SQLITE) not in ("", ":memory:"):
        return SqliteStore(path, index=place.index, tentative=tentative, reading=reading)
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

    `index` is where an SQLite file's pages are looked up: in "memory" (65 bytes a page at ten
    million, and half a second for each million to open it) or on "disk" (no memory, but a page
    takes twice as long, and 92 bytes more of disk). A Redis or Valkey server that was lost is
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
            try:
                given[name] = rules[name].read(value)
            except (ValueError, KeyError):
                rule = f"{name} is {value!r}; it must be {rules[name].text}"
                raise StoreError(f"in {shown_url(url)}, {rule}") from None
        elif name in _OF_SQLITE | _OF_REDIS or (equals and rules is _OF_SQLITE):
            known = " and ".join(rules)
            raise StoreError(f"parameters of {shown_url(url)} are {known}, not {name!r}")
        else:
            others.append(part)
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
    if not url.startswith(SQLITE):
        return None
    return Path(store_place(url).url.removeprefix(SQLITE))
