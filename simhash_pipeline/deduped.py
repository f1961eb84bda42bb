"""`dedupe`: the pages or texts of any Python source, without near-duplicates of earlier ones."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar, cast

from simhash_pipeline.errors import PageError, StoreError
from simhash_pipeline.items import said_by, with_values
from simhash_pipeline.judge import Judge
from simhash_pipeline.options import Options, OptionValue
from simhash_pipeline.page.fingerprint import Fingerprinter
from simhash_pipeline.page.reader import Readers
from simhash_pipeline.page.source import Source, item_source, item_url, markup, page_field
from simhash_pipeline.verdict import Verdict

logger = logging.getLogger(__name__)
T = TypeVar("T")
_MISSING = ("NAType", "NaTType")  # what pandas has for None, and compares with nothing


class Deduped(Iterator[T]):
    """An iterator of the pages to keep, and the counts so far; a page is read when it is asked for.

    It can be iterated once, and closes its store at the end.
    """

    def __init__(self, kept: Callable[[Deduped[T]], Iterator[T]]) -> None:
        self.kept = 0
        self.dropped = Counter[str]()  # near-duplicates, by reason
        self.unread = Counter[str]()  # of the kept ones, those that can't be judged, by kind
        self._pages = kept(self)

    def __next__(self) -> T:
        page = next(self._pages)
        self.kept += 1
        return page


def dedupe(
    pages: Iterable[T],
    options: Options | None = None,
    *,
    store: str = "memory:",
    on_drop: Callable[[T, Verdict], object] | None = None,
    **named: OptionValue,
) -> Deduped[T]:
    """The pages that are no near-duplicates of earlier ones, as they are and in their order.

    :param pages: dicts or named tuples with `url` and `html` or `text`; pairs of URL and page;
        pages alone: HTML, a soup or tree, or text, which doesn't begin with "<"; or a DataFrame.
        A page without a URL is called row:0 by its place.
    :param options: see `Options`.
    :param store: what `open_store` opens.
    :param on_drop: called with each dropped page and its verdict.
    :param named: options by name, such as `content_field="body"`.
    :return: an iterator of the pages to keep. What can't be judged (None, NaN, "") is among them.
    :raises OptionsError: for bad options.
    :raises StoreError: if the store fails, or was made with other options.
    """
    if isinstance(pages, (str, bytes, Mapping)):
        raise TypeError("pages must be a list or another iterable of pages, not one page")
    chosen = replace(options or Options(), **cast("dict[str, Any]", named))
    rows = pages.itertuples() if hasattr(pages, "itertuples") else pages
    if hasattr(pages, "iter_rows"):  # a DataFrame of polars, which iterates over its columns
        rows = pages.iter_rows(named=True)
    # In a store that stays, rows of another day have other names.
    prefix = "row:" if store == "memory:" else f"row:{time.time_ns()}-"

    reader = Fingerprinter(chosen)

    def kept(counts: Deduped[T]) -> Iterator[T]:
        readers = Readers(chosen, reader, is_closing=lambda: False)
        with Judge(store, chosen, repeats_since=0) as judge, closing(readers):
            for number, page in enumerate(rows):
                try:
                    source = _source(page, f"{prefix}{number}", chosen)
                    read = readers.fingerprint(source)
                    verdict = judge.judge(source.url, read, said_by(read, source))
                except StoreError:
                    raise
                except Exception as error:  # one bad row must not cost the others
                    counts.unread[getattr(error, "kind", "unexpected")] += 1
                    yield page
                    continue
                if verdict.dropped:
                    counts.dropped[verdict.reason] += 1
                    if on_drop is not None:
                        on_drop(page, verdict)
                else:
                    yield page
        if counts.unread and counts.unread.total() == counts.kept + counts.dropped.total():
            logger.warning(
                "None of %d pages could be judged: name their column by html_field or "
                "content_field",
                counts.kept,
            )

    return Deduped(kept)


def _source(page: Any, row: str, options: Options) -> Source:
    """PageError when there is nothing to judge."""
    if hasattr(page, "_asdict"):
        is_of_frame = type(page).__name__ == "Pandas"  # it numbers its rows
        page = {n: v for n, v in page._asdict().items() if n != "Index" or not is_of_frame}
    if isinstance(page, Mapping):
        return record_source(page, options, row)
    url, held = page if isinstance(page, tuple) and len(page) == 2 else (None, page)
    if not (html := markup(held)):
        found = "empty" if html is not None else type(held).__name__
        raise PageError("no_html", f"{row} is not a page but {found}")
    is_text = isinstance(held, str) and not held.lstrip().startswith("<")
    return Source(html, url if url and isinstance(url, str) else row, is_text=is_text)


def record_source(record: Mapping[str, Any], options: Options, url: str | None = None) -> Source:
    """The page of a record, or else its text, in CONTENT_FIELD or `text`, and its other values.

    `url` is for a record that has none. PageError as in `item_source`.
    """
    held = {name: value for name, value in record.items() if not _is_missing(value)}
    if url is not None and not item_url(held, options):
        held[options.url_field] = url
    has_page = page_field(options) in held
    source = item_source(held, options if has_page else _with_text(options))
    return with_values(source, held, options)


@lru_cache(maxsize=8)
def _with_text(options: Options) -> Options:
    return replace(options, content_field=options.content_field or "text")


def _is_missing(value: object) -> bool:
    """Whether it is what a table has where there is no value: None, "", NaN, NA or NaT."""
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in _MISSING or (type(value) is str and value == "")
