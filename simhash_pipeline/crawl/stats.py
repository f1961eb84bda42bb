"""What a crawl reports: stats under `simhash/`, log lines, and a summary at the end."""

import logging
import shlex
import time
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from scrapy.crawler import Crawler

from simhash_pipeline import native
from simhash_pipeline.crawl.settings import DIRECTORY
from simhash_pipeline.crawl.worker import JudgedPage
from simhash_pipeline.drop_log import (
    CAUSES,
    REASONS,
    Drop,
    DropMagnets,
    earlier_records,
    host_of,
    late_settings,
)
from simhash_pipeline.options import Options
from simhash_pipeline.stores.contract import shown_url
from simhash_pipeline.stores.opening import store_file, url_of_store
from simhash_pipeline.terminal import counted, printable
from simhash_pipeline.verdict import Verdict

_SHOWN_CHARS = 2_000  # of a URL or message
_COUNTED_REASONS = ("changed", "unchanged", "canonical")  # also of kept pages
_MAGNETS_WARNED = 10  # drop magnets, in one crawl
_MANY_CHANGED = 20  # known pages, of which there are worth a line
_CHANGES_SHOWN = 5  # fields and texts that have changed, those of most pages
_MAX_CHANGES = 1_000  # that are counted
_LINES_SHOWN = 100  # of drops; the rest is logged at DEBUG
# Faults that leave the page judged, or end the crawl.
_NOT_UNJUDGED = ("field", "store")
_DRAWN_PAGES = 3  # of a host, drawn by JavaScript as it seems, that are worth a line
_MAX_HOSTS = 1_000  # whose such pages are counted apart
ADDON_LINE = 'ADDONS = {"simhash_pipeline.Addon": 500}'
_IF_UNEDITED = (
    ". If nobody edited them, and no other fields are scraped than before, these hold what changes "
    "with each visit, as adverts and counters do: scrape texts without, exclude fields "
    "(SIMHASH_ITEM_FIELDS), or give the item the page's own box as its %s"
)


class CrawlStats:
    """Counts verdicts and faults; logs each drop, and the first fault of each kind."""

    def __init__(self, crawler: Crawler, options: Options) -> None:
        self._crawler = crawler
        self._options = options
        self._look = self._of_log = ""  # at the drop log: a command; and its option
        self._whose = " of all namespaces" * bool(options.namespace)  # the store's pages
        self._knows_responses = True
        self.logger = logging.LoggerAdapter(logging.getLogger(__name__), {"spider": crawler.spider})
        kept_as = "would_drop" if options.dry_run else "tagged"
        self._dropping = kept_as if options.keeps_twins else "dropped"
        self._counts: Counter[str] = Counter()
        self._changes: Counter[str] = Counter()  # by field or text of known pages
        self._rejections: Counter[str] = Counter()  # by field or test that kept near pages
        self._logged: set[str] = set()
        self._lines = 0  # of drops, logged one by one
        self._logged_before: set[tuple[str, str | None]] = set()  # URLs of drops, and twins or rows
        self._repeats = 0  # of these
        self._magnets = DropMagnets()
        self._drawn: Counter[str] = Counter()  # by host
        self._interval_secs = crawler.settings.getfloat("LOGSTATS_INTERVAL")
        self._summed_up_at = time.monotonic()

    def open(self, store: str, pages: int, drop_log: Path | None, *, knows_responses: bool) -> None:
        """Log what the crawl begins with: a store of so many pages.

        Sets counts to zero, for monitors that ask for them before the first page.
        """
        self._knows_responses = knows_responses
        for name in ("kept", self._dropping, "errors"):
            self.count(name, 0)
        self._note("store", shown_url(store))
        if drop_log is not None:
            self._note("drop_log", str(drop_log))
            earlier, keeps = earlier_records(drop_log), self._options.keeps_twins
            lines = (one for one in earlier if isinstance(one, Drop) and one.record is None)
            drops = (one for one in lines if one.dry_run == keeps)
            found = ((one.url, one.rows or {"": [one.twin_url or ""]}) for one in drops)
            self._logged_before = {(url, row) for url, of in found for row in chain(*of.values())}
            name = "" if self._crawler.spider is None else self._crawler.spider.name
            is_found = self._options.drop_log == "auto" and drop_log.parent.name == DIRECTORY
            log = f"--spider {shlex.quote(name)}" if is_found else shlex.quote(str(drop_log))
            self._of_log = "" if is_found else f" --log {log}"
            self._look = f"; list them with `scrapy simhash dropped --list {log}`"
            if pages and (late := late_settings(earlier, name, self._options)):
                self.logger.info("%s", late)
        file, known = store_file(url_of_store(store)), f"{counted(pages, 'page')}{self._whose}"
        self.logger.info(
            "simhash_pipeline (%s) %s %s",
            native.kind(),
            f"remembers {known} in" if pages else "begins with an empty store:",
            file.resolve() if file else shown_url(store),
        )
        if self._options.dry_run and self._options.unchanged == "drop":
            self.logger.warning(
                "The pages of this dry run count as known: later crawls drop them as unchanged. "
                "Give it a store of its own, -s SIMHASH_STORE=dry.sqlite, or a copy"
            )
        if native.missing:  # what pip said of it, it has said with -v alone
            said = "Pages are read without %s, which takes longer (`pip install -v` says why)"
            self.logger.info(said, native.missing)

    def count(self, name: str, count: int = 1) -> None:
        """Add to a stat; `not_judged` are items without a page, `unjudged` those at a stop."""
        self._counts[name] += count
        self._crawler.stats.inc_value(f"simhash/{name}", count)

    def count_item(self, judged: JudgedPage, *, is_first: bool) -> None:
        """Count its verdict, and its times if it is the first of its page."""
        verdict, reason = judged.verdict, judged.verdict.reason.replace(" ", "_")
        self.count(self._dropping if verdict.dropped else "kept")
        if verdict.dropped:
            self.count(f"{self._dropping}/{reason}")
        if verdict.dropped or verdict.replaces:
            self._log_drop(verdict)
        if verdict.rejected_by:
            self.count("near_misses")
        if verdict.reason in _COUNTED_REASONS:
            self.count(reason)
        if len(self._changes) + len(self._rejections) < _MAX_CHANGES:
            self._changes.update(verdict.changed)
            fields = [f"{name} differs" for name in verdict.differing_fields]
            self._rejections.update(fields or filter(None, [verdict.rejected_by]))
        if judged.page.content is None:
            self.count("thin")
        if judged.page.cut:
            self.count("cut")
            most = f"{self._options.max_page_bytes:,}"
            said = f"Page truncated at SIMHASH_MAX_PAGE_BYTES ({most}): %s. "
            said += "Further ones are only counted (simhash/cut)."
            self._log_once("cut", said, _shown(verdict.url))
        if is_first:
            add: Any = self._crawler.stats.inc_value
            add("simhash/seconds/fingerprinting", judged.fingerprinting_secs)
            add("simhash/seconds/store", judged.store_secs)
        if 0 < self._interval_secs <= time.monotonic() - self._summed_up_at:
            self._summed_up_at = time.monotonic()
            self.logger.info("Near-duplicates so far: %s", self._summed_up())

    def _log_drop(self, verdict: Verdict) -> None:
        """At DEBUG unchanged pages, drops of an earlier crawl, and what follows 100 lines."""
        is_repeat = (verdict.url, verdict.row or verdict.twin_url) in self._logged_before
        self._repeats += is_repeat
        is_new = verdict.reason != "unchanged" and not is_repeat
        self._lines += is_new
        level = logging.INFO if is_new and self._lines <= _LINES_SHOWN else logging.DEBUG
        self.logger.log(level, drop_line(verdict, self._dropping.replace("_", " ").capitalize()))
        if is_new and self._lines == _LINES_SHOWN:
            place = self._crawler.stats.get_value("simhash/drop_log", "the log at level DEBUG")
            self.logger.info("More drops are in %s", place)

    def count_dropped_page(self, verdict: Verdict) -> None:
        """Once for a page, however many items it has."""
        if verdict.reason in ("error page", "unchanged"):  # there may be any number of them
            return
        if (page := self._magnets.add(verdict.url, verdict.twin_url)) is None:
            return
        self.count("drop_magnets")
        if self._counts["drop_magnets"] <= _MAGNETS_WARNED:
            self.logger.warning(
                "%s. %s (Logged once for such a page, and for %d pages at most; "
                "simhash/drop_magnets counts all)",
                _shown(page.sentence(dry_run=self._options.keeps_twins, of_log=self._of_log)),
                CAUSES,
                _MAGNETS_WARNED,
            )

    def count_drawn(self, url: str) -> None:
        """The item's page has little text, and scripts that seem to draw it."""
        self.count("drawn_by_script")
        host = host_of(url)
        if len(self._drawn) == _MAX_HOSTS and host not in self._drawn:
            return
        self._drawn[host] += 1
        if self._drawn[host] == _DRAWN_PAGES:
            self.logger.warning(
                "%d pages of %s look drawn by JavaScript: render them first (see 'Pages drawn by "
                "JavaScript' in the documentation; simhash/drawn_by_script counts all)",
                _DRAWN_PAGES,
                _shown(host),
            )

    def fault(self, kind: str, message: str, url: object = None) -> None:
        """A page can't be judged, or a field can't be written; the item is kept."""
        self._count_error(kind)
        what = "Field not written of" if kind == "field" else "Kept without judging"
        said = f"{what} %s: %s. Further ones are only counted (simhash/errors/{kind})."
        self._log_once(kind, said, _shown(str(url or "an item without URL")), _shown(message))

    def unexpected(self) -> None:
        """A fault of this package; called within an `except`, for the traceback."""
        self._count_error("unexpected")
        self.logger.exception("A page can't be judged; its item is kept")

    def stopped(self, error: Exception) -> None:
        self._count_error("store")
        self._log_once("store", "Crawl stopped: %s", error, level=logging.CRITICAL)

    @property
    def errors(self) -> dict[str, int]:
        """Faults by kind."""
        counts = self._counts.items()
        return {name[7:]: count for name, count in counts if name.startswith("errors/")}

    def close(self, stored_pages: int | None, expired: int, answers: tuple[int, int]) -> None:
        """Log the summary; None if the store couldn't be asked. `answers`: see `AnsweredPairs`."""
        summary = self._summed_up()
        if expired:
            self._note("expired", expired)
        if stored_pages is not None:
            self._note("store_pages", stored_pages)
            summary = f"{summary}; {counted(stored_pages, 'page')}{self._whose} stored"
        if self._counts[self._dropping] > self._counts[f"{self._dropping}/unchanged"]:
            summary = f"{summary}{self._look}"
        self.logger.info("Near-duplicates: %s", summary)
        if self._repeats:
            said = "Drops as in an earlier crawl: %s (their lines are at level DEBUG)"
            self.logger.info(said, f"{self._repeats:,}")
        if self._options.answers is not None:
            said = f"{counted(answers[0], 'pair')}, {answers[1]:,} met"
            self.logger.info("Answers: %s: %s", self._options.answers, said)
        if near := self._counts["near_misses"]:
            look = self._look.replace("--list", "--kept", 1)
            why = _listed(self._rejections, most=_CHANGES_SHOWN)
            said = f"{near:,} kept though near a stored page{why}"
            self.logger.info("Near misses: %s%s", printable(said), look)
        changed, unchanged = self._counts["changed"], self._counts["unchanged"]
        if changed:
            what = _listed(self._changes, most=_CHANGES_SHOWN)
            said = f"{changed:,} of {changed + unchanged:,} items of known pages have changed{what}"
            are_many = changed > max(unchanged / 2, _MANY_CHANGED)
            said += _IF_UNEDITED % self._options.html_field if are_many else ""
            self.logger.log(logging.WARNING if are_many else logging.INFO, "%s", printable(said))
        unjudged = self._counts["not_judged"]
        judged = self._counts["kept"] + self._counts[self._dropping]
        if unjudged and not (judged or self.errors):
            self.logger.warning(
                "No page was judged: none of %s items holds a page (SIMHASH_HTML_FIELD is %r) or a "
                "text (SIMHASH_CONTENT_FIELD is %r), or came from an HTML response%s",
                f"{unjudged:,}",
                self._options.html_field,
                self._options.content_field,
                "" if self._knows_responses else f"; the add-on knows responses: {ADDON_LINE}",
            )

    def _summed_up(self) -> str:
        counts, dropping = self._counts, self._dropping
        reasons = {
            words: counts[f"{dropping}/{name.replace(' ', '_')}"] for name, words in REASONS.items()
        }
        known = {
            "changed": counts["changed"],
            "unchanged": counts["unchanged"] - counts[f"{dropping}/unchanged"],
            "in place of pages whose address they are": counts["canonical"],
        }
        errors = self.errors.items()
        faults = {kind.replace("_", " "): n for kind, n in errors if kind not in _NOT_UNJUDGED}
        parts = {
            f"kept {counts['kept']:,}{_listed(known)}": True,
            f"{dropping.replace('_', ' ')} {counts[dropping]:,}{_listed(reasons)}": True,
            f"kept {sum(faults.values()):,} that could not be judged{_listed(faults)}": faults,
            f"kept {counts['not_judged']:,} without a page": counts["not_judged"],
            f"kept {counts['unjudged']:,} unjudged": counts["unjudged"],
        }
        return ", ".join(part for part, is_shown in parts.items() if is_shown)

    def _count_error(self, kind: str) -> None:
        self.count("errors")
        self.count(f"errors/{kind}")

    def _log_once(
        self, kind: str, message: str, *values: object, level: int = logging.WARNING
    ) -> None:
        if kind not in self._logged:
            self._logged.add(kind)
            self.logger.log(level, message, *values)

    def _note(self, name: str, value: object) -> None:
        self._crawler.stats.set_value(f"simhash/{name}", value)


def drop_line(verdict: Verdict, verb: str = "Dropped") -> str:
    """One line for people: both URLs, the reason, and the distances in bits, or the row."""
    near = {"content": verdict.content_distance, "structure": verdict.structure_distance}
    distances = ", ".join(f"{name} {bits}" for name, bits in near.items() if bits is not None)
    by_distance = verdict.reason in ("content", "structure", "content and structure")
    of_none = verdict.reason in ("thin", "error page")
    reason = "" if by_distance else verdict.reason
    detail = ": ".join(filter(None, (reason, "" if of_none else distances)))
    url, twin_url = _shown(verdict.url), _shown(verdict.twin_url or "")
    if verdict.replaces:
        return f"Kept {url} in place of {twin_url}: it is that page's address"
    if verdict.reason == "unchanged":
        return f"{verb} unchanged {url}"
    if verdict.row:
        return f"{verb} a row of {url}, as on {twin_url}: {_shown(verdict.row)}"
    return f"{verb} near-duplicate {url} of {twin_url} ({detail})"


def _listed(counts: Mapping[str, int], most: int | None = None) -> str:
    """In brackets, those that are not 0, the largest first, and "…" for what is left out."""
    parts = [f"{count:,}: {words}" for words, count in Counter(counts).most_common() if count]
    shown = [*parts[:most], *["…"] * (most is not None and len(parts) > most)]
    return f" ({'; '.join(shown)})" if shown else ""


def _shown(text: str) -> str:
    """Text from outside, made safe for a terminal, and cut so that it doesn't fill the log."""
    return printable(text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}...")
