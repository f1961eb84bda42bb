import pytest

from benchmarks.pages import PAGE_BYTES, made_pages
from benchmarks.table import markdown
from simhash_pipeline import Fingerprinter
from simhash_pipeline.page.parse import parse


@pytest.mark.parametrize(("language", "tokens"), [("English", 1_200), ("Chinese", 1_500)])
def test_made_pages_are_as_large_and_as_dense_as_real_ones(language: str, tokens: int) -> None:
    (page,) = made_pages()[language]
    assert PAGE_BYTES - 500 < len(page.html) <= PAGE_BYTES
    assert 1_500 <= sum(1 for _ in parse(page.html).iter()) <= 2_500
    assert Fingerprinter().fingerprint(page.html).tokens > tokens


def test_made_pages_are_the_same_at_every_run() -> None:
    assert made_pages() == made_pages()


def test_a_table_is_padded_and_numbers_stand_to_the_right() -> None:
    assert markdown("what, share>", [["one", "0.5"], ["another", "10.25"]]).splitlines() == [
        "| what    | share |",
        "| ------- | ----: |",
        "| one     |   0.5 |",
        "| another | 10.25 |",
    ]
