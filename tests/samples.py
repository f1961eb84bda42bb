"""Samples of visible text, made of their windows: see page/visible.py."""

from collections.abc import Iterable
from itertools import starmap

from simhash_pipeline.page.visible import ENTRY, LIMIT_SIZE


def packed_sample(limit: int, entries: Iterable[tuple[int, int]]) -> bytes:
    """A sample of these entries, whole up to the limit."""
    return limit.to_bytes(LIMIT_SIZE, "little") + b"".join(starmap(ENTRY.pack, entries))
