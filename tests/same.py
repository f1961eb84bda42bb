"""Compare the compiled kernel with the Python on all pages of the zips in folders: make same.

`python -m tests.same FOLDER... [--runs 1000000] [--soups 200000]` prints each page that differs,
and its fields, and how many pages the kernel leaves to the Python, by which rule. Made soups of
tags are read both ways too. The kernel's Chinese words are compared with jieba's, on these pages
and on made runs of Han. Exit code 1 if any differ.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import random
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from simhash_pipeline import native
from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options
from simhash_pipeline.page.compiled import hashed_words, read_markup
from simhash_pipeline.page.fingerprint import Fingerprinter, Page, PageFingerprint
from simhash_pipeline.page.han import HAN
from simhash_pipeline.page.hashing import hashed
from simhash_pipeline.page.parse import readable
from simhash_pipeline.page.segment import MAX_RUN
from tests.han_runs import jieba_words, made_runs
from tests.made_pages import soup

_HAN_RUN = re.compile(f"[{HAN}]{{1,{MAX_RUN}}}")

Answer = PageFingerprint | str


@contextlib.contextmanager
def by_python() -> Iterator[None]:
    """Switches the kernel off meanwhile."""
    kernel, native.kernel = native.kernel, None
    try:
        yield
    finally:
        native.kernel = kernel


class BothWays:
    """A fingerprinter by the kernel and one by the Python."""

    def __init__(self, options: Options) -> None:
        self._compiled = Fingerprinter(options)
        with by_python():
            self._python = Fingerprinter(options)

    def differing(self, make: Callable[[Fingerprinter], PageFingerprint]) -> list[str]:
        """The fields in which the two answers differ; both where one is an error."""
        a = _answer(make, self._compiled)
        with by_python():
            b = _answer(make, self._python)
        if isinstance(a, str) or isinstance(b, str):
            return [] if a == b else [str(a), str(b)]
        names = [field.name for field in dataclasses.fields(a)]
        return [name for name in names if getattr(a, name) != getattr(b, name)]

    def differing_page(self, html: bytes) -> list[str]:
        """As `differing`, for a page."""
        return self.differing(lambda maker: maker.fingerprint(html, "http://a.example/page"))


def read_otherwise(html: bytes) -> list[str]:
    """What the kernel reads of a page's source otherwise than the Python of its tree."""
    found = _parts(html)
    with by_python():
        expected = _parts(html)
    return [name for name in found if found[name] != expected.get(name)]


def _parts(html: bytes) -> dict[str, Any]:
    try:
        page = Page(html, None, Options())
        parts = {"title": page.title, "blocks": page.blocks, "structure": page.structure}
        return {**parts, "head": page.head, "cut": page.cut}
    except PageError as error:
        return {"kind": error.kind}


def rule_of(html: bytes) -> str:
    """The rule by which the Python reads a page; "sure" if the kernel does."""
    try:
        found = read_markup(readable(html)[0])
    except PageError:
        return "shared notice"
    return found if isinstance(found, str) else "sure"


def _answer(make: Callable[[Fingerprinter], PageFingerprint], maker: Fingerprinter) -> Answer:
    try:
        return make(maker)
    except PageError as error:
        return str(error)


def _cut_otherwise(runs: Iterable[str]) -> list[str]:
    """The runs of Han of which the kernel's words aren't jieba's."""
    return [run for run in runs if hashed_words(run) != hashed(jieba_words([run]))]


def _main_text(reader: Fingerprinter, html: bytes) -> str:
    try:
        return reader.fingerprint(html).text
    except PageError:
        return ""


def pages_of(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The HTML pages of the zips in a folder, each with its name."""
    for path in sorted(folder.rglob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.lower().endswith((".html", ".htm")):
                    yield f"{path.name}:{name}", archive.read(name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--soups", type=int, default=20_000)
    args = parser.parse_args()
    if native.kernel is None:
        parser.error("no kernel is built: SIMHASH_REQUIRE_NATIVE=1 pip install -e .")
    both = BothWays(Options())
    reader = Fingerprinter()
    pages = runs = faults = 0
    rules: Counter[str] = Counter()
    for folder in args.folders:
        for name, html in pages_of(folder):
            han = _HAN_RUN.findall(_main_text(reader, html))
            pages, runs = pages + 1, runs + len(han)
            rules[rule_of(html)] += 1
            differing = [*both.differing_page(html), *read_otherwise(html)]
            if differing := [*differing, *_cut_otherwise(han)]:
                faults += 1
                print(name, *differing)
    print(f"{pages:,} pages with {runs:,} runs of Han, {faults:,} of them differ")
    print("read by the kernel, or why not:", *map(" ".join, _counts(rules)), sep="\n  ")
    rng, rules = random.Random(1), Counter()
    soups = [soup(rng) for _ in range(args.soups)]
    bad = [page for page in soups if read_otherwise(page)]
    rules.update(map(rule_of, soups))
    print(f"{args.soups:,} made soups, {len(bad):,} of them differ", *bad[:5], sep="\n")
    print("read by the kernel, or why not:", *map(" ".join, _counts(rules)), sep="\n  ")
    others = _cut_otherwise(made_runs(args.runs, seed=1))
    print(f"{args.runs:,} made runs of Han, {len(others):,} of them differ", *others)
    return 1 if faults or bad or others or not pages else 0


def _counts(rules: Counter[str]) -> list[tuple[str, str]]:
    return [(f"{count:,}", rule) for rule, count in rules.most_common()]


if __name__ == "__main__":
    sys.exit(main())
