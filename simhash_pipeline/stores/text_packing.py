"""How all stores hold a page's title and main text: compressed together."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simhash_pipeline.stores.contract import PageText


def packed(text: PageText) -> bytes:
    """Title and text, the title in the first line; lone surrogates become "?"."""
    words = f"{' '.join(text.title.split())}\n{text.text}"
    return zlib.compress(words.encode("utf-8", "replace"))


def unpacked(content: bytes) -> tuple[str, str]:
    """(title, text)."""
    title, _, text = zlib.decompress(content).decode("utf-8").partition("\n")
    return title, text
