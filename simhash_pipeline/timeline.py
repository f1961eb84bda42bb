"""Kept and dropped pages counted by time, in a bounded number of slices."""

from __future__ import annotations

from collections.abc import Iterator

MAX_SLICES = 240  # as many bars as a chart can show
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
# Each is a multiple of the one before, so that counts of the one add up to those of the next.
_WIDTHS_SECS = (
    *(1, 5, 15),
    *(_MINUTE, 5 * _MINUTE, 15 * _MINUTE),
    *(_HOUR, 3 * _HOUR, 12 * _HOUR),
    *(_DAY, 7 * _DAY, 28 * _DAY, 364 * _DAY),
)


class Timeline:
    """Counts of kept and dropped pages in slices of equal length.

    A slice is a second long at first and grows when the time between the first and the last has
    more than MAX_SLICES of them.
    """

    __slots__ = ("_counts", "_first", "_last", "slice_secs")

    def __init__(self) -> None:
        self.slice_secs = _WIDTHS_SECS[0]
        self._counts: dict[int, list[int]] = {}  # number of slices since 1970 -> [kept, dropped]
        self._first = self._last = 0

    def add(self, moment: float, *, kept: bool, pages: int = 1) -> None:
        """Count pages at `moment`, in Unix seconds; moments come in any order."""
        number = int(moment) // self.slice_secs
        counts = self._counts.get(number)
        if counts is None:
            counts = self._begin(number)
        counts[0 if kept else 1] += pages

    def slices(self) -> Iterator[tuple[int, int, int]]:
        """(start in Unix seconds, kept, dropped) by time; slices without a page are left out."""
        for number, (kept, dropped) in sorted(self._counts.items()):
            yield number * self.slice_secs, kept, dropped

    def _begin(self, number: int) -> list[int]:
        self._first = min(self._first, number) if self._counts else number
        self._last = max(self._last, number) if self._counts else number
        self._counts[number] = [0, 0]
        while self._last - self._first >= MAX_SLICES and self.slice_secs < _WIDTHS_SECS[-1]:
            number = self._widen(number)
        return self._counts[number]

    def _widen(self, number: int) -> int:
        """Join slices to longer ones; the new number of slice `number`."""
        width = _WIDTHS_SECS[_WIDTHS_SECS.index(self.slice_secs) + 1]
        times = width // self.slice_secs
        counts: dict[int, list[int]] = {}
        for old, (kept, dropped) in self._counts.items():
            joined = counts.setdefault(old // times, [0, 0])
            joined[0] += kept
            joined[1] += dropped
        self._counts, self.slice_secs = counts, width
        self._first, self._last = self._first // times, self._last // times
        return number // times
