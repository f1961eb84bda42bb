"""Two pages side by side, as the options judge them."""

import pytest

from simhash_pipeline import Fingerprinter, Options, PageFingerprint
from simhash_pipeline.errors import PageError
from simhash_pipeline.review.comparison import compare
from simhash_pipeline.verdict import Verdict

STORY = "The ferry came home through fog and nobody saw it. " * 10


def page(text: str, url: str, options: Options) -> PageFingerprint:
    return Fingerprinter(options).fingerprint(f"<title>News</title><body><p>{text}</p>", url)


def compared(
    a: str,
    b: str,
    options: Options,
    url_a: str = "http://a.example/1",
    url_b: str = "http://a.example/2",
) -> Verdict:
    return compare(page(a, url_a, options), page(b, url_b, options), options)


def test_the_same_text_at_two_urls_is_twins() -> None:
    found = compared(STORY, STORY, Options())
    assert (found.dropped, found.reason) == (True, "content")
    assert found.twin_url == "http://a.example/1"
    bits = (found.content_distance, found.structure_distance, found.sketch_distance)
    assert bits == (0, None, 0)


def test_other_texts_are_no_twins() -> None:
    found = compared(STORY, "one two three four five " * 12, Options())
    assert (found.dropped, found.reason) == (False, "new")


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
    assert found.dropped is twins
    if twins:
        assert (found.content_distance, found.sketch_distance) == (5, 22)


def test_one_url_is_twins_while_its_content_has_not_moved() -> None:
    same = "http://a.example/1"
    unmoved = compared(STORY, STORY, Options(), same, same)
    assert unmoved.reason == "unchanged"
    moved = compared(STORY, "one two three four five " * 12, Options(), same, same)
    assert (moved.dropped, moved.reason) == (False, "changed")


def test_thin_pages_are_twins_when_title_and_text_are_the_same() -> None:
    assert compared("Closed today.", "Closed today.", Options()).dropped
    other = compared("Closed today.", "Open today.", Options())
    assert (other.dropped, other.content_distance) == (False, None)


def test_a_url_that_is_none_is_refused() -> None:
    with pytest.raises(PageError, match="is not a URL"):
        compared(STORY, STORY, Options(), url_b="http://[")
