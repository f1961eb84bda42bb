"""Which pages can have a say in each other's verdicts, in SQL that DuckDB and Spark both run.

Two pages are tied when their contents or structures are near (whichever MATCH asks for), when both
are thin with one text, or when they have one URL. Tied pages, and those tied to them, make up a
family: no verdict on a page depends on a page of another family, so families are judged one by one,
each by the judge of live crawls, and on any machine.

Values that many pages share are tied through the first of these pages, and only distinct values are
compared with each other: near.py. URLs are compared by a hash: two that have one by chance make a
family larger, and change no verdict.

    page              what rows.py makes
    content_near(a, b), structure_near(a, b)   positions of near values
    pair(a, b)        all ties, by position
    family(position, family)   the pages that are tied, and the first page of their family
    furniture(namespace, site, blocks)   the blocks that stand on many pages of a site
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from simhash_pipeline.archive.near import Near
from simhash_pipeline.archive.verdicts import JUDGED_BY
from simhash_pipeline.index.tables import Design, plan
from simhash_pipeline.own_text import FURNITURE_PAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_pipeline.archive.verdicts import Groups
    from simhash_pipeline.options import Options

# With a million values one takes 50 ns in a table, and each of its candidates 14 (`python -m
# benchmarks.tables`). Where that comes to the same, fewer tables are less to send between machines.
MAX_CANDIDATES = 4
PAGES_LOOKED_AT = 1_000  # of a site, for its furniture


class Engine(Protocol):
    """What runs SQL: it has the table `page`, and the few words that not all have alike."""

    def make(self, table: str, query: str) -> None:
        """A table of the query's rows, in place of one of that name."""

    def number(self, query: str) -> int:
        """The query's one number."""

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        """The query's rows, one after another."""

    def near(self, table: str, near: Near) -> None:
        """A table of the pairs that are near."""

    def judge(self, query: str, order: str, options: Options, groups: Groups) -> None:
        """The table `verdict`: what `verdicts.judged` makes of the query's rows, in this order."""

    def write(self, query: str, to: str) -> None:
        """The query's rows into a file, Parquet or JSON Lines by its ending."""

    def quoted(self, name: str) -> str:
        """A name that is a word of SQL."""

    def text(self, words: str) -> str:
        """A text as SQL spells it."""

    def each(self, column: str) -> str:
        """SQL: a row for each entry of a list."""

    def listed(self, column: str) -> str:
        """SQL: the entries of a group as a list."""

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
    """SQL: from these tables what `verdicts.judged` takes, in any order."""
    columns = ", ".join(f"page.{name}" for name in JUDGED_BY)
    return (
        f"SELECT family.family, {columns}, furniture.blocks AS furniture FROM page "
        f"JOIN family ON family.position = page.position LEFT JOIN furniture "
        f"ON furniture.namespace = page.namespace AND furniture.site = page.site"
    )


def _find_furniture(engine: Engine) -> None:
    """A family counts as one page: copies would make furniture of what they share.

    What only pages of one family share is learnt as they are judged, as in a crawl.
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
        f"SELECT namespace, site, {engine.listed('block')} AS blocks "
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
    """What is in these columns, once each, with the first page that has it and how many have."""
    names = ", ".join(columns)
    return (
        f"SELECT min(position) AS position, count(*) AS pages, {names} FROM page "
        f"WHERE {columns[0]} IS NOT NULL GROUP BY {names}"
    )


def _shared(values: str, columns: list[str]) -> str:
    """Each page whose value an earlier one has, tied to the first."""
    same = " AND ".join(f"page.{name} = shared.{name}" for name in columns)
    return (
        f"SELECT shared.position AS a, page.position AS b FROM page JOIN {values} AS shared "
        f"ON {same} WHERE shared.pages > 1 AND shared.position < page.position"
    )


def _connect(engine: Engine) -> None:
    """Families, by handing the lowest position on: to tied pages, and by where it came from.

    The second doubles the way that it goes in a round, so that a chain takes the logarithm of its
    length in rounds.
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
            ") AS told GROUP BY position",
        )
        engine.make(
            "family",
            "SELECT spread.position, behind.family FROM spread JOIN spread AS behind "
            "ON behind.position = spread.family",
        )
