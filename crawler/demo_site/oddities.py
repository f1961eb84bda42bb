"""Pages that go wrong in the ways real ones do: broken, deep, huge, empty, or no HTML at all."""

import struct
import zlib
from collections.abc import Iterator
from html import escape
from itertools import count
from typing import Final

from crawler.demo_site.article import Article
from crawler.demo_site.markup import date_html, story_html
from crawler.demo_site.page import Page, html_page

DEEP_DIVS: Final = 100_000
LARGE_PAGE_BYTES: Final = 5_000_000
GAUGES: Final = (
    "Mole",
    "fish quay",
    "Pollard Spit",
    "ferry slip",
    "ice works",
    "West Channel",
    "weir",
)
KEEPERS: Final = (
    "the pilot on watch",
    "an apprentice",
    "the lock keeper",
    "a visiting surveyor",
    "nobody",
)
REMARKS: Final = (
    "a swell from the north-west",
    "ice along the piles",
    "two seals under the ladder",
    "fog thick enough to lean on",
    "an unusually clear view of the far shore",
    "mud on the lower steps",
    "a barge waiting for water",
    "rain that stopped at the turn of the tide",
    "jellyfish by the hundred",
    "no wind whatever",
    "the smell of new bread",
)


def broken_html(article: Article) -> str:
    """An article in careless markup: tags left open, closed twice, or closed in the wrong order."""
    paragraphs = [escape(line) for block in article.blocks for line in block.lines]
    halves = "<p>".join(f"<P align=left><p>{text}</div>" for text in paragraphs[:3])
    rest = "<BR><br/>".join(f"<font size=3><b>{text}</font>" for text in paragraphs[3:])
    return (
        f"<HTML lang=en><head><title>{escape(article.title)}</title>"
        "<link rel=stylesheet href=/static/site.css><body class=bare bgcolor=#ffffff>"
        f"<table><tr><td><center><h1>{escape(article.title)}</h2></center></div></div>"
        f"<p class=lead id=a id=b>{escape(article.lead)}<p><i>{escape(article.byline)}</p>"
        f"{halves}</span></p></p><ul><li>&nbsp<li><a href=/archive>All pages</ul></a>"
        f"<div <div class='x'>{rest}</section></table></td><p>&copy 2025"
    )


def open_title_html(article: Article) -> str:
    """An article whose title element is never closed."""
    return (
        f'<!doctype html>\n<html lang="{article.lang}"><head><meta charset="utf-8">\n'
        '<link rel="stylesheet" href="/static/site.css"><link rel="icon" href="data:,">\n'
        f'<title>{escape(article.title)}\n</head>\n<body class="bare"><main>\n'
        f"<h1>{escape(article.title)}</h1>\n{story_html(article)}\n</main></body></html>\n"
    )


def deep_html(article: Article) -> str:
    """An article at the bottom of a hundred thousand nested divs."""
    return (
        f'<!doctype html>\n<html lang="{article.lang}"><head><meta charset="utf-8">'
        f"<title>{escape(article.title)} | The Harbour Post</title>"
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="/static/site.css"></head>\n'
        f'<body class="bare">{"<div>" * DEEP_DIVS}\n<h1>{escape(article.title)}</h1>\n'
        f"<p>{escape(article.byline)} · {date_html(article)}</p>\n{story_html(article)}\n"
        f"{'</div>' * DEEP_DIVS}</body></html>\n"
    )


def large_story_html() -> str:
    """Paragraphs of at least five million bytes: a tide log in which no two lines are the same."""
    paragraphs, size = [], 0
    for paragraph in _log_paragraphs():
        paragraphs.append(paragraph)
        size += len(paragraph)
        if size >= LARGE_PAGE_BYTES:
            break
    return "\n".join(paragraphs)


def empty_pages() -> dict[str, Page]:
    """The three pier cameras that show nothing, each in its own way."""
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Pier camera {}</title>'
    )
    tail = '<link rel="icon" href="data:,"></head><body>{}</body></html>\n'
    return {
        "/en/cameras/pier-1": html_page(head.format(1) + tail.format("")),
        "/en/cameras/pier-2": html_page(head.format(2) + tail.format("<!-- picture goes here -->")),
        "/en/cameras/pier-3": html_page(""),
    }


def picture_as_html() -> Page:
    """A grey picture that the server calls HTML."""
    size = struct.pack(">IIBBBBB", 200, 90, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x99" * 200) * 90)
    chunks = ((b"IHDR", size), (b"IDAT", rows), (b"IEND", b""))
    return Page(
        b"\x89PNG\r\n\x1a\n"
        + b"".join(
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            for name, data in chunks
        )
    )


def _log_paragraphs() -> Iterator[str]:
    for first in count(1, 6):
        yield f"<p>{' '.join(_log_line(number) for number in range(first, first + 6))}</p>"


def _log_line(number: int) -> str:
    metres, minutes = 2 + number * 37 % 411 / 100, number * 53 % 59
    gauge, keeper = GAUGES[number % len(GAUGES)], KEEPERS[number % len(KEEPERS)]
    return (
        f"Tide {number} stood at {metres:.2f} metres on the {gauge} gauge, {minutes} minutes from"
        f" the almanac, and {keeper} noted {REMARKS[number % len(REMARKS)]}."
    )
