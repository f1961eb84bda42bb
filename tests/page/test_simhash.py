import mmh3
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline import content_fingerprint, hamming_distance
from simhash_pipeline.page.hashing import hashed
from simhash_pipeline.page.simhash import simhash, votes


def naive(features: dict[str, int], bits: int) -> int:
    """The definition, a bit at a time."""
    votes = [0] * bits
    for feature, weight in features.items():
        low, high = mmh3.hash64(feature, signed=False)
        value = high << 64 | low
        for i in range(bits):
            votes[i] += weight if value >> i & 1 else -weight
    return sum(1 << i for i in range(bits) if votes[i] > 0)


def vector(features: dict[str, int], bits: int) -> int | None:
    weights = np.fromiter(features.values(), np.float64, len(features))
    rows = np.frombuffer(hashed(features), np.uint8).reshape(-1, 16)
    return simhash(rows[:, : bits // 8], weights)


@pytest.mark.parametrize("bits", [32, 64])
@given(features=st.dictionaries(st.text(max_size=8), st.integers(1, 1000), min_size=1))
def test_the_vectorised_simhash_equals_the_definition(bits: int, features: dict[str, int]) -> None:
    features = {f.encode("utf-8", "replace").decode(): w for f, w in features.items()}
    assert vector(features, bits) == naive(features, bits)


def test_a_lone_surrogate_is_hashed_as_a_question_mark() -> None:
    assert hashed(["\ud800", "a"]) == hashed(["?", "a"])


def test_the_textbook_example_with_weights_4_and_5() -> None:
    """100101 weighs 4, 101011 weighs 5; written bit 5 first."""
    hashes = np.array([[0b100101], [0b101011]], np.uint8)
    weights = np.array([4.0, 5.0])
    assert votes(hashes, weights)[5::-1].tolist() == [9, -9, 1, -1, 1, 9]
    assert simhash(hashes, weights) == 0b101011


@pytest.mark.parametrize(("set_when", "expected"), [(">0", 0b101), (">=0", 0b111), (">1", 0b001)])
def test_which_sums_of_votes_set_a_bit(set_when: str, expected: int) -> None:
    """Sums of 2, 0 and 1 on bits 0, 1 and 2; what no hash sets stays unset."""
    hashes = np.array([[0b111], [0b101], [0b001]], np.uint8)
    fingerprint = simhash(hashes, np.array([1.0, 0.5, 0.5]), set_when)
    assert fingerprint is not None
    assert fingerprint & 0b111 == expected


def test_no_features_give_no_fingerprint() -> None:
    assert vector({}, 64) is None


def test_one_feature_gives_its_hash() -> None:
    assert vector({"harbour": 3}, 64) == mmh3.hash64("harbour", signed=False)[0]


def test_a_million_features_are_counted_without_rounding() -> None:
    count = 1_000_000
    hashes = np.zeros((count, 8), np.uint8)
    hashes[: count // 2 + 1] = 255
    assert simhash(hashes, np.full(count, 0.1)) == 2**64 - 1
    hashes[count // 2 :] = 0
    assert simhash(hashes, np.full(count, 0.1)) == 0


def test_the_order_of_features_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    hashes = rng.integers(0, 256, (5000, 8), dtype=np.uint8)
    weights = rng.random(5000)
    shuffled = rng.permutation(5000)
    assert simhash(hashes, weights) == simhash(hashes[shuffled], weights[shuffled])


@pytest.mark.parametrize(("a", "b", "bits"), [(0, 0, 0), (0, 2**64 - 1, 64), (0b1011, 0b0010, 2)])
def test_the_distance_is_the_number_of_differing_bits(a: int, b: int, bits: int) -> None:
    assert hamming_distance(a, b) == bits


@pytest.mark.parametrize("text", ["", "   ", "…!?", "\ud800"])
def test_text_without_a_word_has_no_fingerprint(text: str) -> None:
    assert content_fingerprint(text) is None


def test_one_word_is_enough_for_plain_text() -> None:
    assert content_fingerprint("harbour") == mmh3.hash64("harbour", signed=False)[0]


@pytest.mark.parametrize("rows", [1, 254, 255, 256, 511, 1_000, 140_000])
@pytest.mark.parametrize("bits", [32, 64])
def test_rows_that_weigh_1_are_counted_as_weights_of_1_are(rows: int, bits: int) -> None:
    hashes = np.random.default_rng(rows).integers(0, 256, (rows, bits // 8), dtype=np.uint8)
    hashes[:, 0] = 255  # the fullest sums
    assert votes(hashes).tolist() == votes(hashes, np.ones(rows)).tolist()
    assert simhash(hashes) == simhash(hashes, np.ones(rows))
