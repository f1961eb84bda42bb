"""The furniture of sites on Redis: sets, to which any process adds without asking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_pipeline.stores.contract import joined_furniture
from simhash_pipeline.stores.redis.layout import furniture_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_pipeline.stores.redis.server import Server


class RedisFurniture:
    """See `Store.furniture`; raises what Server does."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def of_site(self, namespace: str, site: str) -> bytes:
        return b"".join(sorted(self._server.ask("SMEMBERS", furniture_key(namespace, site))))

    def add(self, namespace: str, site: str, blocks: bytes) -> None:
        """Add blocks; several processes at once may together add some above the bound."""
        known = self.of_site(namespace, site)
        new = joined_furniture(known, blocks)[len(known) :]
        if new:
            parts = [new[i : i + 4] for i in range(0, len(new), 4)]
            self._server.run(
                [
                    ("SADD", furniture_key(namespace), site.encode()),
                    ("SADD", furniture_key(namespace, site), *parts),
                ]
            )

    def of_namespace(self, namespace: str) -> Iterator[tuple[str, bytes]]:
        for site in sorted(self._server.ask("SMEMBERS", furniture_key(namespace))):
            yield site.decode(), self.of_site(namespace, site.decode())

    def clear(self, namespace: str) -> None:
        sites = self._server.ask("SMEMBERS", furniture_key(namespace))
        keys = [furniture_key(namespace, site.decode()) for site in sites]
        self._server.run([("UNLINK", key) for key in [*keys, furniture_key(namespace)]])
