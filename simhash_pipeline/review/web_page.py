"""Drops and near misses as one HTML file that loads nothing and runs its own script alone.

All that comes from pages travels as JSON and is shown as text; the policy in the file's head lets
the browser run the one script whose hash it names.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, TypeAlias

from simhash_pipeline.drop_log import CAUSES, REASONS, Drop, unix_seconds
from simhash_pipeline.options import Options
from simhash_pipeline.review.comparison import line_diff
from simhash_pipeline.review.doubts import (
    all_doubts,
    bits_left,
    likeliest_copies,
    rank,
    to_check,
)
from simhash_pipeline.review.summary import RunTally, Summary

if TYPE_CHECKING:
    from simhash_pipeline.review.doubts import Doubt
    from simhash_pipeline.stores.contract import PageText

# The texts of the page at a URL, in a namespace; None if they aren't known.
Texts: TypeAlias = Callable[[str, str], "PageText | None"]

MAX_COMPARED_BYTES = 20_000_000  # of all pairs beside each other, as they stand in the file
TOP_MAGNETS = 8
SCRIPTS = ("sentences.js", "charts.js", "overview.js", "list.js", "review.js")


@dataclass(frozen=True, slots=True)
class Neighbours:
    """How far kept pages are from the nearest other kept page."""

    counts: Sequence[int]  # pages by distance in bits, from 0
    pages: int  # the store's; those counted were drawn at random


def write_web_page(
    path: Path,
    summary: Summary,
    *,
    log: str,
    texts: Texts | None = None,
    neighbours: Neighbours | None = None,
) -> None:
    """Write the page, which lists the latest drops and near misses, and opens at the last run.

    `texts` has what to show beside each other; `neighbours` is drawn beside the drops' distances.
    """
    drops = [*summary.listed, *likeliest_copies(summary.near_misses)]
    magnets = summary.magnets.worst()
    found = all_doubts(drops, magnets)
    pairs = _pairs(drops, found, texts or (lambda url, namespace: None))
    data = {
        "log": log,
        "dropped": summary.drops,
        "magnets": [
            {name: getattr(page, name) for name in ("twin_url", "host", "dropped", "example")}
            for page in magnets[:TOP_MAGNETS]
        ],
        "causes": CAUSES,
        "reasons": REASONS,
        "selection": dataclasses.asdict(summary.selection),
        "runs": [_run(tally) for tally in summary.runs.values()],
        "drops": _drops(drops, found, pairs),
        "compared": pairs.compared,
        "neighbours": None if neighbours is None else dataclasses.asdict(neighbours),
    }
    path.write_text(_page(data), encoding="utf-8", errors="replace")


def _page(data: dict[str, Any]) -> str:
    style = _part("report.css")
    script = "\n".join(map(_part, SCRIPTS))
    return Template(_part("report.html")).substitute(
        policy=_policy(style, script), style=style, script=script, json=_in_a_script_element(data)
    )


def _part(name: str) -> str:
    return files("simhash_pipeline.review").joinpath(name).read_text(encoding="utf-8")


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


def _run(tally: RunTally) -> dict[str, Any]:
    default = Options()
    closing = tally.closing
    return {
        "id": tally.run,
        "spider": tally.spider,
        "first": unix_seconds(tally.first),
        "last": unix_seconds(tally.last),
        "dropped": tally.drops,
        "kept": tally.kept,
        "keptBy": {} if closing is None else closing.kept,
        "errors": {} if closing is None else closing.errors,
        "sliceSecs": tally.slice_secs,
        "slices": list(tally.slices()),
        "settings": tally.settings,
        "changed": [
            name
            for name, value in tally.settings.items()
            if value != _as_in_json(getattr(default, name, None))
        ],
    }


def _as_in_json(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _drops(
    drops: Sequence[Drop], found: Sequence[Sequence[Doubt]], pairs: _Pairs
) -> dict[str, Any]:
    """A list for each field, as long as there are drops: half the size of a list of objects."""
    reasons, runs, twins, whys = _Numbered(), _Numbered(), _Numbered(), _Numbered()
    first_seen: dict[int, int | None] = {}
    titles: dict[int, str] = {}
    checked = to_check(drops, found)
    for drop in drops:
        seen = drop.twin_first_seen
        number = twins.of(drop.twin_url or "")
        first_seen.setdefault(number, None if seen is None else int(unix_seconds(seen)))
        titles.setdefault(number, drop.twin_title)
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
        "own": [drop.similarity for drop in drops],
        "main": [drop.main_share for drop in drops],
        "left": [None if (left := bits_left(drop)) is None else left[0] for drop in drops],
        "tokens": [drop.tokens for drop in drops],
        "near": [int(drop.is_near_miss) for drop in drops],
        "dry": [int(drop.dry_run) for drop in drops],
        "why": [[whys.of(f"{doubt.kind}\n{doubt.text}") for doubt in each] for each in found],
        "weight": [sum(doubt.weight for doubt in each) for each in found],
        "check": [int(place in checked) for place in range(len(drops))],
        "pair": pairs.places,
        "reasons": reasons.names,
        "runs": runs.names,
        "twins": twins.names,
        "twinTitles": list(titles.values()),
        "firstSeen": list(first_seen.values()),
        "whys": [name.split("\n") for name in whys.names],  # kind, and kind with figures
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


@dataclass(slots=True)
class _Pairs:
    """What is known of the drops' pairs of pages."""

    compared: list[str]  # both texts beside each other: zlib and base64 of JSON
    places: list[int | None]  # of each drop's pair in `compared`


def _pairs(drops: Sequence[Drop], found: Sequence[Sequence[Doubt]], texts: Texts) -> _Pairs:
    """The pairs whose texts are known; the likeliest to be wrong first, if they are too many.

    Compressed, as most are never opened; at most some MAX_COMPARED_BYTES.
    """
    pairs = _Pairs([], [None] * len(drops))
    known: dict[tuple[str, str | None, str], int | None] = {}
    size = 0
    for place in sorted(range(len(drops)), key=lambda place: rank(drops[place], found[place])):
        drop = drops[place]
        twin_url = drop.twin_url or ""
        key = (drop.namespace, twin_url, drop.url)
        if key not in known:
            if size > MAX_COMPARED_BYTES:
                continue
            known[key] = None
            kept, dropped = (texts(url, drop.namespace) for url in (twin_url, drop.url))
            if kept is not None and dropped is not None:
                known[key] = len(pairs.compared)
                pairs.compared.append(_beside(kept, dropped))
                size += len(pairs.compared[-1])
        pairs.places[place] = known[key]
    return pairs


def _beside(kept: PageText, dropped: PageText) -> str:
    rows = [line_diff(kept.text, dropped.text), line_diff(kept.left_out, dropped.left_out)]
    beside = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(beside.encode("utf-8", "replace"))).decode("ascii")
