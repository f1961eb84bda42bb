"""Files that are written as a whole or not at all: under another name until the end."""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from simhash_pipeline.errors import SimhashError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@contextmanager
def atomic_write(path: Path, read: Iterable[Path] = ()) -> Iterator[Path]:
    """An empty file beside `path` that replaces it at the end of the block.

    If the block fails, the old file stays. SimhashError, before the block begins, for a path that
    can't be written and for one of the files that are `read`; and for an error of writing.
    """
    part = path.parent / f".{uuid.uuid4().hex}{path.suffix}"
    try:
        _refuse(path, read)
        part.touch()
        yield part
        part.replace(path)
    except OSError as error:
        if error.filename is not None and str(error.filename) != str(part):
            raise  # of another file, which it names
        # Arrow's own words for it name the part.
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise SimhashError(f"{path}: {reason}") from error
    finally:
        with suppress(OSError):  # it isn't there, or no file can be there
            part.unlink()


def _refuse(path: Path, read: Iterable[Path]) -> None:
    if not path.name or path.is_dir():
        raise SimhashError(f"{path} is a directory; name a file")
    if path.exists() and not path.is_file():
        raise SimhashError(f"{path} is no regular file")
    if path.resolve() in {one.resolve() for one in read}:
        raise SimhashError(f"{path} is an input, and would be overwritten")
