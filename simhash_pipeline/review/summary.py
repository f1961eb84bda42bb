"""Totals and runs of a drop log, read once in bounded memory, and what makes drops suspicious.

A single drop is doubtful by its own line. A difference of titles that many drops of a run have
("LLVM 14", "LLVM 15") is no doubt, and of each kind of doubt only some drops are to be checked.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

from simhash_pipeline.bits import MAX_DISTANCE_BITS
from simhash_pipeline.drop_log import Drop, DropMagnet, DropMagnets, Run, host_of, unix_seconds
from simhash_pipeline.page.titles import TITLE_CHARS, words_of
from simhash_pipeline.urls import is_one_visit
from simhash_pipeline.verdict import Verdict

MAX_RUNS = 200  # the latest, listed one by one
MAX_NEAR_MISSES = 10_000  # the latest, listed: some 15 MB
MAX_LISTED = 100_000  # the latest drops, looked at one by one
CLOSEST = 10
# Of the visible text. In crawls of manuals, boxes that stood for a page's main text were below it.
SMALL_MAIN_SHARE = 0.2
LITTLE_SIMILARITY = 0.7  # the least that the judge accepts is 0.85, or 0.5 in two templates
ALMOST_ALIKE = 0.75  # of the page-specific texts of near misses: the judge asks for 0.85
COMMON_WORDS = 0.5  # of the shorter title's; with fewer, titles differ
MANY = 20  # drops of a run
MAGNET = "many drops of one page"
NOTHING_COUNTS = "all that they share is repeated text or outside the main text"
# By the reason of a drop: whose distances decided.
DECIDING = {
    "content": ("content", "sketch"),
    "sketch": ("sketch",),
    "structure": ("structure",),
    "content and structure": ("content", "structure", "sketch"),
}
# By the test that rejected a near miss: what it says, and the bits that it measures.
_REJECTIONS = {
    "answer": ("a person called it another page", ""),
    "fields": ("fields of the items differ", ""),
    "template": ("structures differ", "structure_distance"),
    "sketch": ("sketches differ", "sketch_distance"),
    "shared notice": ("the shared text is of neither page", ""),
    "title": ("titles or codes tell them apart", ""),
    "page-specific text": ("page-specific texts differ", ""),
}
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


@dataclass(slots=True)
class RunTally:
    """What the log holds of one crawl."""

    run: str
    spider: str
    first: str  # time of its first drop, or when it started
    last: str
    drops: int = 0
    closing: Run | None = None  # its last line; None if it was killed or still runs
    settings: dict[str, Any] = field(default_factory=dict)


class Summary:
    """Counts the lines of a log, or of the runs whose id begins with `run`, and of a spider."""

    def __init__(self, run: str | None = None, spider: str | None = None) -> None:
        self.selection = {"run": run, "spider": spider}
        self.drops = 0
        self.dry = 0  # of these, how many items a dry run kept all the same
        self.unchanged = 0  # pages dropped as unchanged, which have no lines
        self.listed: deque[Drop] = deque(maxlen=MAX_LISTED)
        self.near_misses: deque[Drop] = deque(maxlen=MAX_NEAR_MISSES)
        self.first = self.last = ""
        self.reasons: Counter[str] = Counter()
        self.magnets = DropMagnets()
        self.runs: dict[str, RunTally] = {}  # the latest, in the order they began
        self.runs_seen = self.runs_closed = 0
        self.kept: Counter[str] = Counter()  # by reason, in runs that were closed
        self.errors: Counter[str] = Counter()

    def take(self, records: Iterable[Drop | Run]) -> None:
        """Count the records that are selected."""
        for record in records:
            if not self.picks(record):
                continue
            if isinstance(record, Run):
                self._add_run(record)
            elif record.record is not None:
                self.near_misses.extend([record] if record.is_near_miss else [])
                self._tally(record, record.time)
            else:
                self._add(record)

    def picks(self, record: Drop | Run) -> bool:
        run, spider = self.selection.values()
        return record.run.startswith(run or "") and spider in (None, record.spider)

    @cached_property
    def _doubts(self) -> list[list[Doubt]]:
        return all_doubts(self.listed, self.magnets.worst())

    def closest(self) -> list[tuple[Drop, list[Doubt]]]:
        """The listed pairs that are likeliest to be wrong, each once, and why."""
        pairs: dict[tuple[str, str | None], tuple[Drop, list[Doubt]]] = {}
        for drop, found in zip(self.listed, self._doubts, strict=True):
            if found or not _is_sure(drop):
                pairs.setdefault((drop.url, drop.twin_url), (drop, found))
        return sorted(pairs.values(), key=lambda pair: rank(*pair))[:CLOSEST]

    @property
    def to_check(self) -> int:
        """Listed drops that a person should look at."""
        return len(to_check(list(self.listed), self._doubts))

    @property
    def kept_near(self) -> int:
        """Pages that were kept although a stored page is near; those with a line, if unclosed."""
        logged = len(self.near_misses)
        return max(self.kept["near miss"], logged) if self.kept_known else logged

    @property
    def kept_to_check(self) -> int:
        near = list(self.near_misses)
        return len(to_check(near, [()] * len(near)))

    @property
    def pages(self) -> int | None:
        """Pages that the crawls saw, unjudged ones too; None if what was kept isn't known."""
        seen = self.drops + self.unchanged + self.kept.total() + self.errors.total()
        return seen if self.kept_known else None

    @property
    def kept_known(self) -> bool:
        """Whether the log has the number of pages kept in the runs of the selected drops."""
        return 0 < self.runs_seen == self.runs_closed

    def _add(self, drop: Drop) -> None:
        unix_seconds(drop.time)  # refuses what is no time
        self.drops += 1
        self.dry += drop.dry_run
        self.first = min(self.first, drop.time) if self.first else drop.time
        self.last = max(self.last, drop.time)
        self.reasons[drop.reason] += 1
        self.magnets.add(drop.url, drop.twin_url, drop.run)
        self.listed.append(replace(drop, rows={}) if drop.rows else drop)
        tally = self._tally(drop, drop.time)
        tally.drops += 1
        tally.last = drop.time
        tally.settings = drop.thresholds

    def _add_run(self, run: Run) -> None:
        tally = self._tally(run, run.started)
        tally.first, tally.last = run.started, run.ended
        tally.closing, tally.settings = run, run.options
        self.runs_closed += 1
        self.kept.update(run.kept)
        self.unchanged += run.dropped.get("unchanged", 0)
        self.errors.update(run.errors)

    def _tally(self, record: Drop | Run, time: str) -> RunTally:
        """That of the record's run, which begins at this time if it is new."""
        if record.run not in self.runs:
            if len(self.runs) >= MAX_RUNS:
                del self.runs[next(iter(self.runs))]
            self.runs_seen += 1
            self.runs[record.run] = RunTally(record.run, record.spider, first=time, last=time)
        return self.runs[record.run]


def _is_sure(drop: Drop) -> bool:
    """Whether no threshold decided, or both pages have the same words."""
    same_words = drop.content_distance == 0 and not drop.sketch_distance
    left = bits_left(drop)
    return left is None or left[0] == 128 or (same_words and drop.reason != "structure")


# The words that stand in one of two titles only, of each title.
TitleChange: TypeAlias = tuple[frozenset[str], frozenset[str]]


def all_doubts(drops: Sequence[Drop], magnets: Iterable[DropMagnet]) -> list[list[Doubt]]:
    """Why each drop may be wrong, the weightiest reason first; what rejected each near miss.

    Of what many drops of a run share nothing is said; empty if nothing else is odd about a drop.
    """
    changes = [title_change(drop) for drop in drops]
    shared = Counter(
        (drop.run, change)
        for drop, change in zip(drops, changes, strict=True)
        if not drop.is_near_miss
    )
    pages = {(page.host, page.twin_url): page for page in magnets}

    def of(drop: Drop, change: TitleChange | None) -> list[Doubt]:
        if drop.is_near_miss:
            return [why_rejected(drop.reason, drop, drop.thresholds)]
        rare = change if shared[drop.run, change] < MANY else None
        return [*_doubts(drop, rare, pages.get((host_of(drop.url), drop.twin_url or "")))]

    return list(map(of, drops, changes))


def to_check(drops: Sequence[Drop], found: Sequence[Sequence[Doubt]]) -> set[int]:
    """The places of the drops and near misses that a person should look at.

    At most MANY of a run and a kind, as near misses, the likeliest wrong; one of a drop magnet.
    """
    alike: dict[tuple[str, ...], list[int]] = {}  # by kind and run, or drop magnet
    for place, (drop, each) in enumerate(zip(drops, found, strict=True)):
        kinds = [doubt.kind for doubt in each[:1]]
        if drop.is_near_miss:
            kinds = ["near miss"] * _is_likely_copy(drop)
        for kind in kinds:
            page = (host_of(drop.url), drop.twin_url or "") if kind == MAGNET else ()
            alike.setdefault((kind, drop.run, *page), []).append(place)
    chosen = set[int]()
    for (kind, *_), places in alike.items():
        places.sort(key=lambda place: rank(drops[place], found[place]))
        chosen.update(places[: 1 if kind == MAGNET else MANY])
    return chosen


def rank(drop: Drop, found: Iterable[Doubt] = ()) -> tuple[int, tuple[float, ...]]:
    """Sorts drops: the most suspicious first, then the nearest to the thresholds.

    Then near misses, the likeliest copies first: those to check, pages in other templates, as a
    shop's variants have one; equal main texts, equal titles, high similarity.
    """
    if drop.is_near_miss:
        is_likely, apart = _is_likely_copy(drop), drop.content_distance
        in_one_template = (drop.structure_distance or 0) <= MAX_DISTANCE_BITS
        nearness = bool(apart), not _have_one_title(drop), -(drop.similarity or 0)
        return 1, (not is_likely, in_one_template, *nearness, drop.sketch_distance or 0)
    return -sum(doubt.weight for doubt in found), bits_left(drop) or (128, 128)


def why_rejected(rejected_by: str, near: Drop | Verdict, limits: Mapping[str, Any]) -> Doubt:
    """The test that rejected a near miss, and what it measured; `limits` are thresholds by name."""
    kind, measure = _REJECTIONS.get(rejected_by, (rejected_by, ""))
    detail = ""
    if rejected_by == "fields":
        detail = ", ".join(near.fields if isinstance(near, Drop) else near.differing_fields)
    elif rejected_by == "page-specific text":
        detail = _alike(near.similarity, limits.get("min_similarity"))
    elif measure and (bits := getattr(near, measure)) is not None:
        detail = f"{bits} of at most {limits.get(measure)} bits"
    elif rejected_by == "template":
        kind = "too few elements to compare"
    return Doubt(kind, detail, 0)


def _alike(share: float | None, limit: object) -> str:
    """With as many digits as it takes to tell both apart, two at most."""
    if share is None:
        return "hardly any can be compared"
    if not share:  # no equal window counts, see sample_similarity
        return NOTHING_COUNTS
    if not isinstance(limit, float):
        return f"alike by {share:.0%}"
    texts = [(f"{share:.{n}%}", f"{limit:.{n}%}") for n in range(3)]
    alike, least = next((pair for pair in texts if pair[0] != pair[1]), texts[-1])
    return f"alike by {alike} of at least {least}"


def _have_one_title(near: Drop) -> bool:
    return near.title[:TITLE_CHARS] == near.twin_title  # the store keeps as much


def _is_likely_copy(near: Drop) -> bool:
    """Whether their addresses differ in tracking alone, or their texts hardly."""
    is_same = not near.content_distance and _have_one_title(near)
    is_alike = is_same or (near.similarity or 0) >= ALMOST_ALIKE
    return is_one_visit(near.url, near.twin_url or "") or (near.reason != "fields" and is_alike)


def _doubts(drop: Drop, change: TitleChange | None, magnet: DropMagnet | None) -> Iterator[Doubt]:
    if magnet is not None:
        yield Doubt(MAGNET, f"{magnet.dropped:,} pages of this host were dropped for it", 4)
    if change is not None:
        yield Doubt("titles differ", "", 3)
    if languages := _other_languages(drop.url, drop.twin_url or ""):
        yield Doubt("other language", f"{languages[0]} and {languages[1]} in the addresses", 3)
    near = [
        f"{name} {bits} of {limit} bits"
        for name, bits, limit in measures(drop)
        if bits and limit is not None and bits >= limit
    ]
    if near:
        yield Doubt("at the threshold", ", ".join(near), 2)
    if drop.main_share is not None and drop.main_share < SMALL_MAIN_SHARE:
        share = f"{drop.main_share:.0%} of what the page shows"
        yield Doubt("main text is a small part of the page", share, 2)
    is_by_item = drop.rows or drop.reason == "item"  # whatever surrounds the text
    if drop.similarity is not None and drop.similarity < LITTLE_SIMILARITY and not is_by_item:
        yield Doubt("page-specific texts differ", _alike(drop.similarity, None), 1)
    if drop.reason == "thin":
        yield Doubt("thin", f"{drop.tokens} words, judged by title and text alone", 1)


def title_change(drop: Drop) -> TitleChange | None:
    """None unless titles share few words or differ in a number: chapter 3 is not chapter 4."""
    words = frozenset(words_of(drop.title[:TITLE_CHARS]))
    others = frozenset(words_of(drop.twin_title[:TITLE_CHARS]))
    if not words or not others or words == others:
        return None
    change = words - others, others - words
    if all(any(word[:1].isdigit() for word in side) for side in change):
        return change
    return change if len(words & others) < COMMON_WORDS * min(len(words), len(others)) else None


def _other_languages(url: str, other: str) -> tuple[str, str] | None:
    """Codes of languages that stand in one place of two URLs, and differ."""
    for part, its in zip(_PART.split(url), _PART.split(other), strict=False):
        codes = [found[1].lower() for each in (part, its) if (found := _CODE.fullmatch(each))]
        if len(codes) == 2 and codes[0] != codes[1]:
            return codes[0], codes[1]
    return None


def bits_left(drop: Drop) -> tuple[int, int] | None:
    """Bits between the drop and the thresholds, of the fingerprints and of the sketches.

    128, more than any, where one is unknown. None if no threshold decided, as for a thin page.
    """
    if drop.reason not in DECIDING:
        return None
    content, structure, sketch = (
        128 if bits is None or limit is None else limit - bits for _, bits, limit in measures(drop)
    )
    return sketch if drop.reason == "sketch" else min(content, structure), sketch


def measures(drop: Drop) -> Iterator[tuple[str, int | None, int | None]]:
    """Each fingerprint's name, distance in bits and limit; None for a limit that didn't decide."""
    for name in ("content", "structure", "sketch"):
        limit = drop.thresholds.get(f"{name}_distance")
        decided = name in DECIDING.get(drop.reason, ()) and isinstance(limit, int)
        yield name, getattr(drop, f"{name}_distance"), limit if decided else None
