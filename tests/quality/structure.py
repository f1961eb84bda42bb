"""How far structure fingerprints of pairs and of edited pages lie apart, whatever the hash's luck.

A template that is near in one hash function may be just beyond 3 bits in the next. So a fingerprint
of 128 bits is made, whose eight blocks of 16 are alike in make: any four of them are a fingerprint
of 64 bits that might as well have been the default. A pair counts by the share of these 70 draws
that lie within 3 bits. The first four blocks are the default.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, combinations, repeat
from operator import mul
from statistics import fmean

import numpy as np
from lxml import etree

from simhash_pipeline import Fingerprinter, Options, PageError, hamming_distance
from simhash_pipeline.page.hashing import TokenHashes, hashed
from simhash_pipeline.page.parse import Elements, elements_of
from simhash_pipeline.page.simhash import simhash
from simhash_pipeline.page.structure import MIN_NODES, outline_fingerprint
from tests.quality.corpora import Corpus, Pair, pages_of
from tests.quality.edits import EDITS
from tests.quality.rows import Row, share_row
from tests.quality.work import Work
from tests.trees import parse

WITHIN_BITS = 3
_DECAY = 0.45  # as published
_WIDE = 128  # bits


def _tag_sum(page: Elements) -> int | None:
    """Decay with each tag's weight summed over its elements, a child's of its parent's."""
    if len(page) < MIN_NODES:
        return None
    counts = Counter((tag, depth) for _, tag, depth in page)
    deepest = max(depth for _, depth in counts)
    powers = list(accumulate(repeat(_DECAY, deepest), mul, initial=1.0))
    features: dict[str, float] = {}
    for (tag, depth), count in sorted(counts.items()):
        features[tag] = features.get(tag, 0.0) + count * powers[depth]
    weights = np.fromiter(features.values(), np.float64, len(features))
    return simhash(TokenHashes(hashed(features)).ngrams(1, _WIDE), weights)


DESIGNS: dict[str, Callable[[Elements], int | None]] = {
    "outline": partial(outline_fingerprint, bits=_WIDE),
    "tag-sum": _tag_sum,
}
# DOM-tree decay as published has one hash and one width, so no draws. No main text is looked for.
PUBLISHED = Options(preset="dom-decay", extractor="tests.quality.structure.no_text")
_BLOCK_BITS = 16
_DRAWS = list(combinations(range(8), 4))


@dataclass(frozen=True, slots=True)
class PageStructure:
    """A page by each design: its 128-bit fingerprint, and how near each edit of it stays."""

    values: dict[str, int | None]
    published: int | None  # 64 bits
    edits: dict[tuple[str, str], float]  # by design and edit, of the draws


def no_text(root: object) -> str:
    return ""


def page_structure(corpus: Corpus, name: str) -> PageStructure:
    """One page and its edits; an edit that has nothing to work on is left out."""
    source = corpus.read(name)
    try:
        plain = _markup(source, "")
    except PageError:
        return PageStructure(dict.fromkeys(DESIGNS), None, {})
    values = {design: _value(design, plain) for design in DESIGNS}
    edits = {}
    for edit in EDITS:
        edited = _markup(source, edit)
        if edited:
            for design, value in values.items():
                if value is None:
                    continue
                edits[design, edit] = nearness(value, _value(design, edited))
    published = Fingerprinter(PUBLISHED).fingerprint(plain).structure
    return PageStructure(values, published, edits)


def _markup(source: bytes, edit: str) -> str:
    """The page as its tree says it again, edited; "" when the edit has nothing to work on."""
    root = parse(source)
    if edit and not EDITS[edit][0](root):
        return ""
    return etree.tostring(root, encoding="unicode", method="html")


def _value(design: str, markup: str) -> int | None:
    return DESIGNS[design](elements_of(parse(markup)))


def nearness(a: int | None, b: int | None) -> float:
    """Share of the draws in which two pages are within 3 bits; one without a value never is."""
    if a is None or b is None:
        return 0.0
    blocks = [((a ^ b) >> start & 0xFFFF).bit_count() for start in range(0, 128, _BLOCK_BITS)]
    return fmean(sum(blocks[i] for i in draw) <= WITHIN_BITS for draw in _DRAWS)


def balanced_f1(positives: float, negatives: float) -> float:
    """F1 as if there were as many negatives as positives: 2 R / (1 + R + F).

    R: share of the positives that are near. F: share of the negatives that are.
    Precision is R / (R + F), recall R. With edits, R is the mean of two shares: of the pairs of one
    template, and of edited pages (each kind of edit counting the same).
    """
    return 2 * positives / (1 + positives + negatives)


def structure_rows(corpus: Corpus, work: Work) -> Iterator[Row]:
    """Pairs of one template and of two, and edited pages, over all draws of the hash."""
    pairs = corpus.pairs()
    pages = work.by_name(corpus.name, page_structure, corpus, pages_of(pairs))
    scores = {}
    for design in DESIGNS:
        same, other = (_near_pairs(pairs, pages, design, label) for label in (1, 0))
        yield share_row(corpus.name, f"{design}: one template, within 3", "all", same)
        yield share_row(corpus.name, f"{design}: two templates, within 3", "all", other)
        stable = []
        for edit, (_, least) in EDITS.items():
            found = [p.edits[design, edit] for p in pages.values() if (design, edit) in p.edits]
            goal = least if design == "outline" else None
            yield share_row(corpus.name, f"{design}: within 3 after {edit}", "all", found, goal)
            stable.append(fmean(found))
        alone = balanced_f1(fmean(same), fmean(other))
        scores[design] = balanced_f1((fmean(same) + fmean(stable)) / 2, fmean(other))
        yield Row(corpus.name, f"{design}: balanced F1, pairs alone", "all", len(pairs), alone)
        measure = f"{design}: balanced F1, pairs and edits"
        yield Row(corpus.name, measure, "all", len(pairs), scores[design])
    within = PUBLISHED.structure_distance
    for label, templates in ((1, "one template"), (0, "two templates")):
        found = [_is_near_as_published(pages, pair) for pair in pairs if pair.label == label]
        yield share_row(corpus.name, f"dom-decay: {templates}, within {within}", "all", found)
    ahead = scores["outline"] - scores["tag-sum"]
    measure = "outline ahead of tag-sum: balanced F1, pairs and edits"
    yield Row(corpus.name, measure, "all", len(pairs), ahead, 0.03)


def _is_near_as_published(pages: Mapping[str, PageStructure], pair: Pair) -> bool:
    a, b = pages[pair.page_a].published, pages[pair.page_b].published
    return (
        a is not None and b is not None and hamming_distance(a, b) <= PUBLISHED.structure_distance
    )


def _near_pairs(
    pairs: Sequence[Pair], pages: Mapping[str, PageStructure], design: str, label: int
) -> list[float]:
    return [
        nearness(pages[pair.page_a].values[design], pages[pair.page_b].values[design])
        for pair in pairs
        if pair.label == label
    ]
