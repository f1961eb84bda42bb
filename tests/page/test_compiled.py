import contextlib
import os
import random
import re
import subprocess
import sys
import unicodedata
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.demo_site.pages import all_pages
from simhash_pipeline import Fingerprinter, native
from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options
from simhash_pipeline.page import (
    boilerplate,
    compiled,
    counters,
    folding,
    segment,
    titles,
    visible,
)
from simhash_pipeline.page.fingerprint import sentences
from simhash_pipeline.page.hashing import hashed
from tests.cli.simhash_command import Simhash
from tests.han_runs import jieba_words, made_runs
from tests.made_blocks import TITLE, made_blocks
from tests.made_pages import soup
from tests.same import BothWays, by_python, read_otherwise, rule_of
from tests.skipping import examples

pytestmark = pytest.mark.skipif(
    native.kernel is None, reason="no kernel is built: SIMHASH_REQUIRE_NATIVE=1 pip install -e ."
)
PAGES = [page.body for page in all_pages().values() if len(page.body) < 50_000]
# Characters of each kind that the cut tells apart, and those that fold in a way of their own.
TELLING = (
    "aZ_09 \n.,'-ßéÅſ\u00ad\u200b\u200c\u2060\ufeff\u0301\u0308\u0338\u05d0\u05b0\u0647\u064b\u0905"
    "\u0966\u0964\u0e01\u1100\u1161\u11a8\uac00\uac01\u3042\u304b\u3099\u30ab\u309b\u30fc\uff76"
    "\uff9e\uff21\uff0c\u3000\u2026\u2025\u00a0\u00bd\u0130\u03a3\u03c2\u0410\u0451中国人的一是不在海港"
    "北京大学生前来应聘\u9fd5\u9fd6\u9fff\u3400\uf900\U00020000\U0001b000\U0001f600\ud800\udfff\0"
)
TEXTS = st.text(st.sampled_from(TELLING), max_size=300) | st.text(max_size=100)


by_kernel = compiled.hashed_words


def by_words(text: str) -> bytes:
    """The same by the Python."""
    with by_python():
        return hashed(segment.words(text))


@given(TEXTS)
@examples(1_000)
def test_the_kernel_cuts_and_hashes_as_the_python_does(text: str) -> None:
    assert by_kernel(text) == by_words(text)


@given(TEXTS)
@examples(1_000)
def test_the_kernel_spells_as_the_python_does(text: str) -> None:
    said = folding.spelled(text)
    with by_python():
        assert folding.spelled(text) == said


@given(st.text(st.sampled_from("ab. !?\n\t。।\u3000\x1c港"), max_size=60))
@examples(1_000)
def test_the_kernel_finds_sentences_as_the_python_does(text: str) -> None:
    found = sentences(text)
    with by_python():
        assert sentences(text) == found


def test_the_kernel_asks_of_what_is_to_be_composed_sorted_or_left_out() -> None:
    kernel: Any = native.kernel
    table = memoryview(folding.folds()).cast("I")
    steady = [
        code for code in (*range(0x900, 0x1F00), *range(0x3000, 0x3100)) if table[code] < 2**32 - 3
    ]
    behind = [code for code in steady if table[code] >= folding.SECOND]
    assert len(behind) > 80
    for first, second in product(steady, behind):
        text = chr(first) + chr(second)
        if unicodedata.normalize("NFKC", text) != text:
            said = kernel.spelled(text, folding.folds())
            assert said in (None, folding._composed(text)), ascii(text)
    assert kernel.spelled("\u0e01\u0e49" * 40, folding.folds()) == "\u0e01\u0e49" * 40
    assert kernel.spelled("\u0e01" + "\u0e49" * 31, folding.folds()) is None


@given(st.data())
@examples(1_000)
def test_the_kernel_finds_words_of_titles_where_the_python_does(data: st.DataObject) -> None:
    """Texts are made of the title's words, of their parts and of other letters."""
    title = data.draw(st.text(st.sampled_from(TELLING), max_size=20))
    words = titles.words_of(title)
    parts = st.sampled_from([*words, *title.lower(), *" .-ab中か가+\n1"])
    text, rest = ("".join(data.draw(st.lists(parts, max_size=150))) for _ in range(2))
    asked = words, bytes(titles._kind_of(word, ()) for word in words), text, rest, 12
    kernel: Any = native.kernel
    assert kernel.places(*asked) == titles._places(*asked)


def test_places_refuse_what_are_no_words() -> None:
    kernel: Any = native.kernel
    assert kernel.places(("ann",), b"\0", "the licence of ann", "", 12) == [(0, "elicenceof")]
    for words, error in (((1,), TypeError), (("",), TypeError), (("a", "b"), ValueError)):
        with pytest.raises(error):
            kernel.places(words, b"\0", "text", "", 12)


@pytest.mark.parametrize(
    "beside",
    ["", "中", *(pytest.param(each, marks=pytest.mark.ci) for each in "aか가")],
)
def test_every_character_is_folded_as_the_python_does_it(beside: str) -> None:
    """Beside others, of the long rows of Han, Hangul and private characters one in sixteen."""
    codes = (*range(0x11000), *range(0x1F000, 0x20000))
    long_rows = {*range(0x3400, 0xD800), *range(0xE000, 0xF900)}
    characters = [
        chr(code) for code in codes if not beside or code not in long_rows or code % 16 == 0
    ]
    for start in range(0, len(characters), 64):
        text = " ".join(beside + c + beside for c in characters[start : start + 64])
        assert by_kernel(text) == by_words(text), start


def test_runs_of_the_dictionarys_words_are_cut_as_jieba_cuts_them() -> None:
    runs = list(made_runs(2_500, seed=7))
    for start in range(0, len(runs), 250):
        some = runs[start : start + 250]
        assert by_kernel(" ".join(some)) == hashed(jieba_words(some))


def test_a_kernel_cuts_long_texts_by_the_same_bounds() -> None:
    """Of which the last are CHARACTERS_BY_JIEBA."""
    for text in ("中国人民大学" * 8_000, "word… " * 10_000, "ﷺ" * 12_000, "a" * 50_000, "̈" * 999):
        assert by_kernel(text) == by_words(text)


@given(
    TEXTS,
    st.sampled_from([(1,), (1, 2), (3,), (2, 5)]),
)
@examples(300)
def test_content_and_sketch_are_the_pythons(text: str, ngrams: tuple[int, ...]) -> None:
    options = Options(ngrams=ngrams, min_tokens=1)
    assert Fingerprinter(options)._by_kernel
    assert BothWays(options).differing(lambda maker: maker.fingerprint_text(text)) == []


@given(
    st.lists(st.text(st.sampled_from("ab cdZé中"), min_size=1, max_size=80), max_size=60),
    st.data(),
)
@examples(300)
def test_the_sample_is_the_pythons(blocks: list[str], data: st.DataObject) -> None:
    flags = st.lists(st.booleans(), min_size=len(blocks), max_size=len(blocks))
    is_main = data.draw(flags)
    masks = bytes(data.draw(st.sampled_from([0, 1, 3, visible.NONE])) for _ in blocks)
    by_kernel = visible.visible_text(blocks, is_main, masks)
    with by_python():
        assert visible.visible_text(blocks, is_main, masks) == by_kernel


@pytest.mark.parametrize(
    "blocks",
    [
        ["x" * 1_500_000],
        ["same words again"] * 40_000,
        ["\0" * 1_100_000],
        ["é"] * 600,
    ],
)
def test_the_sample_of_much_or_repeated_text_is_the_pythons(blocks: list[str]) -> None:
    is_main = [True] * len(blocks)
    masks = bytes([0, 3, visible.NONE][number % 3] for number in range(len(blocks)))
    by_kernel = visible.visible_text(blocks, is_main, masks)
    with by_python():
        assert visible.visible_text(blocks, is_main, masks) == by_kernel


def test_the_rules_of_the_main_text_are_the_pythons() -> None:
    rng = random.Random(5)
    for _ in range(3_000):
        page = made_blocks(rng)
        by_kernel = boilerplate.main_blocks(page, TITLE)
        with by_python():
            assert boilerplate.main_blocks(page, TITLE) == by_kernel, page


def test_the_kernel_is_given_the_numbers_that_it_asks_for() -> None:
    source = Path(native.__file__).with_name("_rules.c").read_text(encoding="utf-8")
    (fields,) = re.findall(r"static struct {\n    double (.*?);", source, re.DOTALL)
    names = re.split(r",\s+", fields)
    assert len(names) == 22
    assert names == [*boilerplate._Rules._fields]


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"sizes": [1]}, ValueError),
        ({"sizes": ["1", 1]}, TypeError),
        ({"texts": ["a", None]}, TypeError),
        ({"tags": ["p", b"p"]}, TypeError),
        ({"boxes": [(0, 3, "div", "")]}, ValueError),
        ({"boxes": [(-1, 2, "div", "")]}, ValueError),
        ({"boxes": [(0, 2, "div")]}, TypeError),
        ({"boxes": [(0, 2, None, "")]}, TypeError),
        ({"hints": [(2, 2, "footer")]}, ValueError),
        ({"hints": [[0, 2, "footer"]]}, TypeError),
        ({"words": [1]}, TypeError),
    ],
)
def test_the_rules_refuse_what_are_no_blocks(
    changed: dict[str, list[Any]], error: type[Exception]
) -> None:
    columns: dict[str, list[Any]] = {
        "texts": ["a" * 200, "b"],
        "tags": ["p", "p"],
        "sizes": [200, 1],
        "link_shares": [0.0, 0.0],
        "boxes": [(0, 2, "div", "")],
        "hints": [(0, 1, "links")],
        "words": ["word"],
    }
    assert native.kernel is not None
    kernel: Any = boilerplate._prepared(native.kernel)
    assert kernel.main_blocks(*columns.values()) == [0, 1]
    with pytest.raises(error):
        kernel.main_blocks(*{**columns, **changed}.values())


def test_utf8_is_what_python_decodes() -> None:
    kernel: Any = native.kernel
    inside = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBD, 0xBF, 0xC0, 0xC3, 0xFF]
    for lead in range(0x80, 0x100):
        for size in range(4):
            for rest in product(inside, repeat=size):
                source = b"ab" * (size % 3) + bytes([lead, *rest])
                assert kernel.is_plain(source) == ("\ufffd" not in source.decode(errors="replace"))
    with pytest.raises(TypeError):
        kernel.is_plain("text")


def test_other_options_than_the_kernels_take_the_python(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("海港\n", encoding="utf-8")
    others: list[dict[str, Any]] = [
        {"user_dict": str(words)},
        {"stop_words": str(words)},
        {"segmenter": "jieba"},
        {"weights": "jieba-tfidf", "ngrams": (1,)},
        {"preset": "mfonda", "segmenter": "words"},
        {"top_n": 5},
    ]
    assert Fingerprinter()._by_kernel
    assert [given for given in others if Fingerprinter(Options(**given))._by_kernel] == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["div", "p", "li", "ul", "a", "nav", "section", "svg", "h1", "br"]),
            st.sampled_from(["", "menu", "a1 b", "card-12", "é中"]),
            st.sampled_from(["</div>", "</ul>", "", "Some words, and a sentence.", "中国人民。"]),
        ),
        max_size=80,
    )
)
@examples(300)
def test_made_pages_have_the_same_fingerprints_both_ways(parts: list[tuple[str, str, str]]) -> None:
    page = "".join(f"<{tag} class='{name}'>{rest}" for tag, name, rest in parts)
    assert BothWays(Options(min_tokens=1)).differing_page(f"<p>{page}".encode()) == []


def test_pages_have_the_same_fingerprints_both_ways() -> None:
    both = BothWays(Options())
    assert [page for page in PAGES if both.differing_page(page)] == []


def test_these_pages_have_fingerprints() -> None:
    fingerprinter, contents = Fingerprinter(), 0
    for page in PAGES:
        with contextlib.suppress(PageError):  # two of the site's are none
            contents += fingerprinter.fingerprint(page).content is not None
    assert contents > 100


def test_all_pages_but_one_are_read_by_the_kernel() -> None:
    pages = [page for page in PAGES if page.startswith(b"<!doctype html>")]
    assert len(pages) > 100
    assert sum(rule_of(page) != "sure" for page in pages) == 1  # its title has no end


@pytest.mark.parametrize(
    "html",
    [
        "<p class=港٣>a",  # a digit of another script is in it
        "<p class=港3>a<p class='é12 x'>b",
        "<b>" * 400 + "a",
        "".join(f"<t{n}>" for n in range(5_000)) + "a",  # more labels than count
        "".join(f"<p class={name}>" * 2 for name in map("".join, product("abcdefghi", repeat=4))),
    ],
    ids=["digit", "class", "deep", "tags", "labels"],
)
def test_odd_pages_are_read_alike(html: str) -> None:
    assert BothWays(Options(min_tokens=1)).differing_page(html.encode()) == []


@pytest.mark.parametrize(
    ("html", "rule"),
    [
        ("<p>a", "sure"),
        ("<title>a</title><main><p>b</main>c", "sure"),
        ("<head><input> <meta><mark>b</mark> <body class=x>c", "sure"),
        ("<h1>a<b>&amp;<script>c</script></h1>", "sure"),
        ("<head><title></title><bdi>x<video></head>\ny", "sure"),
        ("<head></head><head><x-y>a", "the head holds what is no metadata"),
        (
            "<head><x-y><svg><title>a</title></svg></x-y><title>b</title>",
            "the head holds what is no metadata",
        ),
        ("<meta>", "no body"),
        ("<title>a</title><frameset> < p></frameset><ol><li>x", "no body"),
        ("<b>" * 2_042 + "a", "too deep"),
        ("</i>" * 8_001 + "<b>" * 250 + "a", "too deep"),
        ("<" + "x" * 99 + ">a", "a long name"),
        ("<p class=" + "x" * 501 + ">a", "a long name"),
        ("<a href=#" + "x" * 201 + ">a", "a long name"),
        ("<p " + "x " * 501 + ">a", "many attributes"),
        ("<!-->\ufeff", "sure"),
        ("<p class=港٣>a", "a digit beyond ASCII in a class"),
        ("<p class=港3é💩>a", "sure"),
        ("<xmp></body></xmp>", "</body or </html in a text"),
        ("<html/><p>a", "an odd root"),
    ],
)
def test_a_page_shows_by_which_rule_the_python_reads_it(html: str, rule: str) -> None:
    assert rule_of(html.encode()) == rule
    assert BothWays(Options(min_tokens=1)).differing_page(html.encode()) == []


def test_made_soups_are_read_alike() -> None:
    rng = random.Random(3)
    assert [page for page in (soup(rng) for _ in range(1_500)) if read_otherwise(page)] == []


def test_a_class_with_a_digit_beyond_ascii_is_read_by_the_python() -> None:
    digits = [c for c in map(chr, range(0x80, sys.maxunicode + 1)) if c.isdecimal()]
    assert len(digits) > 600
    assert {rule_of(f"<p class=港{c}>a".encode()) for c in digits} == {
        "a digit beyond ASCII in a class"
    }


def test_only_bytes_are_markup() -> None:
    kernel: Any = native.kernel
    with pytest.raises(TypeError):
        kernel.read_markup("<p>", 10)


def test_the_version_says_what_hashes_texts(simhash: Simhash, tmp_path: Path) -> None:
    assert simhash(tmp_path, "--version").stdout.split()[-1] == "(compiled)"
    command = [sys.executable, "-m", "scrapy", "simhash", "--version"]
    environment = {**os.environ, "SIMHASH_NATIVE": "0"}
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert printed.stdout.split()[-1] == "(Python)"


def test_a_loop_waits_for_no_dictionary() -> None:
    """One Han character alone needs none; words do, once in a process."""
    program = """
import time
from simhash_pipeline import Fingerprinter
from simhash_pipeline.page.compiled import DictionaryNeeded, may_load
make = Fingerprinter().fingerprint
may_load.set(False)
print(make("<p>The boats of 海 came home.".encode()).tokens)
try:
    make("<p>渔船安全返回港口".encode())
except DictionaryNeeded:
    may_load.set(True)
    print(make("<p>渔船安全返回港口".encode()).tokens)
may_load.set(False)
print(make("<p>渔船安全返回港口".encode()).tokens)
"""
    command = [sys.executable, "-c", program]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == ["6", "4", "4"]


def test_an_english_crawl_loads_no_numpy() -> None:
    """Its templates are learnt, and signs are spelled, without: it takes 25 MB."""
    program = """
import sys
from simhash_pipeline import Judge
judge = Judge("memory:")
for page in range(20):
    said = "".join(f"<p>№ {n + page}: at 30℃ boats™ α and e\u0301 came home." for n in range(30))
    judge.judge(f"https://harbour.example/{page}", f"<title>Boats {page}</title>{said}")
print("numpy" in sys.modules)
"""
    command = [sys.executable, "-c", program]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == ["False"]


@cache
def words_of_counters() -> tuple[st.SearchStrategy[str], st.SearchStrategy[str]]:
    keys = counters._keys()
    others = ["5", "10:12", "1,207", ",", ".", "-", "_", ":", "AGO", "an", "l'"]
    return st.sampled_from([*sorted(keys.words[1]), *others]), st.sampled_from(sorted(keys.kinds))


@given(st.data())
@examples(1_000)
def test_lines_that_may_lose_a_counter_are_found_both_ways(data: st.DataObject) -> None:
    """Lines are made of words of counters, marks and numbers."""
    words, kinds = words_of_counters()
    parts = data.draw(st.lists(words, max_size=6)) + data.draw(st.lists(kinds, max_size=2))
    line = data.draw(st.sampled_from(["", " "])).join(parts).replace("#", "7")
    left = counters.without_counters(line, is_main=False, is_above=False)
    found = counters.doubtful([line])
    with by_python():
        expected = counters.doubtful([line])
    assert left == line or found == expected == [0]
