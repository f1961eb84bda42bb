"""What an item says, as a witness: two pages of one text, and an item of each."""

from __future__ import annotations

import dataclasses
import html
import json
import re
import struct
import time
import tracemalloc
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import attrs
import lxml.html
import pytest
import scrapy
from itemadapter import ItemAdapter
from itemloaders import ItemLoader

from simhash_pipeline import Fingerprinter, Judge, Options, Verdict, dedupe, open_store
from simhash_pipeline.item_values import (
    KNOWN,
    MOST_SENTENCES,
    Said,
    byte_of,
    differing,
    names_itself,
    new_sentences,
    row_keys,
    row_of,
    with_rows,
    without_facts,
)
from simhash_pipeline.items import as_row, said_by, with_values
from simhash_pipeline.notation import path_of
from simhash_pipeline.on_page import Text, _shown
from simhash_pipeline.page.source import Source
from simhash_pipeline.page.visible import MAIN
from simhash_pipeline.run_memory import RunMemory
from tests.crawl.trap_site import prose

if TYPE_CHECKING:
    from collections.abc import Callable

    from simhash_pipeline.page.fingerprint import PageFingerprint
    from simhash_pipeline.stores.contract import Store

A, B, C, D = (f"http://a.example/shoe/{n}" for n in (1, 2, 3, 4))
SHOE = prose("a shoe")
LONG = " ".join(f"sentence {n} of this body." for n in range(60))


def page(beside: str = "", text: str = SHOE, title: str = "Runner") -> str:
    return f"<title>{title}</title><main><h1>Runner</h1><p>{text}</p></main><aside>{beside}</aside>"


def second(one: tuple[str, Any], two: tuple[str, Any], urls: tuple[str, str] = (A, B)) -> Verdict:
    """The verdict on the second page of two; each is what stands beside the text, and its item."""
    with Judge() as judge:
        first = judge.judge(urls[0], page(one[0]), one[1])
        assert not first.dropped
        return judge.judge(urls[1], page(two[0]), two[1])


class Size(Enum):
    LARGE = "large"
    SMALL = "small"


def ld(price: str) -> str:
    """A price where only programs read it."""
    return f'<script type="application/ld+json">{{"price": {price}}}</script>'


UTC = timezone.utc
TODAY = date.today()


def at(secs: int) -> datetime:
    return datetime.fromtimestamp(secs, UTC)


def show(hour: int) -> datetime:
    """A time of today, as of a film."""
    return datetime(TODAY.year, TODAY.month, TODAY.day, hour)


@pytest.mark.parametrize(
    ("beside", "values"),
    [
        (("<p>Size 41", "<p>Size 42"), ("41", "42")),
        (("<p>1,299.00 EUR", "<p>1,399.00 EUR"), (1299.0, 1399.0)),
        (("<p>12,50 €", "<p>13,50 €"), (Decimal("12.50"), Decimal("13.50"))),
        (("<p>1 299 kr", "<p>1 399 kr"), (1299, 1399)),
        (("<p>12\u202f990,00 zł", "<p>13\u202f990,00 zł"), (12990.0, 13990.0)),
        (("<p>1\u00a0299 €", "<p>1\u00a0399 €"), ("1299", "1399")),
        (("<p>3 May 2024", "<p>4 May 2024"), (date(2024, 5, 3), date(2024, 5, 4))),
        (
            ("<time datetime=2024-05-03>", "<time datetime=2024-05-04>"),
            (datetime(2024, 5, 3), datetime(2024, 5, 4)),
        ),
        (("<p>large", "<p>small"), (Size.LARGE, Size.SMALL)),
        (("<p>€1,299", "<p>€1,399"), ("1299.00", "1399.00")),
        ((ld("12.50"), ld("17.50")), (12.5, 17.5)),
        ((ld('"19.90"'), ld('"29.90"')), (Decimal("19.9"), Decimal("29.9"))),
        ((ld("1304"), ld("1404")), ("1304.00", "1404.00")),
        ((ld("12.50"), ld("17.50")), (1250, 1750)),  # cents
        (("<meta content=12.50>", "<meta content=17.50>"), ("€12.50", "17.50 EUR")),
        (
            ("<time datetime=2024-05-03T10:00:00Z>", "<time datetime=2024-05-04T10:00:00Z>"),
            ("2024-05-03", "2024-05-04 10:00:00"),
        ),
        (("<p>5/3/24", "<p>5/4/24"), ("2024-05-03", "2024-05-04")),
        (("<p>Doors 8:30 pm", "<p>Doors 9:30 pm"), ("20:30", "21:30:00")),
        (("<i data-color=Red>", "<i data-color=Blue>"), ("red", "blue")),
        (("<p>In stock", "<p>Sold out"), (True, False)),
        (("<link href=//schema.org/InStock>", ""), (True, False)),
        (("<i data-sku=AB-7>", "<i data-sku=AB-9>"), ("AB-7", "AB-9")),
        (("<img src=/i/red.jpg?x=1>", "<img src=/i/blue.jpg?x=2>"), ("/i/red.jpg", "/i/blue.jpg")),
        (("<p>尺码 大", "<p>尺码 小"), ("大", "小")),
        (("<p>red, blue", "<p>red, black"), (["red", "blue"], ["red", "black"])),
        (("<p>86m²", "<p>92m²"), (86, 92)),
        (("<p>256GB", "<p>512GB"), (256, 512)),
        (("<p>1.5kg", "<p>2.5kg"), (1.5, 2.5)),
        (("<p>45k–60k", "<p>50k–60k"), ((45_000, 60_000), (50_000, 60_000))),
        (("<p>$1.25M", "<p>$1.35M"), (1_250_000, 1_350_000)),
        (("<p>3,5 Mio. €", "<p>4 Mio. €"), (3_500_000, 4_000_000)),
        (("<p>总价350万", "<p>总价360万"), (3_500_000, 3_600_000)),
        (("<i>Serves 4</i><i>30 min</i>", "<i>Serves 6</i><i>30 min</i>"), (4, 6)),
        (("<i title='4.5 out of 5'>", "<i title='4.4 out of 5'>"), (4.5, 4.4)),
        (('<i aria-label="Rated 4.50 of 5">', '<i aria-label="Rated 4.00 of 5">'), (4.5, 4.0)),
        ((ld("2999"), ld("3999")), (29.99, 39.99)),  # as Shopify has it
        ((ld("2900"), ld("3900")), (29.0, 39.0)),
        (
            ("<option>Blue<option selected>XL", "<option>Red<option selected>XL"),
            ("Blue / XL", "Red / XL"),
        ),
        (("<option>S<option>M", "<option>S<option>L"), (["S", "M"], ["S", "L"])),
        (("<i data-size=S>", "<i data-size=M>"), ("S", "M")),  # letters of many words
        (("<p>WX-1200", "<p>WX-1300"), ("WX1200", "WX1300")),
        (("<p>978-3-16-148410-0", "<p>978-3-16-148411-7"), ("9783161484100", "9783161484117")),
        (
            ("<link href=//schema.org/InStock>", "<link href=//schema.org/OutOfStock>"),
            ("in_stock", "out_of_stock"),
        ),
        (
            ("<a href=/größe-1.pdf>", "<a href=/größe-2.pdf>"),
            ("/gr%C3%B6%C3%9Fe-1.pdf", "/gr%C3%B6%C3%9Fe-2.pdf"),
        ),
        (("<p>Out of stock", "<p>12 in stock"), (0, 12)),
        (("<p>€12.50", "<p>Free"), (12.5, Decimal("0.00"))),
        (
            ("<p>Sat, 5 Dec, 2.30pm", "<p>Sat, 5 Dec, 7.30pm"),
            (datetime(2026, 12, 5, 14, 30), datetime(2026, 12, 5, 19, 30)),
        ),
        (
            ("<p>05.12. 19 Uhr", "<p>05.12. 20 Uhr"),
            (datetime(2026, 12, 5, 19), datetime(2026, 12, 5, 20)),
        ),
        (("<p>5th May 2024", "<p>6th May 2024"), (date(2024, 5, 5), date(2024, 5, 6))),
        (
            ("<i data-time=1733420000>", "<i data-time=1733420060>"),
            (at(1_733_420_000), at(1_733_420_060)),
        ),
        (
            ("<time datetime=2025-01-01T00:30+01:00>", "<time datetime=2025-01-01T00:45+01:00>"),
            (
                datetime(2024, 12, 31, 23, 30, tzinfo=UTC),
                datetime(2024, 12, 31, 23, 45, tzinfo=UTC),
            ),
        ),
        (
            (f"<time datetime={TODAY}T14:00>", f"<time datetime={TODAY}T20:00>"),
            (show(14), show(20)),
        ),
        (
            ("<p>red 41", "<p>red 42"),
            ({"colour": "red", "size": 41}, {"colour": "red", "size": 42}),
        ),
    ],
)
def test_one_value_that_stands_on_its_page_tells_two_pages_apart(
    beside: tuple[str, str], values: tuple[Any, Any]
) -> None:
    name = "value.size" if isinstance(values[0], dict) else "value"
    found = second((beside[0], {"value": values[0]}), (beside[1], {"value": values[1]}))
    assert (found.rejected_by, found.differing_fields) == ("fields", (name,))
    same = second((beside[0], {"value": values[0]}), (beside[0], {"value": values[0]}))
    assert same.dropped


@pytest.mark.parametrize(
    ("beside", "values"),
    [
        (("<p>12 comments", "<p>19 comments"), (12, 19)),
        (("<p>1,234 comments", "<p>1,240 comments"), (1234, 1240)),
        (("<p>3 hours ago", "<p>5 hours ago"), (3, 5)),
        ((f"<p>{TODAY}", f"<p>{TODAY}"), (f"{TODAY:%Y%m%d}", f"{TODAY:%Y%m%d}7")),  # of a run
        (("<p>3 hours ago", "<p>5 hours ago"), ("3 hours ago", "5 hours ago")),
        (("", ""), ("5d41402abc4b2a76b9719d911017c592", "7d793037a0760186574b0282f2f435e7")),
        (("", ""), (1, 2)),  # of their addresses
        (("", ""), ("shoe/1", "shoe/2")),
        (("", ""), (time.time(), time.time() + 1)),
        (("", ""), (datetime.now(timezone.utc), datetime.now(timezone.utc))),
        (("<img src=/a.jpg?s=1>", "<img src=/a.jpg?s=2>"), ("/a.jpg?s=1", "/a.jpg?s=2")),
    ],
)
def test_what_copies_differ_in_says_nothing(
    beside: tuple[str, str], values: tuple[Any, Any]
) -> None:
    items = ({"title": "Runner", "value": value} for value in values)
    one, two = zip(beside, items, strict=True)
    assert second(one, two).dropped


_ROWS = "<dl><dt><em>x</em><dd><ul><li><b>y</b></ul></dl>" * 40
BARE = f"<title>Runner</title><table><tr><td><h1>Runner</h1><p>{SHOE}<p>%s</table>{_ROWS}"


def test_in_another_template_two_values_must_differ_or_a_number() -> None:
    items = [{"colour": "red", "size": "small"}, {"colour": "red", "size": "large"}]
    other = {"colour": "blue", "size": "large"}
    with Judge(options=Options(min_tokens=20)) as judge:
        judge.judge(A, page("<p>red small"), items[0])
        assert judge.judge(B, BARE % "red large", items[1]).rejected_by != "fields"
        assert judge.judge(B, BARE % "blue large", other).differing_fields == ("colour", "size")


@pytest.mark.parametrize("fields", [("+rating",), ("rating",)])
@pytest.mark.parametrize(("first", "last"), [("good", "bad"), ("", "bad")])
def test_what_is_asked_for_counts_everywhere(
    fields: tuple[str, ...], first: str, last: str
) -> None:
    """In another template, on another site, and beside a text, though it stands nowhere."""
    items = {"rating": first}, {"rating": last}
    options = Options(item_fields=fields, min_tokens=20)
    for url, held in ((B, BARE % "red"), ("http://other.example/1", page("<p>red"))):
        with Judge(options=options) as judge:
            judge.judge(A, page("<p>red"), items[0])
            assert judge.judge(url, held, items[1]).differing_fields == ("rating",)
            assert judge.judge(f"{url}?again", held, items[1]).dropped
    rows = [
        {"url": url, "text": f"{SHOE} {SHOE}", **item}
        for url, item in zip((A, B), items, strict=True)
    ]
    assert len([*dedupe(rows, item_fields=fields)]) == 2
    assert len([*dedupe(rows)]) == 1


@pytest.mark.parametrize(
    ("name", "value", "other", "differ"),
    [
        ("fee", "€ 12,50", "€ 13,50", True),
        ("fee", "Rp 12.500", "Rp 13.500", True),
        ("fee", "499 kr", "479 kr", True),
        ("fee", "人民币1299元", "人民币1399元", True),
        ("width", "40 cm", "41 cm", True),
        ("code", "FR-1001", "FR-1002", True),
        ("fee", 12.5, 13.5, True),
        ("fee", "€ 12,50", "12.50 EUR", False),
        ("price", "€ 1.299,00", "1299 EUR", False),
        ("until", "13 December 2026", "18 February 2027", True),
        ("until", "2026-12-13", "2026-12-18", True),
        ("until", "13.12.2026", "12/13/2026", False),
        ("length", "31:10", "58:02", True),
        ("notice", "GT-2026-1061", "GT-2026-1099", True),
        ("size", "M", "L", False),
        ("price", "$29.99", "€29.99", True),
        ("price", "29.99 USD", "29.99 CAD", True),
        ("sku", "1001R", "1001B", True),
        ("disk", "1 TB", "1 GB", True),
        ("until", "3 May", "3 June", True),
        ("fee", "12", "", False),
        ("colour", "navy", "teal", True),
        ("state", "navy", "teal", False),
    ],
)
def test_a_number_or_an_offer_differs_in_another_template(
    name: str, value: Any, other: Any, differ: bool
) -> None:
    with Judge(options=Options(min_tokens=20)) as judge:
        judge.judge(A, page(f"<p>red {value}"), {"top": "red", name: value})
        verdict = judge.judge(B, BARE % f"red {other}", {"top": "red", name: other})
    assert verdict.differing_fields == ((name,) if differ else ())


@pytest.mark.parametrize(
    ("value", "other", "differ"),
    [
        ({"price": "13 900 €"}, {"price": "US$ 15290"}, ("price",)),
        ({"colour": "red"}, {"colour": "grey"}, ("colour",)),
        ({"price": "1 299,00 kr"}, {"price": "1299 kr"}, ()),
        ({"colour": "navy blue"}, {"colour": "navy"}, ()),
        ({"price": "13 900 €"}, {}, ()),
        ({"salary": "€43,300 per year"}, {"salary": "€47,300 per year"}, ("salary",)),
        ({"salary": "€43,300 per year"}, {"salary": "43,300 € p.a."}, ()),
        ({"mileage": "43300"}, {"mileage": "47300"}, ()),
        ({"salary": "43300"}, {"salary": "47300"}, ("salary",)),
        ({"ref": "NOR-2631"}, {"ref": "NOR-3631"}, ("ref",)),
        ({"price": "227 €"}, {"price": "from 227 Euro"}, ()),
        ({"price": "S 20 €"}, {"price": "M 20 €"}, ("price",)),
        ({"price": "US$ 20"}, {"price": "A$ 20"}, ("price",)),
        ({"top": "red"}, {"price": "227 €"}, ("price",)),
        ({}, {"price": "227 €"}, ()),
        ({"place": "Hull"}, {"place": "Rhyl"}, ()),
    ],
)
def test_a_price_or_colour_counts_between_sites(
    value: dict[str, str], other: dict[str, str], differ: tuple[str, ...]
) -> None:
    """An aggregator's page of a car isn't the dealer's, nor that of another of his cars."""
    shown = (" ".join(each.values()) for each in (value, other))
    with Judge(options=Options(min_tokens=20)) as judge:
        judge.judge(A, page(f"<p>{next(shown)}"), value)
        verdict = judge.judge("http://other.example/1", page(f"<p>{next(shown)}"), other)
    assert verdict.differing_fields == differ
    assert verdict.dropped is not bool(differ)


STORY = [
    f"The rope of hall {n} is as long as {n + 20} ships and {n + 30} barges." for n in range(20)
]


def _thread(posts: list[str], teaser: str) -> tuple[str, dict[str, Any]]:
    """A page of posts, each with its author's number of them, and its item."""
    said = (
        f"<div><b>reader{at}</b> {len(teaser)} posts<p>{post}</p></div>"
        for at, post in enumerate(posts)
    )
    html = f"<title>Rope</title><h1>Rope</h1>{''.join(said)}<p>{teaser}</p>"
    return html, {"title": "Rope", "posts": [{"text": post} for post in posts]}


@pytest.mark.parametrize(
    ("posts", "is_unchanged"),
    [
        (STORY[:12], True),
        (STORY[:13], False),
        (STORY[11::-1], False),
        ([*STORY[:11], STORY[11].replace("ships", "51 votes")], False),
        ([*STORY[:12], STORY[11]], False),
    ],
)
def test_posts_that_are_a_long_text_together_say_whether_a_thread_has_changed(
    posts: list[str], is_unchanged: bool
) -> None:
    """Whatever stands beside them."""
    with Judge() as judge:
        judge.judge(
            A, *_thread(STORY[:12], "Who has a spare rope of forty ells for Sunday's fair?")
        )
        verdict = judge.judge(A, *_thread(posts, "Night train: on which side of it is the sea?"))
    assert (verdict.reason == "unchanged") is is_unchanged


def test_short_values_beside_a_text_say_nothing_of_it() -> None:
    """Lead and image are a third of the page: its text counts."""
    lead = "The rope of the old bell came down at noon, and nobody was under it but a dove."
    item = {"title": "Rope", "lead": lead, "image": "/rope.jpg"}
    html = "<title>Rope</title><img src=/rope.jpg><p>{}</p><p>{}</p>"
    with Judge(options=Options(min_tokens=20)) as judge:
        judge.judge(A, html.format(lead, STORY[0]), item)
        assert judge.judge(A, html.format(lead, STORY[1]), item).reason == "changed"


PRINTED = "<title>Rope opens - Print</title><div><h1>Rope opens</h1>{}</div>"


def _judged(judge: Judge, number: int, frame: str, texts: list[str], more: str = "") -> Verdict:
    """A page in this frame, and an item with the texts and what a loose selector takes in, too."""
    html = frame.format("".join(f"<p>{text}" for text in texts) + more)
    taken_in = map(str, lxml.html.fromstring(f"<p>{more}").itertext())
    item = {"text": "\n".join([*texts, *taken_in])}
    return judge.judge(f"http://a.example/{number}", html, item)


LONG_STORY = [*STORY, *(STORY[0].replace("hall 0", f"house {n}") for n in range(400))]


@pytest.mark.parametrize(("story", "is_printed_first"), [(STORY, 1), (STORY, 0), (LONG_STORY, 1)])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "The museum closed an hour after this report appeared, said its director."),
        ("", "Update, 18:40: the museum closed an hour after this report appeared."),
        ("", "馆长周五宣布辞职。"),
        ("as long as 25 ships", "as long as 52 ships"),
        ("hall 7 ", "cellar 7 "),
    ],
)
def test_an_update_in_another_template_is_kept(
    old: str, new: str, story: list[str], is_printed_first: bool
) -> None:
    """What the spider scraped of it isn't in the old print view; that of the same text is."""
    updated = [text.replace(old, new) for text in story] if old else [*story, new]
    first, second = (PRINTED, FRAME) if is_printed_first else (FRAME, PRINTED)
    with Judge() as judge:
        _judged(judge, 1, first, story)
        copy, update = _judged(judge, 2, second, story), _judged(judge, 3, second, updated)
    assert copy.dropped
    assert (update.dropped, update.rejected_by, update.differing_fields) == (
        False,
        "fields",
        ("text",),
    )


def _crawled(more: Callable[[int], str]) -> tuple[int, bool]:
    """How many copies of 60 stories come out, and whether an update at the end does."""
    kept = 0
    with Judge() as judge:
        for n in range(60):
            story = [text.replace("hall", f"house {n}{n}, hall") for text in STORY]
            _judged(judge, 3 * n, PRINTED, story)
            kept += not _judged(judge, 3 * n + 1, FRAME, story, more(n)).dropped
        story.append("The museum closed an hour after this report appeared, said its director.")
        return kept, not _judged(judge, 3 * n + 2, FRAME, story, more(n)).dropped


def test_a_sentence_that_copies_in_two_templates_repeat_is_none_of_theirs() -> None:
    assert _crawled(lambda _: "<p>Ann Ford has written for the Post since 2011.") == (8, True)


def test_texts_of_copies_that_all_differ_say_nothing() -> None:
    """A selector that takes in a box: eight copies come out, and then what was so before."""
    assert _crawled(lambda n: f"<p>Our offer of {n} o'clock costs {n + 7} euros.") == (8, False)


@pytest.mark.parametrize(
    ("copies", "more", "replaced", "is_out"),
    [
        (9, "", 1, True),
        (3, "", 1, False),
        (9, "by Jo", 1, False),
        (0, "", 0, True),
        (9, "by Jo", 0, False),
    ],
)
def test_an_update_is_kept_beside_a_reprint_of_a_site_that_edits_none(
    copies: int, more: str, replaced: int, is_out: bool
) -> None:
    """Whether it does is known of eight reprints at least; until then the fuller text is kept."""
    with Judge() as judge:
        for n in range(copies):
            story = [text.replace("hall", f"house {n}{n}, hall") for text in STORY]
            reprint = [f"{story[0][:-1]} {n}{n} {more}.", *story[1:]] if more else story
            html = PRINTED.format("".join(f"<p>{text}" for text in reprint))
            judge.judge(f"http://wire.example/{n}", html, {"text": "\n".join(reprint)})
            assert _judged(judge, n, FRAME, story).dropped
        if not copies:
            story = [*STORY]
            html = PRINTED.format("".join(f"<p>{text}" for text in story))
            judge.judge("http://wire.example/", html, {"text": "\n".join(story)})
        # The store remembers; this run has seen no first copy of the story.
        judge.memory = RunMemory(None)
        story[len(story) - replaced :] = [
            "The museum closed an hour after this report appeared, said its director."
        ]
        assert _judged(judge, copies, FRAME, story).dropped is not is_out


@pytest.mark.parametrize(
    ("begin", "is_out"),
    [
        ("OBAN, Nov 27 (Harbour Post) - ", False),
        ("(AP) — ", False),
        ("（来源：海港日报）", False),
        ("新华社北京11月27日电（记者王明）", False),
        ("Two dead (one a child) in a fire: ", True),
        ("Two dead – ", True),
        ("(Sold out) ", True),
        ("全市停电，", True),
    ],
)
def test_a_dateline_is_no_new_sentence(begin: str, is_out: bool) -> None:
    with Judge() as judge:
        for n in range(10):
            story = [text.replace("hall", f"house {n}{n}, hall") for text in STORY]
            html = PRINTED.format("".join(f"<p>{text}" for text in story))
            judge.judge(f"http://wire.example/{n}", html, {"text": "\n".join(story)})
            judge.memory = RunMemory(None)
            story[0] = f"{begin if n == 9 else ''}{story[0]}"
            assert _judged(judge, n, FRAME, story).dropped is not (is_out and n == 9)


@pytest.mark.parametrize("css", ["article p::text", "article ::text"])
@pytest.mark.parametrize(("old", "new"), [("", ""), ("ships", "boats"), ("20", "21")])
def test_a_sentence_that_is_glued_to_a_byline_counts(css: str, old: str, new: str) -> None:
    body = "".join(f"<p>{text}</p>" for text in STORY[1:])

    def judged(judge: Judge, url: str, frame: str, lead: str) -> bool:
        html = frame.format(f"<article><p>By <b>Ann Ford</b></p><p>{lead}</p>{body}</article>")
        text = " ".join(scrapy.Selector(text=html).css(css).getall())
        return judge.judge(url, html, {"text": text}).dropped

    with Judge() as judge:
        assert not judged(judge, "http://a.example/print/1", PRINTED, STORY[0])
        lead = STORY[0].replace(old, new)
        assert judged(judge, "http://a.example/new-1", FRAME, lead) is (old == new)


@pytest.mark.parametrize(
    "linked",
    [
        "The council met <a>on Monday</a> in the hall. It voted for a bridge over the river Ruhr.",
        "The council met in the <a>old hall</a>. It voted for a bridge over the river Ruhr.",
        "It was led by Dr. Silvia <a>S.</a> Martins, who has led it since nineteen ninety eight.",
        "The council met in the hall. <a>It voted.</a> A bridge will be built over the river Ruhr.",
    ],
)
def test_the_words_of_links_that_p_text_leaves_out_are_no_news(linked: str) -> None:
    """A print view has them without a link."""

    def judged(judge: Judge, url: str, frame: str, more: str) -> bool:
        html = frame.format("".join(f"<p>{each}</p>" for each in (*STORY, more, *STORY[:2])))
        text = "\n".join(scrapy.Selector(text=html).css("p::text").getall())
        return judge.judge(url, html, {"text": text}).dropped

    with Judge() as judge:
        assert not judged(judge, "http://a.example/1", FRAME, linked)
        assert judged(judge, "http://a.example/print/1", PRINTED, re.sub("</?a>", "", linked))
        news = f"{re.sub('</?a>', '', linked)} Two members left the room before they did."
        assert not judged(judge, "http://a.example/2", FRAME, news)


@pytest.mark.parametrize(
    ("sentence", "blank"),
    [
        ("The rope of hall {} is as long as {}0 ships.", " "),
        ("第{}号大厅的绳子和{}0艘船一样长。", ""),
    ],
)
def test_a_text_that_is_cut_is_no_copy_of_the_whole_one(sentence: str, blank: str) -> None:
    """Of a page that says all in one paragraph, too."""
    said = [sentence.format(n, n) for n in range(10, 40)]
    html, text = f"<p>{blank.join(said)}</p>", blank.join(said)
    with Judge() as judge:
        assert not judge.judge(A, FRAME.format(html), {"text": blank.join(said[:-1])}).dropped
        assert not judge.judge(B, PRINTED.format(html), {"text": text}).dropped


def test_a_sentence_is_not_said_where_the_next_one_is_that_begins_so() -> None:
    """Of results, of weather, of laws."""
    said = [f"Team {n} beat Team {n + 1} by {n} goals to nil in the {n}th game." for n in range(40)]
    html = f"<p>{' '.join(said)}</p>"
    with Judge() as judge:
        text = " ".join([*said[:20], *said[21:]])
        assert not judge.judge(A, FRAME.format(html), {"text": text}).dropped
        assert not judge.judge(B, PRINTED.format(html), {"text": " ".join(said)}).dropped


def test_what_parts_a_value_from_the_next_is_none_of_it() -> None:
    for one, other in (("Ann Ford", "Ann Ford, "), ("| Sport", "Sport")):
        beside = "Ann Ford, 3 May | Sport"
        assert second((beside, {"by": one}), (beside, {"by": other})).dropped
    assert not second(("<b>|</b>", {"level": "|"}), ("<b>||</b>", {"level": "||"})).dropped


@pytest.mark.parametrize("blank", ["\u2028", "\x0b", "\x1c", "\x85", "\t", "\r"])
def test_a_sentence_that_no_page_shows_may_have_any_blanks(blank: str) -> None:
    html = FRAME.format("".join(f"<p>{text}" for text in STORY))
    text = f"{' '.join(STORY)} Nowhere{blank}to be seen, said{blank}the pilot!"
    with Judge() as judge:
        assert not judge.judge("http://a.example/1", html, {"text": text}).dropped


def test_words_that_selectors_join_otherwise_are_no_new_sentences() -> None:
    """The first text is the second one without the blanks between the paragraphs."""
    with Judge() as judge:
        for n in range(12):
            story = [text.replace("hall", f"house {n}{n}, hall") for text in STORY]
            for path, frame, sign in (("print", PRINTED, ""), ("a", FRAME, " ")):
                html = frame.format("<p>By Ann Ford</p>" + "".join(f"<p>{x}</p>" for x in story))
                item = {"text": sign.join(["By Ann Ford", *story])}
                judge.judge(f"http://a.example/{path}/{n}", html, item)
            judge.memory = RunMemory(None)
        story.append("The museum closed an hour after this report appeared, said its director.")
        assert not _judged(judge, 99, FRAME, story).dropped


def test_bylines_and_links_of_a_text_are_no_sentences() -> None:
    kept, is_out = _crawled(lambda n: f"<p>By Ann Ford {n}<p><a href=/{n}>Read also: Rope {n}</a>")
    assert (kept, is_out) == (0, True)


def test_of_many_sentences_those_that_both_texts_chose_are_compared() -> None:
    least, others = range(MOST_SENTENCES), range(1, 2 * MOST_SENTENCES, 2)
    mine, its, marked = (
        b"".join(struct.pack(">HH", each, 0) for each in blocks)
        for blocks in (least, others, [each | MAIN for each in least])
    )
    assert new_sentences(mine, its) == frozenset()  # none of them counts
    assert new_sentences(marked, its) == frozenset(least[::2])
    assert new_sentences(marked, its[:40]) == frozenset(least).difference(range(1, 20, 2))


@pytest.mark.parametrize(
    ("before", "after", "is_out"),
    [
        ("Seven people were hurt, and 12 died.", "Seven people were hurt, and 15 died.", True),
        ("It costs 1,200.50 euros a year.", "It costs 900 euros a year.", True),
        ("事故造成12人死亡，7人受伤。", "事故造成15人死亡，7人受伤。", True),
        ("Seven people were hurt, and 12 died.", "Seven people were hurt, and many died.", False),
        ("Seven people were hurt, and 12 died.", "Seven were hurt there, and 15 died.", False),
        ("It opens on 5 May 2025 at noon.", "It opens on 5 May 2025, at noon.", False),
    ],
)
def test_other_numbers_of_another_site_s_report_are_news(
    before: str, after: str, is_out: bool
) -> None:
    """Its words may be edited; how often is known of eight copies at least."""

    def judged(judge: Judge, url: str, frame: str, more: str) -> bool:
        html = frame.format("".join(f"<p>{text}" for text in [*STORY, more]))
        return judge.judge(url, html, {"text": "\n".join([*STORY, more])}).dropped

    with Judge() as judge:
        assert not judged(judge, "http://a.example/1", FRAME, before)
        assert judged(judge, "http://wire.example/1", PRINTED, after) is not is_out


FRAME = (
    "<header><nav><ul><li><a href=/>Home</a><li><a href=/s>Sport</a></ul></nav></header><main>"
    "<article><header><h1>Update: Rope opens</h1></header><section>{}</section></article></main>"
    "<aside><h2>More</h2><ul><li><a href=/1>One</a></ul></aside><footer><p>Imprint</footer>"
)


def test_booleans_of_two_templates_differ_for_no_reason() -> None:
    """Whether it has an image, say: an AMP page has none."""
    items = [{"colour": "red", "image": one, "tags": one} for one in (True, False)]
    with Judge(options=Options(min_tokens=20)) as judge:
        judge.judge(A, page("<p>red"), items[0])
        assert judge.judge(B, BARE % "red", items[1]).rejected_by != "fields"


@pytest.mark.parametrize(("fields", "is_kept"), [((), False), (("+in_stock",), True)])
def test_a_boolean_that_is_asked_for_counts_where_a_form_is_missing(
    fields: tuple[str, ...], is_kept: bool
) -> None:
    """Their structures are 7 bits apart, as a print view's may be: others don't count then."""
    with Judge(options=Options(item_fields=fields)) as judge:
        judge.judge(A, page(f"<form><input><button>Buy</button></form>{_ROWS}"), {"in_stock": True})
        verdict = judge.judge(B, page(f"<p>Sold out{_ROWS}"), {"in_stock": False})
    assert (verdict.dropped, verdict.structure_distance) == (not is_kept, 7)


@pytest.mark.parametrize(("fields", "is_kept"), [((), False), (("+stock",), True)])
def test_a_zero_that_is_asked_for_counts_there_too(fields: tuple[str, ...], is_kept: bool) -> None:
    with Judge(options=Options(item_fields=fields)) as judge:
        judge.judge(A, page(f"<form><input><button>Buy</button></form>{_ROWS}"), {"stock": 12})
        verdict = judge.judge(B, page(f"<p>Sold out{_ROWS}"), {"stock": 0})
    assert verdict.dropped == (not is_kept)


def test_a_field_is_added_to_those_that_count() -> None:
    """Its values needn't be on the page; the other fields count as before."""
    with Judge(options=Options(item_fields=("+rating",))) as judge:
        judge.judge(A, page("<p>red"), {"colour": "red", "rating": {"stars": 3}, "run": 1})
        four = {"colour": "red", "rating": {"stars": 4}, "run": 2}
        assert judge.judge(B, page("<p>red"), four).differing_fields == ("rating.stars",)
        blue = {"colour": "blue", "rating": {"stars": 3}, "run": 3}
        assert judge.judge(C, page("<p>blue"), blue).differing_fields == ("colour",)
        same = {"colour": "red", "rating": {"stars": 3}, "run": 3}
        assert judge.judge(D, page("<p>red"), same).dropped


@pytest.mark.parametrize(
    ("one", "two", "differ"),
    [
        ("InStock", "SoldOut", True),
        ("有货", "缺货", True),
        (3, 4, True),
        (1.5, 1.25, True),
        ("2026-11-03 12:13:14", "2026-11-04 12:13:15", False),  # made of "3 days ago"
        (str(date.today()), str(date.today() + timedelta(days=1)), False),
        ("https://cdn.example.org/red.jpg?w=9", "https://cdn.example.org/blue.jpg?w=9", True),
        ("https://cdn.example.org/red.jpg?w=8", "https://cdn.example.org/red.jpg?w=9", False),
    ],
)
def test_what_no_page_shows_counts_in_one_template(one: object, two: object, differ: bool) -> None:
    """What a spider makes of a class or a picture; a print view may say other things."""
    with Judge() as judge:
        judge.judge(A, page("<p class=on>red"), {"colour": "red", "state": one})
        verdict = judge.judge(B, page("<p class=off>red"), {"colour": "red", "state": two})
        assert verdict.rejected_by == ("fields" if differ else None)
        assert judge.judge(C, BARE % "red", {"colour": "red", "state": two}).dropped


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("<a class='pdf' href='/a.pdf'>Get</a>", "<a class='pdf' href='/b.pdf'>Get</a>"),
        ("<i class='stars Three'></i>", "<i class='stars Four'></i>"),
        ("List<User>", "List<Order>"),
        ("In <body> a red rope", "In <body> a blue rope"),
        ("Caf\ufffd with 12 tables", "Caf\ufffd with 14 tables"),
        ("https://a.example.org/en", "https://b.example.net/en"),
        ("https://tube.example.org/watch?v=1", "https://tube.example.org/watch?v=2"),
        ("/manual/get?file=77&lang=en", "/manual/get?file=78&lang=en"),
        ("/apply?job=881", "/apply?job=882"),
        ("/get?file=a.pdf", "/get?file=b.pdf"),
        ("Today, 14:30", "Today, 15:30"),
        ("今天 14:30", "今天 15:30"),
    ],
)
def test_what_is_in_a_tag_a_link_or_beside_a_day_counts(one: str, two: str) -> None:
    shown = [
        f"<p>{html.escape(each) if each[:1] != '<' and '<' in each else each}"
        for each in (one, two)
    ]
    shown = [f"{each}<a href='{each[3:]}'>x</a>" if "://" in each else each for each in shown]
    verdict = second(
        (shown[0], {"title": "Runner", "what": one}), (shown[1], {"title": "Runner", "what": two})
    )
    assert verdict.differing_fields == ("what",)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("<img src='/a.jpg?w=1'>", "<img src='/a.jpg?w=2'>"),
        (
            f"https://cdn.example.org/a?token={'x' * 40}",
            f"https://cdn.example.org/a?token={'y' * 40}",
        ),
        ("/manual/get?of=1", "/manual/get?of=2"),  # of their pages, /1 and /2
        ("/manual/get?utm_source=feed", "/manual/get?utm_source=mail"),
        ("/manual/get?v=1700000000", "/manual/get?v=1700000077"),
        ("/manual/get?session_id=8f3ab", "/manual/get?session_id=9d3aa"),
        ("/manual/get?ref=list", "/manual/get?ref=tile"),
        ("<p>12 comments</p>", "<p>13 comments</p>"),
        (["/a.jpg?token=1", "/b.jpg?token=1"], ["/a.jpg?token=2", "/b.jpg?token=2"]),
    ],
)
def test_what_copies_have_in_tags_and_links_says_nothing(one: Any, two: Any) -> None:
    lists = [[value] if isinstance(value, str) else value for value in (one, two)]
    shown = [
        "".join(each if "<" in each else f"<a href='{each}'>x</a>" for each in of) for of in lists
    ]
    items = [{"title": "Runner", "what": each} for each in (one, two)]
    assert second((shown[0], items[0]), (shown[1], items[1])).dropped


@pytest.mark.parametrize(("total", "shown"), [(30, 5), (60, 25), (200, 60)])
def test_a_sentence_behind_a_wall_counts_however_much_is_before_it(total: int, shown: int) -> None:
    """The page's data have the whole text, which was scraped."""
    said = [
        f"The rope of hall {n} is as long as {n + 20} ships and {n + 30} barges."
        for n in range(total)
    ]
    edited = [*said[:-9], "Nine people were hurt; the hall stays closed until spring.", *said[-9:]]
    with Judge() as judge:
        verdicts = [
            judge.judge(
                url,
                "<title>Rope</title><script type='application/ld+json'>"
                f"{json.dumps(' '.join(text))}</script>"
                f"<article><h1>Rope</h1><p>{' '.join(text[:shown])}</article>",
                {"title": "Rope", "text": " ".join(text)},
            )
            for url, text in ((A, said), (A, edited), (B, said))
        ]
    assert [one.reason for one in verdicts[:2]] == ["new", "changed"]
    assert verdicts[2].rejected_by == "fields"


@pytest.mark.parametrize("order", [(1, 2, 3), (2, 1, 3), (3, 2, 1)])
def test_a_value_counts_beside_one_that_its_address_has_by_chance(order: tuple[int, ...]) -> None:
    """A rating of 2 at the second variant's address; parts of two addresses say nothing."""
    ratings = {1: 4, 2: 2, 3: 5}
    with Judge() as judge:
        for number in order:
            item = {"title": "Runner", "rating": ratings[number], "variant": number}
            assert not judge.judge(f"http://a.example/p?v={number}", page(), item).dropped
        copy = {"title": "Runner", "rating": 4, "variant": 7}
        assert judge.judge("http://a.example/p?v=7", page(), copy).dropped


def test_a_known_page_that_becomes_as_another_comes_out() -> None:
    """A sale that ends leaves a variant as its sister is."""
    items = [{"title": "Runner", "on_sale": sale} for sale in (False, True)]
    with Judge(unchanged="drop") as judge:
        for url, item in zip((A, B), items, strict=True):
            assert not judge.judge(url, page("<p>red"), item).dropped
        assert judge.judge(B, page("<p>red"), items[0]).reason == "changed"
        assert [judge.judge(url, page("<p>red"), items[0]).reason for url in (A, B)] == [
            "unchanged",
            "unchanged",
        ]


def test_so_it_does_after_many_edits() -> None:
    """Each night's is stored beside the others."""
    now = time.time()
    with open_store("memory:") as store:
        for night in range(12):
            run = Judge(
                store, repeats_since=now + night * 100, clock=partial(int, now + night * 100 + 50)
            )
            edit = page(text=f"Correction {night}: not on day {night}. {SHOE}")
            urls = [f"{A}?utm_campaign={night}-{n}" for n in range(2)]
            reasons = [run.judge(url, edit).reason for url in urls]
            assert reasons == ["changed" if night else "new", "address"]


@pytest.mark.parametrize(("edited", "reason"), [(True, "changed"), (False, "address")])
def test_an_edit_comes_out_at_another_tracking_address(edited: bool, reason: str) -> None:
    """Once in each run; what is as it was is a copy."""
    texts = SHOE, f"Correction: not on Tuesday. {SHOE}" if edited else SHOE
    with open_store("memory:") as store:
        first = Judge(store, repeats_since=time.time() - 100, clock=lambda: time.time() - 50)
        first.judge(f"{A}?utm_campaign=1", page(text=texts[0]))
        second = Judge(store, repeats_since=time.time() - 10)
        reasons = [
            second.judge(f"{A}?utm_campaign={n}", page(text=texts[1])).reason for n in (2, 3)
        ]
        assert reasons == [reason, "address"]


def test_an_option_counts_though_its_address_has_it() -> None:
    """Its text stands alone between two tags; that of a script is a number of the page's own."""
    urls = "http://a.example/boot?size=41", "http://a.example/boot?size=42"
    items = [{"title": "Runner", "size": size} for size in ("41", "42")]
    select = "<select><option>41</option><option>42</option></select>"
    assert second((select, items[0]), (select, items[1]), urls).differing_fields == ("size",)
    scripts = [f'<script>{{"size": "{size}"}}</script>' for size in (41, 42)]
    assert second((scripts[0], items[0]), (scripts[1], items[1]), urls).dropped


@pytest.mark.parametrize("name", ["position", "crawled", "item.wordCount", "http_referer", "排名"])
def test_what_crawls_add_counts_nowhere(name: str) -> None:
    """But where it stands on the page."""
    with Judge() as judge:
        judge.judge(A, page("<p>red"), {"colour": "red", name: "1st"})
        assert judge.judge(B, page("<p>red"), {"colour": "red", name: "2nd"}).dropped
    with Judge() as judge:
        judge.judge(C, page("<p>red, the 3rd"), {"colour": "red", name: "3rd"})
        fourth = judge.judge(D, page("<p>red, the 4th"), {"colour": "red", name: "4th"})
        assert fourth.rejected_by == "fields"


@pytest.mark.parametrize(
    ("one", "two", "differ"),
    [
        (
            [{"size": "M", "cm": 60}, {"size": "L", "cm": 80}],
            [{"size": "M", "cm": 80}, {"size": "L", "cm": 60}],
            True,
        ),
        (
            [{"size": "M", "cm": 60}, {"size": "L", "cm": 80}],
            [{"size": "L", "cm": 80}, {"size": "M", "cm": 60}],
            False,
        ),
        (
            [{"day": "Mon", "hours": [9, 17]}, {"day": "Sun", "hours": [10, 12]}],
            [{"day": "Mon", "hours": [10, 12]}, {"day": "Sun", "hours": [9, 17]}],
            True,
        ),
        (
            [{"size": "M", "sold": True}, {"size": "L", "sold": False}],
            [{"size": "M", "sold": False}, {"size": "L", "sold": True}],
            True,
        ),
        (
            [{"size": z, "in": [{"cm": x}, {"cm": y}]} for z, x, y in (("M", 60, 8), ("L", 80, 9))],
            [{"size": z, "in": [{"cm": x}, {"cm": y}]} for z, x, y in (("L", 60, 8), ("M", 80, 9))],
            True,
        ),
        ([2, 1], [1, 2], True),
        ((60, 80), (80, 60), True),
        ({60, 80}, {80, 60}, False),
        ([[1, 2], [3, 4]], [[3, 2], [1, 4]], True),
        ([7], 7, False),
        ([True, False], [False, True], True),
    ],
)
def test_what_is_in_a_list_counts_with_its_place_or_dict(
    one: object, two: object, differ: bool
) -> None:
    """The dicts of a list may be in any order."""
    with Judge() as judge:
        beside = f"<p>{' '.join(map(str, range(100)))} M L Mon Sun"
        judge.judge(A, page(beside), {"colour": "red", "sizes": one})
        verdict = judge.judge(B, page(beside), {"colour": "red", "sizes": two})
    assert verdict.rejected_by == ("fields" if differ else None)


def test_a_default_is_no_value_beside_one_in_another_template() -> None:
    with Judge() as judge:
        judge.judge(A, page("<p>red"), {"colour": "red", "by": "unknown"})
        assert judge.judge(B, BARE % "red Jane", {"colour": "red", "by": "Jane"}).dropped


def test_a_list_of_which_a_page_shows_a_part_counts_there_too() -> None:
    sizes = "77 88", "77 99"
    with Judge() as judge:
        judge.judge(A, page(f"<p>red {sizes[0]}"), {"a": "red", "s": [77, 88, 12345], "n": "88"})
        other = {"a": "red", "s": [77, 99, 12345], "n": "99"}
        assert judge.judge(B, BARE % f"red {sizes[1]}", other).differing_fields == ("n", "s")


def test_a_word_is_the_same_on_a_page_and_on_none() -> None:
    with Judge() as judge:
        judge.judge(A, page("<p>red"), {"colour": "red", "by": "crawler"})
        assert judge.judge(B, page("<p>red crawler"), {"colour": "red", "by": "crawler"}).dropped


@pytest.mark.parametrize(
    ("yesterday", "today", "changed"),
    [
        ({"sale": 19.0}, {"sale": None}, True),
        ({"sale": None}, {"sale": 19.0}, True),
        ({"off": 0.1}, {"off": 0.15}, True),
        ({"grams": 1500}, {"grams": 1200}, True),
        ({"state": "NewCondition"}, {"state": "UsedCondition"}, True),
        ({"depth": 7}, {"depth": 8}, False),
    ],
)
def test_a_known_page_has_changed_if_a_value_came_or_went(
    yesterday: dict[str, Any], today: dict[str, Any], changed: bool
) -> None:
    """In a box of its own, too: the structures may be far from each other."""
    box = f"<table><tr><th>Sale<td>19.00<td>10 % off<td>1.5 kg</table>{_ROWS}"
    other_box = f"<table><tr><th>Sale<td>19.00<td>15 % off<td>1.2 kg</table>{_ROWS}"
    pages = [box if yesterday.get("sale") else _ROWS, other_box if today.get("sale") else _ROWS]
    if "sale" not in today:
        pages = [box, other_box]
    with Judge(unchanged="drop") as judge:
        judge.judge(A, page(pages[0]), {"colour": "red", **yesterday})
        verdict = judge.judge(A, page(pages[1]), {"colour": "red", **today})
    assert verdict.reason == ("changed" if changed else "unchanged")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The motion passed by 234 votes to 198.", "The motion passed by 204 votes to 198."),
        ("Ford has 12 votes, Lund 9 votes.", "Ford has 12 votes, Lund 19 votes."),
        ("The quake struck 20 minutes ago.", "The quake struck 50 minutes ago."),
        ("救援人员3小时前抵达现场。", "救援人员5小时前抵达现场。"),
    ],
)
@pytest.mark.parametrize("address", [A, B])
def test_a_number_in_a_sentence_is_no_counter(one: str, two: str, address: str) -> None:
    with Judge(unchanged="drop") as judge:
        judge.judge(A, page(text=f"{SHOE}</p><p>{one}"), {"text": f"{SHOE}\n{one}"})
        verdict = judge.judge(address, page(text=f"{SHOE}</p><p>{two}"), {"text": f"{SHOE}\n{two}"})
    assert not verdict.dropped


def test_a_counter_behind_a_comma_is_none_of_a_sentence() -> None:
    with Judge(unchanged="drop") as judge:
        for line in ("By our staff, 5 hours ago.", "By our staff, 1 day ago."):
            verdict = judge.judge(A, page(text=f"{line}</p><p>{SHOE}"), {"text": f"{line}\n{SHOE}"})
    assert verdict.reason == "unchanged"


@pytest.mark.parametrize("field", ["+run", "run"])
def test_a_field_that_is_added_later_counts_from_then_on(field: str) -> None:
    """No page that was stored before says it, so each comes out once more."""
    one, two = ({"colour": "red", "run": n} for n in (71, 72))
    with open_store("memory:") as store:
        first = Judge(store, unchanged="drop")
        assert not first.judge(A, page("<p>red"), one).dropped
        assert first.judge(B, page("<p>red"), two).dropped
        later = Judge(store, unchanged="drop", item_fields=(field,))
        assert later.judge(B, page("<p>red"), two).rejected_by == "fields"
        assert later.judge(A, page("<p>red"), one).reason == "changed"
        assert later.judge(A, page("<p>red"), one).reason == "unchanged"


def test_of_two_sites_the_texts_decide() -> None:
    urls = (A, "http://b.example/1")
    assert second(("<p>red", {"c": "red"}), ("<p>blue", {"c": "blue"}), urls).dropped


BOXES = [prose(f"box {n}") for n in range(3)]


def test_an_equal_long_text_is_a_copy_whatever_stands_beside() -> None:
    """Also if the item holds the raw page, in a field of any name."""
    with Judge() as judge:
        first = page(f"<p>{BOXES[0]}", LONG)
        raw = f"<!doctype html>{first}"
        judge.judge(A, first, {"title": "Runner", "body": LONG, "raw": raw})
        spaced = {"title": "runner", "body": LONG.replace(" ", "\n "), "raw": f"{raw}<p>{BOXES[1]}"}
        found = judge.judge(B, page(f"<p>{BOXES[1]}", LONG), spaced)
        assert (found.dropped, found.reason, found.twin_url) == (True, "item", A)
        other = page(f"<p>{BOXES[2]}", LONG, "Walker")
        named = judge.judge(f"{B}b", other, {"title": "Walker", "body": LONG})
        assert not named.dropped


@pytest.mark.parametrize(
    ("common", "other", "title", "dropped"),
    [
        (20, 12, "Runner", True),
        (20, 12, "Walker", False),
        (0, 90, "Runner", False),  # what all pages have, such as a consent box
    ],
)
def test_a_text_that_is_a_part_of_its_page_is_a_copy_if_nothing_scraped_differs(
    common: int, other: int, title: str, dropped: bool
) -> None:
    """Its pages have the text, what both say, and what each says for itself."""
    body = " ".join(f"sentence {n} of this body." for n in range(18))

    def shown(own: str) -> str:
        lines = [*(f"c{n}" for n in range(common)), *(f"{own}{n}" for n in range(other))]
        more = "".join(f"<p>{prose(line)[:90]}</p>" for line in lines)
        return f"<title>Runner</title><main><h1>Runner</h1><p>{body}</p>{more}</main>"

    with Judge() as judge:
        assert not judge.judge(A, shown("a"), {"title": "Runner", "body": body}).dropped
        second = shown("b").replace("Runner", title)
        verdict = judge.judge(B, second, {"title": title, "body": body})
        assert (verdict.dropped, judge.judge(f"{B}3", second).dropped) == (dropped, not dropped)


def article(said: str, beside: str = "", counts: str = "") -> tuple[str, dict[str, str]]:
    """A page with a box beside its article, and an item with all that is in both."""
    html = f"<title>Storm</title><main><h1>Storm</h1><p>{counts}</p>{said}</main>"
    text = " ".join(re.sub("<[^>]+>", " ", f"{counts} {said} {beside}").split())
    return f"{html}<aside>{beside}</aside>", {"title": "Storm", "story": text}


@pytest.mark.parametrize(
    ("other", "beside", "differ"),
    [
        (f"<p>{LONG}</p><p>Two ferries are missing.</p>", "", True),
        (f"<p>{LONG.replace('sentence 30 of', 'sentence 31 of')}</p>", "", True),
        (f"<p>{LONG}</p>", "Most read: ten tips for the garden", False),
        (f"<p>{LONG}</p>", "", False),
    ],
)
def test_a_text_counts_in_one_template_if_the_articles_differ(
    other: str, beside: str, differ: bool
) -> None:
    """A box that is scraped with the text is another one on each visit."""
    pages = article(f"<p>{LONG}</p>"), article(other, beside)
    with Judge() as judge:
        judge.judge(A, *pages[0])
        verdict = judge.judge(B, *pages[1])
    assert (verdict.rejected_by, verdict.differing_fields) == (
        ("fields", ("story",)) if differ else (None, ())
    )
    assert verdict.dropped is not differ


@pytest.mark.parametrize(
    ("later", "differs"),
    [
        ("/print", True),
        ("?view=2", True),
        ("?utm_source=mail", False),  # one page, fetched twice: such texts have adverts in them
    ],
)
def test_another_text_counts_at_another_address_that_declares_the_same(
    later: str, differs: bool
) -> None:
    """An update at the print view or behind a button: most pages declare one address for all."""
    link = f"<link rel=canonical href={A}>"
    body = f"<p>{LONG}</p>", f"<p>{LONG}</p><p>Two ferries are missing.</p>"
    with Judge() as judge:
        for url, said in ((A, body[0]), (A + later, body[1])):
            html, item = article(said)
            verdict = judge.judge(url, link + html, item)
    rejected_by = "fields" if differs else None
    assert (verdict.rejected_by, verdict.dropped) == (rejected_by, not differs)


@pytest.mark.parametrize("box", ["<aside>%s</aside>", "<div hidden>%s</div>"])
@pytest.mark.parametrize("url", [A, B])
def test_a_text_beside_the_article_counts_whatever_that_says(box: str, url: str) -> None:
    """A tab, notes or comments that are all that is scraped: the article speaks for none of them.

    Of one address, a known page has changed.
    """
    notes = prose("notes") * 2, prose("notes") + prose("other notes")
    with Judge() as judge:
        for address, said in ((A, notes[0]), (url, notes[1])):
            html = f"{page()}{box % said}"
            verdict = judge.judge(address, html, {"title": "Runner", "notes": said})
        assert (verdict.changed or verdict.differing_fields) == ("notes",)
        assert judge.judge(url, html, {"title": "Runner", "notes": notes[1]}).reason == "unchanged"


@pytest.mark.parametrize(
    ("note", "reason"),
    [("Correction: it was the other mayor.", "changed"), ("Most read today", "unchanged")],
)
def test_a_sentence_beside_the_article_changes_a_known_page(note: str, reason: str) -> None:
    """Scraped with the article, a correction below its box is news, and a line is a teaser."""
    with Judge() as judge:
        for more in ("", note):
            item = {"title": "Runner", "text": f"{LONG}\n{more}"}
            verdict = judge.judge(A, page(f"<p>{more}</p>", LONG), item)
    assert verdict.reason == reason


@pytest.mark.parametrize("url", [A, B])
@pytest.mark.parametrize(
    ("box", "is_html"), [("<aside><p>%s</p></aside>", True), ("<i data-text='%s'></i>", False)]
)
def test_a_text_that_the_article_does_not_hold_counts(box: str, is_html: bool, url: str) -> None:
    """As HTML, or begun in the article and whole in the source, as behind a paywall."""
    begin = SHOE[:120]
    with Judge() as judge:
        for address, end in ((A, "one"), (url, "another")):
            said = f"{begin} {prose('behind a wall')[:600]} This is its {end} end."
            said = prose(end)[:600] if is_html else said
            item = {"title": "Runner", "text": f"<p>{said}</p>" if is_html else said}
            verdict = judge.judge(address, page(box % said), item)
    assert (verdict.changed or verdict.differing_fields) == ("text",)


def test_a_text_of_countless_sentences_is_looked_for_in_bounded_time() -> None:
    said = " ".join(f"{n}." for n in range(300_000))
    with Judge() as judge:
        began = time.process_time()
        judge.judge(A, f"{page()}<aside>{said}</aside>", {"title": "Runner", "notes": said})
        assert time.process_time() - began < 10  # 2 seconds


def test_a_text_that_begins_with_counters_is_its_page_s() -> None:
    """As of all that is in an article, joined by spaces: a value of its own it is not."""
    pages = [
        article(f"<p>{LONG}</p>", counts=f"By Ann Ford {n} readers updated {hours} hours ago")
        for n, hours in ((1038, 3), (1977, 7))
    ]
    with Judge() as judge:
        judge.judge(A, *pages[0])
        assert judge.judge(B, *pages[1]).dropped


@pytest.mark.parametrize(
    ("later", "reason"),
    [({}, "unchanged"), ({"text": "A parka of wool, with one pocket."}, "changed")],
)
@pytest.mark.parametrize(
    ("says_its_text", "box"), [(True, "main"), (False, "main"), (False, "div")]
)
def test_a_short_page_is_unchanged_if_its_item_says_most_of_it_and_that_is_as_it_was(
    later: dict[str, str], reason: str, says_its_text: bool, box: str
) -> None:
    """Teasers are most of what such a page shows; without its text the page speaks, all of it.

    All that is in its only main box, if it has one.
    """
    item = {"title": "Runner", "text": "A parka of waxed cotton, with two pockets."}
    with Judge() as judge:
        for day, said in ((1, item), (2, item | later)):
            teasers = "".join(f"<p>{prose(f'{day} {n}')[:90]}</p>" for n in range(8))
            scraped = said if says_its_text else {"title": "Runner"}
            html = page(teasers, said["text"]).replace("main>", f"{box}>")
            verdict = judge.judge(A, html, scraped)
    assert verdict.reason == (reason if says_its_text or box == "main" else "changed")


@pytest.mark.parametrize(
    ("field", "changes"), [("price", [False, True, True]), ("place", [True, True, True])]
)
def test_a_known_thing_is_as_its_item_says_that_has_a_price(
    field: str, changes: list[bool]
) -> None:
    """Whatever is recommended beside it; its title counts, and each value."""
    item = {"title": "Runner", "text": "A parka of waxed cotton, with two pockets.", field: "77"}
    nights = [("1", {}), ("2", {}), ("3", {"text": "A parka of wool."}), ("4", {field: "88"})]
    with Judge() as judge:
        found = []
        for night, more in nights:
            said = item | more
            boxes = "".join(f"<p>{prose(f'{night} {n}')[:90]}</p>" for n in range(8))
            html = f"<h1>Runner</h1><b>{said[field]}</b><p>{said['text']}</p>{boxes}"
            found.append(judge.judge(A, f"<title>Runner</title><div>{html}</div>", said).reason)
    assert found == ["new", *("changed" if each else "unchanged" for each in changes)]


def test_a_known_page_is_changed_by_a_price_and_not_by_a_box() -> None:
    item = {"title": "Runner", "body": LONG, "price": "9.90"}
    with Judge() as judge:
        found = [
            judge.judge(A, page(f"<p>{box}<b>{price}</b>", LONG), {**item, "price": price}).reason
            for box, price in zip(BOXES, ("9.90", "9.90", "8.90"), strict=True)
        ]
    assert found == ["new", "unchanged", "changed"]


def test_a_second_long_text_counts_to_its_end() -> None:
    """As a table of specifications, whose last line alone differs."""
    with Judge() as judge:
        for url, size in ((A, 41), (B, 42)):
            specs = f"{prose('specs')[:400]} size {size}"
            item = {"title": "Runner", "body": LONG, "specs": specs}
            verdict = judge.judge(url, page(f"<p>{specs}", LONG), item)
            assert not verdict.dropped
    assert verdict.differing_fields == ("specs",)


def test_of_two_long_texts_of_one_length_the_same_is_the_page_s_in_any_order() -> None:
    one, two = (" ".join(f"{word} {n} of this text." for n in range(60)) for word in ("red", "box"))
    shown = page(f"<p>{one}<p>{two}", "")
    assert said_on(shown, {"a": one, "b": two}) == said_on(shown, {"b": two, "a": one})


SHELLS: list[Callable[[str], str]] = [
    lambda data: f"<script id=__NEXT_DATA__ type=application/json>{data}</script>",
    lambda data: f"<script>window.__STATE__ = {data.replace('/', chr(92) + '/')}</script>",
    lambda data: f'<div id=app data-props="{html.escape(data)}"></div>',
    lambda data: f"<script>{data.replace('<', chr(92) + 'u003c')}</script>",
    lambda data: "<script src=/app.js></script>",  # the data came of an API
]


@pytest.mark.parametrize("shell_of", SHELLS)
@pytest.mark.parametrize("fields", [("title",), ("title", "price"), ("title", "body")])
def test_shells_are_told_apart_by_what_their_data_says(
    shell_of: Callable[[str], str], fields: tuple[str, ...]
) -> None:
    with Judge() as judge:
        for n in range(6):
            known = {
                "title": f'The "{n}th" <i>a/b</i>',
                "price": 9.5 + n,
                "body": prose(f"story {n}"),
            }
            story = {name: known[name] for name in fields}
            shell = f"<title>App</title><p>Loading</p>{shell_of(json.dumps(known))}"
            source = Source(shell, f"{A}/{n}")
            heard = with_values(source, story, Options())
            assert heard.item is not None
            heard = heard._replace(is_response=True)
            page_of_shell = Fingerprinter().fingerprint(shell)
            said_of_it = said_by(page_of_shell, heard)
            assert not judge.judge(f"{A}/{n}", page_of_shell, said_of_it).dropped
            if "body" not in fields:
                continue
            copy = judge.judge(f"{B}/{n}", page_of_shell, said_of_it)
            assert (copy.dropped, copy.twin_url) == (True, f"{A}/{n}")


def test_jobs_of_one_scraped_text_are_two_if_title_and_page_name_two_places() -> None:
    """Though what was scraped is equal, the heading too."""
    advert = f"<p>{SHOE} {LONG_STORY[0]} {LONG_STORY[1]} {LONG_STORY[2]} {LONG_STORY[3]}"
    item = {"title": "Nurse", "text": advert.removeprefix("<p>")}
    verdicts: list[str] = []
    with Judge() as judge:
        for place in ("Arlen", "Esker", "Arlen"):
            shown = f"<h1>Nurse</h1><p>Place of work: {place}</p>{advert}"
            html = f"<title>Nurse, {place}</title><main>{shown}"
            url = f"http://a.example/{place}-{len(verdicts)}"
            verdicts.append(judge.judge(url, html, item).reason)
        again = judge.judge("http://a.example/jobs/Esker-1?from=mail", html, item)
    assert verdicts == ["new", "near miss", "item"]
    assert again.dropped


def test_names_of_one_text_that_was_brought_to_an_empty_shell_are_two_things() -> None:
    """As of an API, which gives two shoes one description."""
    shell = "<title>App</title><p>Loading</p>"
    with Judge() as judge:
        found = [
            judge.judge(url, shell, {"title": title, "body": LONG}).dropped
            for url, title in ((A, "Red shoe"), (B, "Blue shoe"), (f"{B}/copy", "Blue shoe"))
        ]
    assert found == [False, False, True]


def test_a_date_that_has_no_day_before_or_after_says_what_it_says() -> None:
    """As in data without an end."""
    for year in ("0001-01-01", "9999-12-31"):
        item = {"title": "Runner", "until": f"{year}T23:59:59+00:00"}
        assert not second(("", item), ("", {**item, "price": True})).dropped


def made_of_an_answer(
    url: str, item: dict[str, Any], shown: str, options: Options | None = None
) -> Said:
    """What an item says that was made of an API's answer, beside an empty shell."""
    source = with_values(Source(shown, url), item, options or Options())
    assert source.item is not None
    source = source._replace(is_response=True)
    return said_by(Fingerprinter().fingerprint(shown), source)


def test_numbers_alone_that_no_page_shows_say_nothing() -> None:
    """As the size of the response, in an item that is judged by it; a flag makes no words."""
    names = made_of_an_answer(A, {"bytes": 51_234, "cached": True}, page()).names
    assert [*names.values()] == ["cached"]


NOTICE = f"<meta name=v content='width=1, initial-scale=1.0'><p>{prose('consent')}<i data-lang=en>"


@pytest.mark.parametrize("more", [{}, {"lang": "EN"}, {"pieces": 1}, {"price": 100}, {"rating": 3}])
def test_a_short_value_that_a_shell_has_by_chance_hides_no_title(more: dict[str, Any]) -> None:
    options = Options(item_fields=("+rating",))
    with Judge(options=options) as judge:
        for url, name in ((A, "Red shoe"), (B, "Blue shoe")):
            said_of_it = made_of_an_answer(url, {"name": name, **more}, NOTICE, options)
            verdict = judge.judge(url, NOTICE, said_of_it)
            assert not verdict.dropped
    assert verdict.differing_fields == ("name",)


@pytest.mark.parametrize("fields", [("sku", "body"), ("+sku",)])
@pytest.mark.parametrize("skus", [("1", "2"), ("12 comments", "13 comments")])
def test_a_chosen_field_counts_beside_a_text_that_was_brought(
    fields: tuple[str, ...], skus: tuple[str, str]
) -> None:
    """Also what its address has, and a counter."""
    options = Options(item_fields=fields)
    with Judge(options=options) as judge:
        for url, sku in zip((A, B), skus, strict=True):
            item = {"sku": sku, "body": LONG * 3}
            verdict = judge.judge(url, NOTICE, made_of_an_answer(url, item, NOTICE, options))
            assert not verdict.dropped
    assert verdict.differing_fields == ("sku",)


class Shoe(scrapy.Item):
    title, price = scrapy.Field(), scrapy.Field()


@dataclasses.dataclass
class DataShoe:
    title: str
    price: Any


@attrs.define
class AttrsShoe:
    title: str
    price: Any


def loaded(title: str, price: object) -> Any:
    loader = ItemLoader(item={})
    loader.add_value("title", title)
    loader.add_value("price", price)
    return loader.load_item()


def said(item: Any, options: Options | None = None) -> Said:
    return said_on(page("<p>1,299.00 EUR</p>"), item, options)


def said_on(shown: str, item: Any, options: Options | None = None) -> Said:
    source = with_values(Source(shown, A), ItemAdapter(item), options or Options())
    return said_by(Fingerprinter().fingerprint(shown), source)


ROWS = "".join(
    f"<div><a href=/p?id={n}><img src=/i/{n}.png></a><b>Boot</b><a href=/buy>Buy</a></div>"
    for n in range(6)
)


@pytest.mark.parametrize(
    ("row", "names"),
    [
        ({"title": "Boot", "link": "/p?id=3"}, True),
        ({"title": "Boot", "link": "http://a.example/p?id=3", "at": time.time()}, True),
        ({"title": "Boot"}, False),
        ({"title": "Boot", "link": "/p"}, False),  # all rows have it
        ({"title": "Boot", "link": "/buy"}, False),
        ({"title": "Boot", "link": "/3"}, False),  # a number that stands anywhere
        ({"title": "Boot", "link": "/p?id=77"}, False),  # the page hasn't it
        ({"title": "Boot", "image": "/i/3.png"}, False),
        ({"title": "Boot", "link": "/p?id=3", "page": "http://a.example/boots/2"}, False),
        ({"title": "Boot", "link": "/p?id=3", "category": "boots"}, False),  # of the address
    ],
)
def test_a_row_names_itself_by_a_link_of_its_own(row: dict[str, Any], names: bool) -> None:
    shown, address = f"<title>Shop</title><main>{ROWS}</main>", "http://a.example/boots/2"
    values = row_says(row, shown, address)
    assert names_itself(row_of(values)) is names
    assert (row_keys(values, "", "a.example") is not None) is names


def row_says(row: dict[str, Any], shown: str, address: str) -> bytes:
    source = as_row(with_values(Source(shown, address), row, Options()))
    values = said_by(Fingerprinter().fingerprint(shown), source).values
    assert values is not None
    return values


def test_rows_of_two_links_or_values_are_two_rows() -> None:
    """Also of what no page shows: a query, a yes or no."""
    shown = f"<title>Shop</title><main>{ROWS}</main>"
    rows = [
        {"title": "Boot", "link": f"/p?id={n}", "sold": sold}
        for n in (3, 4)
        for sold in (True, False)
    ]
    assert len({row_of(row_says(row, shown, A)) for row in rows}) == 4


def linked_rows(url: str, *names: str) -> tuple[PageFingerprint, list[Said]]:
    links = "".join(f"<li><a href=/p?id={name}>{name}</a></li>" for name in names)
    source = Source(f"<title>Shop</title><main><p>{SHOE}</p><ul>{links}</ul></main>", url)
    read = Fingerprinter().read(source)
    items = [{"title": name, "link": f"/p?id={name}"} for name in names]
    return read, [said_by(read, as_row(with_values(source, item, Options()))) for item in items]


def test_a_row_is_dropped_for_no_page_that_lost_it_to_one_of_yesterday(store: Store) -> None:
    """Today's new list lost it to yesterday's old one, which gives it again."""

    (old, (own, shared)), (new, (lost, other)) = (
        linked_rows(A, "fir", "oak"),
        linked_rows(B, "oak", "elm"),
    )
    for began in (1_000, 2_000):
        judge = Judge(store, clock=count(began + 9).__next__, repeats_since=began)
        if began == 2_000:
            assert judge.judge(B, new, lost).twin_url == A
            verdict = judge.judge(B, new, other)
            judge.add_rows(verdict, other, [row_of(one.values or b"") for one in (lost, other)])
        verdict = judge.judge(A, old, own)
        assert not verdict.dropped
        assert judge.judge_row(A, old, shared) is None
        judge.add_rows(verdict, own, [row_of(one.values or b"") for one in (own, shared)])


def test_a_row_of_a_page_whose_items_were_lost_is_not_noted_on_another(store: Store) -> None:
    """Today's new row: a row of yesterday, which is out, would be."""
    (known, (fir, oak)), (new, (elm, yew)) = (
        linked_rows(B, "fir", "oak"),
        linked_rows(A, "elm", "yew"),
    )
    later, (again, _) = linked_rows(B, "yew", "fir")
    for began in (1_000, 2_000):
        judge = Judge(store, clock=count(began + 9).__next__, repeats_since=began, unchanged="drop")
        page, rows, url = (known, (fir, oak), B) if began == 1_000 else (new, (elm, yew), A)
        verdict = judge.judge(url, page, rows[0])
        judge.add_rows(verdict, rows[0], [row_of(one.values or b"") for one in rows])
    assert judge.judge(B, later, again).twin_url == A
    judge.forget(verdict)
    assert not judge.judge(B, later, again).dropped


@pytest.mark.parametrize("kind", [dict, Shoe, DataShoe, AttrsShoe])
def test_every_kind_of_item_says_the_same(kind: Any) -> None:
    assert said(kind(title="Runner", price=1299.0)) == said({"title": "Runner", "price": 1299.0})
    assert [*said({"a": kind(title="Runner", price="7")}).names.values()] == ["a.title", "a.price"]


def test_an_item_loader_s_lists_are_heard() -> None:
    assert {*said(loaded("Runner", "1,299.00")).names.values()} == {"title", "price"}


def test_a_list_of_an_empty_text_says_nothing() -> None:
    """As `::attr(alt)` of a page with one image gives it."""
    assert [*said({"title": "Runner", "alts": [""]}).names.values()] == ["title"]


class Broken(dict[str, Any]):
    def __getitem__(self, name: str) -> Any:
        if name == "broken":
            raise ValueError(name)
        return super().__getitem__(name)


@pytest.mark.parametrize(
    "more",
    [
        {"blob": "word " * 1_000_000},
        {f"field{n}": f"value {n}" for n in range(10_000)},
        {"raw": page()},
        {"broken": 1},
        {"markup": "<" * 200_000},
    ],
    ids=["5 MB", "10,000 fields", "the page", "a field that raises", "tags that end nowhere"],
)
def test_a_monstrous_item_is_read_in_bounded_time(more: dict[str, Any]) -> None:
    started = time.process_time()
    found = said(Broken({"title": "Runner", **more}))
    assert "title" in found.names.values()
    assert time.process_time() - started < 2
    assert len(found.values or b"") <= 2 + 6 * 255


def test_thousands_of_values_that_are_in_the_address_are_found_in_bounded_time() -> None:
    """As each may be an option's, the page's source is asked for them."""
    body = f"{page()}<script>{'zq ' * 1_000_000}</script>"
    item = {"made": {f"key{n}": "zq7" for n in range(10_000)}}
    source = Source(body, "https://shop.example/zq7")
    read = Fingerprinter().fingerprint(body, source.url)
    started = time.process_time()
    said_by(read, with_values(source, item, Options()))
    assert time.process_time() - started < 3


def test_an_item_within_itself_ends() -> None:
    item: dict[str, Any] = {"title": "Runner"}
    item["self"] = [item, item]
    assert "title" in said(item).names.values()


@pytest.mark.parametrize(
    ("match", "named", "is_kept"),
    [("structure", (), False), ("structure", ("price",), True), ("either", (), True)],
)
def test_a_match_by_structure_is_judged_by_values_alone(
    match: str, named: tuple[str, ...], is_kept: bool
) -> None:
    """By `structure` only by those that ITEM_FIELDS names; texts and titles may differ."""
    boxes = "".join(f"<div class=box{number}>" for number in range(12))
    options = Options(match=match, item_fields=named)
    for price in (41, 42):
        with Judge("memory:", options) as judge:
            judge.judge(A, f"<title>One</title>{boxes}{prose('one')} 41", {"price": 41})
            html = f"<title>Two</title>{boxes}{prose('two')} {price}"
            verdict = judge.judge(B, html, {"price": price})
        assert verdict.dropped == (price == 41 or not is_kept)
        assert verdict.rejected_by == (None if verdict.dropped else "fields")


def test_named_fields_alone_count_and_others_may_be_left_out() -> None:
    item = {"title": "Runner", "sku": "X7", "price": 1299.0}
    names = {
        chosen: [*said(item, Options(item_fields=chosen)).names.values()]
        for chosen in ((), ("sku",), ("-price",))
    }
    assert names == {
        (): ["title", "price", "sku"],
        ("sku",): ["sku"],
        ("-price",): ["title", "sku"],
    }
    assert said(item, Options(item_fields=None)) == Said()


@pytest.mark.parametrize(
    ("field", "value", "later"),
    [
        ("body", f"Storm: 12 dead.\n{LONG}", f"Storm: 13 dead.\n{LONG}"),
        ("replies", "12 comments", "19 comments"),
        ("image", "/a.jpg?v=1", "/a.jpg?v=2"),
    ],
)
@pytest.mark.parametrize("url", [A, B, "http://b.example/1"])
def test_every_change_of_a_named_field_counts(field: str, value: str, later: str, url: str) -> None:
    """Of a text, a counter or an address, at the same URL, at another one or on another site."""
    with Judge(item_fields=(field,), unchanged="drop") as judge:
        found = [
            judge.judge(url, page(f"<p>{each}<img src={each}>", LONG), {field: each}).dropped
            for url, each in [(A, value), (url, value), (url, later)]
        ]
    assert found == [False, True, False]


PLAIN = (
    "<title>Oak chair</title><h1>Oak chair</h1>%s<p>"
    + "A chair of oak, made by hand to last. " * 12
)


@pytest.mark.parametrize(
    ("first", "price"),
    [({"name": "Oak chair"}, ""), ({"name": "Oak chair", "price": None}, "<p>Ask us.</p>")],
)
def test_a_value_that_the_kept_item_lacks_is_missing(first: dict[str, Any], price: str) -> None:
    """Of a variant without a price, and of a field that the spider gets later."""
    with Judge() as judge:
        assert not judge.judge(A, PLAIN % price, first).dropped
        priced = [
            judge.judge(
                f"{B}{n}", PLAIN % f"<p>{n}.00</p>", {"name": "Oak chair", "price": f"{n}.00"}
            )
            for n in (40, 41, 42)
        ]
        assert [(one.reason, one.differing_fields) for one in priced] == [
            ("near miss", ("price",))
        ] * 3


@pytest.mark.parametrize(
    ("value", "bits", "is_missing"),
    [("Navy", 8, True), ("Navy", 9, False), (0, 3, True), (0, 4, False), (False, 4, False)],
)
def test_a_value_that_is_missing_counts_in_one_template(
    value: object, bits: int, is_missing: bool
) -> None:
    """0 and False in one structure alone: they are what selectors make of nothing."""
    found = lacking({"name": "Oak", "paint": value}, {"name": "Oak"}, bits)
    assert found == bytes([byte_of("paint")] * is_missing)


@pytest.mark.parametrize("bits", [KNOWN, 3, 9, None])
@pytest.mark.parametrize("others", [{}, {"price": None}, {"price": "no"}, {"weight": "420"}])
def test_a_price_that_is_missing_counts_in_any_template_and_on_other_sites(
    bits: int | None, others: dict[str, object]
) -> None:
    priced = {"name": "Oak", "price": "350 kr"}
    assert lacking(priced, {"name": "Oak", **others}, bits) == bytes([byte_of("price")])


@pytest.mark.parametrize("value", ["Subscribe for 350 kr", "350"])
def test_what_is_no_price_may_be_missing_in_another_template(value: str) -> None:
    assert not lacking({"name": "Oak", "note": value}, {"name": "Oak"}, 9)


@pytest.mark.parametrize("was", ["350 kr", "420 kr"])
def test_beside_another_price_one_more_counts_in_one_template_alone(was: str) -> None:
    """Old prices, shipping: what another template's selectors miss."""
    dear, cheap = {"name": "Oak", "price": "350 kr"}, {"name": "Oak", "was": was}
    assert [len(lacking(dear, cheap, bits)) for bits in (3, 9, None)] == [1, 0, 0]


def lacking(item: object, others: object, bits: int | None) -> bytes:
    """The names by which an item says what the other, whose page shows less, doesn't."""
    known, shown = (
        Source(PLAIN % each, A) for each in ("<p>420 kr</p>", "<p>Subscribe for 350 kr, Navy</p>")
    )
    its, mine = (
        said_by(Fingerprinter().read(source), with_values(source, each, Options())).values or b""
        for source, each in ((known, others), (shown, item))
    )
    return differing(mine, its, bits)


def test_pages_stored_without_values_cost_no_variant(store: Store) -> None:
    """As by an archive of WARC files: they lack all values, until they are met unchanged."""
    sizes = {f"http://a.example/shoe-{name}": size for name, size in zip("abc", "123", strict=True)}

    def judged(judge: Judge, url: str, size: str) -> tuple[bool, str, tuple[str, ...]]:
        found = judge.judge(url, page(f"<p>Size {size}"), {"size": size})
        return found.dropped, found.reason, found.differing_fields

    without = Judge(store, Options(item_fields=None))
    assert [judged(without, *each)[0] for each in sizes.items()] == [False, True, True]
    (a, one), (b, two), (c, three) = sizes.items()
    judge = Judge(store, Options(unchanged="drop"))
    assert judged(judge, b, two) == (False, "near miss", ("size",))
    assert judged(judge, a, one) == (True, "unchanged", ())
    assert judged(judge, "http://a.example/copy", one)[:2] == (True, "content")
    assert judged(judge, c, three) == (False, "near miss", ("size",))


def test_named_values_count_between_sites_against_a_page_stored_without() -> None:
    for options, is_dropped in ((Options(), True), (Options(item_fields=("size",)), False)):
        with Judge(options=options) as judge:
            judge.judge(A, page("<p>Size 42"))
            other = judge.judge("http://b.example/", page("<p>Size 42"), {"size": "42"})
            assert other.dropped is is_dropped


def test_a_value_that_appears_on_a_known_page_changes_it() -> None:
    with Judge(unchanged="drop") as judge:
        items = [
            {"name": "Oak chair"},
            {"name": "Oak chair", "price": "40.00"},
            {"name": "Oak chair", "price": "45.00"},
            {"name": "Oak chair", "price": "45.00", "badge": "Recalled"},
        ]
        shown = ["", "<p>40.00</p>", "<p>45.00</p>", "<p>45.00 Recalled</p>"]
        reasons = [
            judge.judge(A, PLAIN % each, item).reason
            for each, item in zip(shown, items, strict=True)
        ]
    assert reasons == ["new", "changed", "changed", "changed"]


def test_a_field_whose_value_is_not_on_the_page_is_no_lack() -> None:
    """A number that stood nowhere on the kept page may stand by chance on its copy."""
    with Judge() as judge:
        assert not judge.judge(A, PLAIN % "", {"name": "Oak chair", "rank": 7381}).dropped
        item = {"name": "Oak chair", "rank": 7382}
        assert judge.judge(B, PLAIN % "<p>7382</p>", item).dropped


def test_all_rows_of_a_page_are_looked_for_in_one_folded_text() -> None:
    """Folding takes as long as the page is, and a list may have thousands of rows."""
    shown = page("<p>1,299.00 EUR</p>")
    read = Fingerprinter().fingerprint(shown)
    before = _shown.cache_info().misses
    for price in (1299.0, 7.0, 12.5):
        said_by(read, as_row(with_values(Source(shown, A), {"price": price}, Options())))
    assert _shown.cache_info().misses - before <= 1


@pytest.mark.parametrize(
    "word",
    [
        "boot",
        "red boot",
        "41",
        "红",
        "红靴",
        "靴 boot",
        "绿靴",
        "红 boot",
        "-42",
        "boot-42",
        "x",
        "t 4",
        "no",
        "",
    ],
)
def test_an_index_finds_what_a_search_finds(word: str) -> None:
    """As in the text of a list of a thousand rows."""
    text = Text("red boot 41\nboots, 红 boot-42 x41 41 红boot, 红靴 boot")
    found = [*text.places(word)]
    text._scanned = 10**9
    assert [*text.places(word)] == found


def test_a_short_word_mostly_within_others_is_found_by_both_or_neither() -> None:
    """Else what an item says depended on what was looked for before."""
    text = Text("141 " * 101 + "41")
    found = [*text.places("41")]
    text._scanned = 10**9
    assert [*text.places("41")] == found


def test_an_index_of_words_takes_eight_bytes_for_each() -> None:
    """A page may have a million."""
    text = Text(" ".join(f"{n:x}" for n in range(1_000_000, 1_200_000)))
    text._scanned = 10**9
    tracemalloc.start()
    assert text.has(f"{1_100_000:x}")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2_500_000


def test_values_below_one_long_key_take_little_memory() -> None:
    held = {"k" * 20_000: dict.fromkeys(map(str, range(10_000)), "value")}
    tracemalloc.start()
    with_values(Source(page(), A), {"data": held}, Options())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20_000_000


def test_lists_within_lists_take_memory_as_their_size() -> None:
    held: Any = "value"
    for n in range(600):
        held = [*map(str, range(n % 7)), {"a": n}, held]
    tracemalloc.start()
    with_values(Source(page(), A), {"data": held}, Options())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10_000_000


@pytest.mark.parametrize("text", ["http://a" + "\u0f73" * 20_000, f"/{'a' * 20_000}"])
def test_a_link_that_no_browser_takes_is_a_text(text: str) -> None:
    """The marks of a host are sorted in quadratic time."""
    assert path_of(text) == ""
    assert second(("<p>x", {"link": text}), ("<p>x", {"link": text})).dropped


def test_half_an_emoji_in_a_title_makes_no_other_page() -> None:
    records = [{"text": SHOE, "title": "Fog \ud83d"} for _ in range(3)]
    assert len(list(dedupe(records))) == 1


ENDLESS = f"&#{'1' * 4_301};"  # of more digits than Python makes an int of


@pytest.mark.parametrize("beside", [f"<!-- {ENDLESS} -->", f"<p>{ENDLESS}", f"<p title={ENDLESS}>"])
def test_an_endless_reference_hides_no_value(beside: str) -> None:
    first, other = (f"<p>Size {size}{beside}" for size in (41, 42))
    assert second((first, {"size": 41}), (other, {"size": 42})).rejected_by == "fields"
    assert second((first, {"size": 41}), (first, {"size": 41})).dropped
    with Judge() as judge:
        assert judge.judge(A, text=f"&lt;/p&gt; {ENDLESS} {SHOE}").reason == "new"


def test_a_link_whose_host_looks_like_a_session_counts_by_its_path() -> None:
    links = [f"http://[v1.a;sid=]/boots/{name}" for name in ("red", "blue")]
    one, two = ((f"<a href='{link}'>x</a>", {"link": link}) for link in links)
    assert second(one, two).rejected_by == "fields"


@pytest.mark.parametrize("row", ["boot {} of the list", "表中第{}双靴子的编号与颜色"])
def test_the_words_of_a_long_list_are_found_by_an_index(row: str) -> None:
    """Else each of thousands of rows is looked for in all of the page."""
    text = Text("\n".join(map(row.format, range(30_000))))
    assert all(text.has(row.format(n)) for n in range(100))
    assert "_starts" not in vars(text)
    assert all(text.has(row.format(n)) for n in range(100, 500))
    assert "_starts" in vars(text)


def test_a_short_value_that_touches_its_neighbour_counts_between_templates() -> None:
    """A page without its styles shows Osby350."""

    def verdict(price: int | str, other: int | str) -> Verdict:
        paragraphs = [prose(f"cabinet {n}") for n in range(3)]
        with Judge() as judge:
            text = "".join(f"<p>{each}" for each in paragraphs)
            menu = "<nav><ul><li>Home<li>Beds<li>Shelves</ul></nav>"
            main = f"<div class=main><h1>Osby</h1><b>{price} crowns</b>{text}</div>"
            first = f"<title>Osby</title><header>{menu}</header>{main}<footer>Imprint</footer>"
            judge.judge(A, first, {"title": "Osby", "price": price})
            text = "".join(f"<div>{each}</div>" for each in paragraphs)
            cells = f"<td>Shops<td><span>Osby</span><b>{other} crowns</b><br>{text}"
            second = f"<title>Osby</title><table><tr>{cells}</table><div>Terms</div>"
            return judge.judge(B, second, {"title": "Osby", "price": other})

    assert verdict(410, 350).rejected_by == verdict("41", "35").rejected_by == "fields"
    assert verdict(410, 410).dropped


def judged(*pages: tuple[str, str, dict[str, Any]]) -> list[Verdict]:
    with Judge() as judge:
        return [judge.judge(*each) for each in pages]


@pytest.mark.parametrize("markup", ["<dl><dt>Room<dd>{}</dl>", "<table><tr><th>Room<td>{}</table>"])
@pytest.mark.parametrize("address", [A, B])
def test_a_fact_of_a_scraped_text_counts_outside_the_article(markup: str, address: str) -> None:
    """A course of two semesters: its description is the article, whatever stands above it."""

    def course(room: str) -> tuple[str, dict[str, Any]]:
        box = f"<h1>Optics</h1>{markup.format(room)}<div><p>{LONG}</p><p>{SHOE}</p></div>"
        html = f"<title>Optics</title><ul><li><a href=/>Home</a></ul><div id=c>{box}</div>"
        return html, {"title": "Optics", "text": re.sub("<[^>]+>", "\n", box)}

    first, again, other = judged(
        (A, *course("C372")), (A, *course("C372")), (address, *course("A125"))
    )
    assert (first.reason, again.reason) == ("new", "unchanged")
    assert not other.dropped
    assert (other.changed, other.differing_fields) == (
        (("long text",), ()) if address == A else ((), ("text",))
    )


@pytest.mark.parametrize(
    "links",
    [
        ("https://video.example/watch?v=dQw4w9WgXcQ", "https://video.example/watch?v=9bZkp7q19f0"),
        ("/buy?isbn=9783161484100", "/buy?isbn=9783518188996"),
        ("/download?id=1234567890", "/download?id=2234567891"),
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_what_a_link_asks_for_counts_in_a_list_too(links: tuple[str, str], count: int) -> None:
    pages = []
    for address, link in zip((A, B), links, strict=True):
        found = [link, "/help?topic=all"][:count]
        box = "".join(f"<a href='{each}'>more</a>" for each in found)
        pages.append((address, page(box, LONG), {"title": "Runner", "files": found}))
    assert not judged(*pages)[1].dropped


def test_a_list_of_links_may_be_signed_anew() -> None:
    at = "https://files.example/a.zip?X-Amz-Date=%d&X-Amz-Expires=900&Expires=%d&e=1"
    visits = []
    for day in (20261120, 20261121):
        links = [at % (day, day), at.replace("a.zip", "b.zip") % (day, day)]
        box = "".join(f"<a href='{each}'>file</a>" for each in links).replace("&", "&amp;")
        visits.append((A, page(box, LONG), {"title": "Runner", "files": links}))
    assert judged(*visits)[1].reason == "unchanged"


def test_cards_beside_an_article_and_split_counters_change_no_known_page() -> None:
    """Lines that are no cells of a table, in a text that is all that the page shows."""
    visits = []
    for day in (1, 2):
        cards = "".join(
            f"<div class=card><a href=/{n}{day}>Thing {n}{day}</a><p>{n}{day} EUR</p></div>"
            for n in range(3)
        )
        box = f"<div><p>1,{day}34 <b>views</b></p><div>{cards}</div></div>"
        html = f"<title>Runner</title><h1>Runner</h1>{box}<div><p>{SHOE}</p><p>{LONG}</p></div>"
        visits.append((A, html, {"title": "Runner", "text": re.sub("<[^>]+>", "\n", html)}))
    assert judged(*visits)[1].reason == "unchanged"


def test_a_time_with_the_seconds_that_the_page_shows_counts() -> None:
    rises = datetime(2024, 3, 12, 6, 12, 45), datetime(2024, 3, 12, 6, 54, 15)
    pages = [
        (address, page(f"<p>12 March 2024 {at:%H:%M:%S}</p>", LONG), {"title": "Runner", "at": at})
        for address, at in zip((A, B), rises, strict=True)
    ]
    assert not judged(*pages)[1].dropped


def test_what_is_behind_the_most_values_of_an_item_counts_as_one() -> None:
    rates = [{"day": f"d{n}", "price": f"{n}.5"} for n in range(5_500)]
    for address, reason in ((A, "changed"), (B, "near miss")):
        pages = [
            (where, page("", LONG), {"rates": [*rates, {"day": "last", "price": last}]})
            for where, last in ((A, "1.1"), (address, "2.2"))
        ]
        assert judged(*pages)[1].reason == reason


@pytest.mark.parametrize(
    ("titles", "dropped"),
    [
        (("Release 3.27.1", "Release 3.27.2"), False),
        (("Wharf, flat 11", "Wharf, flat 39"), False),
        (("Storm hits the coast", "Storm batters the coast"), True),  # two headlines
        (("Storm hits the coast", "Storm hits the coast (2)"), True),
        (("Final on 28.11.2026", "Final on 2026-11-28"), True),  # another notation
        (("Rovers beat City 3:2", "Rovers beat City 3-2"), True),
        (("Rovers beat City 3:2", "Rovers beat City 4:2"), False),
    ],
)
@pytest.mark.parametrize("scrapes", [True, False])
def test_a_number_in_two_titles_of_one_text_tells_two_sites_pages_apart(
    titles: tuple[str, str], dropped: bool, scrapes: bool
) -> None:
    pages = []
    for site, title in zip(("a", "b"), titles, strict=True):
        html = f"<title>{title} - {site}</title><main><h1>{title}</h1><p>{LONG}</p></main>"
        item = {"title": title, "text": LONG} if scrapes else {}
        pages.append((f"http://{site}.example/1", html, item))
    assert judged(*pages)[1].dropped is dropped


def test_a_dash_that_is_scraped_before_a_text_makes_it_no_other_text() -> None:
    """Of a mirror whose teasers stand in its main text."""
    teasers = "".join(f"<p>{prose(f'teaser {n}')[:200]}</p>" for n in range(9))
    mirror = f"<title>Runner</title><div><h1>Runner</h1><p> – <p>{SHOE}<p>{LONG}{teasers}</div>"
    text = f"{SHOE}\n{LONG}"
    *_, second = judged(
        (A, page("", f"{SHOE}<p>{LONG}"), {"title": "Runner", "text": text}),
        ("http://b.example/1", mirror, {"title": "Runner", "text": f"–\n{text}"}),
    )
    assert (second.dropped, second.reason) == (True, "item")


def test_further_rows_change_no_first_row_of_a_page_with_facts() -> None:
    """The first item of a list isn't known to be one of several when it is judged."""
    for names in (b"\0", b"\1", b"\0\1"):
        said = b"".join(bytes([name]) + b"value" for name in names)
        values = bytes([0, len(names)]) + said
        for begin in range(4):
            rows = [bytes([begin]) + f"row {n:03}".encode() for n in range(3)]
            assert row_of(with_rows(values, rows)) == row_of(values)
            assert without_facts(with_rows(values, rows)).endswith(with_rows(values, rows)[-24:])


TIMES = [f"<tr><td>{hour}:10<td>{hour + 3}:45" for hour in range(6, 20)]


@pytest.mark.parametrize("joined", [" ", "\n", ""])
@pytest.mark.parametrize("at", [0, 5, 13])
def test_a_table_counts_in_a_scraped_text_however_that_is_joined(joined: str, at: int) -> None:
    later = [row.replace(":10", ":25") if n == at else row for n, row in enumerate(TIMES)]
    htmls = [
        f"<title>Ferry</title><main><table>{''.join(rows)}</table><div><p>{LONG}</div></main>"
        for rows in (TIMES, later, TIMES)
    ]
    items = [{"text": joined.join(re.split("<[^>]+>", html))} for html in htmls]
    first, second, again = judged(*zip((A, B, f"{A}?day=2"), htmls, items, strict=True))
    assert (first.reason, second.rejected_by, again.dropped) == ("new", "fields", True)


def test_cells_that_stand_in_a_text_by_chance_are_no_facts() -> None:
    """A table beside what is scraped, which each visit draws."""
    tables = ("".join(f"<tr><td>{n}<td>rope" for n in each) for each in ((3, 5, 7), (2, 8, 9)))
    htmls = [
        f"<title>Ferry</title><main><div><p>{LONG} 3 5 7 2 8 9 rope rope.</div>"
        f"<table>{table}</table></main>"
        for table in tables
    ]
    item = {"text": f"{LONG} 3 5 7 2 8 9 rope rope."}
    assert [each.dropped for each in judged((A, htmls[0], item), (B, htmls[1], item))] == [
        False,
        True,
    ]


def test_an_item_may_have_every_name() -> None:
    item: dict[str, Any] = {f"field{n}": f"value {n}" for n in range(5_000)}
    facts = "<table><tr><th>Room<td>C372</table>"
    html = f"<title>Optics</title><div>{facts}<div><p>{LONG}</p></div><p>{SHOE[:90]}.</p></div>"
    text = re.sub("<[^>]+>", "\n", html)
    assert judged((A, html, {**item, "text": text}))[0].reason == "new"


JOB = (
    "<header><a href=/>Jobs</a></header><main><div><h1>Rope maker</h1><p>%s</p></div>"
    "<div>%s</div></main><footer>Imprint</footer>"
)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("Open", "Filled since Monday"), "changed"),
        (("Pay: 60,000 EUR", "Pay: 70,000 EUR"), "changed"),
        (("742 views", "930 views"), "unchanged"),
        (("Online for 3 days", "Online for 4 days"), "unchanged"),
    ],
)
@pytest.mark.parametrize("join", [" ", "\n"])
def test_a_word_below_the_heading_changes_a_known_page(
    lines: tuple[str, str], reason: str, join: str
) -> None:
    """But no number that may be a counter's."""
    with Judge() as judge:
        for line in lines:
            body = JOB % (line, "".join(f"<p>{each}</p>" for each in STORY))
            text = join.join(each for each in re.split("<[^>]*>", body) if each)
            found = judge.judge(A, f"<title>Rope maker - Jobs</title>{body}", {"text": text})
    assert found.reason == reason


def test_a_word_below_the_heading_of_a_site_changes_no_page() -> None:
    with Judge() as judge:
        for line in ("Open", "Filled since Monday"):
            body = JOB % (line, "".join(f"<p>{each}</p>" for each in STORY))
            text = " ".join(each for each in re.split("<[^>]*>", body) if each)
            found = judge.judge(
                A, f"<title>A museum of ropes and knots</title>{body}", {"text": text}
            )
    assert found.reason == "unchanged"


@pytest.mark.parametrize("hours", [40, 32])
@pytest.mark.parametrize("join", [" ", "\n"])
def test_a_number_in_a_line_between_sentences_counts_in_a_print_view(hours: int, join: str) -> None:
    with Judge() as judge:
        for number, (path, said) in enumerate((("a", 40), ("print/a", hours))):
            line = f"<ul><li>Full time, {said} hours<li>Start in May</ul>"
            told = "".join(f"<p>{each}</p>" for each in STORY[:2]) + line
            told += "".join(f"<p>{each}</p>" for each in STORY[2:])
            body = (f"<h1>Rope maker</h1>{told}", JOB % ("Open", told))[number]
            text = join.join(each for each in re.split("<[^>]*>", told) if each)
            url = f"http://a.example/{path}"
            found = judge.judge(url, f"<title>Rope maker</title>{body}", {"text": text})
    assert found.dropped is (hours == 40)


@pytest.mark.parametrize("field", ["reference", "salary", "section"])
def test_a_number_or_pay_does_not_speak_for_its_page(field: str) -> None:
    item = {"title": "Runner", field: "2026/123"}
    with Judge() as judge:
        found = [judge.judge(A, page("<p>2026/123", prose(each)), item).reason for each in "ab"]
    assert found == ["new", "changed"]


def test_a_teaser_of_itself_keeps_no_copy() -> None:
    """Its lead, cut, stands beside the article; the wire has a dateline before it."""
    with Judge() as judge:
        for number, (path, begin) in enumerate((("wire", "OBAN (Post) - "), ("paper", ""))):
            lead = " and ".join(each[:-1] for each in STORY[:4]) + "."
            story = [begin + lead, *STORY[4:]]
            told = "".join(f"<p>{each}</p>" for each in story)
            teaser = f"<aside><div><a href=/1>Rope</a><p>{lead[:140]}</p></div></aside>"
            html = (PRINTED.format(told), FRAME.format(told) + teaser)[number]
            item = {"text": "\n".join(story)}
            found = judge.judge(f"http://{path}.example/1", f"<title>Rope</title>{html}", item)
    assert found.dropped
