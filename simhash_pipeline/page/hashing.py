"""Features in, hash values out, as rows of little-endian bytes."""

from __future__ import annotations

from collections.abc import Iterable

import mmh3
import numpy as np
from numpy.typing import NDArray


def murmur3(features: Iterable[str], bits: int) -> NDArray[np.uint8]:
    """MurmurHash3 x64 128 of each feature's UTF-8, seed 0, its first `bits` bits (32, 64 or 128).

    Shape (features, bits / 8); bit i of a hash value is bit i % 8 of byte i // 8. The first 64
    bits are the number that `mmh3.hash64(feature, signed=False)[0]` gives.
    """
    digest = mmh3.mmh3_x64_128_digest
    joined = b"".join([digest(feature.encode("utf-8", "replace")) for feature in features])
    return np.frombuffer(joined, np.uint8).reshape(-1, 16)[:, : bits // 8]
