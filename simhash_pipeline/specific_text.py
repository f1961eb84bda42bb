"""The sample of a page's specific text, as stores keep it: cut, packed and unpacked.

A page's *page-specific text* is its visible text less what its template repeats: see
repeated_text.py. twins.py compares two samples. One takes some 220 bytes for 64 windows:

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
from collections.abc import Iterable, Sequence
from itertools import accumulate, islice

from simhash_pipeline import native
from simhash_pipeline.errors import StoreDamaged
from simhash_pipeline.page.visible import BLOCK_BITS, ENTRY, LIMIT_SIZE, MAIN
from simhash_pipeline.repeated_text import Blocks

KEPT_WINDOWS = 64  # of a page's page-specific text, by a store
_CUT = 8  # low bits of a window that are left out
# A page's own sample takes 4 bytes and 6 a window. `pack` makes no sample of such a length.
_PLAIN = LIMIT_SIZE % ENTRY.size
_HEAD = struct.Struct("<IBBB")

Entries = Iterable[tuple[int, int]]  # windows, rising, each with its block: as ENTRY


def specific_sample(sample: bytes, repeated: Blocks) -> bytes:
    """What a store keeps of a page's sample, packed: its first windows outside repeated blocks."""
    if native.kernel is not None:
        packed = native.kernel.kept_sample(sample, repeated, KEPT_WINDOWS)
        if packed is not None:
            return packed
    limit, entries = unpack(sample)
    own = (entry for entry in entries if entry[1] & BLOCK_BITS not in repeated)
    kept = list(islice(own, KEPT_WINDOWS + 1))
    if len(kept) > KEPT_WINDOWS:
        limit = kept[KEPT_WINDOWS - 1][0]
    return pack(limit, kept[:KEPT_WINDOWS])


def is_all_main(sample: bytes) -> bool:
    """Whether nothing of the page stands beside its main text."""
    return all(block & MAIN for _, block in unpack(sample)[1])


def pack(limit: int, entries: Entries) -> bytes:
    """A sample of at most 255 entries by rising window, whole up to the limit, as bytes.

    Of windows that are equal when they are cut, the first is kept.
    """
    block_of = {window >> _CUT: block for window, block in reversed([*entries])}
    windows = sorted(block_of)
    blocks = sorted({*block_of.values()})
    place_of = {block: place for place, block in enumerate(blocks)}
    width = (windows[-1] // len(windows)).bit_length() if windows else 0
    place_width = _width(len(blocks))
    bits = _joined([place_of[block_of[window]] for window in windows], place_width)
    bits = bits << len(windows) * width | _joined(windows, width)
    # Among the high bits each window has a zero, before it as many ones as the window is high.
    zeros = [place + (window >> width) for place, window in enumerate(windows)]
    first, end = len(windows) * (width + place_width), zeros[-1] + 1 if zeros else 0
    bits |= ((1 << end) - 1 - sum([1 << zero for zero in zeros])) << first
    head = _HEAD.pack(limit, len(windows), len(blocks), width)
    packed = head + struct.pack(f"<{len(blocks)}H", *blocks)
    packed += bits.to_bytes(-(-(first + end) // 8), "little")
    return packed if len(packed) % ENTRY.size != _PLAIN else packed + b"\0"


def unpack(sample: bytes) -> tuple[int, Entries]:
    """(limit, entries) of a sample, packed or as it was taken from a page.

    StoreDamaged if the bytes are none.
    """
    if len(sample) % ENTRY.size == _PLAIN:
        limit = int.from_bytes(sample[:LIMIT_SIZE], "little")
        return limit, ENTRY.iter_unpack(memoryview(sample)[LIMIT_SIZE:])
    try:
        limit, count, block_count, width = _HEAD.unpack_from(sample)
        blocks = struct.unpack_from(f"<{block_count}H", sample, _HEAD.size)
        packed = sample[_HEAD.size + 2 * block_count :]
        bits = int.from_bytes(packed, "little")
        low = _numbers(bits, width, count)
        places = _numbers(bits >> count * width, _width(block_count), count)
        first = count * (width + _width(block_count))
        end = 1 << 8 * len(packed) - first  # so that all zeros below are written
        rises = f"{bits >> first | end:b}"[:0:-1].split("0", count)
        high = accumulate(map(len, rises[:count]))
        entries = [
            ((above << width | below) << _CUT, blocks[place])
            for above, below, place in zip(high, low, places, strict=True)
        ]
        if len(rises) <= count or (entries and entries[-1][0] >> 32):
            raise ValueError("the windows are too few or too high")
    except (struct.error, ValueError, IndexError) as error:
        raise StoreDamaged(
            "a page's sample in the store is damaged; restore a copy of the store, or move it away "
            "to start over"
        ) from error
    return limit, entries


def _width(count: int) -> int:
    """The bits that tell so many things apart."""
    return max(0, count - 1).bit_length()


def _joined(numbers: Sequence[int], width: int) -> int:
    """The low `width` bits of each number in a row, those of the first one lowest."""
    joined, low = 0, (1 << width) - 1
    for number in reversed(numbers):
        joined = joined << width | number & low
    return joined


def _numbers(joined: int, width: int, count: int) -> list[int]:
    """The inverse of `_joined`."""
    low = (1 << width) - 1
    return [joined >> place * width & low for place in range(count)]
