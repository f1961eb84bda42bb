"""What a reader takes out of an archive: pages, pages known already, and what it couldn't read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path

    from simhash_pipeline.page.source import Source
    from simhash_pipeline.stores.contract import StoredPage


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was saved. The number is its record's in the input, from 1."""

    number: int
    source: Source
    time: float | None = None  # Unix seconds: when it was fetched


@dataclass(frozen=True, slots=True)
class Known:
    """A page whose fingerprints are known: out of a store, or a file that `store export` wrote."""

    number: int
    page: StoredPage


@dataclass(frozen=True, slots=True)
class Fault:
    """A record that can't be read; reading goes on behind it."""

    number: int
    kind: str  # one word to count it by
    message: str
    place: str  # "line 17", "byte 4,096"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that isn't meant to be a page."""

    number: int
    kind: str  # "image/png", "revisit"


Record: TypeAlias = Page | Known | Fault | Skipped


class Input(Protocol):
    """An archive: read twice it gives the same records in the same order.

    ArchiveError when nothing in it can be read at all.
    """

    @property
    def unit(self) -> str:
        """What progress is counted in: "B" or " pages"."""

    def total(self) -> int:
        """How much there is to read, in that unit."""

    def read(self) -> Iterator[tuple[Record, int]]:
        """The records, each with how much of the total is read by then."""

    def copy(self, to: Path, without: Container[int]) -> None:
        """All of it but the records of these numbers, in a new file or folder."""
