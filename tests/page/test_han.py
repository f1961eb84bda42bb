import re
import subprocess
import sys
from pathlib import Path

import pytest

from simhash_pipeline.page.han import HAN, UserWord, han_cut, jieba_module, jieba_tokenizer
from tests.han_runs import made_runs

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


def test_runs_are_cut_as_jieba_cuts_them() -> None:
    """The runs of the Chinese pages of the documentation, and made ones."""
    pages = Path(__file__).parents[2].glob("docs/zh/**/*.md")
    runs = {run for page in pages for run in re.findall(f"[{HAN}]+", page.read_text("utf-8"))}
    # The last one has a character that the model knows in longer words alone.
    runs |= {*made_runs(5_000, seed=2), "努絵些"}
    assert len(runs) > 6_000
    for added in ((), ADDED, (*ADDED, UserWord("鿕鿔", None), UserWord("鿔鿓鿒", 7))):
        for run in sorted(runs | {"".join(word.word for word in added)} - {""}):
            assert han_cut([run], added) == jieba_tokenizer(added).lcut(run)


def test_words_that_the_program_deletes_from_jieba_stay_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in the kernel, which has a dictionary of its own."""
    monkeypatch.setattr(jieba_module("jieba.finalseg"), "Force_Split_Words", {"杭研", "渔船"})
    assert han_cut(["杭研大厦渔船入港"]) == ["杭研", "大厦", "渔船", "入港"]


def test_what_old_setuptools_say_of_jieba_reaches_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "aged.py").write_text("import warnings; warnings.warn('pkg_resources is old')")
    monkeypatch.syspath_prepend(tmp_path)
    assert jieba_module("aged").__name__ == "aged"


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
