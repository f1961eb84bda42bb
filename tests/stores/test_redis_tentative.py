"""Pages that are kept on Redis until confirmed, by processes that may die."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from simhash_pipeline.stores.contract import Action, PageText, View
from simhash_pipeline.stores.redis.layout import run_key
from simhash_pipeline.stores.redis.redis_store import RedisStore
from tests.stores.buckets import faults
from tests.stores.pages import FAR, always, keep, near_content, page, unless_near
from tests.stores.servers import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simhash_pipeline.stores.redis.layout import Record
    from tests.stores.servers import RunningCluster, RunningServer

DIE = """
import sys, time
from simhash_pipeline.stores.redis.redis_store import RedisStore
from tests.stores.pages import keep, page
store = RedisStore(sys.argv[1], tentative=True, lease_secs=0.5)
keep(store, page("saved", 0), page("waiting", 1))
store.confirm("", "saved")
keep(store, page("in hand", 0xFF << 40))
print(store._lease.run.hex(), flush=True)
time.sleep(20)
"""


@pytest.fixture(params=["redis 6.2", "redis cluster"])
def url(
    request: pytest.FixtureRequest,
    redis_servers: Callable[[str], RunningServer | RunningCluster],
) -> str:
    return redis_servers(request.param).url


def test_the_text_of_a_page_that_was_never_confirmed_goes_with_it(url: str) -> None:
    with RedisStore(url, tentative=True) as store:
        keep(store, page("saved", 0), page("waiting", 1))
        store.confirm("", "saved")
        store.keep_texts([PageText("", name, "", "words", 1) for name in ("saved", "waiting")])
    with RedisStore(url) as store:
        assert [text.url for text in store.texts()] == ["saved"]


def test_a_tentative_page_is_seen_elsewhere(url: str) -> None:
    with RedisStore(url, tentative=True) as store, RedisStore(url) as other:
        assert store.settle(page("first", 0), unless_near) is None
        assert other.settle(page("twin", 1), unless_near) == "first"


def test_of_near_twins_settled_by_many_threads_one_is_kept(url: str) -> None:
    def settle(bit: int) -> None:
        for number in range(60):
            value = number * 0x9E37_79B9_7F4A_7C15 % (1 << 64)
            name = f"{number} {bit}"
            if store.settle(page(name, value ^ 1 << bit), unless_near) is None:
                store.confirm("", name)

    with RedisStore(url, tentative=True) as store:
        threads = [threading.Thread(target=settle, args=(bit,)) for bit in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with RedisStore(url) as store:
        assert sorted(int(kept.split()[0]) for kept in urls(store)) == list(range(60))
        assert faults(store) == []


def test_a_page_that_is_confirmed_while_its_process_is_taken_for_dead_stays(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused = RedisStore(url, tentative=True, lease_secs=0.2)
    with paused, RedisStore(url) as other:
        keep(paused, page("first", 0))
        paused._lease._closed.set()  # as if the machine had stopped
        wait_until(lambda: is_dead(other, paused._lease.run))

        def dead(records: Sequence[Record]) -> list[Record]:
            found = ask_who_is_dead(records)
            paused.confirm("", "first")
            len(paused)
            return found

        ask_who_is_dead = other._lease.dead
        monkeypatch.setattr(other._lease, "dead", dead)
        assert other.settle(page("twin", 1), unless_near) == "first"
        assert urls(other) == ["first"]


def test_a_page_that_is_lost_while_another_works_on_its_url_is_nobodys_twin(url: str) -> None:
    paused = RedisStore(url, tentative=True, lease_secs=0.2)
    with paused, RedisStore(url) as other, RedisStore(url) as third:
        keep(paused, page("first", 0))
        len(paused)
        paused._lease._closed.set()

        def decide(view: View) -> tuple[Action, str | None]:
            wait_until(lambda: is_dead(other, paused._lease.run))
            assert third.settle(page("twin", 1), unless_near) is None
            paused.confirm("", "first")
            return Action.RENEW, None

        other.settle(page("first", FAR, seen_at=2_000.0), decide)
        assert third.settle(page("later", 0), unless_near) == "twin"
        assert urls(third) == ["twin"]
        assert faults(third) == []


def is_dead(store: RedisStore, run: bytes) -> bool:
    return not store._server.ask("EXISTS", run_key(run))


def urls(store: RedisStore) -> list[str]:
    return [each.url for each in store.pages()]


def test_a_confirmed_page_stays_and_another_is_forgotten_at_the_end(url: str) -> None:
    with RedisStore(url, tentative=True) as store:
        keep(store, page("saved", 0), page("waiting", 1), page("saved last", 2))
        store.confirm("", "saved")
        store.confirm("", "saved last")
        assert near_content(store, 0) == [("saved", 0), ("waiting", 1), ("saved last", 1)]
    with RedisStore(url) as store:
        assert urls(store) == ["saved", "saved last"]
        assert faults(store) == []


def test_confirming_a_page_that_was_forgotten_or_kept_anew_changes_nothing(url: str) -> None:
    with RedisStore(url, tentative=True) as store:
        keep(store, page("forgotten", 0), page("again", 1))
        store.forget("", "forgotten")
        store.confirm("", "forgotten")
        store.confirm("", "again")
        keep(store, page("again", 2))
    with RedisStore(url) as store:
        assert urls(store) == []


def test_a_renewed_page_of_an_earlier_run_is_not_tentative(url: str) -> None:
    with RedisStore(url) as store:
        keep(store, page("a", 0))
    with RedisStore(url, tentative=True) as store:
        store.settle(page("a", 0, seen_at=2_000.0), always(Action.RENEW))
    with RedisStore(url) as store:
        assert urls(store) == ["a"]


@pytest.mark.parametrize("meets", ["a twin of it", "its URL", "its namespace"])
def test_what_a_killed_process_left_unconfirmed_is_forgotten(url: str, meets: str) -> None:
    command = [sys.executable, "-c", DIE, url]
    with (
        RedisStore(url) as early,
        subprocess.Popen(command, stdout=subprocess.PIPE) as dying,
    ):
        assert dying.stdout is not None
        run = bytes.fromhex(dying.stdout.readline().decode())
        keep(early, page("early", FAR))
        assert set(urls(early)) == {"saved", "waiting", "in hand", "early"}
        assert early.settle(page("twin", 0xFF << 40 | 1), unless_near) == "in hand"
        dying.send_signal(signal.SIGKILL)
        dying.wait()
        wait_until(lambda: is_dead(early, run))
        if meets == "a twin of it":
            assert early.settle(page("twin", 0xFF << 40 | 1), unless_near) is None
            assert urls(early) == ["saved", "waiting", "early", "twin"]
        elif meets == "its URL":
            assert (
                early.settle(page("in hand", 0xFF << 40), lambda v: (Action.SKIP, v.same_key()))
                is None
            )
            assert urls(early) == ["saved", "waiting", "early"]
        else:
            with RedisStore(url, tentative=True) as following:
                assert near_content(following, 1) == [("saved", 1)]
                assert urls(following) == ["saved", "early"]
        assert faults(early) == []
