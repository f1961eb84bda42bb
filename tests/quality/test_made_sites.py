from simhash_pipeline import Fingerprinter
from tests.quality.made_sites import (
    VARIANTS,
    consent_pages,
    copies,
    notices,
    script_shells,
    shop,
)
from tests.quality.marked_text import word_count


def test_notices_differ_in_a_name_in_four_places_and_a_number() -> None:
    fingerprinter = Fingerprinter()
    one, two = (fingerprinter.fingerprint(page.html) for page in notices(300)[:2])
    assert one.title == "Notice to Albrecht Mill " + one.title.split()[-1]
    name, other = (page.title.removeprefix("Notice to ") for page in (one, two))
    assert one.text.count(name) == 4
    renamed = one.text.replace(name, other)
    assert renamed.replace("number 4100", "number 4137") == two.text
    assert 300 <= word_count(one.text) <= 350


def test_variants_of_a_product_share_all_but_the_table_and_the_title() -> None:
    pages = shop(50, titled=True)
    assert len(pages) == 48
    first, second = pages[:2]
    assert (
        first.html.split("<table>")[0].split("<p>")[1]
        == second.html.split("<p>")[1].split("<table>")[0]
    )
    assert len({page.html.split("</title>")[0] for page in pages[:VARIANTS]}) == VARIANTS
    untitled = shop(50, titled=False)
    assert len({page.html.split("</title>")[0] for page in untitled[:VARIANTS]}) == 1


def test_sites_of_two_hosts_are_of_two_sites() -> None:
    for make in (script_shells, consent_pages):
        assert len({page.url.split("/")[2] for page in make(hosts=2)}) == 2
        assert len({page.url.split("/")[2] for page in make(hosts=1)}) == 1


def test_a_copy_declares_its_storys_address_where_it_is_told_to() -> None:
    made = copies("amp", declared=True)
    fingerprinter = Fingerprinter()
    for story, copied in zip(made.stories, made.copies, strict=True):
        assert fingerprinter.fingerprint(copied.html, copied.url).canonical_url == story.url
    undeclared = copies("amp", declared=False).copies[0]
    assert fingerprinter.fingerprint(undeclared.html).canonical_url is None
