"""Which tables find every fingerprint within k bits, and what they cost for 2^d pages.

A design cuts a fingerprint into r > k blocks. Bits that differ, k at most, spoil k blocks at most,
so the other r - k are the same in both fingerprints. There is a table for each choice of r - k
blocks, C(r, k) in all; its key is the chosen blocks pushed together, and two fingerprints within k
bits share a key in one table at least. For 64 bits and k = 3:

    4 tables, C(4, 3): 4 blocks, the key is 1 of them, 16 bits
    bit  63           48 47           32 31           16 15            0
        |    block 3    |    block 2    |    block 1    |    block 0    |

    10 tables, C(5, 3): 5 blocks, the key is 2 of them, 25 or 26 bits
    bit  63         51 50         38 37         25 24         12 11        0
        |   block 4   |   block 3   |   block 2   |   block 1   |  block 0  |

    20 tables, C(6, 3): 6 blocks, the key is 3 of them, 31 to 33 bits
    bit  63       53 52       42 41       31 30       20 19      10 9        0
        |  block 5  |  block 4  |  block 3  |  block 2  | block 1  | block 0  |

The bits outside the key can be cut again, in the same way, for a longer key:

    16 tables, C(4, 3) * C(4, 3): 4 blocks, 1 chosen; the other 48 bits cut in 4, 1 chosen: 28 bits
    bit  63           48 47           32 31           16 15            0
        |    block 3    |    block 2    |    chosen     |    block 0    |
        |     3     |     2     |   1   |               | 1 |     0     |
         63       52 51       40 39   32                 15  11        0

One case by hand, in this last picture: two fingerprints differ in bits 60, 40 and 5. Bit 60 spoils
block 3, bit 40 block 2, bit 5 block 0: block 1 is chosen. Of the rest, 60 spoils part 3, 40 part 2
and 5 part 0: part 1 is chosen, bits 39-32 and 15-12. With block 1 that is bits 39-12, and in the
table with this key the two meet.

A probe of a table of p-bit keys finds 2^d / 2^p of 2^d pages, if fingerprints are spread evenly:
many tables are fast and large, few are small and slow. The fewest tables with keys of p bits are

    X(f, k, d) = 1                                                     no more bits needed
               = min over r > k of  C(r, k) * X(fk/r, k, d - (r-k)f/r) else

All from Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling" (WWW 2007), 3.1.
Its figures for 2^34 pages are 8, 64, 512 and 262,144 candidates a probe: 20, 16, 10 and 4 tables.
(The index in neighbours.py goes another way beyond k = 3: four tables, and more probes in each.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, pairwise
from math import ceil, comb, log2, prod

from simhash_pipeline.bits import refuse_other_distances

WIDTHS = (32, 64)  # bits of a fingerprint, as of published programs
MAX_PAGES = 1 << 40
# A thousand tables take 8 KB a page of 64 bits, which is too much; some k would need millions.
MAX_TABLES = 1_000
# The default aim of a plan: between the paper's 16 tables (64 a probe) and its 10 (512).
ENOUGH_CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class Design:
    """Tables in which two fingerprints within `distance` bits share a key at least once.

    `splits` says how: (6,) cuts into 6 blocks, (4, 4) into 4 and the bits outside the key into 4
    again, () not at all: one table without a key, a scan. A table is the mask of its key's bits.
    Raises ValueError where a split is impossible or there would be more than 1,000 tables.
    """

    bits: int
    distance: int
    splits: tuple[int, ...]
    tables: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        refuse_other_widths(self.bits)
        refuse_other_distances(self.distance)
        free = self.bits
        for blocks in self.splits:
            if not self.distance < blocks <= free:
                raise ValueError(
                    f"{free} bits are cut into more than {self.distance} blocks, the distance, "
                    f"and at most {free}, not {blocks}"
                )
            free = _outside(free, blocks, self.distance)
        if (tables := prod(comb(blocks, self.distance) for blocks in self.splits)) > MAX_TABLES:
            raise ValueError(f"a design has at most {MAX_TABLES:,} tables, not {tables:,}")
        masks = tuple(_masks((1 << self.bits) - 1, self.distance, self.splits))
        object.__setattr__(self, "tables", masks)

    @property
    def key_bits(self) -> tuple[int, ...]:
        """The length of each table's key."""
        return tuple(mask.bit_count() for mask in self.tables)

    @property
    def probes(self) -> int:
        """How many buckets a query looks into: one in each table."""
        return len(self.tables)

    def candidates_per_probe(self, pages: int) -> float:
        """How many fingerprints a probe is expected to find, in the table with the shortest key."""
        return float(pages / 2 ** min(self.key_bits))

    def candidates_per_query(self, pages: int) -> float:
        """How many fingerprints the probes of one query are expected to find together."""
        return float(sum(pages / 2**length for length in self.key_bits))

    def chance_neighbours(self, pages: int) -> float:
        """How many of `pages` evenly spread fingerprints are within the distance by chance."""
        near = sum(comb(self.bits, count) for count in range(self.distance + 1))
        return float(near * pages / 2**self.bits)

    def memory_bytes(self, pages: int) -> int:
        """Bytes of all tables, sorted and whole; packed, the paper says, half."""
        return pages * self.probes * self.bits // 8


@dataclass(frozen=True, slots=True)
class Plan:
    """Every worthwhile design for a number of pages, and which one is recommended.

    `designs` runs from the fewest tables to the most; no other design has keys as long in fewer
    tables.
    """

    pages: int
    designs: tuple[Design, ...]  # one at least

    @property
    def recommended(self) -> Design:
        """The design with the fewest tables that has at most 100 candidates a probe.

        If no design has so few, the one with the fewest candidates a query.
        """
        return next(
            (
                one
                for one in self.designs
                if one.candidates_per_probe(self.pages) <= ENOUGH_CANDIDATES
            ),
            min(self.designs, key=lambda one: one.candidates_per_query(self.pages)),
        )


def plan(pages: int, distance: int, bits: int = 64) -> Plan:
    """The designs for `pages` pages, up to 2^40; ValueError for other numbers."""
    refuse_other_widths(bits)
    refuse_other_distances(distance)
    if not 1 <= pages <= MAX_PAGES:
        raise ValueError(f"a plan is for 1 to {MAX_PAGES:,} pages (2^40), not {pages:,}")
    return Plan(pages, tuple(designs(bits, distance, max(1, ceil(log2(pages))))))


def designs(bits: int, distance: int, max_key_bits: int) -> Iterator[Design]:
    """Designs with longer and longer keys, each in the fewest tables, up to `max_key_bits`."""
    longest = 0
    while longest < max_key_bits and (design := optimum(bits, distance, longest + 1)):
        yield design
        longest = min(design.key_bits)


def optimum(bits: int, distance: int, min_key_bits: int) -> Design | None:
    """The fewest tables, X(f, k, d), whose keys are `min_key_bits` or longer: the paper's p_min.

    Of designs with equally many tables, the one with the longest keys. None when it takes more than
    1,000 tables, or longer keys than there are bits. The paper divides bits exactly; here blocks
    are whole bits, and the shortest key is what counts.
    """
    refuse_other_widths(bits)
    refuse_other_distances(distance)

    @cache
    def fewest(free: int, wanted: int) -> tuple[int, int, tuple[int, ...]]:
        """(tables, most bits outside the key, splits) of the best way to cut `free` bits."""
        if wanted <= 0:
            return 1, free, ()
        best: tuple[int, int, tuple[int, ...]] = (MAX_TABLES + 1, free, ())
        for blocks in range(distance + 1, free + 1):
            choices = comb(blocks, distance)
            if choices > best[0]:
                break
            outside = _outside(free, blocks, distance)
            tables, rest, splits = fewest(outside, wanted - (free - outside))
            best = min(best, (choices * tables, rest, (blocks, *splits)))
        return best

    tables, _, splits = fewest(bits, min_key_bits)
    return Design(bits, distance, splits) if tables <= MAX_TABLES else None


def refuse_other_widths(bits: int) -> None:
    """Raise ValueError unless the width is 32 or 64 bits."""
    if not isinstance(bits, int) or bits not in WIDTHS:
        raise ValueError(f"a fingerprint has 32 or 64 bits, not {bits!r}")


def _outside(free: int, blocks: int, distance: int) -> int:
    """How many of `free` bits the shortest key leaves out: the `distance` widest blocks."""
    width, wider = divmod(free, blocks)
    return distance * width + min(distance, wider)


def _masks(free: int, distance: int, splits: tuple[int, ...]) -> Iterator[int]:
    """The key masks of every choice of blocks."""
    if not splits:
        yield 0
        return
    blocks = _blocks(free, splits[0])
    for chosen in combinations(blocks, splits[0] - distance):
        key = sum(chosen)
        for more in _masks(free & ~key, distance, splits[1:]):
            yield key | more


def _blocks(free: int, count: int) -> list[int]:
    """The bits of a mask cut into masks, from the highest; the first ones are wider by one bit."""
    places = [bit for bit in reversed(range(free.bit_length())) if free >> bit & 1]
    width, wider = divmod(len(places), count)
    ends = [number * width + min(number, wider) for number in range(count + 1)]
    return [sum(1 << bit for bit in places[start:end]) for start, end in pairwise(ends)]
