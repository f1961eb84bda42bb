"""What is written of a finished judgement: the result, a drop log, copies, a store."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import asdict, replace
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from simhash_pipeline.archive.rows import page_of
from simhash_pipeline.archive.verdicts import JUDGED_BY
from simhash_pipeline.drop_log import DropLog
from simhash_pipeline.judge import Verdict
from simhash_pipeline.own_text import NO_BLOCKS, Blocks, own_sample, pack_blocks
from simhash_pipeline.page.fingerprint import PageFingerprint
from simhash_pipeline.stores.contract import Action, PageText
from simhash_pipeline.stores.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simhash_pipeline.archive.records import Fault, Input
    from simhash_pipeline.archive.relation import Engine
    from simhash_pipeline.options import Options
    from simhash_pipeline.stores.contract import StoredPage, View

TEXTS_A_BATCH = 1_000
# A page of no family has no verdict: nothing is like it.
KEPT = "coalesce(verdict.kept, TRUE)"
UNJUDGED = "unjudged"
REASON = f"""coalesce(verdict.reason, CASE
    WHEN page.fault IS NOT NULL THEN '{UNJUDGED}' WHEN page.content IS NULL THEN 'thin' ELSE 'new'
    END)"""
JUDGED = "page LEFT JOIN verdict ON verdict.position = page.position"


def result(engine: Engine, names: Sequence[str]) -> str:
    """SQL: from `page` and `verdict` a row a page, in their order; `names` are the inputs'."""
    inputs = ", ".join(f"({place}, {engine.text(name)})" for place, name in enumerate(names))
    group = engine.quoted("group")
    return f"""
        SELECT page.url, {KEPT} AS kept, {REASON} AS reason,
            coalesce(verdict.{group}, page.position) AS {group},
            twin.url AS twin_url,
            verdict.content_distance, verdict.structure_distance, verdict.sketch_distance,
            verdict.own_likeness, page.content, page.structure, page.sketch,
            page.title, page.tokens, page.time,
            input.name AS input, page.number, page.fault
        FROM {JUDGED} LEFT JOIN page AS twin ON twin.position = verdict.twin
            JOIN (VALUES {inputs}) AS input (place, name) ON input.place = page.input
        ORDER BY page.position
    """


def counts() -> str:
    """SQL: how many pages have which verdict."""
    return (
        f"SELECT {KEPT} AS kept, {REASON} AS reason, count(*) AS pages FROM {JUDGED} "
        f"GROUP BY {KEPT}, {REASON} ORDER BY pages DESC, reason, kept"
    )


def write_drop_log(
    engine: Engine, to: Path, options: Options, name: str, pages: Iterable[tuple[bool, str, int]]
) -> None:
    """The log that a crawl of this name would have left; of the others `pages` is all it tells."""
    to.unlink(missing_ok=True)
    log = DropLog(to, run=uuid.uuid4().hex, spider=name, options=options)
    columns = ", ".join(f"page.{column}" for column in (*JUDGED_BY, "title", "tokens"))
    drops = f"""
        SELECT {columns}, verdict.reason, twin.key AS twin_key, twin.time AS twin_time,
            verdict.content_distance, verdict.structure_distance, verdict.sketch_distance,
            verdict.own_likeness
        FROM {JUDGED} LEFT JOIN page AS twin ON twin.position = verdict.twin
        WHERE NOT verdict.kept ORDER BY page.position
    """
    for row in engine.rows(drops):
        log.write(_verdict(row), _fingerprint(row), row["namespace"])
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
        content_distance=row["content_distance"],
        structure_distance=row["structure_distance"],
        sketch_distance=row["sketch_distance"],
        own_likeness=row["own_likeness"],
    )


def _fingerprint(row: Mapping[str, Any]) -> PageFingerprint:
    page = page_of(row)
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
    """A line for each record that can't be read; no file where all can be."""
    to.unlink(missing_ok=True)
    if faults:
        lines = (json.dumps({"input": name, **asdict(fault)}) + "\n" for name, fault in faults)
        to.write_text("".join(lines), encoding="utf-8")


def copy_name(name: str) -> str:
    """The name of an input's copy: its own, which `.` and `..` don't tell."""
    path = Path(name)
    return path.resolve().name if path.name in ("", "..") else path.name


def write_copies(engine: Engine, inputs: Mapping[str, Input], folder: Path) -> None:
    """Each input without its dropped pages, under its own name; all at once, when all are whole."""
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
    """Put the kept pages into a store, and where texts are kept those of all pages.

    They come in the order of judging: of a URL's captures the last counts, and an unchanged one
    says only that the page was still there. A page of which nobody knows when it was fetched counts
    as seen now.
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
            pages = (_own(page_of(_dated(row, now)), furniture) for row in rows)
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
    """Captures may be judged in another order than they were made in."""
    stored = view.same_key()
    is_later = stored is not None and stored.seen_at < page.seen_at
    return (Action.RENEW if is_later else Action.SKIP), None
