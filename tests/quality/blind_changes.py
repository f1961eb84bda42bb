"""Changes that a judge may be blind to: marked text exchanged in a copy of a real page.

Of each page two changed copies are made. In *unread* the marked text is exchanged that our main
text leaves out; in *drawn* randomly drawn pieces of it, until a fifth of the marked words is
another. A copy with that much of its text exchanged is no near-duplicate, though its title is the
page's. Twelve other pages of the site are judged before, the page with all of its marked text
exchanged and a title of its own, so that the site's repeated_text can be learnt.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from random import Random

from simhash_pipeline import Judge, PageError, PageFingerprint, open_store
from tests.quality.corpora import Corpus
from tests.quality.marked_text import (
    MarkedPage,
    drawn_title,
    fingerprint_of,
    marked_nodes,
    marked_page,
    set_title,
    with_other_words,
    word_count,
    words_of_others,
)
from tests.quality.rows import Row, share_row
from tests.quality.work import Work

_SEED = 7
_SIBLINGS = 12
_LEAST_CHANGED = 0.2  # of the marked words
_MIN_WORDS = 50  # a fifth of fewer is a sentence
_MEASURES = {
    "unread": "marked text beyond the main text exchanged: kept apart",
    "drawn": "a fifth of the marked text exchanged: kept apart",
}
# Of 53, 354, 129 and 411 copies at most 2, 3, 3 and 3 may be taken for near-duplicates.
_GOALS = {
    ("articles.zip", "unread"): 0.962,
    ("articles.zip", "drawn"): 0.991,
    ("pagetypes.zip", "unread"): 0.976,
    ("pagetypes.zip", "drawn"): 0.992,
}


def blind_change_rows(corpus: Corpus, work: Work) -> Iterator[Row]:
    """The share of changed copies that aren't taken for near-duplicates of their pages."""
    index = corpus.table("index.csv")
    pages = work.each(f"changes in {corpus.name}", partial(kept_apart, corpus), index)
    for kind, measure in _MEASURES.items():
        found = [float(page[kind]) for page in pages if kind in page]
        yield share_row(corpus.name, measure, "all", found, _GOALS[corpus.name, kind])


def kept_apart(corpus: Corpus, row: Mapping[str, str]) -> dict[str, bool]:
    """By kind, whether the changed copy is kept; a kind with too little to exchange is absent."""
    try:
        page = marked_page(corpus, row)
        if word_count(page.marked) < _MIN_WORDS:
            return {}
        own = fingerprint_of(page.root)
        words, chance = words_of_others(corpus, page), _chance(page)
        exchanged = partial(_exchanged, page, words, chance)
        least = _LEAST_CHANGED * word_count(page.marked)
        copies = {
            "unread": exchanged(least, beyond=" ".join(own.text.split())),
            "drawn": exchanged(least, until=least),
        }
        siblings = [exchanged(title=drawn_title(words, chance)) for _ in range(_SIBLINGS)]
    except PageError:
        return {}
    return {kind: _is_kept(copied, own, siblings) for kind, copied in copies.items() if copied}


def _chance(page: MarkedPage) -> Random:
    """The same in every run and process."""
    return Random(f"{_SEED} {page.name}")


def _exchanged(
    page: MarkedPage,
    words: Sequence[str],
    chance: Random,
    least: float = 0,
    *,
    beyond: str = "",
    until: float = math.inf,
    title: str = "",
) -> PageFingerprint | None:
    """The page with marked text exchanged that isn't in `beyond`, until so many words are.

    Its title is its own unless another is given. None where fewer than `least` were.
    """
    root = copy.deepcopy(page.root)
    nodes = [node for node in marked_nodes(root, page.marked) if node.text not in beyond]
    chance.shuffle(nodes)
    if title:
        set_title(root, title)
    changed = 0
    for node in nodes:
        if changed >= until:
            break
        changed += word_count(node.text)
        node.replace(with_other_words(node.text, words, chance))
    return fingerprint_of(root) if changed >= least else None


def _is_kept(
    copied: PageFingerprint, own: PageFingerprint, siblings: Iterable[PageFingerprint | None]
) -> bool:
    """Whether the copy is, when it is judged after its site's other pages and its own page."""
    with open_store("memory:") as store:
        judge = Judge(store)
        for number, page in enumerate([*siblings, own]):
            if page is not None:
                judge.judge(f"http://a.example/{number}", page)
        return not judge.judge("http://a.example/copy", copied).dropped
