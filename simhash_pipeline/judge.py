"""The rules of keeping and dropping: a page and a store in, a verdict out.

The judge decides and writes to the store; it neither logs nor drops items.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import chain, islice
from typing import Any, Literal, cast

from simhash_pipeline import item_values, items
from simhash_pipeline.answers import AnsweredPairs
from simhash_pipeline.candidates import MAX_SAME, candidates
from simhash_pipeline.errors import StoreError
from simhash_pipeline.item_values import NO_VALUES, NOTHING, Said
from simhash_pipeline.options import Options, OptionValue
from simhash_pipeline.page import titles
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.page.source import Source
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.repeated_text import RepeatedText, teaches_repeated_text
from simhash_pipeline.run_memory import RunMemory
from simhash_pipeline.specific_text import specific_sample
from simhash_pipeline.stores.contract import COLUMNS, Action, Store, StoredPage, View
from simhash_pipeline.stores.opening import open_store
from simhash_pipeline.twins import BY_TEXT, Pair
from simhash_pipeline.urls import address_of, is_declared, is_one_visit, page_key, site_of
from simhash_pipeline.verdict import Neighbour, Reason, Verdict, verdict_of

Names = Mapping[int, str]  # fields, by the byte that stands for each in an item's values
# What a stored page near the one that is judged is to it.
What = Literal[
    "twin",  # the page is a copy of it
    "may go",  # the page is a copy of it, or of a row to come, but its item isn't out for good yet
    "gives way",  # the page is where it declares to be, and takes its place: by KEEP
    "older",  # the page said something else before, and it was stored by then
    "near miss",  # a test tells them apart
]
# Why a page is kept that has no twin, by what its neighbour is; the first of these that was found.
_REASONS_TO_KEEP: dict[What, Reason] = {
    "gives way": "canonical",
    "older": "changed",
    "near miss": "near miss",
}
# This many near pages are looked at, however many a stranger made alike: some 10 ms.
_MAX_COMPARED = 200

# The columns that a page's fingerprints have under the same names.
_OF_PAGE = [one.name for one in COLUMNS if hasattr(PageFingerprint, one.name)]


class Judge(AbstractContextManager["Judge"]):
    """Judges pages against a store, and stores those that are kept.

    :param store: an open store, or what `open_store` opens; a judge closes what it has opened.
    :param options: see `Options`.
    :param clock: gives the time in Unix seconds.
    :param repeats_since: when a run began (Unix seconds). An unchanged page stored since is dropped
        in any case, if its item says the same. One that an earlier run dropped is kept if it says
        something else than then, which is remembered for the next run.
    :param named: options by name, such as `content_distance=2`.
    :raises OptionsError: for bad options.
    :raises StoreMismatch: if the store's fingerprints were made with other options.
    """

    def __init__(
        self,
        store: Store | str = "memory:",
        options: Options | None = None,
        clock: Callable[[], float] = time.time,
        *,
        repeats_since: float | None = None,
        **named: OptionValue,
    ) -> None:
        self.options = replace(options or Options(), **cast("dict[str, Any]", named))
        self.answers = AnsweredPairs(self.options.answers)
        self._fingerprinter = Fingerprinter(self.options)
        self._opens = isinstance(store, str)
        self._store = open_store(store) if isinstance(store, str) else store
        self._clock = clock
        self.memory = RunMemory(repeats_since)
        self.repeated_text = RepeatedText(self._store)
        site_of("localhost")  # loads the public suffix list before the first page waits for it
        try:
            self._store.stamp(stamp_for(self.options))
        except StoreError:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what is left to be written, and close the store if the judge has opened it."""
        try:
            self.flush()
        finally:
            if self._opens:
                self._store.close()

    def flush(self) -> None:
        """Write what dropped pages said, as every thousandth does; see `Store.put_visits`."""
        if self.memory.visits:
            self._store.put_visits(self.memory.visits.values())
            self.memory.visits.clear()

    def judge(
        self,
        url: str,
        page: PageFingerprint | str | bytes | None = None,
        item: Mapping[str, Any] | Said | None = None,
        *,
        text: str | None = None,
    ) -> Verdict:
        """Decide whether to keep or drop the page, and store a kept one in the same transaction.

        :param url: the page's absolute URL.
        :param page: its HTML, or its fingerprints.
        :param item: what was scraped from that HTML, or what `said_by` made of it.
        :param text: all its text, in place of `page`.
        :return: the verdict; `dropped` is True for a near-duplicate.
        :raises PageError: for a bad URL, and for HTML that can't be read.
        :raises TypeError: for an item next to fingerprints, as its values may be in the HTML alone.
        :raises StoreError: if the store fails.
        """
        if (page is None) == (text is None):
            raise TypeError("judge a page or a text, and not both")
        if not isinstance(page, PageFingerprint):
            held = page if text is None else text
            source = Source("" if held is None else held, url, is_text=text is not None)
            page = self._fingerprinter.read(source)
            if isinstance(item, Mapping):
                item = items.said_by(page, items.with_values(source, item, self.options))
        elif isinstance(item, Mapping):
            raise TypeError("an item is looked for in its page: give that as HTML, or `said_by`")
        said = item or NOTHING
        stored = stored_page(url, page, self.options, self._clock(), said)
        return self.judge_stored(stored, page.blocks, said.names)

    def judge_stored(
        self, page: StoredPage, blocks: Sequence[int] | None = None, names: Names = NOTHING.names
    ) -> Verdict:
        """Judge a page whose key, site and fingerprints are known; `blocks` are its sample's."""
        host = (page.namespace, page.host)
        if page.sample is not None:
            template = self.repeated_text.template(host, page.structure)
            page = page.with_sample(specific_sample(page.sample, template.repeated))
        verdict = self._store.settle(page, lambda view: _Case(self, page, view, names).decide())
        if self.memory.note(page, verdict):
            self.flush()
        if verdict.stored and verdict.known_rows and page.item_values is not None:
            # A list that has changed may have moved these rows to its next page.
            self._put_rows(verdict, page.item_values, ())
        if verdict.gives_values and page.item_values is not None:
            self._store.put_values(page.namespace, page.url, page.item_values, page.row_keys)
        if verdict.moves_row and page.item_values is not None:
            self._note_row(page, item_values.row_of(page.item_values))
        if verdict.new_sentences is not None:
            self.repeated_text.learn_copy(page.site, site_of(verdict.twin_key or ""), verdict)
        if blocks and teaches_repeated_text(verdict):
            self.repeated_text.learn(host, page.structure, blocks)
        return verdict

    def judge_row(self, url: str, page: PageFingerprint, said: Said) -> Verdict | None:
        """That on a further item of a kept page, if another page gave that very row; else None."""
        row = stored_page(url, page, self.options, self._clock(), said)
        if row.row_keys is None or said.values is None:
            return None
        verdict = self._store.settle(
            row, lambda view: (Action.SKIP, _Case(self, row, view, said.names).of_row())
        )
        if verdict is None and self.options.unchanged == "keep":
            self.memory.note_row((row.namespace, row.url), item_values.row_of(said.values))
        return verdict

    def confirm(self, verdict: Verdict) -> None:
        """Keep for good the page that a verdict stored: its item is out. See `Store.confirm`.

        :param verdict: what `judge` returned.
        :raises StoreError: if the store fails.
        """
        if not verdict.stored:
            return
        self._store.confirm(verdict.namespace, verdict.key)
        if verdict.replaces is not None and verdict.twin_key is not None:
            self._store.flush()  # killed here, the store has both pages, never neither
            self._store.forget(verdict.namespace, verdict.twin_key)

    def add_rows(self, verdict: Verdict, said: Said, rows: Sequence[bytes]) -> None:
        """The page that `verdict` stored, whose first item said this, gave these rows, too."""
        self.memory.finish(verdict)
        if verdict.stored and said.values is not None:
            self._put_rows(verdict, said.values, rows)
            # Its first item wasn't known to be a row when it was judged.
            if rows and not item_values.has(said.values, item_values.ROW):
                self.memory.note_row((verdict.namespace, verdict.key), rows[0])

    def _put_rows(self, verdict: Verdict, stored: bytes, rows: Iterable[bytes]) -> None:
        values = item_values.with_rows(stored, rows, verdict.known_rows)
        if values != stored:
            keys = item_values.row_keys(values, verdict.namespace, site_of(verdict.key))
            self._store.put_values(verdict.namespace, verdict.key, values, keys)

    def _note_row(self, page: StoredPage, row: bytes) -> None:
        """A row that came on another page is on this known page now: the other may forget it."""
        known = self._store.settle(page, lambda view: (Action.SKIP, view.same_key()))
        if known is not None and known.item_values is not None:
            values = item_values.with_rows(known.item_values, [row])
            if values != known.item_values and len(values) < item_values.MOST_BYTES:
                keys = item_values.row_keys(values, page.namespace, page.site)
                self._store.put_values(page.namespace, page.url, values, keys)

    def forget(self, verdict: Verdict) -> None:
        """Remove the page that a verdict stored: its item was dropped or failed later on.

        :param verdict: what `judge` returned.
        :raises StoreError: if the store fails.
        """
        self.memory.finish(verdict)
        if verdict.stored:
            self._store.forget(verdict.namespace, verdict.key)


class _Case:
    """A page to be judged beside what a store holds, within one transaction."""

    def __init__(self, judge: Judge, page: StoredPage, view: View, names: Names) -> None:
        self._page, self._view, self._names = page, view, names
        self._options, self._answers, self._memory = judge.options, judge.answers, judge.memory
        self._previous = view.same_key()
        view.one_site = self._options.scope == "site"

    def decide(self) -> tuple[Action, Verdict]:
        """Unchanged? Edited? Else its twin, one that may go, gives way, is older, or a near miss.

        The first of these that is found; else the page is new. If a known page has become a copy,
        its record is removed; that of a list stays, as its other rows are its own. One that said
        something else before is no copy of what was stored by then, unless they are equal.
        """
        page, previous, originals = self._page, self._previous, self._originals()
        if previous and not originals and self._pair(previous).is_unchanged():
            return Action.RENEW, self._unchanged(previous)
        found: dict[What, Neighbour] = {}
        edited = None if originals else self._edited()
        for neighbour in chain(originals, () if edited else self._neighbours()):
            found.setdefault(what := self._what_is(neighbour), neighbour)
            if what == "twin":
                break
        if twin := found.get("twin") or found.get("may go"):
            is_sure = "twin" in found
            twin = Neighbour(twin.page, twin.reason)
            moves_row = is_sure and page.row_keys is not None and self._came_before(twin.page)
            verdict = self._verdict_near(
                twin, dropped=True, provisional=not is_sure, moves_row=moves_row
            )
            forgets = is_sure and previous and not item_values.is_row(page.item_values)
            return Action.FORGET if forgets else Action.SKIP, verdict
        verdict = verdict_of(page, "new" if page.content is not None else "thin")
        if why := next(filter(found.get, _REASONS_TO_KEEP), None):
            verdict = self._verdict_near(found[why], reason=_REASONS_TO_KEEP[why])
        if before := edited or (previous if verdict.reason != "canonical" else None):
            verdict = replace(verdict, reason="changed", changed=self._changes(before))
        elif why == "older":  # no more is known of what it said then
            verdict = replace(verdict, changed=("text or values since an earlier drop",))
        else:
            self._memory.note_if_back(page, self._view)
        if previous and item_values.is_row(rows := previous.item_values):
            verdict = replace(verdict, known_rows=tuple(item_values.rows_in(rows or b"")))
        return Action.KEEP, verdict

    def _came_before(self, other: StoredPage) -> bool:
        """Whether an earlier run met the page's row there: then its item is out for good."""
        values, its = (one.item_values or NO_VALUES for one in (self._page, other))
        row = item_values.row_of(values)
        return self._memory.is_earlier(other) or item_values.had_row(its, row)

    def _pair(self, other: StoredPage, page: StoredPage | None = None) -> Pair:
        return Pair(page or self._page, other, self._view.repeated_text, self._options)

    def _originals(self) -> list[Neighbour]:
        """Stored pages of which a person called this one a copy; of two stored ones the older."""
        previous = self._previous
        return [
            Neighbour(other, "answer")
            for other in self._answers.copies(self._page, self._view)
            if previous is None
            or (other.first_seen, other.url) < (previous.first_seen, previous.url)
        ]

    def _unchanged(self, previous: StoredPage) -> Verdict:
        page = self._page
        dropped = self._options.unchanged == "drop" or self._memory.is_repeat(page, previous)
        return verdict_of(
            page,
            "unchanged",
            previous,
            dropped=dropped,
            provisional=dropped and self._view.is_unconfirmed(previous),
            gives_values=previous.item_values is None and page.item_values is not None,
        )

    def _edited(self) -> StoredPage | None:
        """A known page that says something else: that comes out, though another says it too.

        It has its template still, and a value of its item has changed, or it is known at another
        address, too, that differs in tracking alone. Of a page that is not known itself, an earlier
        run met all of these. What is stored of such an address since, or was dropped since, has
        come out; and so has what a copy says that came back in this run. Lists have rows instead.
        """
        page, previous = self._page, self._previous
        if any(item_values.is_row(one.item_values) for one in (page, previous) if one):
            return None
        known = self._at_tracking_addresses()
        if previous is not None:
            pair = self._pair(previous)
            if not (pair.in_one_template() and (known or pair.changed_values())):
                return None
            later = (other for other in known if other.first_seen > previous.seen_at)
            is_out = any(self._pair(other).is_unchanged() for other in later)
            return None if is_out or self._is_out_at_a_copy() else previous
        if not known or not all(map(self._memory.is_earlier, known)):
            return None
        when, is_same = self._memory.dropped_before(page, self._view)
        is_out = is_same and when >= max(other.first_seen for other in known)
        is_out = is_out or self._pair(known[-1]).is_unchanged() or self._is_out_at_a_copy()
        return None if is_out else known[-1]

    def _is_out_at_a_copy(self) -> bool:
        """Whether this run kept a copy that says the same, and that an earlier run dropped."""
        found = (one.page for one in self._neighbours() if one.rejected_by is None)
        back = (self._pair(one) for one in found if self._memory.is_back(one))
        return any(pair.of_one_site and pair.items_agree() for pair in back)

    def _at_tracking_addresses(self) -> list[StoredPage]:
        """Other stored pages whose addresses differ from the page's in tracking alone."""
        page = self._page
        known: list[StoredPage] = []
        for at, other in enumerate(islice(self._view.same("address"), _MAX_COMPARED)):
            if is_one_visit(page.url, other.url):
                known.append(other)
            elif at >= MAX_SAME and not known:  # all pages of a site declare one
                break
        return known

    def _changes(self, before: StoredPage) -> tuple[str, ...]:
        """What has changed: fields of the item, or else texts; of a list its rows."""
        if any(item_values.is_row(one.item_values) for one in (self._page, before)):
            return ("rows",)
        pair, gone = self._pair(before), "a value that has gone"
        found = {self._names.get(name, gone) for name in pair.changed_values()}
        return tuple(sorted(found)) or pair.changed_texts()

    def _what_is(self, neighbour: Neighbour) -> What:
        page, other, by = self._page, neighbour.page, neighbour.rejected_by
        if by is not None:
            waits = by == "fields" and item_values.has(page.item_values, item_values.WAITS)
            return "may go" if waits and self._memory.is_unfinished(other) else "near miss"
        if neighbour.reason != "answer":
            if self._takes_place_of(other):
                return "gives way"
            is_other = not self._pair(other).are_equal()
            if is_other and other.first_seen <= self._memory.edited_since(page, self._view):
                return "older"
        return "may go" if self._view.is_unconfirmed(other) else "twin"

    def _verdict_near(self, neighbour: Neighbour, **more: Any) -> Verdict:
        """That on a page near a stored one, with the test that tells them apart, if one does."""
        by, pair = neighbour.rejected_by, self._pair(neighbour.compared or neighbour.page)
        fields = {"reason": neighbour.reason, "rejected_by": by, "similarity": pair.similarity()}
        are_copies = by is None or (by == "fields" and not pair.differing_values())
        if are_copies and neighbour.reason in (*BY_TEXT, "address"):
            more["new_sentences"] = pair.new_sentences()
            more["gone_sentences"] = pair.gone_sentences()
            more["templates"] = pair.templates()
        if by == "page-specific text":
            more["min_similarity"] = pair.min_similarity()
        if by == "fields":
            found = pair.differing_values() or bytes([item_values.TEXTS_NAME])
            more["differing_fields"] = self._named(found)
        elif by is None:
            values = (each.item_values or NO_VALUES for each in (self._page, neighbour.page))
            more["uncounted_fields"] = self._named(item_values.uncounted(*values))
        return verdict_of(self._page, other=neighbour.page, **(fields | more))

    def _named(self, names: bytes) -> tuple[str, ...]:
        return tuple(sorted(self._names[each] for each in names if each in self._names))

    def _takes_place_of(self, twin: StoredPage) -> bool:
        """Whether the page has the address that its twin declares, and the twin hasn't."""
        page = self._page
        if self._options.keep == "first" or (page.site, page.address) != (twin.site, twin.address):
            return False
        return is_declared(page.url, page.address) and not is_declared(twin.url, twin.address)

    def _neighbours(self) -> Iterator[Neighbour]:
        """Stored pages near this one by MATCH and within SCOPE, those near in content by distance.

        First those of its row, which stands for all of it: no test follows. Pages of another name
        come last, as all that is near must be known for them: a text that stands on pages about two
        things, such as a shell or a notice, says nothing of a third one.
        """
        yield from (Neighbour(other, "item") for other in self._with_this_row())
        page, second_look = self._page, self._options.second_look
        found = candidates(page, self._view, self._options)
        text_has_two_names = False
        of_other_names: list[Neighbour] = []
        for other, reason in islice(found, _MAX_COMPARED):
            neighbour = self._tested(other, reason)
            text_has_two_names |= neighbour.rejected_by in ("title", "shared notice")
            is_twin_by_text = neighbour.rejected_by is None and second_look and reason in BY_TEXT
            if is_twin_by_text and self._pair(other).names_differ():
                of_other_names.append(neighbour)
            else:
                yield neighbour
        text_has_two_names |= any(
            self._pair(one.page, of_other_names[0].page).are_two_subjects()
            for one in of_other_names[1:]
        )
        for one in of_other_names:
            yield one._replace(rejected_by="shared notice") if text_has_two_names else one

    def of_row(self) -> Verdict | None:
        """See `Judge.judge_row`."""
        if (other := next(self._with_this_row(), None)) is None:
            return None
        provisional = self._view.is_unconfirmed(other)
        return verdict_of(self._page, "item", other, dropped=True, provisional=provisional)

    def _with_this_row(self) -> Iterator[StoredPage]:
        """Pages of the same template and name that gave the very row, see `names_itself`."""
        if not self._options.second_look:
            return
        for other in islice(self._view.same("row_keys"), MAX_SAME):
            pair = self._pair(other)
            if (
                self._gave_row_out(other)
                and pair.in_one_template()
                and not pair.are_two_subjects()
                and not self._answers.are_other_pages(self._page, other)
            ):
                yield other

    def _gave_row_out(self, other: StoredPage) -> bool:
        """Whether the row came out in this run, or did before, where unchanged pages are dropped.

        A page keeps for one run the rows that it had before it changed.
        """
        values = self._page.item_values or item_values.NO_VALUES
        if self._options.unchanged == "keep":
            return self._memory.gave_out(other, item_values.row_of(values))
        return not item_values.say_more(values, other.item_values) or self._memory.has_seen(other)

    def _tested(self, other: StoredPage, reason: Reason) -> Neighbour:
        """A candidate with the answer or test that rejects it, see twins.py, if any does."""
        if self._answers.are_other_pages(self._page, other):
            return Neighbour(other, reason, "answer")
        # Two pages of a site that differ aren't both copies of one page of another, unless one text
        # was scraped.
        is_settled = not self._options.second_look or self._pair(other).item_texts_are_equal()
        first = None if is_settled else self._memory.first_copy(self._page, other)
        for one in filter(None, (other, first)):
            by = self._pair(one).rejection(reason)
            if by is not None:
                return Neighbour(other, reason, by, one)
        return Neighbour(other, reason)


def stored_page(
    url: str, page: PageFingerprint, options: Options, seen_at: float, said: Said = NOTHING
) -> StoredPage:
    """What a store keeps of a page seen at this Unix time; PageError for a bad URL."""
    seen_at = int(seen_at)  # whole seconds take half the disk space
    key = page_key(url)
    site = site_of(key)  # its host is in lower case, and in ASCII
    own = {
        "url": key,
        "given_url": "" if url == key else url.encode("utf-8", "replace").decode(),
        "namespace": options.namespace,
        "site": site,
        "first_seen": seen_at,
        "seen_at": seen_at,
        "title": page.title[: titles.TITLE_CHARS].encode("utf-8", "replace").decode(),
        "address": address_of(key, page.canonical_url),
        "error_pattern": page.error_pattern if options.error_pages == "drop" else None,
        "item_text": said.text,
        "item_values": said.values,
        "item_sentences": said.sentences,
        "row_keys": item_values.row_keys(said.values, options.namespace, site),
    }
    return StoredPage(**{name: getattr(page, name) for name in _OF_PAGE} | own)
