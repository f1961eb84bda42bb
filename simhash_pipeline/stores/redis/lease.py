"""The lease by which a process on Redis shows that it lives."""

from __future__ import annotations

import secrets
import threading
from itertools import count
from typing import TYPE_CHECKING

from simhash_pipeline.stores.redis.layout import HOLDER, PREFIX, RUN_SIZE

if TYPE_CHECKING:
    from simhash_pipeline.stores.redis.server import Server

RENEWALS = 4  # in the time of a lease


class Lease:
    """A key that is gone some seconds after its process; a thread renews it until `close`.

    Nothing rests on it but how soon others clean up after a process: one that is only slow loses
    its claims, notices, and judges its page again.
    """

    def __init__(self, server: Server, secs: float) -> None:
        self.run = secrets.token_bytes(RUN_SIZE)
        self._server = server
        self._set = ("SET", _key(self.run), 1, "PX", int(secs * 1_000))
        self._numbers = count()
        self._closed = threading.Event()
        server.ask(*self._set)
        self._thread = threading.Thread(
            target=self._renew, args=(secs / RENEWALS,), name="simhash-lease", daemon=True
        )
        self._thread.start()

    def holder(self) -> bytes:
        """Whom a new claim belongs to."""
        return HOLDER.pack(self.run, next(self._numbers))

    def dead(self, runs: set[bytes]) -> set[bytes]:
        """Those of the runs whose leases have run out."""
        others = list(runs - {self.run})
        alive = self._server.run([("EXISTS", _key(run)) for run in others])
        return {run for run, there in zip(others, alive, strict=True) if not there}

    def close(self) -> None:
        self._closed.set()
        self._thread.join()
        self._server.tried("DEL", _key(self.run))

    def _renew(self, interval_secs: float) -> None:
        while not self._closed.wait(interval_secs):
            while not self._server.tried(*self._set) and not self._closed.wait(interval_secs / 4):
                pass


def _key(run: bytes) -> bytes:
    return PREFIX + b"run:" + run.hex().encode()
