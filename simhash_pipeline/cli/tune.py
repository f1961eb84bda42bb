"""`scrapy simhash tune`: which thresholds suit a site, by pairs of its pages."""

from __future__ import annotations

import dataclasses
import math
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from scrapy.exceptions import UsageError

from simhash_pipeline.answers import SheetLine, read_sheet, write_sheet
from simhash_pipeline.bits import BITS
from simhash_pipeline.cli.command import (
    Command,
    Result,
    atomic_write,
    counted,
    fields,
    print_result,
    share,
    whole,
)
from simhash_pipeline.cli.resolve import NamedStore, resolve_store
from simhash_pipeline.judge import distances
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.review.comparison import marked, shortened, text_diff
from simhash_pipeline.review.pairs import (
    LARGEST_DISTANCE,
    Label,
    Pair,
    Precision,
    Thresholds,
    drawn_pages,
    joined,
    labels,
    more_answers_needed,
    precision,
    recommended,
    sample_pairs,
    valley,
)
from simhash_pipeline.stores.contract import check_stamp
from simhash_pipeline.terminal import Grid, Heading, bar, progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scrapy.settings import BaseSettings

    from simhash_pipeline.stores.contract import Store
    from simhash_pipeline.terminal import Line

Answers: TypeAlias = "Mapping[tuple[str, str], SheetLine]"  # by both URLs

MAX_PAGES = 20_000  # drawn at random of more
PAIRS_OF_EACH = 20
SHOWN_CHANGES = 3
SEED = 0  # of random draws: the same pages and pairs each time
THRESHOLDS = ("content_distance", "sketch_distance", "own_likeness")
_SHORT_BAR = 12  # columns: the table fits into 80
_WIDE_BITS = 4  # distances in one line, from 13 bits on


class TuneCommand(Command):
    epilog = (
        "The store must hold texts: crawl, or `dedup --store`, with SIMHASH_KEEP_TEXT=True. "
        "Without --labels: the number of pairs at each distance, with examples. With answers: how "
        "often each threshold would be right, and the settings to use."
    )
    takes_a_store = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--sheet", type=Path, help="write the pairs to a CSV file to fill in")
        parser.add_argument(
            "--labels",
            type=Path,
            help="such a sheet, with y (copy), n (another page) or ? as answer; or the report's",
        )
        parser.add_argument(
            "--pairs",
            type=whole,
            default=PAIRS_OF_EACH,
            help=f"at most this many pairs of each distance (default: {PAIRS_OF_EACH})",
        )
        parser.add_argument(
            "--precision",
            type=share,
            default=0.95,
            help="the least precision of a recommended threshold (default: 0.95)",
        )

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        options = Options.from_settings(settings)
        answers = {} if arguments.labels is None else read_sheet(arguments.labels)
        sheet = arguments.sheet
        _refuse_lost_answers(sheet, answers)
        named = resolve_store(arguments, settings)
        read = [] if named.path is None else [named.path]
        with nullcontext() if sheet is None else atomic_write(sheet, read) as part:
            known = _known_pairs(named, options, arguments.pairs, answers)
            if part is not None:
                if not known.lines:
                    raise UsageError(
                        f"no two pages of {known.name} are near enough for a sheet of pairs"
                    )
                write_sheet(part, known.lines)
        print_result(Tuning(known, options, arguments.precision), arguments)
        return 0


@dataclass(frozen=True, slots=True)
class KnownPairs:
    """Pairs of a store's pages."""

    name: str  # of the store
    pages: int  # with a content fingerprint; drawn out of `seen`
    seen: int
    counts: Sequence[int]  # all pairs, by distance
    lines: Sequence[SheetLine]  # the pairs that were drawn, and others that a person answered
    others: int = 0  # of the lines, those that a person answered and nobody drew


@dataclass(frozen=True, slots=True)
class Tuning(Result):
    """What is known of a store's pairs."""

    known: KnownPairs
    options: Options
    least: float  # precision

    @property
    def labels(self) -> list[Label]:
        """The pairs with an answer, and a distance."""
        return labels(self.known.lines, self.known.counts)

    def record(self) -> dict[str, Any]:
        known = self.known
        best, emptiest = self.recommended, valley(known.counts)
        return {
            "store": known.name,
            "pages": known.pages,
            "pairs": list(known.counts),
            "valley": None if emptiest is None else list(emptiest),
            "answers": len(self.labels),
            "thresholds": [
                {
                    "distance": distance,
                    "precision": _measured(precision(near)),
                    "copies_found": _copies(near),
                }
                for distance, near in self.by_distance()
            ],
            "copies": _copies(self.labels),
            "in_force": {"dropped_wrongly": self.wrong[0], "kept_wrongly": self.wrong[1]},
            "recommended": None if best is None else dataclasses.asdict(best),
        }

    def lines(self) -> Iterator[Line]:
        known = self.known
        drawn = f", drawn out of {known.seen:,}" if known.seen > known.pages else ""
        if known.pages:
            yield f"{known.name}: {known.pages:,} pages with a content fingerprint{drawn}"
        else:
            yield f"{known.name} holds no texts: the answered pairs alone are counted"
        yield ""
        yield _histogram(known.counts)
        yield ""
        if known.pages:
            yield from _valley(self)
        if self.labels:
            yield from _precisions(self)
            yield from _recommended(self)
        else:
            yield from _examples(known.lines)

    @property
    def recommended(self) -> Thresholds | None:
        return recommended(self.labels, self.in_force, self.least)

    @property
    def in_force(self) -> Thresholds:
        return Thresholds(**fields(self.options, *THRESHOLDS))

    @property
    def wrong(self) -> tuple[int, int]:
        """How many other pages these settings would have dropped, and how many copies kept."""
        near = joined(self.labels, self.in_force)
        return len(near) - _copies(near), _copies(self.labels) - _copies(near)

    def by_distance(self) -> Iterator[tuple[int, list[Label]]]:
        """The answered pairs that each content distance would drop, by the other settings."""
        for bits in range(LARGEST_DISTANCE + 1):
            limits = dataclasses.replace(self.in_force, content_distance=bits)
            yield bits, joined(self.labels, limits)


def _copies(found: Iterable[Label]) -> int:
    return sum(label.are_twins for label in found)


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
    emptiest = valley(tuning.known.counts)
    if emptiest is None:
        yield "No valley: no pairs are nearer than pages that have nothing in common."
        return
    first, last = emptiest
    where = f"at {first}" if first == last else f"from {first} to {last}"
    yield f"The valley between near-duplicates and other pages lies {where} bits."
    yield f"SIMHASH_CONTENT_DISTANCE is {tuning.options.content_distance}, and may be 0-8."


def _precisions(tuning: Tuning) -> Iterator[Line]:
    copies = _copies(tuning.labels)
    head = ("within", "answers", "right", "interval", "", f"finds of {copies:,}", "")
    rows = []
    for distance, near in tuning.by_distance():
        found, measured = _copies(near), precision(near)
        cells = ("0", "", "", "")
        if measured is not None:
            interval = f"{measured.low:.3f}-{measured.high:.3f}"
            right = f"{measured.share:.3f}", interval, bar(measured.share, 1, _SHORT_BAR)
            cells = (str(len(near)), *right)
        rows.append((str(distance), *cells, str(found), bar(found, copies or 1, _SHORT_BAR)))
    yield ""
    yield Heading("How often each content distance is right, and how many copies it finds")
    yield Grid([head, *rows], right=(0, 1, 2, 3, 5))


def _recommended(tuning: Tuning) -> Iterator[Line]:
    best, least = tuning.recommended, f"{tuning.least:g}"
    dropped, kept = tuning.wrong
    yield ""
    yield (
        f"The settings in force get {dropped + kept:,} of {counted(len(tuning.labels), 'answer')} "
        f"wrong: {dropped:,} dropped that is another page, {kept:,} kept that is a copy."
    )
    if others := tuning.known.others:
        yield ""
        yield f"{counted(others, 'answer')} of pairs that were not drawn at random: if they were"
        yield "looked at because they were suspicious, thresholds are better than these figures."
    yield ""
    if best is None:
        yield f"No distance is surely right {least} of the time: the interval's lower end is below."
        yield f"{_needed(tuning)} Or name a lower --precision."
        return
    found = _copies(joined(tuning.labels, best))
    yield f"For settings.py, the loosest thresholds whose interval begins at {least} or above; they"
    yield f"find {found:,} of {_copies(tuning.labels):,} copies:"
    yield ""
    for name, value in dataclasses.asdict(best).items():
        if tuning.options.second_look or name == "content_distance":
            yield f"SIMHASH_{name.upper()} = {value}"


def _needed(tuning: Tuning) -> str:
    """How many answers are still needed, for the distance that is set."""
    distance = tuning.options.content_distance
    more = more_answers_needed(joined(tuning.labels, tuning.in_force), tuning.least)
    if not more:
        return f"Within {counted(distance, 'bit')} there are answers enough."
    pairs = f"pairs within {counted(distance, 'bit')}"
    return f"It takes at least {counted(more, 'more answer')} to {pairs}, all of them copies."


def _examples(lines: Sequence[SheetLine]) -> Iterator[Line]:
    """The first pair of each distance."""
    first = {line.distance: line for line in reversed(lines) if line.distance is not None}
    for distance, line in sorted(first.items()):
        sketch = "" if line.sketch_distance is None else f", sketches {line.sketch_distance}"
        yield ""
        yield Heading(f"{counted(distance, 'bit')} apart{sketch}, as")
        for text in (line.twin_url, line.twin_title, line.url, line.title):
            yield f"  {text}"
        yield f"  {shortened(line.words) or 'the same words'}"


def _known_pairs(named: NamedStore, options: Options, of_each: int, answers: Answers) -> KnownPairs:
    """Pairs drawn of the store's pages, and the answered ones that were not drawn.

    If the store has no texts, the answered pairs alone.
    """
    with named.existing() as store:
        check_stamp(named.name, store.made_with() or {}, stamp_for(options))
        if next(iter(store.texts()), None) is None:
            if answers:
                return _answered_alone(named.name, answers)
            how = "crawl, or `dedup --store`, with SIMHASH_KEEP_TEXT=True"
            raise UsageError(f"{named.name} holds no texts: {how}")
        pages, seen = drawn_pages(_fingerprinted(store, options), MAX_PAGES, SEED)
    if len(pages) < 2:
        whole = f"namespace {options.namespace!r} of " if options.namespace else ""
        rule = f"a pair needs two pages of at least {options.min_tokens} tokens"
        raise UsageError(f"{rule}, and {whole}{named.name} has {seen}")
    values = [page.content for page in pages if page.content is not None]
    sample = sample_pairs(values, of_each, SEED)
    drawn = [_line(pages, pair, answers) for pair in sample.pairs]
    others = _not_drawn(answers, drawn)
    if others and seen == len(pages):
        urls = {page.url for page in pages}
        if not any({line.twin_url, line.url} <= urls for line in answers.values()):
            raise UsageError(f"the answers are about other pages than those of {named.name}")
    lines = [*drawn, *others]
    return KnownPairs(named.name, len(pages), seen, sample.counts, lines, len(others))


def _fingerprinted(store: Store, options: Options) -> Iterator[PageFingerprint]:
    """The pages of the options' namespace by their texts, without thin ones."""
    fingerprinter = Fingerprinter(options)
    for text in progress(store.texts(), "pages"):
        if text.namespace == options.namespace:
            page = fingerprinter.fingerprint_text(text.text, title=text.title, url=text.url)
            if page.content is not None:
                yield page


def _answered_alone(name: str, answers: Answers) -> KnownPairs:
    counts = [0] * (BITS + 1)
    for line in answers.values():
        if line.distance is not None and line.distance <= BITS:
            counts[line.distance] += 1
    others = list(answers.values())
    return KnownPairs(name, 0, 0, counts, others, len(others))


def _not_drawn(answers: Answers, drawn: list[SheetLine]) -> list[SheetLine]:
    """The answered pairs that are not among those drawn."""
    urls = {(line.twin_url, line.url) for line in drawn}
    return [line for pair, line in answers.items() if pair not in urls and pair[::-1] not in urls]


def _line(pages: list[PageFingerprint], pair: Pair, answers: Answers) -> SheetLine:
    a, b = pages[pair.a], pages[pair.b]
    urls = (a.url or "", b.url or "")
    changes = text_diff(a.text, b.text).changes
    answered = answers.get(urls) or answers.get(urls[::-1])
    return SheetLine(
        answer="" if answered is None else answered.answer,
        distance=pair.distance,
        sketch_distance=distances(a, b).sketch,
        twin_url=urls[0],
        url=urls[1],
        twin_title=a.title,
        title=b.title,
        words=" | ".join(marked(change) for change in changes[:SHOWN_CHANGES]),
    )


def _refuse_lost_answers(sheet: Path | None, answers: Answers) -> None:
    """UsageError if a sheet with answers would be overwritten."""
    if sheet is None or not sheet.exists() or sheet.stat().st_size == 0:
        return
    if not read_sheet(sheet).keys() <= answers.keys():
        how = "take them with --labels, or name another file"
        raise UsageError(f"{sheet} holds answers: {how}")
