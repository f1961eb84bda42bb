import random

import jieba  # type: ignore[import-untyped]
import pytest
import rjieba
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline.page import segment
from simhash_pipeline.page.segment import tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Harbour's 3 boats, re-painted.", "the harbour s 3 boats re painted"),
        ("ＦＵＬＬ　ｗｉｄｔｈ　１２", "full width 12"),
        ("naïve cafe\u0301", "naïve café"),
        ("Он вернулся в порт", "он вернулся в порт"),
        ("한국어 문장입니다", "한국어 문장입니다"),
        ("हिन्दी में। लिखा", "हिन्दी में लिखा"),
        ("السَّلام عليكم؟", "السَّلام عليكم"),
        ("你妈妈叫你回家吃饭啊", "你 妈妈 叫 你 回家 吃饭 啊"),
        ("ABC公司在2024年", "abc 公司 在 2024 年"),
        ("港はカタカナ", "港 は カ タ カ ナ"),
        ("ไทย", "ไ ท ย"),
        ("𠀀𠀁", "𠀀 𠀁"),
        ("—…«»()!?", ""),
        ("", ""),
    ],
)
def test_words_of_many_scripts(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()


def test_japanese_and_korean_are_not_lost() -> None:
    assert len(tokens("港の漁船は霧の中を無事に帰港し")) >= 10
    assert len(tokens("어선 세 척이 무사히 항구로 돌아왔습니다")) == 6


def test_words_taught_to_the_shared_jieba_do_not_move_tokens() -> None:
    before = tokens("海港日报讯海港日报讯")
    jieba.setLogLevel(40)
    jieba.add_word("海港日报讯")
    try:
        assert tokens("海港日报讯海港日报讯") == before
        assert segment.jieba_cutter()("海港日报讯") != ["海港日报讯"]
    finally:
        jieba.del_word("海港日报讯")


def test_rjieba_and_jieba_give_the_same_words_of_han_runs() -> None:
    rng = random.Random(7)
    common = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连断深难近矿千周委素技备半办青省列习响约支般史感劳便团往酸历市克何除消构府称太准精值号率族维划选标写存候毛亲快效斯院查江型眼王按格养易置派层片始却专状育厂京识适属圆包火住调满县局照参红细引听该铁价严"
    runs = ["".join(rng.choices(common, k=rng.randint(1, 30))) for _ in range(300)]
    text = " ".join(runs)
    assert [word for word in rjieba.cut(text)] == segment.jieba_cutter()(text)


@given(st.text())
def test_any_text_gives_tokens_without_spaces(text: str) -> None:
    assert all(token and not any(char.isspace() for char in token) for token in tokens(text))


def test_a_lone_surrogate_is_no_word() -> None:
    assert tokens("before \ud800 after") == ["before", "after"]
