"""The table of quality on the demo site's pages, as `make quality` prints it without others."""

import pytest

from crawler.demo_site.pages import all_pages
from simhash_pipeline import Fingerprinter
from simhash_pipeline.page.parse import elements_of
from tests.quality.edits import EDITS
from tests.quality.floors import read_floors, table, verdict
from tests.quality.measures import Joins, demo_rows, shortened, token_f1
from tests.quality.structure import DESIGNS, balanced_f1, nearness
from tests.trees import parse

STORY = "/en/port/crane-seven"


@pytest.mark.ci
def test_the_demo_sites_pages_are_told_apart_as_well_as_ever() -> None:
    rows, digests = demo_rows()
    floors = read_floors()
    told = {(row.corpus, row.name): verdict(row, floors, digests)[1] for row in rows}
    wrong = {name: word for name, word in told.items() if word not in ("", "ok")}
    assert not wrong, (
        f"{table(rows, floors, digests)}\n"
        "The demo site changed? Then pin the floors: python -m tests.quality --demo --pin"
    )


def test_the_default_structure_fingerprint_is_the_first_of_the_draws() -> None:
    html = all_pages()[STORY].body
    wide = DESIGNS["outline"](elements_of(parse(html)))
    assert wide is not None
    assert wide & (2**64 - 1) == Fingerprinter().fingerprint(html).structure


def test_nearness_is_the_share_of_draws_within_3_bits() -> None:
    assert nearness(5, 5) == 1.0
    assert nearness(0, 2**128 - 1) == 0.0
    # Four bits differ in the first block: half of all draws have it.
    assert nearness(0, 0b1111) == 0.5
    assert nearness(None, None) == 0.0


def test_balanced_f1_counts_one_negative_for_each_positive() -> None:
    # 90 of 100 positives and 10 of 100 negatives: precision .9, recall .9.
    assert balanced_f1(0.9, 0.1) == pytest.approx(0.9)
    assert balanced_f1(0.0, 0.0) == 0.0


def test_a_page_joins_itself_and_the_judge_forgets_it() -> None:
    fingerprinter, pages = Fingerprinter(), all_pages()
    one, two = (fingerprinter.fingerprint(pages[p].body) for p in (STORY, "/en/food/bread-lane"))
    joins = Joins(3)
    assert [joins(one, one), joins(one, two), joins(two, one), joins(two, two)] == [
        True,
        False,
        False,
        True,
    ]


def test_a_page_that_cannot_be_read_joins_nothing() -> None:
    assert not Joins(3)(None, None)


def test_a_text_is_cut_at_the_end_of_a_block() -> None:
    text = "one two\nthree four\nfive six"
    assert shortened(text, 3, 4) == "one two\nthree four"
    assert shortened(text, 3, 3) == ""
    assert shortened(text, 7, 9) == ""


def test_token_f1_counts_repeated_tokens() -> None:
    assert token_f1(["a", "a", "b"], ["a", "b", "b"]) == pytest.approx(2 / 3)
    assert token_f1([], []) == 0.0


def test_every_edit_has_its_goal() -> None:
    assert {name: goal for name, (_, goal) in EDITS.items()} == {
        "a banner div": 0.95,
        "the body in a div": 0.95,
        "five times the rows": 0.99,
        "ten more head elements": 0.99,
    }
