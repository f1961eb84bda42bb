"""Opens a store by its URL."""

from __future__ import annotations

from simhash_pipeline.errors import StoreError
from simhash_pipeline.stores.contract import Store
from simhash_pipeline.stores.sqlite.file import IN_MEMORY
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from simhash_pipeline.stores.store_url import (
    REDIS_SCHEMES,
    SQLITE,
    URL_FORMS,
    StorePlace,
    shown_url,
    store_file,
    store_place,
    url_of_store,
)


def open_store(url: str, *, tentative: bool = False, reading: bool = False) -> Store:
    """The store in an SQLite file, at `memory:` (gone when closed), or on a Redis or Valkey server.

    Created if it does not exist.

    :param url: a path or `sqlite:///path`, optionally with parameters such as `?index=disk`; three
        slashes begin a relative path, four an absolute one. Others are in `StorePlace`.
    :param tentative: a kept page is permanent only after `confirm`; pages that a dead process had
        not confirmed are removed, because their items may not have been saved.
    :param reading: open a file that can't be written, too.
    :raises StoreError: for any other URL.
    """
    url = url_of_store(url)
    if url == "memory:":
        return SqliteStore(IN_MEMORY)
    place = store_place(url)
    path = store_file(place.url)
    if path is not None and place.url.removeprefix(SQLITE) not in ("", ":memory:"):
        return SqliteStore(path, index=place.index, tentative=tentative, reading=reading)
    if url.partition("://")[0] in REDIS_SCHEMES:
        return _redis_store(place, tentative)
    raise StoreError(f"no store can be opened at {shown_url(url)!r}: its URL must be {URL_FORMS}")


def refuse_absent(url: str) -> None:
    """Raise StoreError unless there can be a store already, so that reading one never makes one."""
    if url == "memory:":
        raise StoreError("a store in memory is gone when its crawl ends; name another")
    path = store_file(url)
    try:
        if path is None or path.is_dir() or (path.exists() and path.stat().st_size):
            return
    except OSError as error:
        raise StoreError(f"there is no store at {path}: {error.strerror}") from error
    raise StoreError(f"there is no store at {path}")


def _redis_store(place: StorePlace, tentative: bool) -> Store:
    try:
        from simhash_pipeline.stores.redis.redis_store import RedisStore
    except ImportError as error:
        how = "pip install 'simhash-pipeline[redis]'"
        raise StoreError(f"store {shown_url(place.url)} needs redis-py: {how}") from error
    return RedisStore(place.url, tentative=tentative, wait_secs=place.wait_secs)
