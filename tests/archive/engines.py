"""Rows of made-up pages for an engine, and what becomes of them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from simhash_pipeline.archive.on_duckdb import DuckDb
from simhash_pipeline.archive.outcome import result
from simhash_pipeline.archive.records import StoredRecord
from simhash_pipeline.archive.relation import find_families, rows_to_judge
from simhash_pipeline.archive.rows import fingerprint_rows
from simhash_pipeline.archive.verdicts import ORDERS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simhash_pipeline.archive.verdicts import Groups
    from simhash_pipeline.options import Options
    from simhash_pipeline.stores.contract import StoredPage


def write_rows(folder: Path, pages: Sequence[StoredPage], options: Options, **columns: Any) -> None:
    """The parts of a folder; `columns` are put in place of what is known of stored pages."""
    records = [
        (position, 0, StoredRecord(position + 1, page)) for position, page in enumerate(pages)
    ]
    table = fingerprint_rows(records, options)
    for name, values in columns.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(name), [values])
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / "part-000000.parquet")


def outcome(
    folder: Path, options: Options, keep: str = "first", groups: Groups = "stars"
) -> list[dict[str, Any]]:
    """The rows of the result."""
    with closing(DuckDb(folder)) as engine:
        find_families(engine, options)
        engine.judge(rows_to_judge(), ORDERS[keep], options, groups)
        return list(engine.rows(result(engine, ["made up"])))
