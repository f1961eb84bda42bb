"""OpenCC's table from traditional to simplified Chinese characters, and the table's digest."""

from __future__ import annotations

import hashlib
from functools import cache

from simhash_pipeline.errors import OptionsError

_HAN_RANGES = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x32000))


@cache
def simplified() -> dict[int, str]:
    """Simplified characters by the code of the traditional one; OptionsError without OpenCC.

    OpenCC also replaces phrases, which is rare in this direction and is left out here.
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
    """16 hexadecimal digits of the table's hash; versions of OpenCC may share a table."""
    return hashlib.sha256(repr(sorted(simplified().items())).encode()).hexdigest()[:16]
