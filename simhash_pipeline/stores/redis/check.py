"""Whether the pages on Redis can be read and found."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from simhash_pipeline.stores.redis.layout import COUNT_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simhash_pipeline.stores.redis.layout import Layout, Place, Record
    from simhash_pipeline.stores.redis.scripts import Command
    from simhash_pipeline.stores.redis.server import Server


def faults(
    server: Server, layout: Layout, namespace: str, packed: Mapping[bytes, bytes]
) -> Iterator[str]:
    """What is wrong with these pages, packed by id: records, or values that no look-up finds."""
    records: list[Record] = []
    for known, raw in packed.items():
        try:
            records.append(layout.unpack(namespace, raw))
        except (ValueError, struct.error) as error:  # noqa: PERF203  # each record by itself
            yield f"record {known.hex()} of namespace {namespace!r} can't be read: {error}"
    entries = [(record, entry) for record in records for entry in layout.entries(record.page)]
    commands: list[Command] = []
    for record, entry in entries:
        commands.append(("ZSCORE", entry.more, record.ref))
        commands += [("HGET", place.key, place.number) for place in entry.places]
    replies = iter(server.run(commands))
    for record, entry in entries:
        score, *buckets = [next(replies) or b"" for _ in range(1 + len(entry.places))]
        is_listed = score != b"" or layout.first_ref(entry, buckets[0]) == record.ref
        if not is_listed or not all(map(_holds, entry.places[1:], buckets[1:])):
            yield f"{record.page.url} of namespace {namespace!r} is stored and can't be found"


def _holds(place: Place, bucket: bytes) -> bool:
    size = len(place.rest)
    return any(bucket.startswith(place.rest, at) for at in range(COUNT_SIZE, len(bucket), size))
