import subprocess
import sys

from simhash_pipeline.page.han import UserWord, han_cut

ADDED = (
    UserWord("海港日报", None, None),
    UserWord("渔船安", 3, "n"),
    UserWord("全返回", 1_000_000, None),
)


def test_of_equal_paths_the_one_is_taken_that_jieba_takes() -> None:
    """家祖 家 and 家 祖家 weigh the same but for rounding, which depends on what follows."""
    alone, before_others = ["家祖家"], ["家祖家注册在特色监事三股中"]
    assert han_cut(alone) == ["家祖", "家"]
    assert han_cut(before_others)[:2] == ["家", "祖家"]


def test_other_tokens_stay_as_they_are() -> None:
    tokens = ["boats", "渔船安全", "海C", "kai"]
    assert han_cut(tokens) == ["boats", "渔船", "安全", "海C", "kai"]
    assert han_cut(["boats"]) == ["boats"]


def test_a_users_words_are_weighed_as_jieba_weighs_them() -> None:
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
