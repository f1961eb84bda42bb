"""The end of a drop log: drops that a running crawl writes, and the last run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from simhash_pipeline.drop_log import Drop, parse_line
from simhash_pipeline.errors import DropLogError

_LOOK_AGAIN_SECS = 0.3
_LAST_BYTES = 1 << 20  # holds many lines: one is as long as its two URLs and a title


def follow(path: Path) -> Iterator[Drop]:
    """The drops that are written from now on, as they come; ends only by KeyboardInterrupt.

    A log that has become shorter is read from its start. DropLogError as of `read_log`.
    """
    try:
        with path.open("rb") as log:
            log.seek(0, os.SEEK_END)
            begun = b""  # of a line whose rest is still to come
            while True:
                if path.stat().st_size < log.tell():
                    log.seek(0)
                    begun = b""
                begun += log.readline()
                if not begun.endswith(b"\n"):
                    time.sleep(_LOOK_AGAIN_SECS)
                    continue
                record = parse_line(begun, f"{path}, a new line")
                begun = b""
                if isinstance(record, Drop):
                    yield record
    except OSError as error:
        raise DropLogError(f"the drop log {path} can't be read: {error.strerror}") from error


def last_run(path: Path, spider: str | None = None) -> str | None:
    """The id of the run, of this spider or any, that wrote the log's last whole line.

    None if it has none in the last mebibyte.
    """
    run = None
    for line in _last_lines(path):
        record = parse_line(line, f"{path}, one of its last lines")
        if record is not None and spider in (None, record.spider):
            run = record.run
    return run


def _last_lines(path: Path) -> list[bytes]:
    """The whole lines in the file's last mebibyte."""
    try:
        with path.open("rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(size - _LAST_BYTES, 0))
            lines = log.readlines()
    except OSError as error:
        raise DropLogError(f"the drop log {path} can't be read: {error.strerror}") from error
    return lines[1:] if size > _LAST_BYTES else lines
