"""Processes that read pages beside the event loop, and the limit in seconds of each page."""

from __future__ import annotations

import logging
import math
import os
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Thread
from typing import TYPE_CHECKING

from simhash_pipeline.errors import PageError, ReaderError
from simhash_pipeline.page.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from simhash_pipeline.options import Options
    from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
    from simhash_pipeline.page.source import Source

MAX_READERS = 4  # processes; each takes some 80 MB, and more while it reads
_WATCH_SECS = 0.2  # a page may take this much longer than its limit

logger = logging.getLogger(__name__)


class Readers:
    """Threads that wait for processes; a second process is started only while one is busy.

    One more thread ends processes that are late. When the crawl is closing, all pages that are
    still to be read have the limit of one page together.

    If no process can be started, the threads read by `fingerprinter` and take turns with the loop.
    Such a page has no limit: Python can't end a thread.
    """

    def __init__(
        self, options: Options, fingerprinter: Fingerprinter, is_closing: Callable[[], bool]
    ) -> None:
        number = min(MAX_READERS, max(1, (os.cpu_count() or 1) - 1))  # one core is for the loop
        self._all = [Reader(options) for _ in range(number)]
        self._idle = deque(self._all)
        self._threads = ThreadPoolExecutor(number, thread_name_prefix="simhash-reader")
        self._fingerprinter = fingerprinter
        self._can_start = True
        self._limit_secs = options.page_timeout_secs
        self._is_closing = is_closing
        self._end = math.inf  # of all reading, once the crawl is closing
        self._closed = Event()
        self._watch: Thread | None = None  # daemonic: it watches while the interpreter ends, too

    def read(self, source: Source) -> Future[tuple[PageFingerprint, float]]:
        """The page's fingerprints, and the seconds they took; PageError as Reader's."""
        if self._watch is None:
            self._watch = Thread(target=self._end_late, name="simhash-watch", daemon=True)
            self._watch.start()
        return self._threads.submit(self._read, source)

    def close(self) -> None:
        """End the processes, when all is read."""
        self._closed.set()
        for reader in self._all:
            reader.close()
        self._threads.shutdown(wait=False)

    def _end_late(self) -> None:
        while not self._closed.wait(_WATCH_SECS):
            for reader in self._all:
                reader.end_if_late()
            if self._end == math.inf and self._is_closing():
                self._end = time.monotonic() + self._limit_secs

    def _read(self, source: Source) -> tuple[PageFingerprint, float]:
        secs, started = self._secs_left(), time.perf_counter()
        if self._can_start:
            page = self._read_beside(source, secs)
        else:
            page = self._fingerprinter.read(source)
        return page, time.perf_counter() - started

    def _secs_left(self) -> float:
        """For a page that is to be read now; PageError if a closing crawl waits no longer."""
        secs = min(self._limit_secs, self._end - time.monotonic())
        if secs <= 0:
            rule = f"for longer than SIMHASH_PAGE_TIMEOUT_SECS ({self._limit_secs})"
            raise PageError("timeout", f"the crawl has been closing {rule}")
        return secs

    def _read_beside(self, source: Source, secs: float) -> PageFingerprint:
        reader = self._idle.pop()  # the one used last: the others may never have to start
        try:
            return reader.read(source, limit_secs=secs)
        except ReaderError as error:
            self._can_start = False
            logger.warning(
                "Pages are read in a thread of the crawl, where no limit in time and memory holds, "
                "as %s",
                error,
            )
            return self._fingerprinter.read(source)
        finally:
            self._idle.append(reader)
