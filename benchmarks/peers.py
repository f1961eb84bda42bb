"""Which pages this project and others take for near-duplicates, and what that costs them.

    python -m benchmarks.peers [ZIP] [--pairs 200] [--rounds 3] [--seomoz FOLDER]

Without a zip: all pairs of the demo site's pages of one language, against its table of answers.
ZIP holds pairs.csv (page_a, page_b, label, lang, jaccard) and the pages; of each language so many
pairs are drawn, always the same. Everybody judges the same pages in the same run. Cost is CPU time
from page to fingerprint, without the look-up, against this project's in the same round: the median
of the rounds. Pages over a megabyte are judged, and not timed. simhash-pybind (seomoz's C++) is
taken from the folder of `pip install --target FOLDER simhash-pybind`.
"""

from __future__ import annotations

import argparse
import platform
import random
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

from w3lib.encoding import http_content_type_encoding

from benchmarks.peer_contenders import Contender, Document, contenders, versions
from benchmarks.table import markdown
from crawler.demo_site import read_answers
from crawler.demo_site.pages import all_pages
from simhash_pipeline.page.decode import decode
from tests.quality.corpora import Corpus

LANGUAGES = {"en": "English", "zh": "Chinese"}
SITE = "http://127.0.0.1:8642"
_SEED = 7
_MAX_TIMED_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """Pages of one language, and for pairs of them whether they are near-duplicates."""

    documents: list[Document]
    pairs: dict[tuple[str, str], bool]


@dataclass(frozen=True, slots=True)
class Score:
    """What one contender made of a case; None where there is nothing to divide by."""

    precision: float | None
    recall: float | None
    failed: int  # pages that ended in an error
    cost: list[float]  # CPU seconds of all timed pages, one figure a round


def demo_case(lang: str) -> Case:
    """The demo site's pages that a crawl sees: copies of one story are near-duplicates."""
    groups = {
        answer.path: answer.twin or answer.path
        for answer in read_answers()
        if _language(answer.path) == lang
    }
    pages = all_pages()
    documents = [
        _document(path, pages[path].body, pages[path].content_type, SITE + path) for path in groups
    ]
    pairs = {(a, b): groups[a] == groups[b] for a, b in combinations(groups, 2)}
    return Case(documents, pairs)


def _language(path: str) -> str:
    return next((lang for lang in ("zh", "ja") if f"/{lang}/" in path), "en")


def zip_case(corpus: Corpus, lang: str, most_pairs: int) -> Case:
    """A sample of a zip's pairs, and the pages of these."""
    of_lang = [pair for pair in corpus.pairs() if pair.lang.startswith(lang)]
    drawn = random.Random(_SEED).sample(of_lang, min(most_pairs, len(of_lang)))
    names = sorted({name for pair in drawn for name in (pair.page_a, pair.page_b)})
    documents = [_document(name, corpus.read(name)) for name in names]
    return Case(documents, {(pair.page_a, pair.page_b): bool(pair.label) for pair in drawn})


def _document(name: str, body: bytes, content_type: str = "", url: str | None = None) -> Document:
    charset = http_content_type_encoding(content_type)
    return Document(name, body, decode(body, charset), charset, url)


def scores(case: Case, found: Mapping[str, Contender], rounds: int) -> dict[str, Score]:
    """Everybody's score; a round is all contenders, one after the other, over all pages."""
    signatures: dict[str, dict[str, Any]] = {}
    failed: dict[str, int] = {}
    costs: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        for name, contender in found.items():
            contender.learn(case.documents)
            timed = [one for one in case.documents if len(one.body) <= _MAX_TIMED_BYTES]
            _signed(contender, timed[:1])  # some read their tables at the first page
            started = time.process_time()
            signed, failures = _signed(contender, timed)
            costs[name].append(time.process_time() - started)
            if number == 0:
                large = [one for one in case.documents if len(one.body) > _MAX_TIMED_BYTES]
                more, more_failures = _signed(contender, large)
                signatures[name], failed[name] = signed | more, failures + more_failures
    return {
        name: _score(case, contender.joined(signatures[name], list(case.pairs)), failed[name], cost)
        for (name, contender), cost in zip(found.items(), costs.values(), strict=True)
    }


def _signed(contender: Contender, documents: Sequence[Document]) -> tuple[dict[str, Any], int]:
    """The signatures, and for how many pages there is an error in their stead."""
    signed: dict[str, Any] = dict.fromkeys(one.name for one in documents)
    failures = 0
    for document in documents:
        with suppress(OverflowError):
            signed[document.name] = contender.sign(document)
            continue
        failures += 1
    return signed, failures


def _score(case: Case, joined: Sequence[bool], failed: int, cost: list[float]) -> Score:
    right = sum(a and b for a, b in zip(case.pairs.values(), joined, strict=True))
    said, there = sum(joined), sum(case.pairs.values())
    return Score(right / said if said else None, right / there if there else None, failed, cost)


def table(results: Mapping[str, Mapping[str, Score]]) -> str:
    """Markdown: a line for each contender, three columns for each language."""
    names = dict.fromkeys(name for of_lang in results.values() for name in of_lang)
    header, rows = ["fingerprint of a page"], [[name] for name in names]
    for lang, of_lang in results.items():
        label = LANGUAGES[lang]
        header += [f"{label}: precision>", "recall>", "CPU a page>"]
        first, *_ = of_lang.values()
        for row in rows:
            score = of_lang[row[0]]
            ratio = median(a / b for a, b in zip(score.cost, first.cost, strict=True))
            row += [_share(score.precision), _share(score.recall), f"{ratio:.2f}"]
    return markdown(", ".join(header), rows)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("zip", nargs="?", type=Path, help="labelled pairs; the demo site if none")
    parser.add_argument("--pairs", type=int, default=200, help="of a language, with a zip")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seomoz", type=Path, default=Path(".venv/seomoz"))
    arguments = parser.parse_args()
    found, left_out = contenders(arguments.seomoz, urls=arguments.zip is None)
    results: dict[str, dict[str, Score]] = {}
    for lang, label in LANGUAGES.items():
        case = (
            zip_case(Corpus(arguments.zip), lang, arguments.pairs)
            if arguments.zip
            else demo_case(lang)
        )
        if not case.pairs:
            continue
        near = sum(case.pairs.values())
        print(
            f"{label}: {len(case.documents)} pages, {len(case.pairs):,} pairs, "
            f"{near} of them near-duplicates"
        )
        results[lang] = scores(case, found, arguments.rounds)
        for name, score in results[lang].items():
            if score.failed:
                print(f"{label}: {name}: {score.failed} page(s) ended in an OverflowError")
    print(f"\n{table(results)}\n")
    for name, why in left_out.items():
        print(f"Not measured: {name}: {why}")
    print(f"Python {platform.python_version()}, {versions(found.values(), arguments.seomoz)}")
    print(f"Command: python -m benchmarks.peers {' '.join(sys.argv[1:])}")


if __name__ == "__main__":
    main()
