"""`simhash judge`: a page a line on standard input, a verdict a line on standard output."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from simhash_pipeline.cli.command import Command
from simhash_pipeline.errors import PageError, StoreError
from simhash_pipeline.item_values import said_by, with_values
from simhash_pipeline.judge import Judge
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.page.reader import SMALL_PAGE_BYTES, Readers
from simhash_pipeline.page.source import Source, item_source, page_field
from simhash_pipeline.stores.opening import open_store
from simhash_pipeline.urls import page_key
from simhash_pipeline.verdict import Verdict

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import BinaryIO

    from scrapy.settings import BaseSettings

    from simhash_pipeline.stores.contract import Store

# Longer lines are skipped without being held: a page is read up to MAX_PAGE_BYTES, of 5 MB, and
# JSON may write six characters for one.
MAX_LINE_BYTES = 64_000_000
# Fields of a verdict that are keys of its line.
_VERDICT_KEYS = (
    *("url", "dropped", "reason", "twin_url", "content_distance", "structure_distance"),
    *("sketch_distance", "similarity", "rejected_by"),
)


class JudgeCommand(Command):
    prints_json = False
    epilog = (
        'Each line is an object with "url" and "html", or with "text" and "title" instead of the '
        "HTML. Each has one line of answer, in order and at once: a verdict, or an error with its "
        "message. Exit code 0 also after errors of single lines."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            *("-S", "--store"),
            help="an SQLite file or the URL of a store, made if there is none (default: "
            "SIMHASH_STORE if it is set, else memory:, which is gone at the end)",
        )
        parser.add_argument(
            "--tentative",
            action="store_true",
            help='a kept page counts as seen only after a line {"confirm": its URL}; '
            '{"forget": its URL} removes it, and so does the end',
        )

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        options = Options.from_settings(settings)
        own_store = "memory:" if options.has_own_store else options.store
        if sys.stdin.isatty():
            print("reading pages as JSON lines from the terminal; Ctrl-D ends", file=sys.stderr)
        with ExitStack() as opened:
            store = opened.enter_context(open_store(arguments.store or own_store, tentative=True))
            judge = _LineJudge(store, options, opened)
            for line in _lines(sys.stdin.buffer):
                # In ASCII: Node's readline ends a line at U+2028 too.
                print(json.dumps(judge.answer(line)), flush=True)
                if not arguments.tentative:  # killed before, it forgets what wasn't answered
                    judge.confirm_all()
        return 0


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Each line; None for one that is too long."""
    while line := file.readline(MAX_LINE_BYTES):
        if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES)
        yield None


class _LineJudge:
    """Answers lines. Kept pages are tentative until they are confirmed."""

    def __init__(self, store: Store, options: Options, opened: ExitStack) -> None:
        self._options = options
        self._text_options = dataclasses.replace(
            options, content_field=options.content_field or "text"
        )
        self._fingerprinter = Fingerprinter(options)
        self._readers = Readers(options, self._fingerprinter, is_closing=lambda: False)
        opened.callback(self._readers.close)
        self._judge = Judge(store, options)
        self._pending: dict[str, Verdict] = {}  # verdicts that stored a page, by its URL
        if options.expire_after is not None:
            store.expire(time.time() - options.expire_after)

    def answer(self, line: bytes | None) -> dict[str, Any]:
        """The line of answer; StoreError if the store fails."""
        record: dict[str, Any] = {}
        try:
            record = _record(line)
            for word, settle in (("confirm", self._judge.confirm), ("forget", self._judge.forget)):
                if word in record:
                    verdict = self._taken(record[word])
                    settle(verdict)
                    return {"url": verdict.url, "done": word}
            return self._verdict_on(record)
        except StoreError:
            raise
        except PageError as error:
            kind, message = error.kind, str(error)
        except Exception as error:  # a fault of ours must not cost the lines that follow
            kind, message = "unexpected", repr(error)
        return {"url": record.get(self._options.url_field), "error": kind, "message": message}

    def confirm_all(self) -> None:
        """Confirm the pages that are stored and not yet confirmed."""
        for verdict in self._pending.values():
            self._judge.confirm(verdict)
        self._pending.clear()

    def _taken(self, url: object) -> Verdict:
        verdict = self._pending.pop(page_key(url), None) if isinstance(url, str) else None
        if verdict is None:
            raise PageError("not_pending", f"no kept page of the URL {url!r} is to be confirmed")
        return verdict

    def _verdict_on(self, record: dict[str, Any]) -> dict[str, Any]:
        has_page = record.get(page_field(self._options)) is not None
        source = item_source(record, self._options if has_page else self._text_options)
        page = self._read(source)
        said = said_by(page, with_values(source, record, self._options))
        verdict = self._judge.judge(source.url, page, said)
        if verdict.stored:
            self._pending[verdict.url] = verdict
        answer = {key: getattr(verdict, key) for key in _VERDICT_KEYS}
        is_provisional = verdict.provisional or (verdict.dropped and self._is_pending(verdict))
        return {**answer, "provisional": is_provisional}

    def _is_pending(self, verdict: Verdict) -> bool:
        """Whether the stored page that it is dropped for may yet be forgotten by this process."""
        return verdict.twin_url in self._pending

    def _read(self, source: Source) -> PageFingerprint:
        """As a crawl reads it: what may take long in a process that has limits."""
        if self._options.reads_beside or len(source.html) > SMALL_PAGE_BYTES:
            return self._readers.read(source).result()[0]
        return self._fingerprinter.read(source)


def _record(line: bytes | None) -> dict[str, Any]:
    if line is None:
        raise PageError("too_long", f"the line has more than {MAX_LINE_BYTES:,} bytes")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise PageError("no_json", f"the line is no JSON: {error}") from None
    if not isinstance(record, dict):
        raise PageError("no_json", f"the line is no JSON object, but a {type(record).__name__}")
    return record
