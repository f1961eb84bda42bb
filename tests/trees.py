"""A page's tree, and the main text of one."""

from __future__ import annotations

from lxml.etree import _Element

from simhash_pipeline.page.boilerplate import main_blocks
from simhash_pipeline.page.fingerprint import Tree
from simhash_pipeline.page.head import title_of
from simhash_pipeline.page.parse import parsed_page


def parse(html: bytes | str, charset: str | None = None) -> _Element:
    return parsed_page(html, charset).root


def main_text(root: _Element) -> str:
    """Its blocks joined by newlines; "" only when no text is visible."""
    blocks = Tree(root).blocks()
    return "\n".join(blocks.texts[i] for i in main_blocks(blocks, title_of(root)))
