"""Which drops of a log are selected."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from simhash_pipeline.drop_log import Drop, Run

REASONS = ("content", "structure", "content and structure", "thin", "unchanged")
_KEPT_IN_URLS = "!#$%&'()*+,-./:;=?@[]_~"  # what quote leaves alone, as the URLs of a log do


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The conditions that a selected drop meets, all of them; None is no condition."""

    url: str | None = None  # a part of its URL or its twin's, percent-encoded or not
    host: str | None = None  # its host, or a domain above it
    since: str | None = None  # time in UTC, as the log writes it
    reason: str | None = None
    distance: int | None = None  # bits, of the fingerprint that decided: see `deciding_distance`
    run: str | None = None  # how the id of its run begins
    spider: str | None = None

    @property
    def whole_runs(self) -> bool:
        """Whether all drops of a run are selected or none: then its kept pages count too."""
        return self == Selection(run=self.run, spider=self.spider)

    def picks_run(self, record: Drop | Run) -> bool:
        """Whether it belongs to a selected run."""
        return (self.run is None or record.run.startswith(self.run)) and (
            self.spider is None or record.spider == self.spider
        )

    def picks(self, drop: Drop) -> bool:
        return (
            self.picks_run(drop)
            and (self.reason is None or drop.reason == self.reason)
            and (self.distance is None or deciding_distance(drop) == self.distance)
            and (self.since is None or drop.time >= self.since)
            and (self.host is None or self._is_host(host_of(drop.url)))
            and (self.url is None or self._is_in(drop.url) or self._is_in(drop.twin_url or ""))
        )

    def _is_host(self, host: str) -> bool:
        name = host.partition(":")[0]
        return self.host in (host, name) or name.endswith(f".{self.host}")

    def _is_in(self, url: str) -> bool:
        asked = self.url or ""
        return asked in url or quote(asked, safe=_KEPT_IN_URLS) in url


def deciding_distance(drop: Drop) -> int | None:
    """The content distance, or the structure distance if that alone decided."""
    return drop.structure_distance if drop.reason == "structure" else drop.content_distance


def host_of(url: str) -> str:
    """Host and port of an absolute URL; "" without one."""
    authority = url.partition("://")[2].partition("/")[0].partition("?")[0]
    return authority.rpartition("@")[2]
