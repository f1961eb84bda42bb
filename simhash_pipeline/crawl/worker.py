"""What a crawl does beside its event loop: pages in, verdicts out, in the order they came.

One thread asks the store. Large pages are fingerprinted in up to four processes, and all pages if
the settings name callables of the user's; each page there has a limit in seconds.
"""

import asyncio
import dataclasses
import logging
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from scrapy.utils.asyncio import call_later, is_asyncio_available
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from simhash_pipeline.errors import StoreError
from simhash_pipeline.item_values import ROW, WAITS, Said, has
from simhash_pipeline.items import in_words, said_by
from simhash_pipeline.judge import Judge
from simhash_pipeline.kept_texts import TextBuffer
from simhash_pipeline.options import Options
from simhash_pipeline.page.compiled import DictionaryNeeded, may_load
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.page.reader import Readers
from simhash_pipeline.page.source import Source
from simhash_pipeline.stores.opening import open_store
from simhash_pipeline.verdict import Verdict

# The loop hands the pages of this time to the thread together, and waits for it so long: to take
# turns at Python costs both more than a verdict. A store that takes longer, as it is locked or far
# away, is not waited for again within a second.
GATHER_SECS = 0.02
MAX_STALL_SECS = 0.01
PATIENT_AFTER_SECS = 1.0
FLUSH_SECS = 1.0

logger = logging.getLogger(__name__)
T = TypeVar("T")
Outcome = tuple[Any, Exception | None]  # what a call returned, or else raised


async def result_of(future: Future[T]) -> T:
    """What the loop's thread gives the future, under any event loop that Scrapy runs on."""
    if not future.done():
        waits = Deferred[None]()
        future.add_done_callback(lambda _: waits.callback(None))
        await maybe_deferred_to_future(waits)
    return future.result()


@dataclass(slots=True)  # frozen, it takes six times as long to make
class JudgedPage:
    """A page's fingerprints, the verdict that a judge gave, and the seconds that each took."""

    page: PageFingerprint
    verdict: Verdict
    fingerprinting_secs: float
    store_secs: float
    said: Said  # by its item
    text: str = ""  # for "text" of ADDED_FIELDS

    def of_known_row(self) -> "JudgedPage":
        """The same for an item that the page had before it changed."""
        verdict = dataclasses.replace(
            self.verdict,
            dropped=True,
            reason="unchanged",
            twin_url=self.verdict.url,
            twin_key=self.verdict.key,
            rejected_by=None,
            changed=(),
        )
        return dataclasses.replace(self, verdict=verdict)


class JudgeWorker:
    """Fingerprints and judges pages; its thread asks the store, its processes read pages.

    `is_closing` says whether the crawl is about to end; another thread asks it now and then.

    It applies SIMHASH_EXPIRE_AFTER when the first page comes: a crawl that gets no page forgets
    nothing. `gathers` has a page wait for others to be judged with, for GATHER_SECS.

    OptionsError, StoreError and StoreMismatch when it can't start.
    """

    def __init__(
        self, options: Options, store_url: str, is_closing: Callable[[], bool], *, gathers: bool
    ) -> None:
        self._fingerprinter = Fingerprinter(options)
        self._will_flush = False  # within FLUSH_SECS
        self._store = open_store(store_url, tentative=True)
        try:
            self._judge = Judge(self._store, options, repeats_since=time.time())
            self.answers = self._judge.answers
            self._texts = TextBuffer(self._store)
            self._readers = Readers(options, self._fingerprinter, is_closing)
            self.pages_before = len(self._store)  # that the crawl begins with
        except BaseException:
            self._store.close()
            raise
        self._options = options
        self._gather_secs = GATHER_SECS if gathers else 0.0
        # Calls that are not handed over yet, and who waits for what they return.
        self._asked: list[tuple[Callable[[], Any], Future[Any] | None]] = []
        self._will_hand_over = False  # within GATHER_SECS
        self._handed_over: Future[Any] | None = None  # the last
        self._patient_from = 0.0  # by the monotonic clock
        self._expire_after = options.expire_after  # None once that was done
        self.expired = 0  # pages that were forgotten
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="simhash")

    def judge(self, source: Source) -> Future[JudgedPage]:
        """Judge the page, in the order of these calls.

        PageError, from this call or from the future, when it can't be judged.
        """
        if self._readers.takes(source):
            reading = self._readers.read(source)
            self._hand_over()
            # The thread waits for the process; the loop does not wait for the thread meanwhile.
            self._handed_over = self._thread.submit(wait, [reading])
            return self._ask(lambda: self._judged(source, *reading.result()))
        token = may_load.set(False)
        try:
            read = self._read(source)
        except DictionaryNeeded:  # once in a crawl; the loop doesn't wait for it
            return self._ask(lambda: self._judged(source, *self._read(source)))
        finally:
            may_load.reset(token)
        return self._ask(partial(self._judged, source, *read))

    def _read(self, source: Source) -> tuple[PageFingerprint, float]:
        """The fingerprints, and the seconds that they took."""
        started = time.perf_counter()
        return self._fingerprinter.read(source), time.perf_counter() - started

    def judge_again(self, source: Source, page: PageFingerprint) -> Future[JudgedPage]:
        """Judge the same page by what is stored now."""
        return self._ask(partial(self._judged, source, page, 0.0))

    def judge_row(self, judged: JudgedPage, source: Source, said: Said) -> Future[JudgedPage]:
        """Judge a further item of a kept page; the same unless another page gave that very row."""

        def judged_row() -> JudgedPage:
            if (verdict := self._judge.judge_row(source.url, judged.page, said)) is None:
                return judged
            verdict = dataclasses.replace(verdict, row=in_words(source))
            return dataclasses.replace(judged, verdict=verdict, said=said)

        return self._ask(judged_row)

    def confirm(self, verdict: Verdict) -> None:
        """The page's item is safe; others see it with the next page, or after a second."""
        if not self._will_flush:
            self._will_flush = True
            call_later(FLUSH_SECS, self._flush_soon)
        # With what is asked next: nobody waits for it.
        self._asked.append((partial(self._judge.confirm, verdict), None))

    def add_rows(self, judged: JudgedPage, rows: Collection[bytes]) -> None:
        """The page that was stored gave these rows, too."""
        if not (rows or judged.verdict.known_rows or has(judged.said.values, WAITS)):
            return
        self._ask(partial(self._judge.add_rows, judged.verdict, judged.said, [*rows]))

    def forget(self, verdict: Verdict) -> Future[None]:
        """Remove what `verdict` stored, before any page that is judged after this call."""
        self._ask(partial(self._texts.forget, verdict))
        return self._ask(partial(self._judge.forget, verdict))

    def end(self) -> Future[int]:
        """Close the store when all pages are judged; the number of pages it holds."""
        pages = self._ask(self._end)
        self._hand_over()
        return pages

    def _ask(self, call: Callable[[], T]) -> Future[T]:
        """Have the thread call it, after what was asked before."""
        if not self._will_hand_over:
            self._will_hand_over = True
            call_later(self._gather_secs, self._hand_over)
        answer: Future[T] = Future()
        self._asked.append((call, answer))
        return answer

    def _hand_over(self) -> None:
        """Have the thread call what was asked, and wait for it a moment if it has nothing else.

        The answers are given together by the loop: each would wake it by itself from the thread.
        """
        asked, self._asked, self._will_hand_over = self._asked, [], False
        if not asked:
            return
        calls, answers = zip(*asked, strict=True)
        is_idle = self._handed_over is None or self._handed_over.done()
        is_patient = is_idle and time.monotonic() >= self._patient_from
        try:
            self._handed_over = handed = self._thread.submit(lambda: [*map(_outcome, calls)])
        except RuntimeError:  # the thread has ended: each call fails
            _give(answers, map(_outcome, calls))
            return
        if is_patient and not wait([handed], MAX_STALL_SECS).not_done:
            _give(answers, handed.result())
            return
        if is_patient:
            self._patient_from = time.monotonic() + PATIENT_AFTER_SECS
        handed.add_done_callback(_on_loop(lambda: _give(answers, handed.result())))

    def _judged(
        self, source: Source, page: PageFingerprint, fingerprinting_secs: float
    ) -> JudgedPage:
        started = time.perf_counter()
        self._expire()
        self._texts.write_many()
        said = said_by(page, source)
        verdict = self._judge.judge(source.url, page, said)
        if verdict.dropped and has(said.values, ROW):
            verdict = dataclasses.replace(verdict, row=in_words(source))
        if self._options.keep_text:
            self._texts.add(verdict, page, source.item)
        text = ""
        if "text" in self._options.added_fields:
            text = self._judge.repeated_text.page_specific(page, verdict)
        spent = time.perf_counter() - started
        return JudgedPage(page, verdict, fingerprinting_secs, spent, said, text)

    def _expire(self) -> None:
        if self._expire_after is None:
            return
        before, namespace = time.time() - self._expire_after, self._options.namespace
        self.expired = self._store.expire(before, namespace)
        self._expire_after = None
        if self.expired:
            pages = f"{self.expired:,} page{'s' * (self.expired != 1)}"
            logger.info("Forgot %s not seen for so long (SIMHASH_EXPIRE_AFTER)", pages)

    def _flush_soon(self) -> None:
        """Other crawls wait for a confirmation, this one for their pages perhaps."""
        self._will_flush = False
        self._ask(self._judge.flush)  # the next page meets its failure too
        self._ask(self._store.flush)

    def _end(self) -> int:
        try:
            self._texts.write()
            self._judge.flush()
            return len(self._store)
        finally:
            self._readers.close()
            self._thread.shutdown(wait=False)
            self._store.close()


def _outcome(call: Callable[[], Any]) -> Outcome:
    try:
        return call(), None
    except Exception as error:  # any: it is raised where the answer is awaited
        return None, error
    except BaseException as error:  # else it ends the thread, and nobody knows of it
        what = f"{type(error).__name__}: {error}"
        return None, StoreError(f"the thread that asks the store met {what}")


def _give(answers: Iterable[Future[Any] | None], outcomes: Iterable[Outcome]) -> None:
    for answer, (result, error) in zip(answers, outcomes, strict=True):
        if answer is not None and error is None:
            answer.set_result(result)
        elif answer is not None:
            answer.set_exception(error)


def _on_loop(call: Callable[[], None]) -> Callable[[object], object]:
    """To be called by another thread: the loop that runs now makes the call."""
    if is_asyncio_available():
        loop = asyncio.get_running_loop()
        return lambda _: loop.call_soon_threadsafe(call)
    from twisted.internet import reactor

    return lambda _: reactor.callFromThread(call)
