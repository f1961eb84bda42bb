"""A summary and its drops as one HTML file that loads nothing and runs nothing but its own script.

All that comes from pages travels as JSON and is shown as text; the policy in the file's head lets
the browser run the one script whose hash it names.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, TypeAlias

from simhash_pipeline.compare.diff import line_diff
from simhash_pipeline.drop_log import Drop, unix_seconds
from simhash_pipeline.report.summary import RunTally, Summary, bits_left
from simhash_pipeline.report.swallowing import CAUSES

# The main text of the page at a URL, in a namespace; None if it isn't known.
Texts: TypeAlias = Callable[[str, str], str | None]

MAX_COMPARED_BYTES = 20_000_000  # of all pairs beside each other, as they stand in the file
TOP_HOSTS = TOP_SWALLOWING = 8


def write_web_page(
    path: Path, summary: Summary, drops: Sequence[Drop], *, log: str, texts: Texts | None = None
) -> None:
    """Write the page; `drops` are listed in it, and `texts` has what to show beside each other."""
    data = {
        "log": log,
        "summary": _summary(summary),
        "runs": [_run(tally) for tally in summary.runs.values()],
        "drops": _drops(drops),
        "compared": {} if texts is None else _compared(drops, texts),
    }
    path.write_text(_page(data), encoding="utf-8", errors="replace")


def _page(data: dict[str, Any]) -> str:
    style = _part("report.css")
    script = "\n".join(map(_part, ("charts.js", "overview.js", "report.js")))
    return Template(_part("report.html")).substitute(
        policy=_policy(style, script), style=style, script=script, json=_in_a_script_element(data)
    )


def _part(name: str) -> str:
    return files("simhash_pipeline.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Nothing is loaded or sent, no string becomes markup or script; this style and script run."""
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src {_hash(style)}",
            f"script-src {_hash(script)}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _hash(source: str) -> str:
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _in_a_script_element(data: dict[str, Any]) -> str:
    """JSON without a `<`, so that nothing in it ends the element or begins a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _summary(summary: Summary) -> dict[str, Any]:
    return {
        "dropped": summary.drops,
        "dry": summary.dry,
        "kept": dict(summary.kept) if summary.kept_known else None,
        "errors": dict(summary.errors),
        "swallowing": [
            dataclasses.asdict(page) for page in summary.swallowing.worst()[:TOP_SWALLOWING]
        ],
        "causes": CAUSES,
        "groups": len(summary.groups),
        "groupsLacking": summary.groups.lacking,
        "first": summary.first and unix_seconds(summary.first),
        "last": summary.last and unix_seconds(summary.last),
        "reasons": summary.reasons.most_common(),
        "hosts": [(host, tally.drops) for host, tally in summary.hosts.top(TOP_HOSTS)],
        "hostCount": len(summary.hosts),
        "content": _counts(summary.content),
        "structure": _counts(summary.structure),
        "runCount": summary.runs_seen,
        "selection": {
            name: getattr(summary.selection, name)
            for name in ("url", "host", "since", "reason", "distance", "run")
        },
    }


def _counts(counts: Counter[int]) -> list[tuple[int, int]]:
    return sorted(counts.items())


def _run(tally: RunTally) -> dict[str, Any]:
    return {
        "id": tally.run,
        "spider": tally.spider,
        "first": unix_seconds(tally.first),
        "last": unix_seconds(tally.last),
        "dropped": tally.drops,
        "kept": tally.kept,
        "sliceSecs": tally.slice_secs,
        "slices": list(tally.slices()),
        "settings": tally.settings,
    }


def _drops(drops: Sequence[Drop]) -> dict[str, Any]:
    """A list for each field, as long as there are drops: half the size of a list of objects."""
    reasons, runs, twins = _Numbered(), _Numbered(), _Numbered()
    first_seen: dict[int, int | None] = {}
    for drop in drops:
        seen = drop.twin_first_seen
        number = twins.of(drop.twin_url or "")
        first_seen.setdefault(number, None if seen is None else int(unix_seconds(seen)))
    return {
        "url": [drop.url for drop in drops],
        "title": [drop.title for drop in drops],
        "time": [int(unix_seconds(drop.time)) for drop in drops],
        "reason": [reasons.of(drop.reason) for drop in drops],
        "run": [runs.of(drop.run) for drop in drops],
        "twin": [twins.of(drop.twin_url or "") for drop in drops],
        "content": [drop.content_distance for drop in drops],
        "structure": [drop.structure_distance for drop in drops],
        "sketch": [drop.sketch_distance for drop in drops],
        "own": [drop.own_likeness for drop in drops],
        "left": [None if (left := bits_left(drop)) is None else left[0] for drop in drops],
        "tokens": [drop.tokens for drop in drops],
        "dry": [int(drop.dry_run) for drop in drops],
        "reasons": reasons.names,
        "runs": runs.names,
        "twins": twins.names,
        "firstSeen": list(first_seen.values()),
    }


class _Numbered:
    """Names by the order they were first asked for."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    @property
    def names(self) -> list[str]:
        return list(self._numbers)


def _compared(drops: Sequence[Drop], texts: Texts) -> dict[int, str]:
    """Rows of the pairs whose texts are known, by the drop's place; nearest the threshold first.

    Compressed, as most are never opened; at most some MAX_COMPARED_BYTES.
    """
    compared: dict[int, str] = {}
    size = 0
    for place in sorted(range(len(drops)), key=lambda place: bits_left(drops[place]) or (128, 128)):
        drop = drops[place]
        urls = (drop.twin_url or "", drop.url)
        kept, dropped = (texts(url, drop.namespace) for url in urls)
        if kept is None or dropped is None:
            continue
        beside = json.dumps(line_diff(kept, dropped), ensure_ascii=False, separators=(",", ":"))
        compared[place] = base64.b64encode(zlib.compress(beside.encode("utf-8", "replace"))).decode(
            "ascii"
        )
        size += len(compared[place])
        if size > MAX_COMPARED_BYTES:
            break
    return compared
