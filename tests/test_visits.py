"""A page that was dropped as a copy, and is edited later, comes out."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from simhash_pipeline import Judge, Options
from simhash_pipeline.stores.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simhash_pipeline.verdict import Verdict

DAY = 86_400
NEWS = "Nine people were hurt, the police said on Monday evening; the bridge stays closed."
WIRE, OWN, PRINT = "http://wire.example/1", "http://paper.example/1", "http://paper.example/print/1"
TWO, THREE = "http://paper.example/2", "http://paper.example/3"


def paragraphs(seed: int) -> list[str]:
    rng = random.Random(seed)
    words = ["".join(rng.choices("abdeghilmnorstu", k=rng.randint(3, 8))) for _ in range(400)]
    return [" ".join(rng.choices(words, k=45)).capitalize() + "." for _ in range(6)]


def at_wire(text: Sequence[str]) -> str:
    said = "".join(f"<p>{each}</p>" for each in text)
    return f"<title>Bridge - Wire</title><div><h2>Bridge</h2>{said}</div>"


def at_paper(text: Sequence[str], beside: str = "") -> str:
    said = "".join(f"<p>{each}</p>" for each in text)
    menu = "<nav><a href=/>Home</a> <a href=/world>World</a></nav>"
    return f"<title>Bridge | Paper</title>{menu}<article><h1>Bridge</h1>{said}</article>{beside}"


class Nights:
    """A store, and a run a night."""

    def __init__(self, path: Path) -> None:
        self._url, self._now = str(path / "pages.sqlite"), 0

    def crawl(
        self, *pages: tuple[str, str], text: Sequence[str] | None = None, **item: str | int
    ) -> list[Verdict]:
        said = item if text is None else {"text": "\n".join(text), **item}
        return self.crawl_items([(url, html, said) for url, html in pages])

    def crawl_items(self, items: Sequence[tuple[str, str, dict[str, str | int]]]) -> list[Verdict]:
        self._now += DAY
        began, clock = self._now, iter(range(self._now, self._now + DAY, 60))
        with (
            open_store(self._url) as store,
            Judge(store, Options(), lambda: next(clock), repeats_since=began) as judge,
        ):
            return [judge.judge(url, html, said or None) for url, html, said in items]


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    return Nights(tmp_path)


@pytest.mark.parametrize("has_text", [True, False])
def test_an_edit_of_a_dropped_page_comes_out_once(nights: Nights, has_text: bool) -> None:
    """At whichever of its addresses it is first met."""
    old = paragraphs(1)
    new = [f"{old[0]} {NEWS}", *old[1:]]
    pages = [(WIRE, at_wire(old)), (OWN, at_paper(old)), (PRINT, at_paper(old))]
    found = nights.crawl(*pages, text=old if has_text else None)
    assert [each.dropped for each in found] == [False, True, True]
    found = nights.crawl(*pages, text=old if has_text else None)
    assert [each.dropped for each in found] == [False, True, True]
    assert found[0].reason == "unchanged"
    edited = [(PRINT, at_paper(new)), (OWN, at_paper(new))]
    found = nights.crawl(*edited, text=new if has_text else None)
    assert [each.dropped for each in found] == [False, True]
    assert found[0].twin_url == WIRE
    if has_text:
        assert (found[0].reason, found[0].rejected_by) == ("near miss", "fields")
    else:
        assert found[0].reason == "changed"
        assert found[0].changed == ("text or values since an earlier drop",)
    found = nights.crawl(*edited, text=new if has_text else None)
    assert (found[0].reason, found[1].dropped) == ("unchanged", True)


@pytest.mark.parametrize("has_text", [True, False])
def test_each_edit_comes_out(nights: Nights, has_text: bool) -> None:
    """Also the second one, of a page that is known since the first."""
    old = paragraphs(6)
    for night, said in enumerate([None, NEWS, NEWS.replace("Monday", "Sunday"), NEWS[:40]]):
        new = old if said is None else [f"{old[0]} {said}", *old[1:]]
        (wire,) = nights.crawl((WIRE, at_wire(old)), text=old if has_text else None)
        (own,) = nights.crawl((OWN, at_paper(new)), text=new if has_text else None)
        expected = ("new", "unchanged")[night > 0], night == 0
        assert (wire.reason, own.dropped) == expected
        is_news = has_text and night == 1
        assert night == 0 or own.reason == ("near miss" if is_news else "changed")


def test_what_surrounds_a_dropped_page_may_change(nights: Nights) -> None:
    text = paragraphs(2)
    nights.crawl((WIRE, at_wire(text)), (OWN, at_paper(text)))
    for number in range(3):
        beside = f"<aside><ul><li><a href=/{number}>{NEWS[number:]}</a></ul></aside>5{number} views"
        (found,) = nights.crawl((OWN, at_paper(text, beside)))
        assert found.dropped


def test_of_many_pages_that_change_each_night_one_comes_out(nights: Nights) -> None:
    """Such as a wall with the number of the request."""
    wall = " ".join(paragraphs(3))

    def pages(night: int) -> list[tuple[str, str]]:
        return [
            (f"http://a.example/{n}", f"<title>Wait</title><p>{wall} Request {night * 1_000 + n}")
            for n in range(20)
        ]

    counts = [sum(not one.dropped for one in nights.crawl(*pages(night))) for night in range(6)]
    assert max(counts) <= 3, counts


def test_two_items_of_one_run_say_what_they_like(nights: Nights) -> None:
    text = paragraphs(4)
    pages = [(WIRE, at_wire(text)), (OWN, at_paper(text)), (OWN, at_paper([*text, NEWS]))]
    assert [each.dropped for each in nights.crawl(*pages)] == [False, True, True]
    with Judge() as judge:
        assert [judge.judge(*each).dropped for each in pages] == [False, True, True]
    assert [each.dropped for each in nights.crawl(*pages[1:])] == [True, True]
    assert not nights.crawl(pages[2])[0].dropped  # alone it is an edit of the first


def test_a_box_that_a_loose_selector_takes_in_is_no_edit(nights: Nights) -> None:
    """The text of its item says another number each night, its article the same."""
    old = paragraphs(9)
    new = [f"{old[0]} {NEWS}", *old[1:]]
    nights.crawl((WIRE, at_wire(old)), text=old)
    for night, texts, is_edited in ((1, old, False), (2, old, False), (3, new, True)):
        box = f"{night}4567 reads"
        page = at_paper(texts, f"<p>{box}</p>")
        (own,) = nights.crawl((OWN, page), text=[" ".join([box, *texts])])
        assert own.dropped is not is_edited


@pytest.mark.parametrize("edit", ["headline", "author"])
def test_an_edit_of_a_dropped_page_comes_out_though_its_text_is_that_of_the_kept_copy(
    nights: Nights, edit: str
) -> None:
    """The copy stays as it was: equal texts alone don't make the edited page its copy."""
    text = paragraphs(9)
    item = {"title": "Bridge", "author": "Ann Ford"}
    own = at_paper(text, "<b>Ann Ford</b><b>Bo Lund</b>")
    later = {"title": "Bridge shut"} if edit == "headline" else {"author": "Bo Lund"}
    edited = own.replace("<title>Bridge", f"<title>{(item | later)['title']}")
    nights.crawl((WIRE, at_wire(text)), text=text, **item)
    verdicts = [
        nights.crawl((OWN, page), text=text, **(item | more))[0]
        for page, more in ((own, {}), (own, {}), (edited, later), (edited, later))
    ]
    assert [(one.dropped, one.reason) for one in verdicts] == [
        (True, "item"),
        (True, "item"),
        (False, "changed"),
        (False, "unchanged"),
    ]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("known", [(0, 1), (1, 0)])
def test_another_price_comes_out_once_at_whichever_address_it_is_met_first(
    nights: Nights, known: tuple[int, int], order: tuple[int, int]
) -> None:
    text = paragraphs(12)
    urls = OWN, f"{OWN}?utm_source=feed"
    for at, price, is_out in ((known, 20, True), (order, 20, False), (order[::-1], 30, True)):
        page = at_paper(text, f"<b>{price} crowns</b>")
        found = nights.crawl(*[(urls[n], page) for n in at], price=price)
        is_known = [each.dropped or each.reason == "unchanged" for each in found]
        assert is_known == [not is_out, True], (at, price)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("known", [(0, 1), (1, 0)])
def test_another_price_comes_out_once_of_a_page_and_its_print_view(
    nights: Nights, known: tuple[int, int], order: tuple[int, int]
) -> None:
    text = paragraphs(12)
    for at, price, is_out in ((known, 20, True), (order, 30, True), (order, 30, False)):
        shown = [*text, f"Price: {price} crowns"]
        pages = (OWN, at_paper(shown)), (PRINT, at_wire(shown))
        found = nights.crawl(*[pages[n] for n in at], text=text, price=price)
        is_known = [each.dropped or each.reason == "unchanged" for each in found]
        assert is_known == [not is_out, True], (at, price)


def test_another_page_with_the_price_that_a_known_one_gets_hides_no_change(nights: Nights) -> None:
    text = paragraphs(12)
    shown = {price: at_paper([*text, f"Price: {price} crowns"]) for price in (20, 30)}
    nights.crawl((OWN, shown[20]), text=text, price=20)
    for url in (f"{OWN}/blue", OWN):
        (found,) = nights.crawl((url, shown[30]), text=text, price=30)
        assert found.reason in ("near miss", "changed")


@pytest.mark.parametrize(
    "first_and_second_night",
    [
        ([(OWN, 20), (WIRE, 20)], [(WIRE, 30), (OWN, 30)]),  # another shop
        ([(OWN, 20), (TWO, 20), (THREE, 30)], [(OWN, 30), (TWO, 20), (THREE, 20)]),  # variants
    ],
)
def test_a_price_that_another_thing_has_hides_no_change(
    nights: Nights, first_and_second_night: Sequence[Sequence[tuple[str, int]]]
) -> None:
    text = paragraphs(12)
    for met in first_and_second_night:
        items: list[tuple[str, str, dict[str, str | int]]] = []
        for url, price in met:
            shown = [*text, f"Price: {price} crowns"]
            html = at_wire(shown) if url == WIRE else at_paper(shown)
            items.append((url, html, {"text": "\n".join(text), "price": price}))
        found = nights.crawl_items(items)
    assert not found[-1].dropped


def test_a_tracking_address_with_teasers_of_its_own_comes_out_no_second_time(
    nights: Nights,
) -> None:
    boxes = ["".join(f"<div>{each[:50]}</div>" for each in paragraphs(n) * 4) for n in (20, 21)]
    own, tracked = (
        (f"{OWN}{more}", at_paper([NEWS, *paragraphs(3)[:2]], box))
        for more, box in zip(("", "?utm_source=feed"), boxes, strict=True)
    )
    for night in range(3):
        found = nights.crawl(own, tracked) if night < 2 else nights.crawl(tracked, own)
        assert sum(each.reason in ("new", "changed") for each in found) == (night == 0), night


def test_an_edit_met_at_a_tracking_address_comes_out_though_what_it_was_dropped_for_is_newer(
    nights: Nights,
) -> None:
    """Prices of nights: what each address says, and what comes out."""
    own, tracked = OWN, f"{OWN}?utm_source=feed"
    text = paragraphs(13)
    for pages, is_out in (
        ([(tracked, 20), (own, 20)], [True, False]),
        ([(own, 23)], [True]),
        ([(tracked, 23), (own, 23)], [False, False]),
        ([(own, 22)], [True]),
        ([(tracked, 23), (own, 23)], [True, False]),
        ([(own, 23), (tracked, 23)], [False, False]),
    ):
        found = [
            nights.crawl((url, at_paper(text, f"<b>{price} crowns</b>")), price=price)[0]
            for url, price in pages
        ]
        assert [one.reason in ("new", "changed") for one in found] == is_out, pages


def test_an_update_that_a_copy_brought_out_comes_out_no_second_time(nights: Nights) -> None:
    """At a tracking address of the page that was kept at first."""
    old = paragraphs(7)
    new = [f"{old[0]} {NEWS}", *old[1:]]
    tracked = f"{OWN}?utm_source=mail"
    nights.crawl((OWN, at_paper(old)), (tracked, at_paper(old)), (PRINT, at_wire(old)), text=old)
    pages = [(PRINT, at_wire(new)), (tracked, at_paper(new)), (OWN, at_paper(new))]
    assert [each.dropped for each in nights.crawl(*pages, text=new)] == [False, True, True]
