"""What a setting's value may be; read from Python values and from a command line's strings."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_SECS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def _always(value: Any) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value must be: `text` says it in words, `read` checks and converts a value."""

    text: str
    convert: Callable[[Any], Any]
    accepts: Callable[[Any], bool] = _always

    def read(self, value: Any) -> Any:
        """The converted value; ValueError, TypeError or KeyError if it breaks the rule."""
        converted = self.convert(value)
        if not self.accepts(converted):
            raise ValueError
        return converted


# Two letters at least, so that C:/seen.sqlite is a file.
STORE_URL = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def _int(value: Any) -> int:
    if isinstance(value, (bool, float)):
        raise TypeError
    return int(value)


def _float(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # ValueError for bytes of a command line that aren't UTF-8
    return value


def _sizes(value: Any) -> tuple[int, ...]:
    sizes = json.loads(f"[{value.strip('()[], ')}]") if isinstance(value, str) else value
    return tuple(sorted({_int(size) for size in sizes}))


def age_secs(text: str) -> int:
    """Seconds of an age such as 30m, 2h or 90d; ValueError for anything else."""
    age = re.fullmatch("(0*[1-9][0-9]{0,8})([smhdw])", text)
    if age is None:
        raise ValueError(text)
    return int(age[1]) * _SECS[age[2]]


def _age(value: Any) -> int:
    return age_secs(value) if isinstance(value, str) and value[-1:].isalpha() else _int(value)


FLAG = Rule("True or False", lambda value: _FLAGS[str(value).lower()])
TEXT = Rule("a text", _text)
FIELD = Rule("the name of an item field", _text, bool)
AGE = Rule("an age, as 90d, 12h or 30m, or whole seconds", _age, lambda secs: secs > 0)
SHARE = Rule("a number above 0, at most 1", _float, lambda share: 0 < share <= 1)
LIKENESS = Rule("a number from 0 to 1", _float, lambda share: 0 <= share <= 1)
NGRAMS = Rule(
    "sizes from 1 to 8, such as (1, 2)",
    _sizes,
    lambda sizes: bool(sizes) and sizes[0] >= 1 and sizes[-1] <= 8,
)
STORE = Rule(
    "auto or a store URL (memory:, sqlite:///path, redis://host)",
    _text,
    lambda text: text.partition("?")[0] == "auto" or STORE_URL.match(text) is not None,
)


def whole(low: int, high: int, unit: str) -> Rule:
    text = f"a whole number of {unit} from {low} to {high}"
    return Rule(text, _int, lambda number: low <= number <= high)


def path(text: str) -> Rule:
    return Rule(text, lambda value: _text(os.fspath(value)), bool)


def path_with(*names: str, text: str) -> Rule:
    """A path that may hold these placeholders, `%(name)s`, and no others."""
    shown = " and ".join(f"%({name})s" for name in names)
    return Rule(
        f"{text}, in which {shown} may stand",
        path(text).read,
        lambda value: bool(value) and set(re.findall(r"%\((\w+)\)s", value)) <= {*names},
    )


def one_of(*values: Any) -> Rule:
    by_name = {str(value): value for value in values}
    return Rule("one of " + ", ".join(by_name), lambda value: by_name[str(value)])


def one_of_or_path(*names: str, call: str, file: str = "") -> Rule:
    """One of these names, or a dotted path; or the path of a `file`, with a slash in it."""
    text = f"one of {', '.join(names)}, or the dotted path of a callable: {call}"
    if not file:
        return Rule(text, _text, lambda value: value in names or _is_dotted(value))
    return Rule(
        f"{text}, or the path of {file}, with a slash in it",
        _name_or_path,
        lambda value: value in names or _is_dotted(value) or is_file_path(value),
    )


def is_file_path(value: str) -> bool:
    """Whether it names a file, not a callable: `./weights.tsv`, but `weights.tsv` is dotted."""
    return "/" in value or os.sep in value


def _name_or_path(value: Any) -> str:
    """A text as it is; of a path one that names a file."""
    if not isinstance(value, os.PathLike):
        return _text(value)
    path = _text(os.fspath(value))
    return path if is_file_path(path) else f"./{path}"


def _is_dotted(path: str) -> bool:
    parts = path.replace(":", ".").split(".")
    return len(parts) > 1 and all(map(str.isidentifier, parts))


def or_none(rule: Rule) -> Rule:
    return Rule(
        f"{rule.text}, or None",
        lambda value: None if str(value).lower() == "none" else rule.read(value),
    )
