"""`scrapy simhash dedup`: the near-duplicates in archives of past crawls."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings

from simhash_pipeline.cli.command import Command, add, fields, print_result
from simhash_pipeline.cli.resolve import store_at
from simhash_pipeline.errors import ArchiveError
from simhash_pipeline.options import Options
from simhash_pipeline.terminal import Grid, Line

KEEP = {
    "first": "the first of them in the inputs",
    "earliest": "the one fetched first",
    "longest": "the one with the longest text",
    "shortest-url": "the one with the shortest URL",
    "canonical": "the one whose canonical link names itself",
}


class DedupCommand(Command):
    epilog = (
        "Needs the extra `archive`. The settings are those of a crawl. "
        "The result has a row for each page: url, kept, reason, group, twin_url, distances and "
        "fingerprints. A drop log next to it is for `dropped`, `report` and `explain`."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        what = (
            "a WARC or WET file, a feed (.jsonl, .jl, .json, .csv), each also as .gz; a .parquet "
            "file, a folder of .html files, or a store"
        )
        add(parser, "inputs", what, nargs="+", metavar="input")
        what = "the result: a .parquet or .jsonl file"
        add(parser, "-o, --output", what, type=Path, required=True)
        what = "; ".join(f"{name}: {meaning}" for name, meaning in KEEP.items())
        what = f"which of near-duplicates to keep. {what}"
        add(parser, "--keep", what, choices=KEEP, default="first")
        what = "write copies of the inputs into this folder, without the dropped pages"
        add(parser, "--copies", what, type=Path, metavar="FOLDER")
        what = "write URL, title and text of each kept page to this file, without what its site "
        add(parser, "--texts", f"{what}repeats", type=Path, metavar="FILE.jsonl")
        what = "put the kept pages into this store, a URL or an SQLite file, for later crawls"
        add(parser, "--store", what)
        what = "field or column with the time when a page was fetched, in RFC 3339 or Unix seconds"
        add(parser, "--time-field", f"{what}; WARC files need none", metavar="FIELD")

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        try:
            with _exit_on_sigterm():
                record = _dedup(arguments, settings)
        except ImportError as error:
            how = f"{error.name} is missing: pip install 'simhash-pipeline[archive]'"
            raise ArchiveError(f"dedup needs the extra `archive`; {how}") from error
        print_result(record, _lines(record), arguments)
        return 0


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Unwind the stack when the process is told to end, so that temporary files are removed."""
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _lines(record: Mapping[str, Any]) -> Iterator[Line]:
    rows = [("kept", _counted(record["kept"])), ("dropped", _counted(record["dropped"]))]
    if record["skipped"]:
        rows.append(("no pages", _counted(record["skipped"])))
    if record["faults"]:
        rows.append(("unread", f"{_counted(record['faults'])}: see {record['unread']}"))
    rows += [("", ""), ("result", record["output"])]
    rows += [(name, record[name]) for name in ("copies", "texts") if name in record]
    yield Grid([*rows, ("drop log", record["drop_log"])])
    if record["dropped"] and not record["item_values"]:
        yield "No item values: pages that differ in little but a price or a date may be dropped."
        yield "A feed or Parquet file that has the scraped fields, too, keeps them."
    yield f"What was dropped, and why: scrapy simhash report {shlex.quote(record['drop_log'])}"


def _dedup(arguments: argparse.Namespace, settings: BaseSettings) -> dict[str, Any]:
    """How many pages were kept and dropped, and the files that were written."""
    from simhash_pipeline.archive.dedup import DedupJob, dedup

    options = Options.from_settings(settings)
    job = DedupJob(
        to=arguments.output,
        options=options,
        store=None if arguments.store is None else store_at(arguments.store, options).url,
        **fields(arguments, "inputs", "keep", "copies", "texts", "time_field"),
    )
    done = dedup(job)
    written = {"output": job.to, **fields(job, "drop_log", "copies", "texts")}
    written["unread"] = job.faults if done.faults else None
    return asdict(done) | {name: str(path) for name, path in written.items() if path is not None}


def _counted(counts: Mapping[str, int]) -> str:
    named = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    return f"{sum(counts.values()):,}" + (f" ({named})" if named else "")
