"""`scrapy simhash compare`: two pages beside each other, and what the judge would decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simhash_pipeline.bits import SKETCH_BITS, fingerprint_hex
from simhash_pipeline.cli.arguments import add_limit
from simhash_pipeline.cli.command import Result, fields, print_result
from simhash_pipeline.cli.fingerprint import PagePrint, PagesCommand, add_pages, all_fingerprinted
from simhash_pipeline.drop_log import THRESHOLDS
from simhash_pipeline.judge import min_likeness
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.review.comparison import Comparison, Feature, compare
from simhash_pipeline.terminal import Grid, Heading

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from scrapy.settings import BaseSettings

    from simhash_pipeline.judge import Distances
    from simhash_pipeline.review.diff import Piece, TextDiff
    from simhash_pipeline.terminal import Line

SHOWN_AT_MOST, SHOWN = 10, "features of a kind, and changes"
SHOWN_CHARACTERS = 300
MARKS = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}


class CompareCommand(PagesCommand):
    epilog = (
        "The second page is judged by the settings, as if only the first were stored. "
        "Exit code as diff's: 0 when they are twins, 1 when they are not."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_pages(parser, 2)
        add_limit(parser, SHOWN_AT_MOST, SHOWN)

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        options = Options.from_settings(settings)
        fingerprinter = Fingerprinter(options)
        a, b = all_fingerprinted(arguments, fingerprinter)
        found = compare(a, b, fingerprinter, options)
        print_result(ComparedPages(a, b, found, options, arguments.limit), arguments)
        return 0 if found.are_twins else 1


@dataclass(frozen=True, slots=True)
class ComparedPages(Result):
    """Two pages and how they differ."""

    a: PageFingerprint
    b: PageFingerprint
    found: Comparison
    options: Options
    limit: int

    def record(self) -> dict[str, Any]:
        found, apart, options, limit = self.found, self.found.apart, self.options, self.limit
        return {
            "a": PagePrint(self.a, options).record(),
            "b": PagePrint(self.b, options).record(),
            "twins": found.are_twins,
            "reason": found.verdict.reason,
            "content_distance": apart.content,
            "structure_distance": apart.structure,
            "sketch_distance": apart.sketch,
            "own_likeness": rounded(found.verdict.own_likeness),
            "thresholds": fields(options, *THRESHOLDS),
            "shared_weight": round(found.shared_weight, 4),
            "shared": feature_records(found.shared[:limit]),
            "differing": feature_records(found.differing[:limit]),
            "changes": len(found.diff.changes),
            "diff": change_records(found.diff, limit),
            "words_left_out": found.diff.words_left_out,
            "changes_beside": len(found.left_out.changes),
            "diff_beside": change_records(found.left_out, limit),
        }

    def lines(self) -> Iterator[Line]:
        a, b, found = self.a, self.b, self.found
        yield Grid([(name, page.url or "", _size(page)) for name, page in (("A", a), ("B", b))])
        yield ""
        yield distance_grid(a, b, found.apart, self.options)
        yield ""
        yield Heading(self._verdict())
        yield ""
        yield from feature_lines(found, self.limit)
        yield ""
        yield from _changes("Changes of words in the main text", found.diff, self.limit)
        yield from _changes("Changes of words beside it", found.left_out, self.limit)

    def _verdict(self) -> str:
        verdict, sketch, limit = (
            self.found.verdict,
            self.found.apart.sketch,
            self.options.verify_distance,
        )
        if verdict.dropped:
            return f"Twins: where A is stored, B is dropped ({verdict.reason})."
        near = limit is None or sketch is None or sketch <= limit
        if verdict.reason == "verified different" and near:
            differ = own_texts_differ(verdict.own_likeness, min_likeness(self.a, self.b))
            return f"No twins: the main texts are near, but {differ}."
        return _WHY.get(verdict.reason, "No twins: where A is stored, B is kept.")


_WHY = {
    "unchanged": "Twins: both have one URL, and nothing visible has changed.",
    "changed": "No twins: both have one URL, and what is visible has changed.",
    "thin": "No twins: B is thin, and its title and text are not those of A.",
    "verified different": "No twins: the content is near, but the sketches are not.",
}


def _size(page: PageFingerprint) -> str:
    share = "" if page.main_share is None else f", {page.main_share:.0%} of the page"
    return f"{page.tokens:,} tokens{share}"


def rounded(likeness: float | None) -> float | None:
    return None if likeness is None else round(likeness, 2)


def own_texts_differ(likeness: float | None, least: float) -> str:
    """Why two pages of one site with one main text are no twins."""
    if likeness is None:
        return "hardly any text of their own can be compared"
    return f"their own texts are alike by {likeness:.0%}, under {least:.0%}"


def distance_grid(
    a: PageFingerprint, b: PageFingerprint, apart: Distances, options: Options
) -> Grid:
    """The fingerprints, their distances, and the distances up to which pages are twins."""
    bits, match = options.bits, options.match
    content = None if match == "structure" else options.content_distance
    structure = None if match == "content" else options.structure_distance
    sketch = None if match == "structure" else options.verify_distance
    rows = [("", "A", "B", "differ in", "twins within")]
    for name, distance, of_bits, limit in (
        ("content", apart.content, bits, content),
        ("structure", apart.structure, bits, structure),
        ("sketch", apart.sketch, SKETCH_BITS, sketch),
    ):
        left, right = (fingerprint_hex(getattr(page, name), of_bits) or "none" for page in (a, b))
        if name == "sketch":  # too long to be read side by side
            left = right = ""
        differ = "-" if distance is None else f"{distance} of {of_bits} bits"
        rows.append((name, left, right, differ, "not asked" if limit is None else str(limit)))
    return Grid(rows)


def feature_records(features: Sequence[Feature]) -> list[dict[str, object]]:
    return [{"feature": f.text, "a": f.weight_a, "b": f.weight_b} for f in features]


def change_records(diff: TextDiff, limit: int) -> list[list[dict[str, str]]]:
    return [[{piece.kind: piece.text} for piece in change] for change in diff.changes[:limit]]


def feature_lines(found: Comparison, limit: int) -> Iterator[Line]:
    """The heaviest features, and those whose weights differ most."""
    yield Heading(f"{found.shared_weight:.0%} of the features' weight is shared. The heaviest:")
    yield _features(found.shared[:limit])
    yield "Features whose weights differ most:"
    yield _features(found.differing[:limit])


def _features(features: Sequence[Feature]) -> Grid:
    rows = [(f"{f.weight_a:.4g}", f"{f.weight_b:.4g}", f.text) for f in features]
    return Grid([("A", "B", ""), *rows] if rows else [("none",)], right=(0, 1), indent=2)


def _changes(title: str, diff: TextDiff, limit: int) -> Iterator[str]:
    changes = diff.changes
    yield f"{title}: {len(changes):,}" + (" (- only in A, + only in B)" if changes else "")
    for change in changes[:limit]:
        yield f"  {marked(change)}"
    if len(changes) > limit:
        yield f"  … and {len(changes) - limit:,} more: --limit {len(changes)}"
    if diff.words_left_out:
        yield f"  {diff.words_left_out:,} words at the ends of long texts were not compared."


def marked(change: Sequence[Piece]) -> str:
    """As wdiff marks what is gone and what is new; of a long piece the beginning."""
    return " ".join(MARKS[piece.kind].format(shortened(piece.text)) for piece in change)


def shortened(text: str) -> str:
    """The text; of a long one its beginning and how much more there is."""
    if len(text) <= SHOWN_CHARACTERS:
        return text
    more = len(text) - SHOWN_CHARACTERS
    return f"{text[:SHOWN_CHARACTERS]}… ({more:,} characters more)"
