"""`scrapy simhash plan`: which tables suit a number of pages, and what they cost."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from simhash_pipeline.cli.command import Command, size, whole
from simhash_pipeline.index.tables import ENOUGH_CANDIDATES, MAX_TABLES, Design, Plan, plan
from simhash_pipeline.terminal import Grid, Heading, print_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from simhash_pipeline.terminal import Line

# A plan warns from here on: one query in twenty is near to a page it has nothing to do with.
FEW_CHANCE_NEIGHBOURS = 0.05
LEGEND = (
    ("tables", "copies of all fingerprints, each sorted by its own key; a query probes them all"),
    ("cut into", "this many blocks, some of which are the key; then: the rest, cut again"),
    ("key bits", "two fingerprints must share these to meet in a table"),
    ("candidates", "fingerprints to compare that a probe finds under its key, if evenly spread"),
    ("a query", "the candidates of all its probes"),
)


class PlanCommand(Command):
    prints_json = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--pages", type=whole, required=True, help="at most 2^40: 8e9, 250_000")
        parser.add_argument("--distance", type=int, default=3, help="bits, 0-8 (default: 3)")
        parser.add_argument("--bits", type=int, default=64, help="32 or 64 (default: 64)")

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        try:
            planned = plan(arguments.pages, arguments.distance, arguments.bits)
        except ValueError as error:
            raise UsageError(str(error)) from None
        print_lines(_lines(planned))
        return 0


def _lines(planned: Plan) -> Iterator[Line]:
    """The designs, their costs, and which one is recommended."""
    design = planned.designs[0]
    yield (
        f"Every fingerprint within {design.distance} of {design.bits} bits, "
        f"among {planned.pages:,} pages (2^{log2(planned.pages):.3g})"
    )
    yield ""
    header = ("", "tables", "cut into", "key bits", "candidates", "a query", "memory")
    yield Grid([header, *(_row(planned, one) for one in planned.designs)], right=range(7))
    yield ""
    yield Heading(_advice(planned))
    yield from _warning(planned)
    yield ""
    unit = f"{design.bits // 8} bytes a fingerprint in each table; 1 GiB is 2^30 bytes"
    yield Grid([*LEGEND, ("memory", unit)])


def _row(planned: Plan, design: Design) -> tuple[str, ...]:
    shortest, longest = min(design.key_bits), max(design.key_bits)
    return (
        "->" if design == planned.recommended else "",
        str(design.probes),
        ", then ".join(map(str, design.splits)),
        str(shortest) if shortest == longest else f"{shortest}-{longest}",
        _few(design.candidates_per_probe(planned.pages)),
        _few(design.candidates_per_query(planned.pages)),
        size(design.memory_bytes(planned.pages)),
    )


def _advice(planned: Plan) -> str:
    best = planned.recommended
    why = f"no more than {MAX_TABLES:,} have fewer candidates"
    if best.candidates_per_probe(planned.pages) <= ENOUGH_CANDIDATES:
        why = f"the fewest with at most {ENOUGH_CANDIDATES} candidates a probe"
    return f"-> {best.probes} tables: {why}."


def _warning(planned: Plan) -> list[str]:
    """A line if the fingerprints are too short to distinguish the pages."""
    chance = planned.designs[0].chance_neighbours(planned.pages)
    if chance < FEW_CHANCE_NEIGHBOURS:
        return []
    pages = _few(chance)
    advice = "take more bits or a shorter distance"
    return [f"Beware: by mere chance {pages} of these pages are that near to a query; {advice}."]


def _few(number: float) -> str:
    """Whole from 10 on: 262,144 or 30; below with a decimal: 3.7."""
    if number >= 9.95:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 0.05 else "<0.1"
