"""A summary as one object for JSON: what `summary_lines` tells, for programs."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

from simhash_pipeline.drop_log import Drop
from simhash_pipeline.report.lines import GROUPS, HOSTS, RUNS
from simhash_pipeline.report.summary import RunTally, Summary


def summary_record(summary: Summary, log: str) -> dict[str, Any]:
    """The log's name, then totals and the heaviest of each kind; None for what isn't known."""
    hosts, groups, swallowing = summary.hosts, summary.groups, summary.swallowing.worst()
    return {
        "log": log,
        "dropped": summary.drops,
        "dry_run": summary.dry,
        "kept": summary.kept.total() if summary.kept_known else None,
        "first": summary.first or None,
        "last": summary.last or None,
        "swallowing": list(map(dataclasses.asdict, swallowing[:GROUPS])),
        "more_swallowing": max(len(swallowing) - GROUPS, 0),
        "reasons": dict(summary.reasons.most_common()),
        "hosts": {host: tally.drops for host, tally in hosts.top(HOSTS)},
        "more_hosts": max(len(hosts) - HOSTS, 0),
        "content_distances": _by_bits(summary.content),
        "structure_distances": _by_bits(summary.structure),
        "groups": [
            {
                "twin_url": url,
                "dropped": tally.drops,
                "example": tally.example,
                "nearest": tally.nearest,
                "farthest": tally.farthest,
            }
            for url, tally in groups.top(GROUPS)
        ],
        "more_groups": max(len(groups) - GROUPS, 0),
        "groups_lacking": groups.lacking,
        "closest": list(map(_pair, summary.closest())),
        "runs": list(map(_run, list(summary.runs.values())[-RUNS:])),
        "earlier_runs": max(summary.runs_seen - RUNS, 0),
    }


def _by_bits(counts: Counter[int]) -> dict[str, int]:
    return {str(bits): count for bits, count in sorted(counts.items())}


def _pair(drop: Drop) -> dict[str, Any]:
    return {
        "url": drop.url,
        "twin_url": drop.twin_url,
        "reason": drop.reason,
        "content_distance": drop.content_distance,
        "structure_distance": drop.structure_distance,
        "sketch_distance": drop.sketch_distance,
        "own_likeness": drop.own_likeness,
    }


def _run(tally: RunTally) -> dict[str, Any]:
    closing = tally.closing
    return {
        "run": tally.run,
        "spider": tally.spider,
        "first": tally.first,
        "dropped": tally.drops,
        "kept": None if closing is None else sum(closing.kept.values()),
    }
