"""The lease by which a process on Redis shows that it lives."""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simhash_pipeline.stores.redis.layout import Space
    from simhash_pipeline.stores.redis.server import Server

RUN_SIZE = 8
RENEWALS = 4  # in the time of a lease


class Lease:
    """A run's keys, which are gone some seconds after its process; a thread renews them.

    Nothing rests on it but how soon others forget the tentative pages of the run: one that is only
    slow loses them, and finds nothing to confirm.
    """

    def __init__(self, server: Server, secs: float) -> None:
        self.run = secrets.token_bytes(RUN_SIZE)
        self._server = server
        self._secs = secs
        self._keys: list[bytes] = []
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="simhash-lease", daemon=True)

    def begin(self, space: Space) -> None:
        """Show it in a namespace too, from now on."""
        key = space.run(self.run)
        if key not in self._keys:
            self._keys.append(key)
        self._server.ask(*self._shown(key))
        if not self._thread.is_alive():
            self._thread.start()

    def dead(self, space: Space, runs: set[bytes]) -> set[bytes]:
        """Those of the runs whose leases have run out."""
        others = list(runs - {self.run})
        alive = self._server.run([("EXISTS", space.run(run)) for run in others])
        return {run for run, there in zip(others, alive, strict=True) if not there}

    def close(self) -> None:
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()
        for key in self._keys:
            self._server.tried("DEL", key)

    def _renew(self) -> None:
        wait_secs = self._secs / RENEWALS
        while not self._closed.wait(wait_secs):
            done = [self._server.tried(*self._shown(key)) for key in list(self._keys)]
            wait_secs = self._secs / RENEWALS / (1 if all(done) else 4)

    def _shown(self, key: bytes) -> tuple[bytes | str | int, ...]:
        return ("SET", key, 1, "PX", int(self._secs * 1_000))
