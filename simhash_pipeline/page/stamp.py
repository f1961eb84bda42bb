"""What fingerprints depend on: options, files, and the rules of this room; stores refuse others."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pkgutil
import re
import struct
from collections.abc import Set as AbstractSet
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from simhash_pipeline import page
from simhash_pipeline.errors import OptionsError
from simhash_pipeline.options import Options, unreadable
from simhash_pipeline.page import segment

# Increased where the same page and options give another fingerprint by other code. Numbers, word
# lists and tables need no increase: their digest is in the stamp.
FINGERPRINT_VERSION = 1
# What makes no fingerprint: where a page comes from, who reads it, what the kernel is given.
_WITHOUT_RULES = frozenset(["compiled", "reader", "source", "stamp"])
# What costs time or memory alone, and no fingerprint.
_COST_NAMES = """_CHUNK _INVISIBLE _LIKELY _MAX_KNOWN_CHARS _NO_WORD
    FOLDED FOLDED_TO_THEMSELVES FIRST SECOND RANK_SHIFT"""
_COSTS = frozenset(_COST_NAMES.split())


def stamp_for(options: Options) -> dict[str, Any]:
    """The options that fingerprints depend on, as JSON values, and a digest of the rules.

    A file is represented by a digest of its content, OpenCC by one of its table. OptionsError if
    they can't be read.
    """
    made = {
        field.name: getattr(options, field.name)
        for field in dataclasses.fields(options)
        if field.metadata["makes"]
    }
    files = {"stop_words": options.stop_words, "user_dict": options.user_dict}
    made |= {name: _file_digest(name, path) for name, path in files.items() if path is not None}
    if options.to_simplified:
        made["opencc_table"] = _digest(_text(segment.simplified()))
    versions = {"fingerprint_version": FINGERPRINT_VERSION, "rules": rules_digest()}
    return {**versions, **json.loads(json.dumps(made))}


@cache
def rules_digest() -> str:
    """16 hexadecimal digits, the same on every machine and Python: of all constants of this room.

    TypeError for a constant of which no text can be made that is the same everywhere.
    """
    return _digest("\n".join(f"{name} {_text(value)}" for name, value in sorted(rules().items())))


def rules() -> dict[str, Any]:
    """The constants by module and name: what is in capitals, and affects fingerprints."""
    names = {each.name for each in pkgutil.iter_modules(page.__path__)} - _WITHOUT_RULES
    return {
        f"{module}.{name}": value
        for module in names
        for name, value in vars(import_module(f"{page.__name__}.{module}")).items()
        if name.isupper() and name not in _COSTS | {"TYPE_CHECKING"}
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


def _file_digest(name: str, path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        raise OptionsError([unreadable(name, path, error)]) from error


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
