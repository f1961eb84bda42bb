"""Worker processes that the jobs of many tests share: each new one imports for a second."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class SharedPool(ProcessPoolExecutor):
    """A pool that outlives the job: a job's shutdown waits for nothing, as its parts are done.

    What it does, it does in the directory of whoever asks.
    """

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        return super().submit(_inside, Path.cwd(), function, *arguments, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing is shut down."""

    def close(self) -> None:
        super().shutdown()


def _inside(directory: Path, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    os.chdir(directory)
    return function(*arguments, **named)


@pytest.fixture(scope="session")
def worker_pool() -> Iterator[SharedPool]:
    """One worker, not forked, as those of a job."""
    pool = SharedPool(1, multiprocessing.get_context("spawn"))
    yield pool
    pool.close()


@pytest.fixture
def shared_workers(worker_pool: SharedPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the jobs of a test run on the shared pool instead of one of their own."""
    monkeypatch.setattr(
        "simhash_pipeline.archive.parts.ProcessPoolExecutor", lambda *_, **__: worker_pool
    )
