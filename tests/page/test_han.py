import subprocess
import sys
from collections.abc import Iterator

import pytest

from simhash_pipeline.page import han
from simhash_pipeline.page.han import UserWord, han_cut
from tests.han_runs import jieba_words, made_runs

ADDED = (
    UserWord("海港日报", None, None),
    UserWord("渔船安", 3, "n"),
    UserWord("全返回", 1_000_000, None),
)


@pytest.fixture(params=["rjieba", "jieba"], autouse=True)
def _cutter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each of the two."""
    if request.param == "jieba":
        monkeypatch.setitem(sys.modules, "rjieba", None)
    else:
        pytest.importorskip("rjieba")
    han._cutter.cache_clear()
    yield
    han._cutter.cache_clear()


def test_runs_are_cut_as_jieba_cuts_them() -> None:
    runs = list(made_runs(5_000, seed=1))
    for start in range(0, len(runs), 100):
        some = runs[start : start + 100]
        assert han_cut(some) == jieba_words(some)


@pytest.mark.parametrize("run", ["中国人民大学" * 80, "海" * 500, "\u9fd5" * 500, "龘靐齉" * 100])
def test_endless_runs_are_cut_as_jieba_cuts_them(run: str) -> None:
    assert han_cut([run]) == jieba_words([run])


def test_of_equal_paths_the_one_is_taken_that_jieba_takes() -> None:
    """家祖 家 and 家 祖家 weigh the same but for rounding, which depends on what follows."""
    alone, before_others = ["家祖家"], ["家祖家注册在特色监事三股中"]
    assert han_cut(alone) == jieba_words(alone) == ["家祖", "家"]
    words = han_cut(before_others)
    assert words == jieba_words(before_others)
    assert words[:2] == ["家", "祖家"]


def test_other_tokens_stay_as_they_are() -> None:
    tokens = ["boats", "渔船安全", "海C", "kai"]
    assert han_cut(tokens) == ["boats", "渔船", "安全", "海C", "kai"]
    assert han_cut(["boats"]) == ["boats"]


def test_a_users_words_are_weighed_as_jieba_weighs_them() -> None:
    runs = [*made_runs(500, seed=2), "渔船安全返回港口", "海港日报渔船安渔船安全返回港"]
    assert han_cut(runs, ADDED) == jieba_words(runs, ADDED)
    assert han_cut(["渔船安全返回港口"], ADDED) == ["渔船安", "全返回", "港口"]


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
