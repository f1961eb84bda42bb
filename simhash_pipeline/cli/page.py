"""`scrapy simhash compare | explain`: one page or two, and why one was dropped."""

import shlex
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

from scrapy import Request, Spider
from scrapy.exceptions import UsageError
from scrapy.http.request import NO_CALLBACK

from simhash_pipeline import item_values
from simhash_pipeline.bits import BITS, MAX_DISTANCE_BITS, SKETCH_BITS, fingerprint_hex
from simhash_pipeline.cli.command import Command, NamedStore, fields, minute, shown_path, text_of
from simhash_pipeline.cli.simhash import Parser, is_url
from simhash_pipeline.crawl.item_source import source_from_response
from simhash_pipeline.crawl.settings import settings_of_spider
from simhash_pipeline.drop_log import REASONS, THRESHOLDS, Drop, Run, read_log, unix_seconds
from simhash_pipeline.errors import DropLogError, PageError
from simhash_pipeline.items import said_so
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.page.source import Source
from simhash_pipeline.review.comparison import compare, marked, text_diff, verdict_on
from simhash_pipeline.review.summary import DECIDING, NOTHING_COUNTS, why_rejected
from simhash_pipeline.stores.contract import Action, PageText, Store, StoredPage, View
from simhash_pipeline.terminal import Grid, Line, counted, print_lines, printable
from simhash_pipeline.urls import page_key, site_of
from simhash_pipeline.verdict import Distances, Verdict, distances


class CompareCommand(Command):
    epilog = (
        "The second page is judged by the settings, as if only the first were stored. Files are "
        "pages of one site; items are not compared: in a crawl a scraped value that differs keeps "
        "the page. Exit code as diff's: 0 when they are twins, 1 when they are not. "
        "Of one page alone its fingerprints and main text are printed."
    )

    def add_arguments(self, parser: Parser) -> None:
        what = "a file, a URL (http:// or https://) or - for stdin; a URL is fetched by Scrapy"
        parser.add("page_names", what, nargs="+", metavar="page")
        parser.add("--limit", "at most this many changes of the words", type=int, default=10)

    def run(self) -> int:
        if len(self.arguments.page_names) > 2:
            raise UsageError("name one page or two")
        a, *others = self._pages()
        if not others:
            print_lines(_read_of(a))
            return 0
        verdict = compare(a, others[0], self.options)
        print_lines(self._compared(a, others[0], verdict))
        return 0 if verdict.dropped or verdict.reason in ("unchanged", "canonical") else 1

    def _pages(self) -> Iterator[PageFingerprint]:
        """The named pages; URLs are fetched before. PageErrors begin with the name."""
        names, fingerprinter = self.arguments.page_names, Fingerprinter(self.options)
        why = PageError("unreachable", "it was not fetched; `-s LOG_ENABLED=True` logs why")
        fetched: dict[str, Source | PageError] = dict.fromkeys(filter(is_url, names), why)
        if fetched:
            self.arguments.crawler_process.crawl(_FetchSpider, found=fetched)
            self.arguments.crawler_process.start()
        try:
            for name in names:
                source = fetched.get(name) or _read(name)
                if isinstance(source, PageError):
                    raise source
                yield fingerprinter.read(source)
        except PageError as error:
            raise PageError(error.kind, f"{name}: {error}") from error

    def _compared(self, a: PageFingerprint, b: PageFingerprint, verdict: Verdict) -> Iterator[Line]:
        yield Grid([("A", a.url or "", _size(a)), ("B", b.url or "", _size(b))])
        said = _verdict(verdict, distances(a, b), self.options)
        yield from ("", _judged_grid(a, b, verdict, self.options), "", said, "")
        limit = self.arguments.limit
        yield from _changes("Changes of words in the main text", a.text, b.text, limit)
        yield from _changes(_OUTSIDE, a.left_out, b.left_out, limit)


def _read_of(page: PageFingerprint) -> Iterator[Line]:
    bits = ((name, fingerprint_hex(getattr(page, name), size)) for name, size in _BITS.items())
    rows = [("title", page.title), *((name, digits or "none") for name, digits in bits)]
    yield f"{page.url}  {_size(page)}"
    yield Grid(rows, indent=2)
    yield from ("", *page.text.split("\n"))


def _size(page: PageFingerprint) -> str:
    share = "" if page.main_share is None else f", {page.main_share:.0%} of the page"
    return f"{page.tokens:,} tokens{share}"


def _read(name: str) -> Source:
    if name == "-":
        return Source(sys.stdin.buffer.read(), name)
    file = unquote(name.removeprefix("file://")) if name.startswith("file://") else name
    if "://" in name and file == name:
        raise PageError("unreachable", "only http:// and https:// URLs are fetched")
    try:
        path = Path(file).resolve()
        return Source(path.read_bytes(), path.as_uri())
    except FileNotFoundError:
        raise PageError("no_file", "no such file, and not a URL (http:// or https://)") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte
        raise PageError("no_file", getattr(error, "strerror", None) or str(error)) from error


class _FetchSpider(Spider):
    """Fetches the keys of `found`, one after the other, and replaces their values."""

    name = "simhash"
    found: dict[str, Source | PageError]
    # Nothing that the project has set up for its crawls may run, write or count here.
    custom_settings = {  # noqa: RUF012  # as Scrapy has it
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


def _verdict(verdict: Verdict, apart: Distances, options: Options) -> str:
    if verdict.dropped:
        why = f"if A is stored, B is dropped: {REASONS[verdict.reason]}"
        one_site = site_of(verdict.url) == site_of(verdict.twin_url or "")
        what = "value or text" if one_site else "price, colour or product number"
        items = f" In a crawl a scraped {what} that differs keeps B."
        return f"Twins: {why}.{items * (options.item_fields is not None)}"
    return _OF_REASON.get(verdict.reason) or f"No twins: {_why_kept(verdict, apart, options)}"


_OF_REASON = {
    "canonical": "Twins: B is at the address that A declares, and takes its place.",
    "unchanged": "Twins: both have one URL, and nothing visible has changed.",
    "changed": "No twins: both have one URL, and what is visible has changed.",
    "thin": "No twins: B is thin, and its title and text are not those of A.",
}


def _why_kept(verdict: Verdict, apart: Distances, options: Options) -> str:
    """The test that B failed beside A, with its measure and its limit."""
    if verdict.rejected_by is not None:
        limits = fields(options, *THRESHOLDS) | {"min_similarity": verdict.min_similarity}
        return f"A is near, but {why_rejected(verdict.rejected_by, verdict, limits).text}."
    content, limit = apart.content, options.content_distance
    is_near = not options.second_look if content is None else content <= limit
    if options.match == "structure" or verdict.reason == "thin" or is_near:
        return "A is no twin by SIMHASH_MATCH and SIMHASH_SCOPE."
    far = "one of them has too little text."
    if content is not None:
        far = f"the contents differ in {counted(content, 'bit')}, and twins are within {limit}."
    if not options.second_look:
        return far
    sketches = counted(options.sketch_distance, "bit")
    return (
        f"{far} Other twins declare one address and share half of the main text, have the same "
        "item text or row, or, in two templates or sites, the same longest paragraph or minhash "
        f"and sketches within {sketches}."
    )


Opened: TypeAlias = tuple[Store, NamedStore]
Kept: TypeAlias = tuple[StoredPage, Store, NamedStore]
Seen: TypeAlias = PageFingerprint | StoredPage
_NAMED = 6  # files, in a message
_BITS = {"content": BITS, "structure": BITS, "sketch": SKETCH_BITS}
_NEAR = "near miss"
_SHOWN_CHARS = 150  # of a value
_NEAREST = 8  # pages of which `explain` looks for a copy
_OUTSIDE = "Changes of words outside it"


def _judged_grid(a: Seen, b: Seen, verdict: Verdict, options: Options) -> Grid:
    """As the options judge B if A is stored."""
    decides = verdict.dropped or verdict.reason in ("canonical", "changed", "unchanged")
    found_by = verdict.reason if decides else _NEAR if verdict.rejected_by else ""
    looks = {} if options.second_look else {"sketch_distance": "not used"}
    return distance_grid(a, b, distances(a, b), fields(options, *THRESHOLDS) | looks, found_by)


def distance_grid(
    a: Seen, b: Seen, apart: Distances, limits: Mapping[str, Any], found_by: str = ""
) -> Grid:
    """The fingerprints, their distances, and the limits that counted.

    `found_by` is a drop's reason, or "near miss", or "" if A was no candidate.
    """
    match, is_twin = limits["match"], found_by not in ("", _NEAR)
    used = {"content": ("content", "sketch"), "structure": ("structure",)}.get(match, tuple(_BITS))
    if is_twin:
        used = (*DECIDING.get(found_by, ()), *(["structure"] if match == "both" else []))
    rows: list[tuple[str, ...]] = [("", "A", "B", "differ in", "limit")]
    for name, bits in _BITS.items():
        shown = ["", ""]  # sketches are too long to be read side by side
        distance, limit = getattr(apart, name), limits[f"{name}_distance"]
        if name != "sketch":  # a page that is in no store has fingerprints, too
            unknown = "none" if distance is None else "-"
            shown = [fingerprint_hex(getattr(page, name)) or unknown for page in (a, b)]
        differ = "-" if distance is None else f"{distance} of {bits} bits"
        is_far = distance is not None and isinstance(limit, int) and distance > limit
        if name not in used or (is_far and (is_twin or (found_by and name == "content"))):
            limit = "not used"
        rows.append((name, *shown, differ, str(limit)))
    return Grid(rows)


def _changes(title: str, text_a: str, text_b: str, limit: int) -> Iterator[str]:
    changes = text_diff(text_a, text_b)
    yield f"{title}: {len(changes):,}" + (" (- only in A, + only in B)" if changes else "")
    for change in changes[:limit]:
        yield f"  {marked(change)}"
    if len(changes) > limit:
        yield f"  … and {len(changes) - limit:,} more: --limit {len(changes)}"


class ExplainCommand(Command):
    epilog = (
        "Explains the URL's last drop in the project's drop logs or, if it was kept since, why it "
        "was kept. A named log is read alone. Texts are compared if SIMHASH_KEEP_TEXT kept them. "
        "Exit code 1 when nothing is known of the URL."
    )

    def add_arguments(self, parser: Parser) -> None:
        parser.add("url", "the page's URL, as the crawl requested it, or its file")
        parser.add_log()
        parser.add("--limit", "at most this many changes of the words", type=int, default=10)
        parser.add_store()

    def run(self) -> int:
        arguments = self.arguments
        is_file = "://" not in arguments.url and Path(arguments.url).is_file()
        key = page_key(Path(arguments.url).resolve().as_uri() if is_file else arguments.url)
        logs: list[Path] = []
        with suppress(UsageError) if arguments.store else nullcontext():  # crawls write no log
            # Between its rotation and the next crawl there is none.
            logs = [log for log in self.logs() if arguments.log is not None or log.exists()]
        line = self._last_line(logs, key)
        named = self._line_stores(line)
        with ExitStack() as opened:
            stores = [(opened.enter_context(one.existing()), one) for one in named]
            kept = _last_kept(stores, key)
            at = 0 if line is None or line.record == "changed" else unix_seconds(line.time)
            if kept is not None and kept[0].first_seen > at:
                print_lines(chain(_before(line), self._explained_kept(*kept)))
            elif line is not None:
                print_lines(self._explained_line(line, stores, kept))
            else:
                read = [*map(shown_path, logs), *(one.name for one in named)]
                said = _unknown(key if is_file else arguments.url, read, has_store=bool(named))
                print(printable(said), file=sys.stderr)
                return 1
        return 0

    def _last_line(self, logs: Iterable[Path], key: str) -> Drop | None:
        """The last line of the URL, of the page that took its place, or of a list with its row.

        In its spider's namespace or else in another; of all spiders, if none is named.
        """
        found = dict[tuple[bool, str], Drop]()
        spider, url = self.arguments.spider, f"{self.arguments.url},"
        for drop in chain.from_iterable(map(read_log, logs)):
            if isinstance(drop, Run) or spider not in (None, drop.spider):
                continue
            rows = chain.from_iterable(drop.rows.values())
            urls = [drop.url, drop.twin_url or ""] if drop.record == "replaced" else [drop.url]
            if key in map(page_key, urls) or any(url in f"{row}," for row in rows):
                options = Options.from_settings(settings_of_spider(drop.spider, self.settings))
                found[drop.namespace == options.namespace, drop.time] = drop
        return found[max(found)] if found else None

    def _line_stores(self, line: Drop | None) -> list[NamedStore]:
        """The named store; else all stores of the project that are there, that of the line first.

        Of a named log that of its line's spider: the log may be of an archive or another project.
        """
        if self.arguments.store is not None:
            return self.stores()
        found = self.stores_of([line.spider] if line is not None else [])
        if self.arguments.log is None or self.arguments.spider is not None:
            with suppress(UsageError):  # no crawl has left a store
                found += [one for one in self.stores() if one.is_there and one not in found]
        return found

    def _explained_line(
        self, line: Drop, opened: Sequence[Opened], kept: Kept | None
    ) -> Iterator[Line]:
        """By the line of a drop or near miss, and the twin in the first store that has it."""
        known = {"content": _bits(line.content), "structure": _bits(line.structure)}
        b = _bare_page(line.namespace, line.url, title=line.title, **known)
        verb = "Kept" if line.record else "Rows dropped" if line.rows else "Dropped"
        why = f": {REASONS.get(line.reason, line.reason)}"
        if line.is_near_miss:
            rejected = why_rejected(line.reason, line, line.thresholds)
            why = f", though near a stored page: {rejected.text}"
        elif line.record == "replaced":
            why = ", at the address that A declares or, without tracking, has: B took its place"
        elif line.dry_run:
            why = f" (its item was kept: dry run or tagged){why}"
        yield f"{verb} {minute(unix_seconds(line.time))} UTC by {line.spider}{why}."
        names = [name for name in line.fields if name != "title"]  # titles are shown
        if line.record is None and names and not line.rows:
            how = f'SIMHASH_ITEM_FIELDS = ("+{names[0]}",) lets one count'
            yield f"Fields that differ and didn't count: {', '.join(names)}. {how}."
        yield from _changed(line)
        a, place = None, ""
        if line.twin_url is not None:
            bare = _bare_page(line.namespace, line.twin_url, title=line.twin_title)
            found = ((_kept_page(s, line.namespace, line.twin_url), one.name) for s, one in opened)
            a, place = next((each for each in found if each[0] is not None), (bare, ""))
        yield from _titles(a, b, verb.lower(), place)
        if a is not None:
            if a.first_seen > unix_seconds(line.time):
                yield "A has changed since: what is shown of it is how it is now."
            if kept is not None and line.is_near_miss:  # the store knows more of it than the log
                b = kept[0]
            apart = Distances(line.content_distance, line.structure_distance, line.sketch_distance)
            found_by = _NEAR if line.is_near_miss else line.reason
            for twin_url, rows in line.rows.items():
                yield from ("", f"Its rows that are on {twin_url}: {len(rows):,}")
                yield from (f"  {row}" for row in rows[: self.arguments.limit])
            yield from ("", distance_grid(a, b, apart, line.thresholds, found_by))
            yield from self._texts_compared(a, b, [store for store, _ in opened], line)

    def _explained_kept(self, page: StoredPage, store: Store, named: NamedStore) -> Iterator[Line]:
        """By a near page of its store that is its copy by now, or else by the nearest."""
        options = named.options
        by = "structure" if options.match == "structure" else "content"
        found = _nearest(store, page, by)
        copies = (each for each in found if verdict_on(page, each, store, options).dropped)
        near = next(chain(copies, found), None)
        when = f"Kept {minute(page.first_seen)} UTC"
        if page.seen_at > page.first_seen:
            when += f", unchanged when last met, {minute(page.seen_at)} UTC"
        if near is None:
            why = f"no other stored page is within {MAX_DISTANCE_BITS} bits of its {by}."
            if getattr(page, by) is None and by == "structure":
                why = "it has too few elements for a structure."
            elif page.content is None:
                few = f"as a thin page, of fewer than {options.min_tokens} tokens"
                why = f"{few}: no other stored page has its title and text."
            yield f"{when}: {why}"
            yield from _titles(None, page, "kept", named.name)
            return
        texts = [store.text_of(one.namespace, one.url) for one in (page, near)]
        names = chain.from_iterable(_item(text) for text in texts if text)
        verdict, apart = verdict_on(page, near, store, options, names), distances(page, near)
        why = "it came first or has changed, or what its site repeats is better known now."
        if page.first_seen < near.first_seen:
            why = "it was kept first, and then a page near it."
        why = why if verdict.dropped else _why_kept(verdict, apart, options)
        yield f"{when}: {why}"
        yield from _titles(near, page, "kept", named.name)
        yield from ("", _judged_grid(near, page, verdict, options))
        yield from self._texts_compared(near, page, [store], verdict)

    def _texts_compared(
        self, a: StoredPage, b: StoredPage, stores: list[Store], judged: Drop | Verdict
    ) -> Iterator[Line]:
        """Some changes of words, the fields of the items that differ, and the similarity."""
        yield ""
        text_a, text_b = (text_of(stores, page.url, page.namespace) for page in (a, b))
        if text_a is None or text_b is None:
            yield "The texts of the pages were not kept. To compare them, without their items:"
            pages = shlex.join([a.shown_url, b.shown_url])
            keep = ("from the next run on", "SIMHASH_KEEP_TEXT = True (for `dedup` also --store)")
            yield Grid([("now", f"scrapy simhash compare {pages}"), keep], indent=2)
            return
        limit, what = self.arguments.limit, "Changes of words in the main text (as it was judged)"
        words = chain(
            _changes(what, text_a.text, text_b.text, limit),
            _changes(_OUTSIDE, text_a.left_out, text_b.left_out, limit),
        )
        said = list[Line]()
        items = [_item(text_a), _item(text_b)]
        names = judged.fields if isinstance(judged, Drop) else judged.differing_fields
        values = [(name, *(item.get(name, "") for item in items)) for name in names]
        if values := [each for each in values if each[1] != each[2]][:limit]:
            grid = Grid([("", "A", "B"), *([*map(_cut, each)] for each in values)], indent=2)
            said += ["Values of their items that differ", grid]
        if new := item_values.new_sentences(b.item_sentences or b"", a.item_sentences or b""):
            text = f"{text_b.text}\n{text_b.left_out}"
            found = (f"  {each}" for each in islice(said_so(text, new), limit))
            said += ["Sentences that B's item says, and A's doesn't", *found]
        # What decided comes first.
        is_drop = isinstance(judged, Drop) and judged.record is None
        yield from chain(words, said) if is_drop else chain(said, words)
        if (alike := judged.similarity) is not None:
            same = f"are about {alike:.0%} the same" if alike else f"differ: {NOTHING_COUNTS}"
            yield f"Their page-specific texts {same}."


def _cut(value: str) -> str:
    """As much of a long value as shows which it is."""
    return value if len(value) <= _SHOWN_CHARS else f"{value[:_SHOWN_CHARS]}…"


def _before(line: Drop | None) -> Iterator[Line]:
    """What an earlier line says of the page."""
    if line is not None and line.record in (None, "near miss"):
        did = "kept it, though near a stored page" if line.is_near_miss else "dropped it"
        yield f"Earlier, {minute(unix_seconds(line.time))} UTC, {line.spider} {did}."
    yield from _changed(line)


def _changed(line: Drop | None) -> Iterator[Line]:
    if line is not None and line.changed:
        when = minute(unix_seconds(line.time))
        yield f"Changed {when} UTC by {line.spider}: {', '.join(line.changed)}."


def _unknown(url: str, read: Sequence[str], *, has_store: bool) -> str:
    if "://" not in url:
        return f"{url} is not a URL, as https://example.org/story, and not a file"
    more = f" and {len(read) - _NAMED:,} more" if len(read) > _NAMED else ""
    more += "" if has_store else " (logs don't name kept pages)"
    where = f"{', '.join(read[:_NAMED])}{more}"
    return f"{url} is not known in {where}; --spider, --log and --store name others"


def _last_kept(stores: Iterable[Opened], key: str) -> Kept | None:
    """The stored page of this URL that was kept last."""
    kept = ((_kept_page(store, one.options.namespace, key), store, one) for store, one in stores)
    found = [(page, store, one) for page, store, one in kept if page is not None]
    return max(found, key=lambda one: one[0].first_seen, default=None)


def _bits(digits: str | None) -> int | None:
    try:
        return None if digits is None else int(digits, 16)
    except ValueError:
        raise DropLogError(f"the log has {digits!r} for a fingerprint") from None


def _kept_page(store: Store, namespace: str, url: str) -> StoredPage | None:
    return store.settle(_bare_page(namespace, url), lambda view: (Action.SKIP, view.same_key()))


def _nearest(store: Store, page: StoredPage, by: str) -> list[StoredPage]:
    """The nearest other pages within 8 bits of its fingerprint, or of its paragraph or minhash.

    Of a thin page those of its title and text.
    """

    def look(view: View) -> tuple[Action, list[StoredPage]]:
        near = (found for found, _ in view.near(by, MAX_DISTANCE_BITS))
        columns = ("digest", "minhash") if by == "content" else ()
        same = (found for column in columns for found in view.same(column))
        return Action.SKIP, list(islice(chain(near, same), _NEAREST))

    return store.settle(page, look)


def _bare_page(namespace: str, url: str, **known: Any) -> StoredPage:
    """A page of which nothing but the URL and these columns are known."""
    key = page_key(url)
    unknown: dict[str, Any] = dict.fromkeys(("content", "structure", "sketch", "digest"))
    unknown |= {"site": "", "first_seen": 0, "seen_at": 0}
    given_url = "" if url == key else url
    return StoredPage(url=key, given_url=given_url, namespace=namespace, **(unknown | known))


def _titles(a: StoredPage | None, b: StoredPage, status: str, place: str) -> Iterator[Line]:
    """Addresses and titles of the pages, and the store that has the kept one."""
    rows: list[tuple[str, str, str]] = []
    for name, state, page in (("A", "kept", a), ("B", status, b)):
        if page is not None:
            rows += [(name, state, page.shown_url), ("", "", page.title)]
    rows.append(("", "store", place))
    yield from ("", Grid([row for row in rows if row[2]]))


def _item(text: PageText) -> dict[str, str]:
    """The values of its item by name, as far as they were kept."""
    lines = (line.partition(": ") for line in text.item.splitlines())
    return {name: value for name, _, value in lines}
