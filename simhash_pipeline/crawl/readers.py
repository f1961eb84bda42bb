"""Large pages in, fingerprints out: made beside the crawl, in up to four processes."""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from simhash_pipeline.errors import ReaderError
from simhash_pipeline.page.reader import Reader

if TYPE_CHECKING:
    from simhash_pipeline.options import Options
    from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
    from simhash_pipeline.page.source import Source

MAX_READERS = 4  # processes; each has some 80 MB to itself, and more while it reads

logger = logging.getLogger(__name__)


class Readers:
    """Threads that wait for processes; one process is begun while one is enough.

    Where none can be had, the threads read by `fingerprinter`, and take turns with the event loop.
    """

    def __init__(self, options: Options, fingerprinter: Fingerprinter) -> None:
        number = min(MAX_READERS, max(1, (os.cpu_count() or 1) - 1))  # one core is the loop's
        self._all = [Reader(options) for _ in range(number)]
        self._idle = deque(self._all)
        self._threads = ThreadPoolExecutor(number, thread_name_prefix="simhash-reader")
        self._fingerprinter = fingerprinter
        self._alone = False

    def read(self, source: Source) -> Future[tuple[PageFingerprint, float]]:
        """The page's fingerprints, and the seconds they took; PageError as Reader's."""
        return self._threads.submit(self._read, source)

    def close(self) -> None:
        """End the processes, when all is read."""
        for reader in self._all:
            reader.close()
        self._threads.shutdown(wait=False)

    def _read(self, source: Source) -> tuple[PageFingerprint, float]:
        started = time.perf_counter()
        page = self._fingerprinter.fingerprint(*source) if self._alone else self._beside(source)
        return page, time.perf_counter() - started

    def _beside(self, source: Source) -> PageFingerprint:
        reader = self._idle.pop()  # the last one used: others may never have to begin
        try:
            return reader.fingerprint(*source)
        except ReaderError as error:
            self._alone = True
            logger.warning("Large pages are read in a thread of the crawl, as %s", error)
            return self._fingerprinter.fingerprint(*source)
        finally:
            self._idle.append(reader)
