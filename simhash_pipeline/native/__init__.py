"""The compiled kernel, chosen once at import: None where the Python does its work.

It is None where it was not built, where the environment variable SIMHASH_NATIVE is 0, and on
big-endian machines.

    _kernel.c  text to hashes and votes    called by page/compiled.py and others of that room
    _markup.c  markup to blocks            a part of it, called by page/compiled.py
    _rules.c   blocks to the main text     a part of it, called by page/boilerplate.py
    _judge.c   samples and fingerprints    a part of it, called where pages are judged
"""

import importlib
import os
import sys
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Protocol, cast

# Of each element of a head its tag, rel, href, property and content, None for what it lacks; the
# content of a title is its text.
Head = list[tuple[str, str | None, str | None, str | None, str | None]]


class MarkupRead(NamedTuple):
    """What is read of a page."""

    # Texts, tags, sizes, link shares, boxes, hints and hidden texts: the columns of `Blocks`
    columns: tuple[list[Any], ...]
    nodes: int  # of the outline
    structure: int  # 64 bits, however few the nodes are
    head: Head
    titles: list[str]  # of title elements, of og:title, and of h1s, in this order


class Kernel(Hashable, Protocol):
    """_kernel.c, whose docstrings say what its functions take and give."""

    set_tables: Callable[[bytes, bytes, bytes, int, int, int], None]
    hashed: Callable[[str, bool, bool, int], tuple[int, bytes] | int]
    content: Callable[[bytes, tuple[int, ...]], int | None]
    sketch: Callable[[bytes, int], int | None]
    load_dictionary: Callable[[bytes, bytes, bytes, bytes], None]
    sample: Callable[[bytes, bytes, bytes, int, int], tuple[bytes, bytes]]
    is_plain: Callable[[bytes], bool]
    spelled: Callable[[str, bytes], str | None]
    sentences: Callable[[str, str], list[str]]
    doubtful: Callable[..., list[int]]
    places: Callable[[tuple[str, ...], bytes, str, str, int], list[tuple[int, str]]]
    kept_sample: Callable[[bytes, frozenset[int], int], bytes | None]
    similarity: Callable[..., float | None]
    near_words: Callable[[bytes, int, int, int], list[int] | None]
    recurring: Callable[[bytes, int], dict[int, int]]
    set_markup: Callable[..., None]
    read_markup: Callable[[bytes, int], MarkupRead | str]
    set_rules: Callable[[bytes, dict[str, int], dict[str, int], str, str, str], None]
    main_blocks: Callable[..., list[int]]


kernel: Kernel | None = None
missing = ""  # what was wanted and is not there
if os.environ.get("SIMHASH_NATIVE") != "0" and sys.byteorder == "little":
    try:
        kernel = cast("Kernel", importlib.import_module("simhash_pipeline.native._kernel"))
    except ImportError:
        missing = "the compiled kernel, which was not built"


def kind() -> str:
    """What hashes texts and reads pages: "compiled" or "Python"."""
    return "Python" if kernel is None else "compiled"
