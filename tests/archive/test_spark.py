"""On Spark in local mode, which needs Java: apt-get install default-jre-headless.

Jobs run under CI alone: Java takes longer to start than they take.
"""

from __future__ import annotations

import importlib.util
import os
import runpy
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from simhash_pipeline import Options
from simhash_pipeline.errors import ArchiveError, OptionsError
from tests.archive.archives import KEPT, PAGES, products
from tests.archive.engines import crowd, outcome, write_rows
from tests.skipping import skip_aloud

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

MASTER = "local[2]"
# Java's quick compiler alone, and its simplest garbage collector. To optimize code that runs for a
# few seconds takes more CPU time than to run it.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
CONF = {
    "spark.driver.extraJavaOptions": JAVA_OPTIONS,
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
HOW = "Spark needs Java: apt-get install default-jre-headless, then make test"


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """One session for all tests."""
    there = importlib.util.find_spec("pyspark") and (
        shutil.which("java") or "JAVA_HOME" in os.environ
    )
    if not there:
        skip_aloud(HOW)
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: SparkSession.Builder = SparkSession.builder.master(MASTER)
    for name, value in CONF.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.mark.ci
@pytest.mark.parametrize(
    ("keep", "options"),
    [
        ("earliest", Options(scope="site")),
        ("longest", Options(match="either", content_distance=4)),
        ("canonical", Options()),
    ],
)
def test_a_judge_in_each_partition_gives_the_verdicts_of_one_machine(
    tmp_path: Path, spark: SparkSession, keep: str, options: Options
) -> None:
    from simhash_pipeline.archive import on_spark

    pages = crowd()
    columns: dict[str, list[Any]] = {
        "position": [n << 54 for n in range(len(pages))],  # as of files without end
        "time": [None if n % 5 == 0 else float(n * 7 % 100) for n in range(len(pages))],
        "text_chars": [None if n % 7 == 0 else n * 13 % 50 for n in range(len(pages))],
        "is_canonical": [None if n % 3 == 0 else n % 3 == 1 for n in range(len(pages))],
    }
    write_rows(tmp_path, pages, **columns)
    places = spark.createDataFrame([(0, "made up")], "place int, name string")
    (tmp_path / "rows").mkdir()
    shutil.copy(tmp_path / "part-000000.parquet", tmp_path / "rows")
    found = on_spark.judged(spark, str(tmp_path), places, options, keep)
    rows = [row.asDict() for row in found.collect()]
    assert rows == outcome(tmp_path, options, keep)


@pytest.mark.ci
@pytest.mark.usefixtures("spark")
def test_pages_in_parquet_are_fingerprinted_on_the_cluster(tmp_path: Path) -> None:
    from simhash_pipeline.archive.on_spark import dedup_on_cluster

    (tmp_path / "pages").mkdir()
    for name, pages in (("b", PAGES[2:]), ("a", [*PAGES[:2], {"url": "no page", "html": None}])):
        pq.write_table(pa.Table.from_pylist(pages), tmp_path / "pages" / f"{name}.parquet")
    to = tmp_path / "out.parquet"
    told = dedup_on_cluster(f"file://{tmp_path}/pages", f"file://{to}", Options())
    assert told == [
        {"kept": False, "reason": "content", "pages": 2, "item_values": 0},
        {"kept": True, "reason": "new", "pages": 2, "item_values": 0},
        {"kept": True, "reason": "unjudged", "pages": 1, "item_values": 0},
    ]
    found = pq.read_table(to).to_pylist()
    assert [row["url"] for row in found if row["kept"]] == [KEPT[0], None, KEPT[1]]
    assert [(Path(row["input"]).name, row["number"]) for row in found] == [
        ("a.parquet", 1), ("a.parquet", 2), ("a.parquet", 3), ("b.parquet", 1), ("b.parquet", 2)
    ]  # fmt: skip
    assert not Path(f"{to}.parts").exists()


@pytest.mark.ci
@pytest.mark.usefixtures("spark")
def test_other_columns_are_item_values_on_the_cluster(tmp_path: Path) -> None:
    """Of any name, those of Spark's own tables too."""
    from simhash_pipeline.archive.on_spark import dedup_on_cluster

    rows = [
        {"url": one["url"], "html": one["html"], "name": one["sku"], "an.odd`one": one["price"]}
        for one in products()
    ]
    rows.append({**rows[4], "url": "http://a.example/again"})
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    to = tmp_path / "out.parquet"
    dedup_on_cluster(f"file://{tmp_path}/a.parquet", f"file://{to}", Options())
    found = pq.read_table(to).to_pylist()
    assert [row["url"] for row in found if row["kept"]] == [one["url"] for one in products()]


@pytest.mark.ci
@pytest.mark.usefixtures("spark")
def test_columns_that_are_missing_are_named(tmp_path: Path) -> None:
    from simhash_pipeline.archive.on_spark import dedup_on_cluster

    pq.write_table(pa.table({"link": ["x"], "html": ["y"]}), tmp_path / "a.parquet")
    with pytest.raises(ArchiveError, match=r"has no column 'url' .*; it has link, html"):
        dedup_on_cluster(
            f"file://{tmp_path}/a.parquet", f"file://{tmp_path}/out.parquet", Options()
        )


def test_wrong_options_are_told_before_spark_is_begun() -> None:
    on_spark = pytest.importorskip("simhash_pipeline.archive.on_spark")
    options = Options(extractor="nowhere.text")
    with pytest.raises(OptionsError, match=r"'nowhere.text'; it can't be loaded"):
        on_spark.dedup_on_cluster("nothing.parquet", "out.parquet", options)


@pytest.mark.ci
@pytest.mark.usefixtures("spark")
def test_a_job_runs_in_the_session_that_spark_submit_has_made(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(PAGES), tmp_path / "pages.parquet")
    job = f"""
from simhash_pipeline import Options
from simhash_pipeline.archive.on_spark import dedup_on_cluster

pages, to = "{tmp_path}/pages.parquet", "{tmp_path}/out.parquet"
counted = dedup_on_cluster(pages, to, Options(min_tokens=500), keep="shortest-url")
"""
    (tmp_path / "job.py").write_text(job)
    assert runpy.run_path(str(tmp_path / "job.py"), run_name="__main__")["counted"] == [
        {"kept": False, "reason": "thin", "pages": 2, "item_values": 0},
        {"kept": True, "reason": "thin", "pages": 2, "item_values": 0},
    ]
    found = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["url"] for row in found if row["kept"]] == KEPT
