"""What a run holds in memory: its own verdicts, and visits on their way to the store."""

from math import inf

from simhash_pipeline.item_values import WAITS, has, is_row, names_itself, row_of, say_more
from simhash_pipeline.stores.contract import StoredPage, View, Visit, visit_key
from simhash_pipeline.twins import says_the_same, what_it_says
from simhash_pipeline.urls import site_of
from simhash_pipeline.verdict import Verdict

_MANY_VISITS = 1_000  # are written together: a killed crawl may lose these
_MAX_ROWS = 500_000  # of which it is remembered that they came out: some 40 MB
_MAX_COPIES = 10_000  # on other sites, of which the first is remembered: some 10 MB

Key = tuple[str, str]  # namespace, canonical URL


class RunMemory:
    """Which pages this run stored, which lists are unfinished, and which copy was a site's first.

    `began`: Unix seconds, from which on a stored page is one of this run; None: no page is.
    """

    def __init__(self, began: float | None) -> None:
        self._began = None if began is None else int(began)
        self._stored_at_once = set[int]()  # hashes of keys stored in the second it began
        self.visits: dict[bytes, Visit] = {}  # by key; not written
        self._lists = set[Key]()  # pages whose further rows aren't known yet
        self._back = set[int]()  # hashes of keys that an earlier run dropped, and this one keeps
        self._rows = set[int]()  # hashes of rows that came out, each with its page's key
        # The first page of a site that was dropped for one of another: by namespace, site and key.
        self._first_copies: dict[tuple[str, str, str], StoredPage] = {}

    def note(self, page: StoredPage, verdict: Verdict) -> bool:
        """Note a judged page; whether there are many visits to write."""
        if verdict.dropped:
            self._note_copy(page, verdict.twin_key or "")
        elif page.row_keys and page.item_values:
            self.note_row((page.namespace, page.url), row_of(page.item_values))
        is_visit = self._began and verdict.dropped and verdict.reason != "unchanged"
        if is_visit and (said := what_it_says(page)) is not None:
            key = visit_key(page.namespace, page.url)
            self.visits.setdefault(key, Visit(page.namespace, key, said, page.seen_at))
        if verdict.stored and has(page.item_values, WAITS):
            self._lists.add((page.namespace, page.url))
        if verdict.stored and page.first_seen == self._began:
            self._stored_at_once.add(hash((page.namespace, page.url)))
        return len(self.visits) >= _MANY_VISITS

    def note_row(self, page: Key, row: bytes) -> None:
        """Note that the page's row is kept, if that names itself."""
        if len(self._rows) >= _MAX_ROWS:
            self._rows.clear()  # copies of these will be kept
        if names_itself(row):
            self._rows.add(hash((page, row)))

    def gave_out(self, page: StoredPage, row: bytes) -> bool:
        """Whether the row came out on that page in this run.

        The store knows also rows of an earlier run, and those that were dropped for other pages.
        """
        return hash(((page.namespace, page.url), row)) in self._rows

    def has_seen(self, page: StoredPage) -> bool:
        """Whether the page was stored, or found as it was, in this run."""
        is_first = hash((page.namespace, page.url)) in self._stored_at_once
        return is_first or (self._began is not None and page.seen_at > self._began)

    def is_earlier(self, page: StoredPage) -> bool:
        """Whether the page is of an earlier run alone."""
        return self._began is not None and not self.has_seen(page)

    def edited_since(self, page: StoredPage, view: View) -> float:
        """When it said something else: as it is stored, or an earlier run dropped it; else -inf.

        In one run two items may say two things of a page; rows are known by themselves.
        """
        if (previous := view.same_key()) is not None:
            has_rows = is_row(page.item_values) or is_row(previous.item_values)
            return -inf if has_rows else previous.seen_at
        when, is_same = self.dropped_before(page, view)
        return -inf if is_same else when

    def dropped_before(self, page: StoredPage, view: View) -> tuple[float, bool]:
        """When an earlier run dropped the page, -inf if none did, and whether it said the same."""
        is_first = bool(self._began) and visit_key(page.namespace, page.url) not in self.visits
        visit = view.last_visit() if is_first else None
        if visit is None or visit.seen_at >= (self._began or 0) or not (said := what_it_says(page)):
            return -inf, False
        return visit.seen_at, says_the_same(said, visit.said)

    def note_if_back(self, page: StoredPage, view: View) -> None:
        """Note a page that is kept, if an earlier run dropped it, and it says more now."""
        when, is_same = self.dropped_before(page, view)
        if when > -inf and not is_same and len(self._back) < _MAX_ROWS:
            self._back.add(hash((page.namespace, page.url)))

    def is_back(self, page: StoredPage) -> bool:
        return hash((page.namespace, page.url)) in self._back

    def is_repeat(self, page: StoredPage, previous: StoredPage) -> bool:
        """Whether the page was stored in this run, and its item brings nothing."""
        if self._began is None or say_more(page.item_values, previous.item_values):
            return False
        is_first = hash((previous.namespace, previous.url)) in self._stored_at_once
        return is_first or previous.first_seen > self._began

    def is_unfinished(self, page: StoredPage) -> bool:
        """Whether the page is a list whose further rows will be added."""
        return (page.namespace, page.url) in self._lists

    def finish(self, verdict: Verdict) -> None:
        self._lists.discard((verdict.namespace, verdict.key))

    def first_copy(self, page: StoredPage, original: StoredPage) -> StoredPage | None:
        """Another page of the page's site that was dropped for this one of another site."""
        copy = self._first_copies.get((page.namespace, page.site, original.url))
        return None if copy is None or copy.url == page.url else copy

    def _note_copy(self, page: StoredPage, twin_key: str) -> None:
        if page.sample is None or not twin_key or site_of(twin_key) == page.site:
            return
        if len(self._first_copies) >= _MAX_COPIES:
            del self._first_copies[next(iter(self._first_copies))]
        self._first_copies.setdefault((page.namespace, page.site, twin_key), page)
