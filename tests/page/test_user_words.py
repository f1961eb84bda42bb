"""Words that a user adds, takes out, or weighs by hand."""

import functools
from collections.abc import Mapping
from pathlib import Path

import pytest

from simhash_pipeline import Fingerprinter, Judge, Options
from simhash_pipeline.errors import OptionsError
from simhash_pipeline.page.segment import segmenter
from simhash_pipeline.page.stamp import stamp_for
from tests.page.content_features import content_features

TEXT = "美国“51区”雇员称内部有9架飞碟，曾看见灰色外星人"
LEVELS = {
    "美国": 4,
    "51区": 5,
    "雇员": 3,
    "称": 1,
    "内部": 2,
    "有": 1,
    "9架": 3,
    "飞碟": 5,
    "曾": 1,
    "看见": 3,
    "灰色": 4,
    "外星人": 5,
}
HAN = "海港日报讯船返航新泊位试成功老工数着秒看完全程台风擦城而过"


@pytest.fixture
def dictionary(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text("\ufeff51区 3 n\n9架\n\n区51号\n海港日报讯\nC++ nz\n", encoding="utf-8")
    return path


def by_hand(counts: Mapping[str, int]) -> dict[str, int]:
    return {word: n * LEVELS[word] for word, n in counts.items()}


def test_a_text_is_weighed_by_hand_word_by_word(dictionary: Path) -> None:
    options = Options(user_dict=str(dictionary), weights=f"{__name__}.by_hand", ngrams=(1,))
    assert content_features(options, TEXT) == LEVELS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("去51区看", "去 51区 看"),
        ("去151区看", "去 151 区 看"),
        ("在区51号外", "在 区51号 外"),
        ("５１区", "51区"),
        ("c++ and C", "c++ and c"),
        ("abc++", "abc"),
        ("海港日报讯海港", "海港日报讯 海港"),
        ("海港" * 20_001 + " 51区", "51区"),  # so far on no word but these is known
    ],
)
def test_the_users_words_are_left_whole(dictionary: Path, text: str, expected: str) -> None:
    found = segmenter("words", user_dict=str(dictionary))(text)
    assert found[-len(expected.split()) :] == expected.split()


@pytest.mark.parametrize("name", ["jieba", "jieba-cpp"])
def test_jieba_alone_takes_them_as_they_stand(dictionary: Path, name: str) -> None:
    without, with_ = segmenter(name), segmenter(name, user_dict=str(dictionary))
    assert "51区" not in without(TEXT)
    assert "51区" in with_(TEXT)
    assert "C++" in with_("C++ c++")


def test_of_two_words_that_begin_alike_the_longer_is_found(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_text("5g\n5g手机\n", encoding="utf-8")
    assert segmenter("words", user_dict=str(path))("5G手机和5G") == ["5g手机", "和", "5g"]


def test_traditional_words_are_read_as_simplified_ones_are(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_text("51區\n", encoding="utf-8")
    cut = segmenter("words", to_simplified=True, user_dict=str(path))
    assert cut("51區") == cut("51区") == ["51区"]


def test_a_store_is_stamped_by_what_the_dictionary_holds(dictionary: Path, tmp_path: Path) -> None:
    copy, other = tmp_path / "copy", tmp_path / "other"
    copy.write_bytes(dictionary.read_bytes())
    other.write_text("52区\n", encoding="utf-8")
    stamps = [stamp_for(Options(user_dict=str(path))) for path in (dictionary, copy, other)]
    assert stamps[0] == stamps[1] != stamps[2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "SIMHASH_USER_DICT is '{}'; it can't be read: [Errno 2] No such file"),
        (b"\xff\xfe5\x001\x00", "SIMHASH_USER_DICT is '{}'; it can't be read: 'utf-8' codec"),
        (b"a 1\nb 0\n", "it can't be read: line 2 gives 'b' the frequency 0, not 1 to 1e9"),
    ],
)
def test_a_bad_dictionary_is_told(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "words.txt"
    if content is not None:
        path.write_bytes(content)
    for make in (Fingerprinter, functools.partial(Judge, "memory:")):
        with pytest.raises(OptionsError) as raised:
            make(Options(user_dict=str(path)))
        assert message.format(path) in str(raised.value)


def test_a_dictionary_needs_a_segmenter_that_has_words(dictionary: Path) -> None:
    with pytest.raises(OptionsError, match="SIMHASH_SEGMENTER is 'spaces'; with SIMHASH_USER"):
        Options(user_dict=str(dictionary), segmenter="spaces")


@pytest.mark.parametrize("weights", ["tf", "tests.page.test_weights.as_they_are"])
def test_noise_words_are_no_features_whatever_weighs(tmp_path: Path, weights: str) -> None:
    path = tmp_path / "noise.txt"
    path.write_text("The\n讯\n", encoding="utf-8")
    options = Options(weights=weights, stop_words=str(path))
    fingerprinter = Fingerprinter(options)
    features = content_features(options, "the harbour the port\n海港 讯\nport")
    assert set(features) == {"harbour", "port", "海港", "harbour port", "port 海港", "海港 port"}
    without, with_ = "harbour port 海港", "The harbour, the port 海港 讯"
    assert fingerprinter.content_fingerprint(without) == fingerprinter.content_fingerprint(with_)
    assert fingerprinter.content_fingerprint("the the") is None
