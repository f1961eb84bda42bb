"""What was decided about a page: the reason, and how far it is from which stored page."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from simhash_pipeline.page.fingerprint import PageFingerprint
from simhash_pipeline.page.simhash import hamming_distance
from simhash_pipeline.stores.contract import StoredPage

Reason = Literal[
    "new",  # kept: no stored page is near it
    "thin",  # kept: it has too little text; dropped: a stored page has the same title and text
    "changed",  # kept: the URL is known, its content has changed
    "canonical",  # kept: it is where its twin declares to be, and takes that page's place
    "near miss",  # kept: a stored content fingerprint is near, and something else is not
    "unchanged",  # kept, or dropped by UNCHANGED: the URL is known, its article text the same
    "answer",  # dropped: a person said that it is a copy of a stored page
    "error page",  # dropped: stored pages of its host differ in their own address alone
    "address",  # dropped: it declares the address of a stored page, and their main texts are alike
    "content",  # dropped: its content fingerprint is near that of a stored page
    "item",  # dropped: its item's text is that of a stored page, or the item a row of one
    "sketch",  # dropped: its sketch is near that of a stored page, its content fingerprint isn't
    "structure",  # dropped: its structure fingerprint is near that of a stored page
    "content and structure",  # dropped: both are near those of one stored page
]
# The first test that rejected a near page, in the order they are made.
RejectedBy = Literal[
    "answer", "fields", "template", "sketch", "shared notice", "title", "page-specific text"
]


class Neighbour(NamedTuple):
    """A stored page near another, why that may be dropped for it, and what tells them apart."""

    page: StoredPage
    reason: Reason
    rejected_by: RejectedBy | None = None
    compared: StoredPage | None = None  # and rejected: the page, or the first copy of it


@dataclass(slots=True, unsafe_hash=True)
class Verdict:
    """What was decided about a page, and against which stored page; distances in bits.

    Nobody changes one; why it isn't frozen: see `StoredPage`.
    """

    url: str  # as it came
    dropped: bool
    reason: Reason
    twin_url: str | None = None  # of the stored page that it is near, as it came
    twin_title: str = field(default="", compare=False)  # its first TITLE_CHARS characters
    twin_first_seen: float | None = None  # Unix seconds
    content_distance: int | None = None  # None if either page has no such fingerprint
    structure_distance: int | None = None
    sketch_distance: int | None = None
    # Of the page-specific texts, 0-1; in two templates of the main texts; None for two sites
    similarity: float | None = None
    rejected_by: RejectedBy | None = None  # of a kept page that is near a stored one
    min_similarity: float | None = None  # the limit in force; if rejected by "page-specific text"
    differing_fields: tuple[str, ...] = ()  # the item's fields that differ; if rejected by "fields"
    uncounted_fields: tuple[str, ...] = ()  # those of a copy, which differ and don't count
    # Of a copy, but in one structure of a site: its item's sentences that the twin's lacks
    new_sentences: frozenset[int] | None = field(default=None, compare=False)
    gone_sentences: frozenset[int] | None = field(default=None, compare=False)  # those of the twin
    templates: int | None = field(default=None, compare=False)  # see `Pair.templates`
    # What of a known page has changed: fields of its item, or else its texts
    changed: tuple[str, ...] = field(default=(), compare=False)
    row: str = field(default="", compare=False)  # of a list: which item was dropped, in words
    # Whether the stored page may yet go: another process has kept it, and its item is not out.
    provisional: bool = False
    namespace: str = ""  # of the page and of the stored one
    # Of a page that has changed: what its items said before, see item_values.py
    known_rows: tuple[bytes, ...] = field(default=(), compare=False)
    # Whether the known page, which was stored without an item, has the values of this one by now
    gives_values: bool = field(default=False, compare=False)
    # Whether its row, which an earlier run met on its twin, is this known page's by now
    moves_row: bool = field(default=False, compare=False)
    # The canonical URLs, by which stores know the pages.
    key: str = field(default="", compare=False)
    twin_key: str | None = field(default=None, compare=False)

    @property
    def replaces(self) -> str | None:
        """The stored page whose place it takes, as it came: by KEEP."""
        return self.twin_url if self.reason == "canonical" else None

    @property
    def stored(self) -> bool:
        """Whether the page was written to the store by this verdict."""
        return not self.dropped and self.reason != "unchanged"

    @property
    def is_new_content(self) -> bool:
        """Whether the page has content not seen before."""
        return self.stored and self.reason not in ("thin", "canonical")


def verdict_of(
    page: StoredPage, reason: Reason, other: StoredPage | None = None, **more: Any
) -> Verdict:
    """A verdict with this reason, the distances from `other` if there is one, and more fields."""
    fields: dict[str, Any] = {"url": page.shown_url, "dropped": False}
    fields |= {"key": page.url, "namespace": page.namespace}
    if other is not None:
        apart = distances(page, other)._asdict()
        fields |= {f"{name}_distance": bits for name, bits in apart.items()}
        fields |= {"twin_url": other.shown_url, "twin_key": other.url, "twin_title": other.title}
        fields["twin_first_seen"] = other.first_seen
    return Verdict(reason=reason, **(fields | more))


class Distances(NamedTuple):
    """Bits in which two pages differ; None if either has no such fingerprint."""

    content: int | None
    structure: int | None
    sketch: int | None


def distances(a: PageFingerprint | StoredPage, b: PageFingerprint | StoredPage) -> Distances:
    return Distances(*(bits_apart(getattr(a, n), getattr(b, n)) for n in Distances._fields))


def bits_apart(a: int | None, b: int | None) -> int | None:
    """Bits in which two fingerprints differ; None without one of them."""
    return None if a is None or b is None else hamming_distance(a, b)
