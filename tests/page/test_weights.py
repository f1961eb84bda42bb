from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline import Fingerprinter, Options, content_fingerprint
from simhash_pipeline.errors import OptionsError, PageError
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.page.weights import counted_ngrams


def features(text: str, **options: object) -> Mapping[str, float]:
    return Fingerprinter(Options(**{"ngrams": (1,), **options})).content_features(text)  # type: ignore[arg-type]  # any options


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


def test_top_n_keeps_the_heaviest_and_of_equals_the_first_by_code_point() -> None:
    assert list(features("b b a c d d d", top_n=2)) == ["d", "b"]
    assert list(features("c b a", top_n=2)) == ["a", "b"]


def test_a_table_gives_levels_to_words_and_its_star_to_all_others(tmp_path: Path) -> None:
    table = write(tmp_path / "levels.tsv", "# levels 1 to 5", "fog\t5", "fog bell\t3", "*\t0.5")
    found = features("fog bell fog", weights=table, ngrams=(1, 2))
    assert found == {"fog": 10, "bell": 0.5, "fog bell": 3, "bell fog": 0.5}


def test_files_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    table = write(tmp_path / "levels.tsv", "\ufeff*\t0", "fog\t5")
    found = features("fog bell", weights=table, ngrams=(1,))
    assert found == {"fog": 5.0, "bell": 0.0}
    text = "那么 海港 渔船"
    stop_words = write(tmp_path / "stop.txt", "\ufeff海港")
    assert "海港" in features(text, weights="jieba-tfidf")
    assert "海港" not in features(text, weights="jieba-tfidf", stop_words=stop_words)


def test_words_outside_a_table_without_a_star_weigh_one(tmp_path: Path) -> None:
    table = write(tmp_path / "levels.tsv", "fog\t5")
    assert features("fog bell", weights=table) == {"fog": 5, "bell": 1}


@pytest.mark.parametrize("row", ["fog 5", "fog\tfive", "fog\t-1", "fog\tnan", "fog\tinf"])
def test_a_bad_row_of_a_table_is_a_fault_of_the_setting(tmp_path: Path, row: str) -> None:
    table = write(tmp_path / "levels.tsv", "bell\t1", row)
    with pytest.raises(OptionsError, match=r"SIMHASH_WEIGHTS is .*levels.tsv"):
        Fingerprinter(Options(weights=table))


def test_the_stamp_holds_a_table_s_content_wherever_it_lies(tmp_path: Path) -> None:
    one = Options(weights=write(tmp_path / "a.tsv", "fog\t5"))
    same = Options(weights=write(tmp_path / "b.tsv", "fog\t5"))
    other = Options(weights=write(tmp_path / "c.tsv", "fog\t4"))
    assert stamp_for(one) == stamp_for(same) != stamp_for(other)
    Path(one.weights).unlink()
    with pytest.raises(OptionsError, match=r"SIMHASH_WEIGHTS is .*it can't be read"):
        stamp_for(one)


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


def test_a_text_that_weighs_nothing_has_no_fingerprint(tmp_path: Path) -> None:
    """Else all such texts would have one fingerprint."""
    table = write(tmp_path / "nothing.tsv", "*\t0")
    options = Options(weights=table)
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
