"""The widths of fingerprints, the range of distances, and fingerprints as hexadecimal text."""

from __future__ import annotations

BITS = 64  # of the content and the structure fingerprint
SKETCH_BITS = 128
MAX_DISTANCE_BITS = 8


def fingerprint_hex(fingerprint: int | None, bits: int = BITS) -> str | None:
    """All its digits, 16 for 64 bits; None if there is no fingerprint."""
    return None if fingerprint is None else f"{fingerprint:0{bits // 4}x}"


def refuse_other_distances(max_distance_bits: int) -> None:
    """Raise ValueError unless the distance is one of 0-8."""
    if not isinstance(max_distance_bits, int) or not 0 <= max_distance_bits <= MAX_DISTANCE_BITS:
        raise ValueError(
            f"a distance is a whole number from 0 to {MAX_DISTANCE_BITS} bits, "
            f"not {max_distance_bits!r}"
        )
