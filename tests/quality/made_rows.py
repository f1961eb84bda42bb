"""What the judge makes of made sites: copies found, and other pages kept.

    python -m tests.quality.made_rows

prints these rows alone; they need no folder of pages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from simhash_pipeline import Fingerprinter, Judge, PageFingerprint, open_store
from tests.quality.floors import read_floors, table
from tests.quality.made_sites import (
    VARIANTS,
    Copies,
    MadePage,
    consent_pages,
    copies,
    footer_pages,
    notices,
    script_shells,
    shop,
    syndicated,
)
from tests.quality.rows import Row, share_row

MADE = "made sites"
_NOTICE_WORDS = (200, 300, 500, 800)
_SHOP_PAGES = (50, 200, 800)
_KINDS = ("print", "amp", "mobile")
_SYNDICATED_GOALS = {100: 0.80, 50: 0.45}
_NOTICE_GOAL = 0.98  # at most one of 59 is dropped
_NOTICE_GOAL_OF_HOSTS = 0.9
_VARIANT_GOAL = 0.95
# What tells them apart is a word or a number: half are kept, and all by their items.
_UNNAMED_VARIANT_GOAL = 0.5


def made_rows() -> Iterator[Row]:
    """Shares of pages that are kept, as they must, and of copies that are found."""
    for name, (pages, goal) in _other_pages().items():
        group = VARIANTS if name.startswith("variants") else len(pages)
        yield share_row(MADE, f"{name}: kept", "all", _kept(pages, group), goal)
    for declared, goal in ((False, 0.50), (True, 0.90)):
        link = "a canonical link" if declared else "no canonical link"
        found = {kind: _found(copies(kind, declared=declared)) for kind in _KINDS}
        for kind, hits in found.items():
            yield share_row(MADE, f"{kind} copies under 200 words, {link}: found", "all", hits)
        hits = [hit for of_kind in found.values() for hit in of_kind]
        yield share_row(MADE, f"copies under 200 words, {link}: found", "all", hits, goal)
    for length, goal in _SYNDICATED_GOALS.items():
        measure = f"one article of {length} words in two templates: joined"
        yield share_row(MADE, measure, "all", _found(syndicated(length)), goal)


def made_digest() -> str:
    """SHA-256 of the pages: floors hold for these very ones."""
    digest = hashlib.sha256()
    for pages, _ in _other_pages().values():
        for page in pages:
            digest.update(page.html.encode())
    for made in (
        *(copies(kind, declared=declared) for kind in _KINDS for declared in (False, True)),
        *map(syndicated, _SYNDICATED_GOALS),
    ):
        for page in (*made.stories, *made.copies):
            digest.update(page.html.encode())
    return digest.hexdigest()


@cache
def _other_pages() -> Mapping[str, tuple[Sequence[MadePage], float]]:
    """By name of a site, its pages, no two of which are copies, and the goal."""
    sites: dict[str, tuple[Sequence[MadePage], float]] = {
        f"notices of {length} words, one name differs": (notices(length), _NOTICE_GOAL)
        for length in _NOTICE_WORDS
    }
    for length in _NOTICE_WORDS:
        sites[f"notices of {length} words, each on its own host"] = (
            [
                MadePage(f"http://council-{number}-example.org/notice", page.html)
                for number, page in enumerate(notices(length))
            ],
            _NOTICE_GOAL_OF_HOSTS,
        )
    for hosts, where in ((1, "one host"), (2, "two hosts")):
        sites[f"script shells, {where}"] = script_shells(hosts=hosts), 1.0
        sites[f"short recipes under a consent text, {where}"] = consent_pages(hosts=hosts), 1.0
        sites[f"short products over a long footer, {where}"] = footer_pages(hosts=hosts), 1.0
    for size in _SHOP_PAGES:
        named, unnamed = shop(size, titled=True), shop(size, titled=False)
        sites[f"variants, named in the title, shop of {size}"] = named, _VARIANT_GOAL
        sites[f"variants, not named in the title, shop of {size}"] = unnamed, _UNNAMED_VARIANT_GOAL
    return sites


def _kept(pages: Sequence[MadePage], group: int) -> list[float]:
    """1.0 for each page that is kept; the first of each group of like pages isn't counted."""
    with open_store("memory:") as store:
        judge = Judge(store)
        verdicts = [judge.judge(page.url, _fingerprint(page)) for page in pages]
    return [float(not verdict.dropped) for n, verdict in enumerate(verdicts) if n % group]


def _found(made: Copies) -> list[float]:
    """1.0 for each copy that is dropped, after all stories."""
    with open_store("memory:") as store:
        judge = Judge(store)
        for page in made.stories:
            judge.judge(page.url, _fingerprint(page))
        verdicts = [judge.judge(page.url, _fingerprint(page)) for page in made.copies]
    return [float(verdict.dropped) for verdict in verdicts]


def _fingerprint(page: MadePage) -> PageFingerprint:
    return _fingerprinter().fingerprint(page.html, page.url)


@cache
def _fingerprinter() -> Fingerprinter:
    return Fingerprinter()


if __name__ == "__main__":
    print(table(list(made_rows()), read_floors(), {MADE: made_digest()}))
