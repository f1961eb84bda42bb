"""Traditional characters read as simplified ones: the table of OpenCC, and what tells it apart."""

from __future__ import annotations

import hashlib
from functools import cache

from simhash_pipeline.errors import OptionsError

_HAN_RANGES = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x32000))


@cache
def simplified() -> dict[int, str]:
    """OpenCC's simplified character for each traditional one; OptionsError where it is missing.

    A table of single characters: what OpenCC does by phrases besides is rare towards simplified.
    """
    try:
        from opencc import OpenCC
    except ImportError as error:
        rule = "it needs OpenCC: pip install 'simhash-pipeline[opencc]'"
        raise OptionsError([f"SIMHASH_TO_SIMPLIFIED is True; {rule}"]) from error
    han = [chr(code) for first, end in _HAN_RANGES for code in range(first, end)]
    simple = OpenCC("t2s").convert("\n".join(han)).split("\n")
    return {ord(old): new for old, new in zip(han, simple, strict=True) if old != new}


def simplified_digest() -> str:
    """16 hexadecimal digits that another table would not have, and another OpenCC may."""
    return hashlib.sha256(repr(sorted(simplified().items())).encode()).hexdigest()[:16]
