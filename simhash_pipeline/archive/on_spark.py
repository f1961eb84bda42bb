"""SQL on a cluster, by Spark: the tables and verdicts of one machine, on as many as there are."""

from __future__ import annotations

import os
import sys
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from simhash_pipeline.archive.near import PAIRS
from simhash_pipeline.archive.verdicts import SCHEMA, judged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from simhash_pipeline.archive.near import Near
    from simhash_pipeline.archive.verdicts import Groups
    from simhash_pipeline.options import Options


# Up to here a table goes to every machine whole. Spark goes by its size on disk, an eighth of that
# in memory: by its own 10 MB it sent a million values ten times at once, too much for a driver.
SMALL = "1MB"


class Spark:
    """An `Engine` on the parts in a folder that every machine can read, of any Hadoop file system.

    The package must be installed on all of them. `master` is Spark's; None: as Spark is set up.
    """

    def __init__(self, folder: Path | str, master: str | None = None) -> None:
        self._session = session(master).newSession()  # with settings and views of its own
        self._session.conf.set("spark.sql.autoBroadcastJoinThreshold", SMALL)
        self._folder = str(folder)
        self._numbers = count()
        self._session.read.parquet(f"{folder}/part-*.parquet").createOrReplaceTempView("page")

    def make(self, table: str, query: str) -> None:
        self._keep(table, self._session.sql(query))

    def number(self, query: str) -> int:
        ((number,),) = self._session.sql(query).collect()
        return int(number)

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        return (row.asDict() for row in self._session.sql(query).toLocalIterator())

    def near(self, table: str, near: Near) -> None:
        columns = f"{near.columns} FROM {near.values}"
        rows = " UNION ALL ".join(
            f"SELECT {number} AS number, {near.shard(number)} AS shard, {columns}"
            for number in range(near.design.probes)
        )
        found = (
            self._session.sql(rows)
            .groupBy("number", "shard")
            .applyInArrow(
                lambda shard, rows: near.pairs(shard[0].as_py(), rows), from_arrow_schema(PAIRS)
            )
        )
        self._keep(table, found)

    def judge(self, query: str, order: str, options: Options, groups: Groups) -> None:
        rows = self._session.sql(
            f"SELECT * FROM ({query}) DISTRIBUTE BY family SORT BY family, {order}"
        )
        judge = partial(judged, options=options, groups=groups)
        verdicts = rows.mapInArrow(judge, from_arrow_schema(SCHEMA))
        self._keep("verdict", verdicts)

    def write(self, query: str, to: str) -> None:
        """A folder of files, as Spark writes them."""
        writer = self._session.sql(query).write.mode("overwrite")
        (writer.parquet if to.endswith(".parquet") else writer.json)(to)

    def quoted(self, name: str) -> str:
        return f"`{name}`"

    def text(self, words: str) -> str:
        escaped = words.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"

    def each(self, column: str) -> str:
        return f"explode({column})"

    def listed(self, column: str) -> str:
        return f"collect_list({column})"

    def close(self) -> None:
        """The session stays, which may be a notebook's."""

    def _keep(self, table: str, rows: DataFrame) -> None:
        """Write a table down as it is made.

        The rounds of `relation` would otherwise be one plan, each round four times as large as the
        one before, and a lost machine would begin with the first.
        """
        path = f"{self._folder}/tables/{next(self._numbers)}-{table}"
        rows.write.mode("overwrite").parquet(path)
        self._session.read.parquet(path).createOrReplaceTempView(table)


def session(master: str | None = None) -> SparkSession:
    """The session there is, or a new one."""
    if master is not None and master.startswith("local"):
        # Else the workers run the first python3 of the PATH, which may lack this package.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: SparkSession.Builder = SparkSession.builder.appName("simhash dedup")
    spark = (builder if master is None else builder.master(master)).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
