"""How all stores hold a page's title and texts: compressed together."""

from __future__ import annotations

import zlib

from simhash_pipeline.stores.contract import PageText


def packed(text: PageText) -> bytes:
    """Title, main text and what was left out of it; lone surrogates become "?".

    The first line is the number of the main text's characters, a blank and the title.
    """
    title = " ".join(text.title.split())
    words = f"{len(text.text)} {title}\n{text.text}{text.left_out}"
    return zlib.compress(words.encode("utf-8", "replace"))


def unpacked(namespace: str, url: str, content: bytes, kept_at: float) -> PageText:
    """The text that was packed; zlib.error or ValueError if it is damaged."""
    first, _, words = zlib.decompress(content).decode("utf-8").partition("\n")
    length, _, title = first.partition(" ")
    end = int(length)
    return PageText(namespace, url, title, words[:end], kept_at, words[end:])
