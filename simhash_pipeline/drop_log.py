"""The drop log, written and read: JSON Lines.

A line for each drop, a line for some near misses (pages that were kept although a stored page is
near), changed and replaced pages, and one at the end of a run. Together, drops are suspicious if
one stored page drops others: if many pages of one host were dropped for it in one run.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import shlex
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from simhash_pipeline.bits import fingerprint_hex
from simhash_pipeline.errors import DropLogError
from simhash_pipeline.options import PREFIX, Options

if TYPE_CHECKING:
    from simhash_pipeline.page.fingerprint import PageFingerprint
    from simhash_pipeline.verdict import Verdict

LOG_SUFFIX = ".drops.jsonl"  # of a log next to a store or a result
_LINE_START = b'{"schema": '
_RUN_STARTS = (b'{"schema": 1, "record": "run"', b'{"schema":1,"record":"run"')  # and by jq -c
# The options that decide whether a page is kept or dropped.
THRESHOLDS = (
    *("match", "content_distance", "structure_distance", "sketch_distance", "min_similarity"),
    *("min_tokens", "scope", "unchanged"),
)
# What a line has of the verdict under the same name.
_OF_VERDICT = (
    *("namespace", "url", "twin_url", "content_distance", "structure_distance", "sketch_distance"),
)
# Fields that a line lacks if they are empty: programs select drops by the absence of `record`.
_LEFT_OUT = ("record", "fields", "changed", "rows")
# Near misses with a line: a shop of 10,000 variants doesn't need as many. `Run.kept` counts all.
_NEAR_MISSES_OF_A_TWIN = 5
_KEPT = 5_000  # near misses and changed pages of a run: some 5 MB
# Left out of a run's line: they don't affect verdicts, and a store's URL may hold a password.
_PLACES = ("store", "drop_log")
# Options that say what is noted of a page: of those stored before, it is not noted.
_NOTED = ("content_field", "error_pages", "html_field", "item_fields", "keep_text")
_ROWS = 100  # of a page with a line: as many as a store keeps
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799  # of the years 1 and 9999
_TITLE_CHARS = 300  # enough to recognise a page
_LAST_BYTES = 1 << 20  # holds many lines: one is as long as its two URLs and a title

# A page has a few addresses (print, mobile, tracking): at most 3 pages of the demo site are dropped
# for one (`scrapy simhash dropped`). 20 is far more than that, and few to lose before a warning.
MAGNET_FROM = 20
CAUSES = "Either the page has many addresses, or a part that pages share was taken for the page."
# What the reasons of drops are, in words that stand after "dropped" and after a number of pages.
REASONS = {
    "content": "main text near that of a kept page",
    "address": "address of a kept page, declared or without tracking, and main texts alike",
    "item": "same item text or row as a kept page",
    "sketch": "text of a kept page with some words changed or added",
    "structure": "template near that of a kept page",
    "content and structure": "main text and template near those of a kept page",
    "thin": "little text, and the title and text of a kept page",
    "error page": "error page that differs from kept ones in its address alone",
    "unchanged": "known URL, nothing has changed",
    "answer": "a person answered that it is a copy of a kept page",
}
Kept = Literal["near miss", "changed", "replaced"]  # kinds of kept pages that have a line
_MAX_PAIRS = 10_000  # of a twin and a host, that are counted exactly: at most some 15 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A page that is near a stored one, dropped or kept, or one that has changed.

    Distances in bits; fingerprints as hex digits; times ISO 8601 in UTC.
    """

    schema: Literal[1] = 1
    record: Kept | None = None  # None, and not written, for a drop
    time: str
    run: str  # the same for all drops of one crawl
    spider: str
    namespace: str  # of the page
    url: str
    title: str = ""  # of the dropped page, its first 300 characters
    twin_url: str | None
    twin_title: str = ""  # of the twin, its first 100 characters, as the store keeps them
    twin_first_seen: str | None
    reason: str  # of a near miss: `Verdict.rejected_by`
    fields: tuple[str, ...] = ()  # of the items, that differ; of a drop they don't count
    changed: tuple[str, ...] = ()  # of a known page, since its last visit: fields or texts
    # The rows of a list that were dropped, in words, by the URL of the page that had each before.
    rows: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    content_distance: int | None
    structure_distance: int | None
    sketch_distance: int | None
    # Of their page-specific texts, 0-1; None for pages of two sites.
    similarity: float | None = None
    content: str | None  # 16 hex digits
    structure: str | None
    tokens: int
    main_share: float | None = None  # of the visible text, 0-1; None if that isn't known
    # The options that decided, by name; min_similarity is the limit in force, which is lower in
    # two templates and higher for thin pages.
    thresholds: dict[str, Any]
    dry_run: bool  # True: the item was kept all the same, in a dry run or tagged

    @property
    def is_near_miss(self) -> bool:
        return self.record == "near miss"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The last line of a crawl that ended normally."""

    schema: Literal[1] = 1
    record: Literal["run"] = "run"
    run: str
    spider: str
    started: str
    ended: str
    kept: dict[str, int]  # pages by reason
    dropped: dict[str, int]  # in a dry run too, although their items were kept
    errors: dict[str, int]  # pages kept without a verdict, by kind of error
    options: dict[str, Any]  # all options except `store` and `drop_log`
    dry_run: bool


# They check the types too, in a fifth of the time of json.loads and a constructor.
_DROP, _RUN = msgspec.json.Decoder(Drop), msgspec.json.Decoder(Run)
_AS_JSON = json.JSONEncoder(ensure_ascii=False)


class DropLog:
    """Appends drops to a file, each by one write of a whole line, so that crawls may share a file.

    `count` adds every page to the totals that `write_run` appends at the end. Raises
    DropLogError if the file can't be opened or written.
    """

    def __init__(self, path: Path, *, run: str, spider: str, options: Options) -> None:
        self.path = path
        self._run = run
        self._spider = spider
        self._options = options
        self._started = time.time()
        self._kept, self._dropped = Counter[str](), Counter[str]()
        self._near_misses = Counter[tuple[str, str | None]]()  # by namespace and page
        self._kept_lines = 0
        self._lists: dict[tuple[str, str], Drop] = {}  # by namespace and URL: see `end_list`
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b", buffering=0)
            self._file.seek(max(0, self._file.seek(0, os.SEEK_END) - 1))
            # By a crash or a full disk: then a line break goes before the next line.
            self._is_torn = self._file.read(1) not in (b"", b"\n")
        except OSError as error:
            how = "allow writing to the file and its directory, or name another file"
            raise DropLogError(
                f"the drop log {path} can't be opened: {error.strerror}; {how}"
            ) from error

    def write(self, verdict: Verdict, page: PageFingerprint) -> None:
        """Append the drop, near miss or change, with the thresholds.

        Unchanged pages aren't written, of near misses only the first few of a twin, and of kept
        pages the first of a run. A row waits for `end_list`.
        """
        is_drop = verdict.dropped and verdict.reason != "unchanged"
        if not is_drop and not self._takes_kept(verdict):
            return
        first_seen = verdict.twin_first_seen
        thresholds = {name: getattr(self._options, name) for name in THRESHOLDS}
        if verdict.min_similarity is not None:
            thresholds["min_similarity"] = verdict.min_similarity
        drop = Drop(
            record=None if is_drop else _kind_of_kept(verdict),
            time=iso_time(time.time()),
            run=self._run,
            spider=self._spider,
            title=_title(page.title),
            twin_title=_title(verdict.twin_title),
            twin_first_seen=None if first_seen is None else iso_time(first_seen),
            reason=verdict.rejected_by or verdict.reason,
            fields=verdict.differing_fields or verdict.uncounted_fields,
            changed=verdict.changed,
            **{name: getattr(verdict, name) for name in _OF_VERDICT},
            similarity=None if verdict.similarity is None else round(verdict.similarity, 4),
            content=fingerprint_hex(page.content),
            structure=fingerprint_hex(page.structure),
            tokens=page.tokens,
            main_share=None if page.main_share is None else round(page.main_share, 2),
            thresholds=thresholds,
            dry_run=self._options.keeps_twins,
        )
        if not verdict.row:
            self._append(drop)
            return
        rows = self._lists.setdefault((verdict.namespace, verdict.url), drop).rows
        if sum(map(len, rows.values())) < _ROWS:
            rows.setdefault(verdict.twin_url or "", []).append(verdict.row)

    def end_list(self, verdict: Verdict) -> None:
        """All items of a page are judged: append the line of its dropped rows, if there are any."""
        if (drop := self._lists.pop((verdict.namespace, verdict.url), None)) is not None:
            self._append(drop)

    def _takes_kept(self, verdict: Verdict) -> bool:
        """Whether a kept page has a line: by its kind, and as one of the first."""
        if _kind_of_kept(verdict) is None or self._kept_lines >= _KEPT:
            return False
        near = (verdict.namespace, verdict.url if verdict.changed else verdict.twin_url)
        takes = self._near_misses[near] < _NEAR_MISSES_OF_A_TWIN
        self._near_misses[near] += takes
        self._kept_lines += takes
        return takes

    def count(self, reason: str, *, kept: bool) -> None:
        """Add a page with this verdict to the run's totals."""
        (self._kept if kept else self._dropped)[reason] += 1

    def write_run(self, errors: Mapping[str, int]) -> None:
        """Append the totals of a run with any page; `errors` counts unjudged pages by kind."""
        for drop in self._lists.values():
            self._append(drop)
        if not (self._kept or self._dropped or errors):
            return
        options = dataclasses.asdict(self._options)
        run = Run(
            run=self._run,
            spider=self._spider,
            started=iso_time(self._started),
            ended=iso_time(time.time()),
            kept=dict(self._kept),
            dropped=dict(self._dropped),
            errors=dict(errors),
            options={name: value for name, value in options.items() if name not in _PLACES},
            dry_run=self._options.keeps_twins,
        )
        self._append(run)

    def close(self) -> None:
        self._file.close()

    def _append(self, record: Drop | Run) -> None:
        # Not `asdict`, which copies each value: with it a crawl of near misses takes 10 % longer.
        values = ((name, getattr(record, name)) for name in record.__slots__)
        fields = {name: value for name, value in values if value or name not in _LEFT_OUT}
        line = _AS_JSON.encode(fields) + "\n"
        encoded = b"\n" * self._is_torn + line.encode("utf-8", "replace")
        failed = f"the drop log {self.path} can't be written"
        try:
            self._is_torn = self._file.write(encoded) < len(encoded)
        except OSError as error:
            raise DropLogError(f"{failed}: {error.strerror}") from error
        if self._is_torn:
            raise DropLogError(f"{failed}: the disk is full, or the file at its limit")


def _kind_of_kept(verdict: Verdict) -> Kept | None:
    """A page near a stored one, a known one that has changed, or one in place of its twin."""
    if verdict.rejected_by:
        return "near miss"
    return "replaced" if verdict.replaces else "changed" if verdict.changed else None


def _title(title: str) -> str:
    return " ".join(title.split())[:_TITLE_CHARS]


@dataclass(slots=True)
class DropMagnet:
    """A stored page for which many pages of one host are dropped."""

    twin_url: str
    host: str  # of the dropped pages; "" where their URLs have none
    dropped: int  # different URLs up to MAGNET_FROM, then every further drop
    example: str  # URL of the first page that was dropped for it
    urls: tuple[int, ...] = ()  # hashes of the next ones; none from MAGNET_FROM on

    def sentence(self, *, dry_run: bool = False, of_log: str = "") -> str:
        """What happened, and the command to look at it; not yet made printable."""
        did = "would be dropped" if dry_run else "were dropped"
        return (
            f"{self.dropped:,} pages of {self.host or 'no host'} {did} as near-duplicates of "
            f"{self.twin_url}: look at `scrapy simhash explain {shlex.quote(self.example)}{of_log}`"
        )


class DropMagnets:
    """Counts drops by run, host and twin; of too many, the half with fewer drops is forgotten."""

    def __init__(self) -> None:
        # Most pairs have one drop. A tuple for the key of each, and one for its URL, would give the
        # garbage collector work: a log of a million drops would take a fifth longer.
        self._pages: dict[str, DropMagnet] = {}

    def add(self, url: str, twin_url: str | None, run: str = "") -> DropMagnet | None:
        """Count a drop; the stored page if this drop makes it a magnet, else None.

        An unchanged page, which is its own twin, doesn't count.
        """
        if twin_url is None or twin_url == url:
            return None
        host = host_of(url)
        key = f"{run}\n{host}\n{twin_url}"
        if (page := self._pages.get(key)) is None:
            if len(self._pages) >= _MAX_PAIRS:
                self._pages = dict(self._heaviest()[: _MAX_PAIRS // 2])
            self._pages[key] = DropMagnet(twin_url, host, 1, url)
            return None
        if page.dropped < MAGNET_FROM:
            if url == page.example or hash(url) in page.urls:
                return None
            page.urls += (hash(url),)
        page.dropped += 1
        if page.dropped != MAGNET_FROM:
            return None
        page.urls = ()
        return replace(page)

    def worst(self) -> list[DropMagnet]:
        """All magnets, the worst first; in several runs, as in the worst of these."""
        found: dict[tuple[str, str], DropMagnet] = {}
        for _, page in self._heaviest():
            if page.dropped >= MAGNET_FROM:
                found.setdefault((page.host, page.twin_url), page)
        return list(found.values())

    def _heaviest(self) -> list[tuple[str, DropMagnet]]:
        return sorted(self._pages.items(), key=lambda item: item[1].dropped, reverse=True)


def host_of(url: str) -> str:
    """Host and port of an absolute URL; "" without one."""
    authority = url.partition("://")[2].partition("/")[0].partition("?")[0]
    return authority.rpartition("@")[2]


def read_log(path: Path) -> Iterator[Drop | Run]:
    """The log's drops and runs in the order written; incomplete lines are skipped.

    The log may be gzipped. DropLogError at a line that is neither, or of another schema.
    """
    with _reading(path) as lines:
        for number, line in enumerate(lines, start=1):
            if (record := _parsed(line, f"{path}, line {number}")) is not None:
                yield record


def last_run(path: Path, spider: str | None = None) -> str | None:
    """The id of the run, of this spider or any, that wrote the log's last whole line.

    None if there is none in the log's last mebibyte, and of what comes through a pipe.
    """
    return next((one.run for one in earlier_records(path) if spider in (None, one.spider)), None)


def earlier_records(path: Path) -> list[Drop | Run]:
    """Those in the log's last mebibyte, the last one first, as far back as they can be read."""
    found: list[Drop | Run] = []
    if not path.is_file():  # to open a pipe would wait
        return found
    with suppress(DropLogError), _reading(path) as log:  # who reads all of it reports the error
        size = log.seek(0, os.SEEK_END)
        log.seek(max(size - _LAST_BYTES, 0))
        for line in reversed(log.readlines()[size > _LAST_BYTES :]):
            if (record := _parsed(line, str(path))) is not None:
                found.append(record)  # noqa: PERF401  # those before an error stay
    return found


def late_settings(earlier: Iterable[Drop | Run], spider: str, options: Options) -> str:
    """What it means that these settings note more than in the spider's last run; "" of none."""
    now = json.loads(json.dumps({name: getattr(options, name) for name in _NOTED}))
    runs = (run for run in earlier if isinstance(run, Run) and run.spider == spider)
    then = next((run.options for run in runs), now)
    late = [f"{PREFIX}{name.upper()}" for name in _NOTED if then.get(name, now[name]) != now[name]]
    if not late:
        return ""
    more = "; items of stored pages may come out once more"
    held = f"{', '.join(late)} changed: this holds for pages judged from now on"
    return held + more * (late != ["SIMHASH_KEEP_TEXT"])


@contextmanager
def _reading(path: Path) -> Iterator[BufferedReader | gzip.GzipFile]:
    """The log's bytes, of a gzipped one too."""
    try:
        with path.open("rb") as file:
            is_packed = file.peek(2)[:2] == b"\x1f\x8b"
            yield gzip.GzipFile(fileobj=file) if is_packed else file
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DropLogError(f"the drop log {path} can't be read: {reason}") from error


def _parsed(line: bytes, where: str) -> Drop | Run | None:
    """The drop or run of a line; None if it is incomplete. `where` is named by a DropLogError."""
    try:
        return _RUN.decode(line) if line.startswith(_RUN_STARTS) else _DROP.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        is_ours = line.startswith(_LINE_START) or _LINE_START.startswith(line.rstrip(b"\n"))
        if is_ours and not isinstance(error, msgspec.ValidationError):
            return None
        raise DropLogError(f"{where} is not a line of a drop log, schema 1: {error}") from error


def unix_seconds(time: str) -> float:
    """The Unix time of a time in the log; DropLogError if it isn't ISO 8601."""
    try:
        return datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()
    except ValueError as error:
        raise DropLogError(f"the drop log has {time!r} where a time is expected") from error


def iso_time(unix_secs: float) -> str:
    """A time as the log writes it: ISO 8601 in UTC; a later one than it knows is the last."""
    known = max(min(unix_secs, _LAST_SECOND), _FIRST_SECOND)
    moment = datetime.fromtimestamp(known, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
