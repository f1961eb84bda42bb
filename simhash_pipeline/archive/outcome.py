"""Writes what follows from the verdicts: the result, a drop log, copies, a store."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from simhash_pipeline.archive.records import Fault, Input
from simhash_pipeline.archive.relation import Engine
from simhash_pipeline.archive.rows import page_from_row
from simhash_pipeline.archive.verdicts import JUDGED_BY, MEASURES
from simhash_pipeline.drop_log import DropLog
from simhash_pipeline.judge import Verdict
from simhash_pipeline.options import Options
from simhash_pipeline.own_text import NO_BLOCKS, Blocks, own_sample, pack_blocks
from simhash_pipeline.page.fingerprint import PageFingerprint
from simhash_pipeline.stores.contract import Action, PageText, StoredPage, View
from simhash_pipeline.stores.opening import open_store

TEXTS_A_BATCH = 1_000
# A page without a family has no verdict: no page is near it.
KEPT = "coalesce(verdict.kept, TRUE)"
UNJUDGED = "unjudged"
REASON = f"""coalesce(verdict.reason, CASE
    WHEN page.fault IS NOT NULL THEN '{UNJUDGED}' WHEN page.content IS NULL THEN 'thin' ELSE 'new'
    END)"""
MEASURED = ", ".join(f"verdict.{name}" for name in MEASURES)
JUDGED = "page LEFT JOIN verdict ON verdict.position = page.position"


def result(engine: Engine, names: Sequence[str]) -> str:
    """SQL: the result, a row for each page in their order; `names` are those of the inputs."""
    inputs = ", ".join(f"({place}, {engine.text(name)})" for place, name in enumerate(names))
    return f"""
        SELECT page.url, {KEPT} AS kept, {REASON} AS reason,
            coalesce(verdict.group, page.position) AS group,
            twin.url AS twin_url, {MEASURED}, page.content, page.structure, page.sketch,
            page.title, page.tokens, page.time,
            input.name AS input, page.number, page.fault
        FROM {JUDGED} LEFT JOIN page AS twin ON twin.position = verdict.twin
            JOIN (VALUES {inputs}) AS input (place, name) ON input.place = page.input
        ORDER BY page.position
    """


def counts() -> str:
    """SQL: the number of pages by verdict and reason."""
    return (
        f"SELECT {KEPT} AS kept, {REASON} AS reason, count(*) AS pages FROM {JUDGED} "
        f"GROUP BY {KEPT}, {REASON} ORDER BY pages DESC, reason, kept"
    )


def write_drop_log(
    engine: Engine, to: Path, options: Options, name: str, pages: Iterable[tuple[bool, str, int]]
) -> None:
    """Write the drop log of a spider of this name; `pages` counts pages by verdict and reason."""
    to.unlink(missing_ok=True)
    log = DropLog(to, run=uuid.uuid4().hex, spider=name, options=options)
    columns = ", ".join(f"page.{column}" for column in (*JUDGED_BY, "title", "tokens"))
    drops = f"""
        SELECT {columns}, verdict.reason, twin.key AS twin_key, twin.time AS twin_time,
            twin.title AS twin_title,
            {MEASURED}
        FROM {JUDGED} LEFT JOIN page AS twin ON twin.position = verdict.twin
        WHERE NOT verdict.kept ORDER BY page.position
    """
    for row in engine.rows(drops):
        log.write(_verdict(row), _fingerprint(row), twin_title=row["twin_title"] or "")
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
        dropped=True,
        reason=row["reason"],
        twin_url=row["twin_key"],
        twin_first_seen=row["twin_time"],
        namespace=row["namespace"],
        **{name: row[name] for name in MEASURES},
    )


def _fingerprint(row: Mapping[str, Any]) -> PageFingerprint:
    page = page_from_row(row)
    return PageFingerprint(
        content=page.content,
        structure=page.structure,
        sketch=page.sketch,
        text="",
        title=row["title"] or "",
        tokens=row["tokens"] or 0,
        url=page.url,
    )


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


def write_copies(engine: Engine, inputs: Mapping[str, Input], folder: Path) -> None:
    """Copy each input without its dropped pages; all are moved into place at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".copies-", dir=folder) as parts:
        for place, (name, archive) in enumerate(inputs.items()):
            dropped = (
                f"SELECT page.number FROM {JUDGED} WHERE page.input = {place} AND NOT verdict.kept"
            )
            part = Path(parts, str(place), copy_name(name))
            part.parent.mkdir()
            archive.copy(part, {row["number"] for row in engine.rows(dropped)})
        for place, name in enumerate(inputs):
            Path(parts, str(place), copy_name(name)).replace(folder / copy_name(name))


def fill_store(engine: Engine, url: str, options: Options, order: str) -> None:
    """Put the kept pages into a store, and with KEEP_TEXT the texts of all pages.

    They come in the order of judging. The last capture of a URL counts, and an unchanged one only
    renews the time when the page was seen. A page without a time counts as seen now.
    """
    now = int(time.time())
    judged = (
        f"SELECT * FROM (SELECT page.*, {REASON} = 'unchanged' AS is_unchanged, {KEPT} AS is_kept "
        f"FROM {JUDGED} WHERE page.key IS NOT NULL) AS judged"
    )
    kept = f"{judged} WHERE is_kept OR is_unchanged ORDER BY {order}"
    furniture = {
        (row["namespace"], row["site"]): np.array(row["blocks"], np.uint32)
        for row in engine.rows("SELECT * FROM furniture")
    }
    with open_store(url) as store:
        store.stamp(options.stamp())
        for site, blocks in furniture.items():
            store.add_furniture(*site, pack_blocks(blocks.tolist()))
        for is_unchanged, rows in groupby(engine.rows(kept), key=itemgetter("is_unchanged")):
            pages = (_own(page_from_row(_dated(row, now)), furniture) for row in rows)
            if is_unchanged:
                for page in pages:
                    store.settle(page, partial(_seen, page))
            else:
                store.insert_many(pages)
        texts = (
            PageText(row["namespace"], row["key"], row["title"], row["text"], row["time"] or now)
            for row in engine.rows(f"{judged} ORDER BY {order}")
            if row["text"] is not None
        )
        while batch := list(islice(texts, TEXTS_A_BATCH)):
            store.keep_texts(batch)


def _own(page: StoredPage, furniture: Mapping[tuple[str, str], Blocks]) -> StoredPage:
    known = furniture.get((page.namespace, page.site), NO_BLOCKS)
    return replace(page, sample=page.sample and own_sample(page.sample, known))


def _dated(row: dict[str, Any], now: float) -> dict[str, Any]:
    return row if row["time"] is not None else {**row, "time": now, "seen_at": now}


def _seen(page: StoredPage, view: View) -> tuple[Action, None]:
    """Renews the stored page if this capture is later; captures may come in any order."""
    stored = view.same_key()
    is_later = stored is not None and stored.seen_at < page.seen_at
    return (Action.RENEW if is_later else Action.SKIP), None
