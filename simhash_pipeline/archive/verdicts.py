"""Judges families of pages: the verdict on each page, and its group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, islice
from operator import attrgetter, itemgetter
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from simhash_pipeline.archive.rows import page_from_row
from simhash_pipeline.judge import Judge, Reason, Verdict, verdict_of
from simhash_pipeline.options import Options
from simhash_pipeline.own_text import Blocks, own_sample, pack_blocks
from simhash_pipeline.stores.contract import Action, StoredPage, View
from simhash_pipeline.stores.memory import MemoryStore

Row: TypeAlias = dict[str, Any]
Groups = Literal["stars", "components"]
# A judge that finds near pages, and the fields of a page that it compares.
Tie: TypeAlias = "tuple[Judge, Callable[[StoredPage], Any]]"

# The columns of rows.py that verdicts and ORDERS depend on.
JUDGED_BY = (
    *("position", "url", "key", "namespace", "site", "content", "structure", "sketch", "digest"),
    *("visible", "sample", "blocks", "time", "seen_at", "text_chars", "is_canonical"),
)
# Fields of a verdict that are columns of the result under the same names.
MEASURES = ("content_distance", "structure_distance", "sketch_distance", "own_likeness")
SCHEMA = pa.schema(
    [
        ("position", pa.int64()),
        ("kept", pa.bool_()),
        ("reason", pa.string()),
        ("group", pa.int64()),  # the position of the group's first kept page
        ("twin", pa.int64()),  # the position of the page it was found near
        ("content_distance", pa.int32()),
        ("structure_distance", pa.int32()),
        ("sketch_distance", pa.int32()),
        ("own_likeness", pa.float64()),
    ]
)
ROWS_A_BATCH = 10_000
# The order of judging, in SQL; the first of several twins is kept.
ORDERS = {
    "first": "position",
    "earliest": "time IS NULL, time, position",
    "longest": "text_chars DESC NULLS LAST, position",
    "shortest-url": "length(url), position",
    "canonical": "NOT coalesce(is_canonical, FALSE), position",
}


def judged(
    batches: Iterable[pa.RecordBatch], options: Options, groups: Groups
) -> Iterator[pa.RecordBatch]:
    """The verdicts on rows that are sorted by family and, in a family, by the order of judging.

    A family may span several batches. With "stars" the verdicts are those of a crawl that meets the
    pages in this order: each dropped page is near the kept one. With "components" a chain of near
    pages is one group, however far apart its ends are, and its first page is kept.
    """
    rows = (row for batch in batches for row in batch.to_pylist())
    with MemoryStore() as store:
        judge_family = {
            "stars": partial(_stars, options=options, store=store),
            "components": partial(_components, ties=_ties(options, store), store=store),
        }[groups]
        verdicts = (
            verdict
            for _, family in groupby(rows, key=itemgetter("family"))
            for verdict in judge_family(list(family))
        )
        while batch := list(islice(verdicts, ROWS_A_BATCH)):
            yield pa.RecordBatch.from_pylist(batch, SCHEMA)


def _stars(rows: list[Row], options: Options, store: MemoryStore) -> Iterator[Row]:
    judge = Judge(store, options)  # one for each family, as it learns furniture
    _add_furniture(rows, store)
    at: dict[tuple[str, str], int] = {}  # the position of each stored page
    group_of: dict[int, int] = {}
    for row in rows:
        page, position = page_from_row(row), row["position"]
        verdict = judge.judge_stored(page, row["blocks"] or ())
        twin = None if verdict.twin_url is None else at[page.namespace, verdict.twin_url]
        if verdict.stored or twin is None:
            at[page.namespace, page.url] = group_of[position] = position
        else:
            group_of[position] = group_of[twin]
        yield _row(position, verdict, group_of[position], twin)
    for namespace in {namespace for namespace, _ in at}:
        store.clear(namespace)


def _ties(options: Options, store: MemoryStore) -> list[Tie]:
    """Two for "either": pages near in content need not be near in structure."""
    matches = ("content", "structure") if options.match == "either" else (options.match,)
    each = [replace(options, match=match) for match in matches]
    return [(Judge(store, one), _compared(one)) for one in each]


def _compared(options: Options) -> Callable[[StoredPage], Any]:
    content = ["content", "digest"]
    if options.verify_distance is not None:
        content += ["sketch", "site", "visible", "sample"]
    structure = ["structure"]
    by = {"content": content, "structure": structure, "both": content + structure}
    return attrgetter(*by[options.match])


def _components(rows: list[Row], ties: Sequence[Tie], store: MemoryStore) -> Iterator[Row]:
    """Verdicts by chains of near pages; that pages have one URL makes no difference.

    Pages that are equal in all that is compared are represented by the first of them, so each of a
    million equal pages is compared with one page. Near pages that differ are all compared with each
    other, which is quadratic: such as a million pages of one content whose sketches differ or,
    with "both", whose structures differ or are missing.
    """
    pages = [_own(row, str(place)) for place, row in enumerate(rows)]
    # For each page the places of its group, one list for all of them.
    groups = [[place] for place in range(len(pages))]
    reasons: dict[int, Reason] = {}
    for tie in ties:
        _add_furniture(rows, store)
        for place, page in enumerate(pages):
            for other, reason in store.settle(page, partial(_near, page, tie)):
                reasons.setdefault(place, reason)
                reasons.setdefault(other, reason)
                _join(groups, place, other)
        for namespace in {page.namespace for page in pages}:
            store.clear(namespace)
    first_of: dict[int, int] = {}  # by group
    for place, row in enumerate(rows):
        first = first_of.setdefault(id(groups[place]), place)
        alone: Reason = "new" if pages[place].content is not None else "thin"
        verdict = (
            verdict_of(pages[place], alone)
            if first == place
            else verdict_of(pages[place], reasons[place], pages[first], dropped=True)
        )
        group = rows[first]["position"]
        yield _row(row["position"], verdict, group, group if verdict.dropped else None)


def _own(row: Row, url: str) -> StoredPage:
    page = page_from_row(row)
    own = None if page.sample is None else own_sample(page.sample, _furniture(row))
    return replace(page, url=url, sample=own)


def _furniture(row: Row) -> Blocks:
    return np.array(row["furniture"] or (), np.uint32)


def _add_furniture(rows: list[Row], store: MemoryStore) -> None:
    """Put the furniture that relation.py found for the sites of these rows into the store."""
    for row in {(row["namespace"], row["site"]): row for row in rows}.values():
        store.add_furniture(row["namespace"], row["site"], pack_blocks(_furniture(row).tolist()))


def _near(page: StoredPage, tie: Tie, view: View) -> tuple[Action, list[tuple[int, Reason]]]:
    judge, compared = tie
    near: list[tuple[int, Reason]] = []
    for other, reason in judge.neighbours(page, view):
        if reason == "verified different":
            continue
        if compared(other) == compared(page):
            return Action.SKIP, [(int(other.url), reason)]
        near.append((int(other.url), reason))
    return Action.KEEP, near


def _join(groups: list[list[int]], a: int, b: int) -> None:
    if groups[a] is groups[b]:
        return
    small, large = sorted([groups[a], groups[b]], key=len)
    large += small
    for place in small:
        groups[place] = large


def _row(position: int, verdict: Verdict, group: int, twin: int | None) -> Row:
    return {
        "position": position,
        "kept": not verdict.dropped,
        "reason": verdict.reason,
        "group": group,
        "twin": twin,
        **{name: getattr(verdict, name) for name in MEASURES},
    }
