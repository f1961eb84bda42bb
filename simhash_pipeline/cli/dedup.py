"""`scrapy simhash dedup`: the twins in crawls that are over."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_pipeline.cli.arguments import size_bytes
from simhash_pipeline.cli.store_choice import named
from simhash_pipeline.cli.terminal import add_json, tell
from simhash_pipeline.errors import ArchiveError
from simhash_pipeline.options import Options

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

KEEP = {
    "first": "the first of them in the inputs",
    "earliest": "that which was fetched first",
    "longest": "that with the longest text",
    "shortest-url": "that with the shortest URL",
    "canonical": "that whose canonical link names itself",
}


class DedupCommand:
    name = "dedup"
    summary = "find the near-duplicates in archives: WARC files, feeds, Parquet, folders, stores"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = (
            "The settings are those of a crawl: SIMHASH_CONTENT_DISTANCE, SIMHASH_SCOPE and so on. "
            "The result has a row for each page: url, kept, reason, group, twin_url, distances and "
            "fingerprints. Beside it lies a drop log for `dropped`, `report` and `explain`. "
            "Stopped in the middle, the same command goes on where it was."
        )
        parser.add_argument(
            "inputs",
            nargs="+",
            metavar="input",
            help=".warc, .warc.gz, a feed (.jsonl, .jl, .csv, also .gz), .parquet, a folder of "
            ".html files, or a store",
        )
        parser.add_argument(
            "-o", "--output", type=Path, required=True, help="ending in .parquet or .jsonl"
        )
        parser.add_argument(
            "--keep",
            choices=KEEP,
            default="first",
            help="of near-duplicates, keep "
            + "; ".join(f"{name}: {meaning}" for name, meaning in KEEP.items())
            + " (default: first)",
        )
        parser.add_argument(
            "--groups",
            choices=("stars", "components"),
            default="stars",
            help="stars: every dropped page is near the kept one, as in a crawl; components: "
            "chains of near pages, whose ends may be far apart (default: stars)",
        )
        parser.add_argument(
            "--copies",
            type=Path,
            metavar="FOLDER",
            help="write copies of the inputs there, without the dropped pages",
        )
        parser.add_argument(
            "--store",
            help="put the kept pages into a store, a URL or an SQLite file, for a crawl to go on",
        )
        parser.add_argument(
            "--time-field",
            metavar="FIELD",
            help="field or column that says when a page was fetched, in RFC 3339 or Unix seconds; "
            "a WARC file says it itself",
        )
        parser.add_argument(
            "--engine",
            choices=("duckdb", "spark"),
            default="duckdb",
            help="what joins: duckdb, on this machine; spark, on a cluster that can read where the "
            "output goes (default: duckdb)",
        )
        parser.add_argument("--master", help="Spark's, as local[*] (default: as Spark is set up)")
        parser.add_argument(
            "--memory",
            type=size_bytes,
            help="where DuckDB goes to disk, as 2GB (default: at 80%% of the memory)",
        )
        add_json(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        try:
            done = _done(arguments, settings)
        except ImportError as error:
            extra = "spark" if error.name == "pyspark" else "archive"
            how = f"pip install 'simhash-pipeline[{extra}]'"
            raise ArchiveError(f"this needs {error.name}: {how}") from error
        tell(done, "\n".join(_lines(done)), as_json=arguments.json)
        return 0


def _done(arguments: argparse.Namespace, settings: BaseSettings) -> dict[str, Any]:
    """What became of the pages, and where it is written."""
    from simhash_pipeline.archive.dedup import Job, dedup

    engine: Any
    if arguments.engine == "spark":
        from simhash_pipeline.archive.on_spark import Spark

        engine = partial(Spark, master=arguments.master)
    else:
        from simhash_pipeline.archive.on_duckdb import DuckDb

        engine = partial(DuckDb, memory_bytes=arguments.memory)
    job = Job(
        inputs=arguments.inputs,
        to=arguments.output,
        options=Options.from_settings(settings),
        keep=arguments.keep,
        groups=arguments.groups,
        copies=arguments.copies,
        store=None if arguments.store is None else named(arguments.store, settings).url,
        time_field=arguments.time_field,
    )
    done = dedup(job, engine)
    places = {"output": job.to, "drop_log": job.drop_log, "copies": job.copies}
    if done.faults:
        places["unread"] = job.faults
    return {
        **asdict(done),
        **{name: str(place) for name, place in places.items() if place is not None},
    }


def _lines(done: dict[str, Any]) -> list[str]:
    lines = [f"kept      {_counted(done['kept'])}", f"dropped   {_counted(done['dropped'])}"]
    if done["skipped"]:
        lines.append(f"no pages  {_counted(done['skipped'])}")
    if done["faults"]:
        lines.append(f"unread    {_counted(done['faults'])}: see {done['unread']}")
    log = shlex.quote(done["drop_log"])
    return [
        *lines,
        "",
        f"result    {done['output']}",
        *([f"copies    {done['copies']}"] if "copies" in done else []),
        f"drop log  {done['drop_log']}",
        "",
        "What was dropped, and why:",
        f"  scrapy simhash dropped {log}",
        f"  scrapy simhash report {log} -o report.html",
    ]


def _counted(counts: dict[str, int]) -> str:
    named = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    return f"{sum(counts.values()):,}" + (f" ({named})" if named else "")
