"""The end of a drop log: drops that a running crawl writes, and the last run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simhash_pipeline.drop_log import Drop, log_files, matching_files, parse_line
from simhash_pipeline.errors import DropLogError

_LOOK_AGAIN_SECS = 0.3
_LAST_BYTES = 1 << 20  # holds many lines: one is as long as its two URLs and a title


def follow(path: Path) -> Iterator[Drop]:
    """The drops that are written from now on, as they come; ends only by KeyboardInterrupt.

    A file that has become shorter, and a new one of a log of several, is read from its start.
    DropLogError as of `read_log`.
    """
    read_bytes = {file: _size(file) for file in log_files(path)}  # of whole lines
    while True:
        before = dict(read_bytes)
        for file in matching_files(path):
            for line in _new_lines(file, read_bytes):
                record = parse_line(line, f"{file}, a new line")
                if isinstance(record, Drop):
                    yield record
        if read_bytes == before:
            time.sleep(_LOOK_AGAIN_SECS)


def _new_lines(file: Path, read_bytes: dict[Path, int]) -> Iterator[bytes]:
    """The whole lines after those that were read."""
    size = _size(file)
    if size < read_bytes.setdefault(file, 0):
        read_bytes[file] = 0
    if size == read_bytes[file]:
        return
    with _reading(file), file.open("rb") as log:
        log.seek(read_bytes[file])
        for line in log:
            if not line.endswith(b"\n"):
                return
            read_bytes[file] += len(line)
            yield line


def last_run(path: Path, spider: str | None = None) -> str | None:
    """The id of the run, of this spider or any, that wrote the log's last whole line.

    None if there is none in the last mebibyte of any of its files.
    """
    for file in reversed(log_files(path)):
        for line in reversed(_last_lines(file)):
            record = parse_line(line, f"{file}, one of its last lines")
            if record is not None and spider in (None, record.spider):
                return record.run
    return None


def _last_lines(path: Path) -> list[bytes]:
    """The whole lines in the file's last mebibyte."""
    with _reading(path), path.open("rb") as log:
        size = log.seek(0, os.SEEK_END)
        log.seek(max(size - _LAST_BYTES, 0))
        lines = log.readlines()
    return lines[1:] if size > _LAST_BYTES else lines


def _size(path: Path) -> int:
    with _reading(path), path.open("rb") as log:
        return log.seek(0, os.SEEK_END)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DropLogError(f"the drop log {path} can't be read: {error.strerror}") from error
