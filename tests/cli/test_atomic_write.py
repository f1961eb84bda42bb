from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simhash_pipeline.cli.command import atomic_write
from simhash_pipeline.errors import SimhashError

if TYPE_CHECKING:
    from pathlib import Path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_takes_the_place_of_the_old_one_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    with atomic_write(path) as part:
        assert (part.parent, part.suffix) == (tmp_path, ".csv")
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["out.csv"]


def test_a_file_that_fails_leaves_the_old_one_and_no_part(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")

    def fail() -> None:
        with atomic_write(path) as part:
            part.write_text("half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.csv"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".", r"^\. is a directory; name a file"),
        ("", r"^\. is a directory; name a file"),
        ("/", "^/ is a directory; name a file"),
        ("..", r"^\.\. is a directory; name a file"),
        ("folder", "^folder is a directory; name a file"),
        ("/dev/null", "^/dev/null is not a regular file"),
        ("items.jsonl", "^items.jsonl is an input, and would be overwritten"),
        ("folder/../items.jsonl", "items.jsonl is an input, and would be overwritten"),
        ("link.jsonl", "^link.jsonl is an input, and would be overwritten"),
        ("no/such.csv", "^no/such.csv: No such file or directory$"),
        ("items.jsonl/x.csv", "^items.jsonl/x.csv: Not a directory$"),
    ],
)
def test_a_place_where_no_file_can_be_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    here = tmp_path.relative_to(tmp_path)
    (here / "folder").mkdir()
    (here / "items.jsonl").write_text("read")
    (here / "link.jsonl").symlink_to("items.jsonl")
    with (
        pytest.raises(SimhashError, match=message),
        atomic_write(here / name, [here / "items.jsonl"]),
    ):
        pytest.fail("the block began")
    assert (here / "items.jsonl").read_text() == "read"
    assert names(tmp_path) == ["folder", "items.jsonl", "link.jsonl"]


def test_an_error_of_another_file_stays_that_file_s(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "out.csv"):
        (tmp_path / "none").read_text()
