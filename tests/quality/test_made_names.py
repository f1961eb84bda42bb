import re

from simhash_pipeline import Fingerprinter
from tests.quality.made_names import (
    Kind,
    Said,
    error_pages,
    local_notices,
    site_of_kind,
    two_headlines,
)
from tests.quality.marked_text import word_count


def test_pages_of_a_kind_share_the_sites_text_and_have_facts_of_their_own() -> None:
    kind = Kind(lambda words, n: Said("One title", words.name(1), [words.number(5)]), shared=80)
    for template in range(3):
        made = site_of_kind("kind", kind, "en", template)
        assert made.finds == [None, *[False] * 23]
        read = [Fingerprinter().fingerprint(page.html) for page in made.pages[:2]]
        one, two = (page.text.split("\n")[-1] for page in read)
        assert one == two
        assert word_count(one) == 80
        assert {page.title.split(" - ")[0] for page in read} == {"One title"}
        shown = [f"{page.text} {page.left_out}" for page in read]
        assert len({text for page in shown for text in re.findall(r"\b\d{5}\b", page)}) == 2


def test_half_of_a_second_headlines_words_are_the_firsts_and_the_texts_are_equal() -> None:
    pages = two_headlines("en", 0).pages
    fingerprinter = Fingerprinter()
    one, two = (fingerprinter.fingerprint(page.html) for page in (pages[0], pages[20]))
    first, second = (page.title.split(" - ")[0].split() for page in (one, two))
    assert first[1::2] == second[1::2]
    assert not {*first[::2]} & {*second[::2]}
    assert one.text.split("\n")[-1] == two.text.split("\n")[-1]


def test_a_notice_names_its_town_in_title_heading_and_first_line() -> None:
    page = local_notices("en", 0).pages[3]
    town = page.html.split("<title>")[1].split(":")[0]
    assert page.html.count(town) == 3


def test_an_error_page_names_its_own_address() -> None:
    for template in range(3):
        for page in error_pages("zh", template).pages[:2]:
            assert page.url.split("/", 3)[3] in page.html
