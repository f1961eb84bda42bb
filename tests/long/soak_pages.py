"""A site of any number of pages, each made from its number alone, with duplicates at a known rate.

One page in five is a copy of an earlier story under another layout; of the copies one in five has
a word replaced. One page in four is Chinese, and one in two hundred is over 100 KB, so that it is
read by the processes beside the crawl.
"""

from __future__ import annotations

import random
import string
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COPY_EVERY = 5
EDITED_EVERY = 5  # of the copies
CHINESE_EVERY = 4
LARGE_EVERY = 200
LARGE_COMMENTS = 600
LAYOUTS = 7
WORDS = 6_000
_CONSONANTS = "bcdfghjklmnprstvw"


def story_of(number: int) -> int:
    """The number of the page whose story this page tells: its own unless it is a copy."""
    if not is_copy(number):
        return number
    earlier = random.Random(f"copy {number}").randrange(number)
    while is_copy(earlier):
        earlier -= 1
    return earlier


def is_copy(number: int) -> bool:
    return number > 0 and number % COPY_EVERY == COPY_EVERY - 1


def is_edited(number: int) -> bool:
    return is_copy(number) and number // COPY_EVERY % EDITED_EVERY == 0


def page(number: int) -> bytes:
    """The page's HTML, the same at every call and in every process."""
    story = story_of(number)
    chance = random.Random(f"story {story}")
    is_chinese = story % CHINESE_EVERY == 0
    words = _chinese_words() if is_chinese else _english_words()
    paragraphs = [chance.choices(words, k=chance.randint(30, 60)) for _ in range(6)]
    title = chance.choices(words, k=6)
    if is_edited(number):
        edit = random.Random(f"edit {number}")
        edit.choice(paragraphs)[edit.randrange(30)] = edit.choice(words)
    join, stop = ("", "。") if is_chinese else (" ", ".")
    body = "".join(f"<p>{join.join(paragraph)}{stop}</p>" for paragraph in paragraphs)
    return _layout(number, "zh" if is_chinese else "en", join.join(title), body).encode()


def _layout(number: int, lang: str, title: str, body: str) -> str:
    """The story between what surrounds it on one of seven sites."""
    layout, site = number % LAYOUTS, f"Site {number % LAYOUTS}"
    box = ("article", "main", "div class='content'", "section", "div id='story'")[layout % 5]
    menu = "".join(f"<li><a href='/{site}/{item}'>{site} {item}</a></li>" for item in range(12))
    related = "".join(
        f"<li><a href='/page/{number + step}'>More: {number + step}</a></li>" for step in range(8)
    )
    comments = ""
    if number % LARGE_EVERY == LARGE_EVERY - 1:
        comments = (
            "".join(
                f"<div class='comment'><b>Reader {row}</b><a href='/reply/{row}'>Reply to {row}</a>"
                f"<button data-comment='{number}-{row}'>Report this comment</button></div>"
                for row in range(LARGE_COMMENTS)
            )
            + f"<script>var slots=[{','.join(map(str, range(12_000)))}]</script>"
        )
    return (
        f"<!doctype html><html lang='{lang}'><head><meta charset='utf-8'>"
        f"<title>{title} - {site}</title></head><body class='layout-{layout}'>"
        f"<header><nav><ul>{menu}</ul></nav></header><{box}><h1>{title}</h1>{body}"
        f"</{box.split()[0]}><aside><ul>{related}</ul></aside>{comments}"
        f"<footer>{site}, page {number}, <a href='/imprint'>Imprint</a></footer></body></html>"
    )


@cache
def _english_words() -> list[str]:
    chance = random.Random("english")
    syllables = [c + v for c in _CONSONANTS for v in "aeiou"]
    made = ("".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(WORDS))
    return [word + chance.choice(string.ascii_lowercase) for word in made]


@cache
def _chinese_words() -> list[str]:
    chance = random.Random("chinese")
    common = [chr(code) for code in range(0x4E00, 0x4E00 + 3_000)]
    return ["".join(chance.choices(common, k=chance.randint(1, 3))) for _ in range(WORDS)]


class Handler(BaseHTTPRequestHandler):
    """/page/NUMBER"""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = page(int(self.path.rpartition("/")[2]))
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the parent's name
        """Say nothing."""


def serve(port: int) -> None:
    """Until the process ends."""
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
