import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from simhash_pipeline import DropLogError, Options, PageFingerprint, Verdict
from simhash_pipeline.drop_log import (
    Drop,
    DropLog,
    Run,
    earlier_records,
    iso_time,
    last_run,
    read_log,
    unix_seconds,
)
from tests.review.logs import closing, drop, read_drops, write_log

ROOT = Path(__file__).parent.parent
VERDICT = Verdict(
    url="http://a.example/2",
    dropped=True,
    reason="content",
    twin_url="http://a.example/1",
    twin_first_seen=0.0,
    content_distance=1,
    structure_distance=0,
    sketch_distance=4,
)
PAGE = PageFingerprint(0xAB, 0, 1 << 100, "<p>the text 文本</p>", "A title", tokens=321)


def write(path: Path, drops: int = 1, run: str = "run-1") -> None:
    log = DropLog(path, run=run, spider="news", options=Options())
    for _ in range(drops):
        log.write(VERDICT, PAGE)
    log.close()


def test_the_rows_of_a_list_are_one_line(tmp_path: Path) -> None:
    """Written at its end, or else at the run's; 100 rows at most are named."""
    path = tmp_path / "drops.jsonl"
    log = DropLog(path, run="r", spider="s", options=Options())
    for number in range(120):
        log.write(dataclasses.replace(VERDICT, row=f"row {number}"), PAGE)
    assert path.read_bytes() == b""
    log.end_list(VERDICT)
    log.end_list(VERDICT)
    for twin_url in ("http://a.example/1", "http://a.example/3"):
        log.write(dataclasses.replace(VERDICT, row="a row", twin_url=twin_url), PAGE)
    log.count("content", kept=False)
    log.write_run({})
    log.close()
    first, last, _ = map(json.loads, path.read_text().splitlines())
    assert first["rows"] == {"http://a.example/1": [f"row {number}" for number in range(100)]}
    assert last["rows"] == {"http://a.example/1": ["a row"], "http://a.example/3": ["a row"]}


def test_a_drop_is_one_line_that_tells_all_but_the_page(tmp_path: Path) -> None:
    path = tmp_path / "drops.jsonl"
    write(path)
    (line,) = path.read_text(encoding="utf-8").splitlines()
    record = json.loads(line)
    time = record.pop("time")
    assert time.endswith("Z")
    assert record == {
        "schema": 1,
        "run": "run-1",
        "spider": "news",
        "namespace": "",
        "url": "http://a.example/2",
        "title": "A title",
        "twin_url": "http://a.example/1",
        "twin_title": "",
        "twin_first_seen": "1970-01-01T00:00:00.000Z",
        "reason": "content",
        "content_distance": 1,
        "structure_distance": 0,
        "sketch_distance": 4,
        "similarity": None,
        "content": "00000000000000ab",
        "structure": "0000000000000000",
        "tokens": 321,
        "main_share": 1.0,
        "thresholds": {
            "match": "content",
            "content_distance": 3,
            "structure_distance": 3,
            "sketch_distance": 18,
            "min_similarity": 0.85,
            "min_tokens": 50,
            "scope": "all",
            "unchanged": "keep",
        },
        "dry_run": False,
    }


def test_a_line_is_on_disk_before_the_log_is_closed(tmp_path: Path) -> None:
    log = DropLog(tmp_path / "drops.jsonl", run="r", spider="s", options=Options())
    log.write(VERDICT, PAGE)
    assert len(list(read_drops(log.path))) == 1
    log.close()


def test_a_second_crawl_appends(tmp_path: Path) -> None:
    path = tmp_path / "new" / "directory" / "drops.jsonl"
    write(path, run="run-1")
    write(path, run="run-2")
    assert [drop.run for drop in read_drops(path)] == ["run-1", "run-2"]


def test_a_half_written_last_line_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "drops.jsonl"
    write(path, drops=2)
    whole = path.read_bytes()
    for cut in range(1, len(whole) // 2 - 1):
        path.write_bytes(whole[:-cut])
        assert len(list(read_drops(path))) == (2 if cut == 1 else 1)


def test_a_crawl_after_a_crash_starts_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "drops.jsonl"
    write(path, drops=2)
    path.write_bytes(path.read_bytes()[:-20])
    write(path, run="run-2")
    assert [drop.run for drop in read_drops(path)] == ["run-1", "run-2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("url,twin\n", "line 1 is not a line of a drop log"),
        ("[1, 2]\n", "line 1 is not a line of a drop log"),
        ('{"url": "x"}\n', "line 1 is not a line of a drop log"),
        ('{"schema": 1, "url": "x"}\n', "line 1 is not a line of a drop log"),
        ('{"schema": 99}\n', "line 1 is not a line of a drop log, schema 1: Invalid enum value 99"),
        ("\x00\xff\n", "line 1 is not a line of a drop log"),
    ],
)
def test_a_file_that_is_no_drop_log_is_told(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "drops.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DropLogError, match=message):
        list(read_drops(path))


@pytest.mark.parametrize("field", ["url", "time", "reason", "tokens", "thresholds", "dry_run"])
def test_a_field_of_another_type_is_told(tmp_path: Path, field: str) -> None:
    path = tmp_path / "drops.jsonl"
    write(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, field: [1]}) + "\n", encoding="utf-8")
    with pytest.raises(DropLogError, match=f"line 1 is not a line of a drop log.*: .*{field}"):
        list(read_drops(path))


def test_a_log_that_went_through_another_program_is_read_the_same(tmp_path: Path) -> None:
    path, compact = tmp_path / "drops.jsonl", tmp_path / "compact.jsonl"
    write(path)
    write_run(path)
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    lines = [json.dumps(record, separators=(",", ":")) for record in records]
    compact.write_text("\n".join(lines), encoding="utf-8")
    assert list(read_log(compact)) == list(read_log(path))


def write_run(path: Path, *verdicts: Verdict) -> None:
    log = DropLog(path, run="run-1", spider="news", options=Options(store="redis://user:word@h"))
    for verdict in verdicts:
        log.count(verdict.reason, kept=not verdict.dropped)
    log.write_run({"no_html": 2})
    log.close()


def test_a_run_that_ends_tells_what_it_kept_and_by_which_options(tmp_path: Path) -> None:
    path = tmp_path / "drops.jsonl"
    new = Verdict(url="http://a.example/1", dropped=False, reason="new")
    write_run(path, new, VERDICT, new)
    (run,) = read_log(path)
    assert isinstance(run, Run)
    assert (run.run, run.spider, run.dry_run) == ("run-1", "news", False)
    assert (run.kept, run.dropped, run.errors) == ({"new": 2}, {"content": 1}, {"no_html": 2})
    assert run.started <= run.ended
    assert run.options["content_distance"] == 3
    assert run.options["ngrams"] == [1, 2]
    assert "user:word" not in path.read_text(encoding="utf-8")  # of the store's URL


def test_the_drops_of_a_log_are_read_without_its_runs(tmp_path: Path) -> None:
    path = tmp_path / "drops.jsonl"
    write(path)
    write_run(path)
    assert [type(record) for record in read_log(path)] == [Drop, Run]
    assert len(list(read_drops(path))) == 1


def test_a_long_title_is_cut_and_its_white_space_is_single(tmp_path: Path) -> None:
    path = tmp_path / "drops.jsonl"
    log = DropLog(path, run="r", spider="s", options=Options())
    log.write(VERDICT, dataclasses.replace(PAGE, title="a\n\t b" + "c" * 1_000))
    log.close()
    (drop,) = read_drops(path)
    assert drop.title == "a b" + "c" * 297


def test_times_of_the_log_are_seconds_and_back() -> None:
    assert iso_time(1.5) == "1970-01-01T00:00:01.500Z"
    assert unix_seconds("1970-01-01T00:00:01.500Z") == 1.5
    with pytest.raises(DropLogError, match="'soon' where a time is expected"):
        unix_seconds("soon")


def test_a_log_that_is_not_there_or_a_directory_is_told(tmp_path: Path) -> None:
    with pytest.raises(DropLogError, match="can't be read: No such file"):
        list(read_drops(tmp_path / "none.jsonl"))
    with pytest.raises(DropLogError, match="can't be opened: Is a directory"):
        DropLog(tmp_path, run="r", spider="s", options=Options())


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size there")
def test_a_line_that_the_disk_takes_a_part_of_is_told_and_spoils_no_other(tmp_path: Path) -> None:
    code = """
import resource, signal, sys
from pathlib import Path
from simhash_pipeline import DropLogError, Options
from simhash_pipeline.drop_log import DropLog
from tests.test_drop_log import PAGE, VERDICT

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
log = DropLog(path, run="r", spider="s", options=Options())
log.write(VERDICT, PAGE)
limit, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 200, hard))
try:
    log.write(VERDICT, PAGE)
except DropLogError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
log.write(VERDICT, PAGE)
"""
    path = tmp_path / "drops.jsonl"
    command = [sys.executable, "-c", code, str(path)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"the drop log {path} can't be written: " in told.stdout
    assert len(list(read_drops(path))) == 2


def test_a_full_disk_is_told() -> None:
    log = DropLog(Path("/dev/full"), run="r", spider="s", options=Options())
    with pytest.raises(DropLogError, match="can't be written: No space left on device"):
        log.write(VERDICT, PAGE)
    log.close()


# The last run


def test_the_last_run_is_that_of_the_last_whole_line(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log", [drop(run="run-1"), drop(run="run-2")])
    assert last_run(path) == "run-2"
    path.write_bytes(path.read_bytes()[:-20])
    assert last_run(path) == "run-1"
    assert last_run(write_log(path, [closing(run="run-3")])) == "run-3"
    assert last_run(write_log(path, [])) is None


def test_the_last_run_of_a_spider_is_that_of_its_last_line(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log", [drop(run="run-1", spider="shop"), drop(run="run-2")])
    assert last_run(path, "shop") == "run-1"
    assert last_run(path, "none") is None


def test_of_a_long_log_only_the_end_is_read(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log", [drop(run="run-1")])
    path.write_bytes(b"x" * 2_000_000 + b"\n" + path.read_bytes())
    assert last_run(path) == "run-1"


def test_the_records_behind_a_damaged_line_are_read(tmp_path: Path) -> None:
    """What was logged before it is no reason to forget what the last crawl logged."""
    path = write_log(tmp_path / "drops.jsonl", [drop(url="http://a.example/1")])
    with path.open("a") as log:
        log.write('{"schema": 1, "run": 5}\n')
    later = write_log(tmp_path / "later.jsonl", [drop(url="http://a.example/2"), closing()])
    with path.open("a") as log:
        log.write(later.read_text())
    last, before = earlier_records(path)
    assert isinstance(last, Run)
    assert isinstance(before, Drop)
    assert before.url == "http://a.example/2"


def test_of_no_log_there_is_no_last_run(tmp_path: Path) -> None:
    assert last_run(tmp_path / "none") is None


def test_a_time_after_the_year_9999_is_written_as_the_last_one() -> None:
    """As of a file, or a row that is never to expire."""
    assert iso_time(999_999_999_999) == "9999-12-31T23:59:59.000Z"
    assert iso_time(-999_999_999_999) == "0001-01-01T00:00:00.000Z"
