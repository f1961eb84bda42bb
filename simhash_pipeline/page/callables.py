"""Callables that the user names by dotted path: loaded at start; if one fails, its page is kept."""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Callable
from typing import Any, TypeVar

from simhash_pipeline.errors import OptionsError, PageError
from simhash_pipeline.options import PREFIX

T = TypeVar("T")


def load_callable(option: str, path: str, returns: type[T]) -> Callable[[Any], T]:
    """The callable at `path`; OptionsError when there is none.

    When it raises, or returns another type, that is a PageError whose kind is the option's name:
    the item is kept.
    """
    try:
        found = pkgutil.resolve_name(path)
    except (ImportError, AttributeError, ValueError) as error:
        raise OptionsError([_fault(option, path, f"it can't be loaded: {error}")]) from error
    if not callable(found):
        raise OptionsError([_fault(option, path, f"that is a {type(found).__name__}, no callable")])

    @functools.wraps(found)
    def guarded(argument: Any) -> T:
        try:
            value = found(argument)
        except Exception as error:  # whatever code from outside may raise
            raise PageError(option, f"{path} failed: {error!r}") from error
        if not isinstance(value, returns):
            wrong = type(value).__name__
            raise PageError(option, f"{path} returned {wrong}, not {returns.__name__}")
        return value

    return guarded


def _fault(option: str, value: str, rule: str) -> str:
    return f"{PREFIX}{option.upper()} is {value!r}; {rule}"
