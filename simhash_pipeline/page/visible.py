"""A page's visible blocks in; a digest of its article text and a sample of its text out.

The main text says which pages may be near-duplicates; what is visible says whether they are, but
for what is next to the text on another day: outside the box of the main text, links count nothing,
nor does what is outside the only box that calls itself main; boilerplate counts a quarter. Where
these links outweigh the main text the page is a list, and they are what it says.

The sample is a bottom-k sample of short windows of the text (Broder 1997): windows are chosen by
their hash alone, so that two pages that share a text sample the same parts of it, and the share of
equal windows in two samples estimates the share in the pages (the Jaccard index).

    block    Parameters: scalar
    window   Parameters: scal      16 bytes: some three words, or five characters of Chinese,
              arameters: scala     so no language has to be known
               ...
                            ar     the last ones are filled up, so that a block of any length
                             r     has as many windows as bytes
"""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Iterable, Sequence
from itertools import chain, compress, islice
from typing import NamedTuple, TypeAlias

import mmh3

from simhash_pipeline import native
from simhash_pipeline.bits import NDArray, np
from simhash_pipeline.page.blocks import Blocks, menu_blocks
from simhash_pipeline.page.boilerplate import MAX_LINK_SHARE, running_text
from simhash_pipeline.page.counters import MAX_LINE, doubtful, without_counters

WINDOW_BYTES = 16  # a power of two
# Windows that are taken from a page. A store keeps fewer: see specific_text.py.
_TAKEN = 512
_SMALLEST = 3  # with fewer more pages share them by chance, with more fewer copies do
_LIKELY = (2, 8)  # times as many windows are looked at first, as some are repeated or menus'
_ALL = 1 << 32
_MAX_BYTES = 1_000_000  # of visible text that is sampled

# A sample is 4 bytes, the largest window up to which it is whole, and entries by rising window. An
# entry is 6 bytes: the window's hash; 15 bits of its block's hash, and in the highest bit whether
# the block is main text. All lowest byte first.
LIMIT_SIZE = 4
ENTRY = struct.Struct("<IH")
_NO_LIMIT = 0xFFFFFFFF
MAIN = 1 << 15
BLOCK_BITS = MAIN - 1

# Which windows of a block are taken: those whose hash has none of these bits, a quarter or none.
_QUARTER, NONE = 3, 255
_PRICED = re.compile(r"[€£¥$₹₩₽円元원]|\b(?:EUR|USD|GBP|CHF|CNY|INR|JPY|RMB|SEK|PLN)\b")
_CELLS = frozenset(["dd", "dt", "td", "th"])
_UNCOUNTED = "outside"  # a hint, see page/blocks.py: none of its windows are taken
ARTICLE_SHIFT = 32
_MOST_SHARE = 0.75  # of running text: a page whose main text holds it is no list of links
_MULTIPLIER = 0x9E3779B1  # odd: 2**32 by the golden ratio
_SEPARATOR = "\n" + "\0" * (WINDOW_BYTES - 1)  # blocks hold neither
_END = _SEPARATOR.encode()

Hashes: TypeAlias = "NDArray[np.uint32]"
Places: TypeAlias = "NDArray[np.intp]"


class Visible(NamedTuple):
    """What is remembered of a page's visible text."""

    sample: bytes  # see ENTRY
    blocks: tuple[int, ...]  # 32-bit hashes of the blocks that the sample's windows are in


def window_masks(page: Blocks, is_main: Sequence[bool]) -> bytes:
    """Which windows of each block count where two pages of a site are compared, a mask for each.

    `is_main` says which blocks are the main text; hidden blocks follow the visible ones.
    """
    masks = bytearray(len(is_main))
    if True not in is_main or all(is_main):
        return bytes(masks)
    start, end = box_around(page, is_main)
    beside = chain(range(start), range(end, len(page.texts)))
    links = [i for i in beside if page.link_shares[i] > MAX_LINK_SHARE]
    main_bytes = sum(compress(page.sizes, is_main))
    is_list = page.bytes_of(links) > main_bytes  # hardly ever
    if is_list and page.bytes_of({*links} - menu_blocks(page)) > main_bytes:
        return bytes(masks)
    # These last, as other boxes may be inside.
    for first, last, hint in sorted(page.hints, key=lambda hint: hint[2] == _UNCOUNTED):
        if hint != "forum":
            masks[first:last] = bytes([NONE if hint == _UNCOUNTED else _QUARTER]) * (last - first)
    masks[start:end] = bytes(end - start)
    for i in links:
        masks[i] = NONE
    return bytes(masks)


def box_around(page: Blocks, is_main: Sequence[bool]) -> tuple[int, int]:
    """The range of blocks of the innermost box around all of the main text."""
    first, end = is_main.index(True), len(is_main) - is_main[::-1].index(True)
    for box in reversed(page.boxes):  # inner ones first
        if box[0] <= first and end <= box[1]:
            return box[:2]
    return 0, len(page.texts)


def article_digest(
    title: str, page: Blocks, is_main: Sequence[bool], masks: bytes, texts: list[str], utf8: bytes
) -> tuple[int | None, str, str]:
    """Two digests in 64 bits, None without text; what stands beside the article text; of it facts.

    Arguments as `window_masks`. `texts` are those of all blocks, the hidden ones last, and as the
    title in one spelling; `utf8` are their lines.

    The upper 32 bits are of the title and the article text, the lower ones of all that is visible.
    The article text is what the box of the main text contains but links, if that is half of what
    counts or more, or most of the running text among links. Else it is all that counts: lists,
    forums. Hidden text is no part of it, nor are numbers of comments, ages and the like: see
    counters.py. Of a thin page, without masks, all counts but these numbers, and what is outside
    its only main box. Facts are cells of tables, in no box such as a footer, and the head of the
    article, both without links.
    """
    if not texts:
        return None, "", ""
    chosen: Sequence[int] = range(len(texts))
    if not masks:
        ranges = [range(start, end) for start, end, hint in page.hints if hint == _UNCOUNTED]
        chosen = sorted({*chosen}.difference(*ranges)) if ranges else chosen
    elif True in is_main and not all(is_main):
        start, end = box_around(page, is_main)
        chosen = [
            i for i in range(start, end) if is_main[i] or page.link_shares[i] <= MAX_LINK_SHARE
        ]
        of_chosen = sum([len(texts[i]) for i in chosen])
        is_most = 2 * of_chosen >= sum(map(len, texts))
        counted = [] if is_most else [i for i, mask in enumerate(masks) if mask != NONE]
        if 2 * of_chosen < sum([len(texts[i]) for i in counted]):
            by_links = max(page.link_shares) > MAX_LINK_SHARE and not any(masks)
            running = running_text(page)
            if not by_links or sum(compress(running, is_main)) < _MOST_SHARE * sum(running):
                chosen = [i for i in counted if i < len(page.texts)]
    beside, lines = page.texts + page.hidden, utf8.split(b"\n")
    said = [lines[i] for i in chosen]
    for i in chosen:
        beside[i] = ""
    begins = next((i for i in chosen if is_main[i] and len(texts[i]) > MAX_LINE), len(texts))
    for place in doubtful([texts[i] for i in chosen]):
        i = chosen[place]
        line = without_counters(texts[i], is_main=is_main[i], is_above=i < begins)
        said[place] = line.encode("utf-8", "replace")
    of_all, article = (_digest(title, text) for text in (utf8, b"\n".join(said)))
    of_facts: Iterable[int] = ()
    if masks:
        of_facts = [i for i, tag in enumerate(page.tags) if tag in _CELLS and not masks[i]]
        if head := _head(title, texts, page, min(chosen, default=0)):
            head = {i for i in head if masks[i] != NONE and _says_state(beside[i])}
            of_facts = sorted(head.union(of_facts))
    facts = [beside[i] for i in of_facts if page.link_shares[i] <= MAX_LINK_SHARE]
    left, told = ("\n".join(filter(None, each)) for each in (beside, facts))
    return article << ARTICLE_SHIFT | of_all, left, told


def _says_state(line: str) -> bool:
    """Whether it has no number, as counters, ages and weather have one, or a price."""
    return not any(map(str.isdigit, line)) or _PRICED.search(line) is not None


def _head(title: str, texts: list[str], page: Blocks, begins: int) -> set[int]:
    """What stands between the h1 and the article, which begins there, and belongs to the h1.

    In the h1's box, if the article is outside it; else what has no box of several blocks, as cards
    have one. The h1 is a third of the title, or else the site's.
    """
    h1s = [i for i, tag in enumerate(page.tags[:begins]) if tag == "h1"]
    named = [i for i in h1s if 3 * len(texts[i]) >= len(title) and texts[i] in title]
    heading = named[-1] if named else begins
    if heading + 1 >= begins:
        return set()
    boxes = [(start, end) for start, end, *_ in page.boxes if heading + 1 < end <= begins]
    if ends := [end for start, end in boxes if start <= heading]:
        return {*range(heading + 1, max(ends))}
    cards = [range(*box) for box in boxes if box[0] < box[1] - 1]
    return {*range(heading + 1, begins)}.difference(*cards)


def _digest(title: str, text: bytes) -> int:
    digest: int = mmh3.hash64(title.encode("utf-8", "replace") + b"\n" + text, signed=False)[0]
    return digest >> 32


def visible_text(texts: list[str] | bytes, is_main: Sequence[bool], masks: bytes = b"") -> Visible:
    """A sample of the first megabyte of these blocks, or of their lines, given in one spelling.

    `masks` says of each block how many of its windows are taken, see `window_masks`; all of all
    blocks without it.
    """
    masks = masks or bytes(len(is_main))
    if not is_main:
        return Visible(_NO_LIMIT.to_bytes(LIMIT_SIZE, "little"), ())
    # ASCII letters alone: Pythons differ in what others become, and take ten times as long.
    utf8 = texts if isinstance(texts, bytes) else "\n".join(texts).encode("utf-8", "replace")
    said = utf8.lower().replace(b"\n", _END) + _END
    if len(said) > _MAX_BYTES:
        said = said[:_MAX_BYTES].rstrip(_END) + _END  # the cut may be in a separator
    if native.kernel is not None:
        found = native.kernel.sample(said, masks, bytes(is_main), WINDOW_BYTES, _TAKEN)
    else:
        found = _sampled(said, is_main, masks)
    return Visible(found[0], tuple(dict.fromkeys(array("I", found[1]))))


def _sampled(said: bytes, is_main: Sequence[bool], masks: bytes) -> tuple[bytes, bytes]:
    """The sample of these blocks, each with its separator, and its windows' blocks' hashes."""
    text = np.frombuffer(said, np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + len(_SEPARATOR)])
    windows = _rolled(text)
    ranks, at = _smallest(windows, starts, ends, np.frombuffer(masks, np.uint8))
    # Of all windows of a block; the windows between two blocks are summed up too, and left out.
    sums = np.add.reduceat(windows, np.stack([starts, ends], axis=1).ravel(), dtype=np.uint32)
    block_hashes = sums[::2][at]
    is_main_at = np.asarray(is_main, np.bool_)[at]
    marked = (block_hashes & BLOCK_BITS) | is_main_at * np.uint32(MAIN)
    limit = int(ranks[-1]) if len(ranks) == _TAKEN else _NO_LIMIT
    entries = np.empty(len(ranks), "<u4,<u2")  # as ENTRY, at once
    entries["f0"], entries["f1"] = ranks, marked
    return limit.to_bytes(LIMIT_SIZE, "little") + entries.tobytes(), block_hashes.tobytes()


def smallest_of_main(sample: bytes) -> bytes:
    """The main text's smallest windows: of two texts, 0-1, that share J of theirs, J**3 are equal.

    One value takes a place in a store; where a text is copied and 2 % of its words are changed, two
    of three copies have it still, whatever the content fingerprints (`benchmarks/languages.md`).
    """
    entries = ENTRY.iter_unpack(memoryview(sample)[LIMIT_SIZE:])
    smallest = islice((window for window, block in entries if block & MAIN), _SMALLEST)
    return b"".join(window.to_bytes(4, "little") for window in smallest)


def _rolled(text: NDArray[np.uint8]) -> Hashes:
    """A hash of each 16 bytes in a row: of two neighbours, two of these, and so on.

    t * m**n + t', where n is the bytes of t'; murmur3's last step spreads the bits.
    """
    hashes, size, multiplier = text.astype(np.uint32), 1, _MULTIPLIER
    while size < WINDOW_BYTES:
        hashes = hashes[:-size] * np.uint32(multiplier) + hashes[size:]
        size, multiplier = 2 * size, multiplier**2 & 0xFFFFFFFF
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashes ^= hashes >> np.uint32(shift)
        hashes *= np.uint32(factor)
    hashes ^= hashes >> np.uint32(16)
    return hashes


def _smallest(
    windows: Hashes, starts: Places, ends: Places, masks: NDArray[np.uint8]
) -> tuple[Hashes, Places]:
    """The smallest distinct windows that begin in a block, rising, and the block of each.

    A block's mask leaves out windows by their hash: the same ones wherever the text is. Most pages
    have enough below a bound that is known: nothing else needs to be sorted.
    """
    ends = np.where(masks[: len(ends)] == NONE, starts, ends)
    count = max(1, int((ends - starts).sum()))
    for bound in (*(min(_ALL, likely * _TAKEN * _ALL // count) for likely in _LIKELY), _ALL):
        places = np.flatnonzero(windows < bound)
        blocks = np.searchsorted(starts, places, side="right") - 1
        ranks = windows[places]
        inside = (places < ends[blocks]) & (ranks & masks[blocks] == 0)
        ranks, blocks = ranks[inside].astype(np.uint64), blocks[inside].astype(np.uint64)
        # A row each, to be sorted by both: of a window that is repeated the first block counts.
        rows = np.sort(ranks << np.uint64(32) | blocks)
        ranks = rows >> np.uint64(32)
        first = np.flatnonzero(np.diff(ranks, prepend=_ALL) != 0)[:_TAKEN]
        if len(first) == _TAKEN or bound >= _ALL:
            break
    return ranks[first].astype(np.uint32), (rows[first] & np.uint64(_ALL - 1)).astype(np.intp)
