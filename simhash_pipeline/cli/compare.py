"""`scrapy simhash compare`: two pages side by side, and what the judge would say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simhash_pipeline.bits import SKETCH_BITS, fingerprint_hex
from simhash_pipeline.cli.arguments import count
from simhash_pipeline.cli.fetch import add_pages, fingerprinted
from simhash_pipeline.cli.fingerprint import page_record
from simhash_pipeline.cli.terminal import add_json, tell
from simhash_pipeline.compare.comparison import Comparison, Feature, compare
from simhash_pipeline.drop_log import THRESHOLDS
from simhash_pipeline.errors import PageError
from simhash_pipeline.judge import min_likeness
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint
from simhash_pipeline.printable import aligned

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from scrapy.settings import BaseSettings

    from simhash_pipeline.compare.diff import Piece, TextDiff
    from simhash_pipeline.judge import Distances

TOLD_AT_MOST = 10
TOLD_CHARACTERS = 300
MARKS = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}


class CompareCommand:
    name = "compare"
    summary = "two pages: distances, features, changed words, and whether a crawl would drop one"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.epilog = (
            "The second page is judged by the settings, as if the first alone were stored. "
            "Exit code as diff's: 0 when they are twins, 1 when they are not."
        )
        add_pages(parser, 2)
        parser.add_argument(
            "--limit",
            type=count,
            default=TOLD_AT_MOST,
            help=f"at most so many features of a kind, and changes (default: {TOLD_AT_MOST})",
        )
        add_json(parser)

    def run(self, options: argparse.Namespace, settings: BaseSettings) -> int:
        made_with = Options.from_settings(settings)
        fingerprinter = Fingerprinter(made_with)
        pages = []
        for page in fingerprinted(options, fingerprinter):
            if isinstance(page, PageError):
                raise page
            pages.append(page)
        a, b = pages
        comparison = compare(a, b, fingerprinter, made_with)
        tell(
            _record(a, b, comparison, made_with, options.limit),
            "\n".join(_lines(a, b, comparison, made_with, options.limit)),
            as_json=options.json,
        )
        return 0 if comparison.are_twins else 1


def _record(
    a: PageFingerprint, b: PageFingerprint, found: Comparison, options: Options, limit: int
) -> dict[str, Any]:
    return {
        "a": page_record(a, options),
        "b": page_record(b, options),
        "twins": found.are_twins,
        "reason": found.verdict.reason,
        "content_distance": found.apart.content,
        "structure_distance": found.apart.structure,
        "sketch_distance": found.apart.sketch,
        "own_likeness": likeness_record(found.verdict.own_likeness),
        "thresholds": {name: getattr(options, name) for name in THRESHOLDS},
        "shared_weight": round(found.shared_weight, 4),
        "shared": feature_records(found.shared[:limit]),
        "differing": feature_records(found.differing[:limit]),
        "changes": len(found.diff.changes),
        "diff": change_records(found.diff, limit),
        "words_left_out": found.diff.words_left_out,
        "changes_beside": len(found.left_out.changes),
        "diff_beside": change_records(found.left_out, limit),
    }


def likeness_record(likeness: float | None) -> float | None:
    return None if likeness is None else round(likeness, 2)


def feature_records(features: Sequence[Feature]) -> list[dict[str, object]]:
    return [{"feature": f.text, "a": f.weight_a, "b": f.weight_b} for f in features]


def change_records(diff: TextDiff, limit: int) -> list[list[dict[str, str]]]:
    return [[{piece.kind: piece.text} for piece in change] for change in diff.changes[:limit]]


def _lines(
    a: PageFingerprint, b: PageFingerprint, found: Comparison, options: Options, limit: int
) -> Iterator[str]:
    yield aligned([(name, page.url or "", _size(page)) for name, page in (("A", a), ("B", b))])
    yield ""
    yield aligned(distance_rows(a, b, found.apart, options))
    yield ""
    yield _judged(a, b, found, options)
    yield ""
    yield f"Of the features' weight both have {found.shared_weight:.0%}. The heaviest of these:"
    yield from feature_lines(found.shared, limit)
    yield "Features that weigh most otherwise:"
    yield from feature_lines(found.differing, limit)
    yield ""
    yield from _changes("Changes of words in the main text", found.diff, limit)
    yield from _changes("Changes of words beside it", found.left_out, limit)


def _size(page: PageFingerprint) -> str:
    share = "" if page.main_share is None else f", {page.main_share:.0%} of the page"
    return f"{page.tokens:,} tokens{share}"


def distance_rows(
    a: PageFingerprint, b: PageFingerprint, apart: Distances, options: Options
) -> Iterator[tuple[str, str, str, str, str]]:
    bits, match = options.bits, options.match
    content = None if match == "structure" else options.content_distance
    structure = None if match == "content" else options.structure_distance
    sketch = None if match == "structure" else options.verify_distance
    yield "", "A", "B", "differ in", "twins within"
    for name, distance, of_bits, limit in (
        ("content", apart.content, bits, content),
        ("structure", apart.structure, bits, structure),
        ("sketch", apart.sketch, SKETCH_BITS, sketch),
    ):
        values = [fingerprint_hex(getattr(page, name), of_bits) or "none" for page in (a, b)]
        if name == "sketch":  # too long to be read side by side
            values = ["", ""]
        differ = "-" if distance is None else f"{distance} of {of_bits} bits"
        yield name, values[0], values[1], differ, "not asked" if limit is None else str(limit)


def differing_beside(likeness: float | None, least: float) -> str:
    """Why two pages of one site with one main text are no twins."""
    if likeness is None:
        return "hardly any text of their own can be compared"
    return f"their own texts are alike by {likeness:.0%}, under {least:.0%}"


def _judged(a: PageFingerprint, b: PageFingerprint, found: Comparison, options: Options) -> str:
    reason, sketch = found.verdict.reason, found.apart.sketch
    if found.verdict.dropped:
        return f"Twins: where A is stored, B is dropped ({reason})."
    why = {
        "unchanged": "Twins: both have one URL, and nothing visible has changed.",
        "changed": "No twins: both have one URL, and what is visible has changed.",
        "thin": "No twins: B is thin, and its title and text are not those of A.",
        "verified different": "No twins: the content is near, but the sketches are not.",
    }
    limit = options.verify_distance
    if reason == "verified different" and (limit is None or sketch is None or sketch <= limit):
        differ = differing_beside(found.verdict.own_likeness, min_likeness(a, b))
        return f"No twins: the main texts are near, but {differ}."
    return why.get(reason, "No twins: where A is stored, B is kept.")


def feature_lines(features: Sequence[Feature], limit: int) -> Iterator[str]:
    rows = [(f"{f.weight_a:.4g}", f"{f.weight_b:.4g}", f.text) for f in features[:limit]]
    table = aligned([("A", "B", ""), *rows], right=(0, 1)) if rows else "none"
    yield from (f"  {row}" for row in table.split("\n"))


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
    """As wdiff marks what is gone and what is new; a long stretch is told by its beginning."""
    return " ".join(MARKS[piece.kind].format(begun(piece.text)) for piece in change)


def begun(text: str) -> str:
    """The text or, of a long one, its beginning and how much more there is."""
    if len(text) <= TOLD_CHARACTERS:
        return text
    more = len(text) - TOLD_CHARACTERS
    return f"{text[:TOLD_CHARACTERS]}… ({more:,} characters more)"
