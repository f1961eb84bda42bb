"""What a setting's value may be; read from Python values and from a command line's strings."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value must be, in words; `read` returns it or raises ValueError."""

    text: str
    read: Callable[[Any], Any]


def _flag(value: Any) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if str(value).lower() not in words:
        raise ValueError
    return words[str(value).lower()]


def _int(value: Any) -> int:
    if isinstance(value, (bool, float)):
        raise ValueError
    return int(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    value.encode()  # a ValueError for what a command line says in another charset
    return value


FLAG = Rule("True or False", _flag)


def whole(low: int, high: int, unit: str) -> Rule:
    def read(value: Any) -> int:
        number = _int(value)
        if not low <= number <= high:
            raise ValueError
        return number

    return Rule(f"a whole number of {unit} from {low} to {high}", read)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not 0 < float(value) <= 1:
        raise ValueError
    return float(value)


def one_of(*values: Any) -> Rule:
    names = {str(value): value for value in values}

    def read(value: Any) -> Any:
        if isinstance(value, bool) or str(value) not in names:
            raise ValueError
        return names[str(value)]

    return Rule("one of " + ", ".join(names), read)


def words(text: str) -> Rule:
    def read(value: Any) -> str:
        if _text(value) == "":
            raise ValueError
        return _text(value)

    return Rule(text, read)


def path(text: str) -> Rule:
    return Rule(text, lambda value: words(text).read(os.fspath(value)))


def one_of_or_path(*names: str, call: str) -> Rule:
    def read(value: Any) -> str:
        if _text(value) not in names and not _is_dotted(value):
            raise ValueError
        return str(value)

    return Rule(f"one of {', '.join(names)}, or the dotted path of a callable: {call}", read)


def _is_dotted(path: str) -> bool:
    parts = path.replace(":", ".").split(".")
    return len(parts) > 1 and all(map(str.isidentifier, parts))


def _ngrams(value: Any) -> tuple[int, ...]:
    sizes = json.loads(f"[{value.strip('()[], ')}]") if isinstance(value, str) else list(value)
    if not sizes or any(_int(size) != size or not 1 <= size <= 8 for size in sizes):
        raise ValueError
    return tuple(sorted(set(sizes)))


def or_none(rule: Rule) -> Rule:
    def read(value: Any) -> Any:
        return None if value is None or str(value).lower() == "none" else rule.read(value)

    return Rule(f"{rule.text}, or None", read)


# Two letters at least, so that C:/seen.sqlite is a file.
STORE_URL = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)


def _store(value: Any) -> str:
    text = _text(value)
    if text != "auto" and STORE_URL.match(text) is None:
        raise ValueError
    return text


STORE = Rule("auto or a store URL (memory:, sqlite:///path, redis://host)", _store)
SHARE = Rule("a number above 0, at most 1", _share)
TEXT = Rule("a text", _text)
NGRAMS = Rule("sizes from 1 to 8, such as (1, 2)", _ngrams)
