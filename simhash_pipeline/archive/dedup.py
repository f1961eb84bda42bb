"""Finds the near-duplicates in archives: a row for each page, and copies without duplicates.

inputs ──▶ parts.py ──▶ here
records    fingerprints  result, drop log, copies, a store
           and verdicts
"""

import json
import shutil
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
from filelock import FileLock, Timeout

from simhash_pipeline.archive import KEEP, Fault, Input, parts
from simhash_pipeline.archive.inputs import Folder, open_input
from simhash_pipeline.archive.parts import Engine, Reading
from simhash_pipeline.drop_log import LOG_SUFFIX, DropLog
from simhash_pipeline.errors import ArchiveError
from simhash_pipeline.item_values import NO_VALUES
from simhash_pipeline.options import Options
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.repeated_text import page_specific, template_of
from simhash_pipeline.stores.contract import PageText, shown_url
from simhash_pipeline.stores.opening import open_store, store_file
from simhash_pipeline.stores.sqlite.file import release
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore

ENDINGS = (".parquet", ".jsonl")
# SQL on the tables `page` and `verdict` (parts.py) and `input` (place, name). A page
# that can't be judged has no verdict.
KEPT = "coalesce(verdict.kept, TRUE)"
UNJUDGED = "unjudged"
REASON = f"coalesce(verdict.reason, '{UNJUDGED}')"
JUDGED = "page LEFT JOIN verdict ON verdict.position = page.position"
RESULT = f"""
    SELECT page.url, {KEPT} AS kept, {REASON} AS reason,
        coalesce(verdict.group, page.position) AS group,
        verdict.twin_url, {", ".join(f"verdict.{name}" for name in parts.MEASURES)},
        page.content, page.structure, page.sketch, page.title, page.tokens, page.time,
        input.name AS input, page.number, page.fault
    FROM {JUDGED} JOIN input ON input.place = page.input
    ORDER BY page.position
"""
COUNTS = f"""
    SELECT {KEPT} AS kept, {REASON} AS reason, count(*) AS pages,
        count(*) FILTER (WHERE octet_length(page.item_values) > {len(NO_VALUES)}) AS item_values
    FROM {JUDGED}
    GROUP BY {KEPT}, {REASON} ORDER BY pages DESC, reason, kept
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupJob:
    """What to do; `to` ends in .parquet or .jsonl."""

    inputs: Sequence[str]
    to: Path
    options: Options
    keep: str = "first"  # of KEEP
    copies: Path | None = None  # folder of copies of the inputs without dropped pages
    texts: Path | None = None  # .jsonl of the kept pages' texts
    store: str | None = None  # URL of a store that receives the kept pages
    time_field: str | None = None  # field of an item that says when its page was fetched

    @property
    def drop_log(self) -> Path:
        return Path(f"{self.to}{LOG_SUFFIX}")

    @property
    def faults(self) -> Path:
        return self.to.with_name(f"{self.to.name}.faults.jsonl")


@dataclass(frozen=True, slots=True)
class DedupResult:
    """The number of records of all inputs by what became of them."""

    kept: dict[str, int]  # pages by reason
    dropped: dict[str, int]
    skipped: dict[str, int]  # records that aren't meant to be pages, by kind
    faults: dict[str, int]  # records that can't be read, by kind
    item_values: int = 0  # pages of which an input holds more than URL and HTML


def dedup(job: DedupJob) -> DedupResult:
    """Do the job; the result appears when it is complete.

    Raises ArchiveError for inputs that can't be read
    and outputs that can't be written, StoreMismatch for fingerprints of other options, and
    OptionsError for options that name missing things.
    """
    _refuse_places(job)
    parts.fingerprinter(job.options)
    inputs = {name: open_input(name, job.options, job.time_field) for name in job.inputs}
    if job.store is not None:  # fail before the work if it can't be filled
        _refuse_filled(job.store, job.options)
    states = {name: _state(name) for name in inputs}

    def refuse_changed() -> None:
        if changed := [name for name in inputs if _state(name) != states[name]]:
            again = "run the same command again once nothing writes to it"
            raise ArchiveError(f"{changed[0]} has changed while it was read; {again}")

    with scratch_folder(job.to.with_name(f".{job.to.name}.parts")) as folder:
        try:
            return _run(job, inputs, folder, refuse_changed)
        except (ArchiveError, OSError):
            refuse_changed()  # which is the reason then
            raise


def _run(
    job: DedupJob, inputs: Mapping[str, Input], folder: Path, refuse_changed: Callable[[], None]
) -> DedupResult:
    whole, drops = folder / f"result{job.to.suffix}", folder / "drops.jsonl"
    # As of a spider with the result's name.
    log = DropLog(drops, run=uuid.uuid4().hex, spider=job.to.stem, options=job.options)
    with closing(log):
        reading = _judged(job, inputs, folder, log)
        refuse_changed()
        with parts.sql_on(folder) as engine:
            engine.add_verdicts(list(inputs))
            engine.write(RESULT, whole)
            counts = [*engine.rows(COUNTS)]
            if job.store is not None:
                fill_store(engine, job.store, job.options, KEEP[job.keep][1])
            if job.texts is not None:
                write_texts(engine, job.texts)
            if job.copies is not None:  # last, as it fails if a folder's copy exists
                write_copies(engine, inputs, job.copies, refuse_changed)
        unjudged = sum(one["pages"] for one in counts if one["reason"] == UNJUDGED)
        log.write_run({UNJUDGED: unjudged} if unjudged else {})
    write_faults(reading.faults, job.faults)
    drops.replace(job.drop_log)
    whole.replace(job.to)
    return DedupResult(
        kept={one["reason"]: one["pages"] for one in counts if one["kept"]},
        dropped={one["reason"]: one["pages"] for one in counts if not one["kept"]},
        skipped=dict(reading.skipped.most_common()),
        faults=dict(Counter(fault.kind for *_, fault in reading.faults)),
        item_values=sum(one["item_values"] for one in counts),
    )


def _state(name: str) -> object:
    """What changes with an input: size, time and number of its file, or of a folder's pages."""
    path = Path(name)
    with suppress(OSError):  # it is gone
        files = Folder(path).files() if path.is_dir() else [path]
        stats = [(each, each.lstat()) for each in files]
        return [(each, stat.st_size, stat.st_mtime_ns, stat.st_ino) for each, stat in stats]
    return None


def _refuse_filled(url: str, options: Options) -> None:
    """Refuse a store that has pages: the judge of an archive has a store of its own."""
    if url == "memory:":
        raise ArchiveError("a store in memory ends with the job; name another")
    with open_store(url) as store:
        store.stamp(stamp_for(options))
        if pages := len(store):
            compared = "which these would not be compared with; name an empty one"
            raise ArchiveError(f"store {shown_url(url)} has {pages:,} pages, {compared}")


def _judged(job: DedupJob, inputs: Mapping[str, Input], folder: Path, log: DropLog) -> Reading:
    """Write the parts and their verdicts; ArchiveError if there is no page to judge."""
    keep_text = job.options.keep_text or job.texts is not None
    reading = Reading(inputs, folder, replace(job.options, keep_text=keep_text))
    with parts.workers() as pool:
        written = reading.parts(pool)
        if job.keep == "first":  # one judge follows the readers
            for _, drops in parts.judge_batches(parts.judgeable(written), folder, job.options, log):
                reading.dropped += drops
        deque(written, maxlen=0)
        _refuse_nothing(job, inputs, reading)
        if job.keep != "first":
            parts.judge_sorted(folder, job.options, job.keep, reading.pages, log)
    pa.default_memory_pool().release_unused()  # before DuckDB takes as much
    return reading


def _refuse_places(job: DedupJob) -> None:
    """Refuse outputs that would overwrite an input or a folder, lie in one, or can't be written."""
    # The result and its drop log hold these names.
    names = [*job.inputs, str(job.to), str(job.texts or "")]
    if odd := [name for name in names if name.encode("utf-8", "replace").decode() != name]:
        raise ArchiveError(f"{odd[0]!r} is not a name in UTF-8; rename it")
    if job.to.suffix not in ENDINGS:
        raise ArchiveError(f"{job.to} must end in {' or '.join(ENDINGS)}")
    copies = {name: job.copies / copy_name(name) for name in job.inputs if job.copies is not None}
    for copy, count in Counter(copies.values()).items():
        if count > 1:
            raise ArchiveError(f"the copies of {count} inputs would all be {copy.name}")
    written = [job.to, job.drop_log, job.faults, *filter(None, [job.texts]), *copies.values()]
    read = {Path(name).resolve() for name in job.inputs}
    if over := [path for path in written if path.resolve() in read]:
        raise ArchiveError(f"{over[0]} is an input, and would be overwritten")
    if over := [path for path in filter(None, (job.to, job.texts)) if path.is_dir()]:
        raise ArchiveError(f"{over[0]} is a directory; name another output")
    there = (path for path in written if path.exists() and not path.is_dir())
    if over := [path for path in there if not path.is_file()]:
        raise ArchiveError(f"{over[0]} is not a regular file; name another output")
    stored = [] if job.store is None else filter(None, [store_file(job.store)])
    times = Counter(path.resolve() for path in (*written, *stored))
    if twice := [path for path, count in times.items() if count > 1]:
        raise ArchiveError(f"{twice[0]} would be written twice; name another output")
    for name, copy in copies.items():
        is_folder = Path(name).is_dir()
        for option, path in {"--copies": copy.parent, "--output": job.to}.items():
            if is_folder and path.resolve().is_relative_to(Path(name).resolve()):
                raise ArchiveError(f"{path} lies in the input {name}; name another {option}")
        if copy.is_dir() or (copy.exists() and is_folder):
            raise ArchiveError(f"{copy} exists already; move it, or name another --copies")


def _refuse_nothing(job: DedupJob, inputs: Iterable[str], reading: Reading) -> None:
    """Refuse inputs without a page, or a time that is asked for: an earlier result stays."""
    names = ", ".join(inputs)
    if reading.faults and not reading.pages:
        write_faults(reading.faults, job.faults)
        kinds = Counter(fault.kind for *_, fault in reading.faults)
        counted = ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
        unread = f"{len(reading.faults):,} ({counted}), see {job.faults}"
        texts = "; if its rows are texts, name their field: -s SIMHASH_CONTENT_FIELD=body"
        hint = texts if "no_html" in kinds else ""
        raise ArchiveError(f"no page of {names} can be read: {unread}{hint}")
    if reading.pages and not reading.timed and (job.time_field or job.keep == "earliest"):
        where = f" in {job.time_field!r}" if job.time_field else ""
        field = "name the field that holds it, --time-field"
        raise ArchiveError(f"no page of {names} has a time{where}: {field}")


def write_faults(faults: Sequence[tuple[str, int, Fault]], to: Path) -> None:
    """Write a line for each record that can't be read; no file if there is none."""
    to.unlink(missing_ok=True)
    if faults:
        rows = ({"input": name, "number": n, **asdict(fault)} for name, n, fault in faults)
        to.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def copy_name(name: str) -> str:
    """The name of an input's copy: its own, also for `.` and `..`."""
    path = Path(name)
    return path.resolve().name if path.name in ("", "..") else path.name


@contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """An empty folder until the end of the block; what a killed job left in it goes first.

    ArchiveError while another job has it.
    """
    folder.mkdir(parents=True, exist_ok=True)  # its error, if none can be made, says why
    lock = FileLock(f"{folder}.lock", is_singleton=False)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ArchiveError(f"another job writes to {folder}: wait until it has ended") from error
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        release(lock)


def write_copies(
    engine: Engine, inputs: Mapping[str, Input], folder: Path, check: Callable[[], None]
) -> None:
    """Copy each input without its dropped pages; all are moved into place after the check."""
    with scratch_folder(folder / f".copies-{engine.folder.name}") as scratch:
        for place, (name, archive) in enumerate(inputs.items()):
            dropped = f"page.input = {place} AND NOT verdict.kept"
            rows = engine.rows(f"SELECT page.number FROM {JUDGED} WHERE {dropped}")
            archive.copy(scratch / copy_name(name), {row["number"] for row in rows})
        check()
        for name in map(copy_name, inputs):
            (scratch / name).replace(folder / name)


def write_texts(engine: Engine, to: Path) -> None:
    """Write URL, title and text of each kept page, without what its template repeats."""
    with SqliteStore(engine.folder / parts.KEPT_STORE) as kept:
        known = {(space, host): texts for space, host, texts in kept.all_repeated_text()}
    rows = engine.rows(
        f"SELECT page.url, page.namespace, page.key, page.structure, page.title, page.text "
        f"FROM {JUDGED} WHERE {KEPT} AND page.text IS NOT NULL ORDER BY page.position"
    )
    with scratch_folder(to.with_name(f".{to.name}.parts")) as scratch:
        part = scratch / to.name
        with part.open("w", encoding="utf-8") as lines:
            for row in rows:
                structure = None if row["structure"] is None else int(row["structure"], 16)
                host = (row["namespace"], urlsplit(row["key"]).netloc)
                template = template_of(structure, known.get(host, b""))
                title, text = page_specific(row["title"], row["text"], template)
                line = {"url": row["url"], "title": title, "text": text}
                lines.write(json.dumps(line, ensure_ascii=False) + "\n")
        part.replace(to)


def fill_store(engine: Engine, url: str, options: Options, order: str) -> None:
    """Copy the kept pages into a store, and with KEEP_TEXT the texts of all pages."""
    rows = engine.rows(f"""
        SELECT namespace, key AS url, title, text, first_seen AS kept_at
        FROM page WHERE key IS NOT NULL AND text IS NOT NULL ORDER BY {order}
    """)
    with open_store(url) as store, SqliteStore(engine.folder / parts.KEPT_STORE) as kept:
        store.stamp(stamp_for(options))
        for repeated_text in kept.all_repeated_text():
            store.put_repeated_text(*repeated_text)
        store.insert_many(kept.pages())
        store.keep_texts(PageText(**row) for row in rows if options.keep_text)
