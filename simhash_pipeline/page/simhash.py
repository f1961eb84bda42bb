"""Weighted hashes in, fingerprint out; and the distance of two fingerprints. Nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_pipeline.bits import np

# Votes are counted in multiples of this: sums of whole numbers are exact, so the order in which a
# machine adds them can't turn a bit.
VOTE = 2.0**-20
_FEWEST = {">0": VOTE, ">=0": 0.0, ">1": 1 + VOTE}  # that set a bit
# Features whose bits are unpacked at once: half a megabyte, which a processor keeps at hand.
_CHUNK = 512
_BYTE_ROWS = 255  # of rows that weigh 1: their sum fits a byte, which adds up fastest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.uint8]
    Weights = NDArray[np.float64]


def simhash(hashes: Rows, weights: Weights | None = None, set_when: str = ">0") -> int | None:
    """Charikar's fingerprint (STOC 2002): bit i is set where over half the weight has bit i set.

    `hashes`: shape (features, bytes), little-endian; `weights`: >= 0; None: each weighs 1.
    `set_when`: which sums of votes set a bit; published programs differ in it.
    An unsigned number of 8 * bytes bits; None where nothing weighs anything.

        hash 1   weight 4    1  0  0  1  0  1     4 -4 -4  4 -4  4
        hash 2   weight 5    1  0  1  0  1  1     5 -5  5 -5  5  5
                             ----------------     ----------------
        fingerprint          1  0  1  0  1  1     9 -9  1 -1  1  9
    """
    if not len(hashes) or (weights is not None and not (weights > VOTE).any()):
        return None
    sums = votes(hashes, weights)
    bits = sums >= _FEWEST[set_when]
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def votes(hashes: Rows, weights: Weights | None = None) -> NDArray[np.float64]:
    """The last row of the picture above: for each bit, bit 0 first, weight for less weight against.

    Exact to 2**-20, whatever the order of the features.
    """
    if weights is None:
        return (2 * _ayes(hashes) - len(hashes)).astype(np.float64)
    counted = np.rint(weights / VOTE)
    ayes = np.zeros(hashes.shape[1] * 8)
    for start in range(0, len(hashes), _CHUNK):
        bits = np.unpackbits(hashes[start : start + _CHUNK], axis=1, bitorder="little")
        ayes += counted[start : start + _CHUNK] @ bits.astype(np.float64)
    sums: NDArray[np.float64] = (2 * ayes - counted.sum()) * VOTE
    return sums


def _ayes(hashes: Rows) -> NDArray[np.int64]:
    """How many rows have each bit: 255 long rows are added as bytes, and their parts as numbers."""
    width = hashes.shape[1] * 8
    ayes = np.zeros(width, np.int64)
    for start in range(0, len(hashes), _CHUNK * _BYTE_ROWS):
        # In one row, which takes half the time of rows.
        bits = np.unpackbits(hashes[start : start + _CHUNK * _BYTE_ROWS].ravel(), bitorder="little")
        whole = len(bits) // (_BYTE_ROWS * width) * _BYTE_ROWS * width
        added = bits[:whole].reshape(_BYTE_ROWS, -1).sum(axis=0, dtype=np.uint8)
        ayes += added.reshape(-1, width).sum(axis=0, dtype=np.int64)
        ayes += bits[whole:].reshape(-1, width).sum(axis=0, dtype=np.uint8)
    return ayes


def hamming_distance(a: int, b: int) -> int:
    """Number of bits in which two fingerprints of the same width differ."""
    return (a ^ b).bit_count()
