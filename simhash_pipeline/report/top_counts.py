"""The keys that many drops share, counted in bounded memory."""

from __future__ import annotations

import heapq
from dataclasses import dataclass


@dataclass(slots=True)
class Tally:
    """What the drops that share a key have in common; distances of content in bits."""

    drops: int = 0
    nearest: int | None = None
    farthest: int | None = None
    example: str = ""  # the URL of the first
    urls: tuple[int, ...] = ()  # hashes of the next few, where each is to count once


class TopCounts:
    """A tally for each key; exact up to `cap` keys.

    From then on the lighter half goes whenever there are too many, and a tally may lack up to
    `lacking` drops.
    """

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._tallies: dict[str, Tally] = {}
        self.lacking = 0

    def __len__(self) -> int:
        """Number of keys; of those left, where some had to go."""
        return len(self._tallies)

    def tally(self, key: str) -> Tally:
        """The key's tally, to count in."""
        tally = self._tallies.get(key)
        if tally is None:
            if len(self._tallies) >= self._cap:
                self._let_the_lighter_half_go()
            tally = self._tallies[key] = Tally()
        return tally

    def top(self, count: int) -> list[tuple[str, Tally]]:
        """The heaviest first; of equals, the one met first."""
        return heapq.nlargest(count, self._tallies.items(), key=lambda item: item[1].drops)

    def _let_the_lighter_half_go(self) -> None:
        tallies, staying = self._tallies, self._cap // 2
        # Not `top`: the garbage collector would look at a pair for each key, time and again.
        ranked = sorted(tallies, key=lambda key: tallies[key].drops, reverse=True)
        # One that comes back lacks what it had counted, and what it may have lacked by then.
        self.lacking += tallies[ranked[staying]].drops
        self._tallies = {key: tallies[key] for key in ranked[:staying]}
