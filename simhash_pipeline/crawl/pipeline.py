"""The Scrapy item pipeline: items in, kept items out, near-duplicates dropped. No decisions."""

from __future__ import annotations

import contextlib
import logging
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from itemadapter import ItemAdapter
from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.project import data_path

from simhash_pipeline.drop_log import DropLog
from simhash_pipeline.errors import DropLogError, PageError, SimhashError, StoreError
from simhash_pipeline.index.store import open_store
from simhash_pipeline.judge import Judge, Verdict
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint

logger = logging.getLogger(__name__)


class NearDuplicate(DropItem):
    """The item's page is a near-duplicate of a stored one; `verdict` says of which and how near."""

    def __init__(self, verdict: Verdict) -> None:
        # The pipeline has logged a line of its own: Scrapy's would print the item, page and all.
        super().__init__(drop_line(verdict), log_level="NOTSET")
        self.verdict = verdict


class SimhashPipeline:
    """Keeps each page once.

    OptionsError for bad settings; StoreError or DropLogError when a file can't be used.
    """

    def __init__(self, crawler: Crawler, options: Options) -> None:
        self._crawler = crawler
        self._options = options
        self._fingerprinter = Fingerprinter(options)
        self._files = contextlib.ExitStack()
        self._said: set[str] = set()
        self._stopping = False
        # Items whose pages were stored and which later pipelines have in hand, with their URLs, by
        # the item's id; holding the item keeps the id from being used again.
        self._in_hand: dict[int, tuple[Any, Verdict, str | None]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SimhashPipeline:
        with _told():
            options = Options.from_settings(crawler.settings)
            if not options.enabled:
                raise NotConfigured("SIMHASH_ENABLED is False")
            pipeline = cls(crawler, options)
        crawler.signals.connect(pipeline._exported, signals.item_scraped)
        crawler.signals.connect(pipeline._lost, signals.item_dropped)
        crawler.signals.connect(pipeline._lost, signals.item_error)
        return pipeline

    def open_spider(self) -> None:
        options, name = self._options, self._spider.name
        with _told(), contextlib.ExitStack() as files:
            store = files.enter_context(open_store(self._store_url(name), options.index))
            self._note("store", self._store_url(name))
            if options.expire_after_secs is not None:
                store.expire(time.time() - options.expire_after_secs)
            self._judge = Judge(store, options)
            self._drop_log = None
            if options.drop_log is not None:
                log = DropLog(
                    self._log_path(name), run=uuid.uuid4().hex, spider=name, options=options
                )
                self._drop_log = files.enter_context(contextlib.closing(log))
                self._note("drop_log", str(log.path))
            self._files = files.pop_all()
        # Loads the dictionaries of words and charsets now, not while the first page waits.
        self._fingerprinter.fingerprint("<p>中文</p>".encode("gb18030"))

    def process_item(self, item: Any) -> Any:
        adapter = ItemAdapter(item)
        judged = self._judged(adapter)
        if judged is None:
            return item
        page, verdict = judged
        self._count_verdict(verdict, page)
        if verdict.dropped and not self._options.dry_run:
            logger.info(drop_line(verdict), extra={"spider": self._spider})
            raise NearDuplicate(verdict)
        if verdict.stored:
            self._in_hand[id(item)] = (item, verdict, page.url)
        self._write_fields(adapter, page)
        return item

    def close_spider(self) -> None:
        self._files.close()

    def _judged(self, adapter: ItemAdapter) -> tuple[PageFingerprint, Verdict] | None:
        """The item's page and the verdict on it; None, counted and told, when there is no page."""
        try:
            html, url, charset = _page_fields(adapter, self._options)
            page = self._fingerprinter.fingerprint(html, url, charset)
            verdict = self._judge.judge(url, page)
            if verdict.dropped and self._drop_log is not None:
                self._drop_log.write(verdict, page)
        except PageError as error:
            self._count_fault(error.kind, str(error), adapter.get(self._options.url_field))
        except (StoreError, DropLogError) as error:
            self._stop(error)
        except Exception:  # a fault of ours must not cost the user the item
            logger.exception("A page can't be judged", extra={"spider": self._spider})
            self._count("errors/unexpected")
        else:
            return page, verdict
        return None

    def _write_fields(self, adapter: ItemAdapter, page: PageFingerprint) -> None:
        digits = self._options.bits // 4
        content = None if page.content is None else f"{page.content:0{digits}x}"
        for field, value in (
            (self._options.text_field, page.text),
            (self._options.fingerprint_field, content),
        ):
            if field is None:
                continue
            try:
                adapter[field] = value
            except (KeyError, AttributeError, TypeError, ValueError) as error:
                self._count_fault("field", f"the item takes no field {field!r}: {error}")

    def _exported(self, item: Any) -> None:
        self._take_from_hand(item)

    def _lost(self, item: Any) -> None:
        """Forget a dropped or failed item's page: it was not exported, so it has no twins."""
        verdict = self._take_from_hand(item)
        if verdict is None:
            return
        try:
            self._judge.forget(verdict)
        except StoreError as error:
            self._stop(error)

    def _take_from_hand(self, item: Any) -> Verdict | None:
        """The verdict that stored the item's page.

        Found by the object, or by its URL where a pipeline has put another object in its place.
        """
        found = self._in_hand.pop(id(item), None)
        if found is None and self._in_hand:
            url = ItemAdapter(item).get(self._options.url_field)
            same = [key for key, (_, _, other) in self._in_hand.items() if other == url]
            found = self._in_hand.pop(same[0]) if same else None
        return found[1] if found else None

    def _stop(self, error: Exception) -> None:
        """Close the crawl, once, saying why; the items in flight are kept unjudged."""
        self._count("errors/store")
        if not self._stopping:
            self._stopping = True
            logger.critical("Crawl stopped: %s", error, extra={"spider": self._spider})
            engine = self._crawler.engine
            deferred_from_coro(engine.close_spider_async(reason="simhash_store_failed"))

    def _count_verdict(self, verdict: Verdict, page: PageFingerprint) -> None:
        reason = verdict.reason.replace(" ", "_")
        if verdict.dropped:
            would = "would_drop" if self._options.dry_run else "dropped"
            self._count(would)
            self._count(f"{would}/{reason}")
        else:
            self._count("kept")
            self._count(f"kept/{reason}")
        if page.content is None:
            self._count("thin")

    def _count_fault(self, kind: str, message: str, url: object = None) -> None:
        """Count a page that can't be judged, or a field not written; the item is kept."""
        self._count(f"errors/{kind}")
        if kind not in self._said:
            self._said.add(kind)
            logger.warning(
                "Kept without judging, as %s: %s (more are only counted: simhash/errors/%s)",
                message,
                url or "no URL",
                kind,
                extra={"spider": self._spider},
            )

    def _count(self, name: str) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"simhash/{name}")

    def _note(self, name: str, value: str) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.set_value(f"simhash/{name}", value)

    def _store_url(self, spider_name: str) -> str:
        if self._options.store != "auto":
            return self._options.store
        return f"sqlite:///{_data_file(spider_name, '.sqlite').as_posix()}"

    def _log_path(self, spider_name: str) -> Path:
        given = self._options.drop_log
        return _data_file(spider_name, ".drops.jsonl") if given in (None, "auto") else Path(given)

    @property
    def _spider(self) -> Spider:
        spider = self._crawler.spider
        if spider is None:
            raise RuntimeError("the crawler has no spider yet")
        return spider


def drop_line(verdict: Verdict) -> str:
    """One line for people: both URLs and what is near, in bits."""
    near = {
        "content": verdict.content_distance,
        "structure": verdict.structure_distance,
    }
    told = ", ".join(f"{name} {bits}" for name, bits in near.items() if bits is not None)
    detail = verdict.reason if verdict.reason in ("thin", "unchanged") else told
    return f"Dropped near-duplicate {verdict.url} of {verdict.twin_url} ({detail})"


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Says in one line why a crawl can't start; Scrapy's traceback follows."""
    try:
        yield
    except SimhashError as error:
        logger.critical("Crawl not started: %s", error)
        raise


def _data_file(spider_name: str, suffix: str) -> Path:
    """A spider's file in Scrapy's data directory (.scrapy/simhash/ in a project)."""
    name = f"simhash/{quote(spider_name, safe='')}{suffix}"
    try:
        path = Path(data_path(name))
    except NotConfigured:  # a project by SCRAPY_SETTINGS_MODULE alone, without a scrapy.cfg
        path = Path(".scrapy", name)
    return path.resolve()


def _page_fields(adapter: ItemAdapter, options: Options) -> tuple[bytes | str, str, str | None]:
    """Page, URL and charset of an item; PageError unless it holds the first two."""
    html, url = adapter.get(options.html_field), adapter.get(options.url_field)
    charset = adapter.get(options.charset_field)
    if html is None:
        raise PageError("no_html", f"the item has no page in its field {options.html_field!r}")
    if not isinstance(html, (bytes, str)):
        found = type(html).__name__
        raise PageError("wrong_type", f"field {options.html_field!r} holds {found}, not a page")
    if not isinstance(url, str) or not url:
        raise PageError("no_url", f"the item has no URL in its field {options.url_field!r}")
    return html, url, charset if isinstance(charset, str) else None
