"""A function over many items, on every core, told as it goes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_CHUNK = 16
_TOLD_EVERY_SECS = 2.0


@dataclass(frozen=True, slots=True)
class Work:
    """`processes` 1: in this process, and silent. One in `share` pages is a template for others."""

    processes: int
    share: int = 1

    @classmethod
    def on_every_core(cls) -> Work:
        return cls(max(2, os.cpu_count() or 1))

    def templates(self, pages: Sequence[Item]) -> Sequence[Item]:
        return pages[self.share // 2 :: self.share]

    def each(
        self, what: str, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> list[Result]:
        """The results in the order of the items; `function` must be a module's, or a partial."""
        if self.processes == 1:
            return [function(item) for item in items]
        with ProcessPoolExecutor(self.processes) as pool:
            return list(_told(what, pool.map(function, items, chunksize=_CHUNK), len(items)))

    def by_name(
        self, what: str, function: Callable[..., Result], context: object, names: Sequence[str]
    ) -> dict[str, Result]:
        """function(context, name) of each name."""
        return dict(zip(names, self.each(what, partial(function, context), names), strict=True))


def _told(what: str, results: Iterable[Result], total: int) -> Iterator[Result]:
    """The results as they come; now and then a line to standard error says how many."""
    told = time.monotonic()
    for done, result in enumerate(results, start=1):
        if done == total or time.monotonic() - told >= _TOLD_EVERY_SECS:
            told = time.monotonic()
            print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)
        yield result
