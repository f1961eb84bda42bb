"""Archives of past crawls: their records, and the protocol of their readers."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from simhash_pipeline.page.source import Source
from simhash_pipeline.stores.contract import StoredPage

# Which of several twins is kept, and the order of judging in SQL: the first one is.
KEEP = {
    "first": ("the first of them in the inputs", "position"),
    "earliest": ("the one fetched first", "time IS NULL, time, position"),
    "longest": ("the one with the longest text", "text_chars DESC NULLS LAST, position"),
    "shortest-url": ("the one with the shortest URL", "length(url), position"),
    "canonical": (
        "the one whose canonical link names itself",
        "NOT coalesce(is_canonical, FALSE), position",
    ),
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was saved."""

    source: Source
    time: float | None = None  # Unix seconds: when it was fetched


@dataclass(frozen=True, slots=True)
class Fault:
    """A record that can't be read; the next ones are."""

    kind: str  # one word to count it by
    message: str
    place: str  # "line 17", "byte 4,096"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that isn't meant to be a page."""

    kind: str  # "image/png", "revisit"


Record: TypeAlias = Page | StoredPage | Fault | Skipped  # with fingerprints, from a store


class Input(Protocol):
    """An archive, which yields the same records in the same order each time it is read.

    The number of a record is its place among all of them, from 1.
    Its methods raise ArchiveError if nothing in it can be read.
    """

    @property
    def unit(self) -> str:
        """The unit of progress: "B" or "pages"."""

    def total(self) -> int:
        """The size of the archive in that unit."""

    def read(self) -> Iterator[tuple[Record, int]]:
        """The records, each with how much of the total is read so far."""

    def copy(self, to: Path, without: Container[int]) -> None:
        """Copy the archive except the records of these numbers to a new file or folder."""


def begin_worker() -> None:
    """Ctrl-C stops the main process only; when that ends, be it by a kill, so does the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    leave_numpy_out()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def leave_numpy_out() -> None:
    """Have pyarrow do without numpy and pandas, if these aren't there: 10 and 57 MB, half a second.

    It asks for numpy when it is imported, and once for pandas.
    """
    hidden = dict.fromkeys({"numpy", "pandas"} - sys.modules.keys())
    sys.modules.update(hidden)  # type: ignore[arg-type]  # as Python has what is not there
    with suppress(Exception):
        import pyarrow as pa

        pa.array([])
    for name in hidden:
        del sys.modules[name]


def is_scrapys_script() -> bool:
    """Whether the program is bin/scrapy, scrapy.exe/__main__.py or scrapy/__main__.py."""
    path = Path(getattr(sys.modules["__main__"], "__file__", None) or "")  # none in a notebook
    return (path.parent if path.stem == "__main__" else path).stem == "scrapy"
