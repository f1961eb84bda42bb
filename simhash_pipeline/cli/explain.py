"""`scrapy simhash explain`: why a page was dropped or kept, by the log, the store and the texts."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from simhash_pipeline.bits import fingerprint_hex
from simhash_pipeline.cli.arguments import add_limit
from simhash_pipeline.cli.command import Command, Result, counted, fields, iso, minute, print_result
from simhash_pipeline.cli.compare import (
    SHOWN,
    SHOWN_AT_MOST,
    change_records,
    distance_grid,
    feature_lines,
    feature_records,
    own_texts_differ,
    rounded,
)
from simhash_pipeline.cli.fingerprint import all_fingerprinted
from simhash_pipeline.cli.resolve import (
    LogReader,
    NamedStore,
    resolve_log,
    resolve_store,
    store_of_spider,
)
from simhash_pipeline.cli.store import nearest, stored_page
from simhash_pipeline.crawl.settings import settings_of_spider
from simhash_pipeline.drop_log import THRESHOLDS, Drop, unix_seconds
from simhash_pipeline.judge import (
    Distances,
    distances,
    have_own_texts,
    min_likeness,
    own_likeness,
)
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.review.comparison import (
    Comparison,
    compare,
)
from simhash_pipeline.review.diff import beside, bit_picture
from simhash_pipeline.stores.contract import Store, StoredPage, check_stamp
from simhash_pipeline.terminal import Grid, Heading
from simhash_pipeline.urls import page_key

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from simhash_pipeline.terminal import Line

NEIGHBOURS = 5


class ExplainCommand(Command):
    epilog = (
        "The last drop of the URL in the drop log or, if it was kept, the stored page and its "
        "nearest neighbour. The texts are compared if SIMHASH_KEEP_TEXT kept them, or with "
        "--fetch."
    )
    takes_a_store = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("url", help="of the page, as the crawl requested it")
        parser.add_argument("--log", help="the drop log (default: the one of this project)")
        parser.add_argument(
            "--fetch", action="store_true", help="fetch both pages now, and compare their texts"
        )
        add_limit(parser, SHOWN_AT_MOST, SHOWN)

    def needs_crawl(self, arguments: argparse.Namespace) -> bool:
        return bool(arguments.fetch)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        options = Options.from_settings(settings)
        key = page_key(arguments.url)
        path, log = _log(arguments, settings)
        drop = _last_drop(log, options.namespace, key, arguments.spider)
        if drop is not None:
            settings = settings_of_spider(drop.spider, settings)
            options = Options.from_settings(settings)
        named = _store(arguments, settings, drop)
        with ExitStack() as opened:
            store = None if named is None else opened.enter_context(named.existing())
            stamp = None if store is None else store.made_with()
            if named is not None and stamp is not None:
                check_stamp(f"store {named.name}", stamp, options.stamp())
            page = None if store is None else stored_page(store, options.namespace, key)
            if drop is not None and (page is None or page.first_seen <= unix_seconds(drop.time)):
                case = explain_drop(drop, store, options)
            elif page is not None and store is not None:
                case = explain_kept(page, store, options)
            else:
                places = [str(path)] if path else []
                places += [] if named is None else [named.name]
                where = " nor ".join(places) or "no drop log or store here"
                raise UsageError(f"nothing of {key} is in {where}")
            case = _with_texts(case, arguments, store, options)
        print_result(dataclasses.replace(case, limit=arguments.limit), arguments)
        return 0 if log is None else log.exit_code()


def _log(
    arguments: argparse.Namespace, settings: BaseSettings
) -> tuple[Path | None, LogReader | None]:
    """(None, None) if crawls write no log."""
    try:
        path = resolve_log(arguments, settings)
    except UsageError:
        if arguments.store is None:
            raise
        return None, None
    return path, LogReader(path)


def _last_drop(log: LogReader | None, namespace: str, key: str, spider: str | None) -> Drop | None:
    """The URL's last drop in this namespace, by this spider or any."""
    drop = None
    for record in log or ():
        if not isinstance(record, Drop) or record.url != key:
            continue
        if record.namespace == namespace and spider in (None, record.spider):
            drop = record
    return drop


def _store(
    arguments: argparse.Namespace, settings: BaseSettings, drop: Drop | None
) -> NamedStore | None:
    """The named store, or that of the drop's spider; None if it doesn't exist any more."""
    if arguments.store is None and (arguments.spider or drop is not None):
        spider = arguments.spider if drop is None else drop.spider
        named = store_of_spider(spider, settings)
        return named if named.is_there else None
    try:
        return resolve_store(arguments, settings)
    except UsageError:
        return None


@dataclass(frozen=True, slots=True)
class Case(Result):
    """A page, and the stored page it is near to or the nearest stored page."""

    options: Options  # those that decided; of a kept page, those in force
    a: PageFingerprint | None  # the stored page; without what isn't known of it
    b: PageFingerprint  # the page in question
    apart: Distances
    drop: Drop | None = None  # of a dropped page
    kept: StoredPage | None = None  # of a kept page
    neighbours: tuple[StoredPage, ...] = ()  # of a kept page, nearest first
    texts: str | None = None  # "kept" or "fetched"; None if the texts aren't known
    found: Comparison | None = None  # of the texts
    own_likeness: float | None = None  # of the own texts, 0-1; None for pages of two sites
    same_site: bool = False  # and something of both pages' own texts is known
    limit: int = 0  # features of a kind, and changes, to be printed

    def record(self) -> dict[str, Any]:
        drop, kept, found, limit = self.drop, self.kept, self.found, self.limit
        return {
            "url": self.b.url,
            "status": "kept" if drop is None else "dropped",
            "reason": None if drop is None else drop.reason,
            "time": drop.time if drop else iso(kept.first_seen) if kept else None,
            "dry_run": None if drop is None else drop.dry_run,
            "thresholds": fields(self.options, *THRESHOLDS),
            "content_distance": self.apart.content,
            "structure_distance": self.apart.structure,
            "sketch_distance": self.apart.sketch,
            "own_likeness": rounded(self.own_likeness),
            "page": _page_record(self.b, self.options.bits),
            "twin": None if self.a is None else _page_record(self.a, self.options.bits),
            "neighbours": [page.url for page in self.neighbours],
            "texts": self.texts,
            "shared": feature_records(found.shared[:limit]) if found else None,
            "differing": feature_records(found.differing[:limit]) if found else None,
            "diff": change_records(found.diff, limit) if found else None,
        }

    def lines(self) -> Iterator[Line]:
        yield from _headline(self)
        if self.a is None:
            return
        yield ""
        yield distance_grid(self.a, self.b, self.apart, self.options)
        yield from _pictures(self)
        yield ""
        if self.found is None:
            yield from _NO_TEXTS
            return
        yield from feature_lines(self.found, self.limit)
        yield ""
        when = "as fetched now" if self.texts == "fetched" else "as they were judged"
        if self.found.diff.changes:
            yield Heading(f"The texts ({when}), A beside B; [-only in A-], {{+only in B+}}")
            yield from beside(self.a.text, self.b.text, self.limit)
        else:
            yield f"The main texts ({when}) have the same words."
        yield from _beside_main(self)

    @property
    def own_texts_agree(self) -> bool:
        """True for pages of two sites, which are judged by their main texts."""
        likeness = self.own_likeness
        return not self.same_site or (likeness is not None and likeness >= self.min_likeness)

    @property
    def min_likeness(self) -> float:
        """The likeness of own texts that near-duplicates have at the least."""
        return 0.0 if self.a is None else min_likeness(self.a, self.b)


_REASONS = {
    "content": "its content is near that of a stored page.",
    "structure": "its structure is near that of a stored page.",
    "content and structure": "both content and structure are near those of a stored page.",
    "thin": "it has little text, and its title and text are a stored page's.",
    "unchanged": "it is stored, and nothing visible has changed.",
}
_NO_TEXTS: tuple[Line, ...] = (
    "The texts of the pages were not kept. To compare them:",
    Grid(
        [
            ("now", "the same command with --fetch"),
            ("from the next crawl on", "SIMHASH_KEEP_TEXT = True (`dedup` needs --store too)"),
        ],
        indent=2,
    ),
)


def explain_drop(drop: Drop, store: Store | None, options: Options) -> Case:
    twin = None
    if store is not None and drop.twin_url is not None:
        twin = stored_page(store, options.namespace, drop.twin_url)
    bits = 4 * len(drop.content or drop.structure or "") or options.bits
    known = {field.name for field in dataclasses.fields(Options)}
    limits = {name: value for name, value in drop.thresholds.items() if name in known}
    return Case(
        options=Options(**limits, bits=bits),
        drop=drop,
        a=None if drop.twin_url is None else _fingerprints(drop.twin_url, twin),
        b=PageFingerprint(
            content=None if drop.content is None else int(drop.content, 16),
            structure=None if drop.structure is None else int(drop.structure, 16),
            sketch=None,
            text="",
            title=drop.title,
            tokens=drop.tokens,
            url=drop.url,
        ),
        apart=Distances(drop.content_distance, drop.structure_distance, drop.sketch_distance),
        own_likeness=drop.own_likeness,
        same_site=drop.own_likeness is not None,
    )


def explain_kept(page: StoredPage, store: Store, options: Options) -> Case:
    near = nearest(store, page, NEIGHBOURS)
    other = near[0] if near else None
    return Case(
        options=options,
        kept=page,
        neighbours=tuple(near),
        a=None if other is None else _fingerprints(other.url, other),
        b=_fingerprints(page.url, page),
        apart=Distances(None, None, None) if other is None else distances(page, other),
        own_likeness=None if other is None else own_likeness(page, other, store),
        same_site=other is not None and have_own_texts(page, other),
    )


def _fingerprints(url: str, page: StoredPage | None) -> PageFingerprint:
    """A stored page as the store knows it; without fingerprints if it isn't stored any more."""
    content, structure, sketch = (
        (None, None, None) if page is None else (page.content, page.structure, page.sketch)
    )
    return PageFingerprint(content, structure, sketch, text="", title="", tokens=0, url=url)


def _with_texts(
    case: Case, arguments: argparse.Namespace, store: Store | None, options: Options
) -> Case:
    """The case with the pages' texts, fetched now or kept; unchanged if these aren't known."""
    fingerprinter = Fingerprinter(options)
    pages = [case.b] if case.a is None else [case.a, case.b]
    texts: Sequence[PageFingerprint | None]
    if arguments.fetch:
        texts = all_fingerprinted(arguments, fingerprinter, [page.url or "" for page in pages])
    else:
        texts = [_kept(page, store, options, fingerprinter) for page in pages]
    *a, b = (text or page for text, page in zip(texts, pages, strict=True))
    case = dataclasses.replace(case, a=a[0] if a else None, b=b)
    if None in texts:
        return case
    case = dataclasses.replace(case, texts="fetched" if arguments.fetch else "kept")
    if case.a is None:
        return case
    found = compare(case.a, case.b, fingerprinter, options)
    apart = found.apart if arguments.fetch else case.apart
    return dataclasses.replace(case, found=found, apart=apart)


def _kept(
    page: PageFingerprint, store: Store | None, options: Options, fingerprinter: Fingerprinter
) -> PageFingerprint | None:
    """The page with the text that the store kept, and the sketch of that text; None without one."""
    text = None if store is None else store.text_of(options.namespace, page.url or "")
    if text is None:
        return None
    made = fingerprinter.fingerprint_text(text.text, title=text.title, url=page.url)
    return dataclasses.replace(made, content=page.content, structure=page.structure)


def _page_record(page: PageFingerprint, bits: int) -> dict[str, Any]:
    return {
        "url": page.url,
        "title": page.title,
        "content": fingerprint_hex(page.content, bits),
        "structure": fingerprint_hex(page.structure, bits),
    }


def _headline(case: Case) -> Iterator[Line]:
    drop = case.drop
    if drop is not None:
        when = minute(unix_seconds(drop.time))
        dry = ", by a dry run, so its item was kept" if drop.dry_run else ""
        why = _REASONS.get(drop.reason, drop.reason)
        yield Heading(f"Dropped {when} UTC by spider {drop.spider}{dry}: {why}")
    elif case.kept is not None:
        first, last = minute(case.kept.first_seen), minute(case.kept.seen_at)
        yield Heading(f"Kept {first} UTC, last seen {last}: {_why_kept(case)}")
    rows = [("A", "kept" if drop else "nearest", case.a)] if case.a is not None else []
    rows.append(("B", "dropped" if drop else "kept", case.b))
    yield ""
    yield Grid(
        [
            row
            for name, status, page in rows
            for row in ((name, status, page.url or ""), ("", "", page.title))
            if row[2]
        ]
    )
    if len(case.neighbours) > 1:
        yield "Further neighbours:"
        yield from (f"  {page.url}" for page in case.neighbours[1:])


def _why_kept(case: Case) -> str:
    content, sketch, options = case.apart.content, case.apart.sketch, case.options
    if case.b.content is None:
        return f"as a thin page, of fewer than {options.min_tokens} tokens."
    if content is None:
        return "no other stored page is within 8 bits of its content."
    if content > options.content_distance:
        within = f"twins are within {options.content_distance}"
        return f"the nearest stored page is {counted(content, 'bit')} away, and {within}."
    limit = options.verify_distance
    if sketch is not None and limit is not None and sketch > limit:
        apart = f"{counted(sketch, 'bit')} apart"
        return f"a stored page is near, but the sketches are {apart}, over {limit}."
    if not case.own_texts_agree:
        differ = own_texts_differ(case.own_likeness, case.min_likeness)
        return f"a stored page's main text is near, but {differ}."
    return "it is near a page that is stored too; one of them was kept before the other was."


def _pictures(case: Case) -> Iterator[Line]:
    for name in ("content", "structure"):
        a, b = getattr(case.a, name), getattr(case.b, name)
        if b is None:
            continue
        yield ""
        if a is None:
            yield f"{name}: that of A is not known, for no store here holds it"
            continue
        yield Heading(f"{name}, {getattr(case.apart, name)} of {case.options.bits} bits differ")
        yield from (f"  {row}" for row in bit_picture(a, b, case.options.bits))


def _beside_main(case: Case) -> Iterator[str]:
    """How alike the pages are beside what was read as main text."""
    if case.own_likeness is not None:
        yield f"All that is their own on the site is alike by {case.own_likeness:.0%}."
    if case.found is None or case.texts != "fetched":
        return
    for name, page in (("A", case.a), ("B", case.b)):
        if page is not None and page.main_share is not None:
            yield f"The main text is {page.main_share:.0%} of {name}."
    changes = case.found.left_out.changes
    yield f"Beside the main texts {counted(len(changes), 'change')} of words."
