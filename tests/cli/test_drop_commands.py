"""`scrapy simhash dropped` and `report` as people run them."""

from __future__ import annotations

import csv
import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simhash_pipeline.answers import read_sheet
from simhash_pipeline.drop_log import CAUSES, Drop, Run, read_log
from tests.cli.simhash_command import Simhash
from tests.crawl.crawling import OTHER, crawl, page
from tests.review.logs import closing, drop, near_miss, write_log

SUMMARY = """\
drops.jsonl
3 of 12 pages dropped; 2 to check
7 kept; 2 kept that could not be judged; 2026-05-04 12:00 to 2026-05-05 12:00 UTC

Those to check, then the nearest to the thresholds (at most 10)
  http://b.example/3
    ≈ http://a.example/1
    at the threshold: content 3 of 3 bits
    (content 3 of 3, structure 9, sketch 4 of 18)
  http://a.example/2
    ≈ http://a.example/1
    (content 1 of 3, structure 9, sketch 4 of 18)

Reason
  content  2  █████  main text near that of a kept page
  thin     1  ███    little text, and the title and text of a kept page
"""
DROPS = (
    drop(),
    drop(reason="thin", content_distance=None, sketch_distance=None),
    drop(url="http://b.example/3", content_distance=3, time="2026-05-05T12:00:00.000Z"),
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "drops.jsonl", [*DROPS, closing()])


def test_a_log_is_summed_up(simhash: Simhash, log: Path) -> None:
    result = simhash(log.parent, "dropped", log.name)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == SUMMARY


def test_a_gzipped_log_is_read_as_a_plain_one(simhash: Simhash, log: Path) -> None:
    packed = log.with_name("drops.jsonl.gz")
    packed.write_bytes(gzip.compress(log.read_bytes()))
    result = simhash(log.parent, "dropped", packed.name)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == SUMMARY.replace("drops.jsonl", "drops.jsonl.gz")
    packed.write_bytes(packed.read_bytes()[:200])
    result = simhash(log.parent, "dropped", packed.name)
    assert (result.returncode, result.stdout) == (2, "")
    assert "drops.jsonl.gz can't be read: Compressed file ended" in result.stderr


def test_drops_are_printed_as_a_sheet_that_answers_can_be_written_into(
    simhash: Simhash, tmp_path: Path
) -> None:
    """It opens in Excel, and no cell is a formula."""
    log = write_log(
        tmp_path / "log", [drop(title="=1+1, 渡轮\x1b"), near_miss(url="http://a.example/9")]
    )
    result = simhash(tmp_path, "dropped", log.name, "--csv")
    assert result.stdout.startswith("\ufeffanswer,twin_url,url,")
    (row,) = csv.DictReader(result.stdout.removeprefix("\ufeff").splitlines())
    assert (row["answer"], row["title"], row["distance"]) == ("", "'=1+1, 渡轮\\u001b", "1")
    written = simhash(tmp_path, "dropped", log.name, "-o", "to.csv")
    assert written.stdout == "to.csv: 1 line\n"
    assert (tmp_path / "to.csv").read_bytes() == result.stdout.encode()
    near = simhash(tmp_path, "dropped", log.name, "--csv", "--kept").stdout
    assert "http://a.example/9" in near
    assert "http://a.example/2" not in near
    for more, mark in (((), ","), (("--semicolons",), ";")):  # for Excel in German, say
        sheet = simhash(tmp_path, "dropped", log.name, "--csv", *more).stdout
        assert sheet.startswith(f"\ufeffanswer{mark}twin_url{mark}url{mark}")
        answered = sheet.replace(f"\r\n{mark}", f"\r\nanother page{mark}")
        (tmp_path / "sheet.csv").write_text(answered)
        ((pair, line),) = read_sheet(tmp_path / "sheet.csv").items()
        assert (pair, line.twins) == (("http://a.example/1", "http://a.example/2"), False)


def test_a_sheet_with_answers_is_not_replaced(simhash: Simhash, log: Path) -> None:
    """Else the next crawl drops again what a person has kept."""
    write = ("dropped", log.name, "-o", "to.csv")
    for _ in range(2):
        assert simhash(log.parent, *write).returncode == 0
    sheet = log.with_name("to.csv")
    sheet.write_text(sheet.read_text().replace("\n,", "\nn,", 1))
    answered = sheet.read_bytes()
    result = simhash(log.parent, *write)
    assert (result.returncode, sheet.read_bytes()) == (2, answered)
    assert "to.csv has 1 answer: move it, or name another file" in result.stderr


def test_a_sheet_is_not_named_what_it_is_not(simhash: Simhash, log: Path) -> None:
    result = simhash(log.parent, "dropped", log.name, "-o", "to.XLSX")
    assert (result.returncode, log.with_name("to.XLSX").exists()) == (2, False)
    assert "to.XLSX: the lines are CSV, which Excel reads; name it .csv" in result.stderr


def test_drops_are_listed_one_a_line(simhash: Simhash, log: Path) -> None:
    result = simhash(log.parent, "dropped", log.name, "--list")
    assert result.returncode == 0
    assert result.stdout == (
        "http://a.example/2  http://a.example/1  content\n"
        "http://a.example/2  http://a.example/1  thin\n"
        "http://b.example/3  http://a.example/1  content\n"
    )
    assert simhash(log.parent, "dropped", log.name, "--list", "--kept").stdout == ""


@pytest.mark.parametrize(
    ("filters", "urls"),
    [
        (["--run", "run"], 3),
        (["--run", "other"], 0),
        (["--run", "last"], 3),
    ],
)
def test_filters_pick_drops(simhash: Simhash, log: Path, filters: list[str], urls: int) -> None:
    result = simhash(log.parent, "dropped", str(log), *filters)
    assert (result.returncode, result.stderr) == (0, "")
    verdict = result.stdout.splitlines()[1]
    assert verdict.startswith(f"{urls} " if urls else "no drops")


def test_a_page_that_swallows_others_is_told_first(simhash: Simhash, tmp_path: Path) -> None:
    many = [drop(url=f"http://b.example/{n}") for n in range(1_234)]
    log = write_log(tmp_path / "drops.jsonl", many)
    told = simhash(tmp_path, "dropped", log.name).stdout
    assert told.split("\n\n")[1] == (
        f"Look at this first. {CAUSES}\n"
        "  1,234 pages of b.example were dropped as near-duplicates of http://a.example/1: "
        "look at `scrapy simhash explain http://b.example/0`"
    )


def test_several_runs_are_told_apart(simhash: Simhash, tmp_path: Path) -> None:
    second = drop(run="run-2", time="2026-05-06T12:00:00.000Z")
    log = write_log(tmp_path / "log", [drop(), closing(), second])
    result = simhash(tmp_path, "dropped", str(log), "--run", "all")
    assert "\n2 drops in 2 runs; none to check\n" in result.stdout
    assert result.stdout.endswith(
        "\n\nRun (--run takes an id; the last 20 at most)\n"
        "  run-1  news  2026-05-04 11:59 UTC  1 drop\n"
        "  run-2  news  2026-05-06 12:00 UTC  1 drop\n"
    )
    for chosen in ([], ["--run", "last"]):
        last = simhash(tmp_path, "dropped", str(log), *chosen).stdout.splitlines()
        assert last[1:3] == [
            "1 dropped; none to check",
            "2026-05-06 12:00 UTC",
        ]


def test_a_dry_run_says_that_its_items_were_kept(simhash: Simhash, tmp_path: Path) -> None:
    log = write_log(tmp_path / "log", [drop(dry_run=True)])
    result = simhash(tmp_path, "dropped", str(log))
    assert "1 near-duplicate, also kept (dry run or tagged)" in result.stdout


def test_what_would_steer_a_terminal_is_not_printed(simhash: Simhash, tmp_path: Path) -> None:
    log = write_log(tmp_path / "log", [drop(url="http://a.example/\x1b[31m", twin_url="x\x07")])
    result = simhash(tmp_path, "dropped", str(log))
    assert result.returncode == 0
    assert "\x1b" not in result.stdout
    assert "\x07" not in result.stdout


def test_an_empty_log_has_no_drops(simhash: Simhash, tmp_path: Path) -> None:
    log = write_log(tmp_path / "log", [])
    result = simhash(tmp_path, "dropped", str(log))
    assert (result.returncode, result.stdout.splitlines()[1]) == (0, "no drops")
    assert simhash(tmp_path, "dropped", str(log), "--run", "last").returncode == 0


def test_a_line_that_a_crash_cut_short_is_passed_over(simhash: Simhash, log: Path) -> None:
    with log.open("ab") as file:
        file.write(b'{"schema": 1, "time": "2026-05\n')
    result = simhash(log.parent, "dropped", str(log))
    assert (result.returncode, result.stderr) == (0, "")
    assert "3 of 12 pages dropped" in result.stdout


@pytest.mark.parametrize("command", [["dropped"], ["report"]])
def test_of_a_truncated_log_the_whole_lines_count(
    simhash: Simhash, log: Path, command: list[str]
) -> None:
    log.write_bytes(log.read_bytes()[:-30])
    result = simhash(log.parent, *command, log.name)
    assert (result.returncode, result.stderr) == (0, "")
    assert re.search('3 (dropped|drops|of 12)|"dropped": 3', result.stdout)


@pytest.mark.parametrize("command", ["dropped", "report"])
def test_a_log_of_several_versions_is_refused_by_the_line(
    simhash: Simhash, log: Path, command: str
) -> None:
    newer = log.read_bytes().replace(b'"schema": 1', b'"schema": 2')
    log.write_bytes(log.read_bytes() + newer)
    result = simhash(log.parent, command, log.name)
    assert (result.returncode, result.stdout) == (2, "")
    assert re.search(
        "drops.jsonl, (line 5|one of its last lines) is .*schema 1: .*value 2", result.stderr
    )
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["dropped", "report"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"url,twin\n", "bad.jsonl, line 1 is not a line of a drop log"),
        (b"\x89PNG\r\n\x1a\n\x00", "bad.jsonl, line 1 is not a line of a drop log"),
        (b'{"url": "x", "title": "an item"}\n', "bad.jsonl, line 1 is not a line of a drop log"),
        (b'{"schema": 2}\n', "bad.jsonl, line 1 is not a line of a drop log, schema 1: Invalid"),
        (None, "bad.jsonl can't be read: No such file or directory"),
    ],
)
def test_a_bad_log_gets_one_line_and_exit_code_2(
    simhash: Simhash, tmp_path: Path, command: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "bad.jsonl").write_bytes(content)
    for more in ([], ["--run", "last"], *([["--csv"], ["--list"]] if command == "dropped" else [])):
        result = simhash(tmp_path, command, "bad.jsonl", *more)
        assert (result.returncode, result.stdout) == (2, "")
        (line,) = result.stderr.splitlines()
        assert message.rpartition(", ")[2].removeprefix("line 1 ") in line
        assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["."], "the drop log . can't be read: Is a directory"),
        (["/"], "the drop log / can't be read: Is a directory"),
        (["-s", "SIMHASH_DROP_LOG=None"], "SIMHASH_DROP_LOG is None, so crawls write no drop log"),
        ([], "there is no drop log in .scrapy/simhash; name one, or crawl first"),
        (["--spider", "x"], "there is no drop log of a spider 'x' in .scrapy/simhash"),
    ],
)
def test_wrong_use_gets_one_line_and_exit_code_2(
    simhash: Simhash, tmp_path: Path, arguments: list[str], message: str
) -> None:
    result = simhash(tmp_path, "dropped", *arguments)
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert message in line


def project(directory: Path) -> Path:
    """A Scrapy project; where its drop logs go."""
    (directory / "scrapy.cfg").write_text("[settings]\ndefault = own\n", encoding="utf-8")
    (directory / "own.py").write_text("", encoding="utf-8")
    logs = directory / ".scrapy" / "simhash"
    logs.mkdir(parents=True)
    return logs


def test_without_a_log_that_of_the_project_is_taken(simhash: Simhash, tmp_path: Path) -> None:
    write_log(project(tmp_path) / "news%20daily.drops.jsonl", DROPS)
    result = simhash(tmp_path, "dropped")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(".scrapy/simhash/news%20daily.drops.jsonl\n3 dropped")


def test_of_a_named_log_the_runs_of_a_spider_are_read(simhash: Simhash, tmp_path: Path) -> None:
    """Spiders may share one log."""
    write_log(tmp_path / "all.jsonl", [drop(spider="news"), drop(spider="shop")])
    result = simhash(tmp_path, "dropped", "all.jsonl", "--spider", "shop", "--csv")
    assert [line.rpartition(",")[2] for line in result.stdout.splitlines()[1:]] == ["shop"]


def test_the_drops_of_all_spiders_are_listed_or_of_one_and_the_report_shows_the_newest(
    simhash: Simhash, tmp_path: Path
) -> None:
    logs = project(tmp_path)
    write_log(logs / "daily%20mail.drops.jsonl", [drop(spider="daily mail")])
    write_log(logs / "news.drops.jsonl", DROPS)
    os.utime(logs / "daily%20mail.drops.jsonl", (1_000, 1_000))
    both = simhash(tmp_path, "dropped")
    assert (both.returncode, both.stderr) == (0, "")
    assert [line for line in both.stdout.splitlines() if " dropped" in line] == [
        "1 dropped; none to check",
        "3 dropped; 2 to check",
    ]
    sheet = simhash(tmp_path, "dropped", "-o", "drops.csv")
    assert sheet.stdout == "drops.csv: 4 lines\n"
    of_one = simhash(tmp_path, "dropped", "--spider", "daily mail")
    assert "1 dropped" in of_one.stdout
    assert "3 dropped" not in of_one.stdout
    report = simhash(tmp_path, "report")
    assert "news.drops.jsonl, the newest of 2; --spider names another" in report.stderr


def test_the_log_that_the_settings_name_is_taken(simhash: Simhash, tmp_path: Path) -> None:
    write_log(tmp_path / "own.jsonl", DROPS)
    result = simhash(tmp_path, "dropped", "-s", "SIMHASH_DROP_LOG=own.jsonl")
    assert "3 dropped" in result.stdout


def test_lines_of_a_log_are_summed_up_through_a_pipe(log: Path) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    thin = b"".join(line for line in lines if b'"reason": "thin"' in line)
    command = [sys.executable, "-W", "error", "-m", "scrapy", "simhash", "dropped", "/dev/stdin"]
    result = subprocess.run(command, input=thin, capture_output=True, check=True)
    assert b"\n1 dropped; 1 to check\n" in result.stdout


def test_a_reader_that_has_had_enough_ends_the_command_quietly(log: Path) -> None:
    command = f"{sys.executable} -m scrapy simhash dropped {log} | true; echo ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("141\n", "")


def test_a_crawl_closes_its_log_with_what_it_kept(simhash: Simhash, tmp_path: Path) -> None:
    crawl(tmp_path, [page(1), page(2), page(3, OTHER), page(4, html="")])
    dropped, run = read_log(tmp_path / ".scrapy/simhash/items.drops.jsonl")
    assert isinstance(dropped, Drop)
    assert isinstance(run, Run)
    assert (run.run, run.spider) == (dropped.run, "items")
    assert (run.kept, run.dropped, run.errors) == ({"new": 2}, {"content": 1}, {"empty": 1})
    result = simhash(tmp_path, "dropped")
    assert (
        "\n1 of 4 pages dropped; none to check\n2 kept; 1 kept that could not be judged; 2"
        in result.stdout
    )


@pytest.mark.parametrize("command", ["dropped", "report"])
def test_a_time_that_is_none_gets_one_line_and_exit_code_2(
    simhash: Simhash, tmp_path: Path, command: str
) -> None:
    write_log(tmp_path / "log", [drop(time="soon")])
    result = simhash(tmp_path, command, "log")
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert "the drop log has 'soon' where a time is expected" in line


def test_a_report_is_one_file(simhash: Simhash, log: Path) -> None:
    result = simhash(log.parent, "report", log.name, "-o", "out.html")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("out.html: 3 drops, ")
    page = (log.parent / "out.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "src=" not in page
    assert sorted(path.name for path in log.parent.iterdir()) == ["drops.jsonl", "out.html"]


def test_a_report_counts_near_misses_beside_the_drops(simhash: Simhash, tmp_path: Path) -> None:
    write_log(tmp_path / "log", [drop(), near_miss(), near_miss(url="http://a.example/9")])
    printed = simhash(tmp_path, "report", "log", "-o", "report.html").stdout
    assert printed.startswith("report.html: 1 drop, 2 near misses, ")


def test_a_report_is_of_what_the_filters_pick(simhash: Simhash, log: Path) -> None:
    result = simhash(log.parent, "report", log.name, "--run", "other")
    assert result.stdout.startswith("report.html: 0 drops, ")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("no/out.html", "no/out.html: No such file or directory"),
        (".", ". is a directory; name a file"),
        ("/", "/ is a directory; name a file"),
        ("./drops.jsonl", "drops.jsonl is an input, and would be overwritten"),
    ],
)
def test_a_report_that_can_not_be_written_is_told(
    simhash: Simhash, log: Path, output: str, said: str
) -> None:
    before = log.read_bytes()
    result = simhash(log.parent, "report", log.name, "-o", output)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert [path.name for path in log.parent.iterdir()] == ["drops.jsonl"]
    assert log.read_bytes() == before


def test_a_file_of_the_user_s_beside_a_report_is_left_alone(simhash: Simhash, log: Path) -> None:
    mine = log.with_name("part-out.html")
    mine.write_text("mine")
    assert simhash(log.parent, "report", log.name, "-o", "out.html").returncode == 0
    assert mine.read_text() == "mine"
