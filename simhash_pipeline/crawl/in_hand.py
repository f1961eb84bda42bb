"""Items whose pages are stored while later pipelines have them in hand, and who waits for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import Deferred

from simhash_pipeline.judge import Verdict


@dataclass(frozen=True, slots=True)
class Kept:
    """What is known of an item in hand."""

    verdict: Verdict  # that stored its page
    url: str  # of the page, as it came


class InHand:
    """Found by the object, or by the page's URL where a pipeline put another object in its place.

    Items are not held: when the number of one is given to another, it is gone, and was exported.
    """

    def __init__(self) -> None:
        self._kept: dict[int, Kept] = {}  # by the item's id
        self._waiting: dict[str, list[Deferred[bool]]] = {}  # by the stored page's URL

    def add(self, item: Any, kept: Kept) -> None:
        self._kept[id(item)] = kept
        self._waiting.setdefault(kept.verdict.url, [])

    def replaced(self, item: Any) -> Kept | None:
        """What the object's number stood for before the object was made, if for anything."""
        return self._kept.pop(id(item), None)

    def take(self, item: Any, url: object) -> Kept | None:
        """The item of this object, or else of this page, which is no longer in hand."""
        found = self._kept.get(id(item))
        if found is not None:
            return self._kept.pop(id(item))
        same = next((key for key, kept in self._kept.items() if kept.url == url), None)
        return None if same is None else self._kept.pop(same)

    def take_all(self) -> list[Kept]:
        kept = list(self._kept.values())
        self._kept.clear()
        return kept

    def fate_of(self, url: str | None) -> Deferred[bool] | None:
        """Fires, with whether it was lost, once that is known; None if no such item is in hand."""
        if url is None or url not in self._waiting:
            return None
        fate: Deferred[bool] = Deferred()
        self._waiting[url].append(fate)
        return fate

    def decided(self, kept: Kept, *, lost: bool) -> None:
        """Its page is safe, or forgotten: those who waited go on."""
        for fate in self._waiting.pop(kept.verdict.url, []):
            if not fate.called:
                fate.callback(lost)
