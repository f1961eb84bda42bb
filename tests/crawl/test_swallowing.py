"""Crawls in which one stored page is the twin of many dropped ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.crawl.crawling import Crawl, ItemSpider, crawl, page
from tests.crawl.trap_site import trap_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.simhash_command import Simhash


def crawl_of_copies(
    directory: Path, copies: int, items_a_page: int = 1, **settings: Any
) -> tuple[Crawl, str]:
    """A crawl of a page on loopback and of copies of it; the site's address."""
    with trap_site("session") as site:

        class Copies(ItemSpider):
            custom_settings = {"CONCURRENT_REQUESTS": 1}  # noqa: RUF012  # as Scrapy has it
            start_urls = [site, *(f"{site}?copy={n}" for n in range(copies))]  # noqa: RUF012

            def parse(self, response: Any) -> Iterator[Any]:
                for _ in range(items_a_page):
                    yield {"url": response.url, "html": response.body}

        return crawl(directory, spider=Copies, **settings), site


def lines_of(result: Crawl, *words: str) -> list[str]:
    """The log's lines with all these words, without time and logger."""
    lines = [line for line in result.log.splitlines() if all(word in line for word in words)]
    return [line.partition("] ")[2] for line in lines]


def test_a_page_that_swallows_others_is_warned_of_once(tmp_path: Path, simhash: Simhash) -> None:
    """The address to look at is a dropped one's: which, depends on the order Scrapy fetches in."""
    result, site = crawl_of_copies(tmp_path, 25)
    host = site.split("/")[2]
    (warning,) = lines_of(result, "WARNING: ")
    (dropped,) = re.findall(r"\?copy=\d+", warning)
    command = f"scrapy simhash explain '{site}{dropped}'"
    assert warning == (
        f"WARNING: 20 pages of {host} were dropped as near-duplicates of {site}: look at "
        f"`{command}`. Either the page has many addresses, or a part that pages share was taken "
        "for the page. (Logged once for such a page, and for 10 pages at most; "
        "simhash/drop_magnets counts all)"
    )
    assert result.stats["simhash/drop_magnets"] == 1
    assert f"A  kept     {site}\n" in simhash(tmp_path, "explain", f"{site}{dropped}").stdout


def test_a_crawl_with_nineteen_copies_of_a_page_says_nothing_of_it(tmp_path: Path) -> None:
    result, _ = crawl_of_copies(tmp_path, 19, items_a_page=3)
    assert result.stats["simhash/dropped"] == 59  # two of them repeat the page's first item
    assert lines_of(result, "WARNING: ") == []
    assert "simhash/drop_magnets" not in result.stats


def test_a_dry_run_warns_of_pages_that_would_swallow_others(tmp_path: Path) -> None:
    result, site = crawl_of_copies(tmp_path, 20, SIMHASH_DRY_RUN=True, SIMHASH_DROP_LOG=None)
    (warning,) = lines_of(result, "WARNING: ")
    assert f" would be dropped as near-duplicates of {site}: " in warning
    assert result.stats["simhash/drop_magnets"] == 1


def test_the_warning_names_a_log_that_is_elsewhere(tmp_path: Path) -> None:
    log = tmp_path / "drops.jsonl"
    result, _ = crawl_of_copies(tmp_path, 20, SIMHASH_DROP_LOG=str(log))
    (warning,) = lines_of(result, "WARNING: ")
    assert f" --log {log}`. " in warning


def test_ten_warnings_are_enough(tmp_path: Path) -> None:
    words = [" ".join(f"page{n}word{i}" for i in range(99)) for n in range(12)]
    items = [page(f"{n}/{copy}", words[n]) for n in range(12) for copy in range(21)]
    result = crawl(tmp_path, items, at_once=100)
    assert result.stats["simhash/drop_magnets"] == 12
    assert len(lines_of(result, "WARNING: 20 pages of a.example ")) == 10
