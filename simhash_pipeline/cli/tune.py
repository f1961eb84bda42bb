"""`scrapy simhash tune`: which thresholds suit a site, by pairs of its pages."""

from __future__ import annotations

import dataclasses
import math
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from simhash_pipeline.archive.inputs import SQLITE_BEGINS
from simhash_pipeline.archive.records import Fault
from simhash_pipeline.atomic_write import atomic_write
from simhash_pipeline.cli.arguments import number_between, whole
from simhash_pipeline.cli.command import Command, Result, counted, print_result
from simhash_pipeline.cli.compare import marked, shortened
from simhash_pipeline.cli.learn import pages_in
from simhash_pipeline.cli.resolve import (
    NamedStore,
    resolve_store,
    store_at,
    was_named,
)
from simhash_pipeline.compare.diff import text_diff
from simhash_pipeline.errors import PageError
from simhash_pipeline.judge import distances
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.rules import STORE_URL
from simhash_pipeline.stores.contract import check_stamp
from simhash_pipeline.terminal import Grid, Heading, bar, print_lines, progress
from simhash_pipeline.tune.precision import (
    Label,
    Precision,
    Recommendation,
    answers_needed,
    joined,
    labels,
    precision,
    recommended,
)
from simhash_pipeline.tune.sampling import (
    LARGEST_DISTANCE,
    Pair,
    drawn_pages,
    sample_pairs,
    valley,
)
from simhash_pipeline.tune.sheet import ANSWERS, SheetLine, read_answers, write_sheet

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from scrapy.settings import BaseSettings

    from simhash_pipeline.page.source import Source
    from simhash_pipeline.terminal import Line

MAX_PAGES = 20_000
PAIRS_OF_EACH = 20
SHOWN_CHANGES = 3
QUESTION = "One story? y, n, or q to end: "
_SHORT_BAR = 12  # columns: the table fits into 80
_WIDE_BITS = 4  # distances in one line, from 13 bits on


class TuneCommand(Command):
    epilog = (
        "Without --ask or --labels: the number of pairs at each distance, with examples. With "
        "answers: how often each threshold would be right, and the settings to use."
    )
    takes_a_store = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
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
            type=whole(),
            default=PAIRS_OF_EACH,
            help=f"at most this many pairs of each distance (default: {PAIRS_OF_EACH})",
        )
        parser.add_argument(
            "--pages",
            type=whole(2),
            default=MAX_PAGES,
            help=f"at most this many pages, drawn at random (default: {MAX_PAGES:,})",
        )
        parser.add_argument(
            "--precision",
            type=number_between(0, 1),
            default=0.95,
            help="the least precision of a recommended threshold (default: 0.95)",
        )
        parser.add_argument("--seed", type=whole(0), default=0, help="of random draws (default: 0)")

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
        answered = [
            (line.distance, line.sketch_distance, line.twins)
            for line in lines
            if line.twins is not None
        ]
        tuning = Tuning(
            source=name,
            pages=len(pages),
            seen=seen,
            left_out=left_out,
            counts=sample.counts,
            examples=lines,
            labels=labels(answered, sample.counts),
            options=options,
            least=arguments.precision,
        )
        print_result(tuning, arguments)
        return 0


@dataclass(frozen=True, slots=True)
class Tuning(Result):
    """What is known of a source's pairs."""

    source: str
    pages: int  # with a content fingerprint; drawn out of `seen`
    seen: int
    left_out: int  # that can't be read
    counts: Sequence[int]  # all pairs, by distance
    examples: Sequence[SheetLine]  # the pairs that were drawn
    labels: Sequence[Label]  # those with an answer
    options: Options
    least: float  # precision

    def record(self) -> dict[str, Any]:
        best, emptiest = self.recommended, valley(self.counts)
        return {
            "source": self.source,
            "pages": self.pages,
            "left_out": self.left_out,
            "pairs": list(self.counts),
            "valley": None if emptiest is None else list(emptiest),
            "answers": len(self.labels),
            "thresholds": [
                {
                    "distance": bits,
                    "verified": _measured(with_),
                    "unverified": _measured(without),
                }
                for bits in range(LARGEST_DISTANCE + 1)
                for with_, without in [self.within(bits)]
            ],
            "recommended": None if best is None else dataclasses.asdict(best),
        }

    def lines(self) -> Iterator[Line]:
        drawn = f", drawn out of {self.seen:,}" if self.seen > self.pages else ""
        unread = f", {self.left_out:,} that can't be read left out" if self.left_out else ""
        yield f"{self.source}: {self.pages:,} pages with a content fingerprint{drawn}{unread}"
        yield ""
        yield _histogram(self.counts)
        yield ""
        yield from _valley(self)
        if self.labels:
            yield from _precisions(self)
            yield from _recommended(self)
        else:
            yield from _examples(self.examples)

    @property
    def recommended(self) -> Recommendation | None:
        return recommended(self.labels, self.options.verify_distance, self.least)

    def within(self, distance: int) -> tuple[Precision | None, Precision | None]:
        """The precision of a threshold with a second look as set, and without."""
        verify = self.options.verify_distance
        return (
            precision(joined(self.labels, distance, verify)),
            precision(joined(self.labels, distance, None)),
        )


def _measured(found: Precision | None) -> dict[str, float] | None:
    if found is None:
        return None
    return {
        "pairs": found.answers,
        "precision": round(found.share, 4),
        "low": round(found.low, 4),
        "high": round(found.high, 4),
    }


def _histogram(counts: Sequence[int]) -> Grid:
    bins = [(str(bits), counts[bits]) for bits in range(LARGEST_DISTANCE + 1)]
    for start in range(LARGEST_DISTANCE + 1, len(counts), _WIDE_BITS):
        end = min(start + _WIDE_BITS, len(counts)) - 1
        bins.append((f"{start}-{end}", sum(counts[start : end + 1])))
    while bins and not bins[-1][1]:
        bins.pop()
    most = math.log1p(max((count for _, count in bins), default=0)) or 1.0
    rows = [(name, f"{count:,}", bar(math.log1p(count), most)) for name, count in bins]
    return Grid([("bits apart", "pairs", "(the bars by their logarithm)"), *rows], right=(0, 1))


def _valley(tuning: Tuning) -> Iterator[Line]:
    emptiest = valley(tuning.counts)
    if emptiest is None:
        yield "No valley: no pairs are nearer than pages that have nothing in common."
        return
    first, last = emptiest
    where = f"at {first}" if first == last else f"from {first} to {last}"
    yield f"The valley between near-duplicates and other pages lies {where} bits."
    yield f"SIMHASH_CONTENT_DISTANCE is {tuning.options.content_distance}, and may be 0-8."


def _precisions(tuning: Tuning) -> Iterator[Line]:
    verify = tuning.options.verify_distance
    rows = []
    for distance in range(LARGEST_DISTANCE + 1):
        with_, without = tuning.within(distance)
        cells = [*_cells(with_), *_cells(without)] if verify is not None else _cells(without)
        rows.append(
            [str(distance), *cells, "" if with_ is None else bar(with_.share, 1, _SHORT_BAR)]
        )
    columns = ["answers", "right", "interval"]
    head = ["within", *columns, *(columns if verify is not None else []), ""]
    yield ""
    if verify is not None:
        yield Heading(f"Precision with sketches within {verify}, and without a second look")
    else:
        yield Heading("Precision")
    yield Grid([head, *rows], right=range(len(head) - 1))


def _cells(found: Precision | None) -> list[str]:
    if found is None:
        return ["0", "", ""]
    return [str(found.answers), f"{found.share:.3f}", f"{found.low:.3f}-{found.high:.3f}"]


def _recommended(tuning: Tuning) -> Iterator[Line]:
    best, least = tuning.recommended, f"{tuning.least:g}"
    yield ""
    if best is None:
        needed = answers_needed(tuning.least)
        yield f"No distance is surely right {least} of the time: the interval's lower end is below."
        yield f"It takes at least {needed} answers, all of them y; or a lower --precision."
        return
    yield f"For settings.py, the largest distances whose interval begins at {least} or above:"
    yield ""
    yield f"SIMHASH_CONTENT_DISTANCE = {best.content_distance}"
    yield f"SIMHASH_VERIFY_DISTANCE = {best.verify_distance}"


def _examples(lines: Sequence[SheetLine]) -> Iterator[Line]:
    """The first pair of each distance."""
    first = {line.distance: line for line in reversed(lines)}
    for distance, line in sorted(first.items()):
        sketch = "" if line.sketch_distance is None else f", sketches {line.sketch_distance}"
        yield ""
        yield Heading(f"{counted(distance, 'bit')} apart{sketch}, as")
        for text in (line.url_a, line.title_a, line.url_b, line.title_b):
            yield f"  {text}"
        yield f"  {shortened(line.words) or 'the same words'}"


def _pages(
    arguments: argparse.Namespace, settings: BaseSettings, options: Options
) -> tuple[str, list[PageFingerprint], int, int]:
    """The source's name, its sampled pages, how many it has, and how many can't be read.

    Pages without a content fingerprint are not counted.
    """
    store, unread = _store(arguments, settings), 0
    name = store.name if store is not None else str(arguments.source)

    def compared() -> Iterator[PageFingerprint]:
        nonlocal unread
        found: Iterator[PageFingerprint | None]
        found = _store_pages(store, options) if store is not None else _archive_pages(name, options)
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
    """The store that is the source; None if the source is a file of pages, or a folder."""
    source = arguments.source
    if source is None:
        return resolve_store(arguments, settings)
    if was_named(arguments):
        raise UsageError(f"name {source} or a store, not both")
    if STORE_URL.match(source):
        return store_at(source, settings)
    if Path(source).is_dir():
        return None
    with Path(source).open("rb") as file:
        is_sqlite = file.read(len(SQLITE_BEGINS)) == SQLITE_BEGINS
    return store_at(source, settings) if is_sqlite else None


def _store_pages(named_store: NamedStore, options: Options) -> Iterator[PageFingerprint]:
    with named_store.existing() as store:
        check_stamp(named_store.name, store.made_with() or {}, options.stamp())
        fingerprinter, some = Fingerprinter(options), False
        for text in store.texts():
            some = True
            if text.namespace == options.namespace:
                yield fingerprinter.fingerprint_text(text.text, title=text.title, url=text.url)
        if not some:
            how = "crawl with SIMHASH_KEEP_TEXT=True, or name a feed or folder of pages"
            raise UsageError(f"{named_store.name} holds no texts: {how}")


def _archive_pages(name: str, options: Options) -> Iterator[PageFingerprint | None]:
    """The pages; None for each that can't be read, which a crawl keeps without judging it."""
    fingerprinter = Fingerprinter(options)
    for sample in pages_in(name, options):
        yield None if isinstance(sample, Fault) else _readable(sample, fingerprinter)


def _readable(source: Source, fingerprinter: Fingerprinter) -> PageFingerprint | None:
    try:
        return fingerprinter.fingerprint(*source)
    except PageError:
        return None


def _line(
    pages: list[PageFingerprint], pair: Pair, answers: dict[tuple[str, str], bool]
) -> SheetLine:
    a, b = pages[pair.a], pages[pair.b]
    urls = (a.url or "", b.url or "")
    changes = text_diff(a.text, b.text).changes
    return SheetLine(
        twins=answers.get(urls, answers.get(urls[::-1])),
        distance=pair.distance,
        sketch_distance=distances(a, b).sketch,
        url_a=urls[0],
        url_b=urls[1],
        title_a=a.title,
        title_b=b.title,
        words=" | ".join(marked(change) for change in changes[:SHOWN_CHANGES]),
    )


def _refuse_lost_answers(sheet: Path | None, answers: dict[tuple[str, str], bool]) -> None:
    """UsageError if a sheet with answers would be overwritten."""
    if sheet is None or not sheet.exists() or sheet.stat().st_size == 0:
        return
    if not read_answers(sheet).keys() <= answers.keys():
        how = "take them with --labels, or name another file"
        raise UsageError(f"{sheet} holds answers: {how}")


def _refuse_others(
    path: Path, answers: dict[tuple[str, str], bool], lines: list[SheetLine], name: str
) -> None:
    pairs = {(line.url_a, line.url_b) for line in lines}
    for urls in answers:
        if urls not in pairs and urls[::-1] not in pairs:
            same = "take the --pages, --pairs and --seed that it was made with"
            raise UsageError(f"{path} is of other pages than {name}, or other pairs; {same}")


def _asked(lines: list[SheetLine]) -> list[SheetLine]:
    """The lines with answers from the terminal, of each distance in turn, until q."""
    answered = list(lines)
    for number, place in enumerate(_by_turns(lines), 1):
        line = lines[place]
        texts = (line.url_a, line.title_a, line.url_b, line.title_b)
        words = shortened(line.words) or "the same words"
        heading = Heading(f"{number}  {counted(line.distance, 'bit')} apart")
        shown = ["", heading, *(f"   {text}" for text in (*texts, words))]
        print_lines(shown, file=sys.stderr)
        answer = _answer()
        if answer is None:
            break
        answered[place] = dataclasses.replace(line, twins=answer)
    return answered


def _by_turns(lines: list[SheetLine]) -> list[int]:
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
            typed = sys.stdin.readline()
        except KeyboardInterrupt:
            typed = ""
        answer = typed.strip().lower()
        if not typed or answer in ("q", "quit"):
            print(file=sys.stderr)
            return None
        if answer in ANSWERS:
            return ANSWERS[answer]
