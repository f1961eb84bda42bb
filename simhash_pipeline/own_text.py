"""How alike the own texts of two pages of one site are.

A page's *own text* is what is visible of it but its furniture: see furniture.py. Two pages of one
site are near-duplicates only if their own texts are alike.

Stores keep a sample of a page's own text, some 220 bytes for 64 windows:

    limit      4 bytes, as in visible.py
    windows    1 byte: how many
    blocks     1 byte: how many different ones; then 2 bytes each, rising
    width      1 byte: how many low bits of a window stand by themselves
    bits       of all windows the low bits, then the places of their blocks in the list, then the
               high bits: as many ones as they rise above the window before, and a zero

A window is cut to the highest 24 of its 32 bits. Of samples of two texts of 5,000 windows one
window in 3,000 is equal by chance then, of two of 100,000 one in 160.

Low and high bits are the code of Elias and Fano for a rising list, which takes some 2 bits a window
more than the low ones. One case by hand, the windows 2, 3 and 9 with two low bits:

    low bits   2  3  1         01 11 10, lowest first
    high bits  0  0  2         0 0 110
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simhash_pipeline.errors import StoreDamaged
from simhash_pipeline.furniture import UNKNOWN, Blocks, Template
from simhash_pipeline.page.visible import BLOCK_BITS, ENTRY, LIMIT_SIZE, MAIN

KEPT_WINDOWS = 64  # of a page's own text, by a store
_MIN_COMMON = 4  # equal windows; fewer prove nothing
_MUCH = 2**28  # a sixteenth of all windows: holds one of 50 differing ones with 95 % probability
_REPEATED = np.uint16(1)  # beside MAIN: of a window in a block that the template repeats
_CUT = np.uint32(8)  # low bits of a window that are left out
# What is taken from a page, 4 bytes and 6 for each window, is never as long as what is packed.
_PLAIN = LIMIT_SIZE % ENTRY.itemsize
_HEAD = struct.Struct("<IBBB")


def own_sample(sample: bytes, furniture: Blocks) -> bytes:
    """What a store keeps of a page's sample, packed: its first windows outside the furniture."""
    limit, entries = unpack(sample)
    own = entries[~_is_among(entries, furniture)]
    if len(own) > KEPT_WINDOWS:
        own = own[:KEPT_WINDOWS]
        limit = int(own["window"][-1])
    return pack(limit, own)


def is_all_main(sample: bytes) -> bool:
    """Whether nothing of the page stands beside its main text."""
    return bool((unpack(sample)[1]["block"] & MAIN).all())


def likeness(
    a: bytes,
    b: bytes,
    templates: tuple[Template, Template] = (UNKNOWN, UNKNOWN),
    count: Literal["own", "brought", "main", "all"] = "own",
) -> float | None:
    """How alike the own texts of two pages are, 0-1; None if too few windows are left to compare.

    `templates` are theirs, one each. Their furniture is left out.

    A window that differs counts wherever it stands. An equal window counts only in the main text,
    as elsewhere it may be furniture that isn't known yet, and only if it isn't repeated. With
    "brought", what differs counts only in `a`, and with "main" only in the main texts. With "all",
    as for thin pages, whose main texts are equal, all that is equal counts.

        a   12  31  44  57  90               complete up to 90; higher windows aren't compared
        b   12  44  57  60  95               complete up to 95
        equal: 12 and 44, which are main text, and 57, which is not; differing: 31, 60, 90
        likeness 2 / (2 + 3)
    """
    (limit, one), (other_limit, other) = map(_marked, (a, b), templates)
    limit = min(limit, other_limit)
    one, other = (
        entries[: entries["window"].searchsorted(np.uint32(limit), side="right")]
        for entries in (one, other)
    )
    places, is_common = _found(other["window"], one["window"])
    places, common = places[is_common], int(np.count_nonzero(is_common))
    differing = len(one) + len(other) - 2 * common
    if common < _MIN_COMMON:
        # A thin page may be all furniture: so it is if a large sample holds nothing that differs.
        return 1.0 if count == "all" and not differing and limit >= _MUCH else None
    if count == "all":
        return common / (common + differing)
    marks, others = one["block"], other["block"]
    alike = int(np.count_nonzero((marks[places] | others[is_common]) == MAIN))
    if count == "brought":
        differing = len(one) - common
    elif count == "main":
        apart = (np.delete(marks, places), others[~is_common])
        differing = sum(int(np.count_nonzero(each & MAIN)) for each in apart)
    return alike / (alike + differing) if alike else 0.0


@lru_cache(maxsize=2_048)  # in a crowd many pages are compared with the same ones: 1.5 MB
def _marked(sample: bytes, template: Template) -> tuple[int, NDArray[np.void]]:
    """(limit, entries) outside the furniture, whose blocks are MAIN, _REPEATED, both or neither."""
    limit, entries = unpack(sample)
    entries = entries[~_is_among(entries, template.furniture)]
    is_repeated = _is_among(entries, template.repeated)
    entries["block"] &= MAIN
    entries["block"][is_repeated] |= _REPEATED
    return limit, entries


def _is_among(entries: NDArray[np.void], blocks: Blocks) -> NDArray[np.bool_]:
    """Whether each window stands in one of these blocks."""
    return _found(entries["block"] & BLOCK_BITS, blocks)[1]


def _found(wanted: NDArray[Any], rising: NDArray[Any]) -> tuple[Any, NDArray[np.bool_]]:
    """Where each number would stand among rising ones, and whether it is there."""
    if not len(rising):
        return np.zeros(len(wanted), np.intp), np.zeros(len(wanted), np.bool_)
    places = rising.searchsorted(wanted)
    return places, rising.take(places, mode="clip") == wanted


def pack(limit: int, entries: NDArray[np.void]) -> bytes:
    """A sample of at most 255 entries by rising window, whole up to the limit, as bytes.

    Of windows that are equal when they are cut, the first is kept.
    """
    windows = entries["window"] >> _CUT
    is_first = np.ones(len(windows), np.bool_)
    np.not_equal(windows[1:], windows[:-1], out=is_first[1:])
    windows, of_windows = windows[is_first], entries["block"][is_first]
    blocks = np.array(sorted({*of_windows.tolist()}), "<u2")
    places = blocks.searchsorted(of_windows)
    highest = int(windows[-1]) if len(windows) else 0
    width = (highest // max(1, len(windows))).bit_length()
    high = windows >> np.uint32(width)
    ones = np.ones((highest >> width) + len(windows), np.uint8)
    ones[high + np.arange(len(windows))] = 0
    bits = (_bits(windows, width), _bits(places, _width(len(blocks))), ones)
    head = _HEAD.pack(limit, len(windows), len(blocks), width)
    packed = head + blocks.tobytes() + np.packbits(np.concatenate(bits)).tobytes()
    return packed if len(packed) % ENTRY.itemsize != _PLAIN else packed + b"\0"


def unpack(sample: bytes) -> tuple[int, NDArray[np.void]]:
    """(limit, entries) of a sample, packed or as it was taken from a page.

    StoreDamaged if the bytes are none.
    """
    if len(sample) % ENTRY.itemsize == _PLAIN:
        limit = int.from_bytes(sample[:LIMIT_SIZE], "little")
        return limit, np.frombuffer(sample, ENTRY, offset=LIMIT_SIZE)
    try:
        limit, count, block_count, width = _HEAD.unpack_from(sample)
        blocks = np.frombuffer(sample, "<u2", block_count, _HEAD.size)
        packed = np.frombuffer(sample, np.uint8, offset=_HEAD.size + blocks.nbytes)
        bits = np.unpackbits(packed)
        place_width = _width(block_count)
        after_low, after_places = count * width, count * (width + place_width)
        numbers = np.zeros((count, 2, 32), np.uint8)  # a bit each, lowest first
        numbers[:, 0, :width] = bits[:after_low].reshape(count, width)
        numbers[:, 1, :place_width] = bits[after_low:after_places].reshape(count, place_width)
        low, places = np.packbits(numbers, bitorder="little").view("<u4").reshape(count, 2).T
        zeros = (bits[after_places:] == 0).nonzero()[0][:count]
        entries = np.empty(count, ENTRY)
        high = (zeros - np.arange(count)).astype(np.uint32)
        entries["window"] = (high << np.uint32(width) | low) << _CUT
        entries["block"] = blocks[places]
    except (struct.error, ValueError, IndexError) as error:
        raise StoreDamaged(
            "a page's sample in the store is damaged; restore a copy of the store, or move it away "
            "to begin anew"
        ) from error
    return limit, entries


def _width(count: int) -> int:
    """The bits that tell so many things apart."""
    return max(0, count - 1).bit_length()


def _bits(numbers: NDArray[Any], width: int) -> NDArray[np.uint8]:
    """The low `width` bits of each number, lowest first."""
    as_bytes = numbers.astype("<u4").view(np.uint8).reshape(-1, 4)
    return np.unpackbits(as_bytes, axis=1, count=width, bitorder="little").ravel()
