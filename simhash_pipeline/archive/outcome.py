"""Writes what follows from the verdicts: the result, a drop log, copies, a store."""

from __future__ import annotations

import glob
import json
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from simhash_pipeline.archive import Fault, Input
from simhash_pipeline.archive.verdicts import MEASURES, DuckDb
from simhash_pipeline.drop_log import DropLog
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import PageFingerprint
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.page.titles import TITLE_CHARS
from simhash_pipeline.repeated_text import page_specific, template_of
from simhash_pipeline.stores.contract import PageText
from simhash_pipeline.stores.opening import open_store
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from simhash_pipeline.verdict import Verdict

TEXTS_A_BATCH = 1_000
_LOCK = "lock"  # of a folder's job, while it runs
# SQL on the tables `page` (parts.py), `verdict` (verdicts.py) and `input` (place, name). A page
# that can't be judged has no verdict.
LOGGED = ("key", "namespace", "title", "content", "structure", "tokens")  # of a page
KEPT = "coalesce(verdict.kept, TRUE)"
UNJUDGED = "unjudged"
REASON = f"coalesce(verdict.reason, '{UNJUDGED}')"
MEASURED = ", ".join(f"verdict.{name}" for name in MEASURES)
JUDGED = "page LEFT JOIN verdict ON verdict.position = page.position"
RESULT = f"""
    SELECT page.url, {KEPT} AS kept, {REASON} AS reason,
        coalesce(verdict.group, page.position) AS group,
        twin.url AS twin_url, {MEASURED}, page.content, page.structure, page.sketch,
        page.title, page.tokens, page.time,
        input.name AS input, page.number, page.fault
    FROM {JUDGED} LEFT JOIN page AS twin ON twin.position = verdict.twin
        JOIN input ON input.place = page.input
    ORDER BY page.position
"""
COUNTS = f"""
    SELECT {KEPT} AS kept, {REASON} AS reason, count(*) AS pages FROM {JUDGED}
    GROUP BY {KEPT}, {REASON} ORDER BY pages DESC, reason, kept
"""


def write_drop_log(
    engine: DuckDb, to: Path, options: Options, name: str, pages: Iterable[tuple[bool, str, int]]
) -> None:
    """Write the drop log of a spider of this name; `pages` counts pages by verdict and reason."""
    to.unlink(missing_ok=True)
    log = DropLog(to, run=uuid.uuid4().hex, spider=name, options=options)
    columns = ", ".join(f"page.{column}" for column in LOGGED)
    drops = f"""
        SELECT {columns}, verdict.kept, verdict.reason, verdict.rejected_by, {MEASURED},
            verdict.fields, twin.key AS twin_key, twin.time AS twin_time, twin.title AS twin_title
        FROM {JUDGED} LEFT JOIN page AS twin ON twin.position = verdict.twin
        WHERE NOT verdict.kept OR verdict.rejected_by IS NOT NULL ORDER BY page.position
    """
    for row in engine.rows(drops):
        log.write(_verdict(row), _fingerprint(row))
    errors = {}
    for kept, reason, count in pages:
        if reason == UNJUDGED:
            errors[reason] = count
        else:
            log.count_pages(reason, kept=kept, pages=count)
    log.write_run(errors)
    log.close()


def _verdict(row: Mapping[str, Any]) -> Verdict:
    return Verdict(
        url=row["key"],
        dropped=not row["kept"],
        reason=row["reason"],
        rejected_by=row["rejected_by"],
        differing_fields=tuple(row["fields"] or ()),
        twin_url=row["twin_key"],
        twin_title=(row["twin_title"] or "")[:TITLE_CHARS],
        twin_first_seen=row["twin_time"],
        namespace=row["namespace"],
        **{name: row[name] for name in MEASURES},
    )


def _fingerprint(row: Mapping[str, Any]) -> PageFingerprint:
    hexes = (row["content"], row["structure"])
    content, structure = (None if each is None else int(each, 16) for each in hexes)
    title, tokens = row["title"] or "", row["tokens"] or 0
    return PageFingerprint(content, structure, None, "", title, tokens, url=row["key"])


def write_faults(faults: Sequence[tuple[str, Fault]], to: Path) -> None:
    """Write a line for each record that can't be read; no file if there is none."""
    to.unlink(missing_ok=True)
    if faults:
        lines = (json.dumps({"input": name, **asdict(fault)}) + "\n" for name, fault in faults)
        to.write_text("".join(lines), encoding="utf-8")


def copy_name(name: str) -> str:
    """The name of an input's copy: its own, also for `.` and `..`."""
    path = Path(name)
    return path.resolve().name if path.name in ("", "..") else path.name


@contextmanager
def scratch_folder(prefix: str, parent: Path) -> Iterator[Path]:
    """A folder of this name and more until the end of the block; those of killed jobs go first."""
    for lock in parent.glob(f"{glob.escape(prefix)}*/{_LOCK}"):
        with suppress(OSError, Timeout), FileLock(lock, timeout=0):
            shutil.rmtree(lock.parent, ignore_errors=True)
    with TemporaryDirectory(prefix=prefix, dir=parent) as folder, FileLock(Path(folder, _LOCK)):
        yield Path(folder)


def write_copies(
    engine: DuckDb, inputs: Mapping[str, Input], folder: Path, check: Callable[[], None]
) -> None:
    """Copy each input without its dropped pages; all are moved into place after the check."""
    folder.mkdir(parents=True, exist_ok=True)
    with scratch_folder(".copies-", folder) as parts:
        for place, (name, archive) in enumerate(inputs.items()):
            dropped = f"page.input = {place} AND NOT verdict.kept"
            rows = engine.rows(f"SELECT page.number FROM {JUDGED} WHERE {dropped}")
            part = Path(parts, str(place), copy_name(name))
            part.parent.mkdir()
            archive.copy(part, {row["number"] for row in rows})
        check()
        for place, name in enumerate(inputs):
            Path(parts, str(place), copy_name(name)).replace(folder / copy_name(name))


def write_texts(engine: DuckDb, folder: Path, to: Path) -> None:
    """Write URL, title and text of each kept page, without what its template repeats."""
    known: dict[tuple[str, str], bytes] = {}
    for file in sorted(folder.glob("kept-*.sqlite")):
        with SqliteStore(file) as kept:
            known |= {(space, host): texts for space, host, texts in kept.all_repeated_text()}
    rows = engine.rows(
        f"SELECT page.url, page.namespace, page.key, page.structure, page.title, page.text "
        f"FROM {JUDGED} WHERE {KEPT} AND page.text IS NOT NULL ORDER BY page.position"
    )
    with to.open("w", encoding="utf-8") as lines:
        for row in rows:
            structure = None if row["structure"] is None else int(row["structure"], 16)
            host = (row["namespace"], urlsplit(row["key"]).netloc)
            template = template_of(structure, known.get(host, b""))
            title, text = page_specific(row["title"], row["text"], template)
            line = {"url": row["url"], "title": title, "text": text}
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")


def fill_store(engine: DuckDb, folder: Path, url: str, options: Options, order: str) -> None:
    """Copy the kept pages into a store, and with KEEP_TEXT the texts of all pages."""
    rows = engine.rows(f"""
        SELECT namespace, key AS url, title, text, coalesce(time, {int(time.time())}) AS kept_at
        FROM page WHERE key IS NOT NULL AND text IS NOT NULL ORDER BY {order}
    """)
    texts = (PageText(**row) for row in rows if options.keep_text)
    with open_store(url) as store:
        store.stamp(stamp_for(options))
        for file in sorted(folder.glob("kept-*.sqlite")):
            with SqliteStore(file) as kept:
                for repeated_text in kept.all_repeated_text():
                    store.put_repeated_text(*repeated_text)
                store.insert_many(kept.pages())
        while batch := list(islice(texts, TEXTS_A_BATCH)):
            store.keep_texts(batch)
