"""Which servers a store on Redis takes, which it refuses, and what it bears."""

from __future__ import annotations

import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
import trustme
from redis import RedisError

from simhash_pipeline.errors import StoreError, StoreLost
from simhash_pipeline.stores.contract import shown_url
from simhash_pipeline.stores.opening import open_store
from simhash_pipeline.stores.redis.redis_store import RedisStore
from tests.stores.buckets import faults
from tests.stores.pages import FAR, keep, near_content, page, unless_near
from tests.stores.servers import (
    RunningCluster,
    RunningSentinel,
    RunningServer,
    free_port,
    server_binary,
    wait_until,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECRET = "a-s3cret"


def started(folder: Path, *options: str, kind: str = "redis 6.2") -> RunningServer:
    return RunningServer(server_binary(kind), folder, *options)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://host:6379/0", "redis://host:6379/0"),
        (f"redis://:{SECRET}@host/0", "redis://***@host/0"),
        (f"rediss://user:{SECRET}@host:1/0", "rediss://***@host:1/0"),
        (f"redis+cluster://user:p@{SECRET}@one:1,two:2", "redis+cluster://***@one:1,two:2"),
        (f"redis://host/0?password={SECRET}&db=1", "redis://host/0?password=***&db=1"),
        (f"redis+sentinel://u:/#{SECRET}@host/name", "redis+sentinel://***@host/name"),
        (f"valkey://user:{SECRET}@host", "valkey://***@host"),
        (f"REDIS://:{SECRET}@host", "REDIS://***@host"),
        (f"redis:/user:{SECRET}@host", "redis:/***@host"),
        (f" redis://user:{SECRET}@host", " redis://***@host"),
        (f"user:{SECRET}@host:6379", "user:***@host:6379"),
        (f"redis//user:{SECRET}@host", "redis//***@host"),
        (f"redis/user:{SECRET}@host", "redis/***@host"),
        (f"redis;//user:{SECRET}@host", "redis;//***@host"),
        (f"redis:user:{SECRET}@host", "redis:***@host"),
        (f"//user:{SECRET}@host", "//***@host"),
        (f"redis://{SECRET}@host", "redis://***@host"),
        (f"redis://user:{SECRET}", "redis://user:***"),
        (f"user:{SECRET}", "user:***"),
        (f"redis://host/0?password=a&{SECRET}", "redis://host/0?password=***"),
        (f"redis://host/0?passwd={SECRET}&{SECRET}&db=1", "redis://host/0?passwd=***&db=1"),
        (f"redis://u:{SECRET}@host?x=a@b", "redis://***@b"),
        ("redis://[::1]:6379/0", "redis://[::1]:6379/0"),
        ("redis+cluster://one:1,two:2/0", "redis+cluster://one:1,two:2/0"),
        ("C:\\seen.sqlite", "C:\\seen.sqlite"),
        ("unix:///tmp/a:b.sock", "unix:///tmp/a:b.sock"),
        ("sqlite:///a:b@c.sqlite", "sqlite:///a:b@c.sqlite"),
        ("files/a:b@c.warc.gz", "files/a:b@c.warc.gz"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_a_server_that_refuses_connections_at_the_start_is_not_waited_for() -> None:
    with pytest.raises(
        StoreError, match=r"store redis://\*\*\*@127\.0\.0\.1:\d+: .*refused"
    ) as told:
        open_store(f"redis://:{SECRET}@127.0.0.1:{free_port()}")
    assert not isinstance(told.value, StoreLost)


@pytest.mark.parametrize(
    "url",
    [f"redis://u:{SECRET}@host:x1", f"redis://h/0?no_such={SECRET}", f"redis://u:{SECRET}@["],
)
def test_a_url_that_is_wrong_is_refused_without_quoting_it(url: str) -> None:
    with pytest.raises(StoreError, match="a part of its URL is wrong") as told:
        open_store(url)
    assert f"{SECRET}@" not in str(told.value)


@pytest.mark.parametrize("kind", ["redis 6.2", "redis cluster"])
def test_a_url_that_asks_for_text_is_refused(
    redis_servers: Callable[[str], RunningServer | RunningCluster], kind: str
) -> None:
    url = redis_servers(kind).url
    with pytest.raises(StoreError, match=r"are bytes; leave decode_responses out of its URL"):
        open_store(f"{url}{'&' if '?' in url else '?'}decode_responses=True")


def test_users_need_the_right_password_and_rights(tmp_path: Path) -> None:
    rights = ("~simhash:*", "+@read", "+@write", "+@scripting", "+@connection", "+info")
    with started(tmp_path, "--requirepass", "admin") as server:
        with server.client(password="admin") as admin:
            for user, allowed in (("crawler", rights), ("reader", ("~*", "+@read", "+info"))):
                admin.execute_command("ACL", "SETUSER", user, "on", f">{SECRET}", *allowed)
        place = f"127.0.0.1:{server.port}"
        with open_store(f"redis://crawler:{SECRET}@{place}") as store:
            keep(store, page("a", 1))
            assert near_content(store, 0) == [("a", 1)]
        for url, said in (
            (f"redis://crawler:not-{SECRET}@{place}", "refuses the user's name or password"),
            (f"redis://{place}", "refuses the user's name or password"),
            (f"redis://reader:{SECRET}@{place}", r"a store needs ~simhash:\*"),
        ):
            with pytest.raises(StoreError, match=said) as told:
                open_store(url)
            assert SECRET not in str(told.value)


def test_a_server_that_evicts_pages_is_refused(tmp_path: Path) -> None:
    with started(tmp_path, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru") as server:
        with pytest.raises(StoreError, match=r"evicts keys .*set maxmemory-policy noeviction"):
            open_store(server.url)
        server.tell("CONFIG", "SET", "maxmemory-policy", "noeviction")
        with open_store(server.url) as store:
            keep(store, page("a", 1))
            server.tell("CONFIG", "SET", "maxmemory", "1")
            with pytest.raises(StoreError, match="memory is full"):
                keep(store, page("b", FAR))
            server.tell("CONFIG", "SET", "maxmemory", "0")
            assert [kept.url for kept in store.pages()] == ["a"]


def test_on_a_full_server_pages_are_read_and_removed(tmp_path: Path) -> None:
    with started(tmp_path, "--maxmemory-policy", "noeviction") as server:
        with open_store(server.url) as store:
            store.stamp({"bits": 64})
            keep(store, page("old", 1), page("same", 1, seen_at=5_000.0), page("new", FAR))
            keep(store, page("elsewhere", 1, namespace="other"))
        server.tell("CONFIG", "SET", "maxmemory", "1")
        with open_store(server.url) as store:
            store.stamp({"bits": 64})
            assert (len(store), faults(store)) == (4, [])
            assert near_content(store, 1) == [("old", 0), ("same", 0)]
            assert store.forget("", "new")
            assert store.expire(2_000.0) == 2
            assert [kept.url for kept in store.pages()] == ["same"]
            assert faults(store) == []
            assert store.clear("") == 1
            assert len(store) == 0


@pytest.mark.parametrize("stamp", [None, {"bits": 64}])
def test_a_server_that_is_emptied_under_a_store_is_noticed(
    redis_servers: Callable[[str], RunningServer], stamp: dict[str, object] | None
) -> None:
    server = redis_servers("redis 6.2")
    with open_store(server.url) as store:
        if stamp:
            store.stamp(stamp)
        keep(store, page("a", 1))
        server.tell("FLUSHALL")
        for name in ("", "other") if stamp else ("",):
            with pytest.raises(StoreError, match="was emptied while it was open"):
                keep(store, page("b", FAR, namespace=name))
        with pytest.raises(StoreError, match="was emptied while it was open"):
            store.insert_many([page("b", FAR)])
        assert server.tell("HLEN", "simhash:{.}pages") == 0


def test_a_store_that_is_stamped_by_another_meanwhile_keeps_no_page_of_none(
    redis_servers: Callable[[str], RunningServer],
) -> None:
    server = redis_servers("redis 6.2")
    with open_store(server.url) as early, open_store(server.url) as other:
        keep(early, page("gone", 1))
        early.forget("", "gone")
        other.stamp({"bits": 64})
        with pytest.raises(
            StoreError, match="was emptied while it was open, or stamped by another"
        ):
            keep(early, page("unstamped", 1))
        keep(other, page("stamped", 1))
        assert near_content(other, 1) == [("stamped", 0)]


def _run_a_long_script(server: RunningServer) -> None:
    with suppress(RedisError), server.client() as client:
        client.execute_command("EVAL", "while true do end", 0)


def test_a_server_that_runs_a_long_script_is_waited_for_also_at_the_start(tmp_path: Path) -> None:
    with (
        started(tmp_path, "--lua-time-limit", "50") as server,
        ThreadPoolExecutor() as threads,
        open_store(f"{server.url}?wait_secs=30") as store,
    ):
        for use in (lambda: keep(store, page("a", 1)), lambda: open_store(server.url).close()):
            script = threads.submit(_run_a_long_script, server)
            time.sleep(0.3)
            waiting = threads.submit(use)
            time.sleep(0.7)
            assert not waiting.done()
            server.tell("SCRIPT", "KILL")
            waiting.result(timeout=20)
            script.result(timeout=20)
        assert near_content(store, 0) == [("a", 1)]


def test_replicas_that_are_gone_for_a_moment_are_waited_for(tmp_path: Path) -> None:
    with (
        started(tmp_path) as server,
        ThreadPoolExecutor() as threads,
        open_store(f"{server.url}?wait_secs=30") as store,
    ):
        server.tell("CONFIG", "SET", "min-replicas-to-write", "1")
        waiting = threads.submit(keep, store, page("a", 1))
        time.sleep(0.7)
        assert not waiting.done()
        server.tell("CONFIG", "SET", "min-replicas-to-write", "0")
        waiting.result(timeout=20)
        assert near_content(store, 0) == [("a", 1)]


def test_a_replica_is_refused(tmp_path: Path) -> None:
    (tmp_path / "replica").mkdir()
    with (
        started(tmp_path) as server,
        started(tmp_path / "replica", "--replicaof", "127.0.0.1", str(server.port)) as replica,
        pytest.raises(StoreError, match="a read-only replica; name its primary"),
    ):
        open_store(replica.url)


def test_a_server_without_an_append_only_file_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with started(tmp_path) as server:
        open_store(server.url).close()
        assert "keeps no append-only file" in caplog.text
        caplog.clear()
        server.tell("CONFIG", "SET", "appendonly", "yes")
        open_store(server.url).close()
        assert caplog.text == ""


def test_another_format_is_refused(redis_servers: Callable[[str], RunningServer]) -> None:
    server = redis_servers("redis 6.2")
    server.tell("HSET", "simhash:store", "format", "99")
    with pytest.raises(StoreError, match=r"has format 99, and this version .* knows format 1"):
        open_store(server.url)


def test_a_unix_socket_and_a_database_of_its_own(
    redis_servers: Callable[[str], RunningServer],
) -> None:
    server = redis_servers("redis 6.2")
    with open_store(f"unix://{server.socket}?db=3") as store, open_store(server.url) as other:
        keep(store, page("a", 1))
        assert (len(store), len(other)) == (1, 0)


@pytest.mark.parametrize("scheme", ["rediss", "rediss+cluster"])
def test_tls_is_verified(tmp_path: Path, scheme: str) -> None:
    authority = trustme.CA()
    ca, key, chain = tmp_path / "ca.pem", tmp_path / "key.pem", tmp_path / "chain.pem"
    authority.cert_pem.write_to_path(ca)
    issued = authority.issue_cert("127.0.0.1", "localhost")
    issued.private_key_pem.write_to_path(key)
    issued.cert_chain_pems[0].write_to_path(chain)
    port = free_port()
    options = ["--tls-port", str(port), "--tls-auth-clients", "no", "--tls-ca-cert-file", str(ca)]
    options += ["--tls-cert-file", str(chain), "--tls-key-file", str(key)]
    if "cluster" in scheme:
        options += ["--cluster-enabled", "yes", "--tls-cluster", "yes"]
    with started(tmp_path, *options, kind="redis") as server:
        if "cluster" in scheme:
            server.tell("CLUSTER", "ADDSLOTSRANGE", 0, 16_383)
            wait_until(lambda: b"cluster_state:ok" in server.tell("CLUSTER", "INFO"))
        url = f"{scheme}://127.0.0.1:{port}"
        with open_store(f"{url}?ssl_ca_certs={ca}") as store:
            keep(store, page("a", 1))
            assert near_content(store, 0) == [("a", 1)]
        with pytest.raises(StoreError, match=r"(?i)certificate.verify.failed"):
            open_store(url)


def test_nothing_acknowledged_is_lost_when_a_server_with_aof_is_killed(tmp_path: Path) -> None:
    with (
        started(tmp_path, "--appendonly", "yes", "--appendfsync", "always") as server,
        RedisStore(server.url, wait_secs=20) as store,
    ):
        acknowledged: list[str] = []
        for number in range(200):
            if number in (50, 120):
                server.kill()
                threading.Timer(0.2, server.start).start()
            keep(store, page(str(number), number * 0x9E37_79B9_7F4A_7C15 % (1 << 64)))
            acknowledged.append(str(number))
        assert [kept.url for kept in store.pages()] == acknowledged
        assert faults(store) == []


def test_scripts_that_the_server_forgot_are_loaded_again(
    redis_servers: Callable[[str], RunningServer],
) -> None:
    server = redis_servers("redis 6.2")
    with open_store(server.url) as store:
        server.tell("SCRIPT", "FLUSH")
        keep(store, page("a", 1))
        assert near_content(store, 0) == [("a", 1)]


def test_a_server_that_is_gone_for_good_is_given_up_and_taken_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with started(tmp_path, "--appendonly", "yes") as server:
        store = RedisStore(server.url, wait_secs=0.3)
        keep(store, page("a", 1))
        server.kill()
        with caplog.at_level(logging.WARNING), pytest.raises(StoreLost, match=r"within 0\.3 sec"):
            keep(store, page("b", FAR))
        assert caplog.text.count("waiting for it") == 1
        with pytest.raises(StoreLost):  # at once: it isn't waited for a second time
            keep(store, page("b", FAR))
        server.start()
        store._server._gone_until = time.monotonic()  # as if some seconds had passed
        keep(store, page("b", FAR))
        assert [kept.url for kept in store.pages()] == ["a", "b"]
        store.close()


def test_slots_move_and_primaries_fail_while_pages_are_judged(tmp_path: Path) -> None:
    with (
        RunningCluster(server_binary("redis 6.2"), tmp_path, replicas=1) as cluster,
        RedisStore(cluster.url, wait_secs=30) as store,
    ):
        values = [number * 0x9E37_79B9_7F4A_7C15 % (1 << 64) for number in range(60)]
        for number, value in enumerate(values[:20]):
            assert store.settle(page(str(number), value), unless_near) is None
        moving = threading.Thread(target=cluster.move_slots, args=(0, 1, 20, 0.5))
        moving.start()
        twins = [store.settle(page("twin", value ^ 1), unless_near) for value in values[:20]]
        assert twins == [str(number) for number in range(20)]
        for number, value in enumerate(values[20:40], 20):
            assert store.settle(page(str(number), value), unless_near) is None
        moving.join()
        cluster.nodes[2].tell("WAIT", 1, 2_000)
        cluster.nodes[2].kill()
        for number, value in enumerate(values[40:], 40):
            assert store.settle(page(str(number), value), unless_near) is None
        assert [store.settle(page("twin", value ^ 1), unless_near) for value in values] == [
            str(number) for number in range(60)
        ]
        assert len(store) == 60


def test_a_sentinel_tells_the_primary_also_after_a_failover(tmp_path: Path) -> None:
    with (
        RunningSentinel(server_binary("redis 6.2"), tmp_path) as sentinel,
        RedisStore(sentinel.url, wait_secs=30) as store,
    ):
        keep(store, page("before", 1))
        sentinel.primary.tell("WAIT", 1, 2_000)
        sentinel.primary.kill()
        keep(store, page("after", FAR))
        assert [kept.url for kept in store.pages()] == ["before", "after"]


def test_a_server_that_says_nothing_is_given_up_after_one_time_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("simhash_pipeline.stores.redis.server.TIMEOUT_SECS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started_at = time.monotonic()
        with pytest.raises(StoreError, match="Timeout reading"):
            RedisStore(f"redis://127.0.0.1:{silent.getsockname()[1]}/0")
    assert time.monotonic() - started_at < 10
