"""Labelled pages in zip files: their digest, their pages, their pairs."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Corpus:
    """A zip of pages with a table of what they are; `path` is the zip's."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    def digest(self) -> str:
        """SHA-256 of the file: floors hold for these very pages."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    def read(self, name: str) -> bytes:
        return _opened(self.path, os.getpid()).read(name)

    def table(self, name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.read(name).decode())))

    def pairs(self) -> list[Pair]:
        return [
            Pair(
                row["page_a"],
                row["page_b"],
                label=int(row["label"]),
                lang=row["lang"],
                jaccard=float(row["jaccard"] or "nan"),
            )
            for row in self.table("pairs.csv")
        ]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two pages of a corpus: label 1 for near-duplicates, or one template; 0 for others."""

    page_a: str
    page_b: str
    label: int
    lang: str  # "en", "zh-cn", "zh-tw", "ja", or "" where it doesn't matter
    jaccard: float  # of their main contents' sets of 5-token shingles; nan where it isn't known


def pages_of(pairs: list[Pair]) -> list[str]:
    return sorted({page for pair in pairs for page in (pair.page_a, pair.page_b)})


@cache
def _opened(path: Path, process_id: int) -> zipfile.ZipFile:
    """The zip, opened once in each process: a forked one would share the parent's place in it."""
    return zipfile.ZipFile(path)
