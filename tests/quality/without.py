"""What each rule of the judge buys and costs: each is taken away in turn, alone.

    python -m tests.quality.without [FOLDER] [--write]

FOLDER holds the labelled pairs of `tests.quality`, of which few are judged; without it made pages
are judged alone. Counted are the copies that are found and the pages that are kept with the rule
and not without it, and what it costs of both. --write puts the table into benchmarks/rules.md.
Exit status 1 when there is a rule that no row misses: it has to go. Rules of settings aren't
listed.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.table import markdown
from simhash_pipeline import (
    Fingerprinter,
    PageFingerprint,
    candidates,
    item_values,
    items,
    judge,
    notation,
    on_page,
    specific_text,
    twins,
)
from simhash_pipeline.page import titles
from simhash_pipeline.repeated_text import NO_BLOCKS
from tests.documents import ROOT
from tests.quality import made_rows, made_texts
from tests.quality.corpora import Corpus, pages_of
from tests.quality.made_items import item_rows
from tests.quality.made_names import name_rows
from tests.quality.measures import OTHER_HOST, Joins, fingerprinted
from tests.quality.rows import Row, share_row

PAGE = ROOT / "benchmarks/rules.md"
HEADERS = "rule, copies found by it>, lost>, pages kept by it>, lost>, missed most by"
# One line of a table in so many.
_STEPS = {"versions.zip": 12, "syndicated.zip": 8}


def _no(*_: object, **__: object) -> bool:
    return False


def _yes(*_: object, **__: object) -> bool:
    return True


def _its_own(_: on_page.Page, own: list[bytes]) -> list[tuple[str, bool]]:
    return [(each.decode("utf-8", "replace"), on_page.counts(each)) for each in own]


def _lines_alone(page: on_page.Page, lines: list[bytes]) -> list[str]:
    return [cell for cell in page._facts.split("\n") if on_page.unspaced(cell) in lines]


def _none(*_: object, **__: object) -> Iterator[Any]:
    return iter(())


# What is asked, and what is put in the place of a name of these modules.
RULES: Mapping[str, tuple[str, object]] = {
    "the sketches agree": ("Pair.sketches_agree", _yes),
    "a shared notice": ("share_a_notice", _no),
    "form letters": ("are_form_letters", _no),
    "two codes in a folder": ("have_two_codes", _no),
    "the titles name two things": ("name_two_things", _no),
    "two headlines of one text": ("Pair._are_very_near", _no),
    "headlines that differ in numbers": ("numbers_differ", _no),
    "a text that is known under two names": ("Pair.names_differ", _no),
    "what a template's titles repeat is no name": ("Pair.repeated_words", lambda *_: NO_BLOCKS),
    "a part of a title is its name, or the site's": (
        "_parts_of",
        lambda title: [[word] for word in titles.words_of(title)],
    ),
    "names in code are whole words": ("_OF_CODE", re.compile("(?!)")),
    "the page-specific texts are alike": ("Pair.specific_texts_differ", _no),
    "half of the main texts in two templates": ("MIN_MAIN_SIMILARITY", 1.0),
    "0.95 of texts whose template isn't known": ("Pair._are_unknown_texts", _no),
    "what recurs proves nothing": ("_RECURRING", 0),
    "too few windows prove nothing": ("_MIN_COMMON", 1),
    "repeated text is learnt": ("RepeatedText.learn", _no),
    "copies teach no repeated text": ("teaches_repeated_text", _yes),
    "candidates: of one declared address": ("_by_address", _none),
    "candidates: of one longest paragraph or minhash": ("_by_sketch", _none),
    "candidates: error pages of one pattern": ("_by_error_pattern", _none),
    "two of the copies of a foreign page": ("RunMemory._note_copy", _no),
    "a scraped value differs": ("Pair.differing_values", lambda _: b""),
    "numbers and offers tell between templates": ("_tell", _no),
    "a price, where the other item has none": ("_is_shown_price", _no),
    "of a price its number and currency": ("numbers_of", lambda text: [text]),
    "scraped values that no page shows": ("_unseen", lambda *_: ""),
    "0 and False say nothing beside other boxes": ("_is_nothing", _no),
    "numbers in another spelling": ("Page._shows_number", _no),
    "what crawls add says nothing": ("_CRAWLS", re.compile("(?!)")),
    "one scraped text": ("Pair._one_text_was_scraped", _no),
    "facts of two scraped texts": ("facts_differ", _no),
    "cells are facts in a text of one line": ("Page.facts_in", _lines_alone),
    "two scraped texts": ("Pair._two_texts_were_scraped", _no),
    "a new sentence of a scraped text": ("Pair._has_news", _no),
    "other numbers of another site's report": ("renumbered", lambda *_: frozenset()),
    "of a text the sentences of its page": ("Page.said_in", _its_own),
    "the fuller of two texts is news": ("Pair.gone_sentences", lambda _: frozenset([-1])),
    "a price that a text has says nothing": ("Pair._has_all_sentences", _no),
    "an article speaks for no text beside it": ("Page.has_elsewhere", _no),
    "an item with a price says what its thing is": ("OFFER", 0),
    "the posts of a thread say what it is": ("PARTS", 0),
    "one offer, or one visit, whose items say the same": ("Pair.say_one_thing", _no),
    "visits at tracking addresses are one": ("is_one_visit", _no),
    "a dateline is no news": ("_DATELINE", re.compile("(?!)")),
    "a sentence that copies repeat is no news": ("RepeatedText.learn_copy", _no),
}
ROOMS = (judge, candidates, twins, specific_text, titles, item_values, items, notation, on_page)


@dataclass(frozen=True, slots=True)
class Thin(Corpus):
    """A corpus with one in `step` lines of its tables."""

    step: int = 1

    def table(self, name: str) -> list[dict[str, str]]:
        return Corpus.table(self, name)[:: self.step]


def rows(folder: Path | None) -> list[Row]:
    """Those that a goal was set for, as others tell neither copies nor other pages."""
    made_rows._SHOP_PAGES, made_texts._TEMPLATES = (50, 200), 3  # type: ignore[assignment]
    found = [*made_rows.made_rows(), *item_rows(), *name_rows(), *made_texts.text_rows()]
    if folder is not None:
        found += _labelled_rows(folder)
    return [row for row in found if row.goal is not None]


def _labelled_rows(folder: Path) -> Iterator[Row]:
    for corpus in (Thin(folder / name, step) for name, step in _STEPS.items()):
        pairs = corpus.pairs()
        pages = {name: fingerprinted(corpus, name) for name in pages_of(pairs)}
        for hosts, other in (("one host", "https://a.example/2"), ("two hosts", OTHER_HOST)):
            joins = Joins(3, other=other)
            for label, word in ((1, "found"), (0, "kept")):
                of_label = [pair for pair in pairs if pair.label == label]
                hits = [joins(pages[p.page_a], pages[p.page_b]) == bool(label) for p in of_label]
                yield share_row(corpus.name, f"pairs, {hosts}: {word}", "all", hits, 0.0)


def owners_of(name: str) -> list[object]:
    """The modules, or the class, that have a rule by this name."""
    owner, _, name = name.rpartition(".")
    owners = [getattr(room, owner, None) for room in ROOMS] if owner else ROOMS
    return [one for one in owners if hasattr(one, name)]


def take_away(name: str, instead: object) -> None:
    """Put something in the place of a rule, wherever it is called by this name."""
    found = owners_of(name)
    assert found, f"there is no {name}"
    for owner in found:
        setattr(owner, name.rpartition(".")[2], instead)
    specific_text._marked.cache_clear()


def _right(folder: Path | None, rule: str = "") -> dict[tuple[str, str], int]:
    """By pages and name of a row: the copies found or the pages kept, without the rule."""
    if rule:
        take_away(*RULES[rule])
    return {(row.corpus, row.name): round(row.value * row.count) for row in rows(folder)}


def _line(rule: str, whole: Mapping[Any, int], without: Mapping[Any, int]) -> list[str]:
    """A rule's line of the table; its last cell is empty if no row misses it."""
    moved = {row: right - without[row] for row, right in whole.items()}
    cells = [rule]
    for is_kept in (False, True):
        of_error = [by for row, by in moved.items() if _asks_to_keep(row[1]) is is_kept]
        cells += [str(sum(sign * by for by in of_error if sign * by > 0)) for sign in (1, -1)]
    row = max(moved, key=lambda row: moved[row])
    return [*cells, f"{row[0]}: {row[1].removesuffix(', all')}" if moved[row] > 0 else ""]


def _asks_to_keep(name: str) -> bool:
    return bool(re.search(r"\b(kept|apart)\b", name))


def _remember_fingerprints() -> None:
    """Rules of the judge move none of them: each page is read once, before the rules go."""
    read = Fingerprinter.fingerprint
    known: dict[tuple[object, ...], PageFingerprint] = {}

    def fingerprint(self: Fingerprinter, html: Any, *args: Any) -> PageFingerprint:
        data = html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html
        key = (hashlib.blake2b(data).digest(), repr(self._options), *args)
        if key not in known:
            known[key] = read(self, html, *args)
        return known[key]

    Fingerprinter.fingerprint = fingerprint  # type: ignore[assignment,method-assign]


def table(folder: Path | None) -> tuple[str, list[str]]:
    """The table, and the rules that no row misses."""
    _remember_fingerprints()
    whole = _right(folder)
    # Forked, each process has the fingerprints, and takes its one rule from a judge of its own.
    with multiprocessing.get_context("fork").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        found = pool.map(partial(_right, folder), RULES, chunksize=1)
    lines = [_line(rule, whole, of_rule) for rule, of_rule in zip(RULES, found, strict=True)]
    return markdown(HEADERS, lines), [line[0] for line in lines if not line[-1]]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="labelled pages")
    parser.add_argument("--write", action="store_true", help="into benchmarks/rules.md")
    arguments = parser.parse_args()
    made, missed_by_none = table(arguments.folder)
    print(made)
    if arguments.write:
        text = PAGE.read_text(encoding="utf-8")
        head = re.escape(made.partition("\n")[0][:6])
        PAGE.write_text(re.sub(rf"(?m)^{head}.*\n(?:\|.*\n)+", made + "\n", text), encoding="utf-8")
    for rule in missed_by_none:
        print(f"no row misses the rule: {rule}", file=sys.stderr)
    return 1 if missed_by_none else 0


if __name__ == "__main__":
    sys.exit(main())
