"""Blocks of pages that nobody wrote, for the rules of the main text."""

from __future__ import annotations

import random

from simhash_pipeline.page.blocks import Blocks

_TAGS = ["p", "p", "p", "div", "h1", "h2", "h3", "pre", "li", "td", "span", "body"]
_BOX_TAGS = ["div", "div", "section", "article", "main", "ul", "td", "table", "aside", "x"]
_HINTS = ["comment", "consent", "footer", "boilerplate", "forum", "links", "main"]
_TEXTS = [
    "Home", "Read more…", "A short line", "one, two", "No sentence but a line of text",
    "He said \"so.\" And left", "file.txt of it", "Titled words that end well.", "中国人民。",
    "没有标点的一行字" * 5, "Running text about Titled things: it goes on, and on. " * 3,
    "हिन्दी पाठ " * 4, "हिन्दी पाठ।" * 2, "한국어 글 " * 9, "한국어 글 " * 19, "カタカナ" * 9,
    "Ж " * 49, "’" * 40,
    "Words without any mark " * 8, "(so!)", "x" * 59, "x" * 60,
]  # fmt: skip
TITLE = "Titled 标点 goes"


def made_blocks(rng: random.Random) -> Blocks:
    """Up to 40 blocks in nested boxes, some with hints."""
    page = Blocks()
    for number in range(rng.randrange(1, 40)):
        text = rng.choice(_TEXTS)
        if rng.random() < 0.7:
            text += f" {number}"
        linked = int(len(text) * rng.choice([0, 0, 0, 0.3, 0.75, 0.8, 1]))
        page.add([text], linked, rng.choice(_TAGS))
    _box(page, rng, 0, len(page.texts), 1)
    page.boxes.reverse()
    page.boxes.sort(key=lambda box: box[0])
    page.finish()
    return page


def _box(page: Blocks, rng: random.Random, start: int, end: int, depth: int) -> None:
    """Boxes within these blocks, then one around them, as elements close."""
    at, depth_inside = start, depth + rng.randrange(1, 3)
    while at < end and depth < 8 and rng.random() < 0.9:
        inside = rng.randint(at + 1, end)
        _box(page, rng, at, inside, depth_inside)
        at = inside + rng.randrange(3)
    page.boxes.append((start, end, rng.choice(_BOX_TAGS), ""))
    if rng.random() < 0.2:
        page.hints.append((start, end, rng.choice(_HINTS)))
