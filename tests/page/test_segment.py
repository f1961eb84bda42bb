import marshal
import sys
import tempfile
import unicodedata
from pathlib import Path

import jieba
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opencc import OpenCC

from crawler.demo_site.pages import all_pages
from simhash_pipeline import Fingerprinter, PageFingerprint
from simhash_pipeline.errors import OptionsError, PageError
from simhash_pipeline.options import SEGMENTERS as SEGMENTER_NAMES
from simhash_pipeline.page import han
from simhash_pipeline.page.segment import Segment, segmenter, simplified
from simhash_pipeline.page.segment import words as tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Harbour's 3 boats, re-painted.", "the harbour s 3 boats re painted"),
        ("ＦＵＬＬ　ｗｉｄｔｈ　１２", "full width 12"),
        ("naïve cafe\u0301", "naïve café"),
        ("Он вернулся в порт", "он вернулся в порт"),
        ("한국어 문장입니다", "한국어 문장입니다"),
        ("हिन्दी में। लिखा", "हिन्दी में लिखा"),
        ("السَّلام عليكم؟", "السلام عليكم"),
        ("2015年，海港 Post 的３艘渔船……", "2015 年 海港 post 的 3 艘 渔船"),
        ("你妈妈叫你回家吃饭啊", "你 妈妈 叫 你 回家 吃饭 啊"),
        ("ABC公司在2024年", "abc 公司 在 2024 年"),
        ("港はカタカナ", "港 はカ カタ タカ カナ ナ"),
        ("ไทย ที่นี่", "ไท ทย ย ที่นี่ นี่"),
        ("ພາສາ", "ພາ າສ ສາ າ"),
        ("ខ្មែរ", "ខ្មែ មែរ រ"),
        ("မြန်မာ", "မြန် န်မာ မာ"),
        ("བོད་ཡིག", "བོད ཡིག"),
        ("𠀀𠀁", "𠀀𠀁 𠀁"),
        ("infor\u00admation desk\u200b.\u200btop", "information desk top"),
        ("war\u2060time \ufeffno\ufefftice\u00ad", "wartime notice"),
        ("cafe\u00ad\u0301 ＦＵ\u200bＬＬ", "café full"),
        ("海\u200b港 ไ\u200bท", "海港 ไท ท"),
        ("می\u200cخواهم", "مي خواهم"),
        ("—…«»()!?", ""),
        ("", ""),
    ],
)
def test_words_of_many_scripts(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()


def test_japanese_and_korean_are_not_lost() -> None:
    assert len(tokens("港の漁船は霧の中を無事に帰港し")) >= 10
    assert len(tokens("어선 세 척이 무사히 항구로 돌아왔습니다")) == 6


@given(
    st.text(st.sampled_from("aÅ가渔，：！％～￥￣．…ａＡ①ﾊﾞ\u3000\u00a0\u0301\u0308\u3099\u4ffe"))
)
def test_a_text_and_its_nfkc_form_have_the_same_words(text: str) -> None:
    assert tokens(text) == tokens(unicodedata.normalize("NFKC", text))


def test_words_taught_to_the_shared_jieba_do_not_move_tokens() -> None:
    before = tokens("海港日报讯海港日报讯")
    jieba.setLogLevel(40)
    jieba.add_word("海港日报讯")
    try:
        assert tokens("海港日报讯海港日报讯") == before
        assert segmenter("jieba")("海港日报讯") != ["海港日报讯"]
    finally:
        jieba.del_word("海港日报讯")


def test_in_a_very_long_text_han_characters_become_words_of_their_own() -> None:
    sentence = "渔船安全返回港口。"
    words, characters = ["渔船", "安全", "返回", "港口"], list(sentence[:-1])
    found = tokens(sentence * 6_000)
    by_jieba = found.index("渔") // len(words)
    assert 40_000 <= by_jieba * len(sentence) <= 50_000
    assert found == words * by_jieba + characters * (6_000 - by_jieba)


@given(st.text())
def test_any_text_gives_tokens_without_spaces(text: str) -> None:
    assert all(token and not any(char.isspace() for char in token) for token in tokens(text))


def test_a_lone_surrogate_is_no_word() -> None:
    assert tokens("before \ud800 after") == ["before", "after"]


def test_of_characters_that_are_six_words_no_more_count_than_other_text_has() -> None:
    assert tokens("㌖ 3") == [
        *["キロ", "ロメ", "メー", "ート", "トル", "ル"],
        "3",
    ]  # a short text is cut whole
    assert len(tokens("㌖ " * 200)) == 400
    assert tokens(f"㌖ {'kilometres ' * 300}") == [
        *["キロ", "ロメ", "メー", "ート", "トル", "ル"],
        *["kilometres"] * 300,
    ]
    assert tokens("a b c") == ["a", "b", "c"]
    assert len(tokens("港a" * 100)) == 200


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("words", "It's 3 Boats，回家吃饭", ["it", "s", "3", "boats", "回家", "吃饭"]),
        ("jieba", "CEO回家，吃饭 3 次", ["CEO", "回家", "吃饭", "3", "次"]),
        ("jieba.lcut_for_search", "清华大学", ["清华", "华大", "大学", "清华大学"]),
        ("builtins.list", "Ab 回", ["A", "b", " ", "回"]),
        ("spaces", " a  b, ", ["", "a", "", "b,"]),
        ("spaces", "   ", []),
        ("ascii-words", "It's HTTP://a.org/x, 回家", ["it's", "http://a.org/x"]),
        ("shlex.split", "a 'b c'", ["a", "b c"]),
    ],
)
def test_each_segmenter_cuts_as_it_says(name: str, text: str, expected: list[str]) -> None:
    assert segmenter(name)(text) == expected


def traditional_pages() -> list[PageFingerprint]:
    bodies = [page.body for path, page in all_pages().items() if path.startswith("/zh/hant/")]
    assert bodies
    return list(map(Fingerprinter().fingerprint, bodies))


@pytest.fixture(scope="module", params=SEGMENTER_NAMES)
def segment_text(request: pytest.FixtureRequest) -> Segment:
    return segmenter(request.param)


@given(text=st.text())
def test_no_text_stops_a_segmenter(segment_text: Segment, text: str) -> None:
    assert all(isinstance(token, str) for token in segment_text(text))


def test_traditional_characters_are_read_as_simplified_ones() -> None:
    traditional, simplified = "霧中的鐘聲響了，漁船回到港口。", "雾中的钟声响了，渔船回到港口。"
    assert segmenter("words", to_simplified=True)(traditional) == tokens(simplified)
    assert segmenter("words")(traditional) != tokens(simplified)


def test_the_character_table_reads_as_opencc_does() -> None:
    """Phrases are left out: what they change is counted here over the pages of the demo site."""
    texts = [page.text for page in traditional_pages()]
    convert = OpenCC("t2s").convert
    assert [text.translate(simplified()) for text in texts] == [convert(text) for text in texts]


def test_without_opencc_the_option_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opencc", None)
    simplified.cache_clear()
    with pytest.raises(OptionsError, match=r"pip install 'simhash-pipeline\[opencc\]'"):
        segmenter("words", to_simplified=True)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nowhere.at_all", "No module named"),
        ("shlex.splat", "no attribute"),
        ("os.name", "not a callable"),
    ],
)
def test_a_path_that_leads_nowhere_is_a_fault(path: str, said: str) -> None:
    with pytest.raises(OptionsError, match=f"SIMHASH_SEGMENTER is '{path}'.*{said}"):
        segmenter(path)


def test_a_segmenter_that_fails_is_the_page_s_fault() -> None:
    with pytest.raises(PageError, match=r"shlex.split failed: ValueError") as caught:
        segmenter("shlex.split")("an open ' quote")
    assert caught.value.kind == "segmenter"
    with pytest.raises(PageError, match=r"os.path.basename returned str, not list"):
        segmenter("os.path.basename")("text")


@given(st.text())
def test_a_han_character_after_a_text_does_not_change_how_the_text_is_cut(text: str) -> None:
    assert tokens(f"{text} 字") == [*tokens(text), "字"]


def not_all_texts(text: str) -> list[object]:
    return ["word", 2]


def test_a_token_that_is_no_text_is_the_page_s_fault() -> None:
    with pytest.raises(PageError, match="gave the token 2, which is not text") as caught:
        segmenter(f"{__name__}.not_all_texts")("any")
    assert caught.value.kind == "segmenter"


@pytest.mark.parametrize(
    ("name", "user_dict"),
    [
        ("jieba", None),
        ("jieba-cpp", "海港日报 300 n\n"),
        ("words", "海港日报\n"),
        ("words", "海港日报 300 n\n"),
    ],
)
def test_no_words_are_taken_from_the_common_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, user_dict: str | None
) -> None:
    """There jieba looks for a cache, which any user of the machine may write."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = None
    if user_dict is not None:
        path = str(tmp_path / "words.txt")
        Path(path).write_text(user_dict, encoding="utf-8")
    planted = tmp_path / "jieba.cache"
    planted.write_bytes(marshal.dumps(({"三艘渔船在大雾中": 9**9, "三": 1}, 9**9)))
    han.jieba_tokenizer.cache_clear()
    han._weights.cache_clear()
    found = segmenter(name, user_dict=path)("三艘渔船在大雾中安全返回港口")
    han.jieba_tokenizer.cache_clear()
    assert found == ["三艘", "渔船", "在", "大雾", "中", "安全", "返回", "港口"]
    assert {each.name for each in tmp_path.iterdir()} <= {"jieba.cache", "words.txt"}
    assert marshal.loads(planted.read_bytes())[1] == 9**9
