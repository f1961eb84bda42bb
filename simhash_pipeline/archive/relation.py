"""Which pages can affect each other's verdicts, in SQL that DuckDB and Spark both run.

Two pages are tied if their contents or structures are near (whichever MATCH asks for), when both
are thin with one text, or if they have one URL. Pages that are connected by ties form a family. No
verdict depends on a page of another family, so families are judged one by one, on any machine, by
the judge of live crawls.

Values that many pages share are tied through the first of these pages, and only distinct values are
compared with each other: `Near` runs the tables of `index.tables` on a shard at a time. URLs are
compared by a hash: two that have one by chance make a family larger, and change no verdict.

    page              the table of rows.py
    content_near(a, b), structure_near(a, b)   positions of near values
    pair(a, b)        all ties, by position
    family(position, family)   the pages that are tied, and the first page of their family
    furniture(namespace, site, blocks)   the blocks that stand on many pages of a site
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from simhash_pipeline.archive.rows import signed
from simhash_pipeline.archive.verdicts import JUDGED_BY, Groups
from simhash_pipeline.index.pairs import pairs_of_table
from simhash_pipeline.index.tables import Design, plan, word_masks
from simhash_pipeline.options import Options
from simhash_pipeline.own_text import FURNITURE_PAGES

# Among a million values a value takes 50 ns per table, and 14 ns per candidate (`python -m
# benchmarks.tables`). At equal cost, fewer tables send less data between machines.
MAX_CANDIDATES = 4
PAGES_LOOKED_AT = 1_000  # of a site, to find its furniture
# CPU seconds for the pairs of ten million values (`make bench-archive BENCH_N=10000000`):
#     2^20 values a shard 23, 2^22 17, 2^24 19
VALUES_A_SHARD = 1 << 22
PAIRS = pa.schema([("a", pa.int64()), ("b", pa.int64())])  # positions, the lower one first


@dataclass(frozen=True, slots=True)
class Near:
    """The near pairs to find among `count` distinct values in the SQL table `values`.

    A shard is the values with some bits of a table's key in common, so it holds all pairs of the
    table. Engines pass shards one by one, or to many machines; only a shard must fit into memory.
    """

    values: str
    words: list[str]
    count: int
    distance: int
    design: Design

    @property
    def columns(self) -> str:
        """SQL: what `pairs` takes."""
        return ", ".join(["position", *self.words])

    def shard(self, table: int) -> str:
        """SQL: the number of the shard that a value belongs to."""
        word, bits = self._shard_bits(table)
        return f"{self.words[word]} & CAST({signed(bits)} AS BIGINT)"

    def shards(self, table: int) -> Iterator[str]:
        """SQL: for each shard the condition that selects its values."""
        _, bits = self._shard_bits(table)
        number = 0
        while True:
            yield f"({self.shard(table)}) = CAST({signed(number)} AS BIGINT)"
            number = number - bits & bits  # the next number of these bits alone
            if not number:
                return

    def pairs(self, table: int, rows: pa.Table) -> pa.Table:
        """The near pairs in a shard of this table that no earlier table finds."""
        positions = rows["position"].to_numpy()
        words = tuple(rows[name].to_numpy().view(np.uint64) for name in self.words)
        found = [
            np.sort([positions[one], positions[other]], axis=0)
            for one, other, _ in pairs_of_table(words, self.distance, self.design, table)
        ]
        a, b = np.concatenate([np.empty((2, 0), np.int64), *found], axis=1)
        return pa.table([a, b], PAIRS)

    def _shard_bits(self, table: int) -> tuple[int, int]:
        """The word that holds a shard's number, and the bits of it: the highest of the key."""
        count = ((self.count - 1) // VALUES_A_SHARD).bit_length() if self.count else 0
        masks = word_masks(self.design.tables[table])[: len(self.words)]
        word = max(range(len(masks)), key=lambda place: masks[place].bit_count())
        bits = masks[word]
        while bits.bit_count() > count:
            bits &= bits - 1
        return word, bits


class Engine(Protocol):
    """Runs SQL on the table `page`, and supplies the expressions in which dialects differ."""

    def make(self, table: str, query: str) -> None:
        """Make a table of the query's rows; it replaces a table of that name."""

    def number(self, query: str) -> int:
        """The query's one number."""

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        """The query's rows, one after another."""

    def near(self, table: str, near: Near) -> None:
        """Make a table of the near pairs."""

    def judge(self, query: str, order: str, options: Options, groups: Groups) -> None:
        """Make the table `verdict`: `verdicts.judged` of the query's rows in this order."""

    def write(self, query: str, to: str) -> None:
        """Write the query's rows to a file, Parquet or JSON Lines by its ending."""

    def text(self, words: str) -> str:
        """SQL: a string literal."""

    def each(self, column: str) -> str:
        """SQL: a row for each entry of a list."""

    def close(self) -> None: ...


def find_families(engine: Engine, options: Options) -> None:
    """From the table `page` make the tables `family` and `furniture`."""
    find_pairs(engine, options)
    _connect(engine)
    _find_furniture(engine)


def find_pairs(engine: Engine, options: Options) -> None:
    """From the table `page` make the table `pair`."""
    columns = {
        "content": ["content"],
        "structure": ["structure"],
        "both": ["content"],
        "either": ["content", "structure"],
    }[options.match]
    ties = [_shared(f"({_values([name])})", [name]) for name in ("digest", "key_hash")]
    for column in columns:
        words = _words(column, options.bits)
        values = f"{column}_value"
        engine.make(values, _values(words))
        count = engine.number(f"SELECT count(*) FROM {values}")
        distance = getattr(options, f"{column}_distance")
        design = _design(count, distance, options.bits)
        engine.near(f"{column}_near", Near(values, words, count, distance, design))
        ties += [_shared(values, words), f"SELECT a, b FROM {column}_near"]
    engine.make("pair", " UNION ALL ".join(ties))


def rows_to_judge() -> str:
    """SQL: the rows that `verdicts.judged` takes, in any order."""
    columns = ", ".join(f"page.{name}" for name in JUDGED_BY)
    return (
        f"SELECT family.family, {columns}, furniture.blocks AS furniture FROM page "
        f"JOIN family ON family.position = page.position LEFT JOIN furniture "
        f"ON furniture.namespace = page.namespace AND furniture.site = page.site"
    )


def _find_furniture(engine: Engine) -> None:
    """A family counts as one page; else what copies share would become furniture.

    Blocks that only pages of one family share are learnt as they are judged, as in a crawl.
    """
    numbered = (
        "SELECT namespace, site, position, blocks, row_number() OVER "
        "(PARTITION BY namespace, site ORDER BY position) AS place FROM page WHERE key IS NOT NULL"
    )
    blocks = (
        "SELECT DISTINCT first.namespace, first.site, "
        "coalesce(family.family, first.position) AS family, "
        f"{engine.each('first.blocks')} AS block "
        f"FROM ({numbered}) AS first LEFT JOIN family ON family.position = first.position "
        f"WHERE first.place <= {PAGES_LOOKED_AT}"
    )
    furniture = (
        f"SELECT namespace, site, block FROM ({blocks}) AS block_of "
        f"GROUP BY namespace, site, block HAVING count(*) >= {FURNITURE_PAGES}"
    )
    engine.make(
        "furniture",
        f"SELECT namespace, site, array_agg(block) AS blocks "
        f"FROM ({furniture}) AS found GROUP BY namespace, site",
    )


def _design(values: int, distance: int, bits: int) -> Design:
    sized = max(values, 1)
    for most in (MAX_CANDIDATES, None):
        design = plan(sized, distance, bits, max_candidates=most).recommended
        if design is not None:
            return design
    return Design(bits, distance, ())


def _words(column: str, bits: int) -> list[str]:
    return [f"{column}_{place}" for place in range(max(1, bits // 64))]


def _values(columns: list[str]) -> str:
    """SQL: the distinct values of these columns, with their first page and number of pages."""
    names = ", ".join(columns)
    return (
        f"SELECT min(position) AS position, count(*) AS pages, {names} FROM page "
        f"WHERE {columns[0]} IS NOT NULL GROUP BY {names}"
    )


def _shared(values: str, columns: list[str]) -> str:
    """SQL: ties between the first page of a value and each later one."""
    same = " AND ".join(f"page.{name} = shared.{name}" for name in columns)
    return (
        f"SELECT shared.position AS a, page.position AS b FROM page JOIN {values} AS shared "
        f"ON {same} WHERE shared.pages > 1 AND shared.position < page.position"
    )


def _connect(engine: Engine) -> None:
    """Make the table `family`: connected pages get the lowest position among them.

    In each round a page takes the lowest family of its neighbours, and then that family's own one.
    The second step doubles the distance covered, so a chain of n pages takes some log2(n) rounds.
    """
    engine.make("tie", "SELECT a, b FROM pair UNION ALL SELECT b AS a, a AS b FROM pair")
    engine.make("family", "SELECT DISTINCT a AS position, a AS family FROM tie")
    before = None
    # On a cluster positions are so large that a few thousand sum up to more than a BIGINT.
    total_of = "SELECT coalesce(sum(CAST(family AS DECIMAL(38, 0))), 0) FROM family"
    while (total := engine.number(total_of)) != before:
        before = total
        engine.make(
            "spread",
            "SELECT position, min(family) AS family FROM ("
            "SELECT tie.a AS position, family.family FROM tie JOIN family "
            "ON family.position = tie.b UNION ALL SELECT position, family FROM family"
            ") AS candidate GROUP BY position",
        )
        engine.make(
            "family",
            "SELECT spread.position, behind.family FROM spread JOIN spread AS behind "
            "ON behind.position = spread.family",
        )
