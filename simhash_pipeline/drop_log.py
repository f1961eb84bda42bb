"""Verdicts in, JSON Lines out, and back: one object a drop, appended across runs; no HTML."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from simhash_pipeline.errors import DropLogError
from simhash_pipeline.judge import Verdict
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import PageFingerprint

SCHEMA = 1
_LINE_START = b'{"schema": '
# The options that decide over keep and drop.
THRESHOLDS = (
    "match",
    "content_distance",
    "structure_distance",
    "verify_distance",
    "min_tokens",
    "scope",
    "unchanged",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """One line of the log. Distances in bits; fingerprints as hex digits; times ISO 8601 in UTC."""

    schema: int
    time: str
    run: str  # the same for all drops of one crawl
    spider: str
    url: str
    twin_url: str | None
    twin_first_seen: str | None
    reason: str
    content_distance: int | None
    structure_distance: int | None
    sketch_distance: int | None
    content: str | None  # 16 hex digits at 64 bits
    structure: str | None
    tokens: int
    thresholds: dict[str, Any]  # the options that decided, by name
    dry_run: bool  # True: the item was kept all the same


class DropLog:
    """Appends drops to a file; a drop is one write of one whole line, so crawls may share the file.

    DropLogError when it can't be opened or written.
    """

    def __init__(self, path: Path, *, run: str, spider: str, options: Options) -> None:
        self.path = path
        self._run = run
        self._spider = spider
        self._dry_run = options.dry_run
        self._hex_digits = options.bits // 4
        self._thresholds = {name: getattr(options, name) for name in THRESHOLDS}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b", buffering=0)
            self._end_torn_line()
        except OSError as error:
            raise DropLogError(f"the drop log {path} can't be opened: {error.strerror}") from error

    def write(self, verdict: Verdict, page: PageFingerprint) -> None:
        """Append the drop of `page`."""
        drop = Drop(
            schema=SCHEMA,
            time=_iso(datetime.now(timezone.utc)),
            run=self._run,
            spider=self._spider,
            url=verdict.url,
            twin_url=verdict.twin_url,
            twin_first_seen=_iso_of(verdict.twin_first_seen),
            reason=verdict.reason,
            content_distance=verdict.content_distance,
            structure_distance=verdict.structure_distance,
            sketch_distance=verdict.sketch_distance,
            content=self._hex(page.content),
            structure=self._hex(page.structure),
            tokens=page.tokens,
            thresholds=self._thresholds,
            dry_run=self._dry_run,
        )
        line = json.dumps(dataclasses.asdict(drop), ensure_ascii=False) + "\n"
        try:
            self._file.write(line.encode("utf-8", "replace"))
        except OSError as error:
            raise DropLogError(
                f"the drop log {self.path} can't be written: {error.strerror}"
            ) from error

    def close(self) -> None:
        self._file.close()

    def _end_torn_line(self) -> None:
        """Start on a line of our own where a crash left half of one."""
        if self._file.seek(0, os.SEEK_END) == 0:
            return
        self._file.seek(-1, os.SEEK_END)
        if self._file.read(1) != b"\n":
            self._file.write(b"\n")

    def _hex(self, fingerprint: int | None) -> str | None:
        return None if fingerprint is None else f"{fingerprint:0{self._hex_digits}x}"


def read_drops(path: Path) -> Iterator[Drop]:
    """The log's drops in the order written; a line that a crash cut short is passed over.

    DropLogError names the first line that is no drop, or one of another schema.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                drop = _drop(line, f"{path}, line {number}")
                if drop is not None:
                    yield drop
    except OSError as error:
        raise DropLogError(f"the drop log {path} can't be read: {error.strerror}") from error


def _drop(line: bytes, where: str) -> Drop | None:
    try:
        record = json.loads(line)
    except ValueError as error:
        if line.startswith(_LINE_START) or _LINE_START.startswith(line.rstrip(b"\n")):
            return None  # one of ours, cut short
        raise DropLogError(f"{where} is not a line of a drop log") from error
    if not isinstance(record, dict) or "schema" not in record:
        raise DropLogError(f"{where} is not a line of a drop log")
    if record["schema"] != SCHEMA:
        raise DropLogError(f"{where} has schema {record['schema']}; this version reads {SCHEMA}")
    try:
        return Drop(**record)
    except TypeError as error:
        raise DropLogError(f"{where} is not a line of a drop log: {error}") from error


def _iso_of(seconds: float | None) -> str | None:
    return None if seconds is None else _iso(datetime.fromtimestamp(seconds, timezone.utc))


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
