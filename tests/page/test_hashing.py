"""Each hash against values its author, or another implementation, has published."""

import mmh3
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline.page.hashing import (
    TokenHashes,
    fnv1,
    fnv1a,
    hash_rows,
    hashed,
    java,
    jenkins,
    murmur2,
)
from simhash_pipeline.page.simhash import simhash


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0xCBF29CE484222325),
        (b"a", 0xAF63BD4C8601B7BE),
        (b"foobar", 0x340D8765A4DDA9C2),
    ],
)
def test_fnv1_gives_the_authors_values(data: bytes, expected: int) -> None:
    assert fnv1(data) == expected


@pytest.mark.parametrize(
    ("data", "expected"), [(b"a", 0xAF63DC4C8601EC8C), (b"foobar", 0x85944171F73967E8)]
)
def test_fnv1a_gives_the_authors_values(data: bytes, expected: int) -> None:
    assert fnv1a(data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0xDEADBEEFDEADBEEF),
        (b"Four score and seven years ago", 0x17770551CE7226E6),
    ],
)
def test_lookup3_gives_the_values_of_its_own_driver(data: bytes, expected: int) -> None:
    assert jenkins(data) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 97), ("hello", 99162322), ("Hello World", -862545276), ("😀", 1772899)],
)
def test_java_gives_what_string_hash_code_gives(text: str, expected: int) -> None:
    assert java(text.encode()) == expected % 2**32


@pytest.mark.parametrize(("data", "expected"), [(b"", 0), (b"a", 0x071717D2D36B6B11)])
def test_murmur2_gives_its_author_s_values_for_ascii(data: bytes, expected: int) -> None:
    assert murmur2(data) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("家", 0xB7888F951727F1BA), ("回家吃饭", 0x868120085C51479E)]
)
def test_murmur2_takes_the_tail_s_bytes_as_signed(text: str, expected: int) -> None:
    """As simhash-java does; the values by its function written again in C."""
    assert murmur2(text.encode()) == expected


@pytest.mark.parametrize(
    "name", ["murmur3", "murmur2", "fnv1", "fnv1a", "fnv1a-signed", "jenkins", "java"]
)
@given(features=st.lists(st.text(), max_size=5))
def test_every_hash_makes_rows_of_64_bits(name: str, features: list[str]) -> None:
    rows = hash_rows(name)(features)
    assert rows.shape == (len(features), 8)
    assert rows.dtype == np.uint8


def test_a_row_is_the_number_little_endian() -> None:
    (row,) = hash_rows("fnv1a")(["foobar"])
    assert int.from_bytes(row.tobytes(), "little") == 0x85944171F73967E8


def test_one_token_s_hash_is_its_murmur3() -> None:
    (row,) = TokenHashes(hashed(["harbour"])).ngrams(1, 64)
    assert int.from_bytes(row.tobytes(), "little") == mmh3.hash64("harbour", signed=False)[0]


@given(tokens=st.lists(st.sampled_from(["fog", "bell", "gull", "雾", ""]), max_size=12))
def test_n_grams_of_a_text_hash_as_they_do_one_by_one(tokens: list[str]) -> None:
    rows = hash_rows("murmur3")
    for size in (1, 2, 3):
        ngrams = [" ".join(tokens[i : i + size]) for i in range(len(tokens) - size + 1)]
        together = TokenHashes(hashed(tokens)).ngrams(size)
        assert [row.tobytes() for row in together] == [row.tobytes() for row in rows(ngrams)]


def test_an_n_gram_s_hash_hangs_on_order_and_length() -> None:
    tokens = ["fog", "bell", "fog", "fog"]
    rows = {size: TokenHashes(hashed(tokens)).ngrams(size, 128) for size in (1, 2, 3, 4)}
    assert len({row.tobytes() for found in rows.values() for row in found}) == 8  # fog comes thrice


def test_an_n_gram_counts_once_in_a_sketch() -> None:
    hashes = TokenHashes(hashed(["fog", "bell", "fog", "bell", "fog"]))
    rows = hashes.ngrams(3, 128)
    assert hashes.sketch(3) == simhash(rows[:2]) != simhash(rows)


def test_the_folded_bits_of_n_grams_are_as_good_as_random() -> None:
    """Each bit is set in half of 20,000 bigrams, and no two bits go together: within 4 sigma."""
    numbers = np.random.default_rng(7).integers(0, 400, 20_001)
    rows = np.unique(
        TokenHashes(hashed([f"w{number}" for number in numbers])).ngrams(2, 128), axis=0
    )
    bits = np.unpackbits(rows, axis=1).astype(np.float64) * 2 - 1
    together = bits.T @ bits / np.sqrt(len(bits))
    assert np.abs(bits.sum(axis=0)).max() < 4.5 * np.sqrt(len(bits))
    assert np.abs(together - np.diag(np.diag(together))).max() < 5


def test_a_text_shorter_than_the_n_gram_has_no_rows() -> None:
    assert TokenHashes(hashed(["fog"])).ngrams(2, 64).shape == (0, 8)
    assert TokenHashes(hashed([])).sketch(3) is None
