"""The report as people use it: opened from disk and driven in a headless Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from simhash_pipeline.drop_log import Drop, Run
from simhash_pipeline.report.selection import Selection
from simhash_pipeline.report.summary import Summary
from simhash_pipeline.report.swallowing import CAUSES
from simhash_pipeline.report.web_page import Texts, write_web_page
from tests.report.browser import chromium, complaints, open_file, resize
from tests.report.logs import closing, drop

HOSTILE = "</script><img src=x onerror=document.title='run'><script>document.title='run'</script>"
TEXTS = {
    "http://a.example/1": "The fog bell\nrings three strokes a minute\n渡轮三点开",
    "http://a.example/2": "The fog bell\nrings four strokes a minute\n渡轮四点开",
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
        """Type into the search box and wait until that many are told."""
        box = self.one("#search")
        box.clear()
        box.send_keys(words, " ", Keys.BACKSPACE)
        WebDriverWait(self.browser, 20).until(lambda _: self.one("#found").text == expected)

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
        summary = Summary(Selection())
        drops = list(summary.take(records))
        write_web_page(path, summary, drops, log="news.drops.jsonl", texts=texts)
        return Report(chrome, path)

    complaints(chrome)
    yield opened
    assert complaints(chrome) == []


def text_of(url: str, namespace: str) -> str | None:
    return TEXTS.get(url) if namespace == drop().namespace else None


def headings(report: Report) -> list[str]:
    return report.texts("article h3")


def test_totals_tell_what_was_kept_and_dropped(report: Any) -> None:
    page = report(drop(), closing())
    assert page.texts("#totals .tile b") == ["1", "7", "1", "1"]
    assert page.texts("#totals .tile span")[:2] == ["12.5 % of pages judged", "new 6, thin 1"]
    assert "Kept without being judged: no html 2." in page.one("#notes").text
    assert "SIMHASH_CONTENT_DISTANCE 3" in page.one("#settings").text


def test_a_page_that_swallows_others_stands_on_top(report: Any) -> None:
    page = report(*(drop(url=f"http://b.example/{HOSTILE}{n}") for n in range(20)), closing())
    (note,) = page.texts("#swallowing .note")
    assert note == (
        "20 pages of b.example were dropped as near-duplicates of http://a.example/1: look at "
        f"http://b.example/{HOSTILE}0. {CAUSES}"
    )
    assert page.one("#swallowing").rect["y"] < page.one("#totals").rect["y"]
    assert page.title == "Dropped near-duplicates"


def test_a_log_that_does_not_say_what_was_kept_makes_no_number_up(report: Any) -> None:
    page = report(drop())
    assert page.texts("#totals .tile b")[1] == "not known"
    assert "what it kept isn't known" in page.one("#timeline").text


def test_charts_have_their_numbers_in_tables(report: Any) -> None:
    page = report(drop(), drop(content_distance=3), closing())
    tables = [
        [row.get_attribute("textContent") for row in table.find_elements(By.CSS_SELECTOR, "tr")]
        for table in page.browser.find_elements(By.CSS_SELECTOR, "#timeline table, .pair table")
    ]
    assert tables[0] == ["from (UTC)keptdropped", "2026-05-04 11:59:5960", "2026-05-04 12:00:0011"]
    assert tables[1][1:] == ["00", "11", "20", "31", "40"]
    assert "9–162" in tables[2]
    assert "threshold 3" in page.one("#content-chart").text
    assert "threshold" not in page.one("#structure-chart").text  # structure did not decide


def test_the_kept_page_comes_first_and_what_was_dropped_below(report: Any) -> None:
    page = report(drop(reason="content", structure_distance=None))
    (card,) = page.texts("article")
    assert card.splitlines() == [
        "Kept",
        "http://a.example/1",
        "first kept 2026-05-04 11:00, 1 drop",
        "Dropped",
        "A story",
        "http://a.example/2",
        *("reason content", "content 1 bit", "sketch 4 bits", "words 321"),
        "2026-05-04 12:00:00",
    ]


def test_search_finds_words_of_titles_and_addresses(report: Any) -> None:
    page = report(*MANY)
    assert page.one("#found").text == "60 drops of 30 kept pages"
    page.search("story 17", "3 drops of 1 kept page")
    assert headings(page) == ["http://b.example/17"]
    page.search("/29/COPY1", "1 drop of 1 kept page")
    page.search("nothing of the sort", "No drop is like that.")
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
    page.choose("reason", "thin")
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
    assert len(page.texts("article li > .tag")) == 5
    page.one("article .more").click()
    assert len(page.texts("article li > .tag")) == 55
    focused = page.browser.switch_to.active_element
    assert "copy5" in focused.text  # the first of those that came
    assert page.one("article .more").text == "Show 3 more"
    page.one("article .more").click()
    assert len(page.texts("article li > .tag")) == 58
    assert not page.one("article .more").is_displayed()


def rows_shown(page: Report) -> list[str]:
    found = page.browser.find_elements(By.CSS_SELECTOR, "#compared tbody tr")
    return [row.text for row in found if row.is_displayed()]


def test_two_texts_are_opened_side_by_side(report: Any) -> None:
    page = report(drop(), drop(url="http://a.example/3"), texts=text_of)
    (button,) = page.browser.find_elements(By.CSS_SELECTOR, ".compare")  # of one there is no text
    button.click()
    WebDriverWait(page.browser, 20).until(lambda _: page.one("#compare").is_displayed())
    assert page.one("#compare-found").text == "2 paragraphs of 3 differ."
    assert page.texts("#compared del") == ["three", "三"]
    assert page.texts("#compared ins") == ["four", "四"]
    assert page.texts("#compared td:lang(zh)") == ["渡轮三点开", "渡轮四点开"]
    assert len(rows_shown(page)) == 3
    page.one("#differences").click()
    assert len(rows_shown(page)) == 2
    page.one("#close").click()
    assert not page.one("#compare").is_displayed()


def test_all_can_be_reached_and_used_by_the_keyboard(report: Any) -> None:
    page = report(*MANY, drop(), texts=text_of)
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
    WebDriverWait(page.browser, 20).until(
        lambda _: page.one("#found").text == "No drop is like that."
    )
    focused().send_keys(*[Keys.BACKSPACE] * 11, "a.example")
    WebDriverWait(page.browser, 20).until(
        lambda _: page.one("#found").text == "1 drop of 1 kept page"
    )
    assert tab(3).get_attribute("id") == "order"
    assert tab().text == "http://a.example/1"
    assert tab().text == "http://a.example/2"
    assert tab().text.startswith("Side by side")
    focused().send_keys(Keys.ENTER)
    WebDriverWait(page.browser, 20).until(lambda _: page.one("#compare").is_displayed())
    focused().send_keys(Keys.ESCAPE)
    WebDriverWait(page.browser, 20).until(lambda _: not page.one("#compare").is_displayed())
    assert focused().text.startswith("Side by side")  # back where it was opened


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


GROUND = """
for (let at = arguments[0]; at; at = at.parentElement) {
  const ground = getComputedStyle(at).backgroundColor;
  if (ground !== "rgba(0, 0, 0, 0)") return [getComputedStyle(arguments[0]).color, ground];
}
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_stands_out_from_its_ground_by_4_5_in_light_and_dark(report: Any, dark: bool) -> None:
    page = report(drop(content_distance=3), closing(), texts=text_of)
    if dark:
        page.one("#theme").click()
    page.one(".compare").click()
    WebDriverWait(page.browser, 20).until(lambda _: page.one("#compare").is_displayed())
    texts = (
        "p, a, h1, h2, h3, dt, dd b, dd span, label, td, th, .tag, li, b, del, ins, button, select"
    )
    for element in page.browser.find_elements(By.CSS_SELECTOR, texts):
        if element.is_enabled():
            text, ground = page.browser.execute_script(GROUND, element)
            assert contrast(colour(text), colour(ground)) >= 4.5, element.get_attribute("outerHTML")


def test_the_system_decides_on_dark_and_the_button_changes_it(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    summary = Summary(Selection())
    write_web_page(path, summary, list(summary.take([drop()])), log="log")
    with chromium(dark=True) as browser:
        page = Report(browser, path)
        pressed = page.one("#theme").get_attribute("aria-pressed")
        dark = page.one("body").value_of_css_property("background-color")
        page.one("#theme").click()
        light = page.one("body").value_of_css_property("background-color")
        assert pressed == "true"
        assert page.one("#theme").get_attribute("aria-pressed") == "false"
        assert max(colour(dark)) < 0.2 < 0.9 < min(colour(light))


def test_nothing_from_a_page_is_run_or_becomes_markup(report: Any) -> None:
    page = report(
        drop(url=f"http://a.example/{HOSTILE}", title=HOSTILE, spider=HOSTILE, reason=HOSTILE),
        drop(url="http://a.example/2", title="<!--<script>", twin_url=HOSTILE),
        drop(url="javascript:document.title='run'", title="{{7*7}}", twin_url="data:text/html,x"),
        texts=lambda url, _: f"{HOSTILE}\n{url}",
    )
    assert page.title == "Dropped near-duplicates"
    assert page.texts(".title") == [HOSTILE, "<!--<script>", "{{7*7}}"]
    assert page.browser.find_elements(By.CSS_SELECTOR, "img, main script, [onerror]") == []
    links = page.browser.find_elements(By.CSS_SELECTOR, "article a")
    assert {str(link.get_attribute("href"))[:17] for link in links} == {"http://a.example/"}
    for button in page.browser.find_elements(By.CSS_SELECTOR, ".compare"):
        button.click()
        WebDriverWait(page.browser, 20).until(lambda _: page.one("#compare").is_displayed())
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


def test_a_phone_need_not_scroll_sideways(report: Any) -> None:
    page = report(drop(url="http://a.example/" + "longword" * 60, title="标题" * 90), closing())
    resize(page.browser, 360, 700)
    try:
        assert page.browser.execute_script("return document.documentElement.scrollWidth") <= 360
    finally:
        resize(page.browser, 1200, 900)


def test_a_hundred_thousand_drops_are_listed_and_searched(report: Any) -> None:
    page = report(
        *(
            drop(
                url=f"http://host{n % 500}.example/story-{n % 40_000}?copy={n}",
                title=f"The story of number {n}",
                twin_url=f"http://host{n % 500}.example/story-{n % 40_000}",
            )
            for n in range(100_000)
        )
    )
    assert page.one("#found").text == "100,000 drops of 40,000 kept pages"
    assert page.one("#page").text == "Page 1 of 2,000"
    page.search("number 99999", "1 drop of 1 kept page")
    assert headings(page) == ["http://host499.example/story-19999"]


def test_an_empty_log_makes_a_page_too(report: Any) -> None:
    page = report()
    assert page.one("#about").text == "news.drops.jsonl: no drops."
    assert page.one("#found").text == "No drop is like that."
