"""`scrapy simhash fingerprint | compare | explain`: a page, two pages, why one was dropped."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import UsageError
from scrapy.http.request import NO_CALLBACK
from scrapy.settings import BaseSettings

from simhash_pipeline.bits import BITS, MAX_DISTANCE_BITS, SKETCH_BITS, fingerprint_hex
from simhash_pipeline.cli.command import (
    Command,
    add_log,
    counted,
    fields,
    minute,
    print_result,
    whole,
)
from simhash_pipeline.cli.resolve import (
    LogReader,
    NamedStore,
    has_crawled,
    resolve_logs,
    resolve_stores,
    store_of_spider,
)
from simhash_pipeline.crawl.item_source import source_from_response
from simhash_pipeline.crawl.settings import STORE_SUFFIX, settings_of_spider, spider_files
from simhash_pipeline.drop_log import REASONS, THRESHOLDS, Drop, unix_seconds
from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint, sentences
from simhash_pipeline.page.source import Source
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.repeated_text import repeated_among, template_of
from simhash_pipeline.review.comparison import (
    Comparison,
    TextDiff,
    compare,
    marked,
    text_diff,
    verdict_on,
)
from simhash_pipeline.review.doubts import DECIDING, why_kept, why_rejected
from simhash_pipeline.stores.contract import (
    Action,
    PageText,
    Store,
    StoredPage,
    View,
    check_stamp,
)
from simhash_pipeline.terminal import Grid, Heading, Line, print_lines, printable
from simhash_pipeline.twins import similarity
from simhash_pipeline.urls import page_key
from simhash_pipeline.verdict import Distances, Verdict, distances

SHOWN_AT_MOST = 10  # changes of the words
NEIGHBOURS = 5  # of a kept page, that are listed
_FETCHED, _FILE = ("http://", "https://"), "file://"
# Nothing that the project has set up for its crawls may run, write or count here.
SETTINGS: dict[str, Any] = {
    "SIMHASH_ENABLED": False,
    "ITEM_PIPELINES": {},
    "SPIDER_MIDDLEWARES": {},
    "EXTENSIONS": {},
    "FEEDS": {},
    "JOBDIR": None,
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy.dupefilters.RFPDupeFilter",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
}


class PagesCommand(Command):
    """A command that takes pages: files, URLs or stdin."""

    def needs_crawl(self, arguments: argparse.Namespace) -> bool:
        return any(map(_is_url, arguments.page_names))


class FingerprintCommand(PagesCommand):
    epilog = "Exit code 2 when a page can't be read; the others are printed."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_pages(parser, "+")
        parser.add_argument("--text", action="store_true", help="print the main text too")

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        options = Options.from_settings(settings)
        exit_code = 0
        for page in fingerprinted(arguments, Fingerprinter(options)):
            if isinstance(page, PageError):
                print(f"{arguments.parser.prog}: {printable(str(page))}", file=sys.stderr)
                exit_code = 2
            else:
                text = page.text if arguments.text else None
                print_result(_record(page, text), _lines(page, options, text), arguments)
        return exit_code


def _record(page: PageFingerprint, text: str | None) -> dict[str, Any]:
    record = {
        **fields(page, "url", "title"),
        "content": fingerprint_hex(page.content),
        "structure": fingerprint_hex(page.structure),
        "sketch": fingerprint_hex(page.sketch, SKETCH_BITS),
        "tokens": page.tokens,
        "main_share": None if page.main_share is None else round(page.main_share, 2),
        "thin": page.content is None,
    }
    return record if text is None else record | {"text": text}


def _lines(page: PageFingerprint, options: Options, text: str | None) -> Iterator[Line]:
    record = _record(page, None)
    fewer = f", fewer than {options.min_tokens}: thin" if page.content is None else ""
    rows = [(name, record[name] or "none") for name in ("title", "content", "structure", "sketch")]
    yield page.url or ""
    rows += [("tokens", f"{page.tokens:,}{fewer}"), ("main text", _share(page) or "none")]
    yield Grid(rows, indent=2)
    if text is not None:
        yield from ("", *text.split("\n"), "")


def add_pages(parser: argparse.ArgumentParser, number: int | str) -> None:
    parser.add_argument(
        "page_names",
        nargs=number,
        metavar="page",
        help="a file, a URL (http:// or https://) or - for stdin; a URL is fetched by Scrapy",
    )


def fingerprinted(
    arguments: argparse.Namespace, fingerprinter: Fingerprinter
) -> Iterator[PageFingerprint | PageError]:
    """The page of each named one, or a PageError whose message begins with the name."""
    names = arguments.page_names
    fetched = _fetched(list(filter(_is_url, names)), arguments.crawler_process)
    return (_fingerprinted(name, fetched.get(name), fingerprinter) for name in names)


def _is_url(name: str) -> bool:
    return "://" in name and not name.startswith(_FILE)


def _fingerprinted(
    name: str, source: Source | PageError | None, fingerprinter: Fingerprinter
) -> PageFingerprint | PageError:
    try:
        source = source or _read(name)
        if isinstance(source, PageError):
            raise source
        return fingerprinter.read(source)
    except PageError as error:
        return PageError(error.kind, f"{name}: {error}")


def _read(name: str) -> Source:
    if name == "-":
        return Source(sys.stdin.buffer.read(), name)
    try:
        path = Path(unquote(name.removeprefix(_FILE)) if name.startswith(_FILE) else name).resolve()
        return Source(path.read_bytes(), path.as_uri())
    except FileNotFoundError:
        raise PageError("no_file", "no such file, and not a URL (http:// or https://)") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte
        raise PageError("no_file", getattr(error, "strerror", None) or str(error)) from error


def _fetched(
    urls: Sequence[str], process: CrawlerProcess | None
) -> Mapping[str, Source | PageError]:
    """The page or the error of each URL, by one crawl."""
    why = "it was not fetched; `-s LOG_ENABLED=True` logs why"
    found: dict[str, Source | PageError] = {
        url: PageError("unreachable", why) for url in urls if url.lower().startswith(_FETCHED)
    }
    if found and process is not None:
        process.crawl(_FetchSpider, found=found)
        process.start()
    other = PageError("unreachable", "only http:// and https:// URLs are fetched")
    return dict.fromkeys(urls, other) | found


class _FetchSpider(Spider):
    """Fetches the keys of `found`, one after the other, and replaces their values."""

    name = "simhash"
    found: dict[str, Source | PageError]

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        settings.setdict(SETTINGS, priority="cmdline")

    async def start(self) -> AsyncIterator[Any]:
        for url in self.found:
            self.found[url] = await self._fetched(url)
        for nothing in list[Any]():
            yield nothing

    async def _fetched(self, url: str) -> Source | PageError:
        try:
            # Past scheduler and spider middlewares, and through the downloader's.
            request = Request(url, callback=NO_CALLBACK)
            response = await self.crawler.engine.download_async(request)
            if not 200 <= response.status < 300:
                return PageError("unreachable", f"the server answers {response.status}")
            return source_from_response(response)
        except Exception as error:  # whatever a handler or middleware raises
            return PageError("unreachable", str(error) or type(error).__name__)


class CompareCommand(PagesCommand):
    prints_json = False
    epilog = (
        "The second page is judged by the settings, as if only the first were stored. Items are "
        "not compared: in a crawl a scraped value that differs keeps the page. "
        "Exit code as diff's: 0 when they are twins, 1 when they are not."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_pages(parser, 2)
        _add_limit(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        options = Options.from_settings(settings)
        pages = []
        for page in fingerprinted(arguments, Fingerprinter(options)):
            if isinstance(page, PageError):
                raise page
            pages.append(page)
        a, b = pages
        found = compare(a, b, options)
        print_lines(_compared(a, b, found, options, arguments.limit))
        return 0 if found.are_twins else 1


def _add_limit(parser: argparse.ArgumentParser) -> None:
    meaning = f"at most this many changes of the words (default: {SHOWN_AT_MOST})"
    parser.add_argument("--limit", type=whole, default=SHOWN_AT_MOST, help=meaning)


def _compared(
    a: PageFingerprint, b: PageFingerprint, found: Comparison, options: Options, limit: int
) -> Iterator[Line]:
    yield Grid([(name, page.url or "", _size(page)) for name, page in (("A", a), ("B", b))])
    yield ""
    reason = found.verdict.reason if found.verdict.dropped else None
    yield distance_grid(a, b, found.apart, options, reason)
    yield ""
    yield Heading(_verdict(found.verdict, found.apart, options))
    if found.verdict.dropped:
        yield "Only the pages are compared. A crawl also keeps B if a value scraped from it"
        yield "differs; `scrapy simhash explain URL` names the fields then."
    yield ""
    yield from _changes("Changes of words in the main text", found.diff, limit)
    yield from _changes("Changes of words outside it", found.left_out, limit)


def _verdict(verdict: Verdict, apart: Distances, options: Options) -> str:
    if verdict.dropped:
        return f"Twins: if A is stored, B is dropped: {REASONS[verdict.reason]}."
    if verdict.rejected_by is not None:
        return f"No twins: the main texts are near, but {_told_apart(verdict, options)}."
    if verdict.reason in _WHY:
        return _WHY[verdict.reason]
    content, limit = apart.content, options.content_distance
    if options.match == "structure" or content is None or content <= limit:
        return "No twins: if A is stored, B is kept."
    far = f"the contents differ in {content} bits, and twins are within {limit}"
    return f"No twins: {far}. Sketches are compared only within {counted(limit, 'bit')}."


_WHY = {
    "unchanged": "Twins: both have one URL, and nothing visible has changed.",
    "changed": "No twins: both have one URL, and what is visible has changed.",
    "thin": "No twins: B is thin, and its title and text are not those of A.",
}


def _told_apart(verdict: Verdict, options: Options) -> str:
    limits = fields(options, *THRESHOLDS) | {"min_similarity": verdict.min_similarity}
    return why_rejected(verdict.rejected_by or "", verdict, limits).text


def _size(page: PageFingerprint) -> str:
    return ", ".join(filter(None, (f"{page.tokens:,} tokens", _share(page))))


def _share(page: PageFingerprint) -> str:
    return "" if page.main_share is None else f"{page.main_share:.0%} of the page"


_ALL = ("content", "structure", "sketch")


def distance_grid(
    a: PageFingerprint | StoredPage,
    b: PageFingerprint | StoredPage,
    apart: Distances,
    options: Options,
    dropped_by: str | None = None,
) -> Grid:
    """The fingerprints, their distances, and the distances up to which pages are twins.

    A drop's reason says which of them were used: another address or item's text may come first.
    """
    by_match = {"content": ("content", "sketch"), "structure": ("structure",)}
    used = DECIDING.get(dropped_by or "", ()) if dropped_by else by_match.get(options.match, _ALL)
    rows = [("", "A", "B", "differ in", "limit")]
    for name in _ALL:
        of_bits, left, right = SKETCH_BITS, "", ""  # sketches are too long to be read side by side
        if name != "sketch":
            of_bits = BITS
            left, right = (fingerprint_hex(getattr(page, name)) or "none" for page in (a, b))
        distance = getattr(apart, name)
        differ = "-" if distance is None else f"{distance} of {of_bits} bits"
        limit = str(getattr(options, f"{name}_distance")) if name in used else "not used"
        rows.append((name, left, right, differ, limit))
    return Grid(rows)


def _changes(title: str, diff: TextDiff, limit: int) -> Iterator[str]:
    changes = diff.changes
    yield f"{title}: {len(changes):,}" + (" (- only in A, + only in B)" if changes else "")
    for change in changes[:limit]:
        yield f"  {marked(change)}"
    if len(changes) > limit:
        yield f"  … and {len(changes) - limit:,} more: --limit {len(changes)}"
    if diff.words_left_out:
        yield f"  {diff.words_left_out:,} words at the ends of long texts were not compared."


class ExplainCommand(Command):
    prints_json = False
    epilog = (
        "Explains the URL's last drop in the project's drop logs or, if it was kept since, why it "
        "was kept. A named log is read alone. Texts are compared if SIMHASH_KEEP_TEXT kept them. "
        "Exit code 1 when nothing is known of the URL."
    )
    takes_a_store = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("url", help="the page's URL, as the crawl requested it, or its file")
        add_log(parser)
        _add_limit(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        is_file = "://" not in arguments.url and Path(arguments.url).is_file()
        key = page_key(Path(arguments.url).resolve().as_uri() if is_file else arguments.url)
        logs = _logs(arguments, settings)
        last = _last_lines(logs, key, arguments.spider, settings)
        drop, near_miss = last.get(False), last.get(True)
        stores = _stores(arguments, settings, drop, near_miss)
        with ExitStack() as opened:
            kept = _last_kept(stores, key, opened)
            if kept is not None and (drop is None or kept[2].first_seen > unix_seconds(drop.time)):
                named, store, page = kept
                case = explain_kept(page, store, named.options, near_miss)
                case = _with_texts(case, store, named.options)
            elif (line := drop or near_miss) is not None:
                # The first of the stores is that of the line, if it is still there.
                its = store_of_spider(line.spider, settings)
                found = [one for one in stores if arguments.store or one.url == its.url]
                of_line = _opened(found[0], opened) if found else None
                options = found[0].options if found else its.options
                case = _with_texts(explain_drop(line, of_line, options), of_line, options)
                is_crawled = has_crawled(line.spider, arguments, settings)
                case = dataclasses.replace(case, is_crawled=is_crawled)
            else:
                print(printable(_unknown(key, len(logs), len(stores), arguments)), file=sys.stderr)
                return max([1, *(log.exit_code() for log in logs)])
        print_lines(_explained(case, arguments.limit))
        return max((log.exit_code() for log in logs), default=0)


def _unknown(key: str, logs: int, stores: int, arguments: argparse.Namespace) -> str:
    if "://" not in key:
        return f"{key} is not a URL, as https://example.org/story, and not a file"
    if arguments.log is not None and not stores:
        return f"{key} is not in {arguments.log}, which has drops and near misses alone"
    where = f"in {counted(logs, 'drop log')} and {counted(stores, 'store')}"
    return f"{key} is not known {where}; --log and --store name others"


def _logs(arguments: argparse.Namespace, settings: BaseSettings) -> list[LogReader]:
    """The named log, or all of the project; none if crawls write no log."""
    try:
        return [*map(LogReader, resolve_logs(arguments, settings))]
    except UsageError:
        if arguments.store is None:
            raise
        return []


def _last_lines(
    logs: Iterable[LogReader], key: str, spider: str | None, settings: BaseSettings
) -> dict[bool, Drop]:
    """The URL's last drop (False) and near miss (True) in the namespace of its spider or any."""
    last: dict[bool, Drop] = {}
    for record in chain.from_iterable(logs):
        if not isinstance(record, Drop) or spider not in (None, record.spider):
            continue
        if page_key(record.url) != key:
            continue
        options = Options.from_settings(settings_of_spider(record.spider, settings))
        before = last.get(record.is_near_miss, record)
        if record.namespace == options.namespace and record.time >= before.time:
            last[record.is_near_miss] = record
    return last


def _stores(
    arguments: argparse.Namespace, settings: BaseSettings, drop: Drop | None, near: Drop | None
) -> list[NamedStore]:
    """The named store; else all stores of the project that are there, that of the drop first.

    Of a named log that of its line's spider: the log may be of an archive or another project.
    """
    if arguments.store is not None:
        return resolve_stores(arguments, settings)
    line = drop or (near if arguments.log is not None else None)
    names = [line.spider] if line and has_crawled(line.spider, arguments, settings) else []
    if arguments.spider is None and arguments.log is None:
        names += spider_files(STORE_SUFFIX)
    found = [store_of_spider(name, settings) for name in names]
    if drop is None and (arguments.log is None or arguments.spider is not None):
        with suppress(UsageError):
            found += resolve_stores(arguments, settings)
    return [one for one in {each.url: each for each in found}.values() if one.is_there]


def _last_kept(
    stores: Sequence[NamedStore], key: str, opened: ExitStack
) -> tuple[NamedStore, Store, StoredPage] | None:
    """The stored page of this URL that was kept last, and its store."""
    found = []
    for named in stores:
        store = _opened(named, opened)
        if (page := _kept_page(store, named.options.namespace, key)) is not None:
            found.append((named, store, page))
    return max(found, key=lambda one: one[2].first_seen, default=None)


def _opened(named: NamedStore, opened: ExitStack) -> Store:
    """The store; StoreMismatch if it was made with other options than those in force."""
    store = opened.enter_context(named.existing())
    if (stamp := store.made_with()) is not None:
        check_stamp(f"store {named.name}", stamp, stamp_for(named.options))
    return store


@dataclass(frozen=True, slots=True)
class Case:
    """A page, and the stored page it is near to or the nearest stored page."""

    options: Options  # those that decided; of a kept page, those in force
    a: StoredPage | None  # the near page; without what isn't known of it
    b: StoredPage  # the page in question; of a dropped one, what the log knows
    apart: Distances
    a_is_stored: bool = True  # else nothing is known of it but its URL
    drop: Drop | None = None  # of a dropped page, or a near miss that no store here holds
    neighbours: tuple[StoredPage, ...] = ()  # of a kept page, nearest first
    diff: TextDiff | None = None  # of the texts; None if they weren't kept
    similarity: float | None = None  # of the page-specific texts, 0-1; None for pages of two sites
    verdict: Verdict | None = None  # of a kept page, if only the nearest other were stored
    repeated_text: tuple[str, ...] = ()  # blocks of the page that its template repeats
    values: tuple[tuple[str, ...], ...] = ()  # name, A's and B's, of the items' fields that differ
    is_crawled: bool = True  # else by `dedup` or `judge`

    @property
    def status(self) -> str:
        return "kept" if self.drop is None or self.drop.is_near_miss else "dropped"


def _explained(case: Case, limit: int) -> Iterator[Line]:
    """The verdict on the page and why, with at most `limit` changes of its words."""
    yield from _headline(case)
    if case.repeated_text:
        some = " | ".join(text[:40] for text in case.repeated_text[:3])
        yield f"Left out of B as repeated text: {counted(len(case.repeated_text), 'block')}: {some}"
    if case.a is None:
        return
    yield ""
    drop = case.drop
    reason = None if drop is None or drop.is_near_miss else drop.reason
    yield distance_grid(case.a, case.b, case.apart, case.options, reason)
    yield from _without_fingerprints(case)
    yield ""
    if case.diff is None:
        yield from _no_texts(case)
        return
    yield from _changes("Changes of words in the main text (as it was judged)", case.diff, limit)
    if case.values:
        yield Heading("Values of their items that differ")
        yield Grid([("", "A", "B"), *case.values[:limit]], indent=2)
    if case.similarity is not None:
        yield f"Their page-specific texts are {case.similarity:.0%} the same."


def explain_drop(drop: Drop, store: Store | None, options: Options) -> Case:
    twin = a = None
    if drop.twin_url is not None:
        twin = None if store is None else _kept_page(store, options.namespace, drop.twin_url)
        a = twin or _bare_page(drop.namespace, drop.twin_url, title=drop.twin_title)
    known = {each.name for each in dataclasses.fields(Options)}
    limits = {name: value for name, value in drop.thresholds.items() if name in known}
    return Case(
        options=Options(**limits),
        drop=drop,
        a=a,
        a_is_stored=twin is not None,
        b=_bare_page(
            drop.namespace,
            drop.url,
            content=None if drop.content is None else int(drop.content, 16),
            structure=None if drop.structure is None else int(drop.structure, 16),
            title=drop.title,
        ),
        apart=Distances(drop.content_distance, drop.structure_distance, drop.sketch_distance),
        similarity=drop.similarity,
    )


def explain_kept(page: StoredPage, store: Store, options: Options, line: Drop | None) -> Case:
    """`line`: that of its near miss, which has its item's field names, and a person's answer."""
    near = _nearest(store, page, NEIGHBOURS)
    if not near:
        return Case(options, a=None, b=page, apart=Distances(None, None, None))
    verdict = verdict_on(page, near[0], store, options, () if line is None else line.fields)
    if line and line.reason == "answer" and page_key(line.twin_url or "") == near[0].url:
        verdict = dataclasses.replace(verdict, dropped=False, rejected_by="answer")
    return Case(
        options,
        a=near[0],
        b=page,
        apart=distances(page, near[0]),
        neighbours=tuple(near),
        similarity=similarity(page, near[0], partial(store.repeated_text, page.namespace)),
        verdict=verdict,
    )


def _kept_page(store: Store, namespace: str, url: str) -> StoredPage | None:
    """The stored page of a URL."""
    return store.settle(_bare_page(namespace, url), lambda view: (Action.SKIP, view.same_key()))


def _nearest(store: Store, page: StoredPage, limit: int) -> list[StoredPage]:
    """At most `limit` other pages within 8 bits of its content, nearest first.

    Then those of its longest paragraph or minhash; of a thin page those of its title and text.
    """

    def look(view: View) -> tuple[Action, list[StoredPage]]:
        near = (found for found, _ in view.near("content", MAX_DISTANCE_BITS))
        same = (found for column in ("digest", "minhash") for found in view.same(column))
        found = dict.fromkeys(islice(chain(near, same), 2 * limit))
        return Action.SKIP, list(found)[:limit]

    return store.settle(page, look)


def _bare_page(namespace: str, url: str, **known: Any) -> StoredPage:
    """A page of which nothing but the URL and these columns are known."""
    key = page_key(url)
    unknown: dict[str, Any] = dict.fromkeys(("content", "structure", "sketch", "digest"))
    unknown |= {"site": "", "first_seen": 0, "seen_at": 0}
    given_url = "" if url == key else url
    return StoredPage(url=key, given_url=given_url, namespace=namespace, **(unknown | known))


def _with_texts(case: Case, store: Store | None, options: Options) -> Case:
    """The case with what its pages' texts say, as far as the store kept them."""
    a, b = (
        None if page is None or store is None else store.text_of(options.namespace, page.url)
        for page in (case.a, case.b)
    )
    return dataclasses.replace(
        case,
        diff=None if a is None or b is None else text_diff(a.text, b.text),
        values=tuple(_differing_values(case, a, b)),
        repeated_text=() if b is None or store is None else _repeated_in(case.b, b, store),
    )


def _differing_values(case: Case, *texts: PageText | None) -> Iterator[tuple[str, ...]]:
    """(name, value of A, value of B) for the fields of items that differ."""
    names = (case.verdict and case.verdict.differing_fields) or (case.drop and case.drop.fields)
    values = [dict(map(_named, text.item.splitlines())) for text in texts if text is not None]
    for name in names or ():
        if len(values) > 1:
            yield (name, *(each.get(name, "") for each in values))


def _named(line: str) -> tuple[str, str]:
    name, _, value = line.partition(": ")
    return name, value


def _repeated_in(page: StoredPage, text: PageText, store: Store) -> tuple[str, ...]:
    known = store.repeated_text(text.namespace, urlsplit(text.url).netloc)
    template = template_of(page.structure, known)
    is_text = page.structure is None and not text.left_out
    blocks = sentences(text.text) if is_text else text.left_out.split("\n")
    return tuple(repeated_among(blocks, template))


def _headline(case: Case) -> Iterator[Line]:
    drop = case.drop
    if drop is not None:
        when = minute(unix_seconds(drop.time))
        dry = " (its item was kept: dry run or tagged)" if drop.dry_run else ""
        why = f"{REASONS.get(drop.reason, drop.reason)}."
        if drop.is_near_miss:
            dry, why = ", though near a stored page", f"{why_kept(drop).text}."
        yield Heading(f"{case.status.capitalize()} {when} UTC by spider {drop.spider}{dry}: {why}")
    else:
        first, last = minute(case.b.first_seen), minute(case.b.seen_at)
        yield Heading(f"Kept {first} UTC, last seen {last}: {_why_kept(case)}")
    rows: list[tuple[str, str, str]] = []
    for name, status, page in (
        ("A", "kept" if drop else "nearest", case.a),
        ("B", case.status, case.b),
    ):
        if page is not None:
            rows += [(name, status, page.shown_url), ("", "", page.title)]
    yield ""
    yield Grid([row for row in rows if row[2]])
    if len(case.neighbours) > 1:
        yield "Further neighbours:"
        yield from (f"  {page.shown_url}" for page in case.neighbours[1:])


def _why_kept(case: Case) -> str:
    """The test that the page failed, with its measure and its limit."""
    verdict, content = case.verdict, case.apart.content
    if verdict is None:
        if case.b.content is not None:
            return f"no other stored page is within {MAX_DISTANCE_BITS} bits of its content."
        few = f"as a thin page, of fewer than {case.options.min_tokens} tokens"
        return f"{few}: no other stored page has its title and text."
    if verdict.dropped:
        return "it is near a page that is stored too; one of them was kept before the other was."
    if verdict.rejected_by is not None:
        return f"a stored page is near, but {_told_apart(verdict, case.options)}."
    if content is not None and content > case.options.content_distance:
        within = f"twins are within {case.options.content_distance}"
        return f"the nearest stored page is {counted(content, 'bit')} away, and {within}."
    return "the nearest stored page is no twin by SIMHASH_MATCH and SIMHASH_SCOPE."


def _no_texts(case: Case) -> Iterator[Line]:
    keep = "SIMHASH_KEEP_TEXT = True"
    if not case.is_crawled:
        keep = "-s SIMHASH_KEEP_TEXT=1 (for `dedup` also --store)"
    yield "The texts of the pages were not kept. To compare them:"
    pages = " ".join(shlex.quote(page.shown_url) for page in (case.a, case.b) if page is not None)
    rows = [
        ("now", f"scrapy simhash compare {pages}"),
        ("from the next run on", keep),
    ]
    yield Grid(rows, indent=2)


def _without_fingerprints(case: Case) -> Iterator[Line]:
    """Why the stored page lacks fingerprints that the page in question has."""
    if not case.a_is_stored:
        yield ""
        yield "The fingerprints of A are not known: no store here has it; --store names another."
        return
    for name, parts in (("content", "words"), ("structure", "elements")):
        if getattr(case.a, name) is None and getattr(case.b, name) is not None:
            yield ""
            yield f"{name}: A has none, for it has too few {parts}"
