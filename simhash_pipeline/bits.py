"""The widths of fingerprints, the range of distances, fingerprints as text, hashes, and numpy.

numpy is imported when it is first used: it takes 0.1 s of CPU and 25 MB. A crawl with the compiled
kernel does without, until its store holds many pages.
"""

from hashlib import blake2b
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["NDArray", "np"]  # imported here for others

BITS = 64  # of the content and the structure fingerprint
SKETCH_BITS = 128
MAX_DISTANCE_BITS = 8


def fingerprint_hex(fingerprint: int | None, bits: int = BITS) -> str | None:
    """All its digits, 16 for 64 bits; None if there is no fingerprint."""
    return None if fingerprint is None else f"{fingerprint:0{bits // 4}x}"


def packed_bits(value: int, bits: int = BITS) -> bytes:
    """The fingerprint, lowest byte first; ValueError for what is none of so many bits."""
    try:
        return value.to_bytes(bits // 8, "little")
    except (AttributeError, TypeError, OverflowError):
        rule = f"is a whole number from 0 to 2**{bits} - 1"
        raise ValueError(f"a fingerprint of {bits} bits {rule}, not {value!r}") from None


def hash_of(said: str | bytes, size: int = 8) -> bytes:
    """So many bytes by which equal texts are found; among a billion texts a pair shares 8."""
    packed = said.encode("utf-8", "replace") if isinstance(said, str) else said
    return blake2b(packed, digest_size=size).digest()


def refuse_other_distances(max_distance_bits: int) -> None:
    """Raise ValueError unless the distance is one of 0-8."""
    if not isinstance(max_distance_bits, int) or not 0 <= max_distance_bits <= MAX_DISTANCE_BITS:
        rule = f"is a whole number from 0 to {MAX_DISTANCE_BITS} bits"
        raise ValueError(f"a distance {rule}, not {max_distance_bits!r}")


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            found = getattr(import_module("numpy"), name)
            setattr(self, name, found)
            return found

    np, NDArray = _Numpy(), Any
