"""A process of its own for a crawl or a command, forked from one that has imported Scrapy.

It has a reactor, signals, output and an exit code of its own. A new Python takes half a second to
import Scrapy; a test of how it starts needs one. Other systems than Linux begin one each time: a
fork of what has used their libraries may crash.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Connection
from threading import Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TIMEOUT_SECS = 300
if sys.platform == "win32":
    PROCESSES = multiprocessing.get_context("spawn")
else:
    PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    ["pytest", "scrapy.cmdline", "tests.crawl.crawling", "tests.stores.twins"]
)


def run_forked(
    directory: Path, call: Callable[[], object], **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """What the call, which can be pickled, writes and ends with; warnings are errors."""
    if sys.platform != "linux":
        return _in_a_new_python(directory, call, environment)
    (output, to_output), (log, to_log) = (PROCESSES.Pipe(duplex=False) for _ in range(2))
    process = PROCESSES.Process(
        target=_run, args=(directory, call, os.environ | environment, to_output, to_log)
    )
    process.start()
    to_output.close()
    to_log.close()
    timer = Timer(TIMEOUT_SECS, process.kill)
    timer.start()
    with ThreadPoolExecutor() as readers, output, log:
        written = list(readers.map(_read, (output, log)))
    process.join()
    timer.cancel()
    assert process.exitcode is not None
    return subprocess.CompletedProcess([], process.exitcode, *written)


def _in_a_new_python(
    directory: Path, call: Callable[[], object], environment: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    code = "import pickle, sys; pickle.load(sys.stdin.buffer)()"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment},
        input=pickle.dumps(call),
        capture_output=True,
        timeout=TIMEOUT_SECS,
        check=False,
    )


def scrapy_forked(
    directory: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`python -W error -m scrapy <arguments>` in a directory."""
    done = run_forked(directory, partial(_scrapy, arguments), **environment)
    output, log = (each.decode().replace(os.linesep, "\n") for each in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(arguments, done.returncode, output, log)


def _read(pipe: Connection) -> bytes:
    with open(pipe.fileno(), "rb", closefd=False) as file:
        return file.read()


def _run(
    directory: Path,
    call: Callable[[], object],
    environment: dict[str, str],
    *outputs: Connection,
) -> None:
    for number, output in enumerate(outputs, 1):
        os.dup2(output.fileno(), number)
        output.close()
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", 1, errors="backslashreplace")
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    sys.path.insert(0, str(directory))
    warnings.simplefilter("error")
    call()


def _scrapy(arguments: tuple[str, ...]) -> None:
    from scrapy.cmdline import execute

    execute(["scrapy", *arguments])
