"""`scrapy simhash store info`: what a store holds, told for people and programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simhash_pipeline.cli.store_choice import NamedStore, add_choice, all_chosen
from simhash_pipeline.cli.terminal import add_json, iso, minute, progress, size, tell
from simhash_pipeline.options import Options
from simhash_pipeline.printable import aligned
from simhash_pipeline.stores.sqlite.file import FORMAT

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from scrapy.settings import BaseSettings

    from simhash_pipeline.stores.contract import Store, StoredPage

TOP_SITES = 5


class InfoCommand:
    name = "info"
    summary = "what a store holds: pages, sites, times, texts, size, and how it was made"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = "Reads all pages. Of several stores in a project each is told."
        add_choice(parser)
        add_json(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        for place, named in enumerate(all_chosen(options, settings)):
            with named.existing() as store:
                census = _Census()
                for page in progress(store.pages(), "pages", len(store)):
                    census.add(page)
                for size_bytes in progress(store.text_sizes(), "texts"):
                    census.texts += 1
                    census.texts_bytes += size_bytes
                record = _record(named, census, store)
            words = aligned(_rows(record, census))
            tell(record, f"\n{words}" if place else words, as_json=options.json)
        return 0


@dataclass(slots=True)
class _Census:
    """What is counted of a store's pages."""

    pages: int = 0
    thin: int = 0
    namespaces: Counter[str] = field(default_factory=Counter)
    sites: Counter[str] = field(default_factory=Counter)
    oldest: float | None = None  # when first kept, Unix seconds
    newest: float | None = None  # when last seen
    texts: int = 0
    texts_bytes: int = 0

    def add(self, page: StoredPage) -> None:
        self.pages += 1
        self.thin += page.content is None
        self.namespaces[page.namespace] += 1
        self.sites[page.site] += 1
        self.oldest = page.first_seen if self.oldest is None else min(self.oldest, page.first_seen)
        self.newest = page.seen_at if self.newest is None else max(self.newest, page.seen_at)


def _record(named: NamedStore, census: _Census, store: Store) -> dict[str, Any]:
    size_bytes = named.size_bytes
    return {
        "store": named.name,
        "pages": census.pages,
        "thin": census.thin,
        "namespaces": dict(census.namespaces.most_common()),
        "sites": len(census.sites),
        "top_sites": dict(census.sites.most_common(TOP_SITES)),
        "first_seen": None if census.oldest is None else iso(census.oldest),
        "seen_at": None if census.newest is None else iso(census.newest),
        "texts": census.texts,
        "texts_bytes": census.texts_bytes,
        "bytes": size_bytes,
        "bytes_a_page": round(size_bytes / census.pages) if size_bytes and census.pages else None,
        "format": None if named.path is None else FORMAT,  # an older file is one now
        "index": None if named.path is None else named.options.index,
        "made_with": store.made_with(),
    }


def _rows(record: Mapping[str, Any], census: _Census) -> Iterator[tuple[str, str]]:
    yield "store", record["store"]
    yield "pages", f"{census.pages:,}, {census.thin:,} of them thin"
    if set(census.namespaces) - {""}:
        yield "namespaces", _counted({name or "''": n for name, n in record["namespaces"].items()})
    if census.oldest is not None and census.newest is not None:
        top = _counted({name or "unknown": n for name, n in record["top_sites"].items()})
        more = ", …" if len(census.sites) > TOP_SITES else ""
        yield "sites", f"{len(census.sites):,}: {top}{more}"
        yield "seen", f"{minute(census.oldest)} to {minute(census.newest)} UTC"
    if census.texts:
        a_text = round(census.texts_bytes / census.texts)
        told = f"{size(census.texts_bytes)}, {a_text:,} bytes a text, compressed"
        yield "texts", f"{census.texts:,}, {told}"
    if record["bytes"] is not None:
        a_page = record["bytes_a_page"]
        told = "" if a_page is None else f", {a_page:,} bytes a page"
        yield "size", f"{size(record['bytes'])}{told}"
        yield "file", f"format {record['format']}, index in {_INDEX[record['index']]}"
    yield "made with", _made_with(record["made_with"])


_INDEX = {"memory": "memory", "disk": "the file"}


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _made_with(stamp: Mapping[str, object] | None) -> str:
    if stamp is None:
        return "nothing noted"
    default = Options().stamp()
    other = [f"{name} {value!r}" for name, value in stamp.items() if default.get(name) != value]
    return f"the default options{' but ' if other else ''}{', '.join(other)}"
