"""Sites that are made, each around one mistake that a judge makes: their pages as HTML.

Words are drawn from the demo site's English stories, so that no two texts share a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from crawler.demo_site.markup import story_text
from crawler.demo_site.pages import read_newsroom
from simhash_pipeline.page.segment import words

_SEED = 7
_NAMES = ("Albrecht", "Bellamy", "Castellan", "Drummond", "Eriksen", "Fontaine", "Gallagher")
_STREETS = ("Mill", "Quay", "Anchor", "Chapel", "Harbour", "Orchard", "Station", "Bridge", "Castle")
_COLOURS = ("red", "blue", "green", "black", "white", "silver", "yellow", "orange")
VARIANTS = 4  # of a product
_STORIES = 40
_NOTICES = 60
_SHELLS = 20
_LOADING = (
    "Loading, please wait. This application needs a browser that runs scripts. If this page does "
    "not load within ten seconds, check that scripts are enabled in the settings of your browser, "
    "that no extension blocks them, and reload the page. Older browsers are not supported any "
    "more; please bring yours up to date. If the problem remains, write to our support team and "
    "tell us which device and browser you use. Thank you."
)


@dataclass(frozen=True, slots=True)
class MadePage:
    """An address and what is served there."""

    url: str
    html: str


@dataclass(frozen=True, slots=True)
class Copies:
    """Stories of one site, and each one's copy of one kind: `copies[i]` is one of `stories[i]`."""

    stories: Sequence[MadePage]
    copies: Sequence[MadePage]


def notices(length: int) -> list[MadePage]:
    """Public notices of so many words that differ in a name, four times, and in a number."""
    chance = _chance(f"notices {length}")
    parts = [_prose(chance, length // 5) for _ in range(5)]
    pages = []
    for number, name in enumerate(_people(_NOTICES)):
        paragraphs = [
            f"{parts[0]} The licence of {name} is number {4100 + 37 * number}.",
            f"{parts[1]} Signed for {name}.",
            f"{parts[2]} Objections against {name} are heard.",
            f"{parts[3]} {parts[4]} Given to {name}.",
        ]
        title = f"Notice to {name}"
        body = _paragraphs(paragraphs)
        pages.append(
            _page("council-example.org", f"notice-{number}", title, body, related="notices")
        )
    return pages


def script_shells(*, hosts: int) -> list[MadePage]:
    """Pages of applications that show a text of loading alone, under titles of their own."""
    chance = _chance("shells")
    return [
        _bare(_host("app", number, hosts), number, _title(chance), f"<p>{_LOADING}</p>")
        for number in range(_SHELLS)
    ]


def consent_pages(*, hosts: int) -> list[MadePage]:
    """Recipes of forty words under one consent text of 1,185 words."""
    chance = _chance("consent")
    consent = _paragraphs([_prose(chance, 79) for _ in range(15)])
    return [
        _bare(
            _host("recipes", number, hosts),
            number,
            title := _title(chance),
            f"<h1>{title}</h1><p>{_prose(chance, 40)}</p><div>{consent}</div>",
        )
        for number in range(_SHELLS)
    ]


def footer_pages(*, hosts: int) -> list[MadePage]:
    """Products of twenty words above a footer of 180 words that no element marks as one."""
    chance = _chance("footers")
    footer = _paragraphs([_prose(chance, 60) for _ in range(3)])
    return [
        _bare(
            _host("keyboards", number, hosts),
            number,
            title := _title(chance),
            f"<div><b>{title}</b> {_prose(chance, 20)}</div><div>{footer}</div>",
        )
        for number in range(_SHELLS)
    ]


def shop(size: int, *, titled: bool) -> list[MadePage]:
    """Products in four variants each: colour, size, price and number differ, in a table.

    Of each product 60-250 words are common to its variants. Titles name the variant if `titled`.
    """
    chance = _chance(f"shop {size}")
    pages = []
    for product in range(size // VARIANTS):
        name, text = _title(chance), _prose(chance, chance.randint(60, 250))
        colours = chance.sample(_COLOURS, VARIANTS)
        maker, origin = _word(chance), _word(chance)
        for variant, colour in enumerate(colours):
            width = 30 + 10 * variant
            cells = {
                "Colour": colour,
                "Size": f"{width} cm",
                "Price": f"{product % 90 + 10 + variant}.90 EUR",
                "Number": f"{product:04}-{variant}{chance.randint(100, 999)}",
                "Maker": maker,
                "Origin": origin,
                "Delivery": "2 to 4 days",
            }
            title = f"{name}, {colour}, {width} cm" if titled else name
            rows = "".join(f"<tr><th>{k}</th><td>{v}</td></tr>" for k, v in cells.items())
            body = f"<p>{text}</p><table>{rows}</table>"
            path = f"{product}-{variant}"
            pages.append(_page("shop-example.org", path, title, body, related=f"{product}"))
    return pages


def copies(kind: str, *, declared: bool) -> Copies:
    """Stories of 60-190 words, and print, AMP or mobile copies, with a canonical link or none."""
    chance = _chance("stories")
    stories, made = [], []
    for number in range(_STORIES):
        title, length = _title(chance), chance.randint(60, 190)
        text = [_prose(chance, length // 3) for _ in range(3)]
        story = _page("news-example.org", f"story-{number}", title, _paragraphs(text))
        link = f'<link rel="canonical" href="{story.url}">' if declared else ""
        made.append(_copy(kind, number, title, text, link))
        stories.append(story)
    return Copies(stories, made)


def syndicated(length: int) -> Copies:
    """Articles of so many words in the templates of two sites."""
    chance = _chance(f"syndicated {length}")
    stories, made = [], []
    for number in range(_STORIES):
        title, text = _title(chance), [_prose(chance, length // 2) for _ in range(2)]
        stories.append(_page("news-example.org", f"story-{number}", title, _paragraphs(text)))
        links = "".join(f"<li><a href='#'>{_title(chance)}</a></li>" for _ in range(6))
        body = f"<p>By our agency</p>{_paragraphs(text)}<ul>{links}</ul>"
        made.append(_bare("wire-example.org", number, title, f"<h2>{title}</h2>{body}"))
    return Copies(stories, made)


def _copy(kind: str, number: int, title: str, text: Sequence[str], link: str) -> MadePage:
    """The same story as a site's template for print, AMP or telephones shows it."""
    chance = _chance(f"{kind} {number}")
    paragraphs = _paragraphs(text)
    url = f"http://news-example.org/{kind}/{number}"
    if kind == "print":
        body = (
            f"<h1>{title}</h1>{paragraphs}<p>Printed from http://news-example.org/story-{number}. "
            "All rights reserved by the publisher.</p>"
        )
    elif kind == "amp":
        body = (
            f"<header><a href='/'>News</a></header><article><h1>{title}</h1>"
            f"<p>By the desk of the morning news</p>{paragraphs}</article>"
            f"<p>Read the full story on our website</p>"
        )
    else:
        url = f"http://m.news-example.org/story-{number}"
        links = "".join(f"<a href='#'>{_title(chance)}</a>" for _ in range(6))
        body = (
            f"<div>Menu</div><h1>{title}</h1>{paragraphs}<div>More stories {links}</div>"
            "<div>Get our application for your telephone. Desktop version</div>"
        )
    html = f"<html><head><title>{title}</title>{link}</head><body>{body}</body></html>"
    return MadePage(url, html)


def _page(host: str, path: str, title: str, content: str, related: str = "") -> MadePage:
    """In the template of a site: a menu, two boxes of links and a footer around the content.

    Pages with the same `related` have the same box of related links; else each has its own.
    """
    chance = _chance(f"{host} {related or path}")
    site = _chance(host)
    menu = "".join(f"<li><a href='#'>{_word(site)}</a></li>" for _ in range(9))
    read = "".join(f"<li><a href='#'>{_title(site)}</a></li>" for _ in range(8))
    related = "".join(f"<li><a href='#'>{_title(chance)}</a></li>" for _ in range(4))
    html = (
        f"<html><head><title>{title}</title></head><body><nav><ul>{menu}</ul></nav>"
        f"<main><h1>{title}</h1>{content}</main>"
        f"<aside><h2>Most read</h2><ol>{read}</ol><h2>Related</h2><ul>{related}</ul></aside>"
        f"<footer><p>{_prose(site, 40)}</p></footer></body></html>"
    )
    return MadePage(f"http://{host}/{path}", html)


def _bare(host: str, number: int, title: str, body: str) -> MadePage:
    html = f"<html><head><title>{title}</title></head><body>{body}</body></html>"
    return MadePage(f"http://{host}/{number}", html)


def _host(name: str, number: int, hosts: int) -> str:
    """One of `hosts` sites, in turn."""
    return f"{name}-{number % hosts}-example.org"


def _people(count: int) -> list[str]:
    chance = _chance("people")
    return [
        f"{_NAMES[n % 7]} {_STREETS[n // 7 % 9]} {_word(chance).capitalize()}" for n in range(count)
    ]


def _paragraphs(texts: Sequence[str]) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def _title(chance: Random) -> str:
    return " ".join(_word(chance) for _ in range(5)).capitalize()


def _prose(chance: Random, length: int) -> str:
    """So many words in sentences of twelve."""
    drawn = [_word(chance) for _ in range(length)]
    return " ".join(_sentences(drawn))


def _sentences(drawn: Sequence[str]) -> Iterator[str]:
    for start in range(0, len(drawn), 12):
        yield " ".join(drawn[start : start + 12]).capitalize() + "."


def _word(chance: Random) -> str:
    return chance.choice(_vocabulary())


@cache
def _vocabulary() -> Sequence[str]:
    """Words as often as they stand in the stories."""
    texts = (story_text(story) for story in read_newsroom().stories("en"))
    return [word for text in texts for word in words(text) if word.isalpha()]


def _chance(name: str) -> Random:
    return Random(f"{_SEED} {name}")
