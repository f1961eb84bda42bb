"""Pages drawn at random by their URLs, out of however many, however often each comes."""

from __future__ import annotations

import heapq
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simhash_pipeline.page.fingerprint import PageFingerprint


def drawn_pages(
    pages: Iterable[PageFingerprint], number: int, seed: int
) -> tuple[list[PageFingerprint], int]:
    """At most `number` pages, sorted by URL, and how many URLs there were.

    Those whose URLs have the least hashes (bottom-k sampling): the same in whatever order pages
    come. Of several with one URL it is the last.
    """
    kept: dict[str, PageFingerprint] = {}
    ranks: set[int] = set()
    largest: list[tuple[int, str]] = []  # of those kept, negated, as heapq has the least first
    for page in pages:
        url = page.url or ""
        rank = _rank(url, seed)
        ranks.add(rank)
        if url not in kept:
            if len(kept) < number:
                heapq.heappush(largest, (-rank, url))
            elif rank < -largest[0][0]:
                del kept[heapq.heapreplace(largest, (-rank, url))[1]]
            else:
                continue
        kept[url] = page
    return [kept[url] for url in sorted(kept)], len(ranks)


def _rank(url: str, seed: int) -> int:
    key = str(seed).encode()
    return int.from_bytes(
        blake2b(url.encode("utf-8", "replace"), digest_size=8, key=key).digest(), "big"
    )
