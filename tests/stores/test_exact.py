"""A store answers like brute force, whichever process wrote to the file or opened it when."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_pipeline.stores.contract import Action, Store, StoredPage, View
from simhash_pipeline.stores.opening import open_store
from simhash_pipeline.stores.sqlite import rows as sqlite_rows
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from tests.index.test_neighbours import Values, clustered, flipped, repeated, uniform
from tests.stores.buckets import faults
from tests.stores.pages import always, near_content, page, seen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WIDTHS = [32, 64]  # of values; the preset java32 makes narrow ones


@pytest.fixture(scope="module")
def small_loads() -> Iterator[None]:
    """The values of four ids are packed together, and those of many pages loaded at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite_rows, "CHUNK", 4)
        patch.setattr(sqlite_rows, "FEW_PAGES", 20)
        yield


def brute_force(
    pages: list[StoredPage], asking: StoredPage, max_distance_bits: int
) -> list[tuple[str, int]]:
    """Of pages from oldest to newest."""
    if asking.content is None:
        return []
    near = [
        (other.url, (other.content ^ asking.content).bit_count())
        for other in pages
        if other.content is not None
        and other.namespace == asking.namespace
        and other.url != asking.url
    ]
    return sorted((pair for pair in near if pair[1] <= max_distance_bits), key=lambda pair: pair[1])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("values_of", [uniform, clustered, repeated])
def test_every_distance_answers_like_brute_force_before_and_after_reopening(
    width: int,
    values_of: Values,
    tmp_path: Path,
    small_loads: None,
) -> None:
    rng = random.Random(width)
    url = f"sqlite:///{tmp_path}/pages.sqlite"
    values = rng.sample(values_of(width, rng), 300)
    pages = [page(str(number), value) for number, value in enumerate(values)]

    def compare(store: Store) -> None:
        for k in range(9):
            for value in rng.sample(values, 3):
                for bits in (k, k + 1):
                    asked = flipped(value, width, bits, rng)
                    expected = brute_force(pages, page("asking", asked), k)
                    assert near_content(store, asked, k) == expected

    with open_store(url) as store:
        store.stamp({"bits": width})
        store.insert_many(pages)
        compare(store)
        for number in range(0, 300, 3):  # every third is replaced, every ninth removed
            moved = page(str(number), flipped(values[number], width, 2, rng))
            store.settle(moved, always(Action.KEEP))
            pages = [other for other in pages if other.url != moved.url] + [moved]
            if number % 9 == 0:
                store.forget("", moved.url)
                pages.pop()
        compare(store)
    with open_store(url) as store:
        compare(store)


steps = st.lists(
    st.tuples(
        st.integers(0, 2),  # which connection
        st.sampled_from(
            [*Action, *[Action.KEEP] * 4, "forget", "expire", "clear", "many", "fail", "reopen"]
        ),
        st.integers(0, 6),  # URL
        st.integers(0, 7),  # value
        st.sampled_from(["", "", "other"]),
    ),
    max_size=50,
)


@settings(deadline=None)
@given(width=st.sampled_from(WIDTHS), changes=steps)
def test_connections_opened_at_different_times_see_exactly_what_is_stored(
    width: int,
    changes: list[tuple[int, Action | str, int, int, str]],
    tmp_path_factory: pytest.TempPathFactory,
    small_loads: None,
) -> None:
    path = tmp_path_factory.mktemp("exact") / "pages.sqlite"
    pool = [None, 0, 1, 3, (1 << width) - 1, 1 << width - 1, 0x0101_0101, 0x0101_0100]
    stores = [SqliteStore(path)]  # the others are opened when first used
    stores[0].stamp({"bits": width})
    model: dict[tuple[str, str], StoredPage] = {}  # oldest first
    for now, (which, change, url, value, namespace) in enumerate(changes):
        while len(stores) <= which:
            stores.append(SqliteStore(path))
        asking = page(str(url), pool[value], value // 2, namespace=namespace, seen_at=float(now))
        if change == "reopen":
            stores[which].close()
            stores[which] = SqliteStore(path)
        else:
            change_both(stores[which], model, change, asking)
        near = brute_force(list(model.values()), asking, value)
        same = model.get((namespace, str(url)))
        for store in stores[: which + 1]:
            told = seen(store, asking, value)
            assert told["content"] == near
            assert told["same key"] == ([] if same is None else [(same.url, int(same.seen_at))])
    for store in stores:
        assert list(store.pages()) == list(model.values())
        assert faults(store) == []
        store.close()


def change_both(
    store: Store,
    model: dict[tuple[str, str], StoredPage],
    change: Action | str,
    asking: StoredPage,
) -> None:
    key = (asking.namespace, asking.url)
    if isinstance(change, Action):
        store.settle(asking, always(change))
    elif change == "many":
        store.insert_many([asking, replace(asking, url="7"), replace(asking, url="8"), asking])
    elif change == "expire":
        old = [key for key, stored in model.items() if stored.seen_at < asking.seen_at - 9]
        assert store.expire(asking.seen_at - 9) == len(old)
        for each in old:
            del model[each]
    elif change == "clear":
        gone = [key for key in model if key[0] == asking.namespace]
        assert store.clear(asking.namespace) == len(gone)
        for each in gone:
            del model[each]
    elif change == "forget":
        assert store.forget(*key) is (model.pop(key, None) is not None)
    elif change == "fail":
        with pytest.raises(ZeroDivisionError):
            store.settle(asking, fail)
    if change is Action.RENEW and key in model:
        model[key] = replace(model[key], seen_at=asking.seen_at)
    if change in (Action.KEEP, Action.FORGET):
        model.pop(key, None)
    if change is Action.KEEP:
        model[key] = asking
    if change == "many":
        for kept in (replace(asking, url="7"), replace(asking, url="8"), asking):
            model.pop((kept.namespace, kept.url), None)
            model[kept.namespace, kept.url] = kept


def fail(view: View) -> tuple[Action, None]:
    list(view.near("structure", 8))
    raise ZeroDivisionError


def test_a_store_that_is_emptied_goes_on(tmp_path: Path, small_loads: None) -> None:
    path = tmp_path / "pages.sqlite"
    with SqliteStore(path) as store:
        for forget_all in (lambda: store.clear(""), lambda: store.expire(2_000.0)):
            store.insert_many(page(str(number), number) for number in range(10))
            assert forget_all() == 10
            assert list(store.pages()) == []
            assert near_content(store, 1) == []
        store.insert_many([page("new", 1)])
    with SqliteStore(path) as store:
        assert near_content(store, 0) == [("new", 1)]
