"""`scrapy simhash plan`: which tables suit a number of pages, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import ceil, log2
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from simhash_pipeline.cli.arguments import number_between, size_bytes, whole
from simhash_pipeline.cli.command import Command, Result, counted, print_result, size
from simhash_pipeline.index.tables import (
    ENOUGH_CANDIDATES,
    MAX_TABLES,
    SPLITS,
    SPLITS_DISTANCE,
    Design,
    Plan,
    plan,
)
from simhash_pipeline.terminal import Grid, Heading

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
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--pages",
            type=whole(),
            required=True,
            help="to 2^40: 8e9, 250_000, 2^34",
        )
        parser.add_argument("--distance", type=int, default=3, help="bits, 0-8 (default: 3)")
        parser.add_argument("--bits", type=int, default=64, help="32, 64 or 128 (default: 64)")
        parser.add_argument(
            "--machines",
            type=whole(),
            default=1,
            help="that hold the tables (default: 1)",
        )
        parser.add_argument(
            "--memory", type=size_bytes, help="at most this much a machine: 64GiB, 2TB"
        )
        parser.add_argument("--candidates", type=number_between(0), help="at most, a probe")
        parser.add_argument("--probes", type=whole(), help="at most, a query")

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        try:
            planned = plan(
                arguments.pages,
                arguments.distance,
                arguments.bits,
                arguments.machines,
                max_memory_bytes=arguments.memory,
                max_candidates=arguments.candidates,
                max_probes=arguments.probes,
            )
        except ValueError as error:
            raise UsageError(str(error)) from None
        print_result(PrintedPlan(planned), arguments)
        return 0


@dataclass(frozen=True, slots=True)
class PrintedPlan(Result):
    """The designs, their costs, and which one is recommended."""

    plan: Plan

    def record(self) -> dict[str, Any]:
        planned, first = self.plan, self.plan.designs[0]
        return {
            "pages": planned.pages,
            "bits": first.bits,
            "distance": first.distance,
            "machines": planned.machines,
            "tables_setting": _setting(planned),
            "designs": [
                {
                    "tables": design.probes,
                    "splits": design.splits,
                    "key_bits": design.key_bits,
                    "candidates_per_probe": design.candidates_per_probe(planned.pages),
                    "candidates_per_query": design.candidates_per_query(planned.pages),
                    "machine_bytes": design.memory_bytes(planned.pages, planned.machines),
                    "too_much": planned.faults(design),
                    "recommended": design == planned.recommended,
                }
                for design in planned.designs
            ],
        }

    def lines(self) -> Iterator[Line]:
        planned, design = self.plan, self.plan.designs[0]
        machines = "" if planned.machines == 1 else f", {planned.machines:,} machines"
        memory = "memory" if planned.machines == 1 else "memory a machine"
        yield (
            f"Every fingerprint within {design.distance} of {design.bits} bits, "
            f"among {planned.pages:,} pages (2^{log2(planned.pages):.3g}){machines}"
        )
        yield ""
        header = ("", "tables", "cut into", "key bits", "candidates", "a query", memory)
        yield Grid([header, *(_row(planned, one) for one in planned.designs)], right=range(7))
        yield ""
        yield from _over_budget(planned)
        yield Heading(_advice(planned))
        if (tables := _setting(planned)) is not None:
            names = f'SIMHASH_STORE = "auto?index=disk&tables={tables}"'
            yield f"{names} give them to an SQLite store."
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
        size(design.memory_bytes(planned.pages, planned.machines)),
    )


def _over_budget(planned: Plan) -> Iterator[str]:
    """A line for each budget that some design exceeds."""
    faults = {design.probes: planned.faults(design) for design in planned.designs}
    for budget in dict.fromkeys(chain.from_iterable(faults.values())):
        over = ", ".join(str(tables) for tables, found in faults.items() if budget in found)
        yield f"Over the budget of {budget}: {over} tables"


def _advice(planned: Plan) -> str:
    best = planned.recommended
    if best is None:
        return f"Nothing keeps within {_budgets(planned)}. {_way_out(planned)}"
    if planned.max_candidates is not None:
        why = f"the fewest within {_budgets(planned)}"
    elif best.candidates_per_probe(planned.pages) <= ENOUGH_CANDIDATES:
        why = f"the fewest with at most {ENOUGH_CANDIDATES} candidates a probe"
    elif budgets := _budgets(planned):
        why = f"the fewest candidates a query within {budgets}"
    else:
        why = f"no more than {MAX_TABLES:,} have fewer candidates"
    return f"-> {best.probes} tables: {why}."


def _setting(planned: Plan) -> int | None:
    """What SIMHASH_TABLES must be for the recommended design; None if a store can't have it."""
    best = planned.recommended
    if best is None or best.bits == 128 or best.distance != SPLITS_DISTANCE:
        return None
    return next((tables for tables, splits in SPLITS.items() if splits == best.splits), None)


def _warning(planned: Plan) -> list[str]:
    """A line if the fingerprints are too short to distinguish the pages."""
    chance = planned.designs[0].chance_neighbours(planned.pages)
    if chance < FEW_CHANCE_NEIGHBOURS:
        return []
    pages = _few(chance)
    advice = "take more bits or a shorter distance"
    return [f"Beware: by mere chance {pages} of these pages are that near to a query; {advice}."]


def _budgets(planned: Plan) -> str:
    memory, candidates, probes = (
        planned.max_memory_bytes,
        planned.max_candidates,
        planned.max_probes,
    )
    budgets = [
        "" if memory is None else f"{size(memory)} a machine",
        "" if candidates is None else f"{candidates:,.9g} candidates a probe",
        "" if probes is None else f"{counted(probes, 'probe')} a query",
    ]
    return " and ".join(text for text in budgets if text)


def _way_out(planned: Plan) -> str:
    """What would help: more machines if only memory is short, else the ends of the range."""
    for design in planned.designs:
        if planned.max_memory_bytes is not None and planned.faults(design) == ["memory"]:
            machines = ceil(design.memory_bytes(planned.pages) / planned.max_memory_bytes)
            return f"{design.probes} tables would fit on {machines:,} machines."
    least, most = planned.designs[0], planned.designs[-1]
    return (
        f"The least memory is {size(least.memory_bytes(planned.pages, planned.machines))} "
        f"a machine, in {least.probes} tables; the fewest candidates are "
        f"{_few(most.candidates_per_probe(planned.pages))} a probe, in {most.probes}."
    )


def _few(number: float) -> str:
    """Whole from 10 on: 262,144 or 30; below with a decimal: 3.7."""
    if number >= 9.95:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 0.05 else "<0.1"
