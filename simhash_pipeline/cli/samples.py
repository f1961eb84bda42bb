"""Pages that were crawled already, out of an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from scrapy.exceptions import UsageError

from simhash_pipeline.archive.inputs import Export, StoredPages, open_input
from simhash_pipeline.archive.records import Fault, Page
from simhash_pipeline.page.source import Source
from simhash_pipeline.stores.opening import shown_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_pipeline.options import Options

Sample: TypeAlias = "Source | Fault"


def pages_in(name: str, options: Options) -> Iterator[Sample]:
    """The pages, and the records that can't be read.

    UsageError for an archive where there is none but such records, and for one without pages'
    texts.
    """
    archive, fault, some = open_input(name, options), None, False
    if isinstance(archive, (Export, StoredPages)):
        held = "exports hold no texts" if isinstance(archive, Export) else "stores hold no pages"
        how = "name a feed, a WARC file or a folder of pages"
        raise UsageError(f"{shown_url(name)} can't be read as pages: {held}; {how}")
    for record, _ in archive.read():
        if isinstance(record, Page):
            some = True
            yield record.source
        elif isinstance(record, Fault):
            fault = fault or record
            yield record
    if fault is not None and not some:
        raise UsageError(f"no page of {name} can be read: {fault.place}: {fault.message}")
