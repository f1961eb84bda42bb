"""The constants that fingerprints depend on, and their digest: `RULES_DIGEST` of page/stamp.py."""

import hashlib
import json
import pkgutil
import re
import struct
from collections.abc import Set as AbstractSet
from importlib import import_module
from typing import Any

from simhash_pipeline import page

# What makes no fingerprint: where a page comes from, who reads it, what the kernel is given.
WITHOUT_RULES = frozenset(["compiled", "reader", "source", "stamp"])
# What costs time or memory alone, and no fingerprint.
_COST_NAMES = """_CHUNK _INVISIBLE _LIKELY _MAX_KNOWN_CHARS _NO_WORD
    FOLDED FOLDED_TO_THEMSELVES FIRST SECOND RANK_SHIFT"""
COSTS = frozenset(_COST_NAMES.split())


def rules_digest() -> str:
    """16 hexadecimal digits, the same on every machine and Python: of all constants of the room.

    TypeError for a constant of which no text can be made that is the same everywhere.
    """
    lines = (f"{name} {_text(value)}" for name, value in sorted(rules().items()))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def rules() -> dict[str, Any]:
    """The constants by module and name: what is in capitals, and affects fingerprints."""
    names = {each.name for each in pkgutil.iter_modules(page.__path__)} - WITHOUT_RULES
    return {
        f"{module}.{name}": value
        for module in names
        for name, value in vars(import_module(f"{page.__name__}.{module}")).items()
        if name.isupper() and name not in COSTS | {"TYPE_CHECKING"}
    }


def _text(value: Any) -> str:
    """A text that is the same for equal values alone."""
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return ascii(value)
    if isinstance(value, re.Pattern):
        return value.pattern, int(value.flags)
    if isinstance(value, struct.Struct):
        return value.format
    if isinstance(value, AbstractSet):
        return sorted(value)
    raise TypeError(f"a rule is made of numbers and texts, not {value!r:.80}")
