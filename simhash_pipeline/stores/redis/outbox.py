"""What a process has decided and sends with its next message: kept pages, and confirmations."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from simhash_pipeline.errors import StoreError
from simhash_pipeline.stores.redis.scripts import CONFIRM
from simhash_pipeline.stores.redis.steps import Batch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_pipeline.stores.redis.steps import Attempt, Change, Key, Steps

LINGER_SECS = 0.01  # so long others may wait for a page that is decided

logger = logging.getLogger(__name__)


class Outbox:
    """Holds tentatively kept pages back until a message goes out anyhow, or a moment has passed.

    For many threads: what is on its way is waited for before it is asked for.
    """

    def __init__(self, steps: Steps, run: bytes) -> None:
        self._steps = steps
        self._run = run
        self._waiting: dict[Key, Change] = {}
        self._on_its_way: set[Key] = set()
        self._unconfirmed: dict[Key, Attempt] = {}  # that the server has
        self._confirmed: list[Attempt] = []
        self._changed = threading.Condition()
        self._closed = threading.Event()
        self.linger_secs = LINGER_SECS
        self._thread = threading.Thread(target=self._send, name="simhash-outbox", daemon=True)

    def add(self, change: Change) -> None:
        """Take a page that is kept tentatively."""
        with self._changed:
            if self._thread.ident is None:
                self._thread.start()
            self._waiting[_key(change)] = change
            self._changed.notify_all()

    def sent(self, change: Change) -> None:
        """Take note of one that the server knows already."""
        with self._changed:
            self._unconfirmed[_key(change)] = change.attempt

    def confirm(self, namespace: str, url: str) -> None:
        """Confirm a page of this process; others are left as they are."""
        key = namespace, url
        with self._changed:
            self._changed.wait_for(lambda: key not in self._on_its_way)
            if key in self._waiting:
                self._waiting[key] = replace(self._waiting[key], run=b"")
            elif key in self._unconfirmed:
                self._confirmed.append(self._unconfirmed.pop(key))

    def forget(self, namespace: str, url: str) -> None:
        """A page that is to be removed now is there, and is not to be confirmed."""
        self.flush()
        with self._changed:
            self._unconfirmed.pop((namespace, url), None)

    @contextmanager
    def batch(self) -> Iterator[Batch]:
        """All that waits, for a message; what isn't replied to waits again."""
        batch = self._taken()
        try:
            yield batch
        finally:
            self._settle(batch)

    def flush(self) -> None:
        """Send all that waits, and wait for what others are sending."""
        with self.batch() as batch:
            if batch.commands:
                batch.replies = self._steps.server.run(batch.commands)
        with self._changed:
            self._changed.wait_for(lambda: not self._on_its_way)

    def close(self) -> list[Key]:
        """Send all that waits; the pages that were never confirmed."""
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()
        with suppress(StoreError):  # the next to open forgets what this can't
            self.flush()
        return list(self._unconfirmed)

    def _taken(self) -> Batch:
        with self._changed:
            batch = Batch(self._waiting, self._confirmed)
            self._waiting, self._confirmed = {}, []
            self._on_its_way |= batch.changes.keys()
        finishing = [self._steps.finishing(change) for change in batch.changes.values()]
        confirming = [
            CONFIRM([attempt.hashes.tentative], attempt.id, self._run)
            for attempt in batch.confirmed
        ]
        batch.commands = [*finishing, *confirming]
        return batch

    def _settle(self, batch: Batch) -> None:
        """Where the replies are there, note what is stored; else put all back."""
        with self._changed:
            if batch.replies is None:
                self._waiting = {**batch.changes, **self._waiting}
                self._confirmed = [*batch.confirmed, *self._confirmed]
            else:
                for (key, change), done in zip(batch.changes.items(), batch.replies, strict=False):
                    if not done:
                        shown = self._steps.server.shown
                        said = "Store %s: took too long over %s, which is not remembered"
                        logger.warning(said, shown, key[1])
                    elif change.run:
                        self._unconfirmed[key] = change.attempt
            self._on_its_way -= batch.changes.keys()
            self._changed.notify_all()

    def _send(self) -> None:
        """Send what no message has taken along."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting) or self._closed.is_set())
                oldest = next(iter(self._waiting), None)
            if self._closed.wait(self.linger_secs):
                return
            with self._changed:
                is_left = oldest in self._waiting
            if is_left:
                with suppress(StoreError):  # it waits on, and the next page tells
                    self.flush()


def _key(change: Change) -> Key:
    return change.attempt.namespace, change.attempt.record.page.url
