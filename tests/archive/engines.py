"""Rows of made-up pages, and what becomes of them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from simhash_pipeline.archive.dedup import RESULT
from simhash_pipeline.archive.parts import (
    ROWS,
    judge_batches,
    judge_sorted,
    judgeable,
    sql_on,
    stored_columns,
)
from tests.stores.pages import page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simhash_pipeline.options import Options
    from simhash_pipeline.stores.contract import StoredPage


def crowd(seed: int = 1) -> list[StoredPage]:
    """Values in clouds, up to 12 bits wide, some of them twice; every tenth page has none."""
    dice = random.Random(seed)
    centres = [dice.getrandbits(64) for _ in range(30)]

    def value() -> int:
        cloud = dice.choice(centres)
        for bit in dice.sample(range(64), dice.randrange(7)):
            cloud ^= 1 << bit
        return cloud

    return [
        page(
            f"http://{url % 3}.example/{url}",
            None if number % 10 == 0 else value(),
            value(),
            site=f"{url % 3}.example",
            digest=bytes([dice.randrange(20)]) * 8 if number % 10 == 0 else None,
        )
        for number in range(300)
        for url in [dice.randrange(280)]
    ]


def rows_of(pages: Sequence[StoredPage]) -> pa.Table:
    """The rows of pages whose fingerprints are known."""
    known = [{"url": one.shown_url, "time": one.first_seen, **stored_columns(one)} for one in pages]
    rows = [
        {"position": place, "input": 0, "number": place + 1, **one}
        for place, one in enumerate(known)
    ]
    return pa.Table.from_pylist(rows, ROWS)


def write_rows(folder: Path, pages: Sequence[StoredPage], **columns: Any) -> None:
    """The parts of a folder; `columns` are put in place of what is known of stored pages."""
    table = rows_of(pages)
    for name, values in columns.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(name), [values])
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / "part-000000.parquet")


def outcome(
    folder: Path, options: Options, keep: str = "first", *, in_order: bool = False
) -> list[dict[str, Any]]:
    """The rows of the result; judged `in_order` of the parts, or sorted."""
    if in_order:
        list(judge_batches(judgeable(sorted(folder.glob("part-*"))), folder, options))
    else:
        judge_sorted(folder, options, keep, pages=300)
    with sql_on(folder) as engine:
        engine.add_verdicts(["made up"])
        return list(engine.rows(RESULT))
