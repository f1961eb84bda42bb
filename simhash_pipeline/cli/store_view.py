"""`scrapy simhash store info | list | find | check`: what a store holds; nothing is changed."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from simhash_pipeline.bits import SKETCH_BITS, fingerprint_hex, hex_digits
from simhash_pipeline.cli.arguments import count
from simhash_pipeline.cli.resolve import NamedStore, add_store, resolve_store, resolve_stores
from simhash_pipeline.cli.result import Result, add_json, iso, minute, print_result, size
from simhash_pipeline.errors import StoreDamaged
from simhash_pipeline.options import Options
from simhash_pipeline.stores.contract import Action, StoredPage, View, stamped_bits
from simhash_pipeline.stores.sqlite.file import FORMAT
from simhash_pipeline.terminal import Grid, progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy.settings import BaseSettings

    from simhash_pipeline.stores.contract import Store

TOP_SITES = 5
FOUND_AT_MOST = 20
_INDEX_PLACES = {"memory": "memory", "disk": "the file"}


class InfoCommand:
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = "Reads all pages. Without a name, all stores of a project are described."
        add_store(parser)
        add_json(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        for place, named in enumerate(resolve_stores(arguments, settings)):
            with named.existing() as store:
                info = _info(named, store)
            if place and not arguments.json:
                print()
            print_result(info, arguments)
        return 0


@dataclass(frozen=True, slots=True)
class StoreInfo(Result):
    """What is counted of a store, and how it was made."""

    store: str
    pages: int
    thin: int
    namespaces: dict[str, int]
    sites: int
    top_sites: dict[str, int]
    first_seen: str | None
    seen_at: str | None
    texts: int
    texts_bytes: int
    bytes: int | None
    bytes_a_page: int | None
    format: int | None
    index: str | None
    made_with: Mapping[str, object] | None

    def lines(self) -> Iterator[Grid]:
        yield Grid(list(self._rows()))

    def _rows(self) -> Iterator[tuple[str, str]]:
        yield "store", self.store
        yield "pages", f"{self.pages:,}, {self.thin:,} of them thin"
        if set(self.namespaces) - {""}:
            yield "namespaces", _listed(self.namespaces, unnamed="''")
        if self.first_seen is not None and self.seen_at is not None:
            more = ", …" if self.sites > TOP_SITES else ""
            yield "sites", f"{self.sites:,}: {_listed(self.top_sites, unnamed='unknown')}{more}"
            yield "seen", f"{_to_minute(self.first_seen)} to {_to_minute(self.seen_at)} UTC"
        if self.texts:
            each = f"{round(self.texts_bytes / self.texts):,} bytes a text, compressed"
            yield "texts", f"{self.texts:,}, {size(self.texts_bytes)}, {each}"
        if self.bytes is not None:
            each = "" if self.bytes_a_page is None else f", {self.bytes_a_page:,} bytes a page"
            yield "size", f"{size(self.bytes)}{each}"
            yield "file", f"format {self.format}, index in {_INDEX_PLACES[self.index or 'memory']}"
        yield "made with", _options(self.made_with)


def _info(named: NamedStore, store: Store) -> StoreInfo:
    census = _Census()
    for page in progress(store.pages(), "pages", len(store)):
        census.add(page)
    texts = texts_bytes = 0
    for size_bytes in progress(store.text_sizes(), "texts"):
        texts += 1
        texts_bytes += size_bytes
    file_bytes = named.size_bytes
    return StoreInfo(
        store=named.name,
        pages=census.pages,
        thin=census.thin,
        namespaces=dict(census.namespaces.most_common()),
        sites=len(census.sites),
        top_sites=dict(census.sites.most_common(TOP_SITES)),
        first_seen=None if census.oldest is None else iso(census.oldest),
        seen_at=None if census.newest is None else iso(census.newest),
        texts=texts,
        texts_bytes=texts_bytes,
        bytes=file_bytes,
        bytes_a_page=round(file_bytes / census.pages) if file_bytes and census.pages else None,
        format=None if named.path is None else FORMAT,
        index=None if named.path is None else named.options.index,
        made_with=store.made_with(),
    )


@dataclass(slots=True)
class _Census:
    pages: int = 0
    thin: int = 0
    namespaces: Counter[str] = field(default_factory=Counter)
    sites: Counter[str] = field(default_factory=Counter)
    oldest: float | None = None  # when a page was first kept, Unix seconds
    newest: float | None = None  # when a page was last seen

    def add(self, page: StoredPage) -> None:
        self.pages += 1
        self.thin += page.content is None
        self.namespaces[page.namespace] += 1
        self.sites[page.site] += 1
        self.oldest = page.first_seen if self.oldest is None else min(self.oldest, page.first_seen)
        self.newest = page.seen_at if self.newest is None else max(self.newest, page.seen_at)


def _listed(counts: Mapping[str, int], *, unnamed: str) -> str:
    return ", ".join(f"{name or unnamed} {count:,}" for name, count in counts.items())


def _to_minute(time: str) -> str:
    return time[:16].replace("T", " ")


def _options(stamp: Mapping[str, object] | None) -> str:
    if stamp is None:
        return "nothing noted"
    default = Options().stamp()
    other = [f"{name} {value!r}" for name, value in stamp.items() if default.get(name) != value]
    return f"the default options{' but ' if other else ''}{', '.join(other)}"


class ListCommand:
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = "A line a page: when it was last seen (UTC), content, structure, URL."
        parser.add_argument("--namespace", help="only the pages of this one; '' is one too")
        parser.add_argument("--site", help="only those of this registered domain, as example.org")
        parser.add_argument("--limit", type=count, help="at most this many pages")
        add_store(parser)
        add_json(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        namespace = arguments.namespace
        site = None if arguments.site is None else arguments.site.lower()
        with resolve_store(arguments, settings).existing() as store:
            bits = _bits(store)
            pages = (
                page
                for page in store.pages()
                if namespace in (None, page.namespace) and site in (None, page.site)
            )
            for page in islice(pages, arguments.limit):
                print_result(ListedPage(page, bits), arguments)
        return 0


@dataclass(frozen=True, slots=True)
class ListedPage(Result):
    """A stored page, in one line."""

    page: StoredPage
    bits: int  # of its fingerprints

    def record(self) -> dict[str, Any]:
        page = self.page
        return {
            "url": page.url,
            "namespace": page.namespace,
            "site": page.site,
            "content": fingerprint_hex(page.content, self.bits),
            "structure": fingerprint_hex(page.structure, self.bits),
            "sketch": fingerprint_hex(page.sketch, SKETCH_BITS),
            "digest": None if page.digest is None else page.digest.hex(),
            "first_seen": iso(page.first_seen),
            "seen_at": iso(page.seen_at),
        }

    def lines(self) -> Sequence[str]:
        page, digits = self.page, hex_digits(self.bits)
        content = fingerprint_hex(page.content, self.bits) or "thin"
        structure = fingerprint_hex(page.structure, self.bits) or "-"
        where = f" (namespace {page.namespace})" if page.namespace else ""
        seen = minute(page.seen_at)
        return [f"{seen}  {content:{digits}}  {structure:{digits}}  {page.url}{where}"]


class FindCommand:
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = (
            "A line a page, as in `list`, after its distance in bits. "
            "Exit code as grep's: 0 when something is found, 1 when nothing is."
        )
        parser.add_argument(
            "what",
            metavar="url-or-fingerprint",
            help="a fingerprint is 16 hex digits (8 in a store of 32 bits, 32 in one of 128)",
        )
        parser.add_argument(
            "--distance",
            type=int,
            choices=range(9),
            metavar="BITS",
            default=3,
            help="the largest distance of the fingerprints, 0-8 (default: 3)",
        )
        parser.add_argument(
            "--structure",
            action="store_true",
            help="near by structure, not content (an SQLite store makes its index for it once)",
        )
        parser.add_argument("--namespace", help="where to look (default: SIMHASH_NAMESPACE)")
        parser.add_argument(
            "--limit",
            type=count,
            default=FOUND_AT_MOST,
            help=f"at most this many pages (default: {FOUND_AT_MOST})",
        )
        add_store(parser)
        add_json(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        named = resolve_store(arguments, settings)
        given = arguments.namespace
        namespace = named.options.namespace if given is None else given
        with named.existing() as store:
            bits = _bits(store)
            sought = _sought(arguments.what, namespace, bits, by_structure=arguments.structure)
            found = _found(store, sought, arguments.distance, arguments.limit)
        for page, distance in found:
            print_result(FoundPage(page, bits, distance), arguments)
        return 0 if found else 1


@dataclass(frozen=True, slots=True)
class FoundPage(ListedPage):
    """A stored page and its distance in bits; None when it was found by its URL."""

    distance: int | None

    def record(self) -> dict[str, Any]:
        return {"distance": self.distance, **ListedPage.record(self)}

    def lines(self) -> Sequence[str]:
        (line,) = ListedPage.lines(self)
        return [line if self.distance is None else f"{self.distance}  {line}"]


def stored_page(store: Store, namespace: str, url: str) -> StoredPage | None:
    """The page of a canonical URL."""
    return store.settle(_query(namespace, url), lambda view: (Action.SKIP, view.same_key()))


def nearest(store: Store, page: StoredPage, limit: int) -> list[StoredPage]:
    """At most `limit` other pages within 8 bits of its content, nearest first."""

    def look(view: View) -> tuple[Action, list[StoredPage]]:
        return Action.SKIP, [found for found, _ in islice(view.near_content(8), limit)]

    return store.settle(page, look)


def _bits(store: Store) -> int:
    return stamped_bits(store.made_with() or {})


def _sought(what: str, namespace: str, bits: int, *, by_structure: bool) -> StoredPage:
    """A page to be looked up by its URL, or by one fingerprint."""
    if re.fullmatch(f"[0-9a-fA-F]{{{hex_digits(bits)}}}", what):
        column = "structure" if by_structure else "content"
        return replace(_query(namespace, ""), **{column: int(what, 16)})  # type: ignore[arg-type]  # mypy can't know which
    if re.match(r"[a-z][a-z0-9+.-]*:", what, re.IGNORECASE):
        from simhash_pipeline.urls import page_key

        return _query(namespace, page_key(what))
    rule = f"a URL, or a fingerprint of {hex_digits(bits)} hex digits"
    raise UsageError(f"what to find must be {rule}, not {what!r}")


def _query(namespace: str, url: str) -> StoredPage:
    return StoredPage(
        url=url,
        namespace=namespace,
        site="",
        content=None,
        structure=None,
        sketch=None,
        digest=None,
        first_seen=0,
        seen_at=0,
    )


def _found(
    store: Store, sought: StoredPage, max_distance_bits: int, limit: int
) -> list[tuple[StoredPage, int | None]]:
    """(page, distance in bits), at most `limit`; the distance of a URL's page is None."""

    def look(view: View) -> Iterator[tuple[StoredPage, int | None]]:
        if sought.url:
            page = view.same_key()
            yield from [] if page is None else [(page, None)]
        yield from view.near_content(max_distance_bits)
        yield from view.near_structure(max_distance_bits)

    return store.settle(sought, lambda view: (Action.SKIP, list(islice(look(view), limit))))


class CheckCommand:
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = "Exit code 1 when something is damaged."
        add_store(parser)
        add_json(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        named = resolve_store(arguments, settings)
        pages = None
        try:
            with named.existing() as store:
                faults = store.check()
                pages = None if faults else len(store)
        except StoreDamaged:
            faults = ["too damaged to be opened"]
        print_result(StoreCheck(named.name, pages, faults), arguments)
        return 1 if faults else 0


@dataclass(frozen=True, slots=True)
class StoreCheck(Result):
    store: str
    pages: int | None  # None if it is damaged
    faults: list[str]

    def lines(self) -> Sequence[str]:
        if not self.faults:
            return [f"{self.store}: {self.pages:,} pages, all well"]
        advice = "Restore a copy, or move the file away to begin anew."
        return [*(f"{self.store}: {fault}" for fault in self.faults), advice]
