"""Drops and near misses as one HTML file that loads nothing and runs its own script alone.

All that comes from pages travels as JSON and is shown as text; the policy in the file's head lets
the browser run the one script whose hash it names.
"""

import base64
import dataclasses
import hashlib
import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from itertools import count
from pathlib import Path
from string import Template
from typing import Any, TypeAlias

from simhash_pipeline.drop_log import CAUSES, REASONS, Drop, unix_seconds
from simhash_pipeline.options import Options
from simhash_pipeline.review.comparison import line_diff
from simhash_pipeline.review.summary import (
    Doubt,
    RunTally,
    Summary,
    all_doubts,
    bits_left,
    rank,
    to_check,
)
from simhash_pipeline.stores.contract import PageText

# The texts of the page at a URL, in a namespace; None if they aren't known.
Texts: TypeAlias = Callable[[str, str], "PageText | None"]

MAX_COMPARED_BYTES = 20_000_000  # of all pairs beside each other, as they stand in the file
TOP_MAGNETS = 8
SCRIPTS = ("sentences.js", "charts.js", "overview.js", "list.js", "review.js")


def write_web_page(path: Path, summary: Summary, log: str, texts: Texts) -> None:
    """Write the page, which lists the latest drops and near misses, and opens at the last run.

    `texts` has what to show beside each other.
    """
    drops = [*summary.listed, *sorted(summary.near_misses, key=rank)]
    magnets = summary.magnets.worst()
    found = all_doubts(drops, magnets)
    compared, pairs = _compared(drops, found, texts)
    data = {
        "log": log,
        "dropped": summary.drops,
        "magnets": [dataclasses.asdict(page) for page in magnets[:TOP_MAGNETS]],
        "causes": CAUSES,
        "reasons": REASONS,
        "selection": summary.selection,
        "runs": [_run(tally) for tally in summary.runs.values()],
        "drops": _drops(drops, found) | {"pair": pairs},
        "compared": compared,
    }
    path.write_text(_page(data), encoding="utf-8", errors="replace")


def _page(data: dict[str, Any]) -> str:
    style = _part("report.css")
    script = "\n".join(map(_part, SCRIPTS))
    # Without a `<`, nothing in the JSON ends its element or begins a comment.
    text = _json(data).replace("<", "\\u003c")
    # Nothing is loaded or sent, no string becomes markup or script; this style and script run.
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    )
    own = {"policy": policy, "style": style, "script": script, "json": text}
    return Template(_part("report.html")).substitute(own)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _part(name: str) -> str:
    return files("simhash_pipeline.review").joinpath(name).read_text(encoding="utf-8")


def _hash(source: str) -> str:
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _run(tally: RunTally) -> dict[str, Any]:
    defaults = json.loads(json.dumps(dataclasses.asdict(Options())))  # with lists for tuples
    closing = tally.closing
    kept = {} if closing is None else closing.kept
    return {
        "id": tally.run,
        "spider": tally.spider,
        "first": unix_seconds(tally.first),
        "last": unix_seconds(tally.last),
        "dropped": tally.drops,
        "kept": None if closing is None else sum(kept.values()),
        "keptBy": kept,
        "errors": {} if closing is None else closing.errors,
        "settings": tally.settings,
        "changed": [n for n, value in tally.settings.items() if value != defaults.get(n)],
    }


def _drops(drops: Sequence[Drop], found: Sequence[Sequence[Doubt]]) -> dict[str, Any]:
    """A list for each field, as long as there are drops: half the size of a list of objects."""
    # Each numbers its keys in the order they are first asked for.
    reasons, runs, twins, whys = (defaultdict[str, int](count().__next__) for _ in range(4))
    of_twin: dict[int, Drop] = {}  # the first drop for each
    for drop in drops:
        of_twin.setdefault(twins[drop.twin_url or ""], drop)
    seen = (drop.twin_first_seen for drop in of_twin.values())
    checked = to_check(drops, found)
    return {
        "url": [drop.url for drop in drops],
        "title": [drop.title for drop in drops],
        "time": [int(unix_seconds(drop.time)) for drop in drops],
        "reason": [reasons[drop.reason] for drop in drops],
        "run": [runs[drop.run] for drop in drops],
        "twin": [twins[drop.twin_url or ""] for drop in drops],
        "content": [drop.content_distance for drop in drops],
        "structure": [drop.structure_distance for drop in drops],
        "sketch": [drop.sketch_distance for drop in drops],
        "own": [drop.similarity for drop in drops],
        "main": [drop.main_share for drop in drops],
        "left": [None if (left := bits_left(drop)) is None else left[0] for drop in drops],
        "tokens": [drop.tokens for drop in drops],
        "near": [int(drop.is_near_miss) for drop in drops],
        "dry": [int(drop.dry_run) for drop in drops],
        "why": [[whys[f"{doubt.kind}\n{doubt.text}"] for doubt in each] for each in found],
        "weight": [sum(doubt.weight for doubt in each) for each in found],
        "check": [int(place in checked) for place in range(len(drops))],
        "reasons": list(reasons),
        "runs": list(runs),
        "twins": list(twins),
        "twinTitles": [drop.twin_title for drop in of_twin.values()],
        "firstSeen": [None if time is None else int(unix_seconds(time)) for time in seen],
        "whys": [name.split("\n") for name in whys],  # kind, and kind with figures
    }


def _compared(
    drops: Sequence[Drop], found: Sequence[Sequence[Doubt]], texts: Texts
) -> tuple[list[str], list[int | None]]:
    """Pairs of texts beside each other (zlib and base64 of JSON), and the place of each drop's.

    Compressed, as most are never opened. If there are more than some MAX_COMPARED_BYTES, only the
    likeliest to be wrong; their place is None for the others, and where a text isn't known.
    """
    compared: list[str] = []
    places: list[int | None] = [None] * len(drops)
    size = 0

    @cache
    def place_of(namespace: str, twin_url: str, url: str) -> int | None:
        nonlocal size
        if size > MAX_COMPARED_BYTES:
            return None
        kept, dropped = texts(twin_url, namespace), texts(url, namespace)
        if kept is None or dropped is None:
            return None
        compared.append(_beside(kept, dropped))
        size += len(compared[-1])
        return len(compared) - 1

    for place in sorted(range(len(drops)), key=lambda place: rank(drops[place], found[place])):
        drop = drops[place]
        places[place] = place_of(drop.namespace, drop.twin_url or "", drop.url)
    return compared, places


def _beside(kept: PageText, dropped: PageText) -> str:
    beside = [f"{text.left_out}\n{text.item}".strip() for text in (kept, dropped)]
    rows = [line_diff(kept.text, dropped.text), line_diff(*beside)]
    return base64.b64encode(zlib.compress(_json(rows).encode("utf-8", "replace"))).decode("ascii")
