"""A text in, the hashes of its words out, and markup in, its blocks out, by the compiled kernel.

The kernel's tables are made here, from this Python's characters, the installed jieba and what
libxml2 2.14 makes of tags, so that they can't be another version's. What the kernel doesn't fold it
asks of segment.py.

libxml2 cuts tags as HTML5 does, but it keeps a plain stack: a start tag ends the elements that
ENDED_BY names, as long as one of them is the last that is open; an end tag ends all that was opened
since its own start tag, unless something of a higher rank was. A page that breaks a rule of
_markup.c is parsed, and the Python reads the tree, which says what is right.
"""

import os
from array import array
from contextvars import ContextVar
from functools import cache
from html.entities import html5
from itertools import chain
from threading import Lock
from typing import cast

from simhash_pipeline import native
from simhash_pipeline.native import Kernel, MarkupRead
from simhash_pipeline.page import blocks, folding, han, segment
from simhash_pipeline.page.bounds import DEEP, MAX_ATTRIBUTES, SHALLOW, may_be_deep
from simhash_pipeline.page.parse import METADATA
from simhash_pipeline.page.simhash import VOTE
from simhash_pipeline.page.structure import CLASS_WORD, MAX_LABELS, MIN_U, ROLES
from simhash_pipeline.page.titles import MAX_TITLES

_NO_DICTIONARY = -2  # what `hashed` of _kernel.c answers
_lock = Lock()
# False where a fifth of a second is too long, as on an event loop.
may_load: ContextVar[bool] = ContextVar("simhash_may_load", default=True)
_NUMBERED = ["html", "head", "body", "div", "p", "title", "h1", "meta", "a"]  # as in _markup.c
_VOID_TAGS = "area base basefont br col frame hr img input isindex link meta param"
VOID = frozenset(_VOID_TAGS.split())
# What holds no markup: text with references, text, a script, all that follows.
_HOLDS_TAGS = {
    1: "title textarea",
    2: "iframe noembed noframes style xmp",
    3: "script",
    4: "plaintext",
}
HOLDS = {tag: holds for holds, tags in _HOLDS_TAGS.items() for tag in tags.split()}
_RANKED = ["", "div", "td th", "tr", "tbody tfoot thead", "table", "body head", "html"]
RANKS = {tag: rank for rank, tags in enumerate(_RANKED) for tag in tags.split()}
# The elements that a start tag ends.
_ENDED_TAGS = {
    "a": "a head",
    """abbr acronym b bdo big br cite code dfn em font i iframe img kbd map q s samp small span
    strike strong sub sup tt u var""": "head",
    "address menu pre": "head p ul",
    "blockquote body dir div frameset h1 h2 h3 h4 h5 h6 hr listing ol xmp": "head p",
    "caption head title": "p",
    "center": "b font head i p",
    "col": "caption p",
    "colgroup": "caption colgroup p",
    "dd dl": "address dir dt head listing menu p pre",
    "dt": "address dd dir head listing menu p pre",
    "fieldset": "a h1 h2 h3 h4 h5 h6 head legend listing p pre",
    "form": "address dir dl form h1 h2 h3 h4 h5 h6 head listing menu ol p pre ul",
    "li": "address dl h1 h2 h3 h4 h5 h6 head li listing p pre",
    "optgroup option": "option",
    "p": "b big h1 h2 h3 h4 h5 h6 head i p s small strike tt u",
    "table": "a h1 h2 h3 h4 h5 h6 head listing p pre",
    "tbody": "caption colgroup p tbody td tfoot th thead tr",
    "td th": "a b font i p span td th u",
    "tfoot": "caption colgroup p tbody td th thead tr",
    "thead": "caption colgroup",
    "tr": "caption colgroup p td th tr",
    "ul": "address dir head listing menu p pre",
}
ENDED_BY = {
    new: frozenset(old.split()) for news, old in _ENDED_TAGS.items() for new in news.split()
}
# Before a body these open a head, or nothing; any other tag opens the body.
_OPEN_HEAD = frozenset(["script", "style", "meta", "link", "title", "base"])
_OPEN_NOTHING = frozenset(["noframes", "frame", "frameset"])
_SPARE_LEVELS = 6  # below the depth at which libxml2 gives up
# The bits of a tag's traits above its kind and its role, as in _markup.c.
_ROLE_SHIFT, _HOLDS_SHIFT, _RANK_SHIFT = 3, 10, 13
_TRAITS = {
    1 << 5: blocks.TAG_HINTS,
    1 << 6: VOID,
    1 << 7: METADATA,
    1 << 8: _OPEN_HEAD,
    1 << 9: _OPEN_NOTHING,
}


class DictionaryNeeded(Exception):
    """A page has Chinese words, and the dictionary isn't loaded; raised where `may_load` is off."""


def hashed_words(text: str) -> bytes:
    """The words of a text, as `segment.words` cuts them, by their murmur3: see `hashed`."""
    kernel = _prepared(cast("Kernel", native.kernel))
    found, length = list[bytes](), 0
    for piece in segment.pieces(text):
        said, is_folded, most = piece, False, segment.most_words(piece)
        by_jieba = length < segment.CHARACTERS_BY_JIEBA
        while isinstance(answer := kernel.hashed(said, is_folded, by_jieba, most), int):
            if answer != _NO_DICTIONARY:
                said, is_folded = segment.folded_piece(piece), True
            elif may_load.get():
                with _lock:
                    _load_dictionary(kernel)
            else:
                raise DictionaryNeeded
        length += answer[0]
        found.append(answer[1])
    return b"".join(found)


@cache
def _prepared(kernel: Kernel) -> Kernel:
    salt = int.from_bytes(os.urandom(8), "little")
    tables = _packed(segment.UNSPACED), _packed(folding.MARKS), folding.folds()
    kernel.set_tables(*tables, salt, segment.MAX_RUN, segment.FOLDED_CHARACTERS)
    return kernel


def _packed(characters: str) -> bytes:
    return array("I", [code for pair in folding.ranges(characters) for code in pair]).tobytes()


@cache
def _load_dictionary(kernel: Kernel) -> None:
    """jieba's dictionary and the hidden Markov model by which it cuts what isn't in that."""
    start, trans, emit = han.jieba_model()
    states, characters = han.STATES, folding.characters(han.HAN)
    starts = array("d", [start[state] for state in states])
    transitions = array("d", [trans[a].get(b, han.NEVER) for a in states for b in states])
    emitted = array("d", [emit[state].get(c, han.NEVER) for c in characters for state in states])
    tables = (each.tobytes() for each in (starts, transitions, emitted))
    kernel.load_dictionary(han.dictionary(), *tables)


def read_markup(source: bytes) -> MarkupRead | str | None:
    """What the kernel reads of UTF-8 markup, or the rule that it breaks; None without a kernel."""
    if native.kernel is None:
        return None
    read = _markup_reader(native.kernel).read_markup
    found = read(source, SHALLOW - _SPARE_LEVELS)
    is_deep = found == "too deep" and may_be_deep(source)
    return read(source, DEEP - _SPARE_LEVELS) if is_deep else found


@cache
def _markup_reader(kernel: Kernel) -> Kernel:
    ended = sorted({tag for tags in ENDED_BY.values() for tag in tags})
    tags = {*blocks.KINDS, *ROLES, *HOLDS, *RANKS, *ENDED_BY, *ended, *chain(*_TRAITS.values())}
    bits = {tag: 1 << number for number, tag in enumerate(ended)}
    rows = [
        (tag, _traits(tag), bits.get(tag, 0), sum(bits[old] for old in ENDED_BY.get(tag, ())))
        for tag in dict.fromkeys([*_NUMBERED, *sorted(tags)])
    ]
    # What a number of 128-159 means is windows-1252.
    numbers = {chr(c): bytes([c]).decode("cp1252", "ignore") or chr(c) for c in range(128, 160)}
    references = [*html5.items(), *numbers.items()]
    bounds = [blocks.PERMALINK_LEVELS, MAX_LABELS, blocks.MAX_NAME_CHARS, MAX_TITLES]
    bounds += [MAX_ATTRIBUTES, max(map(len, html5))]
    of_blocks = blocks.hint_of, blocks.hides
    kernel.set_markup(references, rows, *of_blocks, tuple(bounds), CLASS_WORD, MIN_U, VOTE)
    return kernel


def _traits(tag: str) -> int:
    bits = sum(bit for bit, tags in _TRAITS.items() if tag in tags)
    bits |= HOLDS.get(tag, 0) << _HOLDS_SHIFT | RANKS.get(tag, 0) << _RANK_SHIFT
    return bits | blocks.KINDS.get(tag, blocks.BOX) | ROLES.get(tag, 0) << _ROLE_SHIFT
