"""One line of the table of quality."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LANGUAGES = {"": "all", "en": "English", "zh": "Chinese"}


@dataclass(frozen=True, slots=True)
class Row:
    """A measured value; `goal` is the least that was ever asked of it, None where nothing is."""

    corpus: str
    measure: str
    lang: str
    count: int  # pairs or pages it is made of
    value: float  # mostly a share, 0-1; nan when made of nothing
    goal: float | None = None

    @property
    def name(self) -> str:
        return f"{self.measure}, {self.lang}"


def share_row(
    corpus: str, measure: str, lang: str, hits: Sequence[float], goal: float | None = None
) -> Row:
    """The mean of `hits`."""
    value = sum(hits) / len(hits) if hits else math.nan
    return Row(corpus, measure, lang, len(hits), value, goal)
