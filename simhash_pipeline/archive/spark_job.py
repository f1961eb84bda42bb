"""Pages in Parquet on any Hadoop file system in, the result there out; all of it on a cluster.

spark-submit …/simhash_pipeline/archive/spark_job.py s3a://crawl/pages s3a://crawl/kept.parquet
"""

from __future__ import annotations

import argparse
import hashlib
import json
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import pyarrow as pa  # type: ignore[import-untyped]  # it has no type hints
from pyspark.sql import functions
from pyspark.sql.pandas.types import from_arrow_schema

from simhash_pipeline.archive.feeds import item_page
from simhash_pipeline.archive.on_spark import Spark, session
from simhash_pipeline.archive.outcome import counts, result
from simhash_pipeline.archive.parquet import rows
from simhash_pipeline.archive.relation import find_families, rows_to_judge
from simhash_pipeline.archive.rows import SCHEMA, fingerprinter, row_stamp, rows_of
from simhash_pipeline.archive.verdicts import ORDERS, Groups
from simhash_pipeline.errors import ArchiveError, SimhashError
from simhash_pipeline.options import Options
from simhash_pipeline.page.source import page_field

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame, SparkSession


# Of a position: so many rows may be in a file, and files are in front of them.
ROW_BITS = 40


def dedup_on_cluster(
    source: str,
    to: str,
    options: Options,
    *,
    keep: str = "first",
    groups: Groups = "stars",
    time_field: str | None = None,
    master: str | None = None,
) -> list[dict[str, Any]]:
    """How many pages of the Parquet files at `source` have which verdict; their rows go to `to`.

    Pages come in the order of the files' names. While it isn't done, `to`.parts holds what is; the
    same job goes on behind the fingerprints when it was stopped. ArchiveError where columns are
    missing, OptionsError for options that name what isn't there.
    """
    fingerprinter(options)
    spark = session(master)
    pages = spark.read.parquet(source)
    states = _states(pages)
    files = [path for path, *_ in states]
    # Named for what they are made of: those of other files or options are not taken for these.
    made_of = json.dumps([states, row_stamp(options), time_field], sort_keys=True)
    parts = f"{to}.parts/{hashlib.sha256(made_of.encode()).hexdigest()[:16]}"
    if not _exists(spark, f"{parts}/_SUCCESS"):
        fingerprint = partial(_fingerprinted, options=options, time_field=time_field)
        rows = _pages(pages, files, options, time_field).mapInArrow(
            fingerprint, from_arrow_schema(SCHEMA)
        )
        rows.write.mode("overwrite").parquet(parts)
    engine = Spark(parts, master)
    find_families(engine, options)
    engine.judge(rows_to_judge(), ORDERS[keep], options, groups)
    engine.write(result(engine, files), to)
    told = list(engine.rows(counts()))
    _remove(spark, f"{to}.parts")
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", help="Parquet files with the columns url and html")
    parser.add_argument("to", help="where the result goes, ending in .parquet or .jsonl")
    parser.add_argument("--keep", choices=ORDERS, default="first")
    parser.add_argument("--groups", choices=get_args(Groups), default="stars")
    parser.add_argument("--time-field")
    parser.add_argument("-s", "--set", action="append", default=[], metavar="SIMHASH_NAME=VALUE")
    given = parser.parse_args()
    try:
        options = Options.from_settings(dict(one.split("=", 1) for one in given.set))
        told = dedup_on_cluster(
            given.source,
            given.to,
            options,
            keep=given.keep,
            groups=given.groups,
            time_field=given.time_field,
        )
    except (SimhashError, ValueError) as error:
        parser.error(str(error))
    for row in told:
        print(json.dumps(row))


def _states(pages: DataFrame) -> list[tuple[Any, ...]]:
    """Each file's path, bytes and time of writing, by their paths."""
    columns = [
        functions.col("_metadata.file_path"),
        functions.col("_metadata.file_size"),
        functions.col("_metadata.file_modification_time").cast("double"),
    ]
    return sorted(tuple(row) for row in pages.select(*columns).distinct().collect())


def _pages(
    pages: DataFrame, files: list[str], options: Options, time_field: str | None
) -> DataFrame:
    """What is needed of the rows, each with its file and where it is in it."""
    needed = [page_field(options), options.url_field]
    if missing := [name for name in needed if name not in pages.columns]:
        raise ArchiveError(
            f"there is no column {' and no column '.join(map(repr, missing))} (SIMHASH_HTML_FIELD, "
            f"SIMHASH_URL_FIELD) but {', '.join(pages.columns)}"
        )
    wanted = {*needed, options.charset_field, time_field}
    places = pages.sparkSession.createDataFrame(list(enumerate(files)), "input int, file string")
    row, file = functions.col("_metadata.row_index"), functions.col("_metadata.file_path")
    numbered = pages.select(
        *(name for name in pages.columns if name in wanted), row.alias("row"), file.alias("file")
    )
    return numbered.join(functions.broadcast(places), "file").drop("file")


def _fingerprinted(
    batches: Iterable[pa.RecordBatch], options: Options, time_field: str | None
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        records = (
            (
                (row["input"] << ROW_BITS) + row["row"],
                row["input"],
                item_page(row, row["row"] + 1, "", options, time_field),
            )
            for row in rows(batch, time_field)
        )
        yield from rows_of(records, options).to_batches()


def _exists(spark: SparkSession, path: str) -> bool:
    return bool(_file_system(spark, path).exists(_hadoop_path(spark, path)))


def _remove(spark: SparkSession, path: str) -> None:
    _file_system(spark, path).delete(_hadoop_path(spark, path), True)


def _file_system(spark: SparkSession, path: str) -> Any:
    context: Any = spark.sparkContext
    return _hadoop_path(spark, path).getFileSystem(context._jsc.hadoopConfiguration())


def _hadoop_path(spark: SparkSession, path: str) -> Any:
    """PySpark has no way to a file system of its own."""
    context: Any = spark.sparkContext
    return context._jvm.org.apache.hadoop.fs.Path(path)


if __name__ == "__main__":
    main()
