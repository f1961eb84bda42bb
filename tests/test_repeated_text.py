"""What pages of a template repeat is left out of comparisons, and nobody can plant it."""

import weakref
from array import array
from collections.abc import Iterable
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline import Fingerprinter, Judge, Options, open_store
from simhash_pipeline.errors import StoreDamaged
from simhash_pipeline.page.folding import spelled
from simhash_pipeline.page.titles import WORD_BITS, word_blocks
from simhash_pipeline.page.visible import BLOCK_BITS, visible_text
from simhash_pipeline.repeated_text import (
    LEAST_PAGES,
    LEAST_REPEATED,
    UNKNOWN,
    RepeatedText,
    Template,
    _recurring,
    page_specific,
    template_of,
    unpacked,
    with_template,
)
from tests.same import by_python

SYLLABLES = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in "lnrst"]
OPTIONS = Options()
FINGERPRINTER = Fingerprinter(OPTIONS)
HOST = ("", "a.example")
FAR = 0x1FF << 50  # 9 bits from 0, 11 from 3


def words(seed: object, count: int) -> str:
    return " ".join(Random(str(seed)).choices(SYLLABLES, k=count)) + "."


def html(title: str, main: Iterable[str], beside: Iterable[str] = ()) -> bytes:
    paragraphs = "".join(f"<p>{text}</p>" for text in main)
    boxes = "".join(f"<div><p>{text}</p></div>" for text in beside)
    menu = "<nav><a href=/>Home</a><a href=/a>Shop</a></nav>"
    body = f"{menu}<article><h1>{title}</h1>{paragraphs}</article>{boxes}"
    return f"<html><head><title>{title}</title></head><body>{body}</body></html>".encode()


class Recent:
    """What a process learns from pages and a store, which may know something already."""

    def __init__(self, known: Template = UNKNOWN, max_pages: int = 1_000) -> None:
        self.store = open_store("memory:")
        weakref.finalize(self, self.store.close)
        if known is not UNKNOWN:
            self.store.put_repeated_text(*HOST, with_template(b"", known))
        self.text = RepeatedText(self.store, max_pages)

    def add(self, host: tuple[str, str], structure: int | None, blocks: list[int]) -> Template:
        """The page's template after it."""
        self.text.learn(host, structure, blocks)
        return self.text.template(host, structure)


def learnt(
    pages: int, *blocks: int, recent: Recent | None = None, known: Template = UNKNOWN
) -> set[int]:
    """What `pages` pages with these blocks, and one of its own each, make repeated text."""
    recent = recent or Recent(known)
    found = [recent.add(HOST, 0, [*blocks, 1_000 + page]) for page in range(pages)]
    return {*found[-1].repeated}


def test_a_block_is_repeated_from_the_twentieth_page_of_a_template_on() -> None:
    assert learnt(LEAST_PAGES - 1, 1, 2) == set()
    assert learnt(LEAST_REPEATED - 1, 1, 2) == set()
    assert learnt(LEAST_REPEATED, 1, 2) == {1, 2}


def test_what_another_process_has_counted_is_outweighed_by_as_many_new_pages() -> None:
    known = Template(0, 64, {1: 64})
    assert learnt(28, 2, known=known) == {1}
    assert learnt(32, 2, known=known) == {1, 2}
    assert learnt(64, 2, known=known) == {2}


def test_pages_of_several_small_crawls_count_together() -> None:
    recent = Recent()
    for pages in (12, 8):
        recent.text = RepeatedText(recent.store)
        found = [recent.add(HOST, 0, [1, 1_000 + page]) for page in range(pages)]
    assert ({*found[-1].repeated}, found[-1].pages) == ({1}, 20)


def test_a_block_on_half_of_the_last_pages_is_repeated_text_and_on_eight_it_recurs() -> None:
    for on, repeated, recurring in (
        (32, {1}, set()),
        (31, set(), {1}),
        (8, set(), {1}),
        (7, set(), set()),
    ):
        recent = Recent()
        found = [recent.add(HOST, 0, [1] if page < on else [100 + page]) for page in range(64)]
        assert ({*found[-1].repeated}, {*found[-1].recurring}) == (repeated, recurring)


@given(st.lists(st.integers(0, 9) | st.integers(65_530, 65_535), max_size=200))
def test_the_kernel_counts_as_the_python_does(blocks: list[int]) -> None:
    said = array("H", blocks).tobytes()
    with by_python():
        expected = _recurring(said, LEAST_PAGES)
    assert list(_recurring(said, LEAST_PAGES).items()) == list(expected.items())


def test_what_is_no_longer_repeated_is_no_longer_repeated_text() -> None:
    recent = Recent()
    assert learnt(64, 1, recent=recent) == {1}
    assert learnt(64, 2, recent=recent) == {2}


def test_each_host_and_each_template_has_repeated_text_of_its_own() -> None:
    recent = Recent()
    for page in range(19):
        recent.add(HOST, 0, [1])
        recent.add(("", "b.example"), 0, [1])
        recent.add(("other", "a.example"), 0, [1])
        recent.add(HOST, FAR, [2, 100 + page])
        recent.add(HOST, None, [3])
    found = [recent.add(HOST, structure, [1, 2, 3]) for structure in (0b11, FAR, None)]
    assert [{*template.repeated} for template in found] == [{1}, {2}, {3}]


def test_hosts_are_forgotten_the_one_met_longest_ago_first() -> None:
    recent = Recent(max_pages=14)
    for host in "aaaaaaabbbbbbba":  # seven pages each, then an eighth of a: b has to go
        found = recent.add(("", host), 0, [1])
    assert found.recurring == {1}
    assert recent.add(("", "b"), 0, [1]) is UNKNOWN


def test_templates_come_back_as_they_were_packed() -> None:
    first = Template(5, 64, {1: 64, 300: 32, 2: 9})
    second = UNKNOWN
    third = Template(FAR, 9, {7: 8})
    known = with_template(with_template(with_template(b"", first), second), third)
    assert [one.structure for one in unpacked(known)] == [FAR, None, 5]
    found = template_of(4, known)
    assert ({*found.repeated}, {*found.recurring}) == ({1, 300}, {2})
    assert (found.pages, found.counts) == (64, {1: 64, 300: 32, 2: 9})
    assert template_of(FAR >> 25, known) is UNKNOWN
    anew = with_template(known, Template(4, 20, {9: 20}))
    assert [one.structure for one in unpacked(anew)] == [4, FAR, None]
    for damaged in (known[:-1], msgspec.msgpack.encode([(1, 64, {1 << 16: 64})])):
        with pytest.raises(StoreDamaged, match="repeated text in the store is damaged"):
            unpacked(damaged)


# ------------------------------------------------------------------ attacks

WARRANTY = [words("warranty", 60), words("service", 60)]
LINES = [
    f"Variant {i}: colour {words(i, 6)} for machines of series {words(-i, 8)}" for i in range(30)
]


def dropped_products(judge: Judge) -> int:
    """Of 30 products of one warranty text that one line each tells apart."""
    return sum(
        judge.judge(
            f"http://shop.example/p/{number}",
            FINGERPRINTER.fingerprint(html("Spare part", WARRANTY, [line])),
        ).dropped
        for number, line in enumerate(LINES)
    )


def crawl(judge: Judge, pages: dict[str, bytes]) -> None:
    for url, page in pages.items():
        judge.judge(url, FINGERPRINTER.fingerprint(page))


def other_pages(beside: list[str], *, planted: int) -> dict[str, bytes]:
    """20 other pages of the shop, `planted` of which have `beside` too, the last ones."""
    return {
        f"http://shop.example/other/{k}": html(
            f"Other {k}", [words(f"o{k}", 80)], beside if k >= 20 - planted else ["Free shipping"]
        )
        for k in range(20)
    }


FORUM = {
    f"http://{host}/u/{k}": html(f"Post {k}", [words(f"f{k}", 80)], LINES)
    for host in ("forum.shop.example",)
    for k in range(64)
}
HIDDEN = [f'<span style="display:none">{line}</span>' for line in LINES]
ATTACKS = {
    "none": other_pages([], planted=0),
    "a forum on a host of its own": other_pages([], planted=0) | FORUM,
    "comments on eight pages": other_pages(LINES, planted=8),
    "hidden text of eight pages": other_pages(HIDDEN, planted=8),
    "one page of five megabytes": other_pages([], planted=0)
    | {"http://shop.example/search": html("Found", [words("s", 80)], LINES * 1_300)},
    "a search page that echoes its query": other_pages([], planted=0)
    | {
        f"http://shop.example/search?q={k}": html(f"Search {k}", [words(f"q{k}", 80)], LINES)
        for k in range(8)
    },
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_nobody_makes_a_product_go_by_quoting_the_line_that_tells_it_apart(attack: str) -> None:
    with open_store("memory:") as store:
        judge = Judge(store, OPTIONS)
        crawl(judge, ATTACKS[attack])
        assert dropped_products(judge) == 0


def of_days(honest: int, *, planted: int, between: int = 0) -> int:
    """How many products go that stand in `planted` pages of a crawl after one of honest pages."""
    pages = [
        (f"http://shop.example/{k}", k < honest or k >= honest + planted)
        for k in range(honest + planted + between)
    ]
    made = [
        (url, html(f"Other {url}", [words(url, 80)], ["Free shipping"] if is_honest else LINES))
        for url, is_honest in pages
    ]
    with open_store("memory:") as store:
        crawl(Judge(store, OPTIONS), dict(made[:honest]))
        later = Judge(store, OPTIONS)
        crawl(later, dict(made[honest:]))
        return dropped_products(later)


@pytest.mark.parametrize(
    ("honest", "planted", "between"), [(0, 16, 0), (0, 16, 48), (20, 8, 0), (80, 8, 4), (80, 24, 0)]
)
def test_the_first_pages_of_a_crawl_plant_nothing(honest: int, planted: int, between: int) -> None:
    """Neither on the first day, newest first, nor in a new process on what many pages taught."""
    assert of_days(honest, planted=planted, between=between) == 0


def test_who_writes_on_half_of_a_template_s_last_pages_can_plant() -> None:
    with open_store("memory:") as store:
        judge = Judge(store, OPTIONS)
        crawl(judge, other_pages(LINES, planted=20))
        assert dropped_products(judge) > 0


def test_many_tags_leave_room_for_the_frame_of_another_template() -> None:
    tags = [f"Filed under {words(f't{k}', 3)}" for k in range(300)]
    frame = [words(f"frame {k}", 12) for k in range(12)]
    with open_store("memory:") as store:
        judge = Judge(store, OPTIONS)
        for k in range(400):
            tagged = html(f"Post {k}", [words(k, 70)], Random(k).sample(tags, 12))
            crawl(judge, {f"http://blog.a.example/{k}": tagged})
        crawl(
            judge,
            {
                f"http://help.a.example/{k}": html(f"Help {k}", [words(f"h{k}", 90)], frame)
                for k in range(20)
            },
        )
        main = [words("answer", 60), words("more", 60)]
        crawl(judge, {"http://help.a.example/first": html("Answer", main, frame)})
        copy = FINGERPRINTER.fingerprint(html("Answer", main, frame[:2]))
        assert judge.judge("http://help.a.example/second", copy).dropped


def test_texts_are_given_without_what_their_template_repeats() -> None:
    """The name of the site in titles, and lines that stand on half of the pages."""
    with Judge() as judge:
        for number in range(48):
            main = [words(("page", number), 80), "Share this story with all your friends today."]
            page = html(f"{words(number, 3)} | The Post", main)
            url = f"http://a.example/{number}"
            read = FINGERPRINTER.fingerprint(page, url)
            text = judge.repeated_text.page_specific(read, judge.judge(url, read))
    assert "Share this story" in read.text
    assert text == f"{words(47, 3)}\n{words(('page', 47), 80)}"


@pytest.mark.parametrize(
    ("title", "own"),
    [
        ("Fog bells | The Post", "Fog bells"),
        ("The Post - Fog bells - News", "Fog bells"),
        ("Follow-up: what the post knew", "Follow-up: what the post knew"),
        ("The Post", "The Post"),
        ("", ""),
    ],
)
def test_a_title_is_given_without_its_repeated_parts(title: str, own: str) -> None:
    blocks = (block & WORD_BITS for block in word_blocks(["the", "post", "news"]))
    template = Template(0, 64, dict.fromkeys(blocks, 64))
    assert page_specific(title, "text", template) == (own, "text")


def test_a_text_of_repeated_lines_alone_is_given_whole() -> None:
    blocks = visible_text([spelled("Accept all cookies")], [False]).blocks
    template = Template(0, 64, {block & BLOCK_BITS: 64 for block in blocks})
    assert page_specific("", "Accept all cookies", template) == ("", "Accept all cookies")
    assert page_specific("", "Accept all cookies\nOwn", template) == ("", "Own")
    assert page_specific("", "\u200b\nOwn\n\xad", template) == ("", "\u200b\nOwn\n\xad")
