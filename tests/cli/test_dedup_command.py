from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from simhash_pipeline import open_store
from tests.archive.archives import KEPT, OTHER, PAGES, page, warc_of, write_json_lines
from tests.cli.simhash_command import Simhash
from tests.forked import scrapy_forked
from tests.long.drills.readers import is_there
from tests.long.killed_dedup import workers_of
from tests.stores.servers import wait_until


def test_an_archive_is_cleaned_and_what_went_is_told(simhash: Simhash, tmp_path: Path) -> None:
    (tmp_path / "crawl.warc.gz").write_bytes(warc_of(PAGES))
    result = simhash(tmp_path, "dedup", "crawl.warc.gz", "-o", "kept.jsonl", "--copies", "clean")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == (
        "kept      2 (new 2)\n"
        "dropped   2 (content 2)\n"
        "\n"
        "result    kept.jsonl\n"
        "copies    clean\n"
        "drop log  kept.jsonl.drops.jsonl\n"
        "No item values: pages that differ in little but a price or a date may be dropped.\n"
        "JSON Lines, a feed or a Parquet file that also have the scraped fields keep them.\n"
        "What was dropped, and why: scrapy simhash report kept.jsonl.drops.jsonl\n"
    )
    rows = [json.loads(line) for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert [row["url"] for row in rows if row["kept"]] == KEPT
    result = simhash(tmp_path, "dedup", "clean/crawl.warc.gz", "-o", "again.jsonl")
    assert result.stdout.startswith("kept      2 (new 2)\ndropped   0\n")


def test_it_says_where_the_faults_of_unjudged_pages_are(simhash: Simhash, tmp_path: Path) -> None:
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "a.html").write_text("<p>One story", encoding="utf-8")
    (tmp_path / "saved" / "b.html").touch()
    result = simhash(tmp_path, "dedup", "saved", "-o", "kept.jsonl")
    assert "unjudged  1: the column `fault` of the result says why\n" in result.stdout


def test_without_its_extra_it_names_that_in_one_line(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "items.jsonl", PAGES)
    (tmp_path / "duckdb.py").write_text("raise ModuleNotFoundError(name='duckdb')")
    done = scrapy_forked(tmp_path, "simhash", "dedup", "items.jsonl", "-o", "kept.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "scrapy simhash dedup: dedup needs the extra `archive`; duckdb is missing: "
        "pip install 'simhash-pipeline[archive]'\n"
    )


@pytest.mark.usefixtures("shared_workers")
def test_a_feed_without_a_page_is_no_success(simhash: Simhash, tmp_path: Path) -> None:
    write_json_lines(tmp_path / "items.jsonl", [{"url": "http://a.example/", "title": "x"}] * 3)
    result = simhash(tmp_path, "dedup", "items.jsonl", "-o", "kept.jsonl")
    assert (result.returncode, result.stdout) == (2, "")
    unread = "no page of items.jsonl can be read: 3 (no_html 3), see kept.jsonl.faults.jsonl"
    assert unread in result.stderr
    assert "if its rows are texts, name their field: -s SIMHASH_CONTENT_FIELD" in result.stderr


@pytest.mark.usefixtures("shared_workers")
def test_settings_decide_as_in_a_crawl(simhash: Simhash, tmp_path: Path) -> None:
    write_json_lines(tmp_path / "items.jsonl", PAGES)
    result = simhash(
        tmp_path,
        "dedup",
        "items.jsonl",
        "-o",
        "kept.jsonl",
        "-s",
        "SIMHASH_MIN_TOKENS=500",
        "--json",
    )
    told = json.loads(result.stdout)
    assert (told["kept"], told["dropped"]) == ({"thin": 2}, {"thin": 2})


@pytest.mark.usefixtures("shared_workers")
def test_a_feed_with_other_fields_is_not_said_to_have_none(
    simhash: Simhash, tmp_path: Path
) -> None:
    for more, is_said in (({"by": "Ann"}, False), ({}, True)):
        write_json_lines(tmp_path / "items.jsonl", [{**each, **more} for each in PAGES])
        said = simhash(tmp_path, "dedup", "items.jsonl", "-o", "kept.jsonl").stdout
        assert ("\nNo item values: pages that differ" in said) is is_said


@pytest.mark.usefixtures("shared_workers")
def test_the_other_commands_read_what_it_leaves(simhash: Simhash, tmp_path: Path) -> None:
    near = OTHER.replace("term7 ", "term7x ")
    write_json_lines(tmp_path / "items.jsonl", [*PAGES, page("c", near)])
    store = ("--store", "sqlite:///seen.sqlite")
    simhash(
        tmp_path,
        *("dedup", "items.jsonl", "-o", "kept.parquet", *store, "-s", "SIMHASH_KEEP_TEXT=1"),
        *("-s", "SIMHASH_CONTENT_DISTANCE=8"),
    )
    kept, log = "kept.parquet", "kept.parquet.drops.jsonl"
    for named in (kept, log):
        told = simhash(tmp_path, "dropped", named).stdout
        assert told.startswith(f"{log}\n3 of 5 pages dropped")
    assert simhash(tmp_path, "report", kept, "-o", "report.html").returncode == 0
    assert "http://a.example/b-again" in (tmp_path / "report.html").read_text(encoding="utf-8")
    result = simhash(tmp_path, "explain", "http://a.example/c", "--log", kept, *store)
    assert "term7x" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.warc", "-o", "x.jsonl"], "none.warc can't be read: No such file or directory"),
        (["items.html", "-o", "x.jsonl"], "items.html must be a WARC or WET file"),
        (["items.jsonl", "-o", "x.csv"], "x.csv must end in .parquet or .jsonl"),
        (["items.jsonl", "-o", "items.jsonl"], "items.jsonl is an input"),
        (["page.warc", "-o", "x.jsonl"], "page.warc is not a WARC file: no record begins in it"),
        (["other.parquet", "-o", "x.jsonl"], "other.parquet has no column 'url'"),
        (["items.jsonl"], "the following arguments are required: -o/--output"),
        (["items.jsonl", "-o", "x.jsonl", "--keep", "best"], "invalid choice: 'best'"),
        (["seen.sqlite", "-o", "x.jsonl"], "seen.sqlite must be a WARC or WET file"),
        (["redis://:sesame@host", "-o", "x.jsonl"], "redis://***@host is a URL; an input must be"),
        (
            ["items.jsonl", "-o", "x.jsonl", "--store", "memory:"],
            "memory ends with the job",
        ),
        (["\udcff.jsonl", "-o", "x.jsonl"], "is not a name in UTF-8; rename it"),
        (["items.jsonl", "-o", "\udcff.jsonl"], "is not a name in UTF-8; rename it"),
        (
            ["items.jsonl", "-o", "x.jsonl", "-s", "SIMHASH_EXTRACTOR=nowhere.text"],
            "SIMHASH_EXTRACTOR is 'nowhere.text'; it can't be loaded",
        ),
    ],
)
def test_wrong_use_gets_one_line_and_exit_code_2(
    simhash: Simhash, tmp_path: Path, arguments: list[str], message: str
) -> None:
    write_json_lines(tmp_path / "items.jsonl", PAGES)
    (tmp_path / "items.html").write_text("[]")
    (tmp_path / "page.warc").write_text("<html>")
    pq.write_table(pa.table({"html": ["x"]}), tmp_path / "other.parquet")
    open_store(f"sqlite:///{tmp_path / 'seen.sqlite'}").close()
    result = simhash(tmp_path, "dedup", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert message in line
    assert (tmp_path / "items.jsonl").exists()


@pytest.mark.usefixtures("shared_workers")
def test_the_store_to_be_filled_may_be_a_file(simhash: Simhash, tmp_path: Path) -> None:
    write_json_lines(tmp_path / "items.jsonl", PAGES)
    command = ("dedup", "items.jsonl", "-o", "kept.jsonl", "--store", "seen.sqlite")
    assert simhash(tmp_path, *command).returncode == 0
    with open_store(f"sqlite:///{tmp_path / 'seen.sqlite'}") as store:
        assert [one.url for one in store.pages()] == KEPT


def test_a_parquet_file_with_a_damaged_page_is_named(simhash: Simhash, tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    pq.write_table(pa.Table.from_pylist(PAGES), path, compression="none", use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[4:40] = b"\xff" * 36  # the header of the first page
    path.write_bytes(data)
    result = simhash(tmp_path, "dedup", "pages.parquet", "-o", "kept.jsonl")
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert "pages.parquet is damaged: " in line


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="children are looked up in Linux's way")
def test_a_job_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "items.jsonl", [page(str(n)) for n in range(5_000)])
    command = [
        sys.executable,
        "-m",
        "scrapy",
        "simhash",
        "dedup",
        "items.jsonl",
        "-o",
        "kept.jsonl",
    ]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as job:
        wait_until(lambda: len(workers_of(job.pid)) > 1)
        workers = workers_of(job.pid)
        job.kill()
    wait_until(lambda: not any(map(is_there, workers)))


def test_workers_do_not_import_scrapy(tmp_path: Path) -> None:
    """As they would with its script: some 50 MB and 0.3 s in each."""
    write_json_lines(tmp_path / "items.jsonl", PAGES[:1])
    code = "import sys\n\n\ndef text(tree):\n    return f'{OTHER} {\"scrapy\" in sys.modules}'\n"
    (tmp_path / "own.py").write_text(code.replace("{OTHER}", OTHER))
    job = "dedup items.jsonl -o kept.jsonl --texts texts.jsonl -s SIMHASH_EXTRACTOR=own.text"
    command = [str(Path(sys.executable).with_name("scrapy")), "simhash", *job.split()]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": "."}, check=True)
    (line,) = (tmp_path / "texts.jsonl").read_text().splitlines()
    assert json.loads(line)["text"] == f"{OTHER} False"


def test_rows_are_made_without_pandas() -> None:
    """pyarrow would import it: some 50 MB and half a second. `to_pandas` works in any case."""
    code = """
import sys
import pyarrow as pa
from simhash_pipeline.archive.parts import leave_pandas_out
leave_pandas_out()
table = pa.Table.from_pylist([{"a": [1]}], pa.schema({"a": pa.list_(pa.int64())}))
print(*(name in sys.modules for name in ("pandas", "duckdb")), len(table.to_pandas()))
"""
    command = [sys.executable, "-c", code]
    printed = subprocess.run(command, check=True, capture_output=True).stdout
    assert printed == b"False False 1\n"
