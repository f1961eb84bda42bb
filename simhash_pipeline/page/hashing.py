"""Features in, hash values out, as rows of little-endian bytes: bit i is bit i % 8 of byte i // 8.

murmur3 is the default: each token is hashed once, and an n-gram's hash is folded from those. The
others are what published fingerprints were made with, an n-gram as one text; no maintained library
has them all.
"""

import struct
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TypeAlias

import mmh3

from simhash_pipeline import native
from simhash_pipeline.bits import BITS, SKETCH_BITS, NDArray, np
from simhash_pipeline.page.simhash import simhash

Rows: TypeAlias = "NDArray[np.uint8]"
Words: TypeAlias = "NDArray[np.uint64]"

_FNV_PRIME, _FNV_BASIS = 2**40 + 0x1B3, 0xCBF29CE484222325
_FOLD = 0x9E3779B97F4A7C15  # odd: 2**64 by the golden ratio
_MURMUR2_FACTOR = 0xC6A4A7935BD1E995
_MASK = 2**64 - 1


def hash_rows(name: str, joiner: str = " ") -> Callable[[Iterable[str]], Rows]:
    """The hash of that name, as rows of 64 bits.

    `joiner` is what the n-grams' tokens are joined by: "" where they are single characters.
    """
    if name == "murmur3":
        return lambda features: _of_ngrams([f.split(joiner) if joiner else f for f in features])
    published = (murmur2, fnv1, fnv1a, fnv1a_signed, jenkins, java)
    function = {each.__name__.replace("_", "-"): each for each in published}[name]
    return lambda features: _published(function, features)


def hashed(features: Iterable[str]) -> bytes:
    """MurmurHash3 x64 128 of each feature's UTF-8, seed 0, 16 bytes a feature.

    The first 64 bits are the number that `mmh3.hash64(feature, signed=False)[0]` gives.
    """
    # As bytes: mmh3 crashes on a lone surrogate. Half of a text's words come again.
    given = [*features]
    known = {each: mmh3.hash_bytes(each.encode("utf-8", "replace")) for each in {*given}}
    return b"".join(map(known.__getitem__, given))


class TokenHashes:
    """A text's tokens, as `hashed` gives them, and its n-grams folded from these."""

    def __init__(self, tokens: bytes) -> None:
        self._tokens = tokens

    def __len__(self) -> int:
        return len(self._tokens) // 16

    def ngrams(self, size: int, bits: int = BITS) -> Rows:
        """A row for each n-gram in reading order, repeated ones too; shape (n-grams, bits / 8)."""
        folded = words = np.frombuffer(self._tokens, "<u8").reshape(-1, 2)
        for place in range(1, size):
            folded = mixed(folded[:-1] * _FOLD + words[place:])
        return np.ascontiguousarray(folded[:, : bits // 64], "<u8").view(np.uint8)

    def content(self, sizes: tuple[int, ...]) -> int | None:
        """The 64-bit simhash of all n-grams of these sizes; None without any."""
        if native.kernel is not None:
            return native.kernel.content(self._tokens, sizes)
        return simhash(np.concatenate([self.ngrams(size) for size in sizes]))

    def sketch(self, size: int) -> int | None:
        """The 128-bit simhash of the set of n-grams; None with fewer tokens than one has."""
        if native.kernel is not None:
            return native.kernel.sketch(self._tokens, size)
        rows = self.ngrams(size, SKETCH_BITS)
        # 64 bits tell n-grams apart well enough, and sort faster than rows.
        _, firsts = np.unique(rows.view("<u8")[:, 0], return_index=True)
        return simhash(rows[firsts])


def mixed(words: Words) -> Words:
    """Each word's bits spread over the whole word: splitmix64's last step (Steele et al. 2014)."""
    words = words ^ (words >> np.uint64(30))
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words


def _of_ngrams(ngrams: Sequence[Sequence[str]]) -> Rows:
    """A row for each n-gram, of whatever sizes."""
    hashes = TokenHashes(hashed(chain.from_iterable(ngrams)))
    sizes = np.fromiter(map(len, ngrams), np.intp, len(ngrams))
    starts = np.cumsum(sizes) - sizes
    rows = np.empty((len(ngrams), BITS // 8), np.uint8)
    for size in np.unique(sizes).tolist():
        rows[sizes == size] = hashes.ngrams(size)[starts[sizes == size]]
    return rows


def _published(function: Callable[[bytes], int], features: Iterable[str]) -> Rows:
    """Of UTF-8; two surrogates of one character are that character, others `?`, as in Java."""
    units = (feature.encode("utf-16", "surrogatepass") for feature in features)
    texts = (each.decode("utf-16", "surrogatepass").encode("utf-8", "replace") for each in units)
    joined = b"".join((function(text) & _MASK).to_bytes(BITS // 8, "little") for text in texts)
    return np.frombuffer(joined, np.uint8).reshape(-1, BITS // 8)


def fnv1(data: bytes) -> int:
    """FNV-1 of 64 bits (Fowler, Noll, Vo; RFC 9923): multiply, then xor."""
    value = _FNV_BASIS
    for byte in data:
        value = value * _FNV_PRIME & _MASK ^ byte
    return value


def fnv1a(data: bytes) -> int:
    """FNV-1a of 64 bits: xor, then multiply."""
    value = _FNV_BASIS
    for byte in data:
        value = (value ^ byte) * _FNV_PRIME & _MASK
    return value


def fnv1a_signed(data: bytes) -> int:
    """FNV-1a of 64 bits, read as 64 characters that Go prints for `%064b` of the signed number.

    A negative number is printed as a minus sign and its magnitude. The published program takes the
    sign for a one.

        hash        1111…1101              0000…0101
        as signed   -3                     5
        printed     -000…0011              0000…0101
        taken for   1000…0011              0000…0101
    """
    value = fnv1a(data)
    if value < 2**63:
        return value
    if value == 2**63:  # a sign and 64 digits: the last one is not taken
        return 0b11 << 62
    return 2**63 | 2**64 - value


def java(data: bytes) -> int:
    """`String.hashCode` of the UTF-8 text: 32 bits, over its UTF-16 code units."""
    units = np.frombuffer(data.decode("utf-8").encode("utf-16-le"), "<u2").tolist()
    value = 0
    for unit in units:
        value = value * 31 + unit & 0xFFFFFFFF
    return value


def murmur2(data: bytes) -> int:
    """MurmurHash2 64A, seed 0, with the tail's bytes signed, as simhash-java has it.

    For ASCII and for lengths that 8 divides it is Appleby's function.
    """
    whole = len(data) - len(data) % 8
    value = len(data) * _MURMUR2_FACTOR & _MASK
    for start in range(0, whole, 8):
        word = int.from_bytes(data[start : start + 8], "little") * _MURMUR2_FACTOR & _MASK
        word = (word ^ word >> 47) * _MURMUR2_FACTOR & _MASK
        value = (value ^ word) * _MURMUR2_FACTOR & _MASK
    for place, byte in reversed(list(enumerate(data[whole:]))):
        value ^= (byte if byte < 128 else byte - 256) << 8 * place & _MASK
    if len(data) > whole:
        value = value * _MURMUR2_FACTOR & _MASK
    value = (value ^ value >> 47) * _MURMUR2_FACTOR & _MASK
    return value ^ value >> 47


def jenkins(data: bytes) -> int:
    """Jenkins' lookup3 `hashlittle2`, both seeds 0, as primary << 32 | secondary."""
    a = b = c = 0xDEADBEEF + len(data) & 0xFFFFFFFF
    if not data:
        return c << 32 | b
    last = (len(data) - 1) // 12 * 12
    for start in range(0, last, 12):
        x, y, z = struct.unpack_from("<3I", data, start)
        a, b, c = _mix(a + x, b + y, c + z)
    tail: tuple[int, int, int] = struct.unpack("<3I", data[last:].ljust(12, b"\0"))
    a, b, c = a + tail[0] & 0xFFFFFFFF, b + tail[1] & 0xFFFFFFFF, c + tail[2] & 0xFFFFFFFF
    for places in (14, 11, 25, 16, 4, 14, 24):
        c = (c ^ b) - _rotated(b, places) & 0xFFFFFFFF
        a, b, c = b, c, a
    return b << 32 | a


def _mix(a: int, b: int, c: int) -> tuple[int, int, int]:
    a, b, c = a & 0xFFFFFFFF, b & 0xFFFFFFFF, c & 0xFFFFFFFF
    for places in (4, 6, 8, 16, 19, 4):
        a = (a - c & 0xFFFFFFFF) ^ _rotated(c, places)
        c = c + b & 0xFFFFFFFF
        a, b, c = b, c, a
    return a, b, c


def _rotated(word: int, places: int) -> int:
    return (word << places | word >> 32 - places) & 0xFFFFFFFF
