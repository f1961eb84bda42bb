"""What pages said, kept on Redis beside their records, so that a text goes with its page at once.

kept_at    8 bytes
length     of the URL, 4 bytes
URL
title and text, compressed
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from simhash_pipeline.stores import text_packing
from simhash_pipeline.stores.contract import PageText
from simhash_pipeline.stores.redis.layout import PAGE_HASHES, page_hashes, page_id
from simhash_pipeline.stores.redis.scripts import EXPIRE_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simhash_pipeline.stores.redis.server import Server

TEXTS_A_READ = 100
_TIME = struct.Struct(">d")  # EXPIRE_TEXTS reads it
_HEAD = struct.Struct(">dI")


class RedisTexts:
    """The texts of a server; raises what Server does."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def keep(self, texts: Iterable[PageText]) -> None:
        """Write texts in one round trip, each in place of one of the same key."""
        self._server.run(
            [("HSET", *_place(text.namespace, text.url), _packed(text)) for text in texts]
        )

    def text_of(self, namespace: str, url: str) -> PageText | None:
        raw = self._server.ask("HGET", *_place(namespace, url))
        found = None if raw is None else _unpacked(namespace, raw)
        return found if found is not None and found.url == url else None  # another of the same id

    def of_namespace(self, namespace: str) -> Iterator[PageText]:
        return (_unpacked(namespace, raw) for raw in self._all(namespace))

    def sizes_of_namespace(self, namespace: str) -> Iterator[int]:
        return (len(_content(raw)) for raw in self._all(namespace))

    def _all(self, namespace: str) -> Iterator[bytes]:
        for number in range(PAGE_HASHES):
            seen = set[bytes]()
            for found in self._server.scan(page_hashes(namespace, number).texts, TEXTS_A_READ):
                yield from (found[known] for known in found.keys() - seen)
                seen.update(found)

    def remove(self, namespace: str, url: str) -> None:
        if self.text_of(namespace, url) is not None:
            self._server.ask("HDEL", *_place(namespace, url))

    def expire(self, namespace: str, kept_before: float) -> None:
        """Remove what was kept before this time; on the server, which reads it all."""
        before = _TIME.pack(kept_before)
        cursors = [(page_hashes(namespace, number).texts, 0) for number in range(PAGE_HASHES)]
        while cursors:
            replies = self._server.run(
                [EXPIRE_TEXTS([key], cursor, TEXTS_A_READ, before) for key, cursor in cursors]
            )
            moved = zip(cursors, map(int, replies), strict=True)
            cursors = [(key, cursor) for (key, _), cursor in moved if cursor]

    def clear(self, namespace: str) -> None:
        self._server.run(
            [("UNLINK", page_hashes(namespace, number).texts) for number in range(PAGE_HASHES)]
        )


def _place(namespace: str, url: str) -> tuple[bytes, bytes]:
    known = page_id(url)
    return page_hashes(namespace, known[0]).texts, known


def _packed(text: PageText) -> bytes:
    url = text.url.encode()
    return _HEAD.pack(text.kept_at, len(url)) + url + text_packing.packed(text)


def _unpacked(namespace: str, raw: bytes) -> PageText:
    content = _content(raw)
    kept_at, _ = _HEAD.unpack_from(raw)
    url = raw[_HEAD.size : len(raw) - len(content)].decode()
    return PageText(namespace, url, *text_packing.unpacked(content), kept_at)


def _content(raw: bytes) -> bytes:
    _, length = _HEAD.unpack_from(raw)
    return raw[_HEAD.size + length :]
