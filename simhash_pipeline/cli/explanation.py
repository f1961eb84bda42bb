"""What is known of a page that was dropped or kept, in words and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simhash_pipeline.bits import fingerprint_hex
from simhash_pipeline.cli.compare import (
    change_records,
    differing_beside,
    distance_rows,
    feature_lines,
    feature_records,
    likeness_record,
)
from simhash_pipeline.cli.terminal import counted, iso, minute
from simhash_pipeline.compare.bit_diff import bit_picture
from simhash_pipeline.compare.rejudged import Rejudged, asked_distance, rejudged, verify_distance
from simhash_pipeline.compare.terminal_diff import beside
from simhash_pipeline.drop_log import THRESHOLDS, unix_seconds
from simhash_pipeline.judge import min_likeness
from simhash_pipeline.options import PREFIX
from simhash_pipeline.printable import aligned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_pipeline.compare.comparison import Comparison
    from simhash_pipeline.drop_log import Drop
    from simhash_pipeline.judge import Distances
    from simhash_pipeline.options import Options
    from simhash_pipeline.page.fingerprint import PageFingerprint
    from simhash_pipeline.stores.contract import StoredPage


@dataclass(frozen=True, slots=True)
class Case:
    """A page and the stored page it was found near, or is the nearest to."""

    options: Options  # those that decided; of a kept page, those in force
    a: PageFingerprint | None  # the stored page; without what isn't known of it
    b: PageFingerprint  # the page that is asked about
    apart: Distances
    drop: Drop | None = None  # of a dropped page
    kept: StoredPage | None = None  # of a kept one
    neighbours: tuple[StoredPage, ...] = ()  # of a kept one, nearest first
    texts: str | None = None  # "kept" or "fetched"; None where what the pages say isn't known
    found: Comparison | None = None  # of the texts
    own_likeness: float | None = None  # of the own texts, 0-1; None for pages of two sites
    same_site: bool = False  # and of both pages' own texts something is known

    @property
    def rejudged(self) -> list[Rejudged]:
        """The pair judged by other settings; empty where no distance decides."""
        asked = asked_distance(self.options).partition("_")[0]
        decided = self.drop is None or self.drop.reason not in ("thin", "unchanged")
        if self.a is None or not decided or getattr(self.apart, asked) is None:
            return []
        return rejudged(
            (self.a.url or "", self.b.url or ""),
            self.apart,
            self.options,
            own_texts_agree=self.own_texts_agree,
        )

    @property
    def own_texts_agree(self) -> bool:
        """True for pages of two sites, which are judged by their main texts."""
        likeness = self.own_likeness
        return not self.same_site or (likeness is not None and likeness >= self.min_likeness)

    @property
    def min_likeness(self) -> float:
        """What own texts must be alike by."""
        return 0.0 if self.a is None else min_likeness(self.a, self.b)


def explanation_record(case: Case, limit: int) -> dict[str, Any]:
    drop, kept, found = case.drop, case.kept, case.found
    return {
        "url": case.b.url,
        "status": "kept" if drop is None else "dropped",
        "reason": None if drop is None else drop.reason,
        "time": drop.time if drop else iso(kept.first_seen) if kept else None,
        "dry_run": None if drop is None else drop.dry_run,
        "thresholds": {name: getattr(case.options, name) for name in THRESHOLDS},
        "content_distance": case.apart.content,
        "structure_distance": case.apart.structure,
        "sketch_distance": case.apart.sketch,
        "own_likeness": likeness_record(case.own_likeness),
        "page": _page_record(case.b, case.options.bits),
        "twin": None if case.a is None else _page_record(case.a, case.options.bits),
        "neighbours": [page.url for page in case.neighbours],
        "rejudged": [
            {"distance": row.distance, "verified": row.verified, "unverified": row.unverified}
            for row in case.rejudged
        ],
        "texts": case.texts,
        "shared": feature_records(found.shared[:limit]) if found else None,
        "differing": feature_records(found.differing[:limit]) if found else None,
        "diff": change_records(found.diff, limit) if found else None,
    }


def explanation_lines(case: Case, limit: int, columns: int) -> Iterator[str]:
    yield from _headline(case)
    if case.a is None:
        return
    yield ""
    yield aligned(distance_rows(case.a, case.b, case.apart, case.options))
    yield from _pictures(case)
    yield from _rejudged(case)
    if case.found is None:
        yield from _no_texts()
        return
    yield ""
    share = f"{case.found.shared_weight:.0%}"
    yield f"Of the features' weight both have {share}. The heaviest of these:"
    yield from feature_lines(case.found.shared, limit)
    yield "Features that weigh most otherwise:"
    yield from feature_lines(case.found.differing, limit)
    yield ""
    when = "as fetched now" if case.texts == "fetched" else "as they were judged"
    if not case.found.diff.changes:
        yield f"The main texts ({when}) have the same words."
        yield from _beside_main(case)
        return
    yield f"What the pages say ({when}), A beside B; [-only in A-], {{+only in B+}}"
    yield from beside(case.a.text, case.b.text, columns, limit)
    yield from _beside_main(case)


def _beside_main(case: Case) -> Iterator[str]:
    """How alike the pages are beside what was read as main text."""
    if case.own_likeness is not None:
        yield f"All that is their own on the site is alike by {case.own_likeness:.0%}."
    if case.found is None or case.texts != "fetched":
        return
    for name, page in (("A", case.a), ("B", case.b)):
        if page is not None and page.main_share is not None:
            yield f"The main text is {page.main_share:.0%} of {name}."
    changes = case.found.left_out.changes
    yield f"Beside the main texts {counted(len(changes), 'change')} of words."


def _page_record(page: PageFingerprint, bits: int) -> dict[str, Any]:
    return {
        "url": page.url,
        "title": page.title,
        "content": fingerprint_hex(page.content, bits),
        "structure": fingerprint_hex(page.structure, bits),
    }


def _headline(case: Case) -> Iterator[str]:
    drop = case.drop
    if drop is not None:
        when = minute(unix_seconds(drop.time))
        dry = ", by a dry run, so its item was kept" if drop.dry_run else ""
        yield f"Dropped {when} UTC by spider {drop.spider}{dry}: {_why(drop)}"
    elif case.kept is not None:
        first, last = minute(case.kept.first_seen), minute(case.kept.seen_at)
        yield f"Kept {first} UTC, last seen {last}: {_why_kept(case)}"
    rows = [("B", "dropped" if drop else "kept", case.b.url or "", case.b.title)]
    if case.a is not None:
        as_what = "kept" if drop else "nearest"
        rows.insert(0, ("A", as_what, case.a.url or "", case.a.title))
    yield ""
    yield aligned(rows)
    if len(case.neighbours) > 1:
        others = ", ".join(page.url for page in case.neighbours[1:])
        yield f"   then     {others}"


def _why(drop: Drop) -> str:
    return {
        "content": "its content is near that of a stored page.",
        "structure": "its structure is near that of a stored page.",
        "content and structure": "both content and structure are near those of a stored page.",
        "thin": "it has little text, and its title and text are a stored page's.",
        "unchanged": "it is stored, and nothing visible has changed.",
    }.get(drop.reason, drop.reason)


def _why_kept(case: Case) -> str:
    content, sketch, options = case.apart.content, case.apart.sketch, case.options
    if case.b.content is None:
        return f"as a thin page, of fewer than {options.min_tokens} tokens."
    if content is None:
        return "no other stored page is within 8 bits of its content."
    if content > options.content_distance:
        within = f"twins are within {options.content_distance}"
        return f"the nearest stored page is {counted(content, 'bit')} away, and {within}."
    limit = options.verify_distance
    if sketch is not None and limit is not None and sketch > limit:
        apart = f"{counted(sketch, 'bit')} apart"
        return f"a stored page is near, but the sketches are {apart}, over {limit}."
    if not case.own_texts_agree:
        differ = differing_beside(case.own_likeness, case.min_likeness)
        return f"a stored page's main text is near, but {differ}."
    return "it is near a page that is stored too; one of them was kept before the other was."


def _pictures(case: Case) -> Iterator[str]:
    for name in ("content", "structure"):
        a, b = getattr(case.a, name), getattr(case.b, name)
        if b is None:
            continue
        if a is None:
            yield f"\n{name}: that of A is not known, for no store here holds it"
            continue
        yield f"\n{name}, {getattr(case.apart, name)} of {case.options.bits} bits differ"
        yield from (f"  {row}" for row in bit_picture(a, b, case.options.bits))


def _rejudged(case: Case) -> Iterator[str]:
    found = case.rejudged
    if not found:
        return
    asked, limit = asked_distance(case.options), case.options.verify_distance
    set_to = getattr(case.options, asked)
    verified = f"sketches within {verify_distance(case.options)}{'' if limit is None else '*'}"
    unverified = f"no second look{'*' if limit is None else ''}"
    yield "\nThe same two pages judged by other settings (* as they were)"
    rows = [
        [
            f"{PREFIX}{asked.upper()}",
            *(f"{row.distance}{'*' if row.distance == set_to else ''}" for row in found),
        ],
        [verified, *("dropped" if row.verified else "kept" for row in found)],
        [unverified, *("dropped" if row.unverified else "kept" for row in found)],
    ]
    yield aligned(rows)


def _no_texts() -> Iterator[str]:
    yield "\nWhat the pages say was not kept. To see it:"
    yield aligned(
        [
            ("  now", "the same command with --fetch"),
            ("  from the next crawl on", "SIMHASH_KEEP_TEXT = True (`dedup` needs --store too)"),
        ]
    )
