"""Totals and runs of a drop log, read once, in bounded memory."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from simhash_pipeline.drop_log import Drop, DropMagnets, Run, Timeline, unix_seconds
from simhash_pipeline.review.doubts import Doubt, all_doubts, bits_left, rank, to_check

MAX_RUNS = 200  # the latest, listed one by one
MAX_NEAR_MISSES = 10_000  # the latest, listed: some 15 MB
MAX_LISTED = 100_000  # the latest drops, looked at one by one
CLOSEST = 10


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
    timeline: Timeline = field(default_factory=Timeline)  # of its drops alone

    @property
    def kept(self) -> int | None:
        """How many pages the run kept; None if it has no closing line."""
        return None if self.closing is None else sum(self.closing.kept.values())


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
        self.other_runs: set[str] = set()  # that are not selected; at most MAX_RUNS
        self.kept: Counter[str] = Counter()  # by reason, in runs that were closed
        self.errors: Counter[str] = Counter()

    def take(self, records: Iterable[Drop | Run]) -> None:
        """Count the records that are selected."""
        for record in records:
            if not self.picks(record):
                if len(self.other_runs) < MAX_RUNS:
                    self.other_runs.add(record.run)
            elif isinstance(record, Run):
                self._add_run(record)
            elif record.is_near_miss:
                self.near_misses.append(record)
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
        self.drops += 1
        self.dry += drop.dry_run
        self.first = min(self.first, drop.time) if self.first else drop.time
        self.last = max(self.last, drop.time)
        self.reasons[drop.reason] += 1
        self.magnets.add(drop.url, drop.twin_url, drop.run)
        self.listed.append(drop)
        tally = self._tally(drop, drop.time)
        tally.drops += 1
        tally.last = drop.time
        tally.settings = drop.thresholds
        tally.timeline.add(unix_seconds(drop.time), kept=False)

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
