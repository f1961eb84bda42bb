"""The sample of a page's own text as stores keep it: some 220 bytes for 64 windows.

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
from typing import TYPE_CHECKING, Any

import numpy as np

from simhash_pipeline.errors import StoreDamaged
from simhash_pipeline.page.visible import ENTRY, LIMIT_SIZE

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CUT = np.uint32(8)  # low bits of a window that are left out
# What is taken from a page, 4 bytes and 6 for each window, is never as long as what is packed.
_PLAIN = LIMIT_SIZE % ENTRY.itemsize
_HEAD = struct.Struct("<IBBB")


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
