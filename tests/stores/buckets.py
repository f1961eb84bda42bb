"""What is wrong with a store: damage, and on Redis pages that no look-up finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_pipeline.index.neighbours import position
from simhash_pipeline.stores.redis import layout
from simhash_pipeline.stores.redis.redis_store import RedisStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_pipeline.stores.contract import Store
    from simhash_pipeline.stores.redis.layout import Record
    from simhash_pipeline.stores.redis.namespace import RedisNamespace


def faults(store: Store) -> list[str]:
    found = store.check()
    if isinstance(store, RedisStore):
        found += [each for namespace in store._namespaces() for each in _lost(namespace)]
    return found


def _lost(namespace: RedisNamespace) -> Iterator[str]:
    """The pages whose values aren't in all of their buckets."""
    space, server = namespace.space, namespace.server
    structures = server.ask("HGET", space.head, layout.STRUCTURES)
    columns = layout.INDEXED if structures == layout.DONE else layout.ALWAYS_INDEXED
    records = namespace.there([known for _, known in namespace.places()])
    for record in records:
        for entry in layout.entries(space, record.page, columns):
            if not _is_found(namespace, record, entry):
                yield f"{record.page.url} of namespace {space.namespace!r} can't be found"


def _is_found(namespace: RedisNamespace, record: Record, entry: layout.Entry) -> bool:
    reads = [("HGET", place.key, place.field) for place in entry.places]
    further = ("ZSCORE", entry.more, entry.value + record.ref)
    score, first, *others = namespace.server.run([further, *reads])
    is_listed = score is not None or layout.ref_in(entry.places[0], first or b"") == record.ref
    pairs = zip(entry.places[1:], others, strict=True)
    return is_listed and all(position(b or b"", p.rest, len(p.rest)) >= 0 for p, b in pairs)
