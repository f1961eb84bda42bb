"""A URL's page is always within the stretches that are told."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from simhash_pipeline.index import buckets
from simhash_pipeline.stores.sqlite.key_hashes import MANY_PAGES, STRETCH, KeyHashes, key_hash


@pytest.mark.parametrize("expected_pages", [0, MANY_PAGES])
@pytest.mark.parametrize("newest_id", [5_000, 40_000_000, (1 << 32) - 1])
@pytest.mark.parametrize("in_bulk", [True, False])
def test_every_page_lies_in_a_stretch_of_its_key(
    expected_pages: int, newest_id: int, in_bulk: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "ROWS_AT_ONCE", 300)
    rng = random.Random(newest_id)
    ids = sorted(rng.sample(range(1, newest_id + 1), 2_000))
    keys = [key_hash("", f"https://example.org/{page_id}") for page_id in ids]
    hashes = KeyHashes(expected_pages)
    if in_bulk:
        hashes.load(np.array(keys, np.uint32), np.array(ids, np.uint32))
    else:
        for key, page_id in zip(keys, ids, strict=True):
            hashes.add(key, page_id)
    for key, page_id in list(zip(keys, ids, strict=True))[::20]:
        stretches = hashes.stretches(key, newest_id)
        assert any(first <= page_id < first + STRETCH for first in stretches)
        assert all(0 <= first <= newest_id for first in stretches)


def test_a_key_that_is_not_stored_is_rarely_looked_for() -> None:
    hashes = KeyHashes()
    for page_id in range(1, 10_001):
        hashes.add(key_hash("", f"https://example.org/{page_id}"), page_id)
    unknown = [key_hash("", f"https://example.net/{number}") for number in range(10_000)]
    assert sum(bool(hashes.stretches(key, 10_000)) for key in unknown) < 20


def test_namespaces_give_one_url_different_keys_and_none() -> None:
    keys = [key_hash(namespace, "https://example.org/") for namespace in ("", "a", "b")]
    assert all(one != other for one, other in pairwise(sorted(keys)))
    assert keys[0] == 0xCCEA97C5
