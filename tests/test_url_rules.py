"""Rules for URLs out of drops: what they say, what they refuse, and a crawl that goes by them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline import open_store
from simhash_pipeline.url_rules import UrlRule, differences, learn
from tests.crawl.crawling import crawl
from tests.crawl.test_addon import FROM_RESPONSE, Everything, addon
from tests.crawl.trap_site import STORIES, trap_site
from tests.review.logs import drop, write_log
from tests.stores.pages import page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.simhash_command import Simhash

A = "http://a.example"


@pytest.mark.parametrize(
    ("dropped", "twin", "expected"),
    [
        ("/x?sid=1", "/x", ["sid"]),
        ("/x", "/x?sid=1", ["sid"]),
        ("/x?sid=1", "/x?sid=2", ["sid"]),
        ("/x?id=7&sid=1", "/x?id=7", ["sid"]),
        ("/x?sid=1&from=a", "/x", ["from", "sid"]),
        ("/x?a=1&a=2", "/x?a=1", ["a"]),
        ("/x/amp", "/x", []),
        ("/x.html", "/x", []),
        ("/print/x?sid=1", "/x", []),
        ("/x", "/y", []),
        ("/x?id=1", "/y?id=2", []),
        ("/print/", "/", []),
        ("/x", "/x", []),
        ("/x?id=1", "http://m.example/x", []),
        ("https://a.example/x", "http://a.example/x", []),
        ("http://[bad", "/x", []),
    ],
)
def test_two_urls_of_one_page_differ_by_rules(dropped: str, twin: str, expected: list[str]) -> None:
    urls = [url if ":" in url else A + url for url in (dropped, twin)]
    found = differences(urls[0], urls[1])
    assert [rule.key for rule in found] == expected


paths = st.lists(st.sampled_from(["x", "y", "print", "m", ""]), max_size=3).map("/".join)
queries = st.lists(st.sampled_from(["a=1", "a=2", "b=1", "b", "=", "a=%31"]), max_size=3).map(
    "&".join
)
urls = st.builds(
    lambda host, path, query: f"http://{host}/{path}{'?' if query else ''}{query}",
    st.sampled_from(["a.example", "b.example:80"]),
    paths,
    queries,
)


@given(urls, urls)
def test_together_they_make_one_url_of_both(dropped: str, twin: str) -> None:
    rules = differences(dropped, twin)
    for rule in rules:
        dropped, twin = rule.applied(dropped), rule.applied(twin)
    assert not rules or dropped == twin


def drops(*pairs: tuple[str, str]) -> list[tuple[str, str]]:
    return [(A + one, A + other) for one, other in pairs]


def test_a_key_that_tells_kept_pages_apart_is_no_rule() -> None:
    pairs = drops(*((f"/x?id={n}", "/x?id=0") for n in range(1, 9)))
    kept = {f"{A}/x?id=0", f"{A}/x?id=9", f"{A}/y?id=1", f"{A}/z"}
    learnt = learn(pairs, kept, 3)
    (one,) = learnt.evidence
    assert (one.rule, one.support) == (UrlRule("a.example", "id"), 8)
    assert (one.taken, len(one.against)) == (False, 1)
    assert set(one.against[0]) == {f"{A}/x?id=0", f"{A}/x?id=9"}
    assert (learnt.urls, learnt.saved) == (12, 0)


def test_a_url_that_was_dropped_for_another_page_speaks_against_a_rule() -> None:
    pairs = drops(*((f"/{n}?v=2", f"/{n}") for n in range(3)), ("/x?v=2", "/0"))
    (one,) = learn(pairs, {f"{A}/{n}" for n in (0, 1, 2, "x")}, 3).evidence
    assert (one.support, one.taken, len(one.against)) == (3, False, 1)
    assert one.against[0] == (f"{A}/x", f"{A}/x?v=2")


def test_a_twin_that_was_dropped_later_has_its_own_twins_story() -> None:
    pairs = drops(*((f"/{n}?v=2", f"/{n}") for n in range(3)), ("/1", "/9"), ("/1?v=3", "/9"))
    (one,) = learn(pairs, {f"{A}/{n}" for n in (0, 2, 9)}, 3).evidence
    assert (one.taken, len(one.against)) == (True, 0)


def test_a_tracking_key_is_taken_though_the_crawl_missed_a_copy() -> None:
    pairs = drops(*((f"/{n}?utm_source=a", f"/{n}") for n in range(39)))
    kept = {f"{A}/{n}" for n in range(39)} | {f"{A}/0?utm_source=b"}
    (one,) = learn(pairs, kept, 3).evidence
    assert (one.taken, len(one.against)) == (True, 1)
    (one,) = learn(pairs[:19], kept, 3).evidence  # a twentieth speaks against it
    assert (one.taken, one.refusal) == (False, "it would lose 1 article")
    unknown = [(url.replace("utm_source", "from"), twin) for url, twin in pairs]
    kept = {url.replace("utm_source", "from") for url in kept}
    (one,) = learn(unknown, kept, 3).evidence
    assert (one.taken, one.against[0]) == (False, (f"{A}/0", f"{A}/0?from=b"))
    assert learn(unknown, kept, 3, ["from"]).evidence[0].taken


def test_what_refuses_a_rule_is_named() -> None:
    pairs = drops(
        *((f"/{n}?a=1", f"/{n}") for n in range(5)), *((f"/{n}?b=1", f"/{n}") for n in range(4))
    )
    kept = {f"{A}/{n}" for n in range(5)} | {f"{A}/other?a=1", f"{A}/other?b=1"}
    refusals = {one.rule.key: one.refusal for one in learn(pairs, kept, 3).evidence}
    assert refusals == {"a": "", "b": "it would lose 1 article"}


def test_of_rules_that_lose_a_page_only_together_the_weaker_goes() -> None:
    pairs = drops(
        *((f"/{n}?a=1", f"/{n}") for n in range(5)), *((f"/{n}?b=1", f"/{n}") for n in range(4))
    )
    kept = {f"{A}/{n}" for n in range(5)} | {f"{A}/other?a=1", f"{A}/other?b=1"}
    taken = {one.rule.key: one.taken for one in learn(pairs, kept, 3).evidence}
    assert taken == {"a": True, "b": False}


def test_what_all_taken_rules_save_is_counted() -> None:
    pairs = drops(
        *((f"/{n}?sid={n}", f"/{n}") for n in range(5)),
        *((f"/{n}?m=1", f"/{n}") for n in range(4)),
        ("/0?sid=9", "/0"),
    )
    learnt = learn([*pairs, *pairs], {f"{A}/{n}" for n in range(5)}, 3)
    assert [(one.rule.key, one.support, one.taken) for one in learnt.evidence] == [
        ("sid", 6, True),
        ("m", 4, True),
    ]
    assert (learnt.urls, learnt.saved) == (15, 10)


def test_a_crawl_by_the_learnt_rules_ends_and_finds_every_story(
    simhash: Simhash, tmp_path: Path
) -> None:
    addons = {"simhash_pipeline.Addon": 500, "duplicate_url_discarder.Addon": 600}
    rules = {"ADDONS": addons, "DUD_LOAD_RULE_PATHS": [str(tmp_path / "rules.json")]}
    again = tmp_path / "again"
    again.mkdir()
    with trap_site("session") as site:
        until = addon({**FROM_RESPONSE, "CLOSESPIDER_PAGECOUNT": 60, "START_URL": site})
        first = crawl(tmp_path, spider=Everything, **until)
        result = simhash(tmp_path, "rules", "-o", "rules.json")
        second = crawl(again, spider=Everything, **{**until, **rules})
    assert first.stats["finish_reason"] == "closespider_pagecount"
    assert result.returncode == 0
    assert " in URLs of " in result.stdout
    assert f"and lost 0 of {STORIES + 1} kept pages." in result.stdout
    assert second.stats["finish_reason"] == "finished"
    assert second.stats["downloader/request_count"] == STORIES + 2  # the start is not filtered
    assert second.stats["simhash/kept"] == STORIES + 1


@pytest.fixture
def crawled(tmp_path: Path) -> Path:
    lines = [drop(url=f"{A}/{n}?sid={n}", twin_url=f"{A}/{n}") for n in range(4)]
    write_log(tmp_path / "log", [*lines, drop(url=f"{A}/9", twin_url=f"{A}/8")])
    with open_store(f"sqlite:///{tmp_path}/seen.sqlite") as store:
        store.insert_many([page(f"{A}/{n}", n) for n in range(4)])
    return tmp_path


def test_the_rules_that_are_taken_are_written_for_the_discarder(
    simhash: Simhash, crawled: Path
) -> None:
    result = simhash(crawled, "rules", "log", "-S", "seen.sqlite", "-o", "rules.json")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(
        "Rules that lose no article\n"
        "  sid in URLs of a.example\n"
        "    4 drops explained; no URLs against it\n"
        f"    {A}/0?sid=0\n"
    )
    assert result.stdout.endswith(
        "By duplicate-url-discarder they would have saved 4 of 10 requests, and lost 0 of 4 kept "
        "pages.\nrules.json: 1 rule\n"
    )
    assert json.loads((crawled / "rules.json").read_text()) == [
        {
            "order": 100,
            "processor": "queryRemoval",
            "urlPattern": {"include": ["a.example"]},
            "args": ["sid"],
        }
    ]


def test_a_named_log_is_enough_where_its_spider_has_a_store(
    simhash: Simhash, crawled: Path
) -> None:
    """Of the two stores of the project."""
    folder = crawled / ".scrapy/simhash"
    folder.mkdir(parents=True)
    (crawled / "seen.sqlite").rename(folder / "news.sqlite")
    open_store(f"sqlite:///{folder}/shop.sqlite").close()
    result = simhash(crawled, "rules", "log")
    assert (result.returncode, result.stderr) == (0, "")
    assert "saved 4 of 10 requests, and lost 0 of 4 kept pages." in result.stdout


def test_a_refused_rule_saves_nothing(simhash: Simhash, crawled: Path) -> None:
    lines = [drop(url=f"{A}/{n}?m={n}&utm_source=x", twin_url=f"{A}/{n}") for n in range(4)]
    write_log(crawled / "log", lines)
    with open_store(f"sqlite:///{crawled}/seen.sqlite") as store:
        store.insert_many([page(f"{A}/list?m={n}", n) for n in range(4)])
    result = simhash(crawled, "rules", "log", "-S", "seen.sqlite")
    assert "    4 drops explained; it would lose 3 articles\n" in result.stdout
    assert "saved 0 of 12 requests, and lost 0 of 8" in result.stdout


def test_without_enough_drops_there_are_none(simhash: Simhash, crawled: Path) -> None:
    result = simhash(crawled, "rules", "log", "-S", "seen.sqlite", "--min-support", "5")
    assert result.stdout == "No query key explains enough drops; 4 pages kept.\n"


def test_a_key_that_is_named_needs_one_drop(simhash: Simhash, crawled: Path) -> None:
    write_log(crawled / "log", [drop(url=f"{A}/1?sid=1", twin_url=f"{A}/1")])
    result = simhash(crawled, "rules", "log", "-S", "seen.sqlite", "--take", "sid")
    assert "  sid in URLs of a.example\n    1 drop explained; no URLs" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["log"], "no crawl has left a store here; name one by --store"),
        (["log", "-S", "no.sqlite"], "there is no store at no.sqlite"),
        (["none", "-S", "seen.sqlite"], "the drop log none can't be read"),
        (["-S", "seen.sqlite"], "there is no drop log in .scrapy/simhash"),
        (["log", "-S", "seen.sqlite", "-o", "log"], "log"),
        (["log", "-S", "seen.sqlite", "--take", "id"], "no drop differs from its kept page in"),
    ],
)
def test_wrong_use_gets_one_line_and_exit_code_2(
    simhash: Simhash, crawled: Path, arguments: list[str], message: str
) -> None:
    before = (crawled / "log").read_bytes()
    result = simhash(crawled, "rules", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr.splitlines()[-1]
    assert (crawled / "log").read_bytes() == before
