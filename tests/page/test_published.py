"""Outputs that others have published, bit for bit, and the distances between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline import Fingerprinter, Options, content_fingerprint, hamming_distance
from simhash_pipeline.presets import PRESETS

LANXIANG = (
    "我是蓝翔技工拖拉机学院手扶拖拉机专业的。不用多久，我就会升职加薪，当上总经理，"
    "出任CEO，走上人生巅峰。"
)


@pytest.mark.parametrize(
    ("preset", "top_n", "text", "fingerprint"),
    [
        # The README of github.com/mfonda/simhash.
        ("mfonda", None, "this is a test phrase", 0x8C3A5F7E9ECB3F35),
        ("mfonda", None, "this is a test phrass", 0x8C3A5F7E9ECB3F21),
        ("mfonda", None, "foo bar", 0xD8DBE7186BAD3DB3),
        # The tutorials' Java program of 32 bits.
        ("java32", None, "this is string1", 1445386),
        ("java32", None, "this is string2", 1445386),
        # The documentation of jiebaR, topn = 2.
        ("jiebar", 2, "你妈妈叫你回家吃饭啊", 5255740375710833686),
        ("jiebar", 2, "你妈妈喊你回家吃饭,回家喽", 9184284471008831268),
        # The README of github.com/yanyiwu/simhash, and the test of github.com/yanyiwu/gosimhash.
        (
            "jiebar",
            5,
            LANXIANG,
            17831459094038722629,
        ),
        ("jiebar", 5, "我来到北京清华大学", 0xFEB6372A8750EB1D),
    ],
)
def test_a_preset_gives_the_published_fingerprint(
    preset: str, top_n: int | None, text: str, fingerprint: int
) -> None:
    options = Options(preset=preset, top_n=top_n)
    assert content_fingerprint(text, options) == fingerprint


@pytest.mark.parametrize(
    ("preset", "one", "two", "bits"),
    [
        ("mfonda", "this is a test phrase", "this is a test phrass", 2),
        ("mfonda", "this is a test phrase", "foo bar", 29),
        ("java32", "6", "8", 3),
        (
            "simhash-java",
            "aaaaaaaaaaaaaaaaaaaa",
            "aaaaaaaaaajfljaslfjaslddsjflasdjaaaaaz",
            2,
        ),
    ],
)
def test_a_preset_gives_the_published_distance(preset: str, one: str, two: str, bits: int) -> None:
    fingerprints = [content_fingerprint(text, Options(preset=preset)) for text in (one, two)]
    assert None not in fingerprints
    assert hamming_distance(*fingerprints) == bits  # type: ignore[arg-type]  # none is None


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("你妈妈叫你回家吃饭啊", {"妈妈": 6.55531, "吃饭": 6.44422}),
        ("你妈妈喊你回家吃饭,回家喽", {"回家": 12.3845, "妈妈": 6.55531}),
    ],
)
def test_the_keywords_and_their_weights_are_jiebar_s(text: str, keywords: dict[str, float]) -> None:
    features = Fingerprinter(Options(preset="jiebar", top_n=2)).content_features(text)
    assert {word: float(f"{weight:.6g}") for word, weight in features.items()} == keywords


def test_a_word_that_jieba_does_not_know_weighs_as_in_cppjieba() -> None:
    features = Fingerprinter(Options(preset="jiebar")).content_features("蓝翔的CEO")
    assert {word: round(weight, 4) for word, weight in features.items()} == {
        "CEO": 11.7392,
        "蓝翔": 11.7392,
    }


def test_gojieba_hashes_the_same_keywords_by_fnv() -> None:
    assert content_fingerprint("妈妈", Options(preset="gojieba")) == content_fingerprint(
        "妈妈", Options(ngrams=(1,), hash="fnv1a")
    )
    assert Options(preset="gojieba").weights == Options(preset="jiebar").weights


def test_dom_decay_is_the_published_structure_design() -> None:
    assert Options(preset="dom-decay") == Options(
        preset="dom-decay", structure_features="tag", decay=0.45
    )


@pytest.mark.parametrize("preset", PRESETS)
@given(text=st.text())
def test_no_text_stops_a_preset(preset: str, text: str) -> None:
    found = content_fingerprint(text, Options(preset=preset))
    assert found is None or 0 <= found < 2**64
