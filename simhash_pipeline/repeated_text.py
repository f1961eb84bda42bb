"""What the pages of a template repeat: menus, boxes and footers, learnt from what is judged.

A host's pages come from a few templates, and pages of one template have structure fingerprints
within 8 bits. A block on eight of the last 64 pages of a template is *recurring*; one on half of
them and on twenty too is *repeated*. Two pages are compared by their page-specific texts: see
twins.py. There an equal block proves nothing if it is recurring, and a differing one proves nothing
if it is repeated. So only who can write on half of a template's last pages hides a difference.
Newer pages take the place of older ones, also of those that another process has counted: what is no
longer repeated counts again. Fingerprints never depend on any of it.

What scraped texts of copies repeat is learnt likewise, by the sites of both: see `copies_on`.
"""

from array import array
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from math import inf
from operator import attrgetter
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from simhash_pipeline import native
from simhash_pipeline.bits import MAX_DISTANCE_BITS
from simhash_pipeline.errors import START_OVER, StoreDamaged
from simhash_pipeline.page.fingerprint import PageFingerprint
from simhash_pipeline.page.folding import spelled
from simhash_pipeline.page.simhash import hamming_distance
from simhash_pipeline.page.titles import PART_BREAK, WORD, WORD_BITS, word_blocks, words_of
from simhash_pipeline.page.visible import BLOCK_BITS, MAIN, visible_text
from simhash_pipeline.stores.contract import Store
from simhash_pipeline.verdict import Verdict

Blocks = frozenset[int]  # the low 15 bits of their hashes, and 1 << 15 of words of titles
Host = tuple[str, str]  # namespace, host
NO_BLOCKS: Blocks = frozenset()
TEXTS_VARY = MAIN  # in place of a word: the copies that say what the others don't repeat

LEAST_PAGES = 8  # with 4, more pages have no page-specific text left
_COPIES = "copies on "
ANY_SITE = "*"  # in place of the other site, which is none of the page's
LEAST_COPIES = 3  # with a sentence that their originals lack, as "First published in The Post"
# A site's first pages may be one writer's, as in a list with the newest first. With 32, a tenth of
# the copies in another frame are kept on sites of some 40 pages (`python -m tests.quality --demo`).
LEAST_REPEATED = 20
_MOST_TITLES = 1.5  # times as many titles: three quarters of them
_REMEMBERED = 64  # pages of a template
_EVERY = 4  # pages after which a template's repeated text is counted again
_MAX_TEMPLATES = 16  # of a host: those met last
_MAX_PAGES = 100_000  # of all hosts: some 30 MB
_COPY_SIMILARITY = 0.9  # a dropped page that is less alike has text of its own
_MAX_HOSTS = 4_096  # whose repeated text is cached: some 16 MB

# A host's templates as a store has them: (structure, pages, counts) of each, as MessagePack.
_Number = Annotated[int, msgspec.Meta(ge=0, lt=1 << 16)]
_PACKED = msgspec.msgpack.Decoder(list[tuple[int | None, _Number, dict[_Number, _Number]]])


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """Pages of one host whose structures are near, and what they repeat."""

    structure: int | None  # fingerprint of the first page; None: too few elements for one
    pages: int = 0  # the last ones, at most 64
    counts: Mapping[int, int] = field(default_factory=dict)  # of pages, by block: as many as recur
    repeated: Blocks = field(init=False)  # on half of the last pages, and on twenty
    recurring: Blocks = field(init=False)  # the others

    def __post_init__(self) -> None:
        least = max(self.pages / 2, LEAST_REPEATED)
        # Half of a shop's titles may name one colour: in most titles it is the site's word.
        of_titles = least * _MOST_TITLES
        repeated = frozenset(
            block
            for block, count in self.counts.items()
            if count >= (least if block <= BLOCK_BITS else of_titles)
        )
        object.__setattr__(self, "repeated", repeated)
        object.__setattr__(self, "recurring", frozenset(self.counts) - repeated)

    def fits(self, structure: int | None) -> bool:
        """Whether a page with this structure fingerprint is of the template."""
        return structure_bits(self.structure, structure) <= MAX_DISTANCE_BITS


UNKNOWN = Template(None)
_learnt = attrgetter("pages", "repeated", "recurring")


def structure_bits(structure: int | None, other: int | None) -> float:
    """Between two structure fingerprints; infinite if one page alone has too few elements."""
    if structure is None or other is None:
        return 0 if structure is other else inf
    return hamming_distance(structure, other)


def template_of(structure: int | None, templates: bytes) -> Template:
    """That of a page with this structure fingerprint; UNKNOWN if nothing is known of it."""
    return next((one for one in unpacked(templates) if one.fits(structure)), UNKNOWN)


def copies_on(site: str, other: str) -> str:
    """In place of a host: where it is learnt how scraped texts of two sites' copies vary.

    Of one site, of its copies in two templates.
    """
    return f"{_COPIES}{' and '.join(sorted({site, other}))}"


def page_specific(title: str, text: str, template: Template) -> tuple[str, str]:
    """A page's title and main text without what its template repeats; whole if all is repeated."""
    left = "\n".join(line for line in text.split("\n") if not _is_repeated(line, template))
    return _own_title(title, template), left if left.strip() else text


def _is_repeated(line: str, template: Template) -> bool:
    blocks = visible_text([spelled(line)], [False]).blocks  # none of white space or marks alone
    return any(block & BLOCK_BITS in template.repeated for block in blocks)


def _own_title(title: str, template: Template) -> str:
    """From the first to the last part that has a word of its own: "Fog bells | The Post"."""
    # One blank each: else a run of them takes quadratic time. Every other part is a separator.
    parts = PART_BREAK.split(" ".join(title.split()))
    own = [
        place
        for place in range(0, len(parts), 2)
        if not template.repeated.issuperset(
            block & WORD_BITS for block in word_blocks(words_of(parts[place]))
        )
    ]
    return "".join(parts[own[0] : own[-1] + 1]) if own else title


@lru_cache(maxsize=16)  # most hosts have some dozens of blocks, the largest 60,000: 6 MB
def unpacked(templates: bytes) -> tuple[Template, ...]:
    """The templates of a host; StoreDamaged if the bytes are none."""
    if not templates:
        return ()
    try:
        return tuple(Template(*each) for each in _PACKED.decode(templates))
    except msgspec.DecodeError as error:
        raise StoreDamaged(f"the repeated text in the store is damaged; {START_OVER}") from error


def with_template(templates: bytes, newest: Template) -> bytes:
    """The templates of a host after one of them was counted again."""
    others = [one for one in unpacked(templates) if not one.fits(newest.structure)]
    kept = [newest, *others[: _MAX_TEMPLATES - 1]]
    return msgspec.msgpack.encode([(one.structure, one.pages, one.counts) for one in kept])


class RepeatedText:
    """What each host's templates repeat, as this process last read or learnt it.

    The last different pages of each template are held in bounded memory, and end with the process;
    the store keeps what was learnt from them, and from how many.
    """

    def __init__(self, store: Store, max_pages: int = _MAX_PAGES) -> None:
        self._store = store
        self._known: dict[Host, bytes] = {}
        self._hosts: dict[Host, list[_Pages]] = {}  # newest last
        self._pages = 0
        self._max_pages = max_pages

    def template(self, host: Host, structure: int | None) -> Template:
        """That of a page of this host with this structure fingerprint; see `template_of`."""
        if host not in self._known:
            if len(self._known) >= _MAX_HOSTS:
                self._known.clear()
            self._known[host] = self._store.repeated_text(*host)
        return template_of(structure, self._known[host])

    def page_specific(self, page: PageFingerprint, verdict: Verdict) -> str:
        """The judged page's title and main text, without what its template repeats by now."""
        host = (verdict.namespace, urlsplit(verdict.key).netloc)
        title, text = page_specific(page.title, page.text, self.template(host, page.structure))
        return text if text.startswith(title) else f"{title}\n{text}"

    def learn(self, host: Host, structure: int | None, blocks: Sequence[int]) -> None:
        """Count the blocks of a kept page, and store what more is known then."""
        counted = {each & (BLOCK_BITS if each < WORD else WORD_BITS) for each in blocks}
        if template := self._add(host, structure, counted):
            known = self._store.repeated_text(*host)
            self._known[host] = learnt = with_template(known, template)
            if learnt != known:
                self._store.put_repeated_text(*host, learnt)

    def learn_copy(self, site: str, other: str, verdict: Verdict) -> None:
        """Count the sentences that the text of a page of this site has alone, and its twin's has.

        Of the sites of both, by their templates, and of the page's and any other: see `copies_on`.
        """
        gone = (WORD | MAIN | each for each in verdict.gone_sentences or ())
        blocks = [*(verdict.new_sentences or ()), *gone]
        on_both = verdict.namespace, copies_on(site, other)
        self.learn(on_both, verdict.templates, blocks)
        if other != site:
            self.learn((verdict.namespace, copies_on(site, ANY_SITE)), None, blocks)

    def _add(self, host: Host, structure: int | None, blocks: set[int]) -> Template | None:
        """The page's template, if more was learnt; the hosts met longest ago are forgotten."""
        templates = self._hosts.pop(host, [])
        self._pages -= sum(len(one.blocks) for one in templates)
        pages = next((one for one in templates if one.template.fits(structure)), None)
        pages = pages or _Pages(replace(self.template(host, structure), structure=structure))
        others = [one for one in templates if one is not pages]
        self._hosts[host] = templates = [pages, *others[: _MAX_TEMPLATES - 1]]
        found = pages.add(blocks, are_copies=host[1].startswith(_COPIES))
        self._pages += sum(len(one.blocks) for one in templates)
        while self._pages > self._max_pages and len(self._hosts) > 1:
            oldest = self._hosts.pop(next(iter(self._hosts)))
            self._pages -= sum(len(one.blocks) for one in oldest)
        return found


def teaches_repeated_text(verdict: Verdict) -> bool:
    """Whether repeated text is learnt from the page: it was kept, or has much text of its own.

    A page of a known URL was counted before. Copies of an article would make it repeated text.
    """
    if verdict.reason in ("address", "error page"):
        return False
    if verdict.stored:
        return verdict.reason not in ("changed", "canonical")
    return verdict.similarity is not None and verdict.similarity < _COPY_SIMILARITY


class _Pages:
    """The last pages of a template."""

    def __init__(self, known: Template) -> None:
        self.template = self._known = known  # counted before these pages
        self.blocks: deque[array[int]] = deque(maxlen=_REMEMBERED)  # a page's, in 2 bytes each
        self._added = 0

    def add(self, blocks: Collection[int], *, are_copies: bool) -> Template | None:
        self.blocks.append(array("H", blocks))
        self._added += 1
        older = min(self._known.pages, _REMEMBERED - len(self.blocks))
        pages = len(self.blocks) + older
        is_early = pages <= 2 * LEAST_PAGES  # while few pages are known, each one says much
        if pages < LEAST_PAGES or (self._added % _EVERY and not is_early):
            return None
        known = self._known.counts.items() if older else ()
        earlier = [[block] * round(count * older / self._known.pages) for block, count in known]
        said = b"".join([*self.blocks, array("H", chain.from_iterable(earlier))])
        found = _recurring(said, LEAST_COPIES if are_copies else LEAST_PAGES)
        if are_copies:
            own = [[each for each in of if each < MAIN] for of in self.blocks]
            vary = sum(not found.keys() >= {*each} for each in own)
            found[TEXTS_VARY] = found.get(TEXTS_VARY, 0) + vary  # of pages in the store, and these
        before, self.template = self.template, Template(self.template.structure, pages, found)
        return None if _learnt(before) == _learnt(self.template) else self.template


def _recurring(said: bytes, least: int) -> dict[int, int]:
    """The blocks that are so often or more among these, rising, and how often each."""
    if native.kernel is not None:
        return dict(sorted(native.kernel.recurring(said, least).items()))
    counts = Counter(memoryview(said).cast("H"))
    return {block: times for block, times in sorted(counts.items()) if times >= least}
