"""Stores of several processes: what each sees of pages that another has not confirmed yet."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from simhash_pipeline.judge import Judge, stored_page
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter
from simhash_pipeline.stores.contract import Action, View
from simhash_pipeline.stores.opening import open_store
from tests.stores.buckets import faults
from tests.stores.pages import keep, page
from tests.stores.servers import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from simhash_pipeline.stores.contract import Store

DIE = """
import sys, time
from simhash_pipeline.stores import opening
from simhash_pipeline.stores.redis.redis_store import RedisStore
from tests.stores.pages import keep, page
url = sys.argv[1]
opened = RedisStore(url, tentative=True, lease_secs=0.5) if "sqlite" not in url else (
    opening.open_store(url, tentative=True))
keep(opened, page("saved", 0), page("waiting", 1))
opened.confirm("", "saved")
opened.flush()
print("kept", flush=True)
time.sleep(60)
"""


@pytest.fixture(params=["sqlite", "redis 6.2", "redis cluster"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/pages.sqlite"
    server = request.getfixturevalue("redis_servers")(request.param)
    return str(server.url)


def unconfirmed(store: Store) -> dict[str, bool]:
    def look(view: View) -> tuple[Action, dict[str, bool]]:
        near = [found for found, _ in view.near("content", 3)]
        return Action.SKIP, {found.url: view.is_unconfirmed(found) for found in near}

    return store.settle(page("asking", 0), look)


def test_a_page_is_unconfirmed_to_all_but_its_own_process(url: str) -> None:
    with open_store(url, tentative=True) as one, open_store(url, tentative=True) as other:
        keep(one, page("a", 0))
        assert unconfirmed(one) == {"a": False}
        assert unconfirmed(other) == {"a": True}
        with open_store(url) as reader:
            assert unconfirmed(reader) == {"a": True}
        one.confirm("", "a")
        one.flush()
        assert unconfirmed(other) == {"a": False}


def test_what_a_dead_process_did_not_confirm_is_gone_where_it_is_met(url: str) -> None:
    command = [sys.executable, "-c", DIE, url]
    with (
        open_store(url, tentative=True) as early,
        subprocess.Popen(command, stdout=subprocess.PIPE) as dying,
    ):
        assert dying.stdout is not None
        dying.stdout.readline()
        assert unconfirmed(early) == {"saved": False, "waiting": True}
        dying.send_signal(signal.SIGKILL)
        dying.wait()
        wait_until(lambda: unconfirmed(early) == {"saved": False})
        assert [kept.url for kept in early.pages()] == ["saved"]
        assert faults(early) == []


def test_a_verdict_for_an_unconfirmed_page_is_provisional(url: str) -> None:
    story = Fingerprinter().fingerprint(f"<p>{' '.join(map(str, range(300)))}</p>")
    options = Options(unchanged="drop")
    with open_store(url, tentative=True) as mine, open_store(url, tentative=True) as its:
        one, other = Judge(mine, options), Judge(its, options)
        stored = one.judge("http://a.example/1", story)
        twin = other.judge("http://a.example/2", story)
        same = other.judge("http://a.example/1", story)
        assert (twin.dropped, twin.provisional, twin.stored) == (True, True, False)
        assert (same.dropped, same.provisional, same.reason) == (True, True, "unchanged")
        one.confirm(stored)
        mine.flush()
        for address in ("http://a.example/2", "http://a.example/1"):
            again = other.judge(address, story)
            assert (again.dropped, again.provisional) == (True, False)


def test_a_known_page_is_not_forgotten_for_a_twin_that_may_go(url: str) -> None:
    texts = (" ".join(f"{word}{n}" for n in range(300)) for word in ("fog", "gull"))
    fog, gull = (Fingerprinter().fingerprint(f"<p>{text}</p>") for text in texts)
    with open_store(url, tentative=True) as mine, open_store(url, tentative=True) as its:
        one, other = Judge(mine), Judge(its)
        other.confirm(other.judge("http://a.example/known", fog))
        stored = one.judge("http://a.example/new", gull)
        for is_sure in (False, True):
            copy = other.judge("http://a.example/known", gull)
            assert (copy.dropped, copy.provisional) == (True, not is_sure)
            its.flush()
            known = {page.url for page in its.pages()}
            assert ("http://a.example/known" in known) is not is_sure
            one.confirm(stored)
            mine.flush()


def test_a_confirmed_twin_comes_before_an_unconfirmed_one(url: str) -> None:
    story = Fingerprinter().fingerprint(f"<p>{' '.join(map(str, range(300)))}</p>")
    kept = [page(f"http://a.example/{n}", story.content, sketch=story.sketch) for n in range(2)]
    with open_store(url, tentative=True) as one, open_store(url, tentative=True) as other:
        judge = Judge(other)
        keep(one, kept[0])
        one.insert_many([kept[1]])
        verdict = judge.judge("http://a.example/2", story)
        assert (verdict.twin_url, verdict.provisional) == (kept[1].url, False)


def test_a_text_on_pages_of_two_names_that_were_stored_unjudged_says_nothing_of_a_third(
    url: str,
) -> None:
    titles = ["Fish pie recipe", "Rose pruning recipe", "Garden shed recipe"]
    text = f"<p>A recipe of each kind. {' '.join(map(str, range(300)))}</p>"
    pages = (f"<title>{title}</title><h1>{title}</h1>{text}" for title in titles)
    read = list(map(Fingerprinter().fingerprint, pages))
    with open_store(url) as store:
        judge = Judge(store)
        store.insert_many(
            stored_page(f"http://{number}.example/", page, Options(), seen_at=1)
            for number, page in enumerate(read[:2])
        )
        verdict = judge.judge("http://a.example/", read[2])
        assert (verdict.rejected_by, verdict.twin_url) == ("shared notice", "http://0.example/")
        assert judge.judge("http://b.example/", read[1]).twin_url == "http://1.example/"
