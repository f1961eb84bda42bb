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
    tails = {file: _Tail(file) for file in log_files(path)}
    for tail in tails.values():
        tail.skip()
    while True:
        some = False
        for file in matching_files(path):
            for drop in tails.setdefault(file, _Tail(file)).drops():
                some = True
                yield drop
        if not some:
            time.sleep(_LOOK_AGAIN_SECS)


class _Tail:
    """A file that grows; DropLogError if it can't be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_bytes = 0
        self._begun = b""  # of a line whose rest is still to come

    def skip(self) -> None:
        """Pass over what it holds."""
        self._read_bytes = self._size()

    def drops(self) -> Iterator[Drop]:
        """Those of new lines."""
        size = self._size()
        if size < self._read_bytes:
            self._read_bytes, self._begun = 0, b""
        if size == self._read_bytes:
            return
        with _reading(self._path), self._path.open("rb") as log:
            log.seek(self._read_bytes)
            for line in log:
                self._read_bytes += len(line)
                self._begun += line
                if not line.endswith(b"\n"):
                    return
                record = parse_line(self._begun, f"{self._path}, a new line")
                self._begun = b""
                if isinstance(record, Drop):
                    yield record

    def _size(self) -> int:
        with _reading(self._path):
            return self._path.stat().st_size


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


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DropLogError(f"the drop log {path} can't be read: {error.strerror}") from error
