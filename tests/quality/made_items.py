"""What the judge makes of made pages with items: updates and other things kept, and copies found.

    python -m tests.quality.made_items

prints these rows alone; they need no folder of pages.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import lxml.html

from simhash_pipeline import Judge, Options
from tests.quality import made_sites as made
from tests.quality.floors import read_floors, table
from tests.quality.rows import Row, share_row

MADE_ITEMS = "made items"
_STORIES = 90
_KNOWN = 60  # of them are met with their copies before any is updated
_PLAIN = 10  # whose copies lack a line on their source
_PRODUCTS = 30
_COURSES = range(_PRODUCTS)
_ROOMS = "C372", "A125"
# What is scraped as the text: the article's paragraphs, or all that the page shows, with its boxes.
_SHAPES = ("paragraphs", "all text")
_BESIDE = ("print", "amp", "wire")
_FOUND_GOALS = {"paragraphs": 0.9, "all text": 0.8}
_BOXED = "one thing at two addresses, reviews beside the second: found"
_BOXED_GOAL = 0.4  # the page speaks, too


@dataclass(frozen=True, slots=True)
class Scraped:
    """A page and what a spider made of it."""

    page: made.MadePage
    item: Mapping[str, Any]


def item_rows() -> Iterator[Row]:
    """Shares of items that are kept, as they must, and of copies that are found."""
    for shape in _SHAPES:
        for kind in _BESIDE:
            measure = f"stories and {kind} copies, {shape} scraped: found"
            yield _row(measure, _found(_known(kind, shape)), _FOUND_GOALS[shape])
    for kind in _BESIDE:
        for change in ("a sentence more", "a number corrected"):
            measure = f"{change}, beside a {kind} copy: kept"
            yield _row(measure, _updates_kept(kind, change), 0.9)
    for change in _CHANGES[1:]:
        yield _row(f"{change}, at a new address: kept", _second_kept(_edited(change)), 0.95)
        edits = [(first, _declaring(second, first)) for first, second in _edited(change)]
        yield _row(
            f"{change}, at an address that declares the first: kept", _second_kept(edits), 0.95
        )
    for place in ("at its end", "in front"):
        hits = _found(_sourced(place))[_PLAIN:]
        yield _row(f"wire copies with their source {place}, after others: found", hits, 0.85)
    hits = _second_kept(_tracked())
    yield _row("a story with another advert in its text, at a utm address: found", _not(hits), 0.9)
    for name, pairs in _products().items():
        goal = _BOXED_GOAL if name == _BOXED else 0.95 if name.endswith("kept") else 0.9
        hits = _second_kept(pairs)
        yield _row(name, hits if name.endswith("kept") else _not(hits), goal)


def item_digest() -> str:
    """SHA-256 of pages and items: floors hold for these very ones."""
    digest = hashlib.sha256()
    scraped = chain(
        *(_known(kind, shape) for kind in _BESIDE for shape in _SHAPES),
        *map(_sourced, ("at its end", "in front")),
        *(pair for pairs in _products().values() for pair in pairs),
        (_story(number, change=change) for number in range(3) for change in _CHANGES),
    )
    for one in scraped:
        digest.update(f"{one.page.url} {one.page.html} {one.item}".encode())
    return digest.hexdigest()


def _not(hits: Sequence[float]) -> list[float]:
    return [1 - hit for hit in hits]


def _row(measure: str, hits: Sequence[float], goal: float) -> Row:
    return share_row(MADE_ITEMS, measure, "all", hits, goal)


def _judged(scraped: Sequence[Scraped]) -> list[bool]:
    """Whether each is kept, after those before it, and unless it is as it was."""
    with Judge(options=Options(unchanged="drop")) as judge:
        return [not judge.judge(one.page.url, one.page.html, one.item).dropped for one in scraped]


def _found(known: Sequence[Scraped]) -> list[float]:
    """1.0 for each copy that is dropped: every second one is."""
    return [float(not kept) for kept in _judged(known)[1::2]]


def _updates_kept(kind: str, change: str) -> list[float]:
    """1.0 for each updated story that is kept though its copy came first."""
    after = [
        one
        for number in range(_KNOWN, _STORIES)
        for one in (_copy(number, kind, "paragraphs"), _story(number, change=change))
    ]
    kept = _judged([*_known(kind, "paragraphs"), *after])
    return [float(hit) for hit in kept[-len(after) + 1 :: 2]]


def _second_kept(pairs: Sequence[Sequence[Scraped]]) -> list[float]:
    """1.0 for each second page that is kept: one judge for a pair."""
    return [float(_judged(pair)[1]) for pair in pairs]


# --- stories

_CHANGES = ("", "a sentence more", "a number corrected", "votes corrected", "a name corrected")


@cache
def _known(kind: str, shape: str) -> Sequence[Scraped]:
    """Stories and, after each, its copy."""
    return [
        one
        for number in range(_KNOWN)
        for one in (_story(number, shape=shape), _copy(number, kind, shape))
    ]


def _sourced(place: str) -> Sequence[Scraped]:
    """Stories and their wire copies; from the eleventh on these name their source."""
    line = "First published in the Weekly Lamp." if place == "at its end" else ""
    begin = "" if line else "Oban, 27 Nov (Weekly Lamp) - "
    return [
        one
        for number in range(4 * _PLAIN)
        for parts in [(line, begin) if number >= _PLAIN else ("", "")]
        for one in (_story(number), _copy(number, "wire", "paragraphs", *parts))
    ]


def _written(number: int, change: str = "") -> tuple[str, list[str]]:
    """The title and the paragraphs of a story."""
    chance = made._chance(f"items {number}")
    title, length = made._title(chance), chance.randint(90, 400)
    name = "Ms Kowalska" if change == "a name corrected" else "Ms Bellamy"
    deaths = 14 if change == "a number corrected" else 12
    votes = 204 if change == "votes corrected" else 234
    text = [made._prose(chance, length // 3) for _ in range(3)]
    text.insert(1, f"The motion of {made._word(chance)} passed by {votes} votes to 198.")
    text[2] += f" The fire left {deaths + number} people without a home, {name} said."
    if change == "a sentence more":
        text.append(made._prose(chance, 12))
    return title, text


def _story(number: int, *, change: str = "", shape: str = "paragraphs") -> Scraped:
    title, text = _written(number, change)
    path = f"story-{number}{change.replace(' ', '-')}"
    page = made._page("news-example.org", path, title, made._paragraphs(text))
    return _scraped(page, title, text, shape)


def _copy(number: int, kind: str, shape: str, source: str = "", begin: str = "") -> Scraped:
    title, text = _written(number)
    text = [f"{begin}{text[0]}", *text[1:], *[source] * bool(source)]
    if kind == "wire":
        body = f"<h2>{title}</h2><p>By our agency</p>{made._paragraphs(text)}"
        page = made._bare("wire-example.org", number, title, body)
    else:
        page = made._copy(kind, number, title, text, "")
    return _scraped(page, title, text, shape)


def _scraped(page: made.MadePage, title: str, text: Sequence[str], shape: str) -> Scraped:
    if shape == "all text":
        body = next(lxml.html.document_fromstring(page.html).iter("body"))
        text = [str(each).strip() for each in body.itertext()]
    return Scraped(page, {"title": title, "text": "\n".join(filter(None, text))})


def _edited(change: str) -> list[Sequence[Scraped]]:
    return [(_story(n), _story(n, change=change)) for n in range(_STORIES - _KNOWN)]


def _declaring(scraped: Scraped, first: Scraped, query: str = "") -> Scraped:
    """The page with the first one's address as its canonical one; at that address, with a query."""
    link = f'<link rel="canonical" href="{first.page.url}">'
    html = scraped.page.html.replace("<title>", f"{link}<title>", 1)
    url = first.page.url + query if query else scraped.page.url
    return Scraped(made.MadePage(url, html), scraped.item)


def _tracked() -> list[Sequence[Scraped]]:
    """Stories whose scraped text has an advert in it, which each visit draws."""
    pairs: list[Sequence[Scraped]] = []
    for number in range(_STORIES - _KNOWN):
        title, text = _written(number)
        visits = []
        for advert in ("Get a boat licence in four weeks.", "Our best lamps are on sale now."):
            shown = [*text[:2], advert, *text[2:]]
            body = made._paragraphs(shown)
            page = made._page("news-example.org", f"story-{number}", title, body)
            visits.append(_scraped(page, title, shown, "paragraphs"))
        first, second = visits
        tracked = _declaring(second, first, "?utm_source=mail")
        pairs.append((_declaring(first, first), tracked))
    return pairs


# --- products

# What the page shows and the value of it, for two things.
_VALUES: Mapping[str, tuple[tuple[str, str], tuple[Any, Any]]] = {
    "size": (("<b>41</b>", "<b>42</b>"), ("41", "42")),
    "price": (("<b>1,299.00 EUR</b>", "<b>1,399.00 EUR</b>"), (1299.0, 1399.0)),
    "price in source": (("<i data-p='2999'></i>", "<i data-p='3999'></i>"), (29.99, 39.99)),
    "stars": (("<i class='stars Four'></i>", "<i class='stars Five'></i>"), (4, 5)),
    "state": (("<i class='on'></i>", "<i class='off'></i>"), ("InStock", "SoldOut")),
    "day": (("<b>3 May 2024</b>", "<b>4 May 2024</b>"), ("2024-05-03", "2024-05-04")),
    "colour": (("<i data-c='navy'></i>", "<i data-c='teal'></i>"), ("navy", "teal")),
    "place": (("<b>Hull</b>", "<b>Rhyl</b>"), ("Hull", "Rhyl")),
}
_REVIEW = "<section><h3>Review</h3><blockquote><div><em>Good.</em></div></blockquote></section>"


@cache
def _products() -> Mapping[str, list[Sequence[Scraped]]]:
    """Pairs of pages of one description, in which a value differs, or nothing but boxes."""
    rows: dict[str, list[Sequence[Scraped]]] = {}
    for boxes, beside in ((0, "the same boxes"), (3, "reviews beside the second")):
        for name, (shown, values) in _VALUES.items():
            rows[f"another {name}, {beside}: kept"] = [
                (_product(n, 1, name, shown[0], values[0]), second)
                for n in range(_PRODUCTS)
                for second in [_product(n, 2, name, shown[1], values[1], boxes)]
            ]
        rows[f"one thing at two addresses, {beside}: found"] = [
            (_product(n, 1, name, shown[0], values[0]), second)
            for n in range(_PRODUCTS)
            for name, (shown, values) in _VALUES.items()
            for second in [_product(n, 2, name, shown[0], values[0], boxes)]
        ]
    rows["other notes in a tab, the same article: kept"] = [
        (_noted(n, 1, 1), _noted(n, 2, 2)) for n in range(_PRODUCTS)
    ]
    rows["one thing with notes in a tab at two addresses: found"] = [
        (_noted(n, 1, 1), _noted(n, 2, 1)) for n in range(_PRODUCTS)
    ]
    rows["a short thing again, other teasers beside it: found"] = [
        (_brief(n, 1), _brief(n, 2)) for n in range(_PRODUCTS)
    ]
    rows["a short thing again at another price: kept"] = [
        (_brief(n, 1), _brief(n, 1, "24.50")) for n in range(_PRODUCTS)
    ]
    for query, price in (("?utm_source=mail", ""), ("?print=1", "29.50")):
        briefs = [[_brief(n, day, price, others=1) for day in (1, 2)] for n in range(_PRODUCTS)]
        rows[f"a short thing at {query}, other teasers beside it: found"] = [
            (_declaring(one, one), _declaring(two, one, query)) for one, two in briefs
        ]
    dearer = [(_brief(n, 1), _brief(n, 1, "24.50")) for n in range(_PRODUCTS)]
    rows["a short thing at ?print=1 at another price: kept"] = [
        (_declaring(one, one), _declaring(two, one, "?print=1")) for one, two in dearer
    ]
    rows["another lead behind a byline, in a print view: kept"] = [
        (_led(n, "print", 12), _led(n, "story", 21)) for n in range(_PRODUCTS)
    ]
    rows["a lead behind a byline, in a print view: found"] = [
        (_led(n, "print", 12), _led(n, "story", 12)) for n in range(_PRODUCTS)
    ]
    rows["the whole of a reprint whose last sentence was cut: kept"] = [
        (_linked(n, "wire", cut=True), _linked(n, "story")) for n in range(_PRODUCTS)
    ]
    rows["another site's report with another number: kept"] = [
        (_toll(n, "wire", 12), _toll(n, "story", 21)) for n in range(_PRODUCTS)
    ]
    rows["another site's report with edited words: found"] = [
        (_toll(n, "wire", 12), _toll(n, "story", 12, "has sunk")) for n in range(_PRODUCTS)
    ]
    rows["a copy of a text without its links' words: found"] = [
        (_linked(n, "story"), _linked(n, "print")) for n in range(_PRODUCTS)
    ]
    words = ["Open", "Filled"]
    rows["another word below the heading, in the whole text: kept"] = [
        [_opening(n, word) for word in words] for n in range(_PRODUCTS)
    ]
    rows["other cards below the heading, in the whole text: found"] = [
        [_opening(n, words[0], day) for day in (1, 2)] for n in range(_PRODUCTS)
    ]
    rows["a text that has the price of a page, without the field: found"] = [
        (_sold(n, "print", 49, has_price=False), _sold(n, "story", 49)) for n in range(_PRODUCTS)
    ]
    rows["a text that has another price than a page, without the field: kept"] = [
        (_sold(n, "wire", 53, has_price=False), _sold(n, "story", 49)) for n in range(_PRODUCTS)
    ]
    rows["a thread again, other counts and teasers beside its posts: found"] = [
        (_thread(n, 1), _thread(n, 2)) for n in range(_PRODUCTS)
    ]
    rows["a thread again with a post more: kept"] = [
        (_thread(n, 1), _thread(n, 2, posts=5)) for n in range(_PRODUCTS)
    ]
    rooms = [[_course(n, copy, room) for copy, room in enumerate(_ROOMS)] for n in _COURSES]
    rows["a course with another room in its text, the same article: kept"] = [*rooms]
    rows["a course again, other links in its text: found"] = [
        (one, _course(n, 2, "C372")) for n, (one, _) in zip(_COURSES, rooms, strict=True)
    ]
    in_a_line = [[_course(n, c, room, " ") for c, room in enumerate(_ROOMS)] for n in _COURSES]
    rows["a course with another room in its text, joined by blanks: kept"] = [*in_a_line]
    rows["a course again, other links in its text, joined by blanks: found"] = [
        (one, _course(n, 2, _ROOMS[0], " "))
        for n, (one, _) in zip(_COURSES, in_a_line, strict=True)
    ]
    shown, values = _VALUES["price"]
    rows["a price more, reviews beside the second: kept"] = [
        (_product(n, 1, "price", "", None), _product(n, 2, "price", shown[0], values[0], 3))
        for n in range(_PRODUCTS)
    ]
    rows["another price, in a print view: kept"] = [
        (_product(n, 1, "price", shown[0], values[0]), _printed(n, shown[1], {"price": values[1]}))
        for n in range(_PRODUCTS)
    ]
    rows["a price after a print view without one: kept"] = [
        (_printed(n, "", {"price": None}), _product(n, 2, "price", shown[0], values[0]))
        for n in range(_PRODUCTS)
    ]
    rows["a price in other words, in a print view: found"] = [
        (_product(n, 1, "price", "<i data-p='1,299.00 EUR'></i>", "1,299.00 EUR"), second)
        for n in range(_PRODUCTS)
        for second in [_printed(n, "<i data-p='from 1,299 €'></i>", {"price": "from 1,299 €"})]
    ]
    days = "<b>3 May 2026</b>", "<b>18 June 2026</b>"
    rows["another day, in a print view: kept"] = [
        (_product(n, 1, "until", days[0], "3 May 2026"), second)
        for n in range(_PRODUCTS)
        for second in [_printed(n, days[1], {"until": "18 June 2026"})]
    ]
    image = "<p><img src='/thing.jpg'></p>"
    answers = {"image": False, "stock": 0, "boxes": 0}  # where a selector finds nothing
    things = [_product(n, 1, "image", image, True) for n in range(_PRODUCTS)]
    rows["a thing and its print view, which lacks what was selected: found"] = [
        (thing, _printed(n, "", answers)) for n, thing in enumerate(things)
    ]
    rows["a thing and its page without a menu, which lacks what was selected: found"] = [
        (thing, _without_menu(thing, answers)) for thing in things
    ]
    return rows


def _product(n: int, copy: int, name: str, shown: str, value: object, boxes: int = 0) -> Scraped:
    title, text = _described(n)
    body = f"<p>{text}</p><p>{shown}</p>{_REVIEW * boxes}"
    page = made._page("shop-example.org", f"{copy}/thing-{n}", title, body, related="things")
    # Where the crawl met it says nothing of the thing.
    item = {"title": title, name: value, "boxes": 3, "position": 7 * copy, "depth": copy}
    return Scraped(page, item)


def _noted(n: int, copy: int, edition: int) -> Scraped:
    """A page whose notes are all that is scraped but its title; an edition ends otherwise."""
    title, text = _described(n)
    notes = [made._prose(made._chance(f"notes {n}"), 150)]
    notes.append(made._prose(made._chance(f"notes {n} {edition}"), 12))
    body = f"<p>{text}</p><div hidden>{made._paragraphs(notes)}</div>"
    page = made._page("shop-example.org", f"{copy}/thing-{n}", title, body, related="things")
    return Scraped(page, {"title": title, "notes": "\n".join(notes)})


def _course(n: int, copy: int, room: str, joined: str = "\n") -> Scraped:
    """A description below a table of facts, which is scraped with all that stands in its box."""
    title, text = _described(n)
    facts = "".join(f"<tr><th>{name}<td>{said}" for name, said in (("Term", "5"), ("Room", room)))
    links = [made._title(made._chance(f"courses {n} {copy} {each}")) for each in range(3)]
    linked = "".join(f"<li><a href='/c/{copy}/{at}'>{one}</a>" for at, one in enumerate(links))
    more = made._prose(made._chance(f"course {n}"), 60)
    body = f"<table>{facts}</table><div><p>{text}</p><p>{more}</p></div><ul>{linked}</ul>"
    page = made._page("courses-example.org", f"{copy}/course-{n}", title, body, related="courses")
    text = joined.join(line for line in re.split("<[^<>]*>", body) if line)
    return Scraped(page, {"title": title, "text": text})


def _brief(n: int, day: int, price: str = "29.50", others: int = 6) -> Scraped:
    """A thing in under 50 words, above teasers that each day has others of."""
    title, _ = _described(n)
    text = made._prose(made._chance(f"brief {n}"), 20)
    teasers = [made._prose(made._chance(f"teasers {n} {day} {each}"), 25) for each in range(others)]
    boxed = f"<section>{made._paragraphs(teasers)}</section></main>"
    body = f"<p>{text}</p><b>{price}</b>"
    page = made._page("shop-example.org", f"brief-{n}", title, body, related="things")
    html = page.html.replace("</main>", boxed)
    item = {"title": title, "text": text, "price": price or None}
    return Scraped(made.MadePage(page.url, html), item)


def _led(n: int, kind: str, boats: int) -> Scraped:
    """A story whose selector takes the byline's first word in, before its lead."""
    title, text = _written(n)
    lead = f"The storm sank {boats} boats in the harbour of {made._word(made._chance(f'led {n}'))}."
    text = [lead, *text]
    body = f"<p>By <b>Ann Ford</b></p>{made._paragraphs(text)}"
    item = {"title": title, "text": " ".join(["By", *text])}
    if kind == "print":
        return Scraped(made._bare("news-example.org", n, title, f"<h2>{title}</h2>{body}"), item)
    return Scraped(made._page("news-example.org", f"led-{n}", title, body), item)


def _in_frame(n: int, kind: str, title: str, body: str, item: Mapping[str, Any]) -> Scraped:
    if kind == "story":
        return Scraped(made._page("news-example.org", f"story-{n}", title, body), item)
    host = "news-example.org" if kind == "print" else "wire-example.org"
    return Scraped(made._bare(host, n, title, f"<h2>{title}</h2>{body}"), item)


def _toll(n: int, kind: str, boats: int, verb: str = "sank") -> Scraped:
    """A story with a number in its lead."""
    title, text = _written(n)
    place = made._word(made._chance(f"toll {n}"))
    text = [f"The storm {verb} {boats} boats in the harbour of {place}.", *text]
    item = {"title": title, "text": "\n".join(text)}
    return _in_frame(n, kind, title, made._paragraphs(text), item)


def _linked(n: int, kind: str, *, cut: bool = False) -> Scraped:
    """A story whose paragraphs have a link each in the site's own template, scraped by p::text."""
    title, text = _written(n)
    text[-1] = text[-1][: text[-1].rindex(". ") + 1] if cut else text[-1]
    body, said = made._paragraphs(text), text
    if kind == "story":
        parts = [each.partition(f" {each.split()[5]} ") for each in text]
        body = "".join(f"<p>{a} <a href='/about'>{b}</a>{c}</p>" for a, b, c in parts)
        said = [part for a, _, c in parts for part in (a, c)]
    return _in_frame(n, kind, title, body, {"title": title, "text": "\n".join(said)})


def _opening(n: int, word: str, day: int = 1) -> Scraped:
    """A job with a word on its state below the heading, and cards; all of it is scraped."""
    title, text = _described(n)
    more = made._prose(made._chance(f"job {n}"), 200)
    cards = [made._title(made._chance(f"cards {n} {day} {each}")) for each in range(3)]
    box = f"<div>{made._paragraphs(cards)}</div>"
    body = f"<div>{word} in May</div>{box}<section><p>{text}</p><p>{more}</p></section>"
    page = made._page("jobs-example.org", f"{word}-{day}/job-{n}", title, body, related="jobs")
    text = " ".join(line for line in re.split("<[^<>]*>", body) if line)
    return Scraped(page, {"title": title, "text": text})


def _sold(n: int, kind: str, price: int, *, has_price: bool = True) -> Scraped:
    """A story that says a price, which stands in a field, too, where the template shows one."""
    title, text = _written(n)
    text = [*text[:2], f"The lamp sells for {price} EUR in all shops.", *text[2:]]
    shown = f"<div><b>{price} EUR</b></div>" * has_price
    item = {"title": title, "text": "\n".join(text), "cost": f"{price} EUR" if has_price else None}
    return _in_frame(n, kind, title, f"{shown}{made._paragraphs(text)}", item)


def _thread(n: int, day: int, *, posts: int = 4) -> Scraped:
    """Posts, each with how many its author has written, above links to other threads."""
    title, _ = _described(n)
    said = [made._prose(made._chance(f"post {n} {each}"), 25) for each in range(posts)]
    written = [
        f"<div><b>reader{at}</b> <i>{40 * at + 7 * day} posts</i><p>{text}</p></div>"
        for at, text in enumerate(said)
    ]
    others = [made._title(made._chance(f"hot {n} {day} {each}")) for each in range(3)]
    hot = "".join(f"<li><a href='/t/{day}/{at}'>{one}</a></li>" for at, one in enumerate(others))
    body = f"{''.join(written)}<h3>Hot now</h3><ul>{hot}</ul>"
    page = made._page("board-example.org", f"thread-{n}", title, body, related="threads")
    told = [{"user": f"reader{at}", "text": text} for at, text in enumerate(said)]
    return Scraped(page, {"title": title, "posts": told})


def _printed(n: int, shown: str, values: Mapping[str, object]) -> Scraped:
    title, text = _described(n)
    html = made._copy("print", n, title, [text, shown], "").html
    page = made.MadePage(f"http://shop-example.org/print/{n}", html)
    return Scraped(page, {"title": title, **values})


def _without_menu(thing: Scraped, values: Mapping[str, object]) -> Scraped:
    html = re.sub(r"<nav>.*?</nav>|<img.*?>", "", thing.page.html)
    page = made.MadePage(thing.page.url.replace("/1/", "/app/"), html)
    return Scraped(page, {**thing.item, **values})


def _described(n: int) -> tuple[str, str]:
    chance = made._chance(f"things {n}")
    return made._title(chance), made._prose(chance, chance.randint(60, 250))


if __name__ == "__main__":
    print(table(list(item_rows()), read_floors(), {MADE_ITEMS: item_digest()}))
