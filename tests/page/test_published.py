"""Outputs that others have published, bit for bit, and the distances between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline import Fingerprinter, Options, content_fingerprint, hamming_distance
from simhash_pipeline.options import PRESETS
from simhash_pipeline.page.hashing import fnv1a, fnv1a_signed, hash_rows
from simhash_pipeline.page.parse import elements_of
from simhash_pipeline.page.simhash import simhash
from simhash_pipeline.page.structure import tag_features
from tests.page.content_features import content_features
from tests.trees import parse

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
        # As its program gives it, compiled and run: Go's lower case of the first letter is one i.
        ("mfonda", None, "İSTANBUL and \u212aelvin", 11384755232686695998),
        # The tutorials' Java program of 32 bits.
        ("java32", None, "this is string1", 1445386),
        ("java32", None, "this is string2", 1445386),
        ("java32", None, "你妈妈喊你回家吃饭哦，回家罗回家罗", 0b10001000001100110100111011011110),
        ("java32", None, "你妈妈叫你回家吃饭啦，回家罗回家罗", 0b1010010001111111110010110011101),
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


# Given by the published Java program, compiled and run, as it is now and as it was until July 2016.
@pytest.mark.parametrize(
    ("preset", "text", "fingerprint"),
    [
        ("simhash-java", "春天来了😀😀，𠮷野家开门了", 10774978395374236400),
        ("simhash-java-first", "春天来了😀😀，𠮷野家开门了", 10738940802261725872),
        ("simhash-java", "😀", 10798723536670256848),
        ("simhash-java-first", "😀", 0),
        ("simhash-java", "a😀b😀c", 10792877562156884560),
        ("simhash-java-first", "a😀b😀c", 10792877562156884560),
    ],
)
def test_simhash_java_halves_characters_beyond_16_bits_as_java_does(
    preset: str, text: str, fingerprint: int
) -> None:
    assert content_fingerprint(text, Options(preset=preset)) == fingerprint


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
    features = content_features(Options(preset="jiebar", top_n=2), text)
    assert {word: float(f"{weight:.6g}") for word, weight in features.items()} == keywords


def test_a_word_that_jieba_does_not_know_weighs_as_in_cppjieba() -> None:
    features = content_features(Options(preset="jiebar"), "蓝翔的CEO")
    assert {word: round(weight, 4) for word, weight in features.items()} == {
        "CEO": 11.7392,
        "蓝翔": 11.7392,
    }


# The published Go program was compiled and run on the keywords of a text and their weights. It
# prints each hash by `%064b` of a signed number, so half of them begin with a minus sign, which it
# takes for a one.
GO_KEYWORDS = {
    "区块": 115.02782379199999,
    "共识": 75.0876053858,
    "DAG": 35.217612921218105,
    "算法": 34.76476599652,
    "数据结构": 31.927743342,
    "结构": 28.9858776588,
    "拓扑": 28.709832935069997,
    "HashGraph": 23.478408614145405,
    "粒度": 20.5795194786,
    "交易": 19.6474286008,
    "技术": 18.87782871428,
}
GO_BITS = 0b1000111010111100010001001110101101101110011011010010111111001101


def test_gojieba_hashes_and_weighs_keywords_as_the_published_program() -> None:
    options = Options(preset="gojieba")
    rows = hash_rows(options.hash)(GO_KEYWORDS)
    weights = np.array(list(GO_KEYWORDS.values()))
    assert simhash(rows, weights, options.set_when) == GO_BITS


# The keywords are those of cppjieba 5 with its own dictionaries, and the fingerprints those of the
# published Go program for them, both compiled and run.
@pytest.mark.parametrize(
    ("text", "keywords", "fingerprint"),
    [
        (
            "云计算和区块链是近年的新技术，许多公司把账本放在区块链上，把数据放在云计算中心。",
            {
                "区块链": 23.478,
                "放在": 11.778,
                "云计算": 11.739,
                "计算中心": 11.416,
                "账本": 10.187,
            },
            0b1000100100001010101001100101111011000010111101011110000001011111,
        ),
        (
            "我是蓝翔技工学校的学生，学校开了云计算课程。蓝翔的学生毕业以后，有的去做云计算。",
            {"蓝翔": 23.478, "云计算": 23.478, "学生": 11.527, "技工学校": 11.128, "课程": 8.069},
            0b0011110101110100011100101101001100000001110001010011010011100011,
        ),
        (
            "区块链的共识算法决定谁来写账本，矿工用算力竞争，区块里记着每一笔交易，区块链因此很难被改写。",
            {"区块链": 23.478, "用算力": 11.739, "区块": 11.503, "账本": 10.187, "改写": 9.018},
            0b1000100110001010100011100111111011000010111111011010101101001111,
        ),
    ],
)
def test_gojieba_gives_the_keywords_and_the_fingerprint_of_the_published_program(
    text: str, keywords: dict[str, float], fingerprint: int
) -> None:
    options = Options(preset="gojieba")
    found = content_features(options, text)
    assert {word: round(weight, 3) for word, weight in found.items()} == keywords
    assert content_fingerprint(text, options) == fingerprint


@given(st.binary())
def test_a_signed_hash_is_the_64_characters_that_go_prints(data: bytes) -> None:
    value = fnv1a(data)
    signed = value - 2**64 if value >= 2**63 else value
    printed = f"{signed:064b}"  # as Go's %064b
    assert f"{fnv1a_signed(data):064b}" == printed[:64].replace("-", "1")


def test_gojieba_unsigned_hashes_the_same_keywords_by_plain_fnv() -> None:
    assert content_fingerprint("妈妈", Options(preset="gojieba-unsigned")) == fnv1a("妈妈".encode())
    assert Options(preset="gojieba-unsigned").weights == Options(preset="jiebar").weights


# The fingerprint and the weights are those of the published Go program, compiled and run.
DECAYED = (
    "<!doctype html><html><head><title>x</title><meta charset=utf-8></head><body><header><nav><ul>"
    "<li><a>1</a></li><li><a>2</a></li></ul></nav></header><main><article><h1>t</h1><p>a</p><p>b "
    "<a>c</a></p><p>d</p></article></main><footer><p>e</p></footer></body></html>"
)


def test_dom_decay_gives_the_fingerprint_of_the_published_program() -> None:
    options = Options(preset="dom-decay")
    assert Fingerprinter(options).fingerprint(DECAYED).structure == 0xF132317ED87FE3D6
    assert options.structure_distance == 5
    other = Fingerprinter(Options(preset="dom-decay:0.6")).fingerprint(DECAYED)
    assert other.structure == 0xF532317EBC7FE2D6
    weights = tag_features(elements_of(parse(DECAYED)), 0.45)
    assert {tag: float(f"{weight:.5g}") for tag, weight in weights.items()} == {
        "html": 0.45,
        "head": 0.2025,
        "title": 0.091125,
        "meta": 0.091125,
        "body": 0.2025,
        "header": 0.091125,
        "nav": 0.041006,
        "ul": 0.018453,
        "li": 0.0083038,
        "a": 0.0083038,
        "main": 0.091125,
        "article": 0.041006,
        "h1": 0.018453,
        "p": 0.041006,
        "footer": 0.091125,
    }


def test_dom_decay_reads_no_element_in_a_noscript_as_the_published_program() -> None:
    html = (
        "<!doctype html><html><head><title>x</title></head><body><main><article><h1>t</h1><p>a</p>"
        "<p>b <a>c</a></p></article></main><footer><p>e</p></footer>"
        "<noscript><div><p>f</p><img></div></noscript></body></html>"
    )
    found = Fingerprinter(Options(preset="dom-decay")).fingerprint(html)
    assert found.structure == 0xF103217ED83FA3D7


@pytest.mark.parametrize("preset", PRESETS)
@given(text=st.text())
def test_no_text_stops_a_preset(preset: str, text: str) -> None:
    found = content_fingerprint(text, Options(preset=preset))
    assert found is None or 0 <= found < 2**64
