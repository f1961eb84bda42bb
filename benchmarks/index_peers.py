"""The programs measured beside the store: each takes all values and returns a look-up."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simhash_pipeline import FingerprintIndex

Ask = Callable[[int], list[int]]  # value -> the stored values within DISTANCE

DISTANCE = 3
FAISS_HASHES = 4
MINHASH_PERMUTATIONS = 128


@dataclass(frozen=True, slots=True)
class Peer:
    """Another program; `most_values` keeps the benchmark within minutes."""

    package: str
    most_values: int

    def version(self) -> str | None:
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None


PEERS = {
    "PyPI simhash": Peer("simhash", 1_000_000),
    "FAISS MultiHash": Peer("faiss-cpu", 100_000_000),
    "datasketch MinHashLSH": Peer("datasketch", 100_000),
}


def _index(values: Any) -> Ask:
    index = FingerprintIndex()
    for chunk in np.array_split(values, 1 + len(values) // 1_000):
        for value in chunk.tolist():
            index.add(value)
    return lambda value: [stored for stored, _ in index.near(value, DISTANCE)]


def _brute_force(values: Any) -> Ask:
    stored = values.copy()

    def ask(value: int) -> list[int]:
        near = np.bitwise_count(stored ^ np.uint64(value)) <= DISTANCE
        found: list[int] = stored[near].tolist()
        return found

    return ask


def _pypi_simhash(values: Any) -> Ask:
    simhash = importlib.import_module("simhash")
    index = simhash.SimhashIndex([], k=DISTANCE)
    for value in values.tolist():
        index.add(str(value), simhash.Simhash(value))
    return lambda value: [int(found) for found in index.get_near_dups(simhash.Simhash(value))]


def _faiss(values: Any) -> Ask:
    faiss = importlib.import_module("faiss")
    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryMultiHash(64, FAISS_HASHES, 64 // FAISS_HASHES)
    index.add(values.view(np.uint8).reshape(-1, 8))

    def ask(value: int) -> list[int]:
        row = np.array([value], np.uint64).view(np.uint8).reshape(1, 8)
        _, _, places = index.range_search(row, DISTANCE + 1)  # FAISS counts what is below
        found: list[int] = values[places].tolist()
        return found

    return ask


def _datasketch(values: Any) -> Ask:
    """Sets, not bits: 64 members for the 64 bits, near by Jaccard at 61 of 67 alike."""
    datasketch = importlib.import_module("datasketch")

    def minhash(value: int) -> Any:
        members = [f"{bit}{value >> bit & 1}".encode() for bit in range(64)]
        made = datasketch.MinHash(MINHASH_PERMUTATIONS)
        made.update_batch(members)
        return made

    lsh = datasketch.MinHashLSH(threshold=0.91, num_perm=MINHASH_PERMUTATIONS)
    for value in values.tolist():
        lsh.insert(value, minhash(value), check_duplication=False)

    def ask(value: int) -> list[int]:
        found = lsh.query(minhash(value))
        return [stored for stored in found if (stored ^ value).bit_count() <= DISTANCE]

    return ask


ASK: dict[str, Callable[[Any], Ask]] = {
    "FingerprintIndex": _index,
    "NumPy brute force": _brute_force,
    "PyPI simhash": _pypi_simhash,
    "FAISS MultiHash": _faiss,
    "datasketch MinHashLSH": _datasketch,
}
