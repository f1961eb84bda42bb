"""What makes a drop suspicious, in words: a person should look at it before others.

What many drops of a run share says little about one of them. So a difference of titles that many
share ("LLVM 14", "LLVM 15") is no doubt, and of each kind of doubt only some drops are to be
checked.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from simhash_pipeline.page.segment import WORD_OR_CHARACTER, nfkc

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from simhash_pipeline.drop_log import Drop

# Of the visible text. In crawls of manuals, boxes that stood for a page's main text were below it.
SMALL_MAIN_SHARE = 0.2
LITTLE_OWN_LIKENESS = 0.7  # the least that the judge accepts is 0.85, or 0.5 in two templates
COMMON_WORDS = 0.5  # of the shorter title's; with fewer, titles differ
MANY = 20  # drops of a run
_MAX_CHANGES = 10_000  # of titles, that are counted one by one; of more each counts as rare
_TITLES_DIFFER = "titles differ"
SWALLOWED = "swallowed by one page"
_PART = re.compile(r"[/.?&=]")
# The languages that most pages are in, as sites put them into their addresses: en, en-GB.
_CODE = re.compile(
    "(ar|bg|bn|ca|cs|da|de|el|en|es|fa|fi|fr|he|hi|hu|id|it|ja|ko|nl|no|pl|pt|ro|ru|sv|th|tr|uk|vi"
    "|zh)(?:[-_][a-z]{2,4})?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason to look at a drop."""

    kind: str  # the same words for all drops that share the reason
    detail: str  # the figures of this drop; "" without any
    weight: int  # of two drops, that with the greater sum is looked at first

    @property
    def text(self) -> str:
        return f"{self.kind}: {self.detail}" if self.detail else self.kind


# The words that stand in one of two titles only, of each title.
TitleChange: TypeAlias = tuple[frozenset[str], frozenset[str]]


def doubts(drop: Drop, usual: Container[TitleChange] = ()) -> list[Doubt]:
    """Why the drop may be wrong, by its line alone, the weightiest reason first.

    Empty if nothing is odd about it. `usual` are changes of titles that many drops share.
    """
    return [] if drop.reason == "unchanged" else list(_found(drop, usual))


class DoubtCounts:
    """Counts drops by run and doubt, in bounded memory."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, TitleChange | None, str]] = Counter()
        self._changes: Counter[tuple[str, TitleChange]] = Counter()

    def add(self, drop: Drop) -> int:
        """Count the drop; the sum of its doubts' weights, as far as is known by now."""
        change, key = None, (drop.run, title_change(drop))
        if drop.reason != "unchanged" and key[1] is not None:
            change = key[1]
            if key in self._changes or len(self._changes) < _MAX_CHANGES:
                self._changes[drop.run, change] += 1
        found = doubts(drop, self.usual(drop))
        others = [doubt.kind for doubt in found if doubt.kind != _TITLES_DIFFER]
        if found or change is not None:
            self._counts[drop.run, change, others[0] if others else ""] += 1
        return sum(doubt.weight for doubt in found)

    def usual(self, drop: Drop) -> Container[TitleChange]:
        """The drop's own change of titles, if many drops of its run share it."""
        change = title_change(drop)
        return () if change is None or self._changes[drop.run, change] < MANY else (change,)

    @property
    def to_check(self) -> int:
        """How many drops are to be checked: of one kind of doubt at most MANY in a run."""
        kinds: Counter[tuple[str, str]] = Counter()
        for (run, change, kind), count in self._counts.items():
            if change is not None and self._changes[run, change] < MANY:
                kinds[run, _TITLES_DIFFER] += count
            elif kind:
                kinds[run, kind] += count
        return sum(min(count, MANY) for count in kinds.values())


def swallowed(pages: int) -> Doubt:
    """The doubt about one of many pages that were dropped for one stored page."""
    return Doubt(SWALLOWED, f"{pages:,} pages of this host were dropped for it", 4)


def _found(drop: Drop, usual: Container[TitleChange]) -> Iterator[Doubt]:
    change = title_change(drop)
    if change is not None and change not in usual:
        yield Doubt(_TITLES_DIFFER, "", 3)
    if languages := _other_languages(drop.url, drop.twin_url or ""):
        yield Doubt("other language", f"{languages[0]} and {languages[1]} in the addresses", 3)
    if at := _at_threshold(drop):
        yield Doubt("at the threshold", at, 2)
    if drop.main_share is not None and drop.main_share < SMALL_MAIN_SHARE:
        share = f"{drop.main_share:.0%} of what the page shows"
        yield Doubt("main text is a small part of the page", share, 2)
    if drop.own_likeness is not None and drop.own_likeness < LITTLE_OWN_LIKENESS:
        yield Doubt("own texts differ", f"alike by {drop.own_likeness:.0%}", 1)
    if drop.reason == "thin":
        yield Doubt("thin", f"{drop.tokens} words, judged by title and text alone", 1)


def _at_threshold(drop: Drop) -> str:
    """The distances that are as large as may be; "" if none is, or both pages are the same."""
    parts = []
    for name, bits, setting in (
        ("content", drop.content_distance, "content_distance"),
        ("structure", drop.structure_distance, "structure_distance"),
        ("sketch", drop.sketch_distance, "verify_distance"),
    ):
        decides = name in drop.reason or (name == "sketch" and "content" in drop.reason)
        limit = drop.thresholds.get(setting)
        if decides and bits and isinstance(limit, int) and bits >= limit:
            parts.append(f"{name} {bits} of {limit} bits")
    return ", ".join(parts)


def title_change(drop: Drop) -> TitleChange | None:
    """None unless titles share few words or differ in a number: chapter 3 is not chapter 4."""
    words, others = _words(drop.title), _words(drop.twin_title)
    if not words or not others or words == others:
        return None
    change = words - others, others - words
    if all(any(map(str.isdigit, side)) for side in change):
        return change
    return change if len(words & others) < COMMON_WORDS * min(len(words), len(others)) else None


def _words(title: str) -> frozenset[str]:
    return frozenset(nfkc(word[0]).lower() for word in WORD_OR_CHARACTER.finditer(title))


def _other_languages(url: str, other: str) -> tuple[str, str] | None:
    """Codes of languages that stand in one place of two URLs, and differ."""
    for part, its in zip(_PART.split(url), _PART.split(other), strict=False):
        if part == its:
            continue
        codes = [found[1].lower() for each in (part, its) if (found := _CODE.fullmatch(each))]
        if len(codes) == 2 and codes[0] != codes[1]:
            return codes[0], codes[1]
    return None
