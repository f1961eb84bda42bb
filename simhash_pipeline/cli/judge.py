"""`simhash judge | dedup`: pages that no crawl of Scrapy brings, a line each or in archives."""

import json
import shlex
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from simhash_pipeline.archive import INPUTS, KEEP
from simhash_pipeline.archive.feeds import MAX_ROW_BYTES, pieces
from simhash_pipeline.cli.command import Command, fields
from simhash_pipeline.cli.simhash import Parser
from simhash_pipeline.deduped import record_source
from simhash_pipeline.drop_log import DropLog
from simhash_pipeline.errors import ArchiveError, DropLogError, PageError, StoreError
from simhash_pipeline.items import said_by
from simhash_pipeline.judge import Judge
from simhash_pipeline.kept_texts import TextBuffer
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter
from simhash_pipeline.page.reader import Readers
from simhash_pipeline.stores.contract import Store
from simhash_pipeline.stores.opening import open_store
from simhash_pipeline.terminal import Grid, Line
from simhash_pipeline.urls import page_key
from simhash_pipeline.verdict import Verdict

# Of a line, by its commas and brackets, in texts too: each takes some 80 bytes of memory.
MAX_VALUES = 2_000_000
# Fields of a verdict that are keys of its line.
_VERDICT_KEYS = (
    *("url", "dropped", "reason", "twin_url", "content_distance", "structure_distance"),
    *("sketch_distance", "similarity", "rejected_by"),
)
_NO_VALUES = (
    "No item values: pages that differ in little but a price or a date may be dropped.",
    "JSON Lines, a feed or a Parquet file that also have the scraped fields keep them.",
)


class JudgeCommand(Command):
    epilog = (
        'Each line is an object with "url" and "html", or with "text" and "title" instead of the '
        "HTML. Each gets one line of answer, in order and at once: a verdict, or an error with its "
        "message. Exit code 0 also after errors of single lines."
    )

    def add_arguments(self, parser: Parser) -> None:
        parser.add("pages", "a file (default: standard input)", nargs="?")
        parser.add(
            "-S, --store",
            "an SQLite file or the URL of a store, made if there is none (default: SIMHASH_STORE "
            "if it is set, else memory:, which is gone at the end)",
        )
        parser.flag(
            "--tentative",
            'a kept page counts as seen only after a line {"confirm": its URL}; the line '
            '{"forget": its URL} and the end of the command remove it',
        )
        what = "append drops and near misses to this file, for `dropped`, `report` and `explain`"
        parser.add("--drop-log", what, type=Path, metavar="FILE")

    def run(self) -> int:
        arguments, options = self.arguments, self.options
        own_store = "memory:" if options.store == "auto" else options.store
        with ExitStack() as opened:
            store = opened.enter_context(open_store(arguments.store or own_store, tentative=True))
            log = None
            if arguments.drop_log is not None:
                names = {"run": uuid.uuid4().hex, "spider": arguments.drop_log.name.split(".")[0]}
                log = DropLog(arguments.drop_log, **names, options=options)
                opened.callback(log.close)
            judge = _LineJudge(store, options, opened, log)
            file: BinaryIO = sys.stdin.buffer
            if arguments.pages not in (None, "-"):
                file = opened.enter_context(Path(arguments.pages).open("rb"))
            for line, is_whole in pieces(file):
                if is_whole is None:  # the rest of a line that is too long
                    continue
                # In ASCII: Node's readline ends a line at U+2028 too.
                print(json.dumps(judge.answer(line if is_whole else None)), flush=True)
                if not arguments.tentative:  # killed before, it forgets what wasn't answered
                    judge.confirm_all()
            if judge.drops_without_values:
                print(*_NO_VALUES, sep="\n", file=sys.stderr)
        return 0


class _LineJudge:
    """Answers lines. Kept pages are tentative until they are confirmed."""

    def __init__(
        self, store: Store, options: Options, opened: ExitStack, log: DropLog | None
    ) -> None:
        self.drops_without_values = False
        self._options = options
        self._log = log
        self._errors = Counter[str]()
        self._texts = TextBuffer(store)
        if log is not None:
            opened.callback(log.write_run, self._errors)
        opened.callback(self._texts.write)
        self._readers = Readers(options, Fingerprinter(options), is_closing=lambda: False)
        opened.callback(self._readers.close)
        self._judge = opened.enter_context(Judge(store, options, repeats_since=time.time()))
        self._pending: dict[str, Verdict] = {}  # verdicts that stored a page, by its key
        if options.expire_after is not None:
            store.expire(time.time() - options.expire_after, options.namespace)

    def answer(self, line: bytes | None) -> dict[str, Any]:
        """The line of answer; StoreError or DropLogError if store or log fails."""
        record: dict[str, Any] = {}
        try:
            record = _record(line)
            for word, settle in (("confirm", self._judge.confirm), ("forget", self._judge.forget)):
                if word in record:
                    verdict = self._taken(record[word])
                    settle(verdict)
                    return {"url": verdict.url, "done": word}
            return self._verdict_on(record)
        except (StoreError, DropLogError):
            raise
        except PageError as error:
            kind, message = error.kind, str(error)
        except Exception as error:  # a fault of ours must not cost the lines that follow
            kind, message = "unexpected", repr(error)
        self._errors[kind] += 1
        url = record.get(self._options.url_field)
        return {"url": url if isinstance(url, str) else None, "error": kind, "message": message}

    def confirm_all(self) -> None:
        """Confirm the pages that are stored and not yet confirmed."""
        for verdict in self._pending.values():
            self._judge.confirm(verdict)
        self._pending.clear()

    def _taken(self, url: object) -> Verdict:
        verdict = self._pending.pop(page_key(url), None) if isinstance(url, str) else None
        if verdict is None:
            raise PageError("not_pending", f"no kept page of {url!r} waits to be confirmed")
        return verdict

    def _verdict_on(self, record: dict[str, Any]) -> dict[str, Any]:
        source = record_source(record, self._options)
        page = self._readers.fingerprint(source)
        said = said_by(page, source)
        verdict = self._judge.judge(source.url, page, said)
        self.drops_without_values |= verdict.dropped and not (said.text or said.names)
        if self._log is not None:
            self._log.write(verdict, page)
            self._log.count(verdict.reason, kept=not verdict.dropped)
        if self._options.keep_text:
            self._texts.add(verdict, page, source.item)
            self._texts.write_many()
        if verdict.stored:
            self._pending[verdict.key] = verdict
        # The page that it is dropped for may yet be forgotten, by this process too.
        is_pending = verdict.dropped and verdict.twin_key in self._pending
        return fields(verdict, *_VERDICT_KEYS) | {"provisional": verdict.provisional or is_pending}


def _record(line: bytes | None) -> dict[str, Any]:
    if line is None:
        raise PageError("too_long", f"the line has more than {MAX_ROW_BYTES:,} bytes")
    if len(line) > MAX_VALUES and sum(map(line.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise PageError("too_long", f"the line has over {MAX_VALUES:,} commas and brackets")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise PageError("no_json", f"the line is not JSON: {error}") from None
    if not isinstance(record, dict):
        raise PageError("no_json", f"the line is not a JSON object but a {type(record).__name__}")
    return record


class DedupCommand(Command):
    epilog = (
        "Needs the extra `archive`. The settings are those of a crawl. "
        "The result has a row for each page: url, kept, reason, group, twin_url, distances and "
        "fingerprints. A drop log next to it is for `dropped`, `report` and `explain`."
    )

    def add_arguments(self, parser: Parser) -> None:
        parser.add("inputs", INPUTS, nargs="+", metavar="input")
        what = "the result: a .parquet or .jsonl file"
        parser.add("-o, --output", what, type=Path, required=True)
        what = "; ".join(f"{name}: {meaning}" for name, (meaning, _) in KEEP.items())
        what = f"which of near-duplicates to keep. {what}"
        parser.add("--keep", what, choices=KEEP, default="first")
        what = "write copies of the inputs into this folder, without the dropped pages"
        parser.add("--copies", what, type=Path, metavar="FOLDER")
        what = "write URL, title and text of each kept page to this file, without what its site "
        parser.add("--texts", f"{what}repeats", type=Path, metavar="FILE.jsonl")
        what = "put the kept pages into this store, a URL or an SQLite file, for later crawls"
        parser.add("--store", what)
        what = "field or column with the time when a page was fetched, in RFC 3339 or Unix seconds"
        parser.add("--time-field", f"{what}; WARC files need none", metavar="FIELD")
        parser.add_json()

    def run(self) -> int:
        try:
            record = self._dedup()
        except ImportError as error:
            how = f"{error.name} is missing: pip install 'simhash-pipeline[archive]'"
            raise ArchiveError(f"dedup needs the extra `archive`; {how}") from error
        self.print_result(record, _sums(record))
        return 0

    def _dedup(self) -> dict[str, Any]:
        """How many pages were kept and dropped, and the files that were written."""
        from simhash_pipeline.archive.dedup import DedupJob, dedup
        from simhash_pipeline.archive.parts import leave_pandas_out

        given = self.arguments
        if not any(each.endswith(".parquet") for each in given.inputs):  # in nanoseconds
            leave_pandas_out()
        job = DedupJob(
            to=given.output,
            options=self.options,
            store=None if given.store is None else self.store_at(given.store).url,
            **fields(given, "inputs", "keep", "copies", "texts", "time_field"),
        )
        done = dedup(job)
        written = {"output": job.to, **fields(job, "drop_log", "copies", "texts")}
        written["unread"] = job.faults if done.faults else None
        return asdict(done) | {
            name: str(path) for name, path in written.items() if path is not None
        }


def _sums(record: Mapping[str, Any]) -> Iterator[Line]:
    rows = [("kept", _counted(record["kept"])), ("dropped", _counted(record["dropped"]))]
    if record["skipped"]:
        rows.append(("no pages", _counted(record["skipped"])))
    if unjudged := record["kept"].get("unjudged"):
        rows.append(("unjudged", f"{unjudged:,}: the column `fault` of the result says why"))
    if record["faults"]:
        rows.append(("unread", f"{_counted(record['faults'])}: see {record['unread']}"))
    rows += [("", ""), ("result", record["output"])]
    rows += [(name, record[name]) for name in ("copies", "texts") if name in record]
    yield Grid([*rows, ("drop log", record["drop_log"])])
    if record["dropped"] and not record["item_values"]:
        yield from _NO_VALUES
    yield f"What was dropped, and why: scrapy simhash report {shlex.quote(record['drop_log'])}"


def _counted(counts: Mapping[str, int]) -> str:
    named = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    return f"{sum(counts.values()):,}" + (f" ({named})" if named else "")
