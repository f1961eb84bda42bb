"""A person's answers about pairs of pages, in a sheet (CSV) that the report saves."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from simhash_pipeline.bits import SKETCH_BITS
from simhash_pipeline.errors import SimhashError
from simhash_pipeline.stores.contract import StoredPage, View
from simhash_pipeline.urls import page_key

ANSWERS = {
    **dict.fromkeys(("copy", "y", "yes", "1"), True),
    **dict.fromkeys(("another page", "n", "no", "0"), False),
    **dict.fromkeys(("don't know", "d", "?"), None),
}
# A spreadsheet takes a cell that begins so for a formula: the report writes a ' before it.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


_Bits = Annotated[int, Meta(ge=0, le=SKETCH_BITS)] | None


@dataclass(frozen=True, slots=True)
class SheetLine:
    """A stored page and another one that is near, and whether a person calls it a copy."""

    twins: bool | None  # None if the person doesn't know
    distance: _Bits  # None in a sheet that doesn't say, and for a thin page
    sketch_distance: _Bits
    twin_url: str
    url: str
    reason: str = ""  # of a drop, or the test that rejected a near miss; "" if it isn't known
    structure_distance: _Bits = None
    similarity: Annotated[float, Meta(ge=0, le=1)] | None = None  # None if it wasn't asked for
    fields: tuple[str, ...] = ()  # of the items, that differ


def read_sheet(path: Path) -> dict[tuple[str, str], SheetLine]:
    """The answered lines, by (twin URL, URL); SimhashError names the first bad line."""
    try:
        text = path.read_bytes()
        # PowerShell's > writes UTF-16; a spreadsheet saves semicolons or tabs in some countries.
        lines = text.decode("utf-16" if text[:1] in (b"\xff", b"\xfe") else "utf-8-sig")
        mark = next((mark for mark in ";\t" if mark in lines.partition("\n")[0]), ",")
        sheet = csv.DictReader(io.StringIO(lines, newline=""), delimiter=mark)
        missing = {"answer", "twin_url", "url"} - set(sheet.fieldnames or ())
        if missing:
            raise SimhashError(f"{path} is not a sheet of answers: no column {min(missing)!r}")
        return {(line.twin_url, line.url): line for line in _answered(path, sheet)}
    except OSError as error:
        raise SimhashError(f"{path} can't be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SimhashError(f"{path} is not a sheet of answers: {error}") from error


class AnsweredPairs:
    """Which pages a person called copies or other pages, by canonical URLs; see `read_sheet`."""

    def __init__(self, path: str | None) -> None:
        self._copies: dict[str, list[str]] = {}
        self._others, self._met = set[frozenset[str]](), set[frozenset[str]]()
        for line in () if path is None else read_sheet(Path(path)).values():
            url, other = page_key(line.url), page_key(line.twin_url)
            if line.twins:
                self._copies.setdefault(url, []).append(other)
                self._copies.setdefault(other, []).append(url)
            elif line.twins is False:
                self._others.add(frozenset((url, other)))

    def copies(self, page: StoredPage, view: View) -> list[StoredPage]:
        """The stored pages of which a person called this one a copy."""
        found = [*filter(None, map(view.page_of, self._copies.get(page.url, ())))]
        self._met.update(frozenset((page.url, other.url)) for other in found)
        return found

    def are_other_pages(self, page: StoredPage, other: StoredPage) -> bool:
        """Whether a person said that they are no copies."""
        if not self._others or (pair := frozenset((page.url, other.url))) not in self._others:
            return False
        self._met.add(pair)
        return True

    @property
    def counts(self) -> tuple[int, int]:
        """How many answered pairs there are, and of how many both pages came."""
        copies = {frozenset((one, other)) for one in self._copies for other in self._copies[one]}
        return len(copies | self._others), len(self._met)


def _answered(path: Path, sheet: csv.DictReader[str]) -> Iterator[SheetLine]:
    for row in sheet:
        cells = {name: text for name, cell in row.items() if (text := _plain(cell))}
        answer = cells.get("answer", "").lower()
        if not answer:
            continue
        where = f"{path}, line {sheet.line_num}"
        if answer not in ANSWERS:
            raise SimhashError(
                f"{where}: answer is {answer!r}, not copy, another page or don't know"
            )
        read = {"distance": None, "sketch_distance": None, **cells, "twins": ANSWERS[answer]}
        try:
            yield msgspec.convert(
                read | {"fields": cells["fields"].split(", ") if "fields" in cells else ()},
                SheetLine,
                strict=False,
            )
        except msgspec.ValidationError as error:
            raise SimhashError(f"{where}: {error}") from error


def _plain(cell: object) -> str:
    text = cell.strip() if isinstance(cell, str) else ""  # a row may have too few cells, or more
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text
