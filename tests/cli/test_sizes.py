"""Sizes in commands: printed, and read as people write them."""

import argparse

import pytest

from simhash_pipeline.cli.command import size, size_bytes


@pytest.mark.parametrize(
    ("size_bytes", "told"),
    [(0, "0 bytes"), (999, "999 bytes"), (1_000, "0.977 KiB"), (255_550_000_000, "238 GiB")],
)
def test_sizes_have_three_digits_and_a_unit(size_bytes: int, told: str) -> None:
    assert size(size_bytes) == told


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("64GiB", 64 * 2**30),
        ("64g", 64 * 2**30),
        ("1.5 TB", 1_500_000_000_000),
        ("2048", 2048),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str, meant: int) -> None:
    assert size_bytes(text) == meant


@pytest.mark.parametrize("text", ["64 potatoes", "0.5", "-1", "", "9" * 400])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="must be a size of 1 byte or more"):
        size_bytes(text)
