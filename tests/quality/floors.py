"""Floors of quality: pinned with the corpus they were measured on, and lowered only in the open.

floors.json holds, for each corpus, its SHA-256 and the least value of each measure. A floor that
was lowered remembers what it `was`, and the changelog names it (see `changelog_line`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.table import markdown
from tests.quality.rows import Row

FLOORS_FILE = Path(__file__).parent / "floors.json"
CHANGELOG_FILE = Path(__file__).parent.parent.parent / "CHANGELOG.md"
# A new floor leaves room for changes that are better elsewhere: a hundredth or two pairs, whichever
# is more, and is rounded down to .005.
_SLACK = 0.01
_SLACK_PAIRS = 2
_STEPS = 200


@dataclass(frozen=True, slots=True)
class Pin:
    """The least value of one measure; `was` is the higher floor it was lowered from, if any."""

    floor: float
    was: float | None = None


@dataclass(frozen=True, slots=True)
class Floors:
    """Floors of one corpus: they hold for the pages with this digest only."""

    digest: str
    pins: Mapping[str, Pin]


def read_floors(path: Path = FLOORS_FILE) -> dict[str, Floors]:
    """By corpus; none where there is no file yet."""
    if not path.exists():
        return {}
    return {
        corpus: Floors(entry["sha256"], {name: Pin(**pin) for name, pin in entry["floors"].items()})
        for corpus, entry in json.loads(path.read_text(encoding="utf-8")).items()
    }


def write_floors(floors: Mapping[str, Floors], path: Path = FLOORS_FILE) -> None:
    entries = {
        corpus: {
            "sha256": of_corpus.digest,
            "floors": {
                name: {"floor": pin.floor} | ({} if pin.was is None else {"was": pin.was})
                for name, pin in of_corpus.pins.items()
            },
        }
        for corpus, of_corpus in floors.items()
    }
    path.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def pinned(rows: Iterable[Row], digest: str, old: Floors | None, *, lower: bool) -> Floors:
    """Floors for one corpus after a run: raised where it did better, lowered only if told to."""
    known = old.pins if old is not None and old.digest == digest else {}
    return Floors(
        digest,
        {row.name: _pin(row, known.get(row.name), lower) for row in rows if row.goal is not None},
    )


def _pin(row: Row, old: Pin | None, lower: bool) -> Pin:
    assert row.goal is not None
    if math.isnan(row.value):
        return old or Pin(row.goal)
    slack = max(_SLACK, _SLACK_PAIRS / row.count)
    near = _rounded_down(row.value - slack)
    standing = old.floor if old else row.goal
    if row.value < standing and lower:
        return Pin(_rounded_down(row.value), was=standing)
    floor = max(near, standing)
    still_lower = old is not None and old.was is not None and floor < old.was
    return Pin(floor, was=old.was if old and still_lower else None)


def _rounded_down(value: float) -> float:
    return math.floor(round(value * _STEPS, 6)) / _STEPS


def verdict(
    row: Row, floors: Mapping[str, Floors], digests: Mapping[str, str]
) -> tuple[float | None, str]:
    """The floor that holds for a row, and ok or BELOW; "" where nothing is asked of it."""
    if row.goal is None:
        return None, ""
    of_corpus = floors.get(row.corpus)
    if of_corpus is None or of_corpus.digest != digests[row.corpus]:
        return None, "other pages: floors don't apply"
    pin = of_corpus.pins.get(row.name)
    if pin is None:
        return None, "no floor yet"
    return pin.floor, "ok" if row.value >= pin.floor else "BELOW"


def changelog_line(corpus: str, name: str, pin: Pin) -> str:
    """What the changelog must say of a lowered floor."""
    return f"Quality floor lowered: {corpus}, {name}: {pin.was:g} to {pin.floor:g}"


def unexplained(floors: Mapping[str, Floors], changelog: str) -> list[str]:
    """Lines that the changelog lacks."""
    flat = " ".join(changelog.split())
    lines = [
        changelog_line(corpus, name, pin)
        for corpus, of_corpus in floors.items()
        for name, pin in of_corpus.pins.items()
        if pin.was is not None
    ]
    return [line for line in lines if line not in flat]


def table(rows: Sequence[Row], floors: Mapping[str, Floors], digests: Mapping[str, str]) -> str:
    """All rows as Markdown."""
    cells = []
    for row in rows:
        floor, word = verdict(row, floors, digests)
        value = "-" if math.isnan(row.value) else f"{row.value:.3f}"
        told = "" if floor is None else f"{floor:.3f}"
        cells.append([row.corpus, row.measure, row.lang, str(row.count), value, told, word])
    return markdown("pages, measure, language, of>, value>, floor>,", cells)
