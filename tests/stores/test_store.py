"""What every store promises."""

from __future__ import annotations

import re
import threading
import tracemalloc
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_pipeline.errors import StoreError, StoreMismatch
from simhash_pipeline.stores.contract import (
    NEAR_COLUMNS,
    SAME_COLUMNS,
    Action,
    PageText,
    Store,
    StoredPage,
    View,
    Visit,
    visit_key,
)
from simhash_pipeline.stores.opening import StorePlace, open_store, store_place
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from simhash_pipeline.urls import address_of
from tests.stores.buckets import faults
from tests.stores.pages import (
    FAR,
    always,
    full_page,
    keep,
    like_dull,
    near_content,
    page,
    seen,
    unless_near,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_every_column_is_stored_and_found_by(store: Store) -> None:
    """A field of StoredPage needs no other line: here are those that it has."""
    full = full_page()
    keep(store, full)
    assert list(store.pages()) == [full]
    asking = replace(full, url="another")

    def look(view: View) -> tuple[Action, list[StoredPage]]:
        near = [view.near("content", 0), view.near("structure", 0)]
        found = [page for pages in near for page, _ in pages]
        return Action.SKIP, found + [page for column in SAME_COLUMNS for page in view.same(column)]

    assert store.settle(asking, look) == [full] * (len(NEAR_COLUMNS) + len(SAME_COLUMNS))


def test_pages_of_one_site_are_found_among_those_of_many(store: Store) -> None:
    """The oldest of all, later ones, and what takes the place of a page that has gone."""
    asking = page("asking", 7, 7, digest=b"8 bytes.", site="b.example")
    sites = ["a.example"] * 20 + ["b.example", "c.example"] * 10
    for number, site in enumerate(sites):
        keep(store, replace(asking, url=f"http://{site}/{number}", site=site))

    def look(view: View) -> tuple[Action, list[list[str]]]:
        view.one_site = True
        near = [[*view.near("content", 3)], [*view.near("structure", 3)]]
        found = *([one for one, _ in each] for each in near), [*view.same("digest")]
        return Action.SKIP, [[one.url.rpartition("/")[2] for one in each] for each in found]

    assert store.settle(asking, look) == [[str(n) for n in range(20, 40, 2)]] * 3
    for number in (*range(20), 22):
        store.forget("", f"http://{sites[number]}/{number}")
    assert store.settle(asking, look) == [[str(n) for n in (20, *range(24, 40, 2))]] * 3
    store.forget("", "http://b.example/20")
    assert store.settle(asking, look) == [[str(n) for n in range(24, 40, 2)]] * 3
    keep(store, replace(asking, url="http://b.example/99"))
    assert store.settle(asking, look) == [[*map(str, range(24, 40, 2)), "99"]] * 3


def test_repeated_text_is_remembered_by_host(store: Store) -> None:
    assert store.repeated_text("", "a.example") == b""
    store.put_repeated_text("", "a.example", b"first")
    store.put_repeated_text("", "a.example", b"second")
    store.put_repeated_text("other", "a.example", b"third")
    assert store.repeated_text("", "a.example") == b"second"
    assert store.repeated_text("", "b.example") == b""
    assert sorted(store.all_repeated_text()) == [
        ("", "a.example", b"second"),
        ("other", "a.example", b"third"),
    ]
    for host, known in (("a.example", b"second"), ("b.example", b"")):

        def look_up(view: View, host: str = host) -> tuple[Action, bytes]:
            return Action.SKIP, view.repeated_text(host)

        assert store.settle(page("a"), look_up) == known
    store.clear("")
    assert store.repeated_text("", "a.example") == b""
    assert store.repeated_text("other", "a.example") == b"third"


def test_what_dropped_pages_said_is_remembered(store: Store) -> None:
    def visit(url: str, said: bytes, seen_at: float, namespace: str = "") -> Visit:
        return Visit(namespace, visit_key(namespace, url), said, seen_at)

    def last(view: View) -> tuple[Action, Visit | None]:
        return Action.SKIP, view.last_visit()

    again, other, old = (
        visit("a", b"8 bytes.", 5),
        visit("a", b"other...", 6, "other"),
        visit("b", b"old.....", 3),
    )
    store.put_visits([visit("a", b"first...", 4), other, old])
    store.put_visits([again])
    assert sorted(store.visits()) == sorted([again, other, old])
    assert store.settle(page("a"), last) == again
    assert store.settle(page("a", namespace="other"), last) == other
    assert store.settle(page("c"), last) is None
    assert faults(store) == []
    store.expire(4)
    assert sorted(store.visits()) == sorted([again, other])
    store.forget("", "a")
    assert store.settle(page("a"), last) is None
    store.clear("other")
    assert list(store.visits()) == []


def test_a_kept_page_comes_back_as_it_was(store: Store) -> None:
    whole = page("a", 1 << 63, (1 << 64) - 1, sketch=(1 << 128) - 1, seen_at=1_700_000_000.25)
    whole = replace(
        whole,
        article=(1 << 64) - 1,
        sample=bytes(292),
        error_pattern=b"8 bytes.",
        item_values=bytes(22),
        item_text=b"the text",
    )
    whole = replace(whole, item_values=bytes(22))
    thin = page("b", digest=bytes(8), namespace="other")
    keep(store, whole, thin)
    assert list(store.pages()) == [whole, thin]
    assert len(store) == 2


def test_zero_is_a_fingerprint_and_none_is_not(store: Store) -> None:
    keep(store, page("zero", 0, 0), page("none"))
    assert near_content(store, 0) == [("zero", 0)]
    assert seen(store, page("asking")) == {
        "same key": [],
        "content": [],
        "structure": [],
        "digest": [],
    }


def test_neighbours_come_nearest_first_then_oldest(store: Store) -> None:
    keep(
        store,
        page("two bits, old", 0b0011),
        page("one bit, old", 0b0001),
        page("far", 0b1111),
        page("one bit, another value, younger", 0b0100),
        page("one bit, youngest", 0b0001),
        page("same, young", 0b0000),
        page("two bits, young", 0b0011),
    )
    assert near_content(store, 0, 3) == [
        ("same, young", 0),
        ("one bit, old", 1),
        ("one bit, another value, younger", 1),
        ("one bit, youngest", 1),
        ("two bits, old", 2),
        ("two bits, young", 2),
    ]
    assert near_content(store, 0, 0) == [("same, young", 0)]


def test_of_a_crowd_the_nearest_200_are_found(store: Store) -> None:
    rng = Random(1)
    flips = [rng.sample(range(64), rng.randrange(1, 4)) for _ in range(900)]
    values = dict.fromkeys(sum(1 << bit for bit in bits) for bits in flips)
    store.insert_many(page(f"{value:x}", value) for value in values)
    nearest = sorted(values, key=lambda value: (value.bit_count(), value))[:200]
    found = near_content(store, 0)
    assert sorted(found) == sorted((f"{value:x}", value.bit_count()) for value in nearest)
    assert [distance for _, distance in found] == [value.bit_count() for value in nearest]


def test_content_and_structure_are_asked_for_apart(store: Store) -> None:
    keep(store, page("a", 0, FAR), page("b", FAR, 0), page("c", None, 1))
    answer = seen(store, page("asking", 0, 0))
    assert answer["content"] == [("a", 0)]
    assert answer["structure"] == [("b", 0), ("c", 1)]


def test_a_view_reads_no_further_than_it_is_taken_from(store: Store) -> None:
    store.insert_many(page(f"page {number}", None, 7) for number in range(1_000))

    def costs(view: View) -> tuple[Action, tuple[int, int]]:
        tracemalloc.start()
        first = next(view.near("structure", 3))
        of_one = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        everything = list(view.near("structure", 3))
        of_all = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert first == everything[0]
        assert [found.url for found, _ in everything] == [f"page {n}" for n in range(1_000)]
        return Action.SKIP, (of_one, of_all)

    seen(store, page("warm", None, 7))
    bytes_of_one, bytes_of_all = store.settle(page("asking", None, 7), costs)
    assert bytes_of_one < bytes_of_all / 5


def test_what_items_say_may_change_without_the_page(store: Store) -> None:
    kept = replace(page("a", 7), item_values=b"\0\0", item_text=b"8 bytes.")
    keep(store, kept)
    store.put_values("", "a", b"\0\0" + bytes(400), None)
    store.put_values("", "gone", b"\0\0", bytes(8))
    assert list(store.pages()) == [replace(kept, item_values=b"\0\0" + bytes(400))]


def test_a_row_finds_the_pages_that_have_it_oldest_first(store: Store) -> None:
    """Also rows that were added, not those of pages that went or changed, and of no other's."""

    def rowed(url: str, rows: str, namespace: str = "") -> StoredPage:
        keys = "".join(row * 8 for row in rows).encode() or None
        return replace(page(url, namespace=namespace), item_values=b"\0\0", row_keys=keys)

    def found(row: str, url: str = "asking") -> list[str]:
        return store.settle(
            rowed(url, row), lambda view: (Action.SKIP, [one.url for one in view.same("row_keys")])
        )

    keep(store, rowed("c", "xyz"), rowed("b", "y"), rowed("a", ""), rowed("other", "z", "other"))
    store.put_values("", "a", b"\0\0", b"z" * 8 + b"w" * 8)
    store.put_values("", "gone", b"\0\0", b"z" * 8)
    assert [found(row) for row in "xyzwv"] == [["c"], ["c", "b"], ["c", "a"], ["a"], []]
    assert found("z", "c") == ["a"]
    assert found("") == []
    keep(store, rowed("c", "v"))
    store.forget("", "b")
    assert [found(row) for row in "xyzv"] == [[], [], ["a"], ["c"]]
    assert faults(store) == []
    store.expire(2_000.0)
    assert [found(row) for row in "zv"] == [[], []]
    keep(store, rowed("c", "v"))
    assert found("v") == ["c"]
    store.clear("")
    assert found("v") == []


def test_same_form_finds_pages_of_its_namespace_oldest_first(store: Store) -> None:
    def formed(url: str, form: bytes | None, namespace: str = "") -> StoredPage:
        return replace(page(url, namespace=namespace), error_pattern=form)

    def found(asking: StoredPage) -> list[str]:
        return store.settle(
            asking, lambda view: (Action.SKIP, [one.url for one in view.same("error_pattern")])
        )

    one, two = b"one form", b"two form"
    keep(store, formed("c", one), formed("b", two), formed("a", one), formed("d", None))
    keep(store, formed("other", one, "other"))
    assert found(formed("new", one)) == ["c", "a"]
    assert found(formed("c", one)) == ["a"]
    assert found(formed("new", None)) == []
    store.forget("", "c")
    assert found(formed("new", one)) == ["a"]


def test_same_digest_finds_thin_pages_oldest_first(store: Store) -> None:
    keep(store, page("a", digest=b"x" * 8), page("b", digest=b"y" * 8))
    keep(store, page("c", digest=b"x" * 8))
    assert seen(store, page("asking", digest=b"x" * 8))["digest"] == [("a", 0), ("c", 0)]


def test_pages_of_one_address_come_oldest_first(store: Store) -> None:
    address, other = (
        address_of("https://a.example/1", None),
        address_of("https://a.example/2", None),
    )

    def same(url: str, declared: bytes | None) -> list[str]:
        asking = replace(page(url), address=declared)
        return store.settle(
            asking, lambda view: (Action.SKIP, [one.url for one in view.same("address")])
        )

    keep(store, replace(page("https://a.example/early"), address=address))
    keep(store, replace(page("https://a.example/1"), address=address))  # as most pages do
    keep(store, replace(page("https://a.example/2"), address=address))  # and not its own
    keep(store, page("https://a.example/3"))
    keep(store, replace(page("http://www.a.example/1/"), address=address))  # another spelling
    keep(store, replace(page("https://a.example/1", namespace="b"), address=address))
    early, one, two = (f"https://a.example/{name}" for name in ("early", 1, 2))
    spelled = "http://www.a.example/1/"
    assert same("https://a.example/new", address) == [early, one, two, spelled]
    assert same(one, address) == [early, two, spelled]
    assert same(two, other) == []
    assert same("https://a.example/new", other) == []
    assert same("https://a.example/new", None) == []
    assert [each.address for each in store.pages()] == [*[address] * 3, None, *[address] * 2]
    assert store.forget("", one)
    assert same("https://a.example/new", address) == [early, two, spelled]
    keep(store, replace(page(one), address=address))
    assert same("https://a.example/new", address) == [early, two, spelled, one]
    assert faults(store) == []


def test_a_page_is_never_its_own_neighbour(store: Store) -> None:
    itself = page("a", 5, 5, digest=b"x" * 8)
    keep(store, itself)
    assert seen(store, itself) == {
        "same key": [("a", 1_000)],
        "content": [],
        "structure": [],
        "digest": [],
    }


def test_namespaces_do_not_see_each_other(store: Store) -> None:
    keep(store, page("a", 5, 5, digest=b"x" * 8, namespace="one"))
    assert seen(store, page("a", 5, 5, digest=b"x" * 8, namespace="two")) == {
        "same key": [],
        "content": [],
        "structure": [],
        "digest": [],
    }
    keep(store, page("a", 5, namespace="two"))
    assert store.forget("two", "a")
    assert [(kept.namespace, kept.url) for kept in store.pages()] == [("one", "a")]


def test_keeping_a_known_url_replaces_its_page_and_makes_it_the_newest(store: Store) -> None:
    keep(store, page("a", 0), page("b", 0), page("a", 1, seen_at=2_000.0))
    assert near_content(store, 0) == [("b", 0), ("a", 1)]
    assert list(store.pages()) == [page("b", 0), page("a", 1, seen_at=2_000.0)]


def test_renewing_moves_only_the_time_it_was_seen(store: Store) -> None:
    keep(store, page("a", 0), page("b", 0))
    store.settle(page("a", FAR, seen_at=2_000.0), always(Action.RENEW))
    store.settle(page("unknown", 0), always(Action.RENEW))
    assert list(store.pages()) == [replace(page("a", 0), seen_at=2_000.0), page("b", 0)]


def test_forgetting_removes_the_page_of_that_url(store: Store) -> None:
    keep(store, page("a", 0), page("b", 0), page("c", 0))
    store.settle(page("a", 1), always(Action.FORGET))
    assert store.forget("", "c")
    assert not store.forget("", "c")
    assert near_content(store, 0) == [("b", 0)]


def test_leaving_changes_nothing(store: Store) -> None:
    keep(store, page("a", 0))
    store.settle(page("a", 1), always(Action.SKIP))
    store.settle(page("b", 1), always(Action.SKIP))
    assert list(store.pages()) == [page("a", 0)]


def test_expiry_forgets_pages_last_seen_before_a_time(store: Store) -> None:
    keep(store, *(page(str(secs), 0, seen_at=float(secs)) for secs in (100, 200, 300)))
    store.settle(page("100", seen_at=400.0), always(Action.RENEW))
    assert store.expire(300.0) == 1
    assert near_content(store, 0) == [("100", 0), ("300", 0)]
    assert store.expire(300.0) == 0


def test_expiry_of_a_namespace_leaves_the_others(store: Store) -> None:
    keep(store, page("a", 0, seen_at=1.0), page("a", 0, seen_at=1.0, namespace="other"))
    store.keep_texts([text("a", kept_at=1.0), text("a", kept_at=1.0, namespace="other")])
    assert store.expire(2.0, "other") == 1
    assert [kept.namespace for kept in store.pages()] == [""]
    assert [kept.namespace for kept in store.texts()] == [""]
    assert store.expire(2.0, "") == 1


def test_settle_returns_what_was_decided(store: Store) -> None:
    assert store.settle(page("a", 0), unless_near) is None
    assert store.settle(page("b", 1), unless_near) == "a"
    assert len(store) == 1


def test_many_are_stored_at_once_each_in_place_of_its_key(store: Store) -> None:
    keep(store, page("a", 0), page("b", 1))
    many = [page("c", 0b11), page("a", FAR), page("c", 0b111), page("d", namespace="other")]
    assert store.insert_many(many) == 4
    assert list(store.pages()) == [page("b", 1), many[1], many[2], many[3]]
    assert near_content(store, 0) == [("b", 1), ("c", 3)]
    assert store.insert_many([]) == 0


def test_thousands_of_pages_of_one_value_come_oldest_first(store: Store) -> None:
    """More than are read, packed or written at once."""
    assert store.insert_many(page(str(number), 42) for number in range(5_001)) == 5_001
    keep(store, page("0", 43))
    expected = [(str(number), 0) for number in range(1, 5_001)]
    assert near_content(store, 42) == [*expected, ("0", 1)]


def test_the_id_of_a_forgotten_newest_page_is_not_given_again(store: Store) -> None:
    keep(store, page("a", 0), page("b", 1))
    assert store.forget("", "b")
    keep(store, page("c", 2))
    assert near_content(store, 0) == [("a", 0), ("c", 1)]


def test_a_store_in_order_has_nothing_to_complain_of(store: Store) -> None:
    keep(store, page("a", 0), page("b", 0))
    assert faults(store) == []


@pytest.mark.parametrize("error", [KeyError("mine"), KeyboardInterrupt()])
def test_nothing_is_stored_when_deciding_fails(store: Store, error: BaseException) -> None:
    def fail(view: View) -> tuple[Action, None]:
        list(view.near("content", 3))
        raise error

    keep(store, page("a", 0))
    with pytest.raises(type(error)):
        store.settle(page("a", 1), fail)
    assert list(store.pages()) == [page("a", 0)]
    assert store.settle(page("b", FAR), unless_near) is None


def test_a_page_that_can_not_be_stored_leaves_nothing_behind(store: Store) -> None:
    with pytest.raises(ValueError, match="fingerprint of 64 bits"):
        keep(store, replace(page("bad", 1 << 64), site="one.example"))
    keep(store, replace(page("a", 0), site="two.example"))
    keep(store, replace(page("b", FAR), site="one.example"))
    assert [kept.site for kept in store.pages()] == ["two.example", "one.example"]


def test_a_distance_outside_0_to_8_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="from 0 to 8 bits, not 9"):
        near_content(store, 0, 9)


def test_of_near_twins_settled_by_many_threads_one_is_kept(store: Store) -> None:
    start = threading.Barrier(4)

    def settle(bit: int) -> None:
        start.wait()
        for number in range(100):
            value = number * 0x9E37_79B9_7F4A_7C15 % (1 << 64)
            store.settle(page(f"{number} {bit}", value ^ 1 << bit), unless_near)

    threads = [threading.Thread(target=settle, args=(bit,)) for bit in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(kept.url.split()[0]) for kept in store.pages()) == list(range(100))


def test_the_stamp_is_compared_and_every_difference_is_named(store: Store) -> None:
    store.stamp({"bits": 64, "hash": "murmur3", "ngrams": (1, 2)})
    store.stamp({"bits": 64, "hash": "murmur3", "ngrams": (1, 2)})
    with pytest.raises(StoreMismatch) as refusal:
        store.stamp({"bits": 32, "hash": "fnv1a", "ngrams": (1, 2), "top_n": None})
    for difference in ("bits 64 (now 32)", "'murmur3' (now 'fnv1a')", "top_n unset (now None)"):
        assert difference in str(refusal.value)
    assert "ngrams" not in str(refusal.value)


def test_the_stamp_can_be_asked_for(store: Store) -> None:
    assert store.made_with() is None
    store.stamp({"bits": 64, "ngrams": (1, 2)})
    assert store.made_with() in ({"bits": 64, "ngrams": (1, 2)}, {"bits": 64, "ngrams": [1, 2]})


def test_pages_kept_without_a_stamp_are_not_taken_for_stamped_ones(store: Store) -> None:
    keep(store, page("a", 0))
    with pytest.raises(StoreMismatch, match=r"bits unset \(now 64\)"):
        store.stamp({"bits": 64})


def test_a_fingerprint_has_64_bits(store: Store) -> None:
    largest = (1 << 64) - 1
    keep(store, page("a", largest, largest - 1))
    assert near_content(store, largest - 4) == [("a", 1)]
    assert next(iter(store.pages())) == page("a", largest, largest - 1)
    with pytest.raises(ValueError, match="fingerprint of 64 bits"):
        keep(store, page("b", largest + 1))
    assert len(store) == 1


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    for use in (lambda: keep(store, page("a")), lambda: len(store), lambda: store.stamp({})):
        with pytest.raises(StoreError, match="is closed; open"):
            use()


def text(url: str, said: str = "雾 fog", namespace: str = "", kept_at: float = 1_000) -> PageText:
    return PageText(namespace, url, "A title", said, kept_at)


def test_a_text_comes_back_as_it_was_and_a_later_one_takes_its_place(store: Store) -> None:
    store.keep_texts([text("a", "first\nsecond"), text("b"), text("a", namespace="other")])
    assert store.text_of("", "a") == text("a", "first\nsecond")
    assert store.text_of("", "c") is None
    store.keep_texts([text("a", "third", kept_at=1_001.5)])
    assert store.text_of("", "a") == text("a", "third", kept_at=1_001.5)
    assert {(kept.namespace, kept.url) for kept in store.texts()} == {
        ("", "a"),
        ("", "b"),
        ("other", "a"),
    }


def test_a_text_that_utf_8_has_no_bytes_for_is_kept_all_the_same(store: Store) -> None:
    store.keep_texts([PageText("", "a", "half \n \ud83d", "a \ud800 b", 1)])
    kept = store.text_of("", "a")
    assert kept is not None
    assert kept.title.startswith("half ")
    assert kept.text.endswith(" b")


def test_a_text_goes_with_its_page(store: Store) -> None:
    keep(store, page("a", 0), page("b", 1), page("c", 2))
    store.keep_texts([text("a"), text("b"), text("c"), text("dropped")])
    store.forget("", "a")
    store.forget("", "dropped")
    store.settle(page("b", 3), always(Action.FORGET))
    keep(store, page("c", 4))  # in place of what said something else
    assert list(store.texts()) == []


def test_texts_expire_by_their_time_and_are_cleared_by_namespace(store: Store) -> None:
    keep(store, page("a", 0, seen_at=1_000), page("b", 1, seen_at=3_000))
    store.keep_texts([text("a", kept_at=1_000), text("b", kept_at=3_000)])
    store.keep_texts([text("dropped", kept_at=1_500), text("dropped late", kept_at=3_500)])
    assert store.expire(2_000) == 1
    assert sorted(kept.url for kept in store.texts()) == ["b", "dropped late"]
    store.keep_texts([text("b", namespace="other")])
    assert store.clear("") == 1
    assert [(kept.namespace, kept.url) for kept in store.texts()] == [("other", "b")]


def test_many_texts_come_back_each_once(store: Store) -> None:
    store.keep_texts(text(str(number)) for number in range(250))
    assert sorted(int(kept.url) for kept in store.texts()) == list(range(250))


steps = st.lists(
    st.tuples(
        st.sampled_from([*Action, Action.KEEP, Action.KEEP, "forget", "expire", "reopen", "text"]),
        st.integers(0, 5),  # url
        st.integers(0, 9),  # value
        st.sampled_from(["", "other"]),
    ),
    max_size=40,
)


@settings(max_examples=40, deadline=None)
@given(steps)
def test_the_sqlite_store_answers_like_one_that_looks_through_all_pages(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[object, int, int, str]]
) -> None:
    path = tmp_path_factory.mktemp("like") / "pages.sqlite"
    like_dull(lambda: SqliteStore(path), changes).close()


@pytest.mark.parametrize(
    "url", ["", "memory", "redis:localhost", "sqlite://pages", "sqlite:///", "sqlite:///:memory:"]
)
def test_a_url_of_no_store_is_refused_with_the_forms_there_are(url: str) -> None:
    with pytest.raises(StoreError, match=r"memory:, sqlite:///relative/path\.sqlite or sqlite:///"):
        open_store(url)


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        (
            "redis://:sesame@host?lost=it",
            "in redis://***@host?lost=it, lost is 'it'; it must be one of stop, keep",
        ),
        (
            "redis://host?lost",
            "in redis://host?lost, lost is ''; it must be one of stop, keep",
        ),
        (
            "sqlite:///seen.sqlite?lost=keep",
            "a store in a file has no parameters; sqlite:///seen.sqlite?lost=keep has 'lost'",
        ),
        (
            "seen.sqlite?index=disk",
            "a store in a file has no parameters; sqlite:///seen.sqlite?index=disk has 'index'",
        ),
    ],
)
def test_a_wrong_parameter_of_a_stores_url_is_named_with_its_rule(url: str, fault: str) -> None:
    with pytest.raises(StoreError, match=f"^{re.escape(fault)}$"):
        open_store(url)


def test_what_a_url_says_beside_the_place_is_read_and_the_servers_own_options_stay() -> None:
    place = store_place("redis://host/2?wait_secs=5&protocol=3&lost=keep")
    assert place == StorePlace("redis://host/2?protocol=3", wait_secs=5, lost="keep")


def test_three_slashes_name_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    open_store("sqlite:///new/seen 100% #1.sqlite").close()
    assert (tmp_path / "new" / "seen 100% #1.sqlite").is_file()


def test_an_unconfirmed_page_has_neighbours_like_any_other(store: Store) -> None:
    keep(store, page("a", 5))
    store.confirm("", "a")
    store.confirm("", "never stored")
    assert near_content(store, 5) == [("a", 0)]


def test_a_namespace_is_cleared_and_no_other(store: Store) -> None:
    keep(store, page("a", 5), page("b", 6, 7, digest=b"x" * 8), page("a", 5, namespace="other"))
    assert store.clear("") == 2
    assert store.clear("") == 0
    assert [(each.namespace, each.url) for each in store.pages()] == [("other", "a")]
    assert near_content(store, 5) == []
    keep(store, page("a", 4))
    assert near_content(store, 5) == [("a", 1)]


def test_a_page_has_its_url_as_it_first_came(store: Store) -> None:
    """Beside its key: what its item, logs and commands call it."""
    came = "http://a.example/?b=2&a=1\u2028\x00"
    keep(store, replace(page("http://a.example/?a=1&b=2", 0), given_url=came))
    keep(store, page("http://a.example/", 1 << 40))
    assert [each.shown_url for each in store.pages()] == [came, "http://a.example/"]
    found = store.settle(page("x", 0), lambda view: (Action.SKIP, [*view.near("content", 0)]))
    assert [each.shown_url for each, _ in found] == [came]
