"""Every setting, once: its default, its rule and what it means.

A value may also be a string, as a command line gives it: "3", "True", "none", "1,2".
"""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simhash_pipeline.errors import OptionsError

PREFIX = "SIMHASH_"
# One more whenever the same page and options give another fingerprint; stamped into every store.
FINGERPRINT_VERSION = 1


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
    return value


FLAG = Rule("True or False", _flag)


def _whole(low: int, high: int, unit: str) -> Rule:
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


def _one_of(*values: Any) -> Rule:
    names = {str(value): value for value in values}

    def read(value: Any) -> Any:
        if isinstance(value, bool) or str(value) not in names:
            raise ValueError
        return names[str(value)]

    return Rule("one of " + ", ".join(names), read)


def _words(text: str) -> Rule:
    def read(value: Any) -> str:
        if _text(value) == "":
            raise ValueError
        return _text(value)

    return Rule(text, read)


def _ngrams(value: Any) -> tuple[int, ...]:
    sizes = json.loads(f"[{value.strip('()[], ')}]") if isinstance(value, str) else list(value)
    if not sizes or any(_int(size) != size or not 1 <= size <= 8 for size in sizes):
        raise ValueError
    return tuple(sorted(set(sizes)))


def _or_none(rule: Rule) -> Rule:
    def read(value: Any) -> Any:
        return None if value is None or str(value).lower() == "none" else rule.read(value)

    return Rule(f"{rule.text}, or None", read)


def _option(default: Any, rule: Rule, meaning: str, *, makes: bool = False) -> Any:
    """A field; `makes` marks the options that decide what a fingerprint is."""
    metadata = {"rule": rule, "meaning": meaning, "makes": makes}
    return dataclasses.field(default=default, metadata=metadata)


_FIELD = _words("the name of an item field")
_BITS_0_8 = _whole(0, 8, "bits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How pages are fingerprinted and judged; OptionsError names every fault at once.

    A field is the Scrapy setting of the same name in capitals behind `SIMHASH_`.
    """

    enabled: bool = _option(True, FLAG, "False takes the pipeline out")
    match: str = _option(
        "content",
        _one_of("content", "structure", "both", "either"),
        "what must be near: `content`, `structure`, `both` (of one stored page) or `either`",
    )
    content_distance: int = _option(
        3, _BITS_0_8, "bits, 0-8: pages whose content fingerprints are this near are twins"
    )
    structure_distance: int = _option(
        3, _BITS_0_8, "bits, 0-8: the same for the structure fingerprints"
    )
    verify_distance: int | None = _option(
        18,
        _or_none(_whole(0, 128, "bits")),
        "a content neighbour counts only if the sketches are within this many of 128 bits; "
        "None: no second look",
    )
    min_tokens: int = _option(
        50,
        _whole(1, 10_000, "tokens"),
        "a page with fewer is thin: dropped only when title and text are a stored page's",
    )
    store: str = _option(
        "auto",
        _words("a store URL (memory:, sqlite:///path) or auto"),
        "`auto`: an SQLite file per spider in Scrapy's data directory; or `memory:`, `sqlite:///path`",
    )
    namespace: str = _option("", Rule("a text", _text), "pages of other namespaces are never twins")
    scope: str = _option(
        "all", _one_of("all", "site"), "`site`: a twin must have the same registered domain"
    )
    expire_after_secs: int | None = _option(
        None,
        _or_none(_whole(1, 10**10, "seconds")),
        "pages not seen for so long are forgotten when the store opens",
    )
    unchanged: str = _option(
        "keep",
        _one_of("keep", "drop"),
        "what to do with a URL seen again whose content has not moved",
    )
    dry_run: bool = _option(False, FLAG, "judge and log, drop nothing")
    drop_log: str | None = _option(
        "auto",
        _or_none(_words("a path or auto")),
        "path of the JSON Lines drop log; `auto`: in Scrapy's data directory; None: none",
    )
    html_field: str = _option("html", _FIELD, "item field with the page, bytes or str")
    url_field: str = _option("url", _FIELD, "item field with its URL")
    charset_field: str = _option(
        "charset", _FIELD, "item field with the charset of the HTTP header; may be absent"
    )
    text_field: str | None = _option(
        None, _or_none(_FIELD), "declared item field that receives the main text"
    )
    fingerprint_field: str | None = _option(
        None,
        _or_none(_FIELD),
        "declared item field that receives the content fingerprint, 16 hex digits",
    )
    extractor: str = _option(
        "builtin",
        _words("builtin or the dotted path of a callable: tree -> text"),
        "what finds the main text: `builtin`, or the dotted path of a callable: tree -> text",
        makes=True,
    )
    ngrams: tuple[int, ...] = _option(
        (1, 2),
        Rule("sizes from 1 to 8, such as (1, 2)", _ngrams),
        "n-gram sizes of the content features",
        makes=True,
    )
    bits: int = _option(64, _one_of(32, 64, 128), "width of both fingerprints", makes=True)
    structure_features: str = _option(
        "halvings",
        _one_of("halvings", "tag"),
        "what the structure fingerprint hears: `halvings`, or `tag` with a `DECAY` per level",
        makes=True,
    )
    decay: float = _option(
        0.45,
        Rule("a number above 0, at most 1", _share),
        "with `tag`: weight of an element against its parent's, above 0, at most 1",
        makes=True,
    )

    def __post_init__(self) -> None:
        faults = []
        for field in dataclasses.fields(self):
            value, rule = getattr(self, field.name), field.metadata["rule"]
            try:
                object.__setattr__(self, field.name, rule.read(value))
            except (TypeError, ValueError):
                faults.append(f"{PREFIX}{field.name.upper()} is {value!r}; it must be {rule.text}")
        if faults:
            raise OptionsError(faults)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Options:
        """The SIMHASH_* entries of Scrapy's settings; an unknown name is a fault too."""
        given = {
            name.removeprefix(PREFIX).lower(): settings[name]
            for name in settings
            if name.startswith(PREFIX)
        }
        known = [field.name for field in dataclasses.fields(cls)]
        faults = [_unknown(name, known) for name in given if name not in known]
        try:
            options = cls(**{name: value for name, value in given.items() if name in known})
        except OptionsError as error:
            raise OptionsError(faults + error.faults) from None
        if faults:
            raise OptionsError(faults)
        return options

    def stamp(self) -> dict[str, Any]:
        """The options that make fingerprints comparable, as JSON values; stores refuse others."""
        made = {
            f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.metadata["makes"]
        }
        return {"fingerprint_version": FINGERPRINT_VERSION, **json.loads(json.dumps(made))}


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {PREFIX}{near[0].upper()}?" if near else ""
    return f"{PREFIX}{name.upper()} is not a setting{hint}"
