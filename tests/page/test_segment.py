import random

import jieba  # type: ignore[import-untyped]  # it has no type hints
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
    with jieba.Tokenizer().get_dict_file() as lines:
        words = [line.decode().split()[0] for line in lines]
    han = [word for word in words if all("\u4e00" <= char <= "\u9fd5" for char in word)]
    strange = [chr(code) for code in range(0x4E00, 0x9FD6)]
    runs = ["".join(rng.choices(han, k=rng.randint(1, 20))) for _ in range(2000)]
    runs += ["".join(rng.choices(strange, k=rng.randint(1, 20))) for _ in range(500)]
    text = " ".join(runs)
    assert rjieba.cut(text) == segment.jieba_cutter()(text)


@given(st.text())
def test_any_text_gives_tokens_without_spaces(text: str) -> None:
    assert all(token and not any(char.isspace() for char in token) for token in tokens(text))


def test_a_lone_surrogate_is_no_word() -> None:
    assert tokens("before \ud800 after") == ["before", "after"]
