"""Which drop log a command is about: the one that is named, or the project's."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from simhash_pipeline.cli.terminal import reading
from simhash_pipeline.crawl.settings import spider_files
from simhash_pipeline.drop_log import LOG_SUFFIX, Drop, Run, log_beside, read_log
from simhash_pipeline.options import Options
from simhash_pipeline.printable import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings


def chosen_log(arguments: argparse.Namespace, settings: BaseSettings) -> Path:
    """The drop log that is meant by `log` and `spider`; UsageError tells which there are.

    A result of `dedup` stands for the log beside it.
    """
    if arguments.log is not None:
        given, beside = Path(arguments.log), log_beside(Path(arguments.log))
        return beside if beside.exists() else given
    set_to = Options.from_settings(settings).drop_log
    if set_to is None:
        raise UsageError("SIMHASH_DROP_LOG is None, so crawls write no drop log; name another")
    if set_to != "auto":
        return Path(set_to)
    logs = spider_files(LOG_SUFFIX)
    if arguments.spider is not None:
        logs = {spider: path for spider, path in logs.items() if spider == arguments.spider}
    if not logs:
        of = f" of a spider {arguments.spider!r}" if arguments.spider is not None else ""
        raise UsageError(f"there is no drop log{of} in .scrapy/simhash; name one, or crawl first")
    if len(logs) > 1:
        names = " | ".join(map(shlex.quote, logs))
        raise UsageError(f"there are {len(logs)} drop logs: --spider {names}")
    return next(iter(logs.values()))


class LogReader:
    """The log's lines, with a progress bar where stderr is a terminal."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cut: str | None = None

    def __iter__(self) -> Iterator[Drop | Run]:
        with reading(self._path) as on_read:
            yield from read_log(self._path, on_read, self._cut_at)

    def exit_code(self) -> int:
        """2, said on stderr, where the log is truncated: what was read of it stands all the same.

        A line that a crash cut short is ended by the next crawl, and then no more told of.
        """
        if self._cut is None:
            return 0
        said = f"{self._cut}, the last, is cut short and was passed over: the log is truncated"
        print(printable(said), file=sys.stderr)
        return 2

    def _cut_at(self, place: str) -> None:
        self._cut = place
