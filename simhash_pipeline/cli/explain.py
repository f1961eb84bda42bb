"""`scrapy simhash explain`: why a page was dropped or kept, by the log, the store and the texts."""

from __future__ import annotations

import dataclasses
import shutil
from contextlib import ExitStack
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from simhash_pipeline.cli.arguments import count
from simhash_pipeline.cli.explanation import Case, explanation_lines, explanation_record
from simhash_pipeline.cli.fetch import fingerprinted
from simhash_pipeline.cli.log_choice import LogReader, chosen_log
from simhash_pipeline.cli.store_choice import NamedStore, add_choice, chosen, store_of_spider
from simhash_pipeline.cli.store_pages import nearest, stored_page
from simhash_pipeline.cli.terminal import add_json, tell
from simhash_pipeline.compare.comparison import compare
from simhash_pipeline.crawl.settings import settings_of_spider
from simhash_pipeline.drop_log import Drop, unix_seconds
from simhash_pipeline.errors import PageError
from simhash_pipeline.judge import Distances, distances, have_own_texts, own_likeness
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.stores.contract import Store, StoredPage, check_stamp
from simhash_pipeline.urls import page_key

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from scrapy.settings import BaseSettings

TOLD_AT_MOST = 10
NEIGHBOURS = 5


class ExplainCommand:
    name = "explain"
    summary = "why a page was dropped or kept: its twin, bits, words, and other thresholds"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = (
            "The last drop of the URL in the drop log or, if it was kept, the stored page beside "
            "the nearest other one. What the pages say is told where SIMHASH_KEEP_TEXT kept it, "
            "and with --fetch."
        )
        parser.add_argument("url", help="of the page, as the crawl met it")
        parser.add_argument("--log", help="the drop log (default: the one of this project)")
        parser.add_argument(
            "--fetch", action="store_true", help="fetch both pages now, and tell what they say"
        )
        parser.add_argument(
            "--limit",
            type=count,
            default=TOLD_AT_MOST,
            help=f"at most so many features of a kind, and changes (default: {TOLD_AT_MOST})",
        )
        add_choice(parser)
        add_json(parser)

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
                case = _of_drop(drop, store, options)
            elif page is not None and store is not None:
                case = _of_kept(page, store, options)
            else:
                places = [str(path)] if path else []
                places += [] if named is None else [named.name]
                where = " nor ".join(places) or "no drop log or store here"
                raise UsageError(f"nothing of {key} is in {where}")
            case = _with_texts(case, arguments, store, options)
        tell(
            explanation_record(case, arguments.limit),
            "\n".join(explanation_lines(case, arguments.limit, shutil.get_terminal_size().columns)),
            as_json=arguments.json,
        )
        return 0 if log is None else log.exit_code()


def _log(
    arguments: argparse.Namespace, settings: BaseSettings
) -> tuple[Path | None, LogReader | None]:
    """(None, None) where crawls leave no log."""
    try:
        path = chosen_log(arguments, settings)
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
    """The store that is named, or that of the drop's spider; None where that is gone."""
    if arguments.store is not None:
        return chosen(arguments, settings)
    if arguments.spider is not None or drop is not None:
        spider = arguments.spider if drop is None else drop.spider
        named = store_of_spider(spider, settings)
        return named if named.is_there else None
    try:
        return chosen(arguments, settings)
    except UsageError:
        return None


def _of_drop(drop: Drop, store: Store | None, options: Options) -> Case:
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


def _of_kept(page: StoredPage, store: Store, options: Options) -> Case:
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
    """A stored page as the store knows it; without fingerprints where it isn't stored any more."""
    content, structure, sketch = (
        (None, None, None) if page is None else (page.content, page.structure, page.sketch)
    )
    return PageFingerprint(content, structure, sketch, text="", title="", tokens=0, url=url)


def _with_texts(
    case: Case, arguments: argparse.Namespace, store: Store | None, options: Options
) -> Case:
    """The case with what the pages say, fetched now or kept; as it was where that isn't known."""
    fingerprinter = Fingerprinter(options)
    b: PageFingerprint | None
    if arguments.fetch:
        urls = [page.url or "" for page in (case.a, case.b) if page is not None]
        fetched = _fetched(urls, arguments, fingerprinter)
        a, b = case.a and fetched[case.a.url], fetched[case.b.url]
    else:
        a = case.a and _kept(case.a, store, options, fingerprinter)
        b = _kept(case.b, store, options, fingerprinter)
    all_known = b is not None and (a is not None or case.a is None)
    case = dataclasses.replace(case, a=a or case.a, b=b or case.b)
    if not all_known:
        return case
    case = dataclasses.replace(case, texts="fetched" if arguments.fetch else "kept")
    if case.a is None:
        return case
    found = compare(case.a, case.b, fingerprinter, options)
    apart = found.apart if arguments.fetch else case.apart
    return dataclasses.replace(case, found=found, apart=apart)


def _fetched(
    urls: Sequence[str], arguments: argparse.Namespace, fingerprinter: Fingerprinter
) -> dict[str | None, PageFingerprint]:
    """The pages by their URLs; PageError for the first that can't be had."""
    said: dict[str | None, PageFingerprint] = {}
    for url, page in zip(urls, fingerprinted(arguments, fingerprinter, urls), strict=True):
        if isinstance(page, PageError):
            raise page
        said[url] = page
    return said


def _kept(
    page: PageFingerprint, store: Store | None, options: Options, fingerprinter: Fingerprinter
) -> PageFingerprint | None:
    """The page with the text that the store kept, and a sketch made of that; None without one."""
    text = None if store is None else store.text_of(options.namespace, page.url or "")
    if text is None:
        return None
    said = fingerprinter.of_text(text.text, title=text.title, url=page.url)
    return dataclasses.replace(said, content=page.content, structure=page.structure)
