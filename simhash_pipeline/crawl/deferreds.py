"""Waits for what other threads work out, and, for no more than a minute, for what others decide."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from scrapy.utils.asyncio import call_later, is_asyncio_available
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from concurrent.futures import Future

PATIENCE_SECS = 60.0

T = TypeVar("T")


async def wait_or_none(deferred: Deferred[T | None]) -> T | None:
    """What it fires with; None, and it has fired with that, where nothing came in a minute."""
    timer = call_later(PATIENCE_SECS, resolve, deferred, None)
    value = await maybe_deferred_to_future(deferred)
    timer.cancel()
    return value


def resolve(deferred: Deferred[T], value: T) -> None:
    """Tell those who wait, unless they wait no longer."""
    if not deferred.called:
        deferred.callback(value)


async def result_of(future: Future[T]) -> T:
    """What another thread works out, under whichever event loop runs."""
    if is_asyncio_available():
        return await asyncio.wrap_future(future)
    from twisted.internet import reactor

    deferred: Deferred[None] = Deferred()
    future.add_done_callback(lambda _: reactor.callFromThread(deferred.callback, None))
    await deferred
    return future.result()
