"""Crawls that remember their pages on a server, one that is there and one that goes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.crawl.crawling import crawl
from tests.index.servers import RunningServer, server_binary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.crawl.conftest import Simhash


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    folder = tmp_path / "server"
    folder.mkdir()
    password = ("--requirepass", "open sesame")
    with RunningServer(server_binary("redis 6.2"), folder, *password) as running:
        yield running


def url(server: RunningServer) -> str:
    return f"redis://:open%20sesame@127.0.0.1:{server.port}/0"


def told(log: str) -> str:
    """What is logged behind Scrapy's own list of the settings."""
    return log.partition("Overridden settings")[2].partition("}")[2]


def test_two_crawls_share_what_they_keep_and_tell_no_password(
    tmp_path: Path, server: RunningServer
) -> None:
    first = crawl(tmp_path, "page(1), page(2), page(3, OTHER)", SIMHASH_STORE=url(server))
    assert first.scraped == ["http://a.example/1", "http://a.example/3"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    second = crawl(elsewhere, "page(4), page(5, OTHER)", SIMHASH_STORE=url(server))
    assert second.scraped == []
    assert second.stats["simhash/store_pages"] == 2
    assert first.stats["simhash/store"] == f"redis://:***@127.0.0.1:{server.port}/0"
    log = (tmp_path / ".scrapy/simhash/items.drops.jsonl").read_text(encoding="utf-8")
    assert "sesame" not in log + told(second.log)


def test_a_drop_is_explained_and_thresholds_are_tuned_by_texts_on_the_server(
    tmp_path: Path, simhash: Simhash, server: RunningServer
) -> None:
    items = "page(1), page(2, STORY.replace('word100', 'tale')), page(3, OTHER)"
    crawl(tmp_path, items, SIMHASH_STORE=url(server), SIMHASH_KEEP_TEXT=True)
    store = ("--store", url(server))
    explained = simhash(tmp_path, "explain", "http://a.example/2", *store, "--json")
    told = json.loads(explained.stdout)
    assert (told["status"], told["texts"]) == ("dropped", "kept")
    (change,) = told["diff"]
    assert {"removed": "word100"} in change
    tuned = json.loads(simhash(tmp_path, "tune", *store, "--json").stdout)
    assert (tuned["pages"], tuned["source"]) == (3, f"redis://:***@127.0.0.1:{server.port}/0")
    assert "sesame" not in explained.stdout + explained.stderr


@pytest.mark.parametrize(
    ("lost", "reason"), [("stop", "simhash_store_failed"), ("keep", "finished")]
)
def test_a_server_lost_for_good_stops_the_crawl_or_leaves_pages_unjudged(
    tmp_path: Path, server: RunningServer, lost: str, reason: str
) -> None:
    dying = f"""
import os, signal
def dying():
    yield page(1)
    yield page(2)
    os.kill({server.process.pid}, signal.SIGKILL)
    yield from (page(n) for n in range(3, 8))
"""
    result = crawl(
        tmp_path,
        "*dying()",
        dying,
        SIMHASH_STORE=url(server),
        SIMHASH_STORE_WAIT_SECS=1,
        SIMHASH_STORE_LOST=lost,
    )
    assert result.stats["finish_reason"] == reason
    assert set(result.scraped) >= {f"http://a.example/{n}" for n in range(4, 8)}
    assert result.stats["simhash/errors"] >= 1
    assert "sesame" not in told(result.log)
