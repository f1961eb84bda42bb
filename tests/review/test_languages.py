"""The report in the reader's language: what the browser asks for, and what the switch chose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from lxml import html
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from simhash_pipeline.drop_log import CAUSES, REASONS, Drop, Run
from simhash_pipeline.review import summary
from simhash_pipeline.review.summary import Summary
from simhash_pipeline.review.web_page import SCRIPTS, write_web_page
from simhash_pipeline.stores.contract import PageText
from tests.review.browser import chromium, complaints, open_file, resize, speak
from tests.review.logs import closing, drop, near_miss

PARTS = files("simhash_pipeline.review")
SCRIPT = {name: PARTS.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS}
TABLE = SCRIPT["sentences.js"].partition("\nconst LANGUAGE_KEPT_AS")[0]
CHINESE = dict(re.findall(r'^  ("(?:[^"\\]|\\.)+"): ("(?:[^"\\]|\\.)+"),$', TABLE, re.MULTILINE))
OF_DOUBTS = "// reasons of drops"  # here begin sentences that the Python has
CHINESE_OF_THE_REPORT = [line for line in CHINESE if line in TABLE.partition(OF_DOUBTS)[0]]
PHONE = 375
IN_ENGLISH = "30\nof 39 pages"
IN_CHINESE = "30\n共 39 个页面"
# Doubts of every kind, near misses by every reason, a dry run, and pages that were not judged.
PAGES: list[Drop | Run] = [
    drop(url="http://a.example/3", content_distance=3, title="第 4 章", twin_title="第 3 章"),
    drop(url="http://a.example/en/4", twin_url="http://a.example/de/4", dry_run=True),
    drop(url="http://a.example/5", main_share=0.1, similarity=0.6, sketch_distance=18),
    drop(url="http://a.example/6", reason="thin", tokens=9, content_distance=None),
    drop(url="http://a.example/7", reason="structure", structure_distance=3),
    *(drop(url=f"http://c.example/{n}", twin_url="http://c.example/") for n in range(25)),
    near_miss(url="http://a.example/20"),
    near_miss(url="http://a.example/21", similarity=0.8467),
    near_miss(url="http://a.example/22", similarity=None),
    near_miss(url="http://a.example/28", similarity=0.0),
    near_miss(url="http://a.example/23", reason="sketch", sketch_distance=30),
    near_miss(url="http://a.example/24", reason="title", title="公告一", twin_title="公告二"),
    near_miss(url="http://a.example/25", reason="shared notice"),
    near_miss(url="http://a.example/26", reason="fields"),
    near_miss(url="http://a.example/27", reason="answer"),
    closing(dropped={"content": 30}),
]
# What stays as it is: settings and what they are set to, commands, keys of the log, names and
# addresses, units.
AS_IT_IS = re.compile(
    r"SIMHASH_\w+( = True)?|scrapy simhash \S+( --labels)?|https?://\S+|\S+\.example|\S+\.(jsonl|csv|py)"
    r"|run-1|news|no html|item|sketch|tune|UTC|CSV|URL|English|A story|'content'|\b[yndjkNP]\b"
    r"|\b(en|de)\b"
)


@pytest.fixture(scope="module")
def chrome() -> Iterator[Chrome]:
    with chromium() as browser:
        yield browser


@contextmanager
def reading(browser: Chrome, languages: str) -> Iterator[None]:
    """The browser of someone who reads these languages."""
    speak(browser, languages)
    try:
        yield
    finally:
        browser.execute_script("localStorage.clear()")
        speak(browser, "en")


def write(path: Path, *records: Drop | Run) -> Path:
    summary = Summary()
    summary.take(records or PAGES)
    texts = {"http://a.example/1": "钟声\n三点", "http://a.example/3": "钟声\n四点"}

    def text_of(url: str, namespace: str) -> PageText | None:
        text = texts.get(url)
        return text and PageText(namespace, url, "", text, 0.0, "")  # type: ignore[return-value]  # "" is none of them

    write_web_page(path, summary, "zh.drops.jsonl", text_of)
    return path


def one(browser: Chrome, selector: str) -> Any:
    return browser.find_element(By.CSS_SELECTOR, selector)


def click(browser: Chrome, selector: str) -> None:
    browser.execute_script("arguments[0].click()", one(browser, selector))


def shown(browser: Chrome) -> str:
    """All text and all names of the page, drawn ones and those for screen readers too."""
    script = """
      const keys = "#reason option, #reasons th, ul.facts li:first-child b"; // of the log
      const others = `script, style, noscript, code, .settings td, .settings th, ${keys}`;
      const named = [...document.querySelectorAll("[aria-label]")];
      const names = named.map((element) => element.getAttribute("aria-label"));
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const found = [document.title];
      while (texts.nextNode()) {
        const node = texts.currentNode;
        if (!node.parentElement.closest(others)) found.push(node.data);
      }
      return [...found, ...names].join("\\n");"""
    return str(browser.execute_script(script))


@pytest.mark.parametrize(
    ("languages", "language", "title"),
    [
        ("zh-CN,zh,en", "zh-CN", IN_CHINESE),
        ("zh-TW", "zh-CN", IN_CHINESE),
        ("fr,zh,en", "zh-CN", IN_CHINESE),
        ("en-GB,zh", "en", IN_ENGLISH),
        ("fr", "en", IN_ENGLISH),
    ],
)
def test_the_report_opens_in_the_first_of_the_browsers_languages_that_it_has(
    chrome: Chrome, tmp_path: Path, languages: str, language: str, title: str
) -> None:
    with reading(chrome, languages):
        open_file(chrome, write(tmp_path / "report.html"))
        assert one(chrome, "html").get_attribute("lang") == language
        assert one(chrome, ".tile.dropped").text.endswith(title)


def test_no_english_word_is_left_in_the_chinese_report(chrome: Chrome, tmp_path: Path) -> None:
    with reading(chrome, "zh-CN"):
        open_file(chrome, write(tmp_path / "report.html"))
        texts = shown(chrome)
        for address in ("3", "5", "23"):
            open_file(chrome, write(tmp_path / "report.html"))
            chrome.get(f"{chrome.current_url.partition('#')[0]}#pair=http://a.example/{address}")
            texts += shown(chrome)
        open_file(chrome, write(tmp_path / "none.html", closing(dropped={}, kept={})))
        texts += shown(chrome)
    left = [
        line for line in texts.splitlines() if re.search(r"[A-Za-z]{2,}", AS_IT_IS.sub("", line))
    ]
    assert left == []
    assert "对比" in texts
    assert "正好在阈值上：内容 3/3 比特" in texts


def test_the_switch_keeps_what_is_chosen_and_answered_and_lasts(
    chrome: Chrome, tmp_path: Path
) -> None:
    with reading(chrome, "en"):
        open_file(chrome, write(tmp_path / "report.html"))
        click(chrome, "#start")
        click(chrome, ".answer[data-answer=n]")
        click(chrome, "#close")
        assert one(chrome, "#answered").text == "1 answer, 1 wrongly dropped, 0 wrongly kept."
        found = one(chrome, "#found").text
        assert one(chrome, "#language").text == "中文"
        click(chrome, "#language")
        assert one(chrome, "#answered").text == "1 个答案，误丢弃 1 个，误保留 0 个。"
        assert one(chrome, "#show").get_attribute("value") == "check"
        assert re.findall(r"\d+", one(chrome, "#found").text) == re.findall(r"\d+", found)
        assert one(chrome, "#language").text == "English"
        chrome.refresh()
        assert one(chrome, "#start").text.startswith("审阅待检查的")
        click(chrome, "#language")
        assert one(chrome, "#found").text == found


def test_both_languages_have_the_same_figures(chrome: Chrome, tmp_path: Path) -> None:
    with reading(chrome, "en"):
        open_file(chrome, write(tmp_path / "report.html"))
        facts = [fact.text for fact in chrome.find_elements(By.CSS_SELECTOR, "li b, .count")]
        click(chrome, "#language")
        chinese = [fact.text for fact in chrome.find_elements(By.CSS_SELECTOR, "li b, .count")]
    assert len(facts) > 30
    assert [re.findall(r"\d+", one) for one in facts] == [
        re.findall(r"\d+", one) for one in chinese
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_runs_out_of_a_phone(chrome: Chrome, tmp_path: Path, language: str) -> None:
    with reading(chrome, language):
        resize(chrome, PHONE, 700)
        try:
            open_file(chrome, write(tmp_path / "report.html"))
            width = "return document.documentElement.scrollWidth"
            assert chrome.execute_script(width) == PHONE
            click(chrome, "#start")
            assert chrome.execute_script(width) == PHONE
        finally:
            resize(chrome, 1200, 900)
    assert complaints(chrome) == []


def test_each_sentence_of_the_report_has_its_chinese_one_and_none_is_idle() -> None:
    others = "".join(text for name, text in SCRIPT.items() if name != "sentences.js")
    string = r'"((?:[^"\\]|\\.)+)"'
    said = re.findall(rf"\bsay\((?:[^\"()]*\? )?{string}(?: : {string})?", others)
    counted = re.findall(rf"\bmany\([^\"]*, {string}(?:, {string})?\)", others)
    sentences = {each for pair in said for each in pair if each}
    sentences |= {f"{{0}} {more or f'{one}s'}" for one, more in counted}
    sentences |= set(_sentences_of_the_file()) | _kinds_of_doubts()
    known = {key[1:-1] for key in CHINESE}
    assert len(sentences) > 150
    assert sentences - known == {"{0}"}  # a name alone

    written = others + SCRIPT["sentences.js"].removeprefix(TABLE)
    written += PARTS.joinpath("report.html").read_text(encoding="utf-8")
    ours = [line for line in CHINESE_OF_THE_REPORT if line[1:-1] not in written]
    assert [line for line in ours if _of_one(line) not in written] == []


def _sentences_of_the_file() -> Iterator[str]:
    page: Any = html.fromstring(PARTS.joinpath("report.html").read_text(encoding="utf-8"))
    left_out = "ancestor::script or ancestor::style or ancestor::noscript or ancestor::code"
    texts = page.xpath(f"//text()[not({left_out} or ancestor::kbd or ancestor::*[@id='language'])]")
    yield from (text.strip() for text in texts if re.search(r"\w", text))
    yield from page.xpath("//@aria-label")


def _kinds_of_doubts() -> set[str]:
    code = Path(summary.__file__).read_text(encoding="utf-8")
    kinds = re.findall(r'Doubt\("([^"]+)"', code)
    near_misses = [kind for kind, _ in summary._REJECTIONS.values()]
    assert (len(kinds) > 5, len(near_misses)) == (True, 7)
    return {*kinds, *near_misses, summary.MAGNET, CAUSES, *REASONS.values()}


def _of_one(sentence: str) -> str:
    """What the scripts call the thing that "{0} pages" counts: page."""
    return sentence[1:-1].removeprefix("{0} ").removesuffix("s")


def test_a_chinese_sentence_fills_in_what_the_english_one_does() -> None:
    for english, chinese in CHINESE.items():
        assert set(re.findall(r"\{\d\}", chinese)) == set(re.findall(r"\{\d\}", english)), english
