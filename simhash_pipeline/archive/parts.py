"""Fingerprints the inputs on all cores, and writes the rows to Parquet files, the parts.

The parts are in a folder of their own, with a note of what they were made of. If a run is stopped,
by kill -9 too, the next run with the same inputs and options continues: it reads the inputs again,
and fingerprints only the missing parts.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow.parquet as pq

from simhash_pipeline.archive.records import Fault, Input, Page, Skipped, StoredRecord
from simhash_pipeline.archive.rows import fingerprint_rows
from simhash_pipeline.errors import ArchiveError
from simhash_pipeline.options import Options
from simhash_pipeline.terminal import progress_bar

Numbered: TypeAlias = tuple[int, int, Page | StoredRecord]

# A part takes seconds, so that a stopped run loses little, and several fit into memory.
PAGES_A_PART = 500
CHARS_A_PART = 32_000_000
PARTS_AHEAD = 2  # for each core; reading further ahead would fill the memory
NOTE = "made-of.json"


@dataclass(slots=True)
class ReadSummary:
    """What the inputs hold."""

    pages: int = 0
    timed: int = 0  # pages with the time they were fetched
    skipped: Counter[str] = field(default_factory=Counter)  # records that aren't pages, by kind
    faults: list[tuple[str, Fault]] = field(default_factory=list)  # with the input's name


def claim(folder: Path, made_of: Mapping[str, Any]) -> None:
    """Make the folder, or take over that of a stopped run, whose verdicts are removed.

    `made_of` is what the parts depend on. ArchiveError if the folder holds anything else.
    """
    note, text = folder / NOTE, json.dumps(made_of, indent=1, sort_keys=True)
    folder.mkdir(parents=True, exist_ok=True)
    if not note.exists() and any(folder.iterdir()):
        raise ArchiveError(f"{folder} holds other files; name another output")
    if any(folder.glob("part-*.parquet")) and note.read_text(encoding="utf-8") != text:
        raise ArchiveError(
            f"{folder} holds parts of an unfinished run with other inputs or options: finish that "
            "run, or remove the folder"
        )
    note.write_text(text, encoding="utf-8")
    for file in (*folder.glob("kept-*"), *folder.glob("verdicts-*")):
        file.unlink()


@contextmanager
def workers(folder: Path) -> Iterator[Executor]:
    """A process for each core; ArchiveError if one of them dies.

    Not forked: a fork of a process with threads may hang, and not every system forks.
    """
    pool = ProcessPoolExecutor(
        os.cpu_count() or 1,
        multiprocessing.get_context("spawn"),
        initializer=signal.signal,  # Ctrl-C stops the main process only
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )
    try:
        yield pool
    except BrokenProcessPool as error:
        raise ArchiveError(
            f"a worker process was killed, perhaps as memory was full; run the same command "
            f"again to continue with the parts in {folder}"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def write_parts(
    pool: Executor,
    inputs: Mapping[str, Input],
    folder: Path,
    options: Options,
    reading: ReadSummary,
) -> Iterator[Path]:
    """The parts in their order, each when it is written; the next ones are worked at meanwhile.

    The folder must be claimed; `reading` is filled.
    """
    at_work: deque[tuple[Path, Future[None] | None]] = deque()
    for number, batch in enumerate(_batches(inputs, reading)):
        part = folder / f"part-{number:06}.parquet"
        written = None if part.exists() else pool.submit(_write_part, batch, part, options)
        at_work.append((part, written))
        if len(at_work) > PARTS_AHEAD * (os.cpu_count() or 1):
            yield _finished(*at_work.popleft())
    while at_work:
        yield _finished(*at_work.popleft())


def _finished(part: Path, written: Future[None] | None) -> Path:
    if written is not None:
        written.result()
    return part


def _batches(inputs: Mapping[str, Input], reading: ReadSummary) -> Iterator[list[Numbered]]:
    """The pages of all inputs in parts, which are the same in each run."""
    batch: list[Numbered] = []
    chars = 0
    for source, (name, archive) in enumerate(inputs.items()):
        for record in _records(name, archive, reading):
            batch.append((reading.pages, source, record))
            reading.pages += 1
            reading.timed += isinstance(record, StoredRecord) or record.time is not None
            chars += len(record.source.html) if isinstance(record, Page) else 0
            if len(batch) == PAGES_A_PART or chars >= CHARS_A_PART:
                yield batch
                batch, chars = [], 0
    if batch or not reading.pages:  # an empty part still makes a table
        yield batch


def _records(name: str, archive: Input, reading: ReadSummary) -> Iterator[Page | StoredRecord]:
    """An input's pages, with a progress bar where stderr is a terminal; the others are counted."""
    last = 0
    with progress_bar(archive.unit.strip(), archive.total(), Path(name).name) as advance:
        for record, at in archive.read():
            advance(at - last)
            last = at
            if isinstance(record, Fault):
                reading.faults.append((name, record))
            elif isinstance(record, Skipped):
                reading.skipped[record.kind] += 1
            else:
                yield record


def _write_part(batch: list[Numbered], part: Path, options: Options) -> None:
    unfinished = part.with_suffix(".unfinished")
    pq.write_table(fingerprint_rows(batch, options), unfinished, compression="zstd")
    unfinished.replace(part)
