from contextlib import nullcontext
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline.errors import StoreDamaged
from simhash_pipeline.page.visible import BLOCK_BITS, MAIN, visible_text
from simhash_pipeline.repeated_text import NO_BLOCKS, Blocks, Template
from simhash_pipeline.specific_text import (
    KEPT_WINDOWS,
    pack,
    sample_similarity,
    specific_sample,
    unpack,
)
from tests.same import by_python
from tests.samples import packed_sample

WORDS = [f"word{number}" for number in range(2_000)]
MENU = [f"menu entry number {number}" for number in range(200)]


def text(seed: object, words: int) -> str:
    return " ".join(Random(str(seed)).choices(WORDS, k=words))


def sample(main: list[str], rest: list[str] | None = None) -> bytes:
    blocks = main + (rest or [])
    return visible_text(blocks, [True] * len(main) + [False] * len(rest or [])).sample


def repeated_text(blocks: list[str]) -> Blocks:
    hashes = visible_text(blocks, [False] * len(blocks)).blocks
    return frozenset(block & BLOCK_BITS for block in hashes)


def both(known: Blocks, repeated: Blocks = NO_BLOCKS) -> tuple[Template, Template]:
    template = Template(None, 64, dict.fromkeys(repeated, 8) | dict.fromkeys(known, 64))
    return template, template


def test_equal_pages_are_wholly_alike() -> None:
    one = specific_sample(sample([text(1, 300)], MENU), NO_BLOCKS)
    assert sample_similarity(one, one) == 1.0


def test_what_differs_beside_the_main_text_counts_against_a_likeness() -> None:
    main = [text(1, 100)]
    a, b = (specific_sample(sample(main, [text(seed, 100)]), NO_BLOCKS) for seed in (2, 3))
    assert sample_similarity(a, b) == pytest.approx(1 / 3, abs=0.15)


def test_in_two_templates_only_the_main_texts_count() -> None:
    main, box = [text(1, 200)], [text(2, 400)]
    view, whole = (specific_sample(sample(main, rest), NO_BLOCKS) for rest in ([], box))
    longer = specific_sample(sample([*main, text(3, 400)]), NO_BLOCKS)
    assert (sample_similarity(whole, view) or 1) < 0.5
    assert sample_similarity(view, whole, only_main=True) == 1.0
    assert (sample_similarity(longer, view, only_main=True) or 1) < 0.5


def test_what_is_equal_beside_the_main_text_proves_nothing() -> None:
    a, b = (specific_sample(sample([text(seed, 40)], MENU), NO_BLOCKS) for seed in (2, 3))
    found = sample_similarity(a, b)
    assert found is not None
    assert found < 0.2


def test_a_main_text_that_is_the_site_s_repeated_text_proves_nothing_either() -> None:
    box = [text("a box", 150)]
    a, b = (sample([*box, text(seed, 12)]) for seed in (2, 3))
    without = sample_similarity(specific_sample(a, NO_BLOCKS), specific_sample(b, NO_BLOCKS))
    assert without is not None
    assert without > 0.8
    known = repeated_text(box)
    assert not sample_similarity(specific_sample(a, known), specific_sample(b, known), both(known))
    # Repeated text that was learnt after the pages were stored is taken out of both.
    assert not sample_similarity(
        specific_sample(a, NO_BLOCKS), specific_sample(b, NO_BLOCKS), both(known)
    )


def test_a_main_text_that_is_repeated_on_fewer_pages_proves_nothing_and_differs_as_any_other() -> (
    None
):
    box, other = [text("a box", 150)], [text("another", 150)]
    a, b, c = (
        specific_sample(sample([*said, text(n, 12)]), NO_BLOCKS)
        for n, said in enumerate((box, box, other))
    )
    assert (sample_similarity(a, b) or 0) > 0.8
    known = both(NO_BLOCKS, repeated_text([*box, *other]))
    assert not sample_similarity(a, b, known)
    assert not sample_similarity(a, c, known)


def test_a_sample_made_before_the_repeated_text_was_known_is_compared_up_to_where_it_is_whole() -> (
    None
):
    story = [text("story", 300)]
    early, late = (
        specific_sample(sample(story, MENU), known) for known in (NO_BLOCKS, repeated_text(MENU))
    )
    assert sample_similarity(early, late, both(repeated_text(MENU))) == 1.0


def test_where_too_little_is_left_nothing_is_said() -> None:
    a, b = (specific_sample(sample([name], MENU), NO_BLOCKS) for name in ("one name", "other"))
    assert sample_similarity(a, b, both(repeated_text(MENU))) is None


@pytest.mark.parametrize(("blocks", "most_bytes"), [(1, 110), (25, 220), (100, 300)])
def test_a_store_keeps_64_windows_in_some_220_bytes(blocks: int, most_bytes: int) -> None:
    kept = specific_sample(sample([text(n, 3_000 // blocks) for n in range(blocks)]), NO_BLOCKS)
    assert len([*unpack(kept)[1]]) == KEPT_WINDOWS == 64
    assert len(kept) <= most_bytes
    assert specific_sample(kept, NO_BLOCKS) == kept


WORD = st.integers(0, (1 << 32) - 1)
WINDOWS = st.one_of(
    st.dictionaries(WORD, st.integers(0, (1 << 16) - 1), max_size=64),
    st.dictionaries(st.integers(0, 1 << 14), st.sampled_from([7, 1 << 15]), max_size=255),
)


@given(limit=WORD, taken=WINDOWS)
def test_what_is_unpacked_is_what_was_packed(limit: int, taken: dict[int, int]) -> None:
    packed = pack(limit, sorted(taken.items()))
    cut: dict[int, int] = {}
    for window, block in sorted(taken.items()):
        cut.setdefault(window >> 8 << 8, block)
    found_limit, found = unpack(packed)
    assert (found_limit, list(found)) == (limit, list(cut.items()))
    assert pack(*unpack(packed)) == packed


@given(limit=WORD, taken=WINDOWS)
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


@given(
    st.lists(st.tuples(st.integers(0, 2**32 - 1) | st.integers(0, 5_000), st.integers(0, 99))),
    st.frozensets(st.integers(0, 99)),
    st.integers(0, 2**32 - 1),
)
def test_the_kernel_packs_as_the_python_does(
    entries: list[tuple[int, int]], repeated: Blocks, limit: int
) -> None:
    taken = packed_sample(limit, sorted(dict(entries).items()))
    with by_python():
        packed = specific_sample(taken, repeated)
    assert specific_sample(taken, repeated) == packed


BLOCKS = [*range(6), *range(MAIN, MAIN + 6)]
COMMON_WINDOWS = st.dictionaries(st.integers(0, 30), st.sampled_from(BLOCKS), max_size=64)
SETS = st.frozensets(st.sampled_from(range(6)), max_size=3)


@given(
    st.tuples(COMMON_WINDOWS, COMMON_WINDOWS),
    st.tuples(st.integers(0, 30), st.integers(0, 30)),
    st.tuples(SETS, SETS, SETS, SETS),
    st.booleans(),
)
def test_the_kernel_compares_as_the_python_does(
    windows: tuple[dict[int, int], dict[int, int]],
    limits: tuple[int, int],
    sets: tuple[Blocks, Blocks, Blocks, Blocks],
    only_main: bool,
) -> None:
    a, b = (
        pack(limit << 8, [(window << 8, block) for window, block in sorted(taken.items())])
        for taken, limit in zip(windows, limits, strict=True)
    )
    mine, its = both(*sets[:2])[0], both(*sets[2:])[0]
    with by_python():
        expected = sample_similarity.__wrapped__(a, b, (mine, its), only_main=only_main)
    assert sample_similarity(a, b, (mine, its), only_main=only_main) == expected


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_the_kernel_refuses_what_is_no_sample_as_the_python_does(a: bytes, b: bytes) -> None:
    answers = []
    for chosen in (by_python, nullcontext):
        with chosen():
            try:
                answers.append(str(sample_similarity.__wrapped__(a, b)))
            except StoreDamaged:
                answers.append("damaged")
    assert answers[0] == answers[1]
