"""Opens a store by its URL."""

from __future__ import annotations

import re
from pathlib import Path

from simhash_pipeline.errors import StoreError
from simhash_pipeline.rules import STORE_URL
from simhash_pipeline.stores.contract import IndexPlace, Store
from simhash_pipeline.stores.memory import MemoryStore
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore

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
WAIT_SECS = 60.0


def open_store(
    url: str,
    index: IndexPlace = "memory",
    *,
    tentative: bool = False,
    wait_secs: float = WAIT_SECS,
) -> Store:
    """The store at `memory:` (gone when closed), `sqlite:///path` or on a Redis or Valkey server.

    It is made when there is none.

    `index` is where an SQLite file's pages are looked up: "memory" (43 bytes a page at ten million,
    and seconds to open a store of millions) or "disk" (nothing, at several times the time a page
    and three times the disk). ValueError for another.

    With `tentative`, pages are kept until `confirm` makes them stay, and what a process had not
    confirmed when it died is forgotten before the first page is settled: nobody knows whether
    those items were saved.

    A Redis or Valkey server is waited for for `wait_secs` when the connection to it is lost.

    As in SQLAlchemy, three slashes begin a relative path, four an absolute one, and
    `sqlite:///C:/path` is a path on a Windows drive. StoreError for any other URL.
    """
    if index not in ("memory", "disk"):
        raise ValueError(f"an index is in memory or on disk, not {index!r}")
    if url == "memory:":
        return MemoryStore()
    scheme, _, path = url.partition(":///")
    if scheme == "sqlite" and path not in ("", ":memory:"):
        return SqliteStore(Path(path), index=index, tentative=tentative)
    if url.partition("://")[0] in REDIS_SCHEMES:
        return _redis_store(url, tentative, wait_secs)
    raise StoreError(f"no store can be opened at {shown_url(url)!r}: its URL must be {URL_FORMS}")


def refuse_absent(url: str) -> None:
    """StoreError where no store can be that is there already: to look into one never makes one."""
    if url == "memory:":
        raise StoreError("a store in memory is gone when its crawl ends; name another")
    path = store_file(url)
    if path is not None and not path.is_dir() and not (path.exists() and path.stat().st_size):
        raise StoreError(f"there is no store at {path}")


def store_file(url: str) -> Path | None:
    """The SQLite file of a store's URL; None where it lies elsewhere."""
    return Path(url.removeprefix(SQLITE)) if url.startswith(SQLITE) else None


def shown_url(url: str) -> str:
    """The URL as logs and messages may show it: without passwords, also where it is mistyped."""
    if STORE_URL.match(url) is None or url.startswith("sqlite:"):
        return url
    url = re.sub(r"(?i)([?&][^=&]*password[^=&]*)=[^&]*", r"\1=***", url)
    scheme, colon, rest = url.partition(":")
    credentials, at, place = rest.rpartition("@")
    if ":" in credentials:
        credentials = credentials.partition(":")[0] + ":***"
    return scheme + colon + credentials + at + place


def _redis_store(url: str, tentative: bool, wait_secs: float) -> Store:
    try:
        from simhash_pipeline.stores.redis.redis_store import RedisStore
    except ImportError as error:
        how = "pip install 'simhash-pipeline[redis]'"
        raise StoreError(f"store {shown_url(url)} needs redis-py: {how}") from error
    return RedisStore(url, tentative=tentative, wait_secs=wait_secs)
