"""Titles and main texts on Redis, beside the records of their pages: a text goes with its page.

kept_at    8 bytes
length     of the URL, 4 bytes
URL
title and text, compressed
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from simhash_pipeline.stores.contract import PageText, packed_text, unpacked_text
from simhash_pipeline.stores.redis.commit import EXPIRE_TEXTS
from simhash_pipeline.stores.redis.layout import page_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simhash_pipeline.stores.redis.layout import Space
    from simhash_pipeline.stores.redis.server import Server

TEXTS_A_READ = 100
_TIME = struct.Struct(">d")  # EXPIRE_TEXTS reads it
_HEAD = struct.Struct(">dI")


class RedisTexts:
    """The texts of a server; raises what Server does."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def keep(self, texts: Iterable[tuple[Space, PageText]]) -> None:
        """Write texts in one round trip, each in place of one of the same key."""
        self._server.run(
            [("HSET", space.texts, page_id(text.url), _packed(text)) for space, text in texts]
        )

    def text_of(self, space: Space, url: str) -> PageText | None:
        raw = self._server.ask("HGET", space.texts, page_id(url))
        found = None if raw is None else _unpacked(space, raw)
        return found if found is not None and found.url == url else None  # another of the same id

    def of_namespace(self, space: Space) -> Iterator[PageText]:
        return (_unpacked(space, raw) for raw in self._all(space))

    def remove(self, space: Space, url: str) -> None:
        if self.text_of(space, url) is not None:
            self._server.ask("HDEL", space.texts, page_id(url))

    def expire(self, space: Space, kept_before: float) -> None:
        """Remove what was kept before this time; on the server, which reads it all."""
        before, cursor = _TIME.pack(kept_before), -1
        while cursor:
            cursor = int(
                self._server.ask(*EXPIRE_TEXTS([space.texts], max(cursor, 0), TEXTS_A_READ, before))
            )

    def _all(self, space: Space) -> Iterator[bytes]:
        seen = set[bytes]()
        for found in self._server.scan(space.texts, TEXTS_A_READ):
            yield from (found[known] for known in found.keys() - seen)
            seen.update(found)


def _packed(text: PageText) -> bytes:
    url = text.url.encode()
    return _HEAD.pack(text.kept_at, len(url)) + url + packed_text(text)


def _unpacked(space: Space, raw: bytes) -> PageText:
    kept_at, length = _HEAD.unpack_from(raw)
    end = _HEAD.size + length
    return unpacked_text(space.namespace, raw[_HEAD.size : end].decode(), raw[end:], kept_at)
