"""A process that fingerprints pages: while it holds its interpreter, the caller's goes on.

multiprocessing runs the caller's script again in each process that it starts, and the crawl of a
script without `if __name__ == "__main__"` with it. This process begins at `serve`. Both sides speak
pickle over its standard input and output: the options, then pages, and an answer to each.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import traceback
from typing import Any

from simhash_pipeline.errors import PageError, ReaderError
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint

# Isolated (-I): what lies in the working directory is no library; the caller's own path is sent. It
# ends with its input, and the signals that pause a crawl are for the crawl.
_BEGIN = """
import pickle, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.path[:] = pickle.load(sys.stdin.buffer)
from simhash_pipeline.page.reader import serve
serve()
"""


class Reader:
    """Fingerprints one page at a time in a process that begins with the first."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def fingerprint(
        self, html: bytes | str, url: str | None = None, charset: str | None = None
    ) -> PageFingerprint:
        """As Fingerprinter's; the process may end of a page, and the next page begins another.

        That too is a PageError (kind reader_died). ReaderError when no process can be begun.
        """
        process = self._process
        if process is None or process.poll() is not None:
            self.close()
            process = self._begun()
        try:
            answer = _answer(process, (html, url, charset))
        except Exception as error:  # what is left in the pipes is no answer to the next page
            self.close()
            died = f"the process that read it ended ({process.returncode}, {error!r})"
            raise PageError("reader_died", died) from error
        if isinstance(answer, Exception):
            raise answer
        page: PageFingerprint = answer
        return page

    def close(self) -> None:
        """End the process, which has nothing to lose."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with contextlib.suppress(OSError), process:  # closes the pipes, and waits
                pass

    def _begun(self) -> subprocess.Popen[bytes]:
        if getattr(sys, "frozen", False):  # what would start is this program once more
            raise ReaderError("there is no Python interpreter beside the program")
        command = [sys.executable, "-I", "-c", _BEGIN]
        try:
            process = self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            _send(process, sys.path)
            if (fault := _answer(process, self._options)) is not None:
                raise fault
        except Exception as error:
            self.close()
            raise ReaderError(f"no process can read pages: {error}") from error
        return process


def serve() -> None:
    """The process: an answer to each page, until there are no more."""
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a callable of the user's prints is no answer

    def answer(given: object) -> None:
        pickle.dump(given, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()

    try:
        fingerprinter = Fingerprinter(pickle.load(asked))
    except Exception as error:
        return answer(error)
    answer(None)
    while True:
        try:
            page = pickle.load(asked)
        except EOFError:
            return None
        try:
            answer(fingerprinter.fingerprint(*page))
        except PageError as error:
            answer(error)
        except Exception:  # with where it was raised, which pickle leaves out
            answer(RuntimeError(traceback.format_exc()))


def _answer(process: subprocess.Popen[bytes], asked: object) -> Any:
    _send(process, asked)
    return pickle.load(process.stdout)  # type: ignore[arg-type]  # it is a pipe, as is stdin


def _send(process: subprocess.Popen[bytes], message: object) -> None:
    pickle.dump(message, process.stdin, pickle.HIGHEST_PROTOCOL)  # type: ignore[arg-type]
    process.stdin.flush()  # type: ignore[union-attr]
