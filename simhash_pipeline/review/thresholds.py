"""What speaks for a threshold: answers about pairs of pages, and how near kept pages are.

Answers, in a sheet as answers.py reads it, say how often each threshold is right, and which
settings are recommended.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simhash_pipeline.bits import BITS, MAX_DISTANCE_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simhash_pipeline.answers import SheetLine

Z = 1.959964  # of a 95 % interval
# By the reason of a drop or near miss: whether the page is dropped, whatever the thresholds are.
_BY_RULE = {
    **dict.fromkeys(("title", "no page", "fields", "template"), False),
    **dict.fromkeys(("address", "structure", "unchanged"), True),
}


def nearest_distances(values: Sequence[int], number: int, seed: int) -> list[int]:
    """How many values have their nearest neighbour at each distance, from 0 to the width.

    At most `number` values are drawn, and each is compared with all: 3 ms for a million. Empty for
    fewer than two values.
    """
    if len(values) < 2:
        return []
    words = np.array(values, np.uint64)
    counts = np.zeros(BITS + 1, np.int64)
    rows = np.random.default_rng(seed).permutation(len(values))[:number]
    for row in rows:
        distances = np.bitwise_count(words ^ words[row])
        distances[row] = BITS  # itself
        counts[np.min(distances)] += 1
    return [int(count) for count in counts]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Two pages are near-duplicates within these distances in bits, and with this likeness, 0-1."""

    content_distance: int
    sketch_distance: int
    own_likeness: float


def copies(answers: Iterable[SheetLine]) -> int:
    """How many of the answered pairs are copies."""
    return sum(line.twins is True for line in answers)


def joined(answers: Iterable[SheetLine], limits: Thresholds) -> list[SheetLine]:
    """The answered pairs that are near-duplicates by these thresholds."""
    return [line for line in answers if _is_joined(line, limits)]


def _is_joined(line: SheetLine, limits: Thresholds) -> bool:
    if line.reason == "answer":
        return line.twins is True
    likeness = _likeness(line)
    if line.reason in _BY_RULE or (line.reason == "own text" and likeness is None):
        return _BY_RULE.get(line.reason, False)
    distance = 0 if line.reason == "paragraph" else line.distance
    sketch = line.sketch_distance
    return (
        (distance is not None and distance <= limits.content_distance)
        and (sketch is None or sketch <= limits.sketch_distance)
        and (likeness is None or likeness >= limits.own_likeness)
    )


def _likeness(line: SheetLine) -> float | None:
    """None for pages in two templates: another limit holds for them, which is no setting."""
    is_one_template = (line.structure_distance or 0) <= MAX_DISTANCE_BITS
    return line.own_likeness if is_one_template else None


def wilson(right: int, count: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for the share of `right` in `count` answers; (0, 1) for none."""
    if not count:
        return 0.0, 1.0
    share = right / count
    middle = share + Z**2 / (2 * count)
    spread = Z * math.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2))
    scale = 1 + Z**2 / count
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def more_answers_needed(near: Sequence[SheetLine], least: float) -> int:
    """How many more answers, all of them copies, raise the interval's lower end to this share.

    0 if it is there already.
    """
    right, count = copies(near), len(near)
    return next(n for n in itertools.count() if wilson(right + n, count + n)[0] >= least)


def recommended(answers: Sequence[SheetLine], now: Thresholds, least: float) -> Thresholds | None:
    """The thresholds that find the most copies with an interval that begins at `least` or above.

    One after the other, in the order of `Thresholds`, each is as loose as that allows: as far as an
    answered copy is, or as now. None if no content distance is right so often.
    """
    found = [line for line in answers if line.twins]
    settable = range(MAX_DISTANCE_BITS + 1)
    choices: dict[str, set[Any]] = {
        "content_distance": {line.distance for line in found}.intersection(settable),
        "sketch_distance": {now.sketch_distance, *(line.sketch_distance for line in found)},
        "own_likeness": {now.own_likeness, *(_likeness(line) for line in found)},
    }
    best = now
    for name, values in choices.items():
        for value in sorted(values - {None}, reverse=name != "own_likeness"):
            limits = replace(best, **{name: value})
            near = joined(answers, limits)
            if wilson(copies(near), len(near))[0] >= least:
                best = limits
                break
        else:
            return None
    return best
