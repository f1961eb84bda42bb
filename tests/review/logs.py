"""Makes drops and logs of them; a test says only what it is about."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from simhash_pipeline.drop_log import Drop, Run, read_log

THRESHOLDS = {
    "match": "content",
    "content_distance": 3,
    "structure_distance": 3,
    "sketch_distance": 18,
    "min_similarity": 0.85,
    "min_tokens": 50,
    "scope": "all",
    "unchanged": "keep",
}


def drop(**fields: Any) -> Drop:
    """A drop of http://a.example/2 in favour of http://a.example/1, but for `fields`."""
    plain = Drop(
        schema=1,
        time="2026-05-04T12:00:00.000Z",
        run="run-1",
        spider="news",
        namespace="",
        url="http://a.example/2",
        title="A story",
        twin_url="http://a.example/1",
        twin_first_seen="2026-05-04T11:00:00.000Z",
        reason="content",
        content_distance=1,
        structure_distance=9,
        sketch_distance=4,
        content="00000000000000ab",
        structure="0000000000000000",
        tokens=321,
        thresholds=THRESHOLDS,
        dry_run=False,
    )
    return dataclasses.replace(plain, **fields)


def closing(**fields: Any) -> Run:
    """The closing line of a run that kept 7 pages and dropped one, but for `fields`."""
    plain = Run(
        schema=1,
        record="run",
        run="run-1",
        spider="news",
        started="2026-05-04T11:59:59.000Z",
        ended="2026-05-04T12:00:01.000Z",
        kept={"new": 6, "thin": 1},
        dropped={"content": 1},
        errors={"no_html": 2},
        options={"match": "content", "content_distance": 3, "min_tokens": 50},
        dry_run=False,
    )
    return dataclasses.replace(plain, **fields)


def write_log(path: Path, records: Iterable[Drop | Run]) -> Path:
    lines = (json.dumps(dataclasses.asdict(record), ensure_ascii=False) for record in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read_drops(path: Path) -> list[Drop]:
    """The log's drops in the order written."""
    return [one for one in read_log(path) if isinstance(one, Drop) and one.record is None]


def near_miss(**fields: Any) -> Drop:
    """A near miss of http://a.example/1, but for `fields`."""
    return drop(
        **{"record": "near miss", "reason": "page-specific text", "similarity": 0.8, **fields}
    )
