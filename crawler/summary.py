"""Prints what a crawl kept and dropped when it ends, for a reader who is new to it."""

from __future__ import annotations

import heapq
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler

from simhash_pipeline import NearDuplicate, Verdict, page_judged

_DROPS_SHOWN = 3
_KEPT = ("changed", "unchanged", "near_misses")


class Summary:
    """A Scrapy extension: collects the clearest drops, prints them with the totals at the end."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._clearest: list[Verdict] = []
        self._near_miss: Verdict | None = None  # the last
        self._pages = self._dropped_pages = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Summary:
        summary = cls(crawler)
        crawler.signals.connect(summary._dropped, signals.item_dropped)
        crawler.signals.connect(summary._judged, page_judged)
        crawler.signals.connect(summary._print, signals.engine_stopped)
        return summary

    def _dropped(self, exception: Exception) -> None:
        if isinstance(exception, NearDuplicate):
            drops = [*self._clearest, exception.verdict]
            self._clearest = heapq.nsmallest(_DROPS_SHOWN, drops, key=_unclearness)

    def _judged(self, verdict: Verdict) -> None:
        if verdict.rejected_by is not None:
            self._near_miss = verdict
        self._pages += 1
        self._dropped_pages += verdict.dropped
        if sys.stderr.isatty():  # the crawl of a real site takes minutes
            counts = f"\r{self._pages:,} pages, {self._dropped_pages:,} dropped"
            print(counts, end="", file=sys.stderr, flush=True)

    def _print(self) -> None:
        name = getattr(self._crawler.spider, "name", "site")
        stats = self._crawler.stats.get_stats()
        if sys.stderr.isatty():
            print(file=sys.stderr)
        print("\n".join(_lines(name, stats, self._clearest, self._near_miss)))


def _unclearness(verdict: Verdict) -> tuple[float, float]:
    """Bits of difference, content before structure; pages without a fingerprint come last."""
    distances = (verdict.content_distance, verdict.structure_distance)
    content, structure = (float("inf") if bits is None else bits for bits in distances)
    return content, structure


def _lines(
    name: str, stats: Mapping[str, Any], clearest: list[Verdict], near_miss: Verdict | None
) -> Iterator[str]:
    kept, dropped = stats.get("simhash/kept", 0), stats.get("simhash/dropped", 0)
    of_kept = {why: n for why in _KEPT if (n := stats.get(f"simhash/{why}"))}
    errors = _by_reason(stats, "simhash/errors/")
    yield ""
    yield f"Pages seen     {kept + dropped + sum(errors.values()):6}"
    yield f"  kept         {kept:6}   {_text(of_kept)}".rstrip()
    yield f"  dropped      {dropped:6}   {_text(_by_reason(stats, 'simhash/dropped/'))}"
    yield f"  kept, errors {sum(errors.values()):6}   {_text(errors)}"
    if not kept + dropped + sum(errors.values()):
        yield "No page came: look for errors above, or give another URL."
    yield f"Thin pages     {stats.get('simhash/thin', 0):6}   little text, compared whole"
    if clearest:
        yield "\nThe clearest drops"
    for verdict in clearest:
        yield f"  {verdict.url}\n    ≈ {verdict.twin_url}   {_distances(verdict)}"
    if near_miss is not None:
        yield "\nKept though near a stored page, for example"
        yield f"  {near_miss.url}\n    ≈ {near_miss.twin_url}   rejected by {_rejection(near_miss)}"
    yield "\nWhere to look next"
    yield f"  what was dropped and why   {stats.get('simhash/drop_log')}"
    of_site = "" if name == "site" else f" SPIDER={name}"
    yield f"  the same, and as a page    make report{of_site}"
    yield f"  what is remembered         {stats.get('simhash/store')}"
    yield f"  the kept pages             output/{name}.jsonl"
    yield "\nIn the settings.py of your own project"
    yield '  ADDONS = {"simhash_pipeline.Addon": 500}'


def _by_reason(stats: Mapping[str, Any], prefix: str) -> dict[str, int]:
    return {k.removeprefix(prefix): n for k, n in sorted(stats.items()) if k.startswith(prefix)}


def _text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{reason.replace('_', ' ')} {count}" for reason, count in counts.items())


def _rejection(verdict: Verdict) -> str:
    fields = ", ".join(verdict.differing_fields)
    return f"{verdict.rejected_by}: {fields}" if fields else str(verdict.rejected_by)


def _distances(verdict: Verdict) -> str:
    if verdict.content_distance is None:
        return "same title and text"
    unit = "bit" if verdict.content_distance == 1 else "bits"
    structure = verdict.structure_distance
    behind = "" if structure is None else f", structure {structure}"
    return f"content {verdict.content_distance} {unit}{behind}"
