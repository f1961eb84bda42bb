"""Error pages that name their address are kept twice; what differs in anything else is kept."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from simhash_pipeline import Judge, Options, Verdict
from simhash_pipeline.page.short_pages import error_pattern_of
from tests.archive.archives import write_json_lines
from tests.crawl.crawling import crawl
from tests.number_sites import KINDS, LANGUAGES, PAGES, number_site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.simhash_command import Simhash

HOST = "http://a.example"
EXCUSE = (
    "Perhaps it has moved, perhaps it never was. Try the search at the top of each page, look at "
    "the map of the site, or begin again at the start. If a link on one of our own pages led here, "
    "we would be glad of a line that says which, so that we can mend it for all who come after. "
    "The archive holds what was written before the year in which we moved to this house, and the "
    "librarians find in it, on working days, nearly all that was ever printed about the harbour."
)


def html(text: str, title: str = "A site") -> str:
    return f"<html><head><title>{title}</title></head><body><p>{text}</p></body></html>"


def verdicts(page_at: Callable[[str], str], pages: int = 60, **options: Any) -> list[Verdict]:
    """On pages of as many addresses, each of other words."""
    words = ["harbour", "fog", "bell", "tide", "gulls", "rope", "mast", "crane", "lamp", "quay"]
    with Judge("memory:", Options(**options)) as judge:
        urls = [f"{HOST}/{words[i % 10]}/{words[i // 10]}-{i}.html" for i in range(pages)]
        return [judge.judge(url, page_at(url)) for url in urls]


def reasons(found: list[Verdict]) -> list[str]:
    return [verdict.reason for verdict in found if verdict.dropped]


def path_of(url: str) -> str:
    return url.removeprefix(HOST)


CASES: dict[str, Callable[[str], str]] = {
    "its path": lambda url: html(f"There is no page {path_of(url)} on this server, we are sorry."),
    "its URL": lambda url: html(f"The requested address {url} was not found.", "404"),
    "its path, in many words": lambda url: html(f"Not found: {path_of(url)}. {EXCUSE}"),
}
# What names a thing by a code, a number or its title, as a voucher or an API's index does.
OTHERS: dict[str, Callable[[str], str]] = {
    "a title": lambda url: html(f"Call {path_of(url)} by GET.", f"GET {path_of(url)}"),
    "a number": lambda url: html(
        "This voucher is for one journey in the harbour, at any time of the day. Its number is "
        f"{Random(url).randrange(10**6, 10**9)}. Thank you."
    ),
    "a code": lambda url: html(f"专利，请联系。编号：{Random(url).randbytes(8).hex()}", "专利"),
    "a name with its parts": lambda url: html(
        f"No usage of org.harbour.math3.{Random(url).randbytes(4).hex()}.Log10"
    ),
}


ERRORS = [
    {"url": url, "html": CASES["its path"](url)} for url in (f"{HOST}/{n}/x" for n in range(9))
]


@pytest.mark.parametrize("case", CASES)
def test_a_page_that_differs_in_this_alone_is_kept_twice(case: str) -> None:
    found = verdicts(CASES[case])
    assert len(found) - len(reasons(found)) == 2
    assert {*reasons(found)} == {"error page"}


@pytest.mark.parametrize("case", OTHERS)
def test_a_page_that_differs_in_more_than_its_address_is_no_error_page(case: str) -> None:
    assert reasons(verdicts(OTHERS[case])) == []


@pytest.mark.parametrize("case", CASES)
def test_a_setting_keeps_them_all(case: str) -> None:
    assert "error page" not in reasons(verdicts(CASES[case], error_pages="keep"))


@pytest.mark.parametrize("names_subjects", [True, False], ids=["titles", "one title"])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_pages_of_numbers_are_no_error_pages(
    kind: str, language: str, *, names_subjects: bool
) -> None:
    for seed in range(2):
        site = number_site(kind, language, names_subjects=names_subjects, seed=seed)
        with Judge("memory:") as judge:
            found = [judge.judge(url, page) for url, page in site]
        assert "error page" not in reasons(found)
    assert len(found) == PAGES


def test_two_hosts_and_two_titles_have_two_forms() -> None:
    one = error_pattern_of("A", "No page /a/b here.", "http://a.example/a/b")
    assert one == error_pattern_of("A", "No page /c here.", "http://a.example/c")
    assert one != error_pattern_of("A", "No page /c here.", "http://b.example/c")
    assert one != error_pattern_of("B", "No page /c here.", "http://a.example/c")


@pytest.mark.parametrize(
    "text",
    [
        "Open on 2026-05-12 at 19:30, from 9 to 17",
        "2026-05-12T19:30:00Z",
        "12.50 € 123456.78 $ 1,234,567",
        "€ 1 is 123456 € and $482913 or 482913 % or 482913 °C",
        "成交量 482913手",
        "iPhone15 RTX4090 A320-200 25000km 5000mAh",
        "Call 0401234567 or +49401234567",
        "482913 or 382913",
        "Part 4711815 of 12",
        "Case number 482913, reference 8f3a22b1c",
        "fog of the harbour",
    ],
)
def test_a_page_of_names_measures_and_numbers_has_no_form(text: str) -> None:
    assert error_pattern_of("A", text, "http://a.example/fog/4711815") is None


@pytest.mark.parametrize(
    "named",
    ["/b%C3%A4r/x?q=1&r=2", "/bär/x?q=1&r=2", "/bär/x", "a.example/bär/x", "bär/x"],
)
def test_an_address_is_known_in_each_of_its_forms(named: str) -> None:
    url = "http://a.example/b%C3%A4r/x?q=1&r=2#top"
    expected = error_pattern_of("A", "No /c, sorry", "http://a.example/c")
    assert error_pattern_of("A", f"No {named}, sorry", url) == expected


@pytest.mark.parametrize(
    "url", ["", "x", "http://a.example", "http://a.example/", "http://a.example/?a=1"]
)
def test_a_url_without_a_path_names_nothing(url: str) -> None:
    assert error_pattern_of("A", "one / two x", url) is None


def test_a_crawl_counts_them_and_says_so_at_its_end(tmp_path: Path) -> None:
    result = crawl(tmp_path, ERRORS)
    assert len(result.dropped) == 7
    assert result.stats["simhash/dropped/error_page"] == 7
    assert "(7: error page that differs from kept ones" in result.log


@pytest.mark.usefixtures("shared_workers")
def test_commands_say_why_such_a_page_was_dropped(simhash: Simhash, tmp_path: Path) -> None:
    write_json_lines(tmp_path / "pages.jsonl", ERRORS)
    told = simhash(tmp_path, "dedup", "pages.jsonl", "-o", "kept.jsonl", "--store", "seen.sqlite")
    assert "dropped   7 (error page 7)" in told.stdout
    told = simhash(
        tmp_path, "explain", ERRORS[8]["url"], "--log", "kept.jsonl", "-S", "seen.sqlite"
    )
    assert "error page that differs from kept ones in its address alone" in told.stdout
    assert "error page" in simhash(tmp_path, "dropped", "kept.jsonl").stdout
