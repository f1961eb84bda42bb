"""Pages that were crawled already, out of an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from simhash_pipeline.archive.inputs import open_input
from simhash_pipeline.archive.records import Fault, Page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simhash_pipeline.options import Options
    from simhash_pipeline.page.source import Source


def pages_in(path: Path, options: Options) -> Iterator[Source]:
    """The pages; UsageError for a record that can't be read, and for a store, which has none."""
    for record, _ in open_input(str(path), options).read():
        if isinstance(record, Fault):
            raise UsageError(f"{path}, {record.place}: {record.message}")
        if isinstance(record, Page):
            yield record.source
