"""Every setting, once: its default, its rule and what it means.

A value may also be a string, as a command line gives it: "3", "True", "none", "1,2".
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from simhash_pipeline.bits import DEFAULT_WIDTH, MAX_DISTANCE_BITS, SKETCH_BITS, WIDTHS
from simhash_pipeline.errors import OptionsError
from simhash_pipeline.presets import PRESETS
from simhash_pipeline.rules import (
    FLAG,
    NGRAMS,
    SHARE,
    STORE,
    TEXT,
    Rule,
    one_of,
    one_of_or_path,
    or_none,
    path,
    whole,
    words,
)
from simhash_pipeline.simplified import simplified_digest

PREFIX = "SIMHASH_"
T = TypeVar("T")
# One more whenever the same page and options give another fingerprint; stamped into every store.
FINGERPRINT_VERSION = 1

SEGMENTERS = (
    "words",
    "jieba",
    "jieba-search",
    "jieba-full",
    "cjk-characters",
    "characters",
    "spaces",
    "ascii-words",
)
WEIGHTS = ("tf", "log-tf", "uniform", "jieba-tfidf", "textrank", "line-tfidf", "table")
KEYWORD_WEIGHTS = ("jieba-tfidf", "textrank")  # they know words, no longer n-grams
HASH_BITS = {
    "murmur3": WIDTHS,
    "murmur2": (32, 64),
    "fnv1": WIDTHS,
    "fnv1a": WIDTHS,
    "jenkins": (32, 64),
    "java": (32,),
}


def _option(
    default: Any, rule: Rule, meaning: str, *, makes: bool = False, shown: bool = True
) -> Any:
    """A field; `makes` marks the options that decide what a fingerprint is.

    One that isn't `shown` by repr may hold a password.
    """
    metadata = {"rule": rule, "meaning": meaning, "makes": makes}
    return dataclasses.field(default=default, metadata=metadata, repr=shown)


_PATH = path("the path of a file")
_FIELD = words("the name of an item field")
_DISTANCE = whole(0, MAX_DISTANCE_BITS, "bits")


def _filled_from_preset(options: type[T]) -> type[T]:
    """The class with a preset's values for the arguments that aren't given."""
    init = options.__init__

    @functools.wraps(init)
    def filled(self: T, **given: Any) -> None:
        preset = PRESETS.get(str(given.get("preset")), {})
        init(self, **{**preset, **given})

    options.__init__ = filled  # type: ignore[assignment]  # the signature stays
    return options


@_filled_from_preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How pages are fingerprinted and judged; OptionsError names every fault at once.

    A field is the Scrapy setting of the same name in capitals behind `SIMHASH_`.
    """

    enabled: bool = _option(True, FLAG, "False takes the pipeline out")
    match: str = _option(
        "content",
        one_of("content", "structure", "both", "either"),
        "what must be near: `content`, `structure`, `both` (of one stored page) or `either`",
    )
    content_distance: int = _option(
        3, _DISTANCE, "bits, 0-8: pages whose content fingerprints are this near are twins"
    )
    structure_distance: int = _option(
        3, _DISTANCE, "bits, 0-8: the same for the structure fingerprints"
    )
    verify_distance: int | None = _option(
        18,
        or_none(whole(0, SKETCH_BITS, "bits")),
        "a content neighbour counts only if the sketches are within this many of 128 bits and, "
        "on one site, the own texts are alike; None: no second look",
    )
    min_tokens: int = _option(
        50,
        whole(1, 10_000, "tokens"),
        "a page with fewer is thin: dropped only when title and text are a stored page's and, on "
        "one site, all the rest that is its own",
    )
    store: str = _option(
        "auto",
        STORE,
        "`auto`: an SQLite file per spider in Scrapy's data directory; or `memory:`, "
        "`sqlite:///path`, or a Redis or Valkey server, see below",
        shown=False,
    )
    store_wait_secs: int = _option(
        60,
        whole(0, 10**6, "seconds"),
        "a server that was there and is gone is waited for so long",
    )
    store_lost: str = _option(
        "stop",
        one_of("stop", "keep"),
        "then `stop` closes the crawl, and `keep` keeps every page unjudged until it is back",
    )
    index: Literal["memory", "disk"] = _option(
        "memory",
        one_of("memory", "disk"),
        "where an SQLite store looks pages up: `memory` (38 bytes a page at ten million) or "
        "`disk` (slower, and a bigger file; for more than some 50 million pages)",
    )
    namespace: str = _option("", TEXT, "pages of other namespaces are never twins")
    scope: str = _option(
        "all", one_of("all", "site"), "`site`: a twin must have the same registered domain"
    )
    expire_after_secs: int | None = _option(
        None,
        or_none(whole(1, 10**10, "seconds")),
        "pages not seen for so long are forgotten before the first page is judged",
    )
    unchanged: str = _option(
        "keep",
        one_of("keep", "drop"),
        "what to do with a URL seen again of which nothing visible has changed",
    )
    dry_run: bool = _option(False, FLAG, "judge and log; drop no item and no link")
    reset: bool = _option(
        False, FLAG, "forget the pages of the namespace before the first is judged"
    )
    follow_twins: bool = _option(
        True,
        FLAG,
        "False: requests that come out of near-duplicate pages are not made (needs the add-on)",
    )
    trap_budget: int | None = _option(
        None,
        or_none(whole(1, 10**6, "pages")),
        "after so many pages of a host in succession that brought nothing new, and were found on "
        "such pages, links on such pages are no longer followed (needs the add-on)",
    )
    close_after_seen: int | None = _option(
        None,
        or_none(whole(1, 10**6, "pages")),
        "the crawl is closed after so many pages in succession that bring nothing new",
    )
    drop_log: str | None = _option(
        "auto",
        or_none(path("a path or auto")),
        "path of the JSON Lines drop log; `auto`: in Scrapy's data directory; None: none",
    )
    keep_text: bool = _option(
        False,
        FLAG,
        "keep title and main text of every judged page in the store, compressed, so that "
        "`explain`, `report` and `tune` can show what pages said",
    )
    log_level: str = _option(
        "INFO",
        one_of("DEBUG", "INFO", "WARNING", "ERROR"),
        "level of the line that is logged for each drop",
    )
    html_field: str | None = _option(
        "html",
        or_none(_FIELD),
        "item field with the page, bytes or str; None: the page is the response that the item came "
        "from (needs the add-on)",
    )
    url_field: str = _option("url", _FIELD, "item field with its URL")
    charset_field: str = _option(
        "charset", _FIELD, "item field with the charset of the HTTP header; may be absent"
    )
    # Not stamped: under another limit the few pages above it are taken for changed, which costs
    # less than a store that refuses to open.
    max_page_bytes: int = _option(
        5_000_000,
        whole(10_000, 10**9, "bytes"),
        "a longer page is read up to here, one of short tags and words less far; told once, and "
        "counted",
    )
    text_field: str | None = _option(
        None, or_none(_FIELD), "declared item field that receives the main text"
    )
    fingerprint_field: str | None = _option(
        None,
        or_none(_FIELD),
        "declared item field that receives the content fingerprint in hex, 16 digits of 64 bits",
    )
    preset: str | None = _option(
        None,
        or_none(one_of(*PRESETS)),
        "published fingerprints: values for the options below that aren't set themselves",
    )
    extractor: str = _option(
        "builtin",
        one_of_or_path("builtin", call="tree -> text"),
        "what finds the main text: `builtin`, or the dotted path of a callable: tree -> text",
        makes=True,
    )
    segmenter: str = _option(
        "words",
        one_of_or_path(*SEGMENTERS, call="text -> tokens"),
        "what cuts text into tokens, see below; or the dotted path of a callable: text -> tokens",
        makes=True,
    )
    to_simplified: bool = _option(
        False,
        FLAG,
        "read traditional Chinese characters as simplified ones (needs the extra `opencc`)",
        makes=True,
    )
    ngrams: tuple[int, ...] = _option(
        (1, 2),
        NGRAMS,
        "sizes of the n-grams of tokens that are the content features",
        makes=True,
    )
    weights: str = _option(
        "tf",
        one_of_or_path(*WEIGHTS, call="counts -> weights"),
        "what a feature counts, see below; or the dotted path of a callable: counts -> weights",
        makes=True,
    )
    weights_table: str | None = _option(
        None,
        or_none(_PATH),
        "with `table`: file of features and weights, as `scrapy simhash learn` writes it",
        makes=True,
    )
    stop_words: str | None = _option(
        None,
        or_none(_PATH),
        "with `jieba-tfidf` and `textrank`: file of words to leave out, one a line; None: jieba's",
        makes=True,
    )
    top_n: int | None = _option(
        None,
        or_none(whole(1, 10**6, "features")),
        "only so many of the heaviest features count; None: all",
        makes=True,
    )
    hash: str = _option(
        "murmur3",
        one_of_or_path(*HASH_BITS, call="bytes -> int"),
        "hash of the content features: `murmur3`, `murmur2`, `fnv1`, `fnv1a`, `jenkins`, `java`; "
        "or the dotted path of a callable: bytes -> int",
        makes=True,
    )
    bits: int = _option(DEFAULT_WIDTH, one_of(*WIDTHS), "width of both fingerprints", makes=True)
    set_when: str = _option(
        ">0",
        one_of(">0", ">=0", ">1"),
        "a bit of the content fingerprint is set when its votes sum to this",
        makes=True,
    )
    structure_features: str = _option(
        "outline",
        one_of("outline", "class", "tag"),
        "what the structure fingerprint hears: `outline`, or `tag` or `class` with `SIMHASH_DECAY`",
        makes=True,
    )
    decay: float = _option(
        0.45,
        SHARE,
        "with `tag` or `class`: weight of an element against its parent's, above 0, at most 1; "
        "`class` is best at .6",
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
        if faults or (faults := list(self._disagreements())):
            raise OptionsError(faults)

    def _disagreements(self) -> Iterator[str]:
        """Options that are right by themselves and not together."""
        widths = HASH_BITS.get(self.hash, (self.bits,))
        if self.bits not in widths:
            rule = " or ".join(map(str, widths))
            yield f"SIMHASH_BITS is {self.bits}; with SIMHASH_HASH {self.hash} it must be {rule}"
        if self.weights in KEYWORD_WEIGHTS and self.ngrams != (1,):
            rule = f"with SIMHASH_WEIGHTS {self.weights} it must be (1,)"
            yield f"SIMHASH_NGRAMS is {self.ngrams}; {rule}"
        if self.weights == "table" and self.weights_table is None:
            yield "SIMHASH_WEIGHTS_TABLE is None; with SIMHASH_WEIGHTS table it must be a file"
        if self.weights != "table" and self.weights_table is not None:
            rule = "with SIMHASH_WEIGHTS_TABLE it must be table"
            yield f"SIMHASH_WEIGHTS is {self.weights!r}; {rule}"

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
        """The options that make fingerprints comparable, as JSON values; stores refuse others.

        A file stands there by its content, wherever it lies, and OpenCC by its table; OptionsError
        when they can't be read.
        """
        made = {
            f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.metadata["makes"]
        }
        for name in ("weights_table", "stop_words"):
            if made[name] is not None:
                made[name] = _digest(name, made[name])
        if self.to_simplified:
            made["to_simplified"] = simplified_digest()
        return {"fingerprint_version": FINGERPRINT_VERSION, **json.loads(json.dumps(made))}


def _digest(name: str, path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        raise OptionsError([unreadable(name, path, error)]) from error


def unreadable(option: str, path: str, error: Exception) -> str:
    """The fault of an option whose file can't be read."""
    return f"{PREFIX}{option.upper()} is {path!r}; it can't be read: {error}"


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {PREFIX}{near[0].upper()}?" if near else ""
    return f"{PREFIX}{name.upper()} is not a setting{hint}"
