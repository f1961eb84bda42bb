"""`scrapy simhash tune`: which thresholds suit a site, by pairs of its pages."""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from simhash_pipeline.archive.inputs import SQLITE_BEGINS
from simhash_pipeline.archive.records import Fault
from simhash_pipeline.atomic_write import atomic_write
from simhash_pipeline.cli.arguments import count
from simhash_pipeline.cli.compare import begun, marked
from simhash_pipeline.cli.samples import pages_in
from simhash_pipeline.cli.store_choice import NamedStore, add_choice, chosen, named
from simhash_pipeline.cli.terminal import add_json, counted, progress, tell
from simhash_pipeline.cli.tuning import Tuning, tuning_lines, tuning_record
from simhash_pipeline.compare.diff import text_diff
from simhash_pipeline.errors import PageError
from simhash_pipeline.judge import distances
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.printable import printable
from simhash_pipeline.rules import STORE_URL
from simhash_pipeline.stores.contract import check_stamp
from simhash_pipeline.tune.page_sample import drawn_pages
from simhash_pipeline.tune.pair_sample import Pair, sample_pairs
from simhash_pipeline.tune.precision import labels
from simhash_pipeline.tune.sheet import ANSWERS, Line, read_answers, write_sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from simhash_pipeline.page.source import Source

MAX_PAGES = 20_000
PAIRS_OF_EACH = 20
TOLD_CHANGES = 3
QUESTION = "One story? y, n, or q to end: "


class TuneCommand:
    name = "tune"
    summary = "which thresholds suit your pages: how far pairs are apart, and which are twins"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = (
            "Without --ask or --labels: how many pairs are how far apart, with examples. With "
            "answers: how often each threshold would be right, and the settings to take."
        )
        parser.add_argument(
            "source",
            nargs="?",
            help="an archive as dedup reads it: a feed, a folder of .html files, a WARC file, …; "
            "or a store with texts (default: the store of this project)",
        )
        parser.add_argument("--ask", action="store_true", help="show pairs and ask: y, n or q")
        parser.add_argument("--sheet", type=Path, help="write the pairs to a CSV file to fill in")
        parser.add_argument("--labels", type=Path, help="such a sheet, filled in: y or n in twins")
        parser.add_argument(
            "--pairs",
            type=count,
            default=PAIRS_OF_EACH,
            help=f"at most so many pairs of each distance (default: {PAIRS_OF_EACH})",
        )
        parser.add_argument(
            "--pages",
            type=_two_or_more,
            default=MAX_PAGES,
            help=f"of more pages take so many, drawn at random (default: {MAX_PAGES:,})",
        )
        parser.add_argument(
            "--precision",
            type=_share,
            default=0.95,
            help="what the precision of a threshold must be at the least (default: .95)",
        )
        parser.add_argument("--seed", type=_seed, default=0, help="of what is drawn (default: 0)")
        add_choice(parser)
        add_json(parser)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        options = Options.from_settings(settings)
        answers = {} if arguments.labels is None else read_answers(arguments.labels)
        _refuse_lost_answers(arguments.sheet, answers)
        read = [] if arguments.source is None else [Path(arguments.source)]
        sheet = nullcontext() if arguments.sheet is None else atomic_write(arguments.sheet, read)
        with sheet as part:
            name, pages, seen, left_out = _pages(arguments, settings, options)
            values = [page.content for page in pages if page.content is not None]
            sample = sample_pairs(values, options.bits, arguments.pairs, arguments.seed)
            lines = [_line(pages, pair, answers) for pair in sample.pairs]
            if answers:
                _refuse_others(arguments.labels, answers, lines, name)
            if part is not None and not lines:
                raise UsageError(f"no two pages of {name} are near enough for a sheet of pairs")
            if arguments.ask:
                lines = _asked(lines)
            if part is not None:
                write_sheet(part, lines)
        told = [(one.distance, one.sketch_distance, one.twins) for one in lines]
        answered = [(bits, sketch, twins) for bits, sketch, twins in told if twins is not None]
        tuning = Tuning(
            source=name,
            pages=len(pages),
            seen=seen,
            left_out=left_out,
            counts=sample.counts,
            lines=lines,
            labels=labels(answered, sample.counts),
            options=options,
            least=arguments.precision,
        )
        tell(tuning_record(tuning), "\n".join(tuning_lines(tuning)), as_json=arguments.json)
        return 0


def _pages(
    arguments: argparse.Namespace, settings: BaseSettings, options: Options
) -> tuple[str, list[PageFingerprint], int, int]:
    """The source's name, pages drawn of it, of how many, and how many it has that can't be read.

    Pages without a content fingerprint count nowhere.
    """
    store, unread = _store(arguments, settings), 0
    name = store.name if store is not None else str(arguments.source)

    def compared() -> Iterator[PageFingerprint]:
        nonlocal unread
        found: Iterator[PageFingerprint | None]
        found = _of_store(store, options) if store is not None else _of_files(name, options)
        for page in progress(found, "pages"):
            if page is None:
                unread += 1
            elif page.content is not None:
                yield page

    pages, seen = drawn_pages(compared(), arguments.pages, arguments.seed)
    if len(pages) < 2:
        whole = f"namespace {options.namespace!r} of {name}" if options.namespace else name
        rule = f"a pair needs two pages of at least {options.min_tokens} tokens"
        beside = f", and {unread:,} that can't be read" if unread else ""
        raise UsageError(f"{rule}, and {whole} has {seen}{beside}")
    return name, pages, seen, unread


def _store(arguments: argparse.Namespace, settings: BaseSettings) -> NamedStore | None:
    """The store that is meant; None where the source is a file of pages, or a folder."""
    source = arguments.source
    if source is None:
        return chosen(arguments, settings)
    if arguments.store is not None or arguments.spider is not None:
        raise UsageError(f"name {source} or a store, not both")
    if STORE_URL.match(source):
        return named(source, settings)
    if Path(source).is_dir():
        return None
    with Path(source).open("rb") as file:
        return named(source, settings) if file.read(len(SQLITE_BEGINS)) == SQLITE_BEGINS else None


def _of_store(named_store: NamedStore, options: Options) -> Iterator[PageFingerprint]:
    with named_store.existing() as store:
        check_stamp(named_store.name, store.made_with() or {}, options.stamp())
        fingerprinter, some = Fingerprinter(options), False
        for text in store.texts():
            some = True
            if text.namespace == options.namespace:
                yield fingerprinter.of_text(text.text, title=text.title, url=text.url)
        if not some:
            how = "crawl with SIMHASH_KEEP_TEXT=True, or name a feed or folder of pages"
            raise UsageError(f"{named_store.name} holds no texts: {how}")


def _of_files(name: str, options: Options) -> Iterator[PageFingerprint | None]:
    """The pages; None for each that can't be read, which a crawl keeps unjudged."""
    fingerprinter = Fingerprinter(options)
    for sample in pages_in(name, options):
        yield None if isinstance(sample, Fault) else _readable(sample, fingerprinter)


def _readable(source: Source, fingerprinter: Fingerprinter) -> PageFingerprint | None:
    try:
        return fingerprinter.fingerprint(*source)
    except PageError:
        return None


def _line(pages: list[PageFingerprint], pair: Pair, answers: dict[tuple[str, str], bool]) -> Line:
    a, b = pages[pair.a], pages[pair.b]
    urls = (a.url or "", b.url or "")
    changes = text_diff(a.text, b.text).changes
    return Line(
        twins=answers.get(urls, answers.get(urls[::-1])),
        distance=pair.distance,
        sketch_distance=distances(a, b).sketch,
        url_a=urls[0],
        url_b=urls[1],
        title_a=a.title,
        title_b=b.title,
        words=" | ".join(marked(change) for change in changes[:TOLD_CHANGES]),
    )


def _refuse_lost_answers(sheet: Path | None, answers: dict[tuple[str, str], bool]) -> None:
    """Nobody's answers are written over."""
    if sheet is None or not sheet.exists() or sheet.stat().st_size == 0:
        return
    if not read_answers(sheet).keys() <= answers.keys():
        how = "take them with --labels, or name another file"
        raise UsageError(f"{sheet} holds answers: {how}")


def _refuse_others(
    path: Path, answers: dict[tuple[str, str], bool], lines: list[Line], name: str
) -> None:
    pairs = {(line.url_a, line.url_b) for line in lines}
    for urls in answers:
        if urls not in pairs and urls[::-1] not in pairs:
            same = "take the --pages, --pairs and --seed that it was made with"
            raise UsageError(f"{path} is of other pages than {name}, or other pairs; {same}")


def _asked(lines: list[Line]) -> list[Line]:
    """The lines with answers, asked for one of each distance after the other, until q."""
    answered = list(lines)
    for number, place in enumerate(_by_turns(lines), 1):
        line = lines[place]
        print(f"\n{number}  {counted(line.distance, 'bit')} apart", file=sys.stderr)
        words = begun(line.words) or "the same words"
        for text in (line.url_a, line.title_a, line.url_b, line.title_b, words):
            print(f"   {printable(text)}", file=sys.stderr)
        answer = _answer()
        if answer is None:
            break
        answered[place] = dataclasses.replace(line, twins=answer)
    return answered


def _by_turns(lines: list[Line]) -> list[int]:
    """Places of lines without an answer: the first of each distance, then the second of each."""
    asked = [place for place, line in enumerate(lines) if line.twins is None]
    turns: dict[int, int] = {}
    order = []
    for place in asked:
        distance = lines[place].distance
        turns[distance] = turns.get(distance, -1) + 1
        order.append((turns[distance], distance, place))
    return [place for *_, place in sorted(order)]


def _answer() -> bool | None:
    """None to end."""
    while True:
        print(QUESTION, end="", file=sys.stderr, flush=True)
        try:
            said = sys.stdin.readline()
        except KeyboardInterrupt:
            said = ""
        answer = said.strip().lower()
        if not said or answer in ("q", "quit"):
            print(file=sys.stderr)
            return None
        if answer in ANSWERS:
            return ANSWERS[answer]


def _two_or_more(text: str) -> int:
    if (number := count(text)) < 2:
        raise argparse.ArgumentTypeError(f"must be 2 or more, as pairs are made, not {text!r}")
    return number


def _seed(text: str) -> int:
    if not re.fullmatch("[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(f"must be a whole number, 0 or more, not {text!r}")
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"must lie between 0 and 1, not {text!r}")
    return share
