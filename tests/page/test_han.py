import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from simhash_pipeline.page import han
from simhash_pipeline.page.han import HanCutter, UserWord
from tests.han_runs import jieba_words, made_runs

ADDED = (
    UserWord("海港日报", None, None),
    UserWord("渔船安", 3, "n"),
    UserWord("全返回", 1_000_000, None),
)


@pytest.fixture(scope="module")
def cutter() -> HanCutter:
    return HanCutter()


def test_runs_are_cut_as_jieba_cuts_them(cutter: HanCutter) -> None:
    runs = list(made_runs(5_000, seed=1))
    for start in range(0, len(runs), 100):
        some = runs[start : start + 100]
        assert cutter.cut(some) == jieba_words(some)


@pytest.mark.parametrize("run", ["中国人民大学" * 80, "海" * 500, "\u9fd5" * 500, "龘靐齉" * 100])
def test_endless_runs_are_cut_as_jieba_cuts_them(cutter: HanCutter, run: str) -> None:
    assert cutter.cut([run]) == jieba_words([run])


def test_of_equal_paths_the_one_is_taken_that_jieba_takes(cutter: HanCutter) -> None:
    """家祖 家 and 家 祖家 weigh the same but for rounding, which depends on what follows."""
    alone, before_others = ["家祖家"], ["家祖家注册在特色监事三股中"]
    assert cutter.cut(alone) == jieba_words(alone) == ["家祖", "家"]
    words = cutter.cut(before_others)
    assert words == jieba_words(before_others)
    assert words[:2] == ["家", "祖家"]
    assert cutter.cut(["港口", *before_others, "boats", *alone]) == [
        "港口",
        *words,
        "boats",
        "家祖",
        "家",
    ]


def test_a_users_words_are_weighed_as_jieba_weighs_them() -> None:
    cutter = HanCutter(ADDED)
    runs = [*made_runs(500, seed=2), "渔船安全返回港口", "海港日报渔船安渔船安全返回港"]
    assert cutter.cut(runs) == jieba_words(runs, ADDED)
    assert cutter.cut(["渔船安全返回港口"]) == ["渔船安", "全返回", "港口"]


def test_words_are_the_same_when_the_memory_is_full(
    cutter: HanCutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(han, "_REMEMBERED", 3)
    runs = list(made_runs(200, seed=3))
    forgetful = HanCutter()
    assert forgetful.cut(runs) == forgetful.cut(runs) == cutter.cut(runs)
    assert forgetful.cut(["海港", "日报"]) == ["海港", "日报"]
    assert len(forgetful._of_part) <= 3


def test_threads_may_share_a_cutter(cutter: HanCutter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(han, "_REMEMBERED", 20)
    runs = list(made_runs(400, seed=4))
    expected = [cutter.cut([run]) for run in runs]
    shared = HanCutter()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda run: shared.cut([run]), runs)) == expected


def test_an_english_page_loads_no_dictionary_and_no_masked_arrays() -> None:
    program = """
import sys
from simhash_pipeline import Fingerprinter, Judge
make = Fingerprinter().fingerprint
page = make("<p>The boats came home.".encode())
print("jieba" in sys.modules)
make("<p>渔船安全返回港口".encode())
print("jieba" in sys.modules)
Judge("memory:").judge("https://harbour.example/", page)
print("numpy.ma" in sys.modules)
"""
    command = [sys.executable, "-c", program]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == ["False", "True", "False"]
