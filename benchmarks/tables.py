"""The trade of the table designs, measured: tables against candidates, beside the paper's figures.

    python -m benchmarks.tables [values, default 1e6]

Prints Markdown. Values are evenly spread, with a near one planted beside every hundredth. While it
measures, a sample of values is compared with all others by brute force. Then all pairs once more
with a crowd: a tenth of the values, 100,000 at most, alike in their high 16 bits.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simhash_pipeline.index.pairs import pairs_within
from simhash_pipeline.index.tables import Design, columns

BITS, DISTANCE = 64, 3
SAMPLE = 200
QUERIES = 10_000
CROWD = 100_000
PAPER_PAGES = 2**34
# Manku, Jain and Das Sarma (2007), example 3.1: candidates a probe among 2^34 pages.
PAPER = {(4,): 262_144, (5,): 512, (4, 4): 64, (6,): 8}


@dataclass(frozen=True, slots=True)
class Measured:
    pairs: NDArray[np.int64]
    cpu_seconds: float
    candidates: float  # a probe, the mean of all tables


def made(count: int, rng: np.random.Generator) -> NDArray[np.uint64]:
    """Random values; every hundredth is the one before it with 0 to 4 bits flipped."""
    values = rng.integers(0, 1 << 64, count, dtype=np.uint64)
    for row in range(99, count, 100):
        bits = rng.choice(BITS, size=rng.integers(0, 5), replace=False)
        values[row] = values[row - 1] ^ np.uint64(sum(1 << int(bit) for bit in bits))
    return values


def timed_pairs(values: NDArray[np.uint64], design: Design) -> tuple[NDArray[np.int64], float]:
    started = time.process_time()
    parts = list(pairs_within(values, DISTANCE, design))
    seconds = time.process_time() - started
    return np.concatenate([np.empty((0, 3), np.int64), *parts]), seconds


def crowded(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    crowd = min(CROWD, len(values) // 10)
    return np.concatenate([values[:crowd] & np.uint64((1 << 48) - 1), values[crowd:]])


def measured(values: NDArray[np.uint64], design: Design, rng: np.random.Generator) -> Measured:
    pairs, seconds = timed_pairs(values, design)
    queries = columns(rng.integers(0, 1 << 64, QUERIES, dtype=np.uint64), BITS)
    found = 0
    stored = columns(values, BITS)
    for table in range(design.probes):
        ordered, asked = np.sort(design.keys(stored, table)), design.keys(queries, table)
        found += int(
            (np.searchsorted(ordered, asked, "right") - np.searchsorted(ordered, asked)).sum()
        )
    return Measured(pairs, seconds, found / QUERIES / design.probes)


def missed(values: NDArray[np.uint64], pairs: NDArray[np.int64], rows: NDArray[np.int64]) -> int:
    """How many of the rows have other neighbours by brute force than in the pairs."""
    wrong = 0
    for row in rows:
        near = np.bitwise_count(values ^ values[row]) <= DISTANCE
        dull = set(np.flatnonzero(near).tolist()) - {int(row)}
        touching = pairs[(pairs[:, :2] == row).any(axis=1), :2]
        wrong += dull != set(touching.ravel().tolist()) - {int(row)}
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("values", nargs="?", type=float, default=1e6)
    count = int(parser.parse_args().values)
    rng = np.random.default_rng(7)
    values = made(count, rng)
    rows = rng.choice(np.arange(99, count, 100), min(SAMPLE, count // 100), replace=False)
    print(f"`python -m benchmarks.tables {count}`: {count:,} values of {BITS} bits, k = {DISTANCE}")
    print(f"(Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()})\n")
    print(
        "| tables | key bits | tables' memory | pairs | all pairs, CPU | with a crowd "
        "| candidates a probe | expected | expected at 2^34 | the paper |"
    )
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    wrong = 0
    for splits, papers in PAPER.items():
        design = Design(BITS, DISTANCE, splits)
        one = measured(values, design, rng)
        wrong += missed(values, one.pairs, rows)
        keys = sorted({min(design.key_bits), max(design.key_bits)})
        expected = design.candidates_per_query(count) / design.probes
        print(
            f"| {design.probes} | {'-'.join(map(str, keys))} "
            f"| {design.memory_bytes(count) / 1e6:,.0f} MB | {len(one.pairs):,} "
            f"| {one.cpu_seconds:.2f} s | {timed_pairs(crowded(values), design)[1]:.2f} s "
            f"| {one.candidates:.3g} | {expected:.3g} "
            f"| {design.candidates_per_probe(PAPER_PAGES):,.0f} | {papers:,} |"
        )
    print(f"\nBrute force: {wrong} of {len(PAPER) * len(rows):,} answers differ.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
