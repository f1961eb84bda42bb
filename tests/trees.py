"""A page's tree, and the main text of one."""

from __future__ import annotations

from lxml.etree import _Element

from simhash_pipeline.page import titles
from simhash_pipeline.page.blocks import read
from simhash_pipeline.page.boilerplate import main_blocks
from simhash_pipeline.page.bounds import before_wide_tag
from simhash_pipeline.page.parse import elements_of, readable, tree_of_page


def parse(html: bytes | str, charset: str | None = None) -> _Element:
    return tree_of_page(before_wide_tag(readable(html, charset)[0]))


def title_of(root: _Element) -> str:
    return titles.title_of(titles.head_of(root), titles.titles_in(root))


def main_text(root: _Element) -> str:
    """Its blocks joined by newlines; "" only when no text is visible."""
    blocks = read(elements_of(root))
    return "\n".join(blocks.texts[i] for i in main_blocks(blocks, title_of(root)))
