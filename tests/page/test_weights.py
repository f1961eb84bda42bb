from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline import Options, content_fingerprint
from simhash_pipeline.errors import OptionsError, PageError
from simhash_pipeline.page.simhash import counted_ngrams
from tests.page.content_features import content_features


def features(text: str, **options: object) -> Mapping[str, float]:
    return content_features(Options(**{"ngrams": (1,), **options}), text)  # type: ignore[arg-type]  # any options


def write(path: Path, *rows: str) -> str:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("tf", {"fog": 2, "bell": 1}),
        ("tests.page.test_weights.squared", {"fog": 4, "bell": 1}),
    ],
)
def test_a_feature_s_count_becomes_its_weight(weights: str, expected: dict[str, float]) -> None:
    assert features("fog bell fog", weights=weights) == pytest.approx(expected)


def squared(counts: Mapping[str, int]) -> dict[str, int]:
    return {feature: count**2 for feature, count in counts.items()}


def as_they_are(counts: Mapping[str, int]) -> Mapping[str, int]:
    return counts


@pytest.mark.parametrize("segmenter", ["words", "java-characters", "spaces"])
@given(text=st.text(alphabet="ab 雾 .", max_size=40))
def test_counts_as_weights_give_what_counting_alone_gives(segmenter: str, text: str) -> None:
    """The default counts no n-gram as text; a weighting that changes nothing does."""
    plain = Options(segmenter=segmenter)
    weighed = Options(segmenter=segmenter, weights=f"{__name__}.as_they_are")
    assert content_fingerprint(text, plain) == content_fingerprint(text, weighed)


def negative(counts: Mapping[str, int]) -> dict[str, int]:
    return dict.fromkeys(counts, -1)


def nothing(counts: Mapping[str, int]) -> dict[str, int]:
    return dict.fromkeys(counts, 0)


def test_top_n_keeps_the_heaviest_and_of_equals_the_first_by_code_point() -> None:
    assert list(features("b b a c d d d", top_n=2)) == ["d", "b"]
    assert list(features("c b a", top_n=2)) == ["a", "b"]


def test_files_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    text = "那么 海港 渔船"
    stop_words = write(tmp_path / "stop.txt", "\ufeff海港")
    assert "海港" in features(text, weights="jieba-tfidf")
    assert "海港" not in features(text, weights="jieba-tfidf", stop_words=stop_words)


def test_stop_words_come_from_jieba_or_from_a_file(tmp_path: Path) -> None:
    text = "那么 灯塔 the harbour"
    assert set(features(text, weights="jieba-tfidf")) == {"那么", "灯塔", "harbour"}
    stop_words = write(tmp_path / "stop.txt", "那么")
    found = features(text, weights="jieba-tfidf", stop_words=stop_words)
    assert set(found) == {"灯塔", "harbour", "the"}
    with pytest.raises(OptionsError, match=r"SIMHASH_STOP_WORDS is 'nowhere.txt'"):
        features(text, weights="jieba-tfidf", stop_words="nowhere.txt")


def test_weights_below_nothing_are_the_page_s_fault() -> None:
    with pytest.raises(PageError, match="gave 'fog' the weight -1; weights must be 0 to 1e") as err:
        features("fog", weights="tests.page.test_weights.negative")
    assert err.value.kind == "weights"


def test_a_text_that_weighs_nothing_has_no_fingerprint() -> None:
    """Else all such texts would have one fingerprint."""
    options = Options(weights=f"{__name__}.nothing")
    assert content_fingerprint("the fog bell", options) is None
    assert content_fingerprint("a b c", Options(preset="jiebar")) is None


def test_content_features_are_counted_unigrams_and_bigrams() -> None:
    assert counted_ngrams(["a", "b", "a", "b"], (1, 2)) == {
        "a": 2,
        "b": 2,
        "a b": 2,
        "b a": 1,
    }


def test_a_text_shorter_than_the_n_gram_has_none() -> None:
    assert counted_ngrams(["a", "b"], (3,)) == {}
