"""Waits for what others decide, but for no more than a minute."""

from __future__ import annotations

from typing import TypeVar

from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

PATIENCE_SECS = 60.0

T = TypeVar("T")


async def in_time(deferred: Deferred[T | None]) -> T | None:
    """What it fires with; None, and it has fired with that, where nothing came in a minute."""
    timer = call_later(PATIENCE_SECS, fire, deferred, None)
    value = await maybe_deferred_to_future(deferred)
    timer.cancel()
    return value


def fire(deferred: Deferred[T], value: T) -> None:
    """Tell those who wait, unless they wait no longer."""
    if not deferred.called:
        deferred.callback(value)
