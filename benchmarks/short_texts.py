"""How far one changed word moves a fingerprint, by the length of the text: English and Chinese.

    python -m benchmarks.short_texts [--pages FOLDER] [--write FOLDER]

Main texts of pages are cut to so many words, and one word is replaced by another of the same pages.
The table tells the content distances, and which share of the pairs is taken for near-duplicates by
three settings; beside it, the share of pairs in which a fifth of the words was replaced. Without
--pages the texts are the demo site's.
"""

from __future__ import annotations

import argparse
import importlib
import random
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.pages import language_of, read_pages
from benchmarks.table import markdown
from crawler.demo_site.markup import story_text
from crawler.demo_site.pages import read_newsroom
from simhash_pipeline import Fingerprinter, Options, PageFingerprint
from simhash_pipeline.errors import PageError
from simhash_pipeline.judge import distances
from simhash_pipeline.page.segment import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LENGTHS = (10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1_000)
DRAWS = 400  # of each length and language
# SIMHASH_CONTENT_DISTANCE and SIMHASH_SKETCH_DISTANCE: the default, and two for short pages.
SETTINGS = ((3, 18), (8, 18), (8, 30))
A_FIFTH = 0.2  # of the words, by which a page becomes another one

Distances = list[tuple[int, int]]  # of content and sketch, a pair of texts each


class Row(NamedTuple):
    """One length in one language."""

    language: str
    length: int  # words
    characters: float
    one_word: Distances
    a_fifth: Distances

    def bits(self, share: float) -> float:
        """The content distance that this share of the pairs with one other word doesn't pass."""
        return float(np.quantile([content for content, _ in self.one_word], share))


def joined(distances: Distances, setting: tuple[int, int]) -> float:
    """The share of the pairs that a setting takes for near-duplicates."""
    near = [content <= setting[0] and sketch <= setting[1] for content, sketch in distances]
    return sum(near) / len(near)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=Path, help="folder or zip of real pages")
    parser.add_argument("--write", type=Path, help="folder for short-texts.svg")
    arguments = parser.parse_args()
    texts = demo_texts() if arguments.pages is None else main_texts(arguments.pages)
    rows = [row for language, of in texts.items() for row in measured(language, of)]
    head = "language, words >, characters >, bits: median >, 90 % >"
    for content, sketch in SETTINGS:
        head += f", {content}/{sketch}: one word >, a fifth >"
    print(markdown(head, [_cells(row) for row in rows]))
    if arguments.write is not None:
        plot(rows, arguments.write / "short-texts.svg")


def demo_texts() -> dict[str, list[list[str]]]:
    """By language, the words of the demo site's stories."""
    newsroom = read_newsroom()
    return {
        name: [words(story_text(story)) for story in newsroom.stories(lang)]
        for lang, name in (("en", "English"), ("zh", "Chinese"))
    }


def main_texts(folder: Path) -> dict[str, list[list[str]]]:
    """By language, the words of the pages' main texts."""
    fingerprinter, texts = Fingerprinter(), defaultdict(list)
    for page in read_pages(folder):
        try:
            text = fingerprinter.fingerprint(page.html).text
        except PageError:
            continue
        texts[language_of(page.html)].append(words(text))
    return dict(texts)


def measured(language: str, texts: list[list[str]]) -> Iterator[Row]:
    rng, fingerprinter = random.Random(language), Fingerprinter(Options(min_tokens=1))
    joiner = " " if language == "English" else ""
    vocabulary = [word for text in texts for word in text]
    for length in LENGTHS:
        long = [text for text in texts if len(text) >= length]
        if len(long) < 5:
            return
        one_word: Distances = []
        a_fifth: Distances = []
        for _ in range(DRAWS):
            text = rng.choice(long)
            start = rng.randint(0, len(text) - length)
            one = text[start : start + length]
            for found, changed in ((one_word, 1), (a_fifth, round(length * A_FIFTH))):
                other = list(one)
                for place in rng.sample(range(length), changed):
                    other[place] = rng.choice(vocabulary)
                if other != one:
                    pages = (fingerprinter.fingerprint_text(joiner.join(t)) for t in (one, other))
                    found.append(_apart(*pages))
        characters = np.mean([len(joiner.join(text[:length])) for text in long])
        yield Row(language, length, float(characters), one_word, a_fifth)


def _apart(a: PageFingerprint, b: PageFingerprint) -> tuple[int, int]:
    found = distances(a, b)
    assert found.content is not None
    return found.content, 128 if found.sketch is None else found.sketch


def _cells(row: Row) -> list[str]:
    figures = (row.length, row.characters, row.bits(0.5), row.bits(0.9))
    shares = [
        f"{joined(pairs, setting):.2f}"
        for setting in SETTINGS
        for pairs in (row.one_word, row.a_fifth)
    ]
    return [row.language, *(f"{figure:,.0f}" for figure in figures), *shares]


def plot(rows: Iterable[Row], path: Path) -> None:
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4))
    by_language = defaultdict(list)
    for row in rows:
        by_language[row.language].append(row)
    for language, of in by_language.items():
        lengths = [row.length for row in of]
        (line,) = left.plot(lengths, [row.bits(0.5) for row in of], "o-", label=language)
        left.plot(lengths, [row.bits(0.9) for row in of], ":", color=line.get_color())
        right.plot(lengths, [joined(row.one_word, SETTINGS[0]) for row in of], "o-", label=language)
    left.axhline(SETTINGS[0][0], color="gray", lw=1)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xticks(LENGTHS[::2], [f"{length:,}" for length in LENGTHS[::2]])
        axes.minorticks_off()
        axes.axvline(50, color="gray", lw=1, ls="--")
        axes.set(xlabel="words of the text, one of them changed")
        axes.legend()
    left.set(ylabel="bits apart: median, and 90 % (dotted)", ylim=(0, None))
    right.set(ylabel="share taken for near-duplicates", ylim=(0, 1.02))
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    main()
