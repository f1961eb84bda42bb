import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from simhash_pipeline import DropLogError
from simhash_pipeline.drop_log import Drop, follow, last_run
from tests.review.logs import closing, drop, write_log


def line(path: Path, **fields: object) -> bytes:
    return write_log(path.with_name("line"), [drop(**fields)]).read_bytes()


def next_of(drops: Iterator[Drop], *writes: tuple[Path, str, bytes]) -> Drop:
    """The next drop, while another thread writes."""

    def write() -> None:
        for path, mode, data in writes:
            time.sleep(0.5)  # so that the reader is waiting, and sees each write by itself
            with path.open(mode) as log:
                log.write(data)

    writer = threading.Thread(target=write)
    writer.start()
    found = next(drops)
    writer.join()
    return found


def test_drops_are_told_as_they_come_and_those_before_are_not(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log", [drop()])
    drops = follow(path)
    new = line(path, url="http://a.example/new")
    assert next_of(drops, (path, "ab", new)).url == "http://a.example/new"


def test_a_drop_is_told_when_its_line_is_whole(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log", [])
    new = line(path, url="http://a.example/new")
    found = next_of(follow(path), (path, "ab", new[:50]), (path, "ab", new[50:]))
    assert found.url == "http://a.example/new"


def test_the_closing_line_of_a_run_is_passed_over(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log", [])
    end = write_log(tmp_path / "end", [closing()]).read_bytes()
    new = line(path, url="http://a.example/new")
    assert next_of(follow(path), (path, "ab", end + new)).url == "http://a.example/new"


def test_a_log_begun_anew_is_read_from_its_start(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log", [drop(), drop()])
    new = line(path, url="http://a.example/new")
    assert next_of(follow(path), (path, "wb", new)).url == "http://a.example/new"


def test_a_log_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DropLogError, match="can't be read: No such file"):
        next(follow(tmp_path / "none"))
    with pytest.raises(DropLogError, match="can't be read: No such file"):
        last_run(tmp_path / "none")


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
