"""Thin pages are told apart by what isn't read: pictures, frames, forms, hidden texts, data."""

from __future__ import annotations

import time

import pytest

from simhash_pipeline import Fingerprinter, Judge

WORDS = ["ferry", "harbour", "lantern", "quarry", "drought", "ledger", "kettle", "orchard"]


def prose(number: int) -> str:
    """Sixty words of which each number has its own."""
    return " ".join(f"{word}{number}" for word in WORDS * 8)


def page(body: str, head: str = "", *, title: str = "Viewer", menu: str = "") -> str:
    return (
        f"<html><head><title>{title}</title>{head}</head><body><header>Gull Rock Comics</header>"
        f"<nav><a href=/a>Archive</a> <a href=/b>About</a>{menu}</nav>"
        f"<div class=main>{body}</div><footer><p>Imprint</p></footer></body></html>"
    )


def kept(*pages: str, sites: int = 1) -> int:
    """How many of these pages are kept, at URLs of one site or of as many."""
    with Judge("memory:") as judge:
        return sum(
            not judge.judge(f"http://site{n % sites}.example{n % sites}/p/{n}", one).dropped
            for n, one in enumerate(pages)
        )


FORMS = {
    "the strip of a comic": "<img src=/strips/{n}.png alt=strip>",
    "a picture in the page's own folder": "<img src=/p/{n}/strip.png>",
    "a picture named by a parameter": "<img src='/show?strip={n}'>",
    "a picture that is loaded late": "<img src=/blank.gif data-src=/strips/{n}.png>",
    "a picture in several sizes": "<picture><source srcset='/{n}.webp 1x, /2.webp 2x'></picture>",
    "what a picture shows": "<img src=/strip.php alt='Gull number {n} at the quay'>",
    "a video": "<video src=/v/{n}.mp4 controls></video>",
    "a video's poster": "<video poster=/v/{n}.jpg controls></video>",
    "a podcast": "<audio controls><source src=/{n}.ogg></audio>",
    "a frame": "<iframe src=https://player.example/{n}></iframe>",
    "a frame's own document": "<iframe srcdoc='<p>{prose}</p>'></iframe>",
    "a PDF viewer": "<embed src=/files/{n}.pdf>",
    "an object": "<object data=/files/{n}.pdf></object>",
    "a background": "<div style='background-image: url(/strips/{n}.png)'></div>",
    "a paste": "<textarea readonly>{prose}</textarea>",
    "the values of a form": "<form><input name=a value='Gull {n}'><input type=submit></form>",
    "a choice": "<select><option>1<option>2<option selected>{n}</select>",
    "a shadow root": "<x-story><template shadowrootmode=open><p>{prose}</template></x-story>",
    "an element of one's own": "<photo-viewer photo-id={n}></photo-viewer>",
    "a text for browsers without scripts": "<noscript><p>{prose}</p></noscript>",
    "a drawing": "<svg><text>{prose}</text></svg>",
    "a drawing by its address": "<svg><use href=/icons.svg#{n}></use></svg>",
    "a hidden text": "<div hidden>{prose}</div>",
    "a text that a style hides": "<div style='display: none'>{prose}</div>",
    "JSON": "<script type=application/json>{{'id': '{n}'}}</script>",
    "linked data": "<script type=application/ld+json>{{'headline': 'Gull {n}'}}</script>",
    "a state in a script": '<script>window.__STATE__ = {{body: "{prose}"}}</script>',
    "a page in an attribute": '<div id=app data-page=\'{{"body": "{prose}"}}\'></div>',
    "a file to download": "<a href=/files/{n}.zip download>Download</a>",
}


@pytest.mark.parametrize("sites", [1, 5])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_what_differs_in_what_is_not_read_is_kept(form: str, sites: int) -> None:
    pages = [page(form.format(n=n, prose=prose(n))) for n in range(5)]
    assert kept(*pages, sites=sites) == 5
    assert kept(*[page(form.format(n=1, prose=prose(1)))] * 5, sites=sites) == 1


def test_what_a_page_tells_other_programs_is_not_read_either() -> None:
    for head in (
        "<meta name=Description content='Gull {n}'>",
        "<meta property=og:image content={n}>",
    ):
        assert kept(*[page("Loading", head.format(n=n)) for n in range(5)], sites=5) == 5


SAME = {
    "a version": "<img src=/logo.png?v={n}>",
    "a token": "<form><input type=hidden name=csrf value={n}><input type=submit value=Go></form>",
    "a password": "<input type=password value={n}>",
    "the page's address in data": "<script type=application/json>{{'path': '/p/{n}'}}</script>",
    "its whole address": "<script type=application/json>{{'url': 'http://site0.example0/p/{n}'}}</script>",
    "its address in a frame": "<iframe src=/comments#/p/{n}></iframe>",
    "a script that counts": "<script>var t = {n}; send('/pixel?t={n}')</script>",
    "a link": "<a href=/login?next=/p/{n}>Log in</a>",
    "a class": "<div class=page-{n}>-</div>",
    "a short attribute": "<div data-id={n}>-</div>",
}


@pytest.mark.parametrize("form", SAME.values(), ids=SAME)
def test_what_says_nothing_of_the_page_keeps_no_copy(form: str) -> None:
    """Such as an error page that answers 200."""
    pages = [page(f"Not found. {form.format(n=n)}") for n in range(5)]
    assert kept(*pages) == 1


def test_pictures_beside_a_text_count_nothing() -> None:
    pages = [page(f"<p>{prose(1)}</p><img src=/{n}.png>") for n in range(5)]
    assert kept(*pages) == 1


def test_a_new_strip_at_the_same_address_is_a_change() -> None:
    with Judge("memory:") as judge:
        for strip, reason in ((1, "thin"), (1, "unchanged"), (2, "changed")):
            verdict = judge.judge("http://a.example/today", page(f"<img src=/strips/{strip}.png>"))
            assert verdict.reason == reason


def test_only_thin_pages_have_a_digest_of_it() -> None:
    fingerprint = Fingerprinter().fingerprint
    assert fingerprint(page(f"<p>{prose(1)}</p><img src=/1.png>")).unread == b""
    assert len(fingerprint(page("<img src=/1.png>")).unread) == 8
    assert fingerprint("<p>A word.").unread == b""


def test_it_is_read_in_linear_time() -> None:
    fingerprint = Fingerprinter().fingerprint
    pieces = [
        "<img src=a>",
        "<input value=a>",
        "<script>'\"</script>",
        "<i style='url('>",
        "<a-b c=d>",
    ]
    pieces += [
        "<script>'" + "\\'" * 400_000,
        "<script>" + "'\\" * 400_000,
        "<svg>" * 3 + "<textarea>",
    ]
    for piece in pieces:
        started = time.process_time()
        fingerprint(piece * max(1, 1_000_000 // len(piece)), "http://a.example/a")
        assert time.process_time() - started < 3
