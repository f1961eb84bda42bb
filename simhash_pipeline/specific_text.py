"""The sample of a page's specific text, as stores keep it: cut, packed and unpacked.

A page's *page-specific text* is its visible text less what its template repeats: see
repeated_text.py. Two samples are compared here, two pages in twins.py. A sample takes some 220
bytes for 64 windows:

    limit      4 bytes, as in visible.py
    windows    1 byte: how many
    blocks     1 byte: how many different ones; then 2 bytes each, rising
    width      1 byte: the bits of the largest step from one window to the next
    bits       of each window the place of its block in the list, then its step

A window is cut to the highest 24 of its 32 bits. Of samples of two texts of 5,000 windows one
window in 3,000 is equal by chance then, of two of 100,000 one in 160.

One case by hand, the windows 2, 3 and 9 in the second, first and second of two blocks:

    places and steps   1 2   0 1   1 6
    bits               1010  0100  1011   the lowest first
"""

import struct
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate, islice, pairwise

from simhash_pipeline import native
from simhash_pipeline.errors import START_OVER, StoreDamaged
from simhash_pipeline.page.visible import BLOCK_BITS, ENTRY, LIMIT_SIZE, MAIN
from simhash_pipeline.repeated_text import UNKNOWN, Blocks, Template

KEPT_WINDOWS = 64  # of a page's page-specific text, by a store
_CUT = 8  # low bits of a window that are left out
# A page's own sample takes 4 bytes and 6 a window. `pack` makes no sample of such a length.
_PLAIN = LIMIT_SIZE % ENTRY.size
_HEAD = struct.Struct("<IBBB")
_MIN_COMMON = 4  # equal windows; fewer prove nothing
_RECURRING = 1  # beside MAIN: of a window in a block that the template repeats

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
    steps = [after - before for before, after in pairwise([0, *windows])]
    width, place_width = max(steps, default=0).bit_length(), _width(len(blocks))
    size = width + place_width
    bits = sum(
        (step << place_width | place_of[block_of[window]]) << number * size
        for number, (window, step) in enumerate(zip(windows, steps, strict=True))
    )
    head = _HEAD.pack(limit, len(windows), len(blocks), width)
    packed = head + struct.pack(f"<{len(blocks)}H", *blocks)
    packed += bits.to_bytes(-(-len(windows) * size // 8), "little")
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
        bits, place_width = int.from_bytes(packed, "little"), _width(block_count)
        size = width + place_width
        low, one = (1 << place_width) - 1, (1 << size) - 1
        numbers = [bits >> place * size & one for place in range(count)]
        windows = accumulate(number >> place_width for number in numbers)
        entries = [
            (window << _CUT, blocks[number & low])
            for window, number in zip(windows, numbers, strict=True)
        ]
        if 8 * len(packed) < count * size or (entries and entries[-1][0] >> 32):
            raise ValueError("the windows are too few or too high")
    except (struct.error, ValueError, IndexError) as error:
        raise StoreDamaged(f"a page's sample in the store is damaged; {START_OVER}") from error
    return limit, entries


def _width(count: int) -> int:
    """The bits that tell so many things apart."""
    return max(0, count - 1).bit_length()


@lru_cache(maxsize=16)  # a verdict asks again for what its rules have compared
def sample_similarity(
    a: bytes,
    b: bytes,
    templates: tuple[Template, Template] = (UNKNOWN, UNKNOWN),
    *,
    only_main: bool = False,
) -> float | None:
    """Of two samples, 0-1; None if too few windows are left to compare.

    `templates` are theirs, one each. What they repeat is left out.

    A window that differs counts wherever it stands, or with `only_main` in the main texts alone. An
    equal window counts only in the main text, as elsewhere it may be repeated text that isn't known
    yet, and only if it isn't repeated.

        a   12  31  44  57  73  90           complete up to 90; higher windows aren't compared
        b   12  44  57  60  73  95           complete up to 95
        equal: 12, 44 and 73, which are main text, and 57, which is not; differing: 31, 60, 90
        similarity 3 / (3 + 3)
    """
    if native.kernel is not None:
        sets = (each for one in templates for each in (one.repeated, one.recurring))
        found = native.kernel.similarity(a, b, *sets, only_main, _MIN_COMMON, _RECURRING)
        if found is not None:
            return found if found >= 0 else None
    samples = list(map(_marked, (a, b), templates))
    limit = min(whole for whole, _ in samples)
    one, other = (
        windows if whole == limit else {w: marks for w, marks in windows.items() if w <= limit}
        for whole, windows in samples
    )
    common = one.keys() & other.keys()
    if len(common) < _MIN_COMMON:
        return None
    alike = sum([(one[window] | other[window]) == MAIN for window in common])
    differing = len(one) + len(other) - 2 * len(common)
    if only_main:
        either = one | other
        differing = sum(either[window] & MAIN > 0 for window in one.keys() ^ other.keys())
    return alike / (alike + differing) if alike else 0.0


@lru_cache(maxsize=512)  # in a crowd many pages are compared with the same ones: 3 MB
def _marked(sample: bytes, template: Template) -> tuple[int, dict[int, int]]:
    """(limit, windows outside repeated blocks), each MAIN, _RECURRING, both or neither."""
    limit, entries = unpack(sample)
    return limit, {
        window: block & MAIN | (_RECURRING if block & BLOCK_BITS in template.recurring else 0)
        for window, block in entries
        if block & BLOCK_BITS not in template.repeated
    }
