"""SIMHASH_KEEP = "canonical": a page takes the place of the twin that declares its address."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from simhash_pipeline import Fingerprinter, Judge, Options, PageFingerprint, Verdict, open_store
from simhash_pipeline.urls import declared_url
from tests.crawl.crawling import STORY, crawl, html

if TYPE_CHECKING:
    from simhash_pipeline.stores.contract import Store
    from tests.cli.simhash_command import Simhash

ARTICLE = "http://a.example/story"
AMP = "http://a.example/story/amp"
PRINT = "http://a.example/print?id=7"
TRACKED = f"{ARTICLE}?utm_source=feed"
CANONICAL = Options(keep="canonical")


def read(url: str, declares: str | None = ARTICLE) -> PageFingerprint:
    return Fingerprinter().fingerprint(declaring(url, declares)["html"], url)


def declaring(url: str, declares: str | None = ARTICLE, **more: Any) -> dict[str, Any]:
    link = "" if declares is None else f"<link rel='canonical' href='{declares}'>"
    return {"url": url, "html": html(STORY).replace("<head>", f"<head>{link}"), **more}


def judged(judge: Judge, *urls: str, declares: str | None = ARTICLE) -> list[Verdict]:
    """The verdicts; each page's item is out before the next one comes."""
    found = []
    for url in urls:
        found.append(judge.judge(url, read(url, declares)))
        judge.confirm(found[-1])
    return found


def stored(store: Store) -> list[str]:
    return [page.url for page in store.pages()]


@pytest.mark.parametrize(("first", "declares"), [(AMP, ARTICLE), (TRACKED, None)])
def test_it_takes_the_place_of_its_twin(store: Store, first: str, declares: str | None) -> None:
    _, article, again = judged(Judge(store, CANONICAL), first, ARTICLE, first, declares=declares)
    assert (article.dropped, article.reason, article.replaces) == (False, "canonical", first)
    assert (again.dropped, again.twin_url) == (True, ARTICLE)
    assert stored(store) == [ARTICLE]


def test_by_default_the_first_page_stays(store: Store) -> None:
    assert [one.dropped for one in judged(Judge(store), AMP, ARTICLE)] == [False, True]


@pytest.mark.parametrize(
    "second",
    [PRINT, TRACKED, "http://a.example/story/", "http://www.a.example/story"],
    ids=["another view", "with a tracking key", "after the article", "in another spelling"],
)
def test_an_article_is_brought_out_once(store: Store, second: str) -> None:
    """However many addresses it has, and in whatever order they come."""
    verdicts = judged(Judge(store, CANONICAL), AMP, ARTICLE, second, ARTICLE, AMP)
    assert [one.dropped for one in verdicts] == [False, False, True, False, True]
    assert verdicts[3].reason == "unchanged"
    assert stored(store) == [ARTICLE]


def test_a_page_that_became_the_story_takes_the_place(store: Store) -> None:
    """What it said before has been brought out."""
    judge = Judge(store, CANONICAL)
    before = Fingerprinter().fingerprint(html(" ".join(f"term{n}" for n in range(200))), ARTICLE)
    judge.confirm(judge.judge(ARTICLE, before))
    _, article = judged(judge, AMP, ARTICLE)
    assert (article.reason, article.replaces, article.changed) == ("canonical", AMP, ())
    assert stored(store) == [ARTICLE]


def test_no_pages_take_turns(store: Store) -> None:
    """Of two that declare each other, neither is at its declared address."""
    judge = Judge(store, CANONICAL)
    for url, declares in ((AMP, PRINT), (PRINT, AMP), (AMP, PRINT)):
        judged(judge, url, declares=declares)
    assert stored(store) == [AMP]


def test_another_story_takes_no_place(store: Store) -> None:
    """Many sites declare one address for all pages of a list."""
    judge = Judge(store, CANONICAL)
    judged(judge, AMP)
    other = Fingerprinter().fingerprint(html(" ".join(f"term{n}" for n in range(200))), ARTICLE)
    assert judge.judge(ARTICLE, other).reason == "new"
    assert stored(store) == [AMP, ARTICLE]


def test_the_twin_is_stored_until_the_item_is_out(store: Store) -> None:
    """If a later pipeline drops the new item, the store is as it was."""
    judge = Judge(store, CANONICAL)
    judged(judge, AMP)
    article = judge.judge(ARTICLE, read(ARTICLE))
    assert stored(store) == [AMP, ARTICLE]
    judge.forget(article)
    assert stored(store) == [AMP]
    assert judge.judge(PRINT, read(PRINT)).twin_url == AMP


@pytest.fixture(params=["sqlite", "redis"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/seen.sqlite"
    return str(request.getfixturevalue("redis_servers")("redis").url)


def test_of_two_processes_one_takes_the_place(url: str) -> None:
    """The other one's page is judged again when the first one's item is out, or lost."""
    with open_store(url, tentative=True) as one, open_store(url, tentative=True) as two:
        first, second = Judge(one, CANONICAL), Judge(two, CANONICAL)
        judged(first, AMP)
        one.flush()
        article = first.judge(ARTICLE, read(ARTICLE))
        spelled = second.judge(f"{ARTICLE}/", read(f"{ARTICLE}/"))
        assert (article.replaces, spelled.dropped, spelled.provisional) == (AMP, True, True)
        first.confirm(article)
        one.flush()
        again = second.judge(f"{ARTICLE}/", read(f"{ARTICLE}/"))
        assert (again.dropped, again.provisional, again.twin_url) == (True, False, ARTICLE)
        assert stored(two) == [ARTICLE]


DIE = """
import sys, time
from simhash_pipeline import Judge, open_store
from tests.test_keep import AMP, ARTICLE, CANONICAL, judged, read
judge = Judge(open_store(sys.argv[1], tentative=True), CANONICAL)
judged(judge, AMP)
judge._store.flush()
print(judge.judge(ARTICLE, read(ARTICLE)).reason, flush=True)
time.sleep(60)
"""


def test_a_killed_crawl_leaves_the_twin(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/seen.sqlite"
    command = [sys.executable, "-c", DIE, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as dying:
        assert dying.stdout is not None
        assert dying.stdout.readline() == b"canonical\n"
        dying.send_signal(signal.SIGKILL)
    with open_store(url, tentative=True) as store:
        judge = Judge(store, CANONICAL)
        assert judge.judge(PRINT, read(PRINT)).twin_url == AMP
        assert judged(judge, ARTICLE)[0].replaces == AMP
        assert stored(store) == [ARTICLE]


def test_a_crawl_brings_both_out_and_says_so(tmp_path: Path, simhash: Simhash) -> None:
    fields: dict[str, Any] = {
        "SIMHASH_ADDED_FIELDS": {"verdict": "verdict", "address": "address"},
    }
    items = [declaring(AMP), declaring(ARTICLE), declaring(PRINT)]
    result = crawl(tmp_path, items, SIMHASH_KEEP="canonical", **fields)
    assert (result.scraped, result.dropped) == ([AMP, ARTICLE], [PRINT])
    assert [item["address"] for item in result.items] == [ARTICLE, ARTICLE]
    assert [item["verdict"].get("replaces") for item in result.items] == [None, AMP]
    assert f"Kept {ARTICLE} in place of {AMP}: it is that page's address" in result.log
    assert result.stats["simhash/canonical"] == 1
    assert "kept 2 (1: in place of pages whose address they are)" in result.log
    log = ("--log", str(tmp_path / ".scrapy/simhash/items.drops.jsonl"))
    for url in (ARTICLE, AMP):  # the store has one of them, the drop log both
        said = simhash(tmp_path, "explain", url, *log).stdout
        assert re.match("Kept .* UTC by items, at the address that A declares", said)
        assert said.index(f"A  kept  {AMP}") < said.index(f"B  kept  {ARTICLE}")
    listed = simhash(tmp_path, "dropped", "--kept", "--list", *log).stdout
    assert listed == f"{ARTICLE}  {AMP}  canonical\n"


@pytest.mark.parametrize("at_once", [1, 8])
def test_a_lost_item_takes_no_place(tmp_path: Path, at_once: int) -> None:
    """A third copy is dropped for the first page then, whose item is out."""
    items = [declaring(AMP), declaring(ARTICLE, outcome="drop", secs=0.2), declaring(PRINT)]
    result = crawl(tmp_path, items, SIMHASH_KEEP="canonical", at_once=at_once)
    assert result.scraped == [AMP]
    with open_store(f"sqlite:///{tmp_path}/.scrapy/simhash/items.sqlite") as store:
        assert stored(store) == [AMP]


@pytest.mark.parametrize("at_once", [1, 8])
def test_if_the_twin_is_lost_the_page_that_took_its_place_comes_out(
    tmp_path: Path, at_once: int
) -> None:
    items = [declaring(AMP, outcome="drop", secs=0.2), declaring(ARTICLE), declaring(PRINT)]
    result = crawl(tmp_path, items, SIMHASH_KEEP="canonical", at_once=at_once)
    assert result.scraped == [ARTICLE]
    with open_store(f"sqlite:///{tmp_path}/.scrapy/simhash/items.sqlite") as store:
        assert stored(store) == [ARTICLE]


@pytest.mark.parametrize(
    ("canonical", "url", "address"),
    [
        (ARTICLE, AMP, ARTICLE),
        (None, TRACKED, ARTICLE),
        (None, f"{ARTICLE}?b=2&utm_id=1&a=1#top", f"{ARTICLE}?b=2&a=1#top"),
        (f"{ARTICLE}?fbclid=x", AMP, ARTICLE),
        ("http://other.example/story", AMP, AMP),
        ("http://[::1/", AMP, AMP),
        (None, f"{ARTICLE}?sid=#!/route", f"{ARTICLE}?sid=#!/route"),
    ],
)
def test_an_address_is_the_declared_one_or_else_the_own_without_tracking(
    canonical: str | None, url: str, address: str
) -> None:
    assert declared_url(url, canonical) == address
