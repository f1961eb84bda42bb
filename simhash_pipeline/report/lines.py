"""A summary, and a drop, told in lines for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from simhash_pipeline.drop_log import Drop
from simhash_pipeline.printable import BAR, bar, printable
from simhash_pipeline.report.selection import Selection
from simhash_pipeline.report.summary import CLOSEST, RunTally, Summary
from simhash_pipeline.report.swallowing import CAUSES

HOSTS = GROUPS = 10
RUNS = 5
# Distances worth a line each; longer ones only say "quite another template".
_SINGLE_BITS = 8
_WIDE_BITS = ((9, 16), (17, 32), (33, 128))


def drop_lines(drop: Drop) -> str:
    """Two lines: when, which page and how near; and the stored page it is near."""
    return (
        f"{drop.time[:19].replace('T', ' ')}  {printable(drop.url)}\n"
        f"{'':13}twin of  {printable(drop.twin_url or 'no page')}  ({nearness(drop)})"
    )


def nearness(drop: Drop, limits: Mapping[str, Any] | None = None) -> str:
    """The reason, or the bits that differ: "content 3, structure 9, sketch 7".

    With the settings' limits, those too: "content 3 of 3, structure 9, sketch 7 of 18".
    """
    if drop.reason in ("thin", "unchanged"):
        return drop.reason
    by_content, by_structure = "content" in drop.reason, "structure" in drop.reason
    told = []
    for name, bits, setting, counts in (
        ("content", drop.content_distance, "content_distance", by_content),
        ("structure", drop.structure_distance, "structure_distance", by_structure),
        ("sketch", drop.sketch_distance, "verify_distance", by_content),
    ):
        limit = (limits or {}).get(setting) if counts else None
        if bits is not None:
            told.append(f"{name} {bits}" if limit is None else f"{name} {bits} of {limit}")
    if drop.own_likeness is not None:
        told.append(f"own text {drop.own_likeness:.0%}")
    return ", ".join(told)


def summary_lines(summary: Summary) -> Iterator[str]:
    """All that `scrapy simhash dropped` prints."""
    if not summary.drops:
        yield "no drops" if summary.selection == Selection() else "no drops that match"
        return
    yield _headline(summary)
    yield from _swallowing(summary)
    yield from _counts("Reason", summary.reasons.most_common(), summary.drops)
    hosts = [(host or "none", tally.drops) for host, tally in summary.hosts.top(HOSTS)]
    yield from _counts("Host", hosts, summary.drops)
    yield from _more(len(summary.hosts) - HOSTS, "hosts")
    yield from _histograms(summary)
    yield from _groups(summary)
    yield from _closest(summary)
    yield from _runs(summary)


def _headline(summary: Summary) -> str:
    period = f"{_minute(summary.first)} to {_minute(summary.last)} UTC"
    dry = f" ({summary.dry:,} by a dry run: their items were kept)" if summary.dry else ""
    kept = f", {summary.kept.total():,} kept" if summary.kept_known else ""
    return f"{summary.drops:,} dropped{dry}{kept}, {period}"


def _swallowing(summary: Summary) -> Iterator[str]:
    pages = summary.swallowing.worst()
    if not pages:
        return
    yield f"\nLook at this first. {CAUSES}"
    dry_run = summary.dry == summary.drops
    yield from (f"  {printable(page.sentence(dry_run=dry_run))}" for page in pages[:GROUPS])
    yield from _more(len(pages) - GROUPS, "such pages")


def _counts(heading: str, counts: list[tuple[str, int]], total: int) -> Iterator[str]:
    width = max(len(name) for name, _ in counts)
    yield f"\n{heading}"
    for name, count in counts:
        yield f"  {printable(name):{width}}  {count:>9,}  {bar(count, total)}"


def _histograms(summary: Summary) -> Iterator[str]:
    content, structure = _binned(summary.content), _binned(summary.structure)
    most = max([*content, *structure, 1])
    yield f"\n{'Bits apart':<11}{'content':>11}{'':{BAR + 2}}{'structure':>11}"
    for name, here, there in zip(_bin_names(), content, structure, strict=True):
        if here or there:
            left = f"{here:>9,}  {bar(here, most):{BAR}}"
            yield f"  {name:>9}  {left}  {there:>9,}  {bar(there, most)}".rstrip()


def _binned(counts: Counter[int]) -> list[int]:
    single = [counts[bits] for bits in range(_SINGLE_BITS + 1)]
    return single + [sum(counts[bits] for bits in range(a, b + 1)) for a, b in _WIDE_BITS]


def _bin_names() -> list[str]:
    single = [str(bits) for bits in range(_SINGLE_BITS + 1)]
    return single + [f"{a}-{b}" for a, b in _WIDE_BITS[:-1]] + [f"{_WIDE_BITS[-1][0]} or more"]


def _groups(summary: Summary) -> Iterator[str]:
    groups = summary.groups
    if not len(groups):
        return
    yield "\nMost dropped in favour of one page"
    for url, tally in groups.top(GROUPS):
        yield f"  {tally.drops:>9,}  {printable(url)}"
        yield f"{'':13}as {printable(tally.example)}{_span(tally.nearest, tally.farthest)}"
    yield from _more(len(groups) - GROUPS, "pages")
    if groups.lacking:
        yield f"  (too many pages to count each: these may lack up to {groups.lacking:,} drops)"


def _span(nearest: int | None, farthest: int | None) -> str:
    if nearest is None:
        return ""
    return f"  (content {nearest})" if nearest == farthest else f"  (content {nearest}-{farthest})"


def _closest(summary: Summary) -> Iterator[str]:
    closest = summary.closest()
    if not closest:
        return
    yield f"\nNearest the threshold, so likeliest to be wrong (at most {CLOSEST})"
    for drop in closest:
        yield f"  {printable(drop.url)}"
        yield f"    ≈ {printable(drop.twin_url or '')}  ({nearness(drop, limits=drop.thresholds)})"


def _runs(summary: Summary) -> Iterator[str]:
    if summary.runs_seen < 2:
        return
    yield "\nRun       spider      began (UTC)           kept    dropped"
    for tally in list(summary.runs.values())[-RUNS:]:
        kept = _kept(tally) if summary.selection.whole_runs else ""
        yield (
            f"{printable(tally.run[:8]):8}  {printable(tally.spider):10}  {_minute(tally.first)}"
            f"  {kept:>8}  {tally.drops:>9,}"
        )
    yield from _more(summary.runs_seen - RUNS, "earlier runs")


def _kept(tally: RunTally) -> str:
    return "unknown" if tally.closing is None else f"{sum(tally.closing.kept.values()):,}"


def _more(count: int, what: str) -> Iterator[str]:
    if count > 0:
        yield f"  and {count:,} more {what}"


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")
