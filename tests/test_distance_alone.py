"""Without a second look, verdicts are those of brute force over the distances."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from crawler.demo_site.pages import all_pages
from simhash_pipeline import Fingerprinter, Judge, Options, PageError, PageFingerprint, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Distances = NDArray[np.uint8]  # of each page from each, in bits

WORDS = [f"word{number}" for number in range(400)]
BOXES = [
    f"<{tag} class={letter}></{tag}>" for tag in ("div", "nav", "p") for letter in "abcdefghijkl"
]
# Bits of content and of structure.
BOTH = [(0, 3), (1, 2), (2, 1), (3, 0), (3, 3)]
LIMITS = {
    "content": [(bits, 3) for bits in range(4)],
    "structure": [(3, bits) for bits in range(4)],
    "both": BOTH,
    "either": BOTH,
}
FAR = 255  # bits; also of pages of which one has no such fingerprint


@pytest.fixture(scope="module")
def pages() -> list[PageFingerprint]:
    """All pages of the demo site that can be read, and a thousand made ones, mixed."""
    fingerprinter, rng = Fingerprinter(Options(second_look=False)), Random(7)
    found = [fingerprinter.fingerprint(html) for html in made_pages(rng)]
    for page in all_pages().values():
        with suppress(PageError):  # it is empty, or no page
            found.append(fingerprinter.fingerprint(page.body))
    rng.shuffle(found)
    return found


def made_pages(rng: Random) -> Iterator[bytes]:
    """Pages of 0 to 160 words and up to 40 boxes, repeated with small changes of both."""
    texts = [rng.choices(WORDS, k=rng.choice([0, 1, 2, 5, 20, 80, 160])) for _ in range(150)]
    frames = [rng.choices(BOXES, k=rng.randrange(40)) for _ in range(60)]
    for number in range(1_000):
        text, frame = rng.choice(texts).copy(), rng.choice(frames).copy()
        for _ in range(rng.randrange(3) if text else 0):
            text[rng.randrange(len(text))] = rng.choice(WORDS)
        for _ in range(rng.randrange(3) if frame else 0):
            frame[rng.randrange(len(frame))] = rng.choice(BOXES)
        yield f"<title>Page {number}</title><body>{''.join(frame)}<p>{' '.join(text)} !".encode()


def distances(values: Sequence[int | None]) -> Distances:
    known = np.array([value or 0 for value in values], np.uint64)
    missing = np.array([value is None for value in values])
    bits: Distances = np.bitwise_count(known[:, None] ^ known[None, :])
    bits[missing[:, None] | missing[None, :]] = FAR
    return bits


@pytest.fixture(scope="module")
def content(pages: list[PageFingerprint]) -> Distances:
    return distances([page.content for page in pages])


@pytest.fixture(scope="module")
def structure(pages: list[PageFingerprint]) -> Distances:
    return distances([page.structure for page in pages])


def brute_force(
    match: str, content: Distances, structure: Distances, limits: tuple[int, int]
) -> list[tuple[str, int] | None]:
    """Why each page is dropped, and the kept one that it is near; None for a kept page.

    Nearest first, then oldest; by `either` those near in content first.
    """
    near_content = np.where(content <= limits[0], content, FAR)
    near_structure = np.where(structure <= limits[1], structure, FAR)
    near_both = np.where(near_structure < FAR, near_content, FAR)
    rules = {
        "content": [("content", near_content)],
        "structure": [("structure", near_structure)],
        "both": [("content and structure", near_both)],
        "either": [("content", near_content), ("structure", near_structure)],
    }[match]
    answers: list[tuple[str, int] | None] = []
    kept: list[int] = []
    for place in range(len(content)):
        near = (
            (reason, kept[bits[place, kept].argmin()])
            for reason, bits in rules
            if kept and bits[place, kept].min() < FAR
        )
        answers.append(next(near, None))
        if answers[-1] is None:
            kept.append(place)
    return answers


@pytest.mark.parametrize("match", LIMITS)
def test_without_a_second_look_verdicts_are_those_of_brute_force(
    match: str, pages: list[PageFingerprint], content: Distances, structure: Distances
) -> None:
    for limits in LIMITS[match]:
        options = Options(
            match=match,
            content_distance=limits[0],
            structure_distance=limits[1],
            second_look=False,
        )
        with open_store("memory:") as store:
            judge = Judge(store, options)
            verdicts = [
                judge.judge(f"http://site{place % 7}.example/{place}", page)
                for place, page in enumerate(pages)
            ]
        found = [
            (verdict.reason, int(verdict.twin_url.rpartition("/")[2]))
            if verdict.dropped and verdict.twin_url
            else None
            for verdict in verdicts
        ]
        assert found == brute_force(match, content, structure, limits)


def test_among_these_pages_are_near_ones_short_ones_and_ones_of_few_elements(
    pages: list[PageFingerprint], content: Distances, structure: Distances
) -> None:
    for bits in (content, structure):
        pairs = np.bincount(bits[np.triu_indices(len(pages), 1)], minlength=FAR + 1)
        assert min(pairs[:5]) > 50
    assert len(pages) > 1_150
    assert sum(0 < page.tokens < 50 for page in pages) > 500
    assert sum(page.content is None for page in pages) > 200
    assert sum(page.structure is None for page in pages) > 200
