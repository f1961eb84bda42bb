"""The widths of fingerprints, the range of distances, and fingerprints as hexadecimal text."""

from __future__ import annotations

WIDTHS = (32, 64)  # bits of the content and the structure fingerprint; a store has one of them
DEFAULT_WIDTH = 64
SKETCH_BITS = 128
MAX_DISTANCE_BITS = 8


def fingerprint_hex(fingerprint: int | None, bits: int) -> str | None:
    """All its digits, 16 for 64 bits; None if there is no fingerprint."""
    return None if fingerprint is None else f"{fingerprint:0{hex_digits(bits)}x}"


def hex_digits(bits: int) -> int:
    """The number of hexadecimal digits of a fingerprint that is `bits` wide."""
    return bits // 4


def refuse_other_widths(bits: int) -> None:
    """Raise ValueError unless the width is 32 or 64 bits."""
    if not isinstance(bits, int) or bits not in WIDTHS:
        raise ValueError(f"a fingerprint has 32 or 64 bits, not {bits!r}")


def refuse_other_distances(max_distance_bits: int) -> None:
    """Raise ValueError unless the distance is one of 0-8."""
    if not isinstance(max_distance_bits, int) or not 0 <= max_distance_bits <= MAX_DISTANCE_BITS:
        raise ValueError(
            f"a distance is a whole number from 0 to {MAX_DISTANCE_BITS} bits, "
            f"not {max_distance_bits!r}"
        )
