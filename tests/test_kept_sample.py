"""A packed sample says what was taken from a page, but for the lowest bits of its windows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline.errors import StoreDamaged
from simhash_pipeline.own_text import pack, unpack
from simhash_pipeline.page.visible import packed_sample

WORD = st.integers(0, (1 << 32) - 1)
windows = st.one_of(
    st.dictionaries(WORD, st.integers(0, (1 << 16) - 1), max_size=64),
    st.dictionaries(st.integers(0, 1 << 14), st.sampled_from([7, 1 << 15]), max_size=255),
)


@given(limit=WORD, taken=windows)
def test_what_is_unpacked_is_what_was_packed(limit: int, taken: dict[int, int]) -> None:
    packed = pack(limit, sorted(taken.items()))
    cut: dict[int, int] = {}
    for window, block in sorted(taken.items()):
        cut.setdefault(window >> 8 << 8, block)
    found_limit, found = unpack(packed)
    assert (found_limit, list(found)) == (limit, list(cut.items()))
    assert pack(*unpack(packed)) == packed


@given(limit=WORD, taken=windows)
def test_a_packed_sample_is_never_taken_for_one_from_a_page(
    limit: int, taken: dict[int, int]
) -> None:
    entries = sorted(taken.items())
    plain = packed_sample(limit, entries)
    assert len(pack(limit, entries)) % 6 != len(plain) % 6
    found_limit, found = unpack(plain)
    assert (found_limit, list(found)) == (limit, entries)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_sample_or_damage(some: bytes) -> None:
    try:
        limit, entries = unpack(some)
    except StoreDamaged:
        return
    assert 0 <= limit < 1 << 32
    assert all(0 <= window < 1 << 32 and 0 <= block < 1 << 16 for window, block in entries)


@pytest.mark.parametrize("left", [0, 5, 20, 99])
def test_a_sample_that_was_cut_short_is_damage(left: int) -> None:
    packed = pack(1 << 31, [(n << 20, n) for n in range(64)])
    with pytest.raises(StoreDamaged, match="a page's sample in the store is damaged"):
        unpack(packed[:left])
