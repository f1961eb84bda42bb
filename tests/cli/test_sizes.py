"""Sizes as commands print them."""

import pytest

from simhash_pipeline.cli.command import size


@pytest.mark.parametrize(
    ("size_bytes", "told"),
    [(0, "0 bytes"), (999, "999 bytes"), (1_000, "0.977 KiB"), (255_550_000_000, "238 GiB")],
)
def test_sizes_have_three_digits_and_a_unit(size_bytes: int, told: str) -> None:
    assert size(size_bytes) == told
