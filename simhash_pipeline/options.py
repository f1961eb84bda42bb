"""All settings, each with its default, its rule and its meaning; the rules first.

A value may be a string, as a command line passes it: "3", "True", "none", "1,2", or JSON.
"""

import dataclasses
import difflib
import functools
import json
import os
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from simhash_pipeline.bits import MAX_DISTANCE_BITS, SKETCH_BITS
from simhash_pipeline.errors import OptionsError, PageError

_SECS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value must be: `text` says it in words, `read` checks and converts a value."""

    text: str
    convert: Callable[[Any], Any]
    accepts: Callable[[Any], bool] = lambda value: True

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


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # ValueError for bytes of a command line that aren't UTF-8
    return value


def _sizes(value: Any) -> tuple[int, ...]:
    sizes = json.loads(f"[{value.strip('()[], ')}]") if isinstance(value, str) else value
    return tuple(sorted({_int(size) for size in sizes}))


def _names(value: Any) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else value
    return tuple(sorted({_text(name).strip(" ()[]'\"") for name in names} - {""}))


def _added(value: Any) -> dict[str, str]:
    given = json.loads(value) if isinstance(value, str) else value
    return {_text(name): _text(field) for name, field in dict(given).items()}


def age_secs(text: str) -> int:
    """Seconds of an age such as 30m, 2h or 90d; ValueError for anything else."""
    if (age := re.fullmatch("(0*[1-9][0-9]{0,8})([smhdw])", text)) is None:
        raise ValueError(text)
    return int(age[1]) * _SECS[age[2]]


def _age(value: Any) -> int:
    return age_secs(value) if isinstance(value, str) and value[-1:].isalpha() else _int(value)


FLAG = Rule("True or False", lambda value: _FLAGS[str(value).lower()])
TEXT = Rule("a text", _text)
FIELD = Rule("the name of an item field", _text, bool)
AGE = Rule("an age, as 90d, 12h or 30m, or whole seconds", _age, lambda secs: secs > 0)
SIMILARITY = Rule("a number from 0 to 1", float, lambda share: 0 <= share <= 1)
NGRAMS = Rule(
    "sizes from 1 to 8, such as (1, 2)",
    _sizes,
    lambda sizes: bool(sizes) and sizes[0] >= 1 and sizes[-1] <= 8,
)
NAMES = Rule('names of fields, such as ("sku", "price")', _names)
ADDED = Rule(
    "a dict from verdict, address or text to the name of an item field, each to another",
    _added,
    lambda fields: (
        fields.keys() <= {"verdict", "address", "text"}
        and all(fields.values())
        and len(set(fields.values())) == len(fields)
    ),
)
STORE = Rule(
    "auto, the path of a file (seen.sqlite), or a store URL (memory:, sqlite:///path, redis://host)",
    _text,
    lambda text: text == "auto" or "." in text or ":" in text,
)


def whole(low: int, high: int, unit: str) -> Rule:
    text = f"a whole number of {unit} from {low} to {high}"
    return Rule(text, _int, lambda number: low <= number <= high)


def path(text: str) -> Rule:
    return Rule(text, lambda value: _text(os.fspath(value)), bool)


def one_of(*values: Any) -> Rule:
    by_name = {str(value): value for value in values}
    return Rule("one of " + ", ".join(by_name), lambda value: by_name[str(value)])


def one_of_or_path(*names: str, call: str) -> Rule:
    text = f"one of {', '.join(names)}, or the dotted path of a callable: {call}"
    return Rule(text, _text, lambda value: value in names or "." in value or ":" in value)


def or_none(rule: Rule) -> Rule:
    text = f"{rule.text}, or None"
    return Rule(text, lambda value: None if str(value).lower() == "none" else rule.read(value))


PREFIX = "SIMHASH_"
T = TypeVar("T")
SEGMENTERS = ("words", "jieba", "jieba-cpp", "java-characters", "spaces", "ascii-words")
WEIGHTS = ("tf", "jieba-tfidf")
DICTIONARY_SEGMENTERS = ("words", "jieba", "jieba-cpp")
# Published ways to make fingerprints, as they differ from the default; `hash` and `set_when` are
# no settings.
_JAVA_PAIRS = {"segmenter": "java-characters", "ngrams": (2,), "hash": "murmur2"}
_KEYWORDS = {"segmenter": "jieba-cpp", "ngrams": (1,), "weights": "jieba-tfidf", "top_n": 5}
PRESETS: Mapping[str, Mapping[str, Any]] = {
    # github.com/mfonda/simhash (Go): every word of its ASCII expression weighs 1.
    "mfonda": {"segmenter": "ascii-words", "ngrams": (1,), "hash": "fnv1", "set_when": ">=0"},
    # github.com/sing1ee/simhash-java: overlapping pairs of characters. Until July 2016 it took a
    # greater sum to set a bit.
    "simhash-java": _JAVA_PAIRS,
    "simhash-java-first": {**_JAVA_PAIRS, "set_when": ">1"},
    # The tutorials' 32 bits by String.hashCode; no hash votes for the upper 32.
    "java32": {"segmenter": "spaces", "ngrams": (1,), "hash": "java"},
    # jiebaR, cppjieba and github.com/yanyiwu/simhash: keywords; 5 is jiebaR's own topn.
    "jiebar": {**_KEYWORDS, "hash": "jenkins"},
    # gojieba's keywords with Go's hash/fnv, as the published program prints it: signed.
    "gojieba": {**_KEYWORDS, "hash": "fnv1a-signed"},
    "gojieba-unsigned": {**_KEYWORDS, "hash": "fnv1a"},
    # DOM-tree decay as published; the content fingerprint is the default one.
    "dom-decay": {"structure_distance": 5},
}
_PUBLISHED_DECAY = 0.45


def _preset(value: Any) -> str:
    name, colon, decay = _text(value).partition(":")
    if name not in PRESETS or (colon and (name != "dom-decay" or not 0 < float(decay) < 1)):
        raise ValueError
    return f"{name}:{float(decay):g}" if colon else name


PRESET = Rule(f"one of {', '.join(PRESETS)}, dom-decay:0.6 (another decay)", _preset)


def preset_options(preset: object) -> Mapping[str, Any]:
    """The options that a preset sets, by name; none without one."""
    return PRESETS.get(str(preset).partition(":")[0], {})


@dataclass(frozen=True, slots=True)
class _OrPreset:
    """A default that a preset may replace; what the user sets takes precedence."""

    default: Any


def _option(default: Any, rule: Rule, *, makes: bool = False, **more: Any) -> Any:
    """A field of Options. `makes`: it affects fingerprints; `more` is for dataclasses.field."""
    return dataclasses.field(default=default, metadata={"rule": rule, "makes": makes}, **more)


_makes = functools.partial(_option, makes=True)
OptionValue = bool | float | str | tuple[str, ...] | tuple[int, ...] | Mapping[str, str] | None
_PATH = path("the path of a file")
_DISTANCE = whole(0, MAX_DISTANCE_BITS, "bits")
# So read, every sketch and every page-specific text agrees, and a page of one token can be judged.
_WITHOUT_SECOND_LOOK = {"sketch_distance": SKETCH_BITS, "min_similarity": 0.0, "min_tokens": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How pages are fingerprinted and judged. OptionsError names all faults together.

    Each field is a Scrapy setting, in capitals and with the prefix `SIMHASH_`. The text below a
    field is its row in the documents.
    """

    enabled: bool = _option(True, FLAG)
    """False disables the pipeline, as in one spider's `custom_settings`."""
    match: str = _option("content", one_of("content", "structure", "both", "either"))
    """Which fingerprints must be near those of one stored page: `content`, `structure`, `both` or
    `either`. `structure` compares no texts or titles, and item values only if `SIMHASH_ITEM_FIELDS`
    is set; pages under 10 kinds of elements are kept, and by `both` judged by content. With
    `either`, only differing item values, no texts, reject a match by structure.
    """
    content_distance: int = _option(3, _DISTANCE)
    """Pages are near in content if at most this many bits (0-8) of these fingerprints differ."""
    structure_distance: int = _option(_OrPreset(3), _DISTANCE)
    """Pages are near in structure if at most this many bits (0-8) of these fingerprints differ."""
    second_look: bool = _option(True, FLAG)
    """If False, only the fingerprint distances and the item fields that you name decide, for pages
    of any length; `SIMHASH_SKETCH_DISTANCE`, `SIMHASH_MIN_SIMILARITY` and `SIMHASH_MIN_TOKENS` have
    no effect.
    """
    sketch_distance: int = _option(18, whole(0, SKETCH_BITS, "bits"))
    """Pages near in content are twins only if at most this many of 128 sketch bits differ."""
    min_similarity: float = _option(0.85, SIMILARITY)
    """Two pages of one template are twins only if their page-specific texts are at least this
    similar (0-1): all visible text except menus and what the site repeats; in two templates of a
    site 0.5 of the main texts is enough. 0 turns it off.
    """
    min_tokens: int = _option(50, whole(1, 10_000, "tokens"))
    """Pages with fewer tokens are thin: dropped only if a stored page has their title and text."""
    store: str = _option("auto", STORE, repr=False)  # it may hold a password
    """Where the kept pages are stored: `auto` (an SQLite file for each spider in Scrapy's data
    directory), the path of another such file, `memory:`, or the URL of a Redis or Valkey server.
    `redis://host?lost=keep` goes on without the server.
    """
    namespace: str = _option("", TEXT)
    """Pages are compared only with pages of the same namespace."""
    scope: str = _option("all", one_of("all", "site"))
    """`all` compares pages of all sites; `site` only pages of the same registered domain."""
    expire_after: int | None = _option(None, or_none(AGE))
    """Before its first page a crawl forgets pages of its namespace not seen for this long: `90d`,
    `12h` or seconds. None keeps all.
    """
    unchanged: str = _option("keep", one_of("keep", "drop"))
    """`drop`: drop items of known URLs whose title, article text and item values are unchanged,
    whichever spider of the store saw them. `keep`: keep them, once a crawl.
    """
    keep: str = _option("first", one_of("first", "canonical"))
    """Which of two near-duplicates is kept: the `first`; `canonical` also keeps, instead of it,
    a later page at the address which the stored one declares, or at its URL without tracking keys.
    """
    error_pages: str = _option("drop", one_of("drop", "keep"))
    """`drop`: of short pages on one host that differ only in their own URL (for example error pages
    served as 200), keep two. `keep`: keep all.
    """
    dry_run: bool = _option(False, FLAG)
    """True judges and logs pages, but drops no item and no link."""
    follow_twins: bool = _option(True, FLAG)
    """If False, links on near-duplicate pages are not followed. Requires the add-on."""
    trap_budget: int | None = _option(None, or_none(whole(1, 10**6, "pages")))
    """After this many consecutive pages of a host without new content, each reached from another
    such page, stop following their links. None sets no limit. Requires the add-on.
    """
    close_after_seen: int | None = _option(None, or_none(whole(1, 10**6, "pages")))
    """Close the crawl after this many pages in a row without new content. None never closes it."""
    drop_log: str | None = _option("auto", or_none(path("a path or auto")))
    """Path of the drop log, a JSON Lines file that spiders may share; `auto` is a file for each
    spider in Scrapy's data directory. None writes no log.
    """
    item_fields: tuple[str, ...] | None = _option((), or_none(NAMES))
    """The item fields whose values distinguish pages. `()`: all between pages of one
    template, else those found on the page. `("+rating",)`: this field too, found or not.
    `("-position",)`: all but this. `("sku", "price")`: only these, every change in them. None: no
    field.
    """
    answers: str | None = _option(None, or_none(_PATH))
    """The CSV file of answers that the report saved. A drop answered "another page" is never a
    near-duplicate again; pairs answered "a copy" always are.
    """
    keep_text: bool = _option(False, FLAG)
    """True keeps the title, the visible text and the item's values of every judged page in the
    store, compressed, so that `explain` and `report` can show them.
    """
    html_field: str | None = _option("html", or_none(FIELD))
    """The item field that may hold the page: text, bytes, a selector or a soup. Items without it
    are judged by their HTML response (requires the add-on). None: always the response.
    """
    content_field: str | None = _option(None, or_none(FIELD))
    """The item field that may hold the text to be judged, as APIs, feeds and extractors give it.
    Such an item is judged by that text and its title, and no HTML is read.
    """
    url_field: str = _option("url", FIELD)
    """The item field that holds the page's URL."""
    # Not stamped: with another limit the few pages above it count as changed, which costs less than
    # a store that refuses to open.
    max_page_bytes: int = _option(5_000_000, whole(10_000, 10**9, "bytes"))
    """Read at most this many bytes of a page, a 32nd as many tags, and a fifth as much main text.
    Truncated pages are counted; the first is logged.
    """
    page_timeout_secs: int = _option(30, whole(1, 10**6, "seconds"))
    """The seconds that a separate process may take to read a page. After that the process is
    killed, and the item is kept without judging it.
    """
    twin_field: str | None = _option(None, or_none(FIELD))
    """Tag near-duplicates instead of dropping them: this field receives their stored page's URL."""
    added_fields: Mapping[str, str] = _option((), ADDED, hash=False)  # a dict has no hash
    """A dict (on the command line JSON) from what each item receives to the declared field that
    receives it. `verdict`: a dict of the reason, the distances in bits and the content fingerprint
    in hex, 16 digits for 64 bits. `address`: the address that the page declares (`rel=canonical`,
    `og:url`), or else its URL, without tracking keys. `text`: the title and the main text, without
    what the pages of its template repeat.
    """
    preset: str | None = _makes(None, or_none(PRESET))
    """A published way to make fingerprints. It sets the options below that you don't set."""
    extractor: str = _makes("builtin", one_of_or_path("builtin", call="tree -> text"))
    """How the main text is found: `builtin`, or the dotted path of a callable: tree -> text, or
    soup -> text if its parameter is annotated as `BeautifulSoup`.
    """
    segmenter: str = _makes(_OrPreset("words"), one_of_or_path(*SEGMENTERS, call="text -> tokens"))
    """What cuts text into tokens: a value below, or a callable's dotted path: text -> tokens."""
    user_dict: str | None = _makes(None, or_none(_PATH))
    """The file of words that are never cut, for the segmenters `words` and `jieba`: one a line, as
    jieba's user dictionary (word, frequency, tag; the last two may be left out).
    """
    to_simplified: bool = _makes(False, FLAG)
    """True reads traditional Chinese characters as simplified ones (needs the extra `opencc`)."""
    ngrams: tuple[int, ...] = _makes(_OrPreset((1, 2)), NGRAMS)
    """The sizes of the n-grams of tokens that are the content features."""
    weights: str = _makes(_OrPreset("tf"), one_of_or_path(*WEIGHTS, call="counts -> weights"))
    """What weighs content features: a value below, or a callable's path: counts -> weights."""
    stop_words: str | None = _makes(None, or_none(_PATH))
    """The file of words, one per line, that are no content features. None leaves none out, and with
    the weights `jieba-tfidf` jieba's own stop words.
    """
    top_n: int | None = _makes(_OrPreset(None), or_none(whole(1, 10**6, "features")))
    """Use only this many of the heaviest content features. None uses all."""

    def __post_init__(self) -> None:
        faults, preset = [], preset_options(self.preset)
        for field in dataclasses.fields(self):
            value, rule = getattr(self, field.name), field.metadata["rule"]
            if isinstance(value, _OrPreset):
                value = preset.get(field.name, value.default)
            try:
                object.__setattr__(self, field.name, rule.read(value))
            except (TypeError, ValueError, KeyError):
                faults.append(f"{PREFIX}{field.name.upper()} is {value!r}; it must be {rule.text}")
        if faults or (faults := list(self._conflicts())):
            raise OptionsError(faults)
        if not self.second_look:
            for name, value in _WITHOUT_SECOND_LOOK.items():
                object.__setattr__(self, name, value)
        if (not self.second_look or self.match == "structure") and not self.item_fields:
            object.__setattr__(self, "item_fields", None)  # the distances alone decide

    def _conflicts(self) -> Iterator[str]:
        """The faults of options that are valid alone but not together."""
        if self.weights == "jieba-tfidf" and self.ngrams != (1,):
            rule = "with SIMHASH_WEIGHTS jieba-tfidf it must be (1,)"
            yield f"SIMHASH_NGRAMS is {self.ngrams}; {rule}"
        begins = {name[0] for name in self.item_fields or ()}
        if "-" in begins and not begins <= {"-", "+"}:
            rule = "a name without a sign leaves out all others, so none may have a minus"
            yield f"SIMHASH_ITEM_FIELDS is {self.item_fields}; {rule}"
        if self.user_dict is not None and self.segmenter not in DICTIONARY_SEGMENTERS:
            rule = f"with SIMHASH_USER_DICT it must be {' or '.join(DICTIONARY_SEGMENTERS)}"
            yield f"SIMHASH_SEGMENTER is {self.segmenter!r}; {rule}"

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> "Options":
        """Options from the SIMHASH_* entries of Scrapy's settings; an unknown name is a fault."""
        names = [name for name in settings if name.startswith(PREFIX)]
        given = {name.removeprefix(PREFIX).lower(): settings[name] for name in names}
        known = [field.name for field in dataclasses.fields(cls)]
        faults = [_unknown(name, known) for name in given if name not in known]
        small = [one for one in settings if one.upper().startswith(PREFIX) and one not in names]
        faults += [f"{name} is not a setting; did you mean {name.upper()}?" for name in small]
        try:
            options = cls(**{name: value for name, value in given.items() if name in known})
        except OptionsError as error:
            faults += error.faults
        if faults:
            raise OptionsError(faults)
        return options

    @property
    def keeps_twins(self) -> bool:
        """Whether the items of near-duplicates come out: in a dry run, or tagged."""
        return self.dry_run or self.twin_field is not None

    @property
    def page_fields(self) -> frozenset[str]:
        """The fields of an item that hold its page, or what is written of that."""
        named = (self.html_field, self.content_field, self.twin_field, *self.added_fields.values())
        return frozenset({"html", "charset", "simhash", *filter(None, named)})

    @property
    def calls_users_code(self) -> bool:
        """Whether a callable of the user's reads the pages."""
        chosen = {self.extractor, self.segmenter, self.weights}
        return not chosen <= {"builtin", *SEGMENTERS, *WEIGHTS}

    @property
    def hash(self) -> str:
        """The hash of the content features, which the preset chooses: see page/hashing.py."""
        return str(preset_options(self.preset).get("hash", "murmur3"))

    @property
    def set_when(self) -> str:
        """The range of sums of votes that set a bit of the content fingerprint."""
        return str(preset_options(self.preset).get("set_when", ">0"))

    @property
    def decay(self) -> float | None:
        """Of an element's weight by its depth, 0-1; None: the outline decides the weights."""
        name, _, decay = (self.preset or "").partition(":")
        return float(decay or _PUBLISHED_DECAY) if name == "dom-decay" else None


def read_file(option: str, path: str, read: Callable[[Path], T]) -> T:
    """What is read of an option's file; OptionsError if it can't be, or its content is refused."""
    try:
        return read(Path(path))
    except (OSError, ValueError) as error:  # ValueError: also a path with a NUL
        fault = f"{PREFIX}{option.upper()} is {path!r}; it can't be read: {error}"
        raise OptionsError([fault]) from error


def _unknown(name: str, known: list[str]) -> str:
    near = [one for one in known if name in one] or difflib.get_close_matches(name, known)
    hint = f"; did you mean {PREFIX}{near[0].upper()}?" if near else ""
    return f"{PREFIX}{name.upper()} is not a setting{hint}"


def load_callable(option: str, path: str, returns: type[T]) -> Callable[[Any], T]:
    """The callable at `path`; OptionsError when there is none.

    If it raises or returns another type, that is a PageError of the option's name: items are kept.
    """
    fault = f"{PREFIX}{option.upper()} is {path!r}"
    try:
        found = pkgutil.resolve_name(path)
    except (ImportError, AttributeError, ValueError) as error:
        raise OptionsError([f"{fault}; it can't be loaded: {error}"]) from error
    if not callable(found):
        raise OptionsError([f"{fault}; that is a {type(found).__name__}, not a callable"])

    @functools.wraps(found)
    def guarded(argument: Any) -> T:
        try:
            value = found(argument)
        except Exception as error:  # whatever code from outside may raise
            raise PageError(option, f"{path} failed: {error!r}") from error
        if not isinstance(value, returns):
            wrong = type(value).__name__
            raise PageError(option, f"{path} returned {wrong}, not {returns.__name__}")
        # A soup's string, which is one, too, has all the soup behind it.
        return cast("T", str(value)) if returns is str else value

    return guarded
