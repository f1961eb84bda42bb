from __future__ import annotations

import random
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest

from simhash_pipeline import Options, hamming_distance
from simhash_pipeline.archive import relation
from simhash_pipeline.archive.on_duckdb import DuckDb
from simhash_pipeline.archive.relation import find_families
from simhash_pipeline.stores.contract import StoredPage
from tests.archive.engines import write_rows
from tests.stores.pages import page


def crowd(bits: int, seed: int = 1) -> list[StoredPage]:
    """Values in clouds, up to 12 bits wide, some of them twice; every tenth page has none."""
    dice = random.Random(seed)
    centres = [dice.getrandbits(bits) for _ in range(30)]

    def value() -> int:
        cloud = dice.choice(centres)
        for bit in dice.sample(range(bits), dice.randrange(7)):
            cloud ^= 1 << bit
        return cloud

    return [
        page(
            f"http://a.example/{dice.randrange(280)}",
            None if number % 10 == 0 else value(),
            value(),
            digest=bytes([dice.randrange(20)]) if number % 10 == 0 else None,
        )
        for number in range(300)
    ]


def families(folder: Path, options: Options) -> tuple[set[tuple[int, int]], dict[int, int]]:
    """The ties and the family of each page that is tied."""
    with closing(DuckDb(folder)) as engine:
        find_families(engine, options)
        ties = {(row["a"], row["b"]) for row in engine.rows("SELECT a, b FROM pair")}
        return ties, {row["position"]: row["family"] for row in engine.rows("SELECT * FROM family")}


def tied(a: StoredPage, b: StoredPage, options: Options) -> bool:
    def is_near(x: int | None, y: int | None, limit: int) -> bool:
        return x is not None and y is not None and hamming_distance(x, y) <= limit

    content = is_near(a.content, b.content, options.content_distance)
    structure = is_near(a.structure, b.structure, options.structure_distance)
    by_match = {"content": content, "both": content, "structure": structure}
    return (
        by_match.get(options.match, content or structure)
        or (a.digest is not None and a.digest == b.digest)
        or a.url == b.url
    )


@pytest.mark.parametrize("match", ["content", "structure", "both", "either"])
@pytest.mark.parametrize(("bits", "distance"), [(64, 3), (64, 0), (64, 8), (32, 3), (128, 5)])
def test_families_are_those_of_comparing_every_page_with_every_other(
    tmp_path: Path, match: str, bits: int, distance: int
) -> None:
    options = Options(
        match=match, bits=bits, content_distance=distance, structure_distance=max(distance - 1, 0)
    )
    pages = crowd(bits)
    write_rows(tmp_path, pages, options)
    family = list(range(len(pages)))
    for a, b in combinations(range(len(pages)), 2):
        if tied(pages[a], pages[b], options) and family[a] != family[b]:
            low, high = sorted([family[a], family[b]])
            family = [low if one == high else one for one in family]
    _, found = families(tmp_path, options)
    assert found == {position: one for position, one in enumerate(family) if family.count(one) > 1}


@pytest.mark.parametrize(
    ("bits", "distance"), [*((64, distance) for distance in range(9)), (32, 3), (128, 3), (128, 8)]
)
def test_every_pair_of_distinct_values_within_the_distance_is_found_and_no_other(
    tmp_path: Path, bits: int, distance: int
) -> None:
    options = Options(bits=bits, content_distance=distance)
    contents = {one.content for one in crowd(bits, seed=2) if one.content is not None}
    values = sorted(contents)
    pages = [page(f"http://a.example/{number}", value) for number, value in enumerate(values)]
    write_rows(tmp_path, pages, options)
    found, _ = families(tmp_path, options)
    assert found == {
        (a, b)
        for a, b in combinations(range(len(values)), 2)
        if hamming_distance(values[a], values[b]) <= distance
    }


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_the_pairs_of_many_shards_are_those_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int
) -> None:
    options = Options(bits=bits, match="either")
    write_rows(tmp_path, crowd(bits), options)
    whole, _ = families(tmp_path, options)
    monkeypatch.setattr(relation, "VALUES_A_SHARD", 20)
    assert families(tmp_path, options)[0] == whole


def test_a_chain_is_one_family_however_long(tmp_path: Path) -> None:
    values = [0]
    for step in range(2_000):  # each two bits from the last, as in a Gray code of pairs
        values.append(values[-1] ^ 0b11 << 2 * ((step + 1) & -(step + 1)).bit_length() - 2)
    pages = [page(f"http://a.example/{number}", value) for number, value in enumerate(values)]
    random.Random(3).shuffle(pages)
    write_rows(tmp_path, pages, Options())
    _, found = families(tmp_path, Options())
    assert set(found.values()) == {0}
    assert len(found) == len(pages)


def test_like_pages_are_tied_to_the_first_alone(tmp_path: Path) -> None:
    pages = [page(f"http://a.example/{number}", 7) for number in range(1_000)]
    write_rows(tmp_path, pages, Options())
    ties, _ = families(tmp_path, Options())
    assert ties == {(0, other) for other in range(1, 1_000)}


def test_pages_that_nothing_is_near_have_no_family(tmp_path: Path) -> None:
    write_rows(tmp_path, [page("http://a.example/1", 0), page("http://a.example/2", 15)], Options())
    assert families(tmp_path, Options()) == (set(), {})
