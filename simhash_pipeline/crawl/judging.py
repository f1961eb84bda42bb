"""Pages in, judgements out, one after another in the order they came.

Large pages are read, and the store is asked, off the event loop.
"""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from simhash_pipeline.crawl.kept_texts import Texts
from simhash_pipeline.crawl.readers import Readers
from simhash_pipeline.errors import PageError
from simhash_pipeline.judge import Judge, Verdict
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.page.source import Source
from simhash_pipeline.stores.opening import open_store

# A page up to here is read on the event loop. To hand it to a process wakes threads that take turns
# with the loop: a crawl of pages of 8 KB became no faster by it.
SMALL_PAGE_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class Judged:
    """A page's fingerprints, the verdict on it, and the seconds that either took."""

    page: PageFingerprint
    verdict: Verdict
    fingerprinting_secs: float
    store_secs: float

    def shared(self) -> Judged:
        """The same for another item of the page, which takes no more time."""
        return dataclasses.replace(self, fingerprinting_secs=0.0, store_secs=0.0)


class Judging:
    """Fingerprints and judges pages; a thread asks the store, and processes read large pages.

    SIMHASH_RESET and SIMHASH_EXPIRE_AFTER_SECS are followed when the first page comes: `scrapy
    shell` opens every pipeline as well, and is to forget nothing.

    OptionsError, StoreError and StoreMismatch when it can't be begun.
    """

    def __init__(self, options: Options, store_url: str) -> None:
        self._fingerprinter = Fingerprinter(options)
        self._confirmed: deque[Verdict] = deque()
        self._store = open_store(
            store_url, options.index, tentative=True, wait_secs=options.store_wait_secs
        )
        try:
            self._judge = Judge(self._store, options)
            self._texts = Texts(self._store, options)
            # Loads the dictionaries of words and charsets now, not while the first page waits.
            with suppress(PageError):  # of an extractor that takes other pages than this one
                self._fingerprinter.fingerprint("<p>中文</p>".encode("gb18030"))
        except BaseException:
            self._store.close()
            raise
        self._options = options
        self._is_clean = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="simhash")
        self._readers = Readers(options, self._fingerprinter)

    def judge(self, source: Source) -> Future[Judged]:
        """The judgement, in the order of these calls; PageError, here or there, for no page."""
        if len(source.html) > SMALL_PAGE_BYTES:
            return self._thread.submit(
                self._judged_once_read, source.url, self._readers.read(source)
            )
        started = time.perf_counter()
        page = self._fingerprinter.fingerprint(*source)
        spent = time.perf_counter() - started
        return self._thread.submit(self._judged, source.url, page, spent)

    def judge_again(self, url: str, judged: Judged) -> Future[Judged]:
        """The same page by what is stored now."""
        return self._thread.submit(self._judged, url, judged.page, 0.0)

    def confirm(self, verdict: Verdict) -> None:
        """The page's item is safe; written with the next page that is judged."""
        self._confirmed.append(verdict)

    def forget(self, verdict: Verdict) -> Future[None]:
        """Take back what `verdict` stored, before any page that comes after this call."""
        return self._thread.submit(self._forget, verdict)

    def end(self) -> Future[int]:
        """Close the store, when all is judged; how many pages it holds."""
        return self._thread.submit(self._end)

    def _judged_once_read(self, url: str, read: Future[tuple[PageFingerprint, float]]) -> Judged:
        return self._judged(url, *read.result())

    def _judged(self, url: str, page: PageFingerprint, fingerprinting_secs: float) -> Judged:
        started = time.perf_counter()
        if not self._is_clean:
            self._clean()
        self._write_confirmed()
        self._texts.write_where_many()
        verdict = self._judge.judge(url, page)
        self._texts.add(verdict.url, page)
        return Judged(page, verdict, fingerprinting_secs, time.perf_counter() - started)

    def _clean(self) -> None:
        """Forget what is not to be remembered from earlier crawls."""
        if self._options.reset:
            self._store.clear(self._options.namespace)
        if self._options.expire_after_secs is not None:
            self._store.expire(time.time() - self._options.expire_after_secs)
        self._is_clean = True

    def _forget(self, verdict: Verdict) -> None:
        self._texts.forget(verdict.url)
        self._judge.forget(verdict)

    def _write_confirmed(self) -> None:
        while self._confirmed:
            self._judge.confirm(self._confirmed.popleft())

    def _end(self) -> int:
        try:
            self._write_confirmed()
            self._texts.write()
            return len(self._store)
        finally:
            self._readers.close()
            self._thread.shutdown(wait=False)
            self._store.close()
