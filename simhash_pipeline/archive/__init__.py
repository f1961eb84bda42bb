"""Archives of past crawls: their records, the protocol of their readers, and which twin is kept."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from simhash_pipeline.page.source import Source

INPUTS = (
    "a WARC or WET file (.warc, .wet, also .gz), a feed (.jsonl, .jl, .json, .csv, also .gz), a "
    "Parquet file, or a folder of HTML files"
)
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


Record: TypeAlias = Page | Fault | Skipped


class Input(Protocol):
    """An archive, which yields the same records in the same order each time it is read.

    The number of a record is its place among all of them, from 1.
    Its methods raise ArchiveError if nothing in it can be read.
    """

    def read(self) -> Iterator[tuple[Record, float]]:
        """The records, each with how much of the archive is read so far, 0-1."""

    def copy(self, to: Path, without: Container[int]) -> None:
        """Copy the archive except the records of these numbers to a new file or folder."""
