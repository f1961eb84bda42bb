"""Two pages side by side, as the options judge them."""

import pytest

from simhash_pipeline import Fingerprinter, Options, PageFingerprint
from simhash_pipeline.errors import PageError
from simhash_pipeline.review.comparison import Comparison, compare
from simhash_pipeline.verdict import Distances

STORY = "The ferry came home through fog and nobody saw it. " * 10


def page(text: str, url: str, options: Options) -> PageFingerprint:
    return Fingerprinter(options).fingerprint(f"<title>News</title><body><p>{text}</p>", url)


def compared(
    a: str,
    b: str,
    options: Options,
    url_a: str = "http://a.example/1",
    url_b: str = "http://a.example/2",
) -> Comparison:
    return compare(page(a, url_a, options), page(b, url_b, options), options)


def test_the_same_text_at_two_urls_is_twins_with_nothing_that_differs() -> None:
    found = compared(STORY, STORY, Options())
    assert found.are_twins
    assert (found.verdict.reason, found.verdict.twin_url) == ("content", "http://a.example/1")
    assert found.apart == Distances(content=0, structure=None, sketch=0)
    assert found.diff.changes == ()


def test_other_texts_are_no_twins() -> None:
    found = compared(STORY, "one two three four five " * 12, Options())
    assert not found.are_twins
    assert found.verdict.reason == "new"


@pytest.mark.parametrize(
    ("options", "twins"),
    [
        (Options(content_distance=5, sketch_distance=22), True),
        (Options(content_distance=4, sketch_distance=22), False),
        (Options(content_distance=5, sketch_distance=21), False),
        (Options(content_distance=5, second_look=False), True),
        # A page of three elements has no structure: it is judged by its content, or by both alone.
        (Options(content_distance=5, sketch_distance=22, match="both"), True),
        (Options(content_distance=5, second_look=False, match="both"), False),
    ],
)
def test_the_judge_decides_by_the_options(options: Options, twins: bool) -> None:
    found = compared(STORY, f"{STORY} Some more words.", options, url_b="http://b.example/2")
    assert (found.apart.content, found.apart.sketch) == (5, 22)
    assert found.are_twins is twins


def test_one_url_is_twins_while_its_content_has_not_moved() -> None:
    same = "http://a.example/1"
    unmoved = compared(STORY, STORY, Options(), same, same)
    assert (unmoved.are_twins, unmoved.verdict.reason) == (True, "unchanged")
    moved = compared(STORY, "one two three four five " * 12, Options(), same, same)
    assert (moved.are_twins, moved.verdict.reason) == (False, "changed")


def test_thin_pages_are_twins_when_title_and_text_are_the_same() -> None:
    assert compared("Closed today.", "Closed today.", Options()).are_twins
    other = compared("Closed today.", "Open today.", Options())
    assert (other.are_twins, other.apart.content) == (False, None)
    assert [piece.text for piece in other.diff.changes[0]] == ["Closed", "Open", "today."]


def test_a_url_that_is_none_is_refused() -> None:
    with pytest.raises(PageError, match="is not a URL"):
        compared(STORY, STORY, Options(), url_b="http://[")
