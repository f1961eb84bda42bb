"""Processes that fingerprint pages: while it holds its interpreter, the caller's goes on.

multiprocessing would run the caller's script again in each process, and a crawl with it. This
process begins at `serve`. Both sides speak pickle over its standard input and output: the options,
then pages, and an answer to each.
"""

import contextlib
import ctypes
import faulthandler
import logging
import math
import os
import pickle
import signal
import subprocess
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from simhash_pipeline.errors import OptionsError, PageError, ReaderError
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.page.pdf import is_pdf
from simhash_pipeline.page.source import Source

# Isolated (-I): what lies in the working directory is no library; the caller's own path is sent. It
# ends with its input, and the signals that pause a crawl are for the crawl. numpy's threads for
# matrices, of which there are none here, would spin before they sleep.
_BEGIN = """
import os, pickle, signal, sys
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.path[:] = pickle.load(sys.stdin.buffer)
from simhash_pipeline.page.reader import serve
serve()
"""
# A page up to this size is fingerprinted on the event loop, unless code of the user's takes part,
# which may never return. A crawl of 220 pages of 100-600 KB takes 10.7 ms of CPU a page, with a
# process 12.9, 6.8 of them on the loop; one of pages of 8 KB became no faster by it.
SMALL_PAGE_BYTES = 100_000
MAX_READERS = 4  # processes; each takes some 80 MB, and more while it reads
# Beside what the process begins with. Pages of 5 MB take 300 MB at most.
PAGE_MEMORY_MB = 2_000
_START_SECS = 60  # in which a process must begin; it imports what the settings name
_OWN_END_SECS = 5  # after its limit a process without a caller ends by itself
_LATE, _OUT_OF_MEMORY = 1, 81  # exit statuses of a process; the first is faulthandler's
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)

logger = logging.getLogger(__name__)


class Reader:
    """Fingerprints one page at a time in a process that begins with the first.

    On Linux the process ends with the thread that it began in, even if it is busy or stopped.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, source: Source, *, limit_secs: float | None = None) -> PageFingerprint:
        """As Fingerprinter's; the process may end of a page, and the next page begins another.

        That too is a PageError (kind timeout, memory or reader_died). ReaderError when no process
        can be begun.
        """
        process = self._process
        if process is None or process.poll() is not None:
            self.close()
            process = self.start()
        try:
            answer = self._answer(process, source, limit_secs)
        except Exception as error:  # what is left in the pipes is no answer to the next page
            self.close()
            raise self._page_error(process.returncode, error) from error
        if isinstance(answer, Exception):
            raise answer
        page: PageFingerprint = answer
        return page

    def close(self) -> None:
        """End the process, which has nothing to lose."""
        process, self._process = self._process, None
        if process is not None:
            _kill(process)
            with contextlib.suppress(OSError), process:  # closes the pipes, and waits
                pass

    def start(self) -> subprocess.Popen[bytes]:
        """Begin the process before the first page; ReaderError, whose cause it is if it fails."""
        if getattr(sys, "frozen", False):  # what would start is this program once more
            raise ReaderError("there is no Python interpreter next to the program")
        command = [sys.executable, "-I", "-c", _BEGIN]
        try:
            process = self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
            _send(process, sys.path)
            if (fault := self._answer(process, self._options, _START_SECS)) is not None:
                raise fault
        except Exception as error:
            self.close()
            raise ReaderError(f"no process can read pages: {error}") from error
        return process

    def _answer(self, process: subprocess.Popen[bytes], asked: object, secs: float | None) -> Any:
        """TimeoutError when there is none after `secs`; on Windows the process ends by itself."""
        _send(process, asked)
        pipe: Any = process.stdout
        if sys.platform != "win32" and not wait([pipe], secs):
            raise TimeoutError(f"it did not answer within {secs:.0f} seconds")
        return pickle.load(pipe)

    def _page_error(self, status: int, error: Exception) -> PageError:
        if isinstance(error, TimeoutError) or status == _LATE:
            rule = f"SIMHASH_PAGE_TIMEOUT_SECS ({self._options.page_timeout_secs}) allows"
            return PageError("timeout", f"it takes longer to read than {rule}")
        if status == _OUT_OF_MEMORY:
            rule = f"the limit of {PAGE_MEMORY_MB:,} MB"
            return PageError("memory", f"it takes more memory to read than {rule}")
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        how += " (memory may have run out)" * (status in (-6, -9))  # aborted, or killed
        told = "" if isinstance(error, EOFError) else f": {error!r}"  # that it ended is said
        return PageError("reader_died", f"the process that read it ended {how}{told}")


class Readers:
    """Threads that wait for processes; a second process is started only while one is busy.

    When the crawl is closing, all pages that are still to be read have the limit of one page
    together.

    If no process can be started, the threads read by `fingerprinter` and take turns with the loop.
    Such a page has no limit: Python can't end a thread.

    OptionsError if a process can't import what the settings name, and what they name is no part of
    the caller's script.
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
        self._takes_all = options.calls_users_code
        self._is_closing = is_closing
        self._end = math.inf  # of all reading, once the crawl is closing
        if self._takes_all:
            self._start_first()

    def takes(self, source: Source) -> bool:
        """Whether the page may take long: large ones and PDFs, and all that a user's code reads."""
        return self._takes_all or len(source.html) > SMALL_PAGE_BYTES or is_pdf(source.html)

    def fingerprint(self, source: Source) -> PageFingerprint:
        """The page's fingerprints, once they are made: beside the caller if that may take long."""
        if self.takes(source):
            return self.read(source).result()[0]
        return self._fingerprinter.read(source)

    def read(self, source: Source) -> Future[tuple[PageFingerprint, float]]:
        """The page's fingerprints, and the seconds they took; PageError as Reader's."""
        return self._threads.submit(self._read, source)

    def close(self) -> None:
        """End the processes, when all is read."""
        for reader in self._all:
            reader.close()
        self._threads.shutdown(wait=False)

    def _start_first(self) -> None:
        try:
            self._idle[-1].start()
        except ReaderError as error:
            refusal = error.__cause__
            if isinstance(refusal, OptionsError) and "'__main__" not in str(refusal):
                rule = "the processes that read pages import it by this path from a file"
                raise OptionsError([f"{fault}; {rule}" for fault in refusal.faults]) from None
            self._read_in_threads(error)

    def _read(self, source: Source) -> tuple[PageFingerprint, float]:
        if self._end == math.inf and self._is_closing():
            self._end = time.monotonic() + self._limit_secs
        secs, started = min(self._limit_secs, self._end - time.monotonic()), time.perf_counter()
        if secs <= 0:
            rule = f"for longer than SIMHASH_PAGE_TIMEOUT_SECS ({self._limit_secs})"
            raise PageError("timeout", f"the crawl has been closing {rule}")
        if self._can_start:
            reader = self._idle.pop()  # the one used last: the others may never have to start
            try:
                return reader.read(source, limit_secs=secs), time.perf_counter() - started
            except ReaderError as error:
                self._read_in_threads(error)
            finally:
                self._idle.append(reader)
        return self._fingerprinter.read(source), time.perf_counter() - started

    def _read_in_threads(self, error: ReaderError) -> None:
        self._can_start = False
        logger.warning(
            "Pages are read in a thread of the crawl, where no limit in time and memory holds, "
            "as %s",
            error,
        )


def serve() -> None:
    """The process: an answer to each page, until there are no more."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a callable of the user's prints is no answer
    nowhere = open(os.devnull, "w")  # noqa: PTH123, SIM115  # as long as the process

    def answer(given: object) -> None:
        try:
            pickle.dump(given, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
        except BrokenPipeError:  # the caller was killed
            os._exit(0)

    try:
        options: Options = pickle.load(asked)
        fingerprinter = Fingerprinter(options)
        _limit_memory(PAGE_MEMORY_MB)
    except Exception as error:
        return answer(error)
    answer(None)
    own_end_secs = options.page_timeout_secs + _OWN_END_SECS
    try:
        while True:
            source = pickle.load(asked)
            # Where the system doesn't end it with its caller: without the interpreter, which an
            # expression that backtracks never gives back.
            faulthandler.dump_traceback_later(own_end_secs, file=nowhere, exit=True)
            answer(_read(fingerprinter, source))
            faulthandler.cancel_dump_traceback_later()
    except EOFError:
        return None


def _read(fingerprinter: Fingerprinter, source: Source) -> PageFingerprint | Exception:
    try:
        return fingerprinter.read(source)
    except Exception as error:
        if MemoryError in (type(error), type(error.__cause__)):  # the cause: in a user's callable
            os._exit(_OUT_OF_MEMORY)
        if isinstance(error, PageError):
            return error
        return RuntimeError(traceback.format_exc())  # pickle leaves out where it was raised


def _limit_memory(megabytes: int) -> None:
    """Let this process have as much beside what it has now; on Linux alone."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # no /proc, or a lower limit
        import resource

        memory_pages = int(Path("/proc/self/statm").read_text().split()[5])
        limit = memory_pages * resource.getpagesize() + megabytes * 1_000_000
        _, highest = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, highest))


def _send(process: subprocess.Popen[bytes], message: object) -> None:
    pickle.dump(message, process.stdin, pickle.HIGHEST_PROTOCOL)  # type: ignore[arg-type]
    process.stdin.flush()  # type: ignore[union-attr]


def _kill(process: subprocess.Popen[bytes]) -> None:
    """With all that it has started, such as a program that an extractor calls."""
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(OSError):  # it has just ended
            os.killpg(process.pid, signal.SIGKILL)
