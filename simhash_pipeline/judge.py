"""The rules of keeping and dropping: a page and a store in, a verdict out.

The judge decides and writes to the store; it neither logs nor drops items.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from simhash_pipeline.answers import read_sheet
from simhash_pipeline.bits import MAX_DISTANCE_BITS
from simhash_pipeline.errors import StoreError
from simhash_pipeline.furniture import UNKNOWN, Host, RecentPages, template_of, with_template
from simhash_pipeline.item_values import (
    NOTHING,
    Said,
    differing,
    is_row,
    rows_in,
    said_by,
    say_the_same,
    with_rows,
    with_values,
)
from simhash_pipeline.options import Options
from simhash_pipeline.own_text import is_all_main, likeness, own_sample
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.page.form import MAX_TOKENS, form_of
from simhash_pipeline.page.head import SAID, TITLE_CHARS, name_of, telling, title_words
from simhash_pipeline.page.simhash import hamming_distance
from simhash_pipeline.page.source import Source
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.page.visible import STORY_SHIFT
from simhash_pipeline.stores.contract import Action, Store, StoredPage, View
from simhash_pipeline.stores.opening import open_store
from simhash_pipeline.urls import address_of, page_key, site_of

if TYPE_CHECKING:
    from typing_extensions import Self

Reason = Literal[
    "new",  # kept: no stored page is near it
    "thin",  # kept: it has too little text; dropped: a stored page has the same title and text
    "changed",  # kept: the URL is known, its content has changed
    "told apart",  # kept: a stored content fingerprint is near, and something else is not
    "unchanged",  # kept, or dropped by UNCHANGED: the URL is known, and its story is as it was
    "answer",  # dropped: a person said that it is a copy of a stored page
    "error page",  # dropped: stored pages of its host differ in their own address or case number
    "address",  # dropped: it declares the address of a stored page, and their main texts are alike
    "content",  # dropped: its content fingerprint is near that of a stored page
    "item",  # dropped: its item's text is that of a stored page, and nothing else tells them apart
    "paragraph",  # dropped: its longest paragraph is a stored page's, and their sketches agree
    "structure",  # dropped: its structure fingerprint is near that of a stored page
    "content and structure",  # dropped: both are near those of one stored page
]
# The first test that told a page from the near one, in the order they are made.
ToldBy = Literal["answer", "fields", "sketch", "no page", "title", "own text", "template"]

# A second look is taken at this many near pages at most: some 10 ms.
_MAX_COMPARED = 200
# The own texts of pages in two templates of a site, such as a page and its print view, whose frames
# differ: as much of the new page must be equal as it brings along, whatever the stored page has
# more. In crawls of ten manuals no pages that differ were over 5 bits of structure apart; a demo
# site's copies in other templates are 9 and more bits apart.
_MIN_LIKENESS_OF_TEMPLATES = 0.5
_ERROR_PAGES = 2  # of one form that are kept: two items may be alike by chance
_MAX_SAME_ADDRESS = 8  # pages that are looked at for the address: many may wrongly declare one
_MAX_SAME_TEXT = 8  # pages whose items have one text
# Copies of a story aren't kept: a paragraph that more kept pages have is their site's.
_MAX_SAME_PARAGRAPH = 3
# Of what both pages were read as main text, if they declare one address. The rest of a page may
# have been read as text on one day and left out on another.
_MIN_MAIN_LIKENESS = 0.5
# The own texts of thin pages, of pages of one template of which one title names more than the
# other, of pages among which one of the same main text was found different, and of texts of a host
# of which too few are known: there the main text proves little. A likeness is an estimate, and the
# highest of many estimates may be high by chance.
_MIN_LIKENESS_IN_DOUBT = 0.95
_COPY_LIKENESS = 0.9  # of own texts; a dropped page that is less alike has text of its own
_MAX_HOSTS = 4_096  # whose furniture is cached: some 16 MB

# A stored page, the reason to drop the new one for it, and the test that tells the two apart.
Neighbour = tuple["StoredPage", Reason, "ToldBy | None"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about a page, and against which stored page; distances in bits."""

    url: str  # canonical
    dropped: bool
    reason: Reason
    twin_url: str | None = None  # of the stored page that it is near
    twin_title: str = field(default="", compare=False)  # its first TITLE_CHARS characters
    twin_first_seen: float | None = None  # Unix seconds
    content_distance: int | None = None  # None if either page has no such fingerprint
    structure_distance: int | None = None
    sketch_distance: int | None = None
    # Of the own texts, 0-1, in two templates of what this page says; None for pages of two sites
    own_likeness: float | None = None
    told_by: ToldBy | None = None  # of a kept page that is near a stored one
    min_likeness: float | None = None  # the limit in force; told by "own text" alone
    told_fields: tuple[str, ...] = ()  # the item's fields that differ; told by "fields" alone
    # Whether the stored page may yet go: another process has kept it, and its item is not out.
    provisional: bool = False
    namespace: str = ""  # of the page and of the stored one
    # Of a page that has changed: what its items said before, see item_values.py
    known_rows: tuple[bytes, ...] = field(default=(), compare=False)

    def summary(self) -> dict[str, str | int | None]:
        """The reason, and the distances in bits, as plain values."""
        return {
            "reason": self.reason,
            "content_distance": self.content_distance,
            "structure_distance": self.structure_distance,
            "sketch_distance": self.sketch_distance,
        }

    @property
    def stored(self) -> bool:
        """Whether the page was written to the store by this verdict."""
        return not self.dropped and self.reason != "unchanged"

    @property
    def is_new_content(self) -> bool:
        """Whether the page brought anything that was not known."""
        return self.stored and self.reason != "thin"


class Judge:
    """Judges pages against a store, and stores those that are kept.

    `store` is an open store, or what `open_store` opens; a judge closes what it has opened. Options
    may be given by name, as `Judge("seen.sqlite", content_distance=2)`. Raises StoreMismatch if the
    store's fingerprints were made with other options.
    """

    def __init__(
        self,
        store: Store | str = "memory:",
        options: Options | None = None,
        clock: Callable[[], float] = time.time,
        **named: Any,
    ) -> None:
        self._options = replace(options or Options(), **named)
        self._opens = isinstance(store, str)
        self._store = open_store(store) if isinstance(store, str) else store
        self._clock = clock
        self._copies, self._others = self._answers()
        self._recent = RecentPages()
        self._furniture: dict[Host, bytes] = {}
        site_of("localhost")  # loads the public suffix list before the first page waits for it
        try:
            self._store.stamp(stamp_for(self._options))
        except StoreError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store if the judge has opened it."""
        if self._opens:
            self._store.close()

    def judge(
        self,
        url: str,
        page: PageFingerprint | str | bytes,
        item: Mapping[str, Any] | Said | None = None,
    ) -> Verdict:
        """Decide whether to keep or drop the page, and store a kept one in the same transaction.

        `page` is its fingerprints or its HTML; `item` is what was scraped from that HTML, or what
        `said_by` made of it. Raises PageError for a bad URL, and for HTML that can't be read.
        """
        source = Source("" if isinstance(page, PageFingerprint) else page, url)
        if not isinstance(page, PageFingerprint):
            page = self._fingerprinter.fingerprint(page, url)
        if isinstance(item, Mapping):
            item = said_by(page, with_values(source, item, self._options))
        said = item or NOTHING
        stored = stored_page(url, page, self._options, self._clock(), said)
        return self.judge_stored(stored, page.blocks, said.names)

    def judge_stored(
        self,
        page: StoredPage,
        blocks: Sequence[int] | None = None,
        names: Mapping[int, str] = MappingProxyType({}),
    ) -> Verdict:
        """Judge a page whose key, site and fingerprints are known; `blocks` are its sample's.

        `names` are those of its item's values, by their bytes.
        """
        host = (page.namespace, page.host)
        if page.sample is not None:
            template = template_of(page.structure, self._furniture_of(host))
            page = replace(page, sample=own_sample(page.sample, template.furniture))
        verdict = self._store.settle(page, lambda view: self._decide(page, view, names))
        if blocks and _teaches_furniture(verdict):
            self._learn(host, page.structure, blocks)
        return verdict

    def confirm(self, verdict: Verdict) -> None:
        """Keep for good the page that `verdict` stored: its item is out. See `Store.confirm`."""
        if verdict.stored:
            self._store.confirm(verdict.namespace, verdict.url)

    def add_rows(self, verdict: Verdict, said: Said, rows: Iterable[bytes]) -> None:
        """The page that `verdict` stored, whose first item said this, gave these rows, too."""
        if verdict.stored and said.values is not None:
            values = with_rows(said.values, (*rows, *verdict.known_rows))
            self._store.put_values(verdict.namespace, verdict.url, values)

    def forget(self, verdict: Verdict) -> None:
        """Remove the page that `verdict` stored: its item was dropped or failed later on."""
        if verdict.stored:
            self._store.forget(verdict.namespace, verdict.url)

    @cached_property
    def _fingerprinter(self) -> Fingerprinter:
        return Fingerprinter(self._options)

    def _decide(
        self, page: StoredPage, view: View, names: Mapping[int, str]
    ) -> tuple[Action, Verdict]:
        """Unchanged? Else its twin, a twin that may yet go, a near miss, or new: the first found.

        A page of a known URL that has a twin is stored no longer: its URL is a copy's now. A list
        stays, as its other rows are its own.
        """
        previous = view.same_key()
        originals = self._answered(page, previous, view)
        if previous is not None and not originals and self._is_unchanged(page, previous):
            dropped = self._options.unchanged == "drop"
            verdict = verdict_of(page, "unchanged", previous, dropped=dropped)
            provisional = dropped and view.is_unconfirmed(previous)
            return Action.RENEW, replace(verdict, provisional=provisional)
        near_miss: tuple[StoredPage, ToldBy] | None = None
        unconfirmed: tuple[StoredPage, Reason] | None = None
        for neighbour, reason, told_by in chain(originals, self._neighbours(page, view)):
            if told_by is not None:
                near_miss = near_miss or (neighbour, told_by)
            elif view.is_unconfirmed(neighbour):
                unconfirmed = unconfirmed or (neighbour, reason)
            else:
                stays = previous is None or is_row(page.item_values)
                action = Action.SKIP if stays else Action.FORGET
                return action, self._with_likeness(page, reason, neighbour, view, dropped=True)
        if unconfirmed is not None:
            neighbour, reason = unconfirmed
            verdict = self._with_likeness(page, reason, neighbour, view, dropped=True)
            return Action.SKIP, replace(verdict, provisional=True)
        if near_miss is not None:
            neighbour, told_by = near_miss
            reason = "told apart" if previous is None else "changed"
            verdict = self._with_likeness(page, reason, neighbour, view, dropped=False)
            least = self._min_likeness(page, neighbour, view) if told_by == "own text" else None
            differ = differing_values(page, neighbour) if told_by == "fields" else b""
            told = tuple(sorted(names[byte] for byte in differ if byte in names))
            verdict = replace(verdict, told_by=told_by, min_likeness=least, told_fields=told)
        else:
            verdict = verdict_of(page, _kept_reason(page, previous))
        if previous is not None and previous.item_values is not None:
            verdict = replace(verdict, known_rows=tuple(rows_in(previous.item_values)))
        return Action.KEEP, verdict

    def _neighbours(self, page: StoredPage, view: View) -> Iterator[Neighbour]:
        """Stored pages near this one by MATCH and within SCOPE, those near in content by distance.

        Pages of another name come last, as all that is near must be known for them: a text that
        stands on pages about two things, such as a shell or a notice, says nothing of a third one.
        """
        found = self._candidates(page, view)
        if self._options.scope == "site":
            found = ((other, reason) for other, reason in found if other.site == page.site)
        told: set[ToldBy | None] = set()
        renamed: list[tuple[StoredPage, Reason]] = []
        for other, reason in islice(found, _MAX_COMPARED if self._options.second_look else None):
            told_by = self._told_by(page, other, reason, view, told)
            told.add(told_by)
            if told_by is None and self._looks_again(reason) and names_differ(page, other):
                renamed.append((other, reason))
            else:
                yield other, reason, told_by
        if not renamed:
            return
        has_two_names = not told.isdisjoint({"title", "no page"}) or any(
            are_two_subjects(renamed[0][0], other) for other, _ in renamed[1:]
        )
        for other, reason in renamed:
            yield other, reason, "no page" if has_two_names else None

    def _candidates(self, page: StoredPage, view: View) -> Iterator[tuple[StoredPage, Reason]]:
        """Stored pages that may be the page's twin, each with the reason to drop it then."""
        match = self._options.match
        if match != "structure":
            yield from self._by_content(page, view)
        if match in ("structure", "either"):
            for other, _ in view.near_structure(self._options.structure_distance):
                yield other, "structure"

    def _by_content(self, page: StoredPage, view: View) -> Iterator[tuple[StoredPage, Reason]]:
        if self._options.second_look:
            same_text = islice(view.same("item_text"), _MAX_SAME_TEXT)
            yield from ((other, "item") for other in same_text)
            yield from self._by_form(view)
            yield from self._by_address(page, view)
            if page.content is None:
                yield from ((other, "thin") for other in view.same("digest"))
        is_both = self._options.match == "both"
        for other, _ in view.near_content(self._options.content_distance):
            have_both = is_both and _distance(page.structure, other.structure) is not None
            yield other, "content and structure" if have_both else "content"
        if self._options.second_look and page.content is not None:
            yield from ((other, "paragraph") for other in self._by_paragraph(page, view))

    def _by_form(self, view: View) -> Iterator[tuple[StoredPage, Reason]]:
        """The first two stored pages of its form, see page/form.py; none if there are fewer."""
        others = list(islice(view.same("form"), _ERROR_PAGES))
        if len(others) == _ERROR_PAGES:
            yield from ((other, "error page") for other in others)

    def _by_address(self, page: StoredPage, view: View) -> Iterator[tuple[StoredPage, Reason]]:
        """Pages of the same site and declared address: what stands beside their texts says nothing.

        Their main texts must be alike: many sites declare one address for all pages of a list.
        """
        for other in islice(view.same("address"), _MAX_SAME_ADDRESS):
            if have_own_texts(page, other) and not are_two_subjects(page, other):
                alike = _likeness(page, other, view.furniture, only_main=True)
                if alike is not None and alike >= _MIN_MAIN_LIKENESS:
                    yield other, "address"

    def _by_paragraph(self, page: StoredPage, view: View) -> Iterator[StoredPage]:
        """Pages of one longest paragraph whose sketches agree, and that aren't near in content.

        Where one template's byline or caption was read with a story, and another's wasn't, the
        content fingerprint of a few paragraphs moves by more bits than the distance. In one
        template of a site such a line is the page's own, as in a text that is given alone.
        """
        found = list(islice(view.same("digest"), _MAX_SAME_PARAGRAPH + 1))
        for other in found if len(found) <= _MAX_SAME_PARAGRAPH else ():
            are_texts = page.structure is None and other.structure is None
            if are_texts or (page.site == other.site and in_one_template(page, other)):
                continue
            if not self._contents_agree(page, other) and self._sketches_agree(page, other):
                yield other

    def _looks_again(self, reason: Reason) -> bool:
        """Whether a page that was found for this reason has to agree in more."""
        by_text = ("content", "content and structure", "paragraph", "thin")
        return self._options.second_look and reason in by_text

    def _told_by(
        self,
        page: StoredPage,
        other: StoredPage,
        reason: Reason,
        view: View,
        told: Collection[ToldBy | None],
    ) -> ToldBy | None:
        """The first test that tells the pages apart; None if none does.

        `told` holds the results for the candidates before.
        """
        if self._others and frozenset((page.url, other.url)) in self._others:
            return "answer"
        if differing_values(page, other):
            return "fields"
        if self._options.match == "both" and not self._structures_agree(page, other):
            return "template"
        if reason == "item":  # nothing that was scraped is missing in the other
            if is_no_page(page, other):
                return "no page"
            return "title" if are_two_subjects(page, other) else None
        if not self._looks_again(reason):
            return None
        if not self._sketches_agree(page, other) and not _is_within(page, other, view):
            return "sketch"
        if is_no_page(page, other):
            return "no page"
        have_own = have_own_texts(page, other)
        if are_two_subjects(page, other) and (have_own or not self._is_one_text(page, other)):
            return "title"
        if not have_own or (page.address is not None and page.address == other.address):
            return None
        among_others = "title" in told or "own text" in told
        least = self._min_likeness(page, other, view, among_others=among_others)
        alike = _likeness(page, other, view.furniture) if least else 1
        if alike is None and say_the_same(page.item_values, other.item_values):
            return None  # beside what the template repeats
        return None if alike is not None and alike >= least else "own text"

    def _is_unchanged(self, page: StoredPage, previous: StoredPage) -> bool:
        """Whether story and item are as they were, whatever stands beside the story."""
        if differing_values(page, previous):
            return False
        if is_row(page.item_values) or is_row(previous.item_values):
            return page.item_values is not None and previous.item_values is not None
        if page.item_text is not None and page.item_text == previous.item_text:
            return page.title == previous.title
        if page.story is not None and previous.story is not None:
            return page.story >> STORY_SHIFT == previous.story >> STORY_SHIFT
        if page.content is None or previous.content is None:
            return page.content == previous.content and page.digest == previous.digest
        return self._contents_agree(page, previous) and self._sketches_agree(page, previous)

    def _contents_agree(self, page: StoredPage, other: StoredPage) -> bool:
        distance = _distance(page.content, other.content)
        return distance is not None and distance <= self._options.content_distance

    def _sketches_agree(self, page: StoredPage, other: StoredPage) -> bool:
        """True too if either page has no sketch."""
        distance = _distance(page.sketch, other.sketch)
        return distance is None or distance <= self._options.sketch_distance

    def _is_one_text(self, page: StoredPage, other: StoredPage) -> bool:
        """Whether the sketches are within half the distance: two sites may give a text two titles.

        The default, 9 bits, is a Jaccard index of 0.95 of their word triples.
        """
        distance = _distance(page.sketch, other.sketch)
        return distance is None or 2 * distance <= self._options.sketch_distance

    def _structures_agree(self, page: StoredPage, other: StoredPage) -> bool:
        """By the second look true too for pages of a few elements, which have no structure."""
        distance = _distance(page.structure, other.structure)
        if distance is None:
            return self._options.second_look
        return distance <= self._options.structure_distance

    def _min_likeness(
        self, page: StoredPage, other: StoredPage, view: View, *, among_others: bool = False
    ) -> float:
        """The least likeness, 0-1, of the own texts of two near-duplicates of one site.

        It is higher in doubt, as a few other words may make a different page then.
        """
        least = self._options.own_likeness
        in_doubt = among_others or page.content is None or _are_unknown_texts(page, other, view)
        if not in_one_template(page, other):
            least = min(least, _MIN_LIKENESS_OF_TEMPLATES)
        elif names_differ(page, other):
            in_doubt = True
        return max(least, _MIN_LIKENESS_IN_DOUBT) if least and in_doubt else least

    def _answers(self) -> tuple[dict[str, list[str]], set[frozenset[str]]]:
        """By a page's URL those of which it is a copy, and pairs of other pages; all canonical."""
        copies, others = dict[str, list[str]](), set[frozenset[str]]()
        path = self._options.answers
        for line in () if path is None else read_sheet(Path(path)).values():
            url, other = page_key(line.url), page_key(line.twin_url)
            if line.twins:
                copies.setdefault(url, []).append(other)
                copies.setdefault(other, []).append(url)
            elif line.twins is False:
                others.add(frozenset((url, other)))
        return copies, others

    def _answered(
        self, page: StoredPage, previous: StoredPage | None, view: View
    ) -> list[Neighbour]:
        """Stored pages of which a person called this one a copy; of two stored ones the older."""
        found = filter(None, map(view.page_of, self._copies.get(page.url, ())))
        return [
            (other, "answer", None)
            for other in found
            if previous is None or _age(other) < _age(previous)
        ]

    def _with_likeness(
        self, page: StoredPage, reason: Reason, other: StoredPage, view: View, *, dropped: bool
    ) -> Verdict:
        verdict = verdict_of(page, reason, other, dropped=dropped)
        if not have_own_texts(page, other):
            return verdict
        return replace(verdict, own_likeness=_likeness(page, other, view.furniture))

    def _furniture_of(self, host: Host) -> bytes:
        """The host's furniture as it was known when this process last looked."""
        if host not in self._furniture:
            if len(self._furniture) >= _MAX_HOSTS:
                self._furniture.clear()
            self._furniture[host] = self._store.furniture(*host)
        return self._furniture[host]

    def _learn(self, host: Host, structure: int | None, blocks: Sequence[int]) -> None:
        if template := self._recent.add(host, structure, blocks):
            known = self._store.furniture(*host)
            self._furniture[host] = learnt = with_template(known, template)
            if learnt != known:
                self._store.put_furniture(*host, learnt)


def _teaches_furniture(verdict: Verdict) -> bool:
    """Whether furniture is learnt from the page: it was kept, or has much text of its own.

    A page of a known URL was counted before. Copies of a story would make the story furniture.
    """
    if verdict.reason in ("address", "error page"):
        return False
    if verdict.stored:
        return verdict.reason != "changed"
    return verdict.own_likeness is not None and verdict.own_likeness < _COPY_LIKENESS


def _are_unknown_texts(page: StoredPage, other: StoredPage, view: View) -> bool:
    """Whether they are texts, or look so, and what texts of their host repeat isn't known."""
    return (
        page.structure is None
        and other.structure is None
        and page.sample is not None
        and is_all_main(page.sample)
        and template_of(None, view.furniture(page.host)) is UNKNOWN
    )


def _age(page: StoredPage) -> tuple[float, str]:
    return page.first_seen, page.url


def differing_values(page: StoredPage, other: StoredPage) -> bytes:
    """The names, a byte each, by which its item says what no item of the other page does."""
    if page.item_values is None or other.item_values is None:
        return b""
    one_site, one_template = page.site == other.site, in_one_template(page, other)
    return differing(
        page.item_values, other.item_values, on_one_site=one_site, in_one_template=one_template
    )


def _is_within(page: StoredPage, other: StoredPage, view: View) -> bool:
    """Whether another template's page has all of this one's own text; captions move a sketch."""
    are_two = have_own_texts(page, other) and not in_one_template(page, other)
    return are_two and _likeness(page, other, view.furniture) == 1


def have_own_texts(page: StoredPage, other: StoredPage) -> bool:
    """Whether the pages are of one site and both have a sample of their visible text."""
    return page.site == other.site and page.sample is not None and other.sample is not None


def in_one_template(
    page: PageFingerprint | StoredPage, other: PageFingerprint | StoredPage
) -> bool:
    """Whether the pages' structures are near, or both have too few elements for one."""
    apart = _distance(page.structure, other.structure)
    if apart is None:
        return page.structure is None and other.structure is None
    return apart <= MAX_DISTANCE_BITS


def are_two_subjects(page: StoredPage, other: StoredPage) -> bool:
    """Whether each page names a thing that the other's title lacks.

    A name stands in the title and in the heading: see page/head.py. The column "another title" of
    `make bench-drops` counts the pages that are dropped for one of another name. Titles of
    two forms, in two templates or on two sites, may be two headlines of one story.
    """
    if page.title == other.title or not (_lacks_name(page, other) and _lacks_name(other, page)):
        return False
    words, others = title_words(page.title), title_words(other.title)
    one_form = words[0] == others[0] or words[-1] == others[-1] or _share_half(words, others)
    return one_form or (page.site == other.site and in_one_template(page, other))


def names_differ(page: StoredPage, other: StoredPage) -> bool:
    """Whether one of the titles lacks a word of the other page's name."""
    if page.title == other.title:
        return False
    return _lacks_name(page, other) or _lacks_name(other, page)


def _lacks_name(page: StoredPage, other: StoredPage) -> bool:
    name = name_of(title_words(other.title), other.title_marks)
    return not name.issubset(title_words(page.title))


def is_no_page(page: StoredPage, other: StoredPage) -> bool:
    """Whether the text that two pages share is of neither: a shell, a consent box, a footer.

    Then their titles differ, and neither title stands in the text.
    """
    if page.title == other.title or (page.title_marks | other.title_marks) & SAID:
        return False
    words, others = telling(title_words(page.title)), telling(title_words(other.title))
    return not _share_half(words, others)


def _share_half(words: Sequence[str], others: Sequence[str]) -> bool:
    return 2 * len({*words} & {*others}) >= min(len(words), len(others))


def own_likeness(page: StoredPage, other: StoredPage, store: Store) -> float | None:
    """How alike the own texts of two stored pages are, 0-1; None if too little is known."""
    if not have_own_texts(page, other):
        return None
    return _likeness(page, other, partial(store.furniture, page.namespace))


def _likeness(
    page: StoredPage,
    other: StoredPage,
    furniture: Callable[[str], bytes],
    *,
    only_main: bool = False,
) -> float | None:
    if page.sample is None or other.sample is None:
        return None
    if page.story is not None and page.story == other.story:  # all that is visible is equal
        return 1.0
    counted: Literal["own", "brought", "main", "all"] = "own"
    if only_main:
        counted = "main"
    elif page.content is None:
        counted = "all"
    elif not in_one_template(page, other):
        counted = "brought"
    mine, its = (template_of(one.structure, furniture(one.host)) for one in (page, other))
    return likeness(page.sample, other.sample, (mine, its), counted)


def stored_page(
    url: str,
    page: PageFingerprint,
    options: Options,
    seen_at: float,
    said: Said = NOTHING,
) -> StoredPage:
    """What a store keeps of a page seen at this Unix time; PageError for a bad URL."""
    seen_at = int(seen_at)  # whole seconds take half the disk space
    key = page_key(url)
    form = None
    if options.error_pages == "drop" and page.tokens <= MAX_TOKENS:
        form = form_of(page.title, f"{page.text}\n{page.left_out}", url)
    return StoredPage(
        url=key,
        namespace=options.namespace,
        site=site_of(key),  # its host is in lower case, and in ASCII
        content=page.content,
        structure=page.structure,
        sketch=page.sketch,
        digest=page.digest,
        first_seen=seen_at,
        seen_at=seen_at,
        story=page.story,
        sample=page.sample,
        title=page.title[:TITLE_CHARS],
        title_marks=page.title_marks,
        address=address_of(key, page.canonical_url),
        form=form,
        item_text=said.text,
        item_values=said.values,
    )


def _kept_reason(page: StoredPage, previous: StoredPage | None) -> Reason:
    if previous is not None:
        return "changed"
    return "thin" if page.content is None else "new"


@dataclass(frozen=True, slots=True)
class Distances:
    """Bits in which two pages differ; None if either has no such fingerprint."""

    content: int | None
    structure: int | None
    sketch: int | None


def distances(a: PageFingerprint | StoredPage, b: PageFingerprint | StoredPage) -> Distances:
    return Distances(
        content=_distance(a.content, b.content),
        structure=_distance(a.structure, b.structure),
        sketch=_distance(a.sketch, b.sketch),
    )


def verdict_of(
    page: StoredPage, reason: Reason, other: StoredPage | None = None, *, dropped: bool = False
) -> Verdict:
    """A verdict with this reason, and with the distances from `other` if there is one."""
    if other is None:
        return Verdict(page.url, dropped, reason, namespace=page.namespace)
    apart = distances(page, other)
    return Verdict(
        url=page.url,
        dropped=dropped,
        reason=reason,
        twin_url=other.url,
        twin_title=other.title,
        twin_first_seen=other.first_seen,
        content_distance=apart.content,
        structure_distance=apart.structure,
        sketch_distance=apart.sketch,
        namespace=page.namespace,
    )


def _distance(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else hamming_distance(a, b)
