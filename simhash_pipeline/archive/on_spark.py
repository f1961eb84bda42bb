"""The same on a cluster, by Spark: pages in Parquet files, read, judged and written there.

Pages that may be compared come to one partition, sorted, where the judge of parts.py has a store
of its own: that is one partition for all pages, or with SCOPE = "site" one for some sites.

A job that spark-submit is given calls `dedup_on_cluster`.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.pandas.types import from_arrow_schema

from simhash_pipeline.archive import KEEP, parts
from simhash_pipeline.archive.dedup import COUNTS, RESULT
from simhash_pipeline.archive.feeds import item_page
from simhash_pipeline.archive.parquet import page_columns, rows
from simhash_pipeline.options import Options
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore

# A position is the file's number, and in the lowest 40 bits the row's.
ROW_BITS = 40
_ROW, _PLACE = "simhash_row", "simhash_place"


def dedup_on_cluster(
    source: str, to: str, options: Options, *, keep: str = "first", time_field: str | None = None
) -> list[dict[str, Any]]:
    """Write the result for the Parquet files at `source` to `to`; returns page counts by verdict.

    Pages are judged in the order of the files' names. Fingerprints are in `to`.parts until the job
    is done. ArchiveError for missing columns, OptionsError for options that name missing things.
    """
    parts.fingerprinter(options)
    spark = SparkSession.builder.appName("simhash dedup").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark = spark.newSession()  # with settings and views of its own
    pages = spark.read.parquet(source)
    paths = pages.select(functions.col("_metadata.file_path")).distinct().collect()
    names = sorted(path for (path,) in paths)
    files = spark.createDataFrame(list(enumerate(names)), "place int, name string")
    columns = page_columns(source, dict(pages.dtypes), options, time_field)
    fingerprint = partial(_fingerprinted, names=columns, options=options, time_field=time_field)
    rows = _pages(pages, files, columns).mapInArrow(fingerprint, from_arrow_schema(parts.ROWS))
    rows.write.mode("overwrite").parquet(f"{to}.parts/rows")
    writer = judged(spark, f"{to}.parts", files, options, keep).write.mode("overwrite")
    (writer.parquet if to.endswith(".parquet") else writer.json)(to)
    counted = [row.asDict() for row in spark.sql(COUNTS).collect()]
    # By Hadoop's file system: PySpark has no API of its own for it.
    context: Any = spark.sparkContext
    place = context._jvm.org.apache.hadoop.fs.Path(f"{to}.parts")
    place.getFileSystem(context._jsc.hadoopConfiguration()).delete(place, True)
    return counted


def _pages(pages: DataFrame, files: DataFrame, names: list[str]) -> DataFrame:
    """The columns of these names, the number of each row, and the place of its file.

    They are numbered, as `mapInArrow` fails for some names.
    """
    quoted = (f"`{name.replace('`', '``')}`" for name in names)
    wanted = [functions.col(name).alias(f"column_{n}") for n, name in enumerate(quoted)]
    row, file = functions.col("_metadata.row_index"), functions.col("_metadata.file_path")
    numbered = pages.select(*wanted, row.alias(_ROW), file.alias("_file"))
    found = numbered.join(functions.broadcast(files), numbered["_file"] == files["name"])
    return found.drop("_file", "name").withColumnRenamed("place", _PLACE)


def _fingerprinted(
    batches: Iterable[pa.RecordBatch], names: list[str], options: Options, time_field: str | None
) -> Iterator[pa.RecordBatch]:
    def record(row: dict[str, Any]) -> parts.Numbered:
        place, number = row.pop(_PLACE), row.pop(_ROW)
        page = item_page(row, "", options, time_field)
        return (place << ROW_BITS) + number, place, number + 1, page

    for batch in batches:
        named = batch.rename_columns([*names, _ROW, _PLACE])
        numbered = map(record, rows(named, time_field))
        yield from parts.fingerprint_rows(numbered, options).to_batches()


def judged(
    spark: SparkSession, folder: str, files: DataFrame, options: Options, keep: str
) -> DataFrame:
    """The result of the rows in a folder, where the verdicts are written; `files`: the inputs."""
    files.createOrReplaceTempView("input")
    spark.read.parquet(f"{folder}/rows").createOrReplaceTempView("page")
    apart = "namespace, site" if options.scope == "site" else "namespace"  # are never compared
    rows = spark.sql(f"{parts.TO_JUDGE} DISTRIBUTE BY {apart} SORT BY {KEEP[keep][1]}")
    found = rows.mapInArrow(partial(_verdicts, options=options), from_arrow_schema(parts.VERDICTS))
    found.write.mode("overwrite").parquet(f"{folder}/verdicts")
    spark.read.parquet(f"{folder}/verdicts").createOrReplaceTempView("verdict")
    return spark.sql(RESULT)


def _verdicts(batches: Iterable[pa.RecordBatch], options: Options) -> Iterator[pa.RecordBatch]:
    with TemporaryDirectory() as folder, SqliteStore(Path(folder, "kept.sqlite")) as store:
        yield from parts.judge_rows(batches, options, store, log=None)
