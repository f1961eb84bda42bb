"""Drops counted by key in bounded memory, and the stored pages that swallow others by it.

A page swallows others if many pages of one host were dropped for it in one run.
"""

from __future__ import annotations

import heapq
import shlex
from dataclasses import dataclass

# A page has a few addresses (print, mobile, tracking): at most 3 pages of the demo site are dropped
# for one (`scrapy simhash dropped`). 20 is far more than that, and few to lose before a warning.
SWALLOWS_FROM = 20
CAUSES = "Either the page has many addresses, or a part that pages share was taken for the page."
_MAX_PAIRS = 10_000  # of a twin and a host, that are counted exactly: at most some 15 MB


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


@dataclass(frozen=True, slots=True)
class SwallowingPage:
    """A stored page that swallows pages of one host."""

    twin_url: str
    host: str  # of the dropped pages; "" where their URLs have none
    dropped: int  # different URLs up to SWALLOWS_FROM, then every further drop
    example: str  # URL of the first page that was dropped for it

    def sentence(self, *, dry_run: bool = False) -> str:
        """What happened, and the command to look at it; not yet made printable."""
        did = "would be dropped" if dry_run else "were dropped"
        return (
            f"{self.dropped:,} pages of {self.host or 'no host'} {did} as near-duplicates of "
            f"{self.twin_url}: look at `scrapy simhash explain {shlex.quote(self.example)}`"
        )


class SwallowingPages:
    """Counts drops by run, host and twin, in bounded memory: see `TopCounts`."""

    def __init__(self) -> None:
        self._pairs = TopCounts(_MAX_PAIRS)

    def add(self, url: str, twin_url: str | None, run: str = "") -> SwallowingPage | None:
        """Count a drop; the stored page if this drop makes it a swallowing one, else None.

        An unchanged page, which is its own twin, doesn't count.
        """
        if twin_url is None or twin_url == url:
            return None
        host = host_of(url)
        # Most pairs have one drop. A tuple for the key of each, and one for its URL, would give the
        # garbage collector work: a log of a million drops would take a fifth longer.
        tally = self._pairs.tally(f"{run}\n{host}\n{twin_url}")
        if not tally.drops:
            tally.example = url
        elif tally.drops < SWALLOWS_FROM:
            if url == tally.example or hash(url) in tally.urls:
                return None
            tally.urls += (hash(url),)
        tally.drops += 1
        if tally.drops != SWALLOWS_FROM:
            return None
        return SwallowingPage(twin_url, host, tally.drops, tally.example)

    def worst(self) -> list[SwallowingPage]:
        """All that swallow, the worst first; in several runs, as in the worst of these."""
        found: dict[tuple[str, str], SwallowingPage] = {}
        for pair, tally in self._pairs.top(len(self._pairs)):
            if tally.drops < SWALLOWS_FROM:
                break
            _, host, twin_url = pair.split("\n", 2)
            page = SwallowingPage(twin_url, host, tally.drops, tally.example)
            found.setdefault((host, twin_url), page)
        return list(found.values())


def host_of(url: str) -> str:
    """Host and port of an absolute URL; "" without one."""
    authority = url.partition("://")[2].partition("/")[0].partition("?")[0]
    return authority.rpartition("@")[2]
