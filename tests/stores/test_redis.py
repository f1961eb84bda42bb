"""What a store on Redis promises beyond the others."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from simhash_pipeline.errors import StoreDamaged
from simhash_pipeline.stores.contract import Action, PageText, StoredPage, View, page_id
from simhash_pipeline.stores.opening import open_store
from simhash_pipeline.stores.redis.redis_store import RedisStore
from simhash_pipeline.urls import address_of
from tests.stores.buckets import faults
from tests.stores.pages import FAR, keep, like_dull, near_content, page, seen, unless_near
from tests.stores.servers import Wire
from tests.stores.test_store import steps
from tests.stores.twins import pairs, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.stores.servers import RunningCluster, RunningServer

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def server(redis_servers: Callable[[str], RunningServer]) -> RunningServer:
    return redis_servers("redis 6.2")


@pytest.fixture(params=["redis 6.2", "redis cluster"])
def either(
    request: pytest.FixtureRequest,
    redis_servers: Callable[[str], RunningServer | RunningCluster],
) -> RunningServer | RunningCluster:
    return redis_servers(request.param)


@pytest.fixture
def store(either: RunningServer | RunningCluster) -> Iterator[RedisStore]:
    with RedisStore(either.url) as opened:
        yield opened


@pytest.mark.parametrize("bits", [32, 64])
def test_every_value_within_the_distance_is_found_and_no_other(
    store: RedisStore, bits: int
) -> None:
    rng = random.Random(bits)
    store.stamp({"bits": bits})
    asked = rng.getrandbits(bits)
    values = {rng.getrandbits(bits) for _ in range(200)}
    for distance in range(10):
        for _ in range(20):
            values.add(asked ^ sum(1 << bit for bit in rng.sample(range(bits), distance)))
    store.insert_many(page(str(value), value) for value in values)
    for distance in range(9):
        brute = {str(value) for value in values if (value ^ asked).bit_count() <= distance}
        assert {url for url, _ in near_content(store, asked, distance)} == brute


@settings(max_examples=40, deadline=None)
@given(steps)
def test_the_store_on_redis_answers_like_one_that_looks_through_all_pages(
    redis_servers: Callable[[str], RunningServer], changes: list[tuple[object, int, int, str]]
) -> None:
    url = redis_servers("redis 6.2").url
    clever = like_dull(lambda: open_store(url), changes)
    assert faults(clever) == []
    clever.close()


@pytest.mark.parametrize(("kills", "tentative"), [(0, False), (6, False), (0, True)])
def test_of_twins_judged_by_eight_processes_at_once_one_is_kept_as_if_one_by_one(
    either: RunningServer | RunningCluster, tmp_path: Path, kills: int, tentative: bool
) -> None:
    number = 500 if kills else 300  # so that there is time for some
    outcome = run(either.url, pairs(number), tmp_path, kills, tentative)
    kept = [outcome.kept_of((f"{pair}a", f"{pair}b")) for pair in range(number)]
    assert (kept.count(1), kept.count(2), kept.count(0)) == (number, 0, 0)
    assert outcome.faults == []
    assert bool(outcome.kills) == bool(kills)
    if not kills:
        assert outcome.is_as_if_one_by_one()


def test_a_chain_of_neighbours_is_judged_as_if_one_by_one(
    either: RunningServer | RunningCluster, tmp_path: Path
) -> None:
    rng = random.Random(5)
    chains = [
        (f"{chain}-{link}", (chain * 0x9E37_79B9_7F4A_7C15 % (1 << 64)) ^ ((1 << 2 * link) - 1))
        for chain in range(40)
        for link in rng.sample(range(8), 8)
    ]
    outcome = run(either.url, chains, tmp_path)
    assert outcome.is_as_if_one_by_one()
    assert outcome.faults == []


def test_two_who_judge_one_url_at_once_do_so_one_after_the_other(store: RedisStore) -> None:
    seen: list[StoredPage | None] = []

    def decide(view: View) -> tuple[Action, None]:
        seen.append(view.same_key())
        if len(seen) == 1:
            keep(store, page("a", 0))
        return (Action.KEEP if seen[-1] is None else Action.RENEW), None

    store.settle(page("a", 1, seen_at=2_000.0), decide)
    assert seen == [None, page("a", 0)]
    assert [(kept.content, kept.seen_at) for kept in store.pages()] == [(0, 2_000.0)]


def test_a_page_whose_twin_was_kept_meanwhile_is_judged_again(
    either: RunningServer | RunningCluster,
) -> None:
    with RedisStore(either.url) as slow, RedisStore(either.url) as other:
        answers: list[str | None] = []

        def decide(view: View) -> tuple[Action, str | None]:
            action, twin = unless_near(view)
            if not answers:
                assert other.settle(page("twin", 1), unless_near) is None
            answers.append(twin)
            return action, twin

        assert slow.settle(page("slow", 0), decide) == "twin"
        assert answers == [None, "twin"]
        assert [kept.url for kept in other.pages()] == ["twin"]
        assert faults(other) == []


def test_a_further_page_of_a_refused_value_is_noticed(store: RedisStore) -> None:
    """A page may be unlike one of the same value, and like another that comes meanwhile."""
    keep(store, page("unlike", 0))
    seen: list[list[str]] = []

    def decide(view: View) -> tuple[Action, None]:
        seen.append([found.url for found, _ in view.near("content", 3)])
        if len(seen) == 1:
            store.insert_many([page("like", 0)])
        return (Action.KEEP if seen[-1] == ["unlike"] else Action.SKIP), None

    store.settle(page("asking", 1), decide)
    assert seen == [["unlike"], ["unlike", "like"]]
    assert [kept.url for kept in store.pages()] == ["unlike", "like"]


def test_a_new_page_and_a_twin_take_two_round_trips(server: RunningServer) -> None:
    with Wire(server) as wire, RedisStore(wire.url, tentative=True) as store:
        store.settle(page("first", 0), unless_near)
        for name, value in (("new", FAR), ("twin", 1)):
            store.confirm("", "first")
            before = wire.requests
            store.settle(page(name, value), unless_near)
            assert wire.requests - before == 2


def test_pages_of_two_namespaces_in_turns_are_stored_in_as_few_round_trips(
    server: RunningServer,
) -> None:
    """As `scrapy simhash copy` meets them that two spiders have stored at once."""
    with Wire(server) as wire, RedisStore(wire.url) as store:
        store.insert_many([page("first", 0, namespace=name) for name in "ab"])
        before = wire.requests
        store.insert_many(page(str(n), n, namespace=name) for n, name in enumerate("ab" * 100))
        asked = wire.requests - before
        assert asked < 20, asked
        assert len(store) == 202


@pytest.mark.parametrize("number", range(6))
def test_a_lost_reply_makes_no_page_its_own_twin_and_stores_none_twice(
    server: RunningServer, number: int
) -> None:
    with Wire(server) as wire, RedisStore(wire.url) as store:
        store.settle(page("first", 0), unless_near)
        store.settle(page("warm", FAR), unless_near)
        answered = wire.requests

        def lossy(view: View) -> tuple[Action, str | None]:
            if wire.requests - answered == number:
                wire.lose = 1
            return unless_near(view)

        wire.lose = number == 0
        assert store.settle(page("new", FAR << 32), lossy) is None
        assert store.settle(page("twin", 1), lossy) == "first"
        assert [kept.url for kept in store.pages()] == ["first", "warm", "new"]
        assert faults(store) == []


def test_structures_take_no_memory_before_they_are_asked_for(server: RunningServer) -> None:
    with RedisStore(server.url) as store:
        keep(store, page("a", 0, 7), page("b", 1, 7), page("c", 2, 6))
        store.insert_many([page("d", 3, 6)])
        assert server.tell("KEYS", "*structure*") == []
        found = [("a", 0), ("b", 0), ("c", 1), ("d", 1)]
        assert seen(store, page("asking", None, 7))["structure"] == found
        keep(store, page("e", 4, 5))
        assert seen(store, page("asking", None, 7))["structure"] == [*found, ("e", 1)]
        assert faults(store) == []


def test_structures_that_a_dead_process_began_to_index_are_found_oldest_first(
    server: RunningServer,
) -> None:
    with RedisStore(server.url) as store:
        keep(store, page("oldest", 0, 7), page("old", 1, 7))
        server.tell("HSET", "simhash:{.}head", "structures", 0)
        keep(store, page("new", 2, 7))
        found = [("oldest", 0), ("old", 0), ("new", 0)]
        assert seen(store, page("asking", None, 7))["structure"] == found
        assert faults(store) == []
        assert store.forget("", "oldest")
        assert seen(store, page("asking", None, 7))["structure"] == found[1:]


def test_a_template_of_many_pages_costs_no_more_than_one_of_few(server: RunningServer) -> None:
    with RedisStore(server.url) as store:
        read = []
        for pages in (20, 2_000):
            store.insert_many(page(f"{pages} {number}", None, 7) for number in range(pages))

            def first(view: View) -> tuple[Action, None]:
                next(view.near("structure", 3))
                return Action.SKIP, None

            store.settle(page("asking", None, 7), first)
            before = server.tell("INFO")["total_net_output_bytes"]
            store.settle(page("asking", None, 7), first)
            read.append(server.tell("INFO")["total_net_output_bytes"] - before)
        assert read[1] < 1.2 * read[0]


@pytest.mark.parametrize("asked_before", [True, False])
def test_a_look_up_on_one_site_reads_no_page_of_others(
    server: RunningServer, asked_before: bool
) -> None:
    """Few copies on other sites, and thousands; structures are indexed before or after."""
    asking = page("asking", 7, 7, digest=b"8 bytes.", site="a.example")

    def look(view: View) -> tuple[Action, None]:
        view.one_site = True
        near = [*view.near("content", 3), *view.near("structure", 3), *view.same("digest")]
        assert near == []
        return Action.SKIP, None

    with RedisStore(server.url) as store:
        read = []
        if asked_before:
            store.settle(asking, look)
        for copies in (20, 2_000):
            urls = (f"{copies} {number}" for number in range(copies))
            store.insert_many(replace(asking, url=url, site=url) for url in urls)
            store.settle(asking, look)
            before = server.tell("INFO")["total_net_output_bytes"]
            store.settle(asking, look)
            read.append(server.tell("INFO")["total_net_output_bytes"] - before)
        assert read[1] < 1.2 * read[0]


def test_urls_and_namespaces_are_never_taken_for_keys_or_scripts(store: RedisStore) -> None:
    names = ["{x}", "a}b{c", "]] redis.call('FLUSHALL')", "\0\r\n", "ü:*?[", "' .. KEYS[1] .. '"]
    for name in names:
        keep(store, page(name, 5, namespace=name))
    assert [(kept.namespace, kept.url) for kept in store.pages()] == [(n, n) for n in names]
    assert all(store.forget(name, name) for name in names)
    assert len(store) == 0


def test_what_no_look_up_finds_is_named(server: RunningServer) -> None:
    with RedisStore(server.url) as store:
        keep(store, page("found", 1), page("lost", 0xABCD_0000))
        assert server.tell("HDEL", "simhash:{.}content:1:ab", b"\xcd") == 1
        assert faults(store) == ["lost of namespace '' can't be found"]


def test_a_forgotten_page_leaves_nothing_behind(server: RunningServer) -> None:
    with RedisStore(server.url) as store:
        store.stamp({})
        store._begin("")
        before = sorted(server.tell("KEYS", "*"))
        keep(store, page("a", 0, 0), page("b", 0, 1), page("thin", digest=b"x" * 8))
        for url in ("a", "b", "thin"):
            assert store.forget("", url)
        assert sorted(server.tell("KEYS", "*")) == before


def test_a_row_is_not_listed_by_site(server: RunningServer) -> None:
    """Its key is of one site already: 8 bytes, then a page's number and id."""
    with RedisStore(server.url) as store:
        pages = (replace(page(url), item_values=b"\0\0", row_keys=b"x" * 8) for url in "abc")
        keep(store, *pages)
        (more,) = (key for key in server.tell("KEYS", "*") if b"row_keys:more" in key)
        listed = server.tell("ZRANGE", more, 0, -1)
        assert [(each[:8], len(each)) for each in listed] == [(b"x" * 8, 8 + 7 + 8)] * 2


def test_clearing_a_namespace_leaves_nothing_of_it_but_its_name(server: RunningServer) -> None:
    with RedisStore(server.url) as store:
        store.stamp({})
        store._begin("")
        before = sorted(server.tell("KEYS", "*"))
        keep(store, page("a", 0, 0), page("b", 0, 0), page("thin", digest=b"x" * 8))
        store.put_repeated_text("", "example.org", b"menu")
        store.keep_texts([PageText("", "a", "", "words", 1)])
        assert store.clear("") == 3
        assert sorted(server.tell("KEYS", "*")) == before


def test_many_texts_take_one_round_trip_and_are_compressed(server: RunningServer) -> None:
    with Wire(server) as wire, RedisStore(wire.url) as store:
        store.keep_texts([PageText("", "first", "", "", 1)])
        before = wire.requests
        store.keep_texts(PageText("", str(n), "A title", "fog " * 5_000, n) for n in range(20))
        assert wire.requests - before == 1
        held = [
            server.tell("MEMORY", "USAGE", key, "SAMPLES", 0) for key in server.tell("KEYS", "*")
        ]
        assert sum(held) < 20 * 1_000


@pytest.mark.parametrize("damage", [lambda _: b"a record", lambda raw: raw[:-1]])
def test_a_record_that_can_not_be_read_stops_who_meets_it(
    server: RunningServer, damage: Callable[[bytes], bytes]
) -> None:
    with RedisStore(server.url) as store:
        keep(store, page("a", 0))
        ((known, raw),) = server.tell("HGETALL", "simhash:{.}pages").items()
        server.tell("HSET", "simhash:{.}pages", known, damage(raw))
        assert len(store.check()) == 1
        with pytest.raises(StoreDamaged, match=r"is damaged \(a page's record of namespace ''"):
            store.settle(page("b", 0), unless_near)
        assert len(store) == 1


def test_a_damaged_record_does_not_expire(server: RunningServer) -> None:
    """`expire` removes all other old pages; a check names one that it can't read."""
    with RedisStore(server.url) as store:
        keep(store, page("a", 0), page("b", 1), page("c", FAR, seen_at=3_000.0))
        known = page_id("a")
        server.tell("HSET", "simhash:{.}pages", known, b"a record")
        assert store.expire(2_000.0) == 1
        assert len(store) == 2
        assert len(store.check()) == 1


@pytest.mark.parametrize("raw", [b"short", b"a text of 24 bytes, no...", b"\0" * 14, bytes(30)])
def test_a_damaged_text_is_reported(server: RunningServer, raw: bytes) -> None:
    """A text that can't be read is StoreDamaged; a check names it, and it can be forgotten."""
    with RedisStore(server.url) as store:
        store.keep_texts([PageText("", name, "", "words", 1.0) for name in ("a", "b")])
        known, _ = server.tell("HKEYS", "simhash:{.}texts")
        server.tell("HSET", "simhash:{.}texts", known, raw)
        for read in (lambda: list(store.texts()), lambda: store.text_of("", "a")):
            with pytest.raises(StoreDamaged, match=r"is damaged \(a page's text of namespace '': "):
                read()
        (fault,) = store.check()
        assert fault.startswith(f"text {known.hex()} of namespace '' can't be read: ")
        store.expire(0.5)
        assert store.text_of("", "b") == PageText("", "b", "", "words", 1.0)
        for name in ("a", "b"):  # one of them has the damaged text
            store.forget("", name)
        assert not store.check()
        assert not list(store.texts())


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (("HSET", "simhash:store", "made_with", b'{"bits'), "stamp: Input data was truncated"),
        (
            ("HSET", "simhash:store", "made_with", b"[7]"),
            "stamp: Expected `object | null`, got `array`",
        ),
        (("HSET", "simhash:store", "made_with", b"\xff\xfe\0"), "stamp: "),
        (("SADD", "simhash:namespaces", b"\xff"), "name of a namespace: "),
        (("HSET", "simhash:{.}repeated_text", b"\xff", b""), "name of a host: "),
    ],
)
def test_damage_outside_of_pages_is_reported(
    server: RunningServer, command: tuple[str | bytes, ...], found: str
) -> None:
    """What is no JSON or no UTF-8 is StoreDamaged, and a check names it."""
    with RedisStore(server.url) as store:
        store.stamp({"bits": 64})
        keep(store, page("a", 0))
        server.tell(*command)
        with pytest.raises(StoreDamaged, match=rf" is damaged \({found}"):
            list(store.all_repeated_text() if store.made_with() else ())
        (fault,) = store.check()
        assert " is damaged (" in fault


def test_a_damaged_visit_is_reported(server: RunningServer) -> None:
    with RedisStore(server.url) as store:
        keep(store, page("a", 0))
        server.tell("HSET", "simhash:{.}visits", b"12345678", b"short")
        (fault,) = store.check()
    assert "is damaged (a visit of namespace '': " in fault


def test_a_damaged_bucket_is_reported(server: RunningServer) -> None:
    with RedisStore(server.url) as store:
        keep(store, page("a", 0))
        for key in server.tell("KEYS", "simhash:{.}content:*"):
            server.tell("HSET", key, b"\0", b"no bucket")
        with pytest.raises(StoreDamaged, match=r"is damaged \(a bucket of content of namespace ''"):
            store.settle(page("b", 0), unless_near)


def test_a_namespace_that_is_missing_in_the_list_comes_back_with_the_next_page(
    server: RunningServer,
) -> None:
    with RedisStore(server.url) as store:
        keep(store, page("a", 0))
    server.tell("DEL", "simhash:namespaces")
    with RedisStore(server.url) as store:
        keep(store, page("b", FAR))
        assert [one.url for one in store.pages()] == ["a", "b"]


@pytest.mark.parametrize("names", [("1", "2"), ("2", "1")])  # either declares the address of 1
def test_of_two_processes_that_keep_one_address_at_once_one_sees_the_other(
    server: RunningServer, names: tuple[str, str]
) -> None:
    address = address_of("https://a.example/1", None)
    first, second = (replace(page(f"https://a.example/{n}"), address=address) for n in names)
    met: list[list[str]] = []
    with RedisStore(server.url) as one, RedisStore(server.url) as other:

        def decide(view: View) -> tuple[Action, None]:
            met.append([each.url for each in view.same("address")])
            if len(met) == 1:
                keep(other, first)
            return (Action.SKIP if met[-1] else Action.KEEP), None

        one.settle(second, decide)
    assert met == [[], [first.url]]


def test_of_many_pages_of_one_url_the_last_alone_is_sent(server: RunningServer) -> None:
    with RedisStore(server.url) as store:
        before = server.tell("INFO")["total_net_input_bytes"]
        assert store.insert_many(page("a", n) for n in range(300)) == 300
        assert server.tell("INFO")["total_net_input_bytes"] - before < 50_000
        assert [one.content for one in store.pages()] == [299]
