"""A page's elements in, its structure fingerprint out, by the design that the options name.

The design by decay weighs an element by 0.45 to the power of its depth: a wrapper or a banner at
the top changes the weight of everything below it. The default, `outline`, measures depth by how
much of the page is below an element, in halvings:

1.  The *outline*: siblings with the same label (tag and first class, digits as 0) are one node, and
    so are their children: fifty rows are one row. The outline leaves out what is no template (head,
    scripts), and it treats the children of an inline element without a class as its parent's.
2.  A node weighs its subtree's share of the outline, and less if it fills most of its parent:

        html ─ body ─┬─ div.top ─ ul           2 of 9 nodes   2/9 x min(1, 2 (1 - 2/8)) = 0.22
          9     8    └─ div.main ─┬─ h1        5 of 9         5/9 x min(1, 2 (1 - 5/8)) = 0.42
                                  ├─ p
                                  └─ ul.tags ─ li
        body fills all but the root: 8/9 x min(1, 2 (1 - 8/9)) = 0.20. A wrapper hardly counts.

    A label weighs as much as its heaviest node; the root weighs 1.
3.  Tags alone decide 11 of every 16 bits, so renamed classes move at most the other 5:

        bit  15                            0
             T T T C T T C T T C T T C T T C     T tag, C tag and class

4.  On those 5 bits a label's vote is multiplied by 1 / U², with U in (0, 1] from its hash and the
    bit: one or two labels decide each bit, and a small change of the page turns few bits.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import accumulate, chain, islice, repeat
from operator import mul
from typing import NamedTuple

from simhash_pipeline.bits import NDArray, np
from simhash_pipeline.options import Options
from simhash_pipeline.page.hashing import Rows, TokenHashes, hash_rows, hashed, mixed
from simhash_pipeline.page.parse import NO_DEPTH, Elements
from simhash_pipeline.page.simhash import VOTE, simhash

MIN_NODES = 10  # a tree or an outline with fewer is no template to speak of
MAX_LABELS = 4_096  # the heaviest; real pages have some hundred
_CLASS_BITS = 0b0001_0010_0100_1001  # of every 16
CLASS_WORD = _CLASS_BITS * 0x0001_0001_0001_0001  # the same of 64
MIN_U = 2.0**-10  # bounds a vote to 2**20, so that sums stay exact
# What a tag is to the outline; any other is a node.
_INLINE, _LEAF, _LEFT_OUT = 1, 2, 3  # a node only with a class; a node that isn't entered; neither
_ROLE_TAGS = {
    _INLINE: """a abbr b bdi bdo big br cite code del dfn em font i ins kbd label mark q s samp
        small span strike strong sub sup time tt u var wbr""",
    _LEAF: "svg select iframe",
    _LEFT_OUT: "head script style template link meta",
}
ROLES = {tag: role for role, tags in _ROLE_TAGS.items() for tag in tags.split()}
_DIGITS = re.compile(r"\d+")
_MAX_KNOWN_CHARS = 200  # of a class attribute whose label is remembered


def structure_fingerprint(page: Elements, options: Options) -> int | None:
    """64 bits, whatever hashes the content; None for fewer than 10 nodes.

    By murmur3, but tags by FNV-1, where a tie sets the bit: so it was published.
    """
    if options.decay is None:
        return outline_fingerprint(page)
    if len(page) < MIN_NODES:
        return None
    features = tag_features(page, options.decay)
    weights = np.fromiter(features.values(), np.float64, len(features))
    return simhash(hash_rows("fnv1")(features), weights, ">=0")


class Outline(NamedTuple):
    """The page's merged tree; a node's parent comes before it, and node 0 is the root."""

    tags: list[str]
    labels: list[str]  # tag, or tag.class
    parents: list[int]

    def weights(self) -> list[float]:
        """Of each node, 0-1: rule 2 above."""
        parents = self.parents
        sizes = [1] * len(parents)
        for node in range(len(sizes) - 1, 0, -1):
            sizes[parents[node]] += sizes[node]
        shares = [1.0]
        for node in range(1, len(sizes)):
            filled = sizes[node] / sizes[parents[node]]
            shares.append(sizes[node] / sizes[0] * min(1.0, 2 * (1 - filled)))
        return shares


def outline(page: Elements) -> Outline:
    """One walk in document order."""
    root = page[0][1]
    tags, labels, parents = [root], [root], [-1]
    children: list[dict[str, int]] = [{}]  # of each node, by label
    path = {0: 0}  # on each level the node of the open element
    closed = NO_DEPTH  # what is deeper is in an element that isn't entered
    role_of = ROLES.get
    for element, tag, depth in islice(page, 1, None):
        if depth > closed:
            continue
        closed = NO_DEPTH
        if (role := role_of(tag)) and role >= _LEAF:
            closed = depth
            if role == _LEFT_OUT:
                continue
        node = path[depth - 1]
        names = element.get("class")
        if names or role != _INLINE:
            names = names or ""
            label = (_known_label if len(names) <= _MAX_KNOWN_CHARS else _label)(tag, names)
            siblings = children[node]
            if label not in siblings:
                siblings[label] = len(tags)
                tags.append(tag)
                labels.append(label)
                parents.append(node)
                children.append({})
            node = siblings[label]
        path[depth] = node
    return Outline(tags, labels, parents)


def _label(tag: str, names: str) -> str:
    first = names.split(None, 1)[:1]
    return f"{tag}.{_DIGITS.sub('0', first[0])}" if first else tag


_known_label = lru_cache(maxsize=4096)(_label)  # the pages of a site share their names


def outline_fingerprint(page: Elements, bits: int = 64) -> int | None:
    """The fingerprint, of 64 or 128 bits; None under 10 outline nodes."""
    nodes = outline(page)
    if len(nodes.tags) < MIN_NODES:
        return None
    weights = nodes.weights()
    by_tag = _heaviest(nodes.tags, weights)
    by_label = _heaviest(nodes.labels[1:], weights[1:])
    rows = TokenHashes(hashed([*by_tag, *by_label])).ngrams(1, bits)
    signs = np.unpackbits(rows, axis=1, bitorder="little") * 2.0 - 1.0
    tags = len(by_tag)
    class_bits = np.flatnonzero(_CLASS_BITS >> np.arange(bits) % 16 & 1)
    shares = np.fromiter(chain(by_tag.values(), by_label.values()), np.float64) / VOTE
    votes = np.rint(shares[:tags]) @ signs[:tags]
    of_labels = np.rint(shares[tags:, None] * _loudness(rows[tags:], class_bits))
    votes[class_bits] = (of_labels * signs[tags:, class_bits]).sum(axis=0)
    return int.from_bytes(np.packbits(votes > 0, bitorder="little").tobytes(), "little")


def _heaviest(names: Iterable[str], weights: Iterable[float]) -> Mapping[str, float]:
    """The weight of each name's heaviest node, for the heaviest names."""
    found: dict[str, float] = {}
    for name, weight in zip(names, weights, strict=True):
        if weight > found.get(name, 0.0):
            found[name] = weight
    if len(found) <= MAX_LABELS:
        return found
    return dict(heapq.nlargest(MAX_LABELS, found.items(), key=lambda pair: (pair[1], pair[0])))


def _loudness(hashes: Rows, bits: NDArray[np.intp]) -> NDArray[np.float64]:
    """1 / U² for each row and each of these bits, 1 to 2**20; U from the row's first 32 bits."""
    rows = np.ascontiguousarray(hashes[:, :4]).view("<u4").astype(np.uint64)
    steps = (bits + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    words = mixed(np.multiply(rows, 1 << 32) + steps)
    u = ((words >> np.uint64(32)).astype(np.float64) + 1.0) * 2.0**-32
    bounded: NDArray[np.float64] = np.maximum(u, MIN_U)
    return 1.0 / (bounded * bounded)


def tag_features(page: Elements, decay: float) -> Mapping[str, float]:
    """Each tag's weight at its last occurrence: the root weighs `decay`, its children its square.

    DOM-tree decay as published, whose program's parser reads what is in a noscript as text.
    """
    # By multiplication, which every machine rounds alike.
    depths = max(depth for _, _, depth in page) + 1
    powers = list(accumulate(repeat(decay, depths), mul, initial=1.0))
    found, lowest = dict[str, float](), NO_DEPTH  # the depth of a noscript
    for _, tag, depth in page:
        if depth <= lowest:
            lowest = depth if tag == "noscript" else NO_DEPTH
            found[tag] = powers[depth + 1]
    return found
