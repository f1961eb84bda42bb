"""`scrapy simhash store copy`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simhash_pipeline import Options, open_store
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.stores.contract import PageText
from tests.stores.pages import FAR, keep, near_content, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.simhash_command import Simhash
    from tests.stores.servers import RunningServer


def test_pages_go_from_sqlite_to_redis_and_back_with_all_they_are(
    simhash: Simhash, redis_servers: Callable[[str], RunningServer], tmp_path: Path
) -> None:
    server = redis_servers("redis 6.2")
    pages = [
        page("a", 1, 2, sketch=3, namespace="n"),
        page("b", FAR, seen_at=1_000.5),
        page("c", digest=b"x" * 8),
    ]
    texts = [
        PageText("n", "a", "A title", "what it said", 1_000),
        PageText("", "dropped", "", "雾", 2),
    ]
    with open_store(f"sqlite:///{tmp_path}/one.sqlite") as store:
        store.stamp(stamp_for(Options()))
        keep(store, *pages)
        store.keep_texts(texts)
    there = simhash(tmp_path, "store", "copy", "one.sqlite", server.url)
    assert there.stdout == f"{server.url}: 3 pages with 2 texts copied from one.sqlite, 3 stored\n"
    again = simhash(tmp_path, "store", "copy", "one.sqlite", server.url, "--json")
    assert json.loads(again.stdout) == {
        "source": "one.sqlite",
        "target": server.url,
        "copied": 3,
        "texts": 2,
        "pages": 3,
    }
    assert simhash(tmp_path, "store", "copy", server.url, "two.sqlite").returncode == 0
    with open_store(f"sqlite:///{tmp_path}/two.sqlite") as store:
        assert list(store.pages()) == pages
        assert set(store.texts()) == set(texts)
        assert store.made_with() == stamp_for(Options())
        assert near_content(store, FAR) == [("b", 0)]


def test_what_can_not_be_copied_is_told_in_a_line_without_a_password(
    simhash: Simhash, tmp_path: Path
) -> None:
    for source, target, said in (
        ("none.sqlite", "two.sqlite", "there is no store at none.sqlite"),
        ("one.sqlite", "one.sqlite", "a store can't be copied into itself"),
        ("one.sqlite", "./one.sqlite", "a store can't be copied into itself"),
        ("one.sqlite", "memory:", "a store in memory is gone when the command ends; name another"),
        ("redis://:s3cret@127.0.0.1:1", "one.sqlite", "redis://***@127.0.0.1:1: "),
    ):
        result = simhash(tmp_path, "store", "copy", source, target)
        assert result.returncode == 2
        assert said in result.stderr
        assert "s3cret" not in result.stderr
        assert "Traceback" not in result.stderr
