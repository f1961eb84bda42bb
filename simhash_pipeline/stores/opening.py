"""Opens a store by its URL."""

from __future__ import annotations

from pathlib import Path

from simhash_pipeline.errors import StoreError
from simhash_pipeline.stores.contract import IndexPlace, Store, Tables
from simhash_pipeline.stores.memory import MemoryStore
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from simhash_pipeline.stores.store_url import (
    REDIS_SCHEMES,
    URL_FORMS,
    WAIT_SECS,
    shown_url,
    store_file,
)


def open_store(
    url: str,
    index: IndexPlace = "memory",
    tables: Tables = "auto",
    *,
    tentative: bool = False,
    reading: bool = False,
    wait_secs: float = WAIT_SECS,
) -> Store:
    """The store at `memory:` (gone when closed), `sqlite:///path` or on a Redis or Valkey server.

    It is made when there is none.

    `index` is where an SQLite file's pages are looked up: "memory" (38 bytes a page at ten
    million, and a second for each million to open it) or "disk" (no memory, but a page takes
    several times as long, and 83 bytes more of disk). ValueError for another. `tables` is the
    number of tables of an index on disk: 4, or for at most 3 bits 10, 16 or 20.

    With `tentative`, a kept page is permanent only after `confirm`. The pages that a dead process
    had not confirmed are removed before the first page is settled, because their items may not
    have been saved.

    With `reading`, a file that can't be written is opened too, to be read.

    `wait_secs` is how long to wait when the connection to a Redis or Valkey server is lost.

    As in SQLAlchemy, three slashes begin a relative path, four an absolute one, and
    `sqlite:///C:/path` is a path on a Windows drive. StoreError for any other URL.
    """
    if index not in ("memory", "disk"):
        raise ValueError(f"an index is in memory or on disk, not {index!r}")
    if url == "memory:":
        return MemoryStore()
    scheme, _, path = url.partition(":///")
    if scheme == "sqlite" and path not in ("", ":memory:"):
        return SqliteStore(
            Path(path), index=index, tables=tables, tentative=tentative, reading=reading
        )
    if url.partition("://")[0] in REDIS_SCHEMES:
        return _redis_store(url, tentative, wait_secs)
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


def _redis_store(url: str, tentative: bool, wait_secs: float) -> Store:
    try:
        from simhash_pipeline.stores.redis.redis_store import RedisStore
    except ImportError as error:
        how = "pip install 'simhash-pipeline[redis]'"
        raise StoreError(f"store {shown_url(url)} needs redis-py: {how}") from error
    return RedisStore(url, tentative=tentative, wait_secs=wait_secs)
