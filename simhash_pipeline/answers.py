"""A person's answers about pairs of pages, in a sheet (CSV) that the report saves."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from simhash_pipeline.bits import SKETCH_BITS
from simhash_pipeline.errors import PageError, SimhashError
from simhash_pipeline.options import SIMILARITY, Rule, whole
from simhash_pipeline.stores.contract import StoredPage, View
from simhash_pipeline.urls import page_key

ANSWERS = {
    **dict.fromkeys(("copy", "y", "yes", "1"), True),
    **dict.fromkeys(("another page", "n", "no", "0"), False),
    **dict.fromkeys(("don't know", "d", "?"), None),
}
# A spreadsheet takes a cell that begins so for a formula: the report writes a ' before it.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
_BITS = whole(0, SKETCH_BITS, "bits")
# Reasons that only near misses have: drops, too, are by an answer or a sketch.
_OF_NEAR_MISSES = ("fields", "template", "shared notice", "title", "page-specific text")


@dataclass(frozen=True, slots=True)
class SheetLine:
    """A stored page and another one that is near, and whether a person calls it a copy."""

    twins: bool | None  # None if the person doesn't know
    distance: int | None  # None in a sheet that doesn't say, and for a thin page
    sketch_distance: int | None
    twin_url: str
    url: str
    reason: str = ""  # of a drop, or the test that rejected a near miss; "" if it isn't known
    structure_distance: int | None = None
    similarity: float | None = None  # 0-1; None if it isn't known, or wasn't asked for
    fields: tuple[str, ...] = ()  # of the items, that differ


def read_sheet(path: Path) -> dict[tuple[str, str], SheetLine]:
    """The answered lines, by (twin URL, URL); SimhashError names the first bad line."""
    try:
        text = path.read_bytes()
        # PowerShell's > writes UTF-16; a spreadsheet saves semicolons or tabs in some countries,
        # and titles in its own charset, such as GB18030: no letter of any has these marks in it.
        charset = "utf-16" if text[:1] in (b"\xff", b"\xfe") else "utf-8-sig"
        lines = text.decode(charset, "surrogateescape")
        head = re.split("[\r\n]", lines, maxsplit=1)[0]
        mark = next((mark for mark in ";\t" if mark in head), ",")
        sheet = csv.DictReader(io.StringIO(lines, newline=""), delimiter=mark)
        if missing := {"answer", "twin_url", "url"} - set(sheet.fieldnames or ()):
            raise SimhashError(f"{path} is not a CSV sheet of answers: no column {min(missing)!r}")
        return {(line.twin_url, line.url): line for line in _answered(path, sheet)}
    except OSError as error:
        raise SimhashError(f"the answers {path} can't be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SimhashError(f"{path} is not a sheet of answers: {error}") from error


class AnsweredPairs:
    """Which pages a person called copies or other pages, by canonical URLs; see `read_sheet`.

    A dropped page called another page is one next to any page, a near miss next to its twin alone.
    """

    def __init__(self, path: str | None) -> None:
        self._copies: dict[str, list[str]] = {}
        self._others = set[frozenset[str]]()
        self._others_of: dict[str, set[frozenset[str]]] = {}  # those of a dropped page
        for line in () if path is None else read_sheet(Path(path)).values():
            url, other = page_key(line.url), line.twin_url and page_key(line.twin_url)
            if line.twins:
                self._copies.setdefault(url, []).append(other)
                self._copies.setdefault(other, []).append(url)
            elif line.twins is False:
                pair = frozenset((url, other))
                self._others.add(pair)
                if line.reason not in _OF_NEAR_MISSES or not other:
                    self._others_of.setdefault(url, set()).add(pair)
        copies = {frozenset((one, other)) for one, of in self._copies.items() for other in of}
        self._pairs = copies | self._others
        self._named = frozenset(chain.from_iterable(self._pairs))
        self._came = {""}  # the pages named in the sheet that were judged, or are stored

    def copies(self, page: StoredPage, view: View) -> list[StoredPage]:
        """The stored pages of which a person called this one a copy."""
        found = [*filter(None, map(view.page_of, self._copies.get(page.url, ())))]
        self._came |= self._named & {page.url, *(other.url for other in found)}
        return found

    def are_other_pages(self, page: StoredPage, other: StoredPage) -> bool:
        """Whether a person said that they are no copies, or that the page is one of nothing."""
        said = self._others & {frozenset((page.url, other.url))}
        self._came |= self._named & {other.url}
        return bool(said or self._others_of.get(page.url))

    @property
    def counts(self) -> tuple[int, int]:
        """How many answered pairs there are, and of how many both pages came."""
        return len(self._pairs), sum(1 for pair in self._pairs if pair <= self._came)


def _answered(path: Path, sheet: "csv.DictReader[str]") -> Iterator[SheetLine]:
    for row in sheet:
        answer = (row["answer"] or "").strip().lower()
        if not answer:
            continue
        where = f"{path}, line {sheet.line_num}"
        if answer not in ANSWERS:
            raise SimhashError(
                f"{where}: answer is {answer!r}, not copy, another page or don't know"
            )
        if ANSWERS[answer] and not _plain(row["twin_url"]):
            raise SimhashError(f"{where}: a copy needs the URL of the kept page, twin_url")
        if re.search("[\udc80-\udcff]", f"{row['twin_url']}{row['url']}"):
            raise SimhashError(f"{where}: a URL is not in UTF-8; save the sheet as CSV UTF-8")
        try:
            for url in filter(None, (_plain(row["twin_url"]), _plain(row["url"]))):
                page_key(url)
        except PageError as error:
            raise SimhashError(f"{where}: {error}") from error
        yield SheetLine(
            twins=ANSWERS[answer],
            distance=_number(row, "distance", _BITS, where),
            sketch_distance=_number(row, "sketch_distance", _BITS, where),
            twin_url=_plain(row["twin_url"]),
            url=_plain(row["url"]),
            reason=(row.get("reason") or "").strip(),
            structure_distance=_number(row, "structure_distance", _BITS, where),
            similarity=_number(row, "similarity", SIMILARITY, where),
            fields=tuple(filter(None, _plain(row.get("fields")).split(", "))),
        )


def _number(row: dict[str, str], column: str, rule: Rule, where: str) -> Any:
    text = (row.get(column) or "").strip().replace(",", ".")  # 0,97 in a German spreadsheet
    try:
        return rule.read(text) if text else None
    except ValueError as error:
        raise SimhashError(f"{where}: {column} is {text!r}, not {rule.text}") from error


def _plain(cell: str | None) -> str:
    text = (cell or "").strip()
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text
