"""How far pairs of pages are apart and which thresholds suit them, in words and as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simhash_pipeline.cli.compare import begun
from simhash_pipeline.cli.terminal import counted
from simhash_pipeline.printable import aligned, bar, printable
from simhash_pipeline.tune.pair_sample import LARGEST_DISTANCE, valley
from simhash_pipeline.tune.precision import (
    Label,
    Precision,
    Recommendation,
    answers_needed,
    joined,
    precision,
    recommended,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simhash_pipeline.options import Options
    from simhash_pipeline.tune.sheet import Line

_WIDE_BITS = 4  # beyond 12, so many distances share a line


@dataclass(frozen=True, slots=True)
class Tuning:
    """What is known of a source's pairs."""

    source: str
    pages: int  # with a content fingerprint; drawn out of `seen`
    seen: int
    left_out: int  # that can't be read
    counts: Sequence[int]  # all pairs, by distance
    lines: Sequence[Line]  # the pairs that were drawn
    labels: Sequence[Label]  # those with an answer
    options: Options
    least: float  # precision

    @property
    def recommended(self) -> Recommendation | None:
        return recommended(self.labels, self.options.verify_distance, self.least)

    def within(self, distance: int) -> tuple[Precision | None, Precision | None]:
        """The precision of a threshold with a second look as set, and without."""
        verify = self.options.verify_distance
        return (
            precision(joined(self.labels, distance, verify)),
            precision(joined(self.labels, distance, None)),
        )


def tuning_record(tuning: Tuning) -> dict[str, Any]:
    best = tuning.recommended
    stretch = valley(tuning.counts)
    return {
        "source": tuning.source,
        "pages": tuning.pages,
        "left_out": tuning.left_out,
        "pairs": list(tuning.counts),
        "valley": None if stretch is None else list(stretch),
        "answers": len(tuning.labels),
        "thresholds": [
            {"distance": distance, "verified": _measured(with_), "unverified": _measured(without)}
            for distance in range(LARGEST_DISTANCE + 1)
            for with_, without in [tuning.within(distance)]
        ],
        "recommended": None
        if best is None
        else {
            "content_distance": best.content_distance,
            "verify_distance": best.verify_distance,
        },
    }


def tuning_lines(tuning: Tuning) -> Iterator[str]:
    drawn = f", drawn out of {tuning.seen:,}" if tuning.seen > tuning.pages else ""
    unread = f", {tuning.left_out:,} that can't be read left out" if tuning.left_out else ""
    yield f"{tuning.source}: {tuning.pages:,} pages with a content fingerprint{drawn}{unread}"
    yield ""
    yield from _histogram(tuning.counts)
    yield from _valley(tuning)
    if tuning.labels:
        yield from _precisions(tuning)
        yield from _recommended(tuning)
    else:
        yield from _examples(tuning.lines)


def _measured(found: Precision | None) -> dict[str, float] | None:
    if found is None:
        return None
    return {
        "pairs": found.answers,
        "precision": round(found.share, 4),
        "low": round(found.low, 4),
        "high": round(found.high, 4),
    }


def _histogram(counts: Sequence[int]) -> Iterator[str]:
    bins = [(str(bits), counts[bits]) for bits in range(LARGEST_DISTANCE + 1)]
    for start in range(LARGEST_DISTANCE + 1, len(counts), _WIDE_BITS):
        end = min(start + _WIDE_BITS, len(counts)) - 1
        bins.append((f"{start}-{end}", sum(counts[start : end + 1])))
    while bins and not bins[-1][1]:
        bins.pop()
    most = math.log1p(max((count for _, count in bins), default=0)) or 1.0
    rows = [(name, f"{count:,}", bar(math.log1p(count), most)) for name, count in bins]
    yield aligned([("bits apart", "pairs", "(the bars by their logarithm)"), *rows], right=(0, 1))


def _valley(tuning: Tuning) -> Iterator[str]:
    stretch = valley(tuning.counts)
    yield ""
    if stretch is None:
        yield "No valley: no pairs are nearer than pages are that have nothing in common."
        return
    first, last = stretch
    where = f"at {first}" if first == last else f"from {first} to {last}"
    yield f"The valley between near-duplicates and other pages lies {where} bits."
    yield f"SIMHASH_CONTENT_DISTANCE is {tuning.options.content_distance}, and may be 0-8."


def _precisions(tuning: Tuning) -> Iterator[str]:
    verify = tuning.options.verify_distance
    rows = []
    for distance in range(LARGEST_DISTANCE + 1):
        with_, without = tuning.within(distance)
        cells = [*_cells(with_), *_cells(without)] if verify is not None else _cells(without)
        rows.append([str(distance), *cells, "" if with_ is None else bar(with_.share, 1)])
    columns = ["answers", "right", "at least - at most"]
    head = ["within", *columns, *(columns if verify is not None else []), ""]
    yield ""
    if verify is not None:
        yield f"Precision with sketches within {verify}, and without a second look"
    else:
        yield "Precision"
    yield aligned([head, *rows], right=range(len(head) - 1))


def _cells(found: Precision | None) -> list[str]:
    if found is None:
        return ["0", "", ""]
    return [str(found.answers), f"{found.share:.3f}", f"{found.low:.3f} - {found.high:.3f}"]


def _recommended(tuning: Tuning) -> Iterator[str]:
    best, least = tuning.recommended, f"{tuning.least:g}"
    yield ""
    if best is None:
        needed = answers_needed(tuning.least)
        yield f"No distance is surely right {least} of the time: the interval's lower end is below."
        yield f"It takes {needed} answers at the least, all of them y; or a lower --precision."
        return
    yield f"For settings.py, the largest distances whose interval begins at {least} or above:"
    yield ""
    yield f"SIMHASH_CONTENT_DISTANCE = {best.content_distance}"
    yield f"SIMHASH_VERIFY_DISTANCE = {best.verify_distance}"


def _examples(lines: Sequence[Line]) -> Iterator[str]:
    told: set[int] = set()
    for line in lines:
        if line.distance in told:
            continue
        told.add(line.distance)
        sketch = "" if line.sketch_distance is None else f", sketches {line.sketch_distance}"
        yield f"\n{counted(line.distance, 'bit')} apart{sketch}, as"
        for url, title in ((line.url_a, line.title_a), (line.url_b, line.title_b)):
            yield f"  {printable(url)}  {printable(title)}"
        yield f"  {printable(begun(line.words)) or 'the same words'}"
