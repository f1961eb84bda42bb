"""The URLs of stores: their forms, and how they may be shown."""

from __future__ import annotations

import re
from pathlib import Path

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
# A parameter whose name speaks of a secret, which may hold an `&`, up to one of redis-py's own.
_SECRET_PARAMETER = re.compile(
    r"(?is)([?&][^=&]*(?:pass|pw|secret|token|auth)[^=&]*=)"
    r".*?(?=&(?:db|protocol|username|client_name|(?:ssl|socket)_\w+)=|\Z)"
)
_SCHEME = r"\s*(?:[a-z][\w+.-]*(?:[:;]/*|//+)|(?:redis|valkey)\w*/|//+)"
_CREDENTIALS = re.compile(rf"(?is)\A({_SCHEME}|\s*)(?:([^:/]*)(:.*))?")
_NO_PORT = re.compile(rf"(?is)\A((?:{_SCHEME}[^:/?\[]+|\s*[^:/?\[]{{2,}}):)(?!/|\d*(?:[/?,]|\Z)).*")


def store_file(url: str) -> Path | None:
    """The SQLite file of a store's URL; None for another kind of store."""
    return Path(url.removeprefix(SQLITE)) if url.startswith(SQLITE) else None


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
