"""`scrapy simhash store list | find`: the pages of a store, all or those near to something."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from simhash_pipeline.bits import SKETCH_BITS, fingerprint_hex, hex_digits
from simhash_pipeline.cli.arguments import count
from simhash_pipeline.cli.store_choice import add_choice, chosen
from simhash_pipeline.cli.terminal import add_json, iso, minute, tell
from simhash_pipeline.printable import printable
from simhash_pipeline.stores.contract import Action, StoredPage, View, stamped_bits
from simhash_pipeline.urls import page_key

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from simhash_pipeline.stores.contract import Store

FOUND_AT_MOST = 20


class ListCommand:
    name = "list"
    summary = "the pages, by when they were kept"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = "A line a page: when it was last seen (UTC), content, structure, URL."
        parser.add_argument("--namespace", help="only the pages of this one; '' is one too")
        parser.add_argument("--site", help="only those of this registered domain, as example.org")
        parser.add_argument("--limit", type=count, help="at most so many")
        add_choice(parser)
        add_json(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        site = None if options.site is None else options.site.lower()
        wanted = {"namespace": options.namespace, "site": site}
        filters = [(name, value) for name, value in wanted.items() if value is not None]
        with chosen(options, settings).existing() as store:
            bits = _bits(store)
            pages = (
                page
                for page in store.pages()
                if all(getattr(page, name) == value for name, value in filters)
            )
            for page in islice(pages, options.limit):
                tell(_record(page, bits), _words(page, bits), as_json=options.json)
        return 0


class FindCommand:
    name = "find"
    summary = "the page of a URL, or the pages near a fingerprint, nearest first"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = (
            "A line a page, as `list` tells them, behind its distance in bits. "
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
            help="how near the fingerprints, 0-8 (default: 3)",
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
            help=f"at most so many (default: {FOUND_AT_MOST})",
        )
        add_choice(parser)
        add_json(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        named = chosen(options, settings)
        given = options.namespace
        namespace = named.options.namespace if given is None else given
        with named.existing() as store:
            bits = _bits(store)
            sought = _sought(options.what, namespace, bits, by_structure=options.structure)
            found = _found(store, sought, options.distance, options.limit)
        for page, distance in found:
            told = "" if distance is None else f"{distance}  "
            record = {"distance": distance} | _record(page, bits)
            tell(record, told + _words(page, bits), as_json=options.json)
        return 0 if found else 1


def stored_page(store: Store, namespace: str, url: str) -> StoredPage | None:
    """The page of a canonical URL."""
    return store.settle(_asking(namespace, url), lambda view: (Action.SKIP, view.same_key()))


def nearest(store: Store, page: StoredPage, limit: int) -> list[StoredPage]:
    """At most so many other pages within 8 bits of its content, nearest first."""

    def look(view: View) -> tuple[Action, list[StoredPage]]:
        return Action.SKIP, [found for found, _ in islice(view.near_content(8), limit)]

    return store.settle(page, look)


def _bits(store: Store) -> int:
    return stamped_bits(store.made_with() or {})


def _record(page: StoredPage, bits: int) -> dict[str, Any]:
    return {
        "url": page.url,
        "namespace": page.namespace,
        "site": page.site,
        "content": fingerprint_hex(page.content, bits),
        "structure": fingerprint_hex(page.structure, bits),
        "sketch": fingerprint_hex(page.sketch, SKETCH_BITS),
        "digest": None if page.digest is None else page.digest.hex(),
        "first_seen": iso(page.first_seen),
        "seen_at": iso(page.seen_at),
    }


def _words(page: StoredPage, bits: int) -> str:
    digits = hex_digits(bits)
    content = fingerprint_hex(page.content, bits) or "thin"
    structure = fingerprint_hex(page.structure, bits) or "-"
    where = f" (namespace {page.namespace})" if page.namespace else ""
    line = f"{minute(page.seen_at)}  {content:{digits}}  {structure:{digits}}  {page.url}{where}"
    return printable(line)


def _sought(what: str, namespace: str, bits: int, *, by_structure: bool) -> StoredPage:
    """What is asked for, as a page to be looked up: of a URL, or with one fingerprint."""
    url, content, structure = "", None, None
    if re.fullmatch(f"[0-9a-fA-F]{{{hex_digits(bits)}}}", what):
        value = int(what, 16)
        content, structure = (None, value) if by_structure else (value, None)
    elif re.match(r"[a-z][a-z0-9+.-]*:", what, re.IGNORECASE):
        url = page_key(what)
    else:
        rule = f"a URL, or a fingerprint of {hex_digits(bits)} hex digits"
        raise UsageError(f"what to find must be {rule}, not {what!r}")
    return replace(_asking(namespace, url), content=content, structure=structure)


def _asking(namespace: str, url: str) -> StoredPage:
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
