"""The report as people use it: opened from disk and driven in a headless Chromium."""

from __future__ import annotations

import csv
import dataclasses
import io
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from simhash_pipeline.answers import read_sheet
from simhash_pipeline.drop_log import CAUSES, Drop, Run, read_log
from simhash_pipeline.review.summary import Summary
from simhash_pipeline.review.web_page import Texts, write_web_page
from simhash_pipeline.stores.contract import PageText
from tests.crawl.crawling import crawl
from tests.crawl.crawling import page as crawled_page
from tests.review.browser import chromium, complaints, open_file, prefer, resize, speak
from tests.review.logs import closing, drop, near_miss

HOSTILE = "</script><img src=x onerror=document.title='run'><script>document.title='run'</script>"
TEXTS = {
    "http://a.example/1": (
        "The bell in the fog",
        "The fog bell\nrings three strokes a minute\n渡轮三点开",
        "Port City Weather",
    ),
    "http://a.example/2": (
        "A story",
        "The fog bell\nrings four strokes a minute\n渡轮四点开",
        "Port City Sport",
    ),
}
# 30 groups: page n has n % 3 + 1 drops, so that three pages of a list are had, and sizes differ.
MANY = [
    drop(
        url=f"http://b.example/{n}/copy{copy}",
        title=f"Story number {n}",
        twin_url=f"http://b.example/{n}",
        time=f"2026-05-04T12:{n:02}:00.000Z",
        content_distance=copy,
        sketch_distance=copy,
    )
    for n in range(30)
    for copy in range(n % 3 + 1)
]


@pytest.fixture(scope="module")
def chrome() -> Iterator[Chrome]:
    with chromium() as browser:
        yield browser


def waiting(browser: Chrome) -> WebDriverWait[Chrome]:
    return WebDriverWait(browser, 20, poll_frequency=0.02)


class Report:
    """A report that is open in the browser."""

    def __init__(self, browser: Chrome, path: Path) -> None:
        self.browser = browser
        self.path = path
        open_file(browser, path)

    def one(self, selector: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        return [found.text for found in self.browser.find_elements(By.CSS_SELECTOR, selector)]

    def search(self, words: str, expected: str) -> None:
        """Type into the search box; that many are told once the list is drawn again.

        That is 150 ms after the last key, and timers fire in the order in which they are due.
        """
        box = self.one("#search")
        box.clear()
        box.send_keys(words, " ", Keys.BACKSPACE)
        self.browser.execute_async_script("setTimeout(arguments[0], 200)")
        assert self.one("#found").text == expected

    def choose(self, label: str, value: str) -> None:
        Select(self.one(f"#{label}")).select_by_visible_text(value)

    @property
    def title(self) -> str:
        return self.browser.title


@pytest.fixture
def report(chrome: Chrome, tmp_path: Path) -> Iterator[Any]:
    """Makes and opens reports; at the end none may have troubled the console."""

    def opened(*records: Drop | Run, texts: Texts | None = None) -> Report:
        path = tmp_path / "report.html"
        summary = Summary()
        summary.take(records)
        log = f"{tmp_path.name}.drops.jsonl"  # the browser keeps answers by its name
        write_web_page(path, summary, log, texts or no_text)
        return Report(chrome, path)

    complaints(chrome)
    yield opened
    assert complaints(chrome) == []


def no_text(url: str, namespace: str) -> None:
    """Of no page."""


def text_of(url: str, namespace: str) -> PageText | None:
    if url not in TEXTS or namespace != drop().namespace:
        return None
    title, text, left_out = TEXTS[url]
    return PageText(namespace, url, title, text, 0.0, left_out)


def tiles(report: Report) -> list[str]:
    return report.texts("#tiles li")


def headings(report: Report) -> list[str]:
    return report.texts("article h3")


def test_the_verdict_stands_on_top_with_the_reasons_to_check(report: Any) -> None:
    far = {"content_distance": 3, "title": "Chapter 4", "twin_title": "Chapter 3"}
    page = report(
        drop(twin_url="http://a.example/0"), drop(url="http://a.example/3", **far), closing()
    )
    assert tiles(page) == ["kept\n7", "dropped\n2\nof 11 pages", "to check\n1"]
    why, unjudged = page.texts("#why p")
    assert why == (
        "To check: titles differ (1), at the threshold (1). "
        "Answer each: copy (y), another page (n), don't know (d)."
    )
    assert unjudged == "Kept without being judged: no html 2."
    assert headings(page) == ["Chapter 3", "http://a.example/0"]
    assert page.texts("ul.why li") == ["titles differ", "at the threshold: content 3 of 3 bits"]


def test_a_run_without_suspicious_drops_and_one_without_any_say_so(report: Any) -> None:
    assert tiles(report(drop(), closing()))[2] == "to check\n0"
    page = report(closing(dropped={}))
    assert tiles(page)[1] == "dropped\n0\nof 9 pages"
    assert page.one("#reasons").text == "Nothing was dropped, so there is no reason."


def test_a_page_that_swallows_others_stands_on_top(report: Any) -> None:
    page = report(*(drop(url=f"http://b.example/{HOSTILE}{n}") for n in range(20)), closing())
    (note,) = page.texts("#magnets .note")
    assert note == (
        f"{CAUSES}\n20 pages of b.example were dropped for http://a.example/1, such as "
        f"http://b.example/{HOSTILE}0"
    )
    assert page.one("#magnets").rect["y"] < page.one("#drops").rect["y"]
    assert tiles(page)[1:] == ["dropped\n20\nof 29 pages", "to check\n1"]
    assert page.title == "Dropped near-duplicates"


def test_a_log_that_does_not_say_what_was_kept_makes_no_number_up(report: Any) -> None:
    page = report(drop())
    assert tiles(page)[:2] == ["kept\n?", "dropped\n1"]
    assert "How many pages were kept is not known" in page.one("#why").text


def test_the_chart_has_its_numbers_in_a_table(report: Any) -> None:
    far = [near_miss(url=f"http://b.example/{bits}", content_distance=bits) for bits in (3, 9, 20)]
    page = report(drop(), drop(content_distance=3), *far, closing())
    rows = page.browser.find_elements(By.CSS_SELECTOR, "#distances tr")
    texts = [row.get_attribute("textContent") for row in rows]
    assert texts[:6] == ["bits apartdroppedkept though near", "000", "110", "200", "311", "400"]
    assert texts[10:] == ["901", "1000", "1100", "1200", "13–1600", "17–2401", "25+00"]
    assert "threshold 3" in page.one("#distances").text


def test_a_chart_says_how_many_drops_it_lacks(report: Any) -> None:
    thin = [drop(url=f"http://a.example/{n}", reason="thin", content_distance=None) for n in (1, 2)]
    page = report(drop(), *thin, closing())
    assert "2 drops without a content distance." in page.one("#distances").text


def test_a_report_of_thin_pages_alone_says_that_no_distance_is_known(report: Any) -> None:
    page = report(drop(reason="thin", content_distance=None), closing())
    assert page.one("#distances").text == "No drop has a content distance."


def test_changed_settings_stand_before_the_others_which_are_folded(report: Any) -> None:
    page = report(closing(options={"match": "content", "content_distance": 5, "top_n": None}))
    assert page.one("#settings").text.splitlines() == [
        "SIMHASH_CONTENT_DISTANCE 5",
        "2 settings with their defaults",
    ]


def test_the_kept_page_comes_first_and_what_was_dropped_below(report: Any) -> None:
    page = report(drop(reason="content", structure_distance=None))
    (card,) = page.texts("article")
    assert card.splitlines() == [
        "Kept",
        "http://a.example/1",
        "1 drop",
        "first kept 2026-05-04 11:00",
        "Dropped",
        "A story",
        "http://a.example/2",
        "main text near that of a kept page: 1 of 3 bits",
        *("Compare", "with http://a.example/2"),
    ]


def test_the_other_measures_of_a_row_are_a_click_away(report: Any) -> None:
    page = report(drop(reason="content", structure_distance=None))
    assert page.texts(".measures li") == [""] * 4
    page.one(".measures summary").click()
    assert page.texts(".measures li") == [
        *("content 1 bit", "sketch 4 bits", "words 321", "2026-05-04 12:00:00")
    ]


@pytest.mark.parametrize("size", [(1440, 900), (1024, 768), (390, 844)])
def test_the_figures_and_the_chart_are_on_the_first_screen(
    report: Any, size: tuple[int, int]
) -> None:
    many = [drop(url=f"http://b.example/{n}/{'long' * 20}") for n in range(60)]
    page = report(*many, near_miss(), closing())
    try:
        resize(page.browser, *size)
        chart = page.one("#distances svg").rect
        assert chart["y"] + chart["height"] < size[1]
        assert page.browser.execute_script("return document.documentElement.scrollWidth") == size[0]
    finally:
        resize(page.browser, 1200, 900)


def test_a_kept_page_has_its_title(report: Any) -> None:
    assert headings(report(drop(twin_title="By the log"))) == ["By the log"]


def test_search_finds_words_of_titles_and_addresses(report: Any) -> None:
    page = report(*MANY)
    assert page.one("#found").text == "60 drops of 30 kept pages"
    page.search("story 17", "3 drops of 1 kept page")
    assert headings(page) == ["http://b.example/17"]
    page.search("/29/COPY1", "1 drop of 1 kept page")
    page.search("nothing of the sort", "No page matches.")
    assert headings(page) == []
    page.search("", "60 drops of 30 kept pages")


def test_search_finds_chinese_in_titles_and_in_encoded_addresses(report: Any) -> None:
    url = "http://a.example/%E6%97%A7%E4%B9%A6%E5%BA%97"
    page = report(drop(url=url, title="夜市的诗"), drop())
    page.search("旧书店", "1 drop of 1 kept page")
    page.search("夜市", "1 drop of 1 kept page")
    page.search("%E6%97%A7", "1 drop of 1 kept page")
    title, link = page.one(".title"), page.one("li .address")
    assert (title.get_attribute("lang"), link.get_attribute("lang")) == ("zh", "zh")
    assert (link.text, link.get_attribute("href")) == ("http://a.example/旧书店", url)


def test_the_list_can_be_ordered(report: Any) -> None:
    page = report(*MANY)
    page.choose("order", "biggest groups first")
    assert headings(page)[:2] == ["http://b.example/2", "http://b.example/5"]
    page.choose("order", "newest first")
    assert headings(page)[:2] == ["http://b.example/29", "http://b.example/28"]
    page.choose("order", "oldest first")
    assert headings(page)[:2] == ["http://b.example/0", "http://b.example/1"]
    page.choose("order", "by address")
    assert headings(page)[:3] == [f"http://b.example/{n}" for n in ("0", "1", "10")]
    page.choose("order", "nearest the threshold first")
    assert headings(page)[0] == "http://b.example/2"
    assert page.texts("article")[0].index("copy2") < page.texts("article")[0].index("copy0")


def test_reasons_and_distances_filter(report: Any) -> None:
    page = report(*MANY, drop(reason="thin", content_distance=None))
    page.choose("distance", "2 bits")
    assert page.one("#found").text == "10 drops of 10 kept pages"
    page.choose("distance", "any")
    page.choose("reason", "little text, and the title and text of a kept page")
    assert page.one("#found").text == "1 drop of 1 kept page"


def test_the_list_is_paged(report: Any) -> None:
    page = report(*MANY)
    assert len(headings(page)) == 20
    assert page.one("#page").text == "Page 1 of 2"
    assert not page.one("#previous").is_enabled()
    page.one("#next").click()
    assert len(headings(page)) == 10
    assert page.one("#page").text == "Page 2 of 2"
    assert page.one("#found").text == "60 drops of 30 kept pages, page 2"
    assert not page.one("#next").is_enabled()
    page.search("story", "60 drops of 30 kept pages")
    assert page.one("#page").text == "Page 1 of 2"


def test_a_large_group_shows_more_when_asked(report: Any) -> None:
    page = report(*(drop(url=f"http://a.example/copy{n}") for n in range(58)))
    assert len(page.texts("article li > .tag")) == 3
    page.one("article .more").click()
    assert len(page.texts("article li > .tag")) == 53
    focused = page.browser.switch_to.active_element
    assert "copy3" in focused.text  # the first of those that came
    assert page.one("article .more").text == "Show 5 more"
    page.one("article .more").click()
    assert len(page.texts("article li > .tag")) == 58
    assert not page.one("article .more").is_displayed()


def rows_shown(page: Report) -> list[str]:
    found = page.browser.find_elements(By.CSS_SELECTOR, "#compared tr.same, #compared tr.differs")
    return [row.text for row in found if row.is_displayed()]


def keys(page: Report, *pressed: str) -> None:
    """Press keys, whatever has the focus by then."""
    for key in pressed:
        ActionChains(page.browser).send_keys(key).perform()


def shown(page: Report, heading: str) -> None:
    """Wait until the pair with this heading is open; what is hidden has no text."""
    waiting(page.browser).until(lambda _: page.one("#compare-heading").text == heading)


def test_two_texts_are_opened_side_by_side_at_the_first_difference(report: Any) -> None:
    title = "The bell in the fog"
    page = report(
        drop(twin_title=title), drop(url="http://a.example/3", twin_title=title), texts=text_of
    )
    page.one("article .compare").click()
    shown(page, "Drop 1 of 2")
    assert page.one("#compare-found").text == "2 differences, 1 outside the main text"
    assert page.texts("#compared mark.kept") == ["three", "三", "Weather"]
    assert page.texts("#compared mark.dropped") == ["four", "四", "Sport"]
    assert page.texts("#compared td:lang(zh)") == ["渡轮三点开", "渡轮四点开"]
    assert page.texts("#compared .part") == [
        "Main text: the content fingerprint is made of it",
        "Outside it: menus, boxes, rows, comments. No part of the content fingerprint",
    ]
    assert "The bell in the fog" in page.one("#compared thead").text
    assert len(rows_shown(page)) == 4
    page.one("#differences").click()
    assert len(rows_shown(page)) == 3
    page.one("#close").click()
    assert not page.one("#compare").is_displayed()


def test_n_and_p_with_shift_go_from_difference_to_difference(report: Any) -> None:
    page = report(drop(), texts=text_of)
    page.one("article .compare").click()
    shown(page, "Drop 1 of 1")
    at = [page.one("#compared .at").text]
    for key in ("N", "N", "N", "P"):
        keys(page, key)
        at.append(page.one("#compared .at").text)
    assert [row.split()[-1] for row in at] == [
        "minute",
        "渡轮四点开",
        "Sport",
        "Sport",
        "渡轮四点开",
    ]


def test_of_texts_that_were_not_kept_the_report_says_how_to_have_them(report: Any) -> None:
    page = report(drop(url="http://a.example/it's"))
    page.one("article .compare").click()
    shown(page, "Drop 1 of 1")
    assert page.texts("#unknown code") == [
        "SIMHASH_KEEP_TEXT = True",
        r"scrapy simhash compare 'http://a.example/1' 'http://a.example/it'\''s'",
    ]
    assert page.texts("#pair-facts li")[0] == "main text near that of a kept page: 1 of 3 bits"
    assert not page.one("#walk").is_displayed()


@contextmanager
def another_tab(browser: Chrome) -> Iterator[None]:
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    yield
    browser.close()
    browser.switch_to.window(first)


def test_drops_are_answered_by_keys_and_the_answers_are_kept(report: Any) -> None:
    records = [drop(url=f"http://a.example/{n}", content_distance=n - 4) for n in range(4, 8)]
    page = report(*records)
    keys(page, "j")
    shown(page, "Drop 1 of 4")
    keys(page, "y")
    shown(page, "Drop 2 of 4")
    keys(page, "j", "d")
    shown(page, "Drop 4 of 4")
    keys(page, "k", "k", "n")
    shown(page, "Drop 3 of 4")
    keys(page, Keys.ESCAPE)
    assert page.one("#answered").text == "3 answers, 1 wrongly dropped, 0 wrongly kept."
    said = ["copy", "another page", "don't know"]
    assert page.texts(".said") == said
    with another_tab(page.browser):
        # Chromium tells one tab what another keeps, but not at once.
        waiting(page.browser).until(
            lambda _: Report(page.browser, page.path).texts(".said") == said
        )
        page.choose("show", "answered: another page")
        assert page.one("#found").text == "1 drop of 1 kept page"


def test_near_misses_stand_beside_the_drops_and_are_answered_with_them(
    report: Any, tmp_path: Path
) -> None:
    copy = near_miss(url="http://a.example/3", content_distance=0, twin_title="A story")
    other = near_miss(url="http://a.example/4", content_distance=3, similarity=0.2)
    page = report(drop(), copy, other, closing(kept={"new": 5, "near miss": 2}, errors={}))
    assert tiles(page) == [
        "kept\n7\n2 near another kept page",
        "dropped\n1\nof 8 pages",
        "to check\n1\n0 dropped, 1 kept",
    ]
    assert page.one("#found").text == "1 drop and 2 near misses of 1 kept page"
    assert "page-specific texts differ: alike by 20% of at least 85%" in page.texts("ul.why li")
    page.choose("show", "kept though near")
    assert page.one("#found").text == "2 near misses of 1 kept page"
    assert page.texts("li .tag") == ["Kept too"] * 2
    assert page.one("#start").text == "Review the 1 to check"
    page.one("#start").click()
    shown(page, "Near miss 1 of 1")
    keys(page, "y", Keys.ESCAPE)
    assert page.one("#answered").text == "1 answer, 0 wrongly dropped, 1 wrongly kept."
    save_in(page.browser, tmp_path)
    page.one("#save").click()
    downloaded(tmp_path / "answers.csv")
    ((pair, line),) = read_sheet(tmp_path / "answers.csv").items()
    assert (pair, line.twins) == (("http://a.example/1", "http://a.example/3"), True)


def test_near_misses_alone_are_asked_for_too(report: Any) -> None:
    page = report(near_miss(), closing(kept={"new": 8, "near miss": 1}, dropped={}, errors={}))
    assert tiles(page)[2] == "to check\n1\n0 dropped, 1 kept"
    (how,) = page.texts("#why p")
    assert how == "Answer each: copy (y), another page (n), don't know (d)."


WATCH_HEADING = """
window.headings = [];
const heading = document.getElementById("compare-heading");
const watch = new MutationObserver(() => headings.push(heading.textContent));
watch.observe(heading, { childList: true });
"""


def test_a_hundred_pairs_are_decided_by_a_hundred_and_one_keys(report: Any) -> None:
    drops = [drop(url=f"http://a.example/d/{n}", twin_url=f"http://t/{n}") for n in range(50)]
    near = [near_miss(url=f"http://a.example/n/{n}", twin_url=f"http://t/{n}") for n in range(50)]
    page = report(*drops, *near)
    page.browser.execute_script(WATCH_HEADING)
    ActionChains(page.browser).send_keys("j", "ny" * 50).perform()
    kinds = ["Near miss", "Drop"] * 20 + ["Drop", "Near miss"] * 30  # 20 near misses are to check
    headings = [f"{kind} {number} of 100" for number, kind in enumerate(kinds, start=1)]
    assert page.browser.execute_script("return headings") == headings
    shown(page, headings[-1])
    keys(page, Keys.ESCAPE)
    assert page.one("#answered").text.startswith("100 answers, ")


def test_a_page_that_is_answered_by_n_comes_out_of_the_next_crawl(
    chrome: Chrome, tmp_path: Path
) -> None:
    pages = [crawled_page(1), crawled_page(2)]
    assert crawl(tmp_path, pages).scraped == ["http://a.example/1"]
    log = tmp_path / ".scrapy/simhash/items.drops.jsonl"
    summary = Summary()
    report = tmp_path / "report.html"
    summary.take(read_log(log))
    write_web_page(report, summary, log.name, no_text)
    page = Report(chrome, report)
    keys(page, "j")
    shown(page, "Drop 1 of 1")
    keys(page, "n", Keys.ESCAPE)
    save_in(chrome, tmp_path)
    page.one("#save").click()
    downloaded(tmp_path / "answers.csv")
    again = crawl(tmp_path, pages, SIMHASH_ANSWERS="answers.csv", SIMHASH_UNCHANGED="drop")
    assert again.scraped == ["http://a.example/2"]
    assert "Answers: answers.csv: 1 pair, 1 met" in again.log


def test_the_answers_are_saved_as_a_sheet_that_tune_reads(report: Any, tmp_path: Path) -> None:
    formula = "=cmd|' /C calc'!A1"
    odd = {
        "title": '"Fog", it says',
        "twin_url": "http://a.example/0",
        "twin_title": formula,
        "content_distance": 3,
    }
    page = report(
        drop(**odd),
        drop(url="http://a.example/3"),
        drop(url="http://a.example/4"),
        drop(**odd, run="run-2"),  # the first page again
    )
    page.choose("run", page.texts("#run option")[-1])
    save_in(page.browser, tmp_path)
    assert not page.one("#save").is_enabled()
    page.one("#start").click()
    shown(page, "Drop 1 of 2")
    keys(page, "n")
    shown(page, "Drop 2 of 2")
    keys(page, Keys.ESCAPE)
    page.choose("show", "all")
    page.browser.execute_script("document.activeElement.blur()")  # a select takes letters
    for opened in range(1, 4):
        keys(page, "j")
        shown(page, f"Drop {opened} of 4")
    keys(page, "y")
    shown(page, "Drop 4 of 4")
    keys(page, "d", Keys.ESCAPE)
    page.one("#save").click()
    sheet = downloaded(tmp_path / "answers.csv")
    rows = list(csv.DictReader(io.StringIO(sheet)))
    assert [(row["url"], row["answer"]) for row in rows] == [
        ("http://a.example/2", "another page"),
        ("http://a.example/3", "copy"),
        ("http://a.example/4", "don't know"),
    ]
    assert rows[0]["twin_title"] == f"'{formula}"
    assert "scrapy simhash tune answers.csv" in page.one("#then").text
    answers = read_sheet(tmp_path / "answers.csv").values()
    assert [(line.twins, line.distance) for line in answers] == [(False, 3), (True, 1), (None, 1)]


def test_what_is_shown_is_saved_as_csv(report: Any, tmp_path: Path) -> None:
    page = report(*MANY, drop(title='"Fog", it\nsays', twin_title="=1+1", content_distance=3))
    save_in(page.browser, tmp_path)
    page.search("fog", "1 drop of 1 kept page")
    page.one("#csv").click()
    (row,) = csv.DictReader(io.StringIO(downloaded(tmp_path / "drops.csv"), newline=""))
    assert row["title"] == '"Fog", it\nsays'
    assert row["twin_title"] == "'=1+1"
    assert row["words"] == "titles differ; at the threshold: content 3 of 3 bits"
    assert (row["distance"], row["reason"], row["time"]) == ("3", "content", "2026-05-04 12:00:00")


def test_a_sheet_has_semicolons_where_numbers_have_a_decimal_comma(
    report: Any, tmp_path: Path, chrome: Chrome
) -> None:
    """Excel shows it in one column there otherwise."""
    speak(chrome, "de")
    try:
        page = report(drop(title="Fog; bells, too"))
        save_in(page.browser, tmp_path)
        page.one("#csv").click()
        sheet = io.StringIO(downloaded(tmp_path / "drops.csv"), newline="")
    finally:
        speak(chrome, "en")
    (row,) = csv.DictReader(sheet, delimiter=";")
    assert row["title"] == "Fog; bells, too"


def save_in(browser: Chrome, folder: Path) -> None:
    where = {"behavior": "allow", "downloadPath": str(folder)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", where)


def downloaded(path: Path) -> str:
    deadline = time.monotonic() + 20
    while not path.exists() or not path.stat().st_size:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return path.read_text(encoding="utf-8-sig")


def test_the_last_run_is_shown_and_all_runs_count_each_page_once(report: Any) -> None:
    page = report(
        drop(run="first"),
        drop(url="http://a.example/3", run="first"),
        closing(run="first", dropped={"content": 2}),
        drop(run="second", time="2026-05-05T12:00:00.000Z"),
        closing(run="second", started="2026-05-05T11:59:59.000Z"),
    )
    assert tiles(page)[1] == "dropped\n1\nof 10 pages"
    assert page.one("#found").text == "1 drop of 1 kept page"
    page.choose("run", "all runs")
    assert tiles(page)[1] == "dropped\n3\n2 runs"
    assert page.one("#found").text == "3 drops (2 different pages) of 1 kept page"


def test_a_link_opens_the_same_drops_and_the_same_pair(report: Any) -> None:
    page = report(*MANY, drop(run="run-2", spider="other", url="http://c.example/?a=1&b=#2"))
    page.choose("run", "all runs")
    page.choose("distance", "1 bit")
    page.choose("host", "c.example (1)")
    page.one("article .compare").click()
    shown(page, "Drop 1 of 1")
    link = page.browser.current_url
    page.browser.get("about:blank")
    page.browser.get(link)
    shown(page, "Drop 1 of 1")
    assert "http://c.example/?a=1&b=#2" in page.one("#compared thead").text
    assert page.one("#found").text == "1 drop of 1 kept page"
    page.browser.get(page.path.resolve().as_uri() + "#run=all&spider=news&order=newest")
    waiting(page.browser).until(lambda _: not page.one("#compare").is_displayed())
    assert page.one("#found").text == "60 drops of 30 kept pages"
    assert headings(page)[0] == "http://b.example/29"
    page.browser.get(page.path.resolve().as_uri() + "#run=gone&reason=none&pair=nowhere")
    assert page.one("#found").text == "1 drop of 1 kept page"  # an unknown choice is none


def test_all_can_be_reached_and_used_by_the_keyboard(report: Any) -> None:
    page = report(*MANY, drop(twin_title="The bell in the fog"), texts=text_of)
    keys = page.one("body")

    def focused() -> WebElement:
        element: WebElement = page.browser.switch_to.active_element
        return element

    def tab(times: int = 1) -> WebElement:
        for _ in range(times):
            focused().send_keys(Keys.TAB)
        return focused()

    keys.send_keys(Keys.TAB)
    assert focused().text == "Skip to the drops"
    focused().send_keys(Keys.ENTER)
    assert focused().get_attribute("id") == "drops"
    assert tab().get_attribute("id") == "search"
    focused().send_keys("fog nowhere")
    waiting(page.browser).until(lambda _: page.one("#found").text == "No page matches.")
    focused().send_keys(*[Keys.BACKSPACE] * 11, "a.example")
    waiting(page.browser).until(lambda _: page.one("#found").text == "1 drop of 1 kept page")
    assert tab(5).get_attribute("id") == "order"
    assert tab().get_attribute("id") == "csv"
    assert "The bell in the fog" in tab().text  # opens and closes the group
    assert tab().text == "http://a.example/1"
    assert tab().text == "http://a.example/2"
    assert tab().text.startswith("main text near")  # opens the other measures
    assert tab().text.startswith("Compare")
    focused().send_keys(Keys.ENTER)
    waiting(page.browser).until(lambda _: page.one("#compare").is_displayed())
    focused().send_keys(Keys.ESCAPE)
    waiting(page.browser).until(lambda _: not page.one("#compare").is_displayed())
    assert focused().text.startswith("Compare")  # back where it was opened


def test_results_are_announced_and_everything_has_a_name(report: Any) -> None:
    page = report(drop(), closing(), texts=text_of)
    assert page.one("#found").get_attribute("aria-live") == "polite"
    assert page.one("html").get_attribute("lang") == "en"
    for control in page.browser.find_elements(By.CSS_SELECTOR, "button, input, select, svg[role]"):
        name = control.accessible_name
        assert name or not control.is_displayed(), control.get_attribute("outerHTML")
    for landmark in ("header", "main", "footer", "nav[aria-label]", "form[role=search]"):
        assert page.one(landmark)


def contrast(foreground: Sequence[float], background: Sequence[float]) -> float:
    """The ratio of WCAG 2, 1 to 21."""

    def luminance(colour: Sequence[float]) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
        return sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    light, dark = sorted((luminance(foreground), luminance(background)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def colour(text: str) -> list[float]:
    return [int(part) / 255 for part in re.findall(r"\d+", text)[:3]]


GROUNDS = """
return [...document.querySelectorAll(arguments[0])].filter((each) => !each.disabled).map((each) => {
  let at = each, ground;
  do ground = getComputedStyle(at).backgroundColor;
  while (ground === "rgba(0, 0, 0, 0)" && (at = at.parentElement));
  return [each.outerHTML, getComputedStyle(each).color, ground];
});
"""


def stands_out(page: Report, selector: str) -> None:
    """Each of these elements that is enabled has text of a contrast of 4.5 to its ground."""
    found = page.browser.execute_script(GROUNDS, selector)
    assert found
    for element, text, ground in found:
        assert contrast(colour(text), colour(ground)) >= 4.5, element


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_stands_out_from_its_ground_by_4_5_in_light_and_dark(report: Any, dark: bool) -> None:
    page = report(drop(content_distance=3), closing(), texts=text_of)
    if dark:
        page.one("#theme").click()
    page.one(".compare").click()
    waiting(page.browser).until(lambda _: page.one("#compare").is_displayed())
    texts = (
        "p, a, h1, h2, h3, dt, dd b, dd span, label, td, th, .tag, li, b, del, ins, button, select"
    )
    stands_out(page, texts)


def test_the_system_decides_on_dark_and_the_button_changes_it(report: Any, chrome: Chrome) -> None:
    prefer(chrome, "dark")
    try:
        page = report(drop())
        pressed = page.one("#theme").get_attribute("aria-pressed")
        dark = page.one("body").value_of_css_property("background-color")
        page.one("#theme").click()
        light = page.one("body").value_of_css_property("background-color")
    finally:
        prefer(chrome, "light")
    assert pressed == "true"
    assert page.one("#theme").get_attribute("aria-pressed") == "false"
    assert max(colour(dark)) < 0.2 < 0.9 < min(colour(light))


def test_nothing_from_a_page_is_run_or_becomes_markup(report: Any) -> None:
    hostile = (
        drop(url=f"http://a.example/{HOSTILE}", title=HOSTILE, spider=HOSTILE, reason=HOSTILE),
        drop(url="http://a.example/2", title="<!--<script>", twin_url=HOSTILE),
        drop(url="javascript:document.title='run'", title="{{7*7}}", twin_url="data:text/html,x"),
    )
    page = report(
        *(dataclasses.replace(each, twin_title=HOSTILE) for each in hostile),
        texts=lambda url, space: PageText(space, url, HOSTILE, f"{HOSTILE}\n{url}", 0.0, HOSTILE),
    )
    assert page.title == "Dropped near-duplicates"
    assert set(page.texts(".title")) == {"<!--<script>", "{{7*7}}"}
    assert headings(page) == [HOSTILE] * 3
    assert page.browser.find_elements(By.CSS_SELECTOR, "img, main script, [onerror]") == []
    links = page.browser.find_elements(By.CSS_SELECTOR, "article a")
    assert {str(link.get_attribute("href"))[:17] for link in links} == {"http://a.example/"}
    for button in page.browser.find_elements(By.CSS_SELECTOR, ".compare"):
        button.click()
        waiting(page.browser).until(lambda _: page.one("#compare").is_displayed())
        assert HOSTILE in page.one("#compared").text
        page.one("#close").click()
    assert page.title == "Dropped near-duplicates"


def test_the_policy_refuses_any_other_script_and_anything_from_elsewhere(
    chrome: Chrome, report: Any
) -> None:
    page = report(drop())
    blocked = page.browser.execute_async_script("""
        const done = arguments[0], seen = [];
        addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
        const script = document.createElement("script");
        try { script.textContent = "document.title = 'run'"; } catch { seen.push("trusted types"); }
        try { document.body.innerHTML += "x"; } catch { seen.push("trusted types"); }
        const image = document.createElement("img");
        image.src = "http://127.0.0.1:9/x.png";
        document.body.append(image);
        fetch("http://127.0.0.1:9/").catch(() => setTimeout(() => done(seen.sort()), 100));
    """)
    assert "connect-src" in blocked
    assert "img-src" in blocked
    assert blocked.count("trusted types") == 2
    assert page.title == "Dropped near-duplicates"
    complaints(chrome)  # that it refused each of these


def test_direction_marks_of_a_title_stay_in_it_and_those_of_an_address_are_shown(
    report: Any,
) -> None:
    page = report(drop(url="http://a.example/%E2%80%AEgpj.exe", title="\u202eevil"))
    assert page.one("li .address").text == "http://a.example/%E2%80%AEgpj.exe"
    assert page.one(".title").value_of_css_property("unicode-bidi") in ("isolate", "plaintext")


def test_an_address_that_is_not_utf_8_is_shown_as_it_stands(report: Any) -> None:
    url = "http://a.example/%C4%E3%BA%C3?q=%26%3D%20x%"
    page = report(drop(url=url))
    assert page.one("li .address").text == url


@pytest.fixture
def phone(chrome: Chrome) -> Iterator[None]:
    resize(chrome, 360, 640)
    yield
    resize(chrome, 1200, 900)


LONG = {"url": "http://a.example/" + "longword" * 60, "title": "标题" * 90}


@pytest.mark.usefixtures("phone")
def test_a_phone_need_not_scroll_sideways(report: Any) -> None:
    page = report(drop(**LONG), closing())
    assert page.browser.execute_script("return document.documentElement.scrollWidth") <= 360


@pytest.mark.usefixtures("phone")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_on_a_phone_the_answers_stay_in_reach_and_stand_out(report: Any, dark: bool) -> None:
    doubtful = {"content_distance": 3, "main_share": 0.1, "similarity": 0.5}
    near = near_miss(**{**LONG, "url": f"{LONG['url']}2"})
    page = report(drop(**LONG, **doubtful), near, closing(), texts=long_text)
    if dark:
        page.one("#theme").click()
    page.one("#start").click()
    for heading in ("Drop 1 of 2", "Near miss 2 of 2", "Near miss 2 of 2"):  # the last is answered
        shown(page, heading)
        page.browser.execute_script("arguments[0].scrollTop = 1e6", page.one("#texts"))
        assert page.one("#texts").rect["height"] >= 96  # pixels: some lines of text
        for button in page.browser.find_elements(By.CSS_SELECTOR, ".answer"):
            where = button.rect
            assert 0 <= where["x"] <= where["x"] + where["width"] <= 360
            assert 0 <= where["y"] <= where["y"] + where["height"] <= 640
            assert where["height"] >= 44  # as much as a thumb needs
        stands_out(page, ".answer")
        page.one(".answer").click()
    assert page.one("#answered").get_attribute("textContent") == (
        "2 answers, 0 wrongly dropped, 1 wrongly kept."
    )


def long_text(url: str, namespace: str) -> PageText:
    lines = "\n".join(f"line {number} of {url[:20]}{len(url)}" for number in range(99))
    return PageText(namespace, url, "标题" * 90, lines, 0.0, "")


@pytest.mark.usefixtures("phone")
def test_on_a_phone_the_filters_are_folded_until_they_are_asked_for(report: Any) -> None:
    page = report(*MANY)
    assert not page.one("#search").is_displayed()
    page.one("#fold summary").click()
    page.choose("distance", "2 bits")
    page.one("#fold summary").click()
    assert not page.one("#search").is_displayed()
    assert page.one("#fold summary").text == "Search and filters (1)"
    resize(page.browser, 1200, 900)
    waiting(page.browser).until(lambda _: page.one("#search").is_displayed())
    assert not page.one("#fold summary").is_displayed()


@pytest.mark.ci
def test_thirty_thousand_drops_are_listed_and_searched(report: Any) -> None:
    page = report(
        *(
            drop(
                url=f"http://host{n % 500}.example/story-{n % 12_000}?copy={n}",
                title=f"The story of number {n}",
                twin_url=f"http://host{n % 500}.example/story-{n % 12_000}",
            )
            for n in range(30_000)
        )
    )
    assert page.one("#found").text == "30,000 drops of 12,000 kept pages"
    assert page.one("#page").text == "Page 1 of 600"
    page.search("number 29999", "1 drop of 1 kept page")
    assert headings(page) == ["http://host499.example/story-5999"]


def test_of_thousands_of_near_misses_only_a_page_is_drawn(report: Any) -> None:
    """So that they open at once: `len` of what is drawn, as no test depends on the clock."""
    near = [
        near_miss(url=f"http://a.example/n/{n}", twin_url=f"http://a.example/t/{n % 1_000}")
        for n in range(5_000)
    ]
    page = report(*near)
    assert page.one("#found").text == "5,000 near misses of 1,000 kept pages"
    assert len(page.texts("article")) == 20
    assert len(page.texts("article li[data-place]")) == 60
    assert page.texts("#compared tr") == []


def test_an_empty_log_makes_a_page_too(report: Any) -> None:
    page = report()
    assert tiles(page) == ["kept\n?", "dropped\n0", "to check\n0"]
    assert page.one("#about").text.endswith(".drops.jsonl")
    assert page.one("#found").text == "No page matches."
