"""Pages that are kept until confirmed, in an SQLite store whose process may die."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from simhash_pipeline.errors import StoreError
from simhash_pipeline.stores.contract import Action
from simhash_pipeline.stores.sqlite.file import Access
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from tests.stores.pages import always, keep, near_content, page
from tests.stores.test_sqlite import no_commit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pages.sqlite"


def urls(store: SqliteStore) -> list[str]:
    return [each.url for each in store.pages()]


def test_a_confirmed_page_stays_and_another_is_forgotten_at_the_end(path: Path) -> None:
    with SqliteStore(path, tentative=True) as store:
        keep(store, page("saved", 0), page("waiting", 1), page("saved last", 2))
        store.confirm("", "saved")
        store.confirm("", "saved last")
        assert near_content(store, 0) == [("saved", 0), ("waiting", 1), ("saved last", 1)]
    with SqliteStore(path) as store:
        assert urls(store) == ["saved", "saved last"]


def test_pages_stay_at_once_in_a_store_that_is_not_tentative(path: Path) -> None:
    with SqliteStore(path) as store:
        keep(store, page("a", 0))
    with SqliteStore(path, tentative=True) as store:
        assert urls(store) == ["a"]


def test_confirming_a_page_that_was_forgotten_or_kept_anew_changes_nothing(path: Path) -> None:
    with SqliteStore(path, tentative=True) as store:
        keep(store, page("forgotten", 0), page("again", 1))
        store.forget("", "forgotten")
        store.confirm("", "forgotten")
        store.confirm("", "again")
        keep(store, page("again", 2))
    with SqliteStore(path) as store:
        assert urls(store) == []


DIE = """
import pathlib, sys, time
from simhash_pipeline.stores.sqlite.sqlite_store import SqliteStore
from simhash_pipeline.stores.contract import Action
from tests.stores.pages import keep, page
store = SqliteStore(pathlib.Path(sys.argv[1]), tentative=True)
keep(store, page("saved", 0), page("waiting", 1))
store.confirm("", "saved")
keep(store, page("in hand", 1 << 40))
print("kept", flush=True)
time.sleep(60)
"""


def test_what_a_killed_process_left_unconfirmed_is_forgotten_by_the_next(
    path: Path,
) -> None:
    with (
        SqliteStore(path) as early,
        subprocess.Popen([sys.executable, "-c", DIE, str(path)], stdout=subprocess.PIPE) as dying,
    ):
        assert dying.stdout is not None
        dying.stdout.readline()
        with SqliteStore(path, tentative=True) as meanwhile:
            near_content(meanwhile, 0)
            assert urls(meanwhile) == ["saved", "waiting", "in hand"]
        dying.send_signal(signal.SIGKILL)
        dying.wait()
        with SqliteStore(path) as onlooker:
            assert urls(onlooker) == ["saved", "waiting", "in hand"]
        with SqliteStore(path, tentative=True) as following:
            assert near_content(following, 1) == [("saved", 1)]
            assert urls(following) == ["saved"]
        assert near_content(early, 1) == [("saved", 1)]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


DIE_WITH_A_LIST = DIE.replace('page("waiting", 1)', 'replace(page("list"), row_keys=b"the  row")')


def test_a_row_of_a_killed_process_is_in_no_page(path: Path) -> None:
    def unconfirmed(store: SqliteStore) -> list[bool]:
        asking = replace(page("asking"), row_keys=b"the  row")
        return store.settle(
            asking,
            lambda view: (
                Action.SKIP,
                [view.is_unconfirmed(each) for each in view.same("row_keys")],
            ),
        )

    script = f"from dataclasses import replace\n{DIE_WITH_A_LIST}"
    with (
        SqliteStore(path, tentative=True) as store,
        subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE
        ) as dying,
    ):
        assert dying.stdout is not None
        dying.stdout.readline()
        assert unconfirmed(store) == [True]
        dying.send_signal(signal.SIGKILL)
        dying.wait()
        assert unconfirmed(store) == []


def test_a_renewed_page_of_an_earlier_run_is_not_tentative(path: Path) -> None:
    with SqliteStore(path) as store:
        keep(store, page("a", 0))
    with SqliteStore(path, tentative=True) as store:
        store.settle(page("a", 0, seen_at=2_000.0), always(Action.RENEW))
    with SqliteStore(path) as store:
        assert urls(store) == ["a"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right of their own there")
def test_pages_of_a_living_process_stay_by_whatever_name_it_opened_the_file(
    path: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere/link.sqlite"
    link.symlink_to(path)
    with SqliteStore(link, tentative=True) as one, SqliteStore(path, tentative=True) as other:
        keep(one, page("a", 0))
        keep(other, page("b", 1))
        assert urls(other) == ["a", "b"]


def test_what_is_rolled_back_is_not_confirmed(path: Path) -> None:
    with SqliteStore(path, tentative=True) as store:
        keep(store, page("a", 0))
        with no_commit(store), pytest.raises(StoreError, match="not authorized"):
            keep(store, page("a", 1))
        keep(store, page("b", 2))  # has the id that was given to the page rolled back
        store.confirm("", "a")
    with SqliteStore(path) as store:
        assert urls(store) == ["a"]


@pytest.mark.parametrize(
    "earlier",
    [lambda store: keep(store, page("a", 0)), lambda store: store.forget("", "a")],
    ids=["keep", "forget"],
)
def test_the_later_of_two_threads_is_confirmed(
    path: Path, monkeypatch: pytest.MonkeyPatch, earlier: Callable[[SqliteStore], object]
) -> None:
    """What is confirmed is the page that is stored, however threads take turns at its URL."""
    with SqliteStore(path, tentative=True) as store:
        keep(store, page("a", 2))
        later = threading.Thread(target=keep, args=(store, page("a", 1)))
        leave = Access.__exit__

        def let_the_other_go_first(access: Access, *error: Any) -> None:
            leave(access, *error)
            if later.ident is None:
                later.start()
                later.join(0.5)

        monkeypatch.setattr(Access, "__exit__", let_the_other_go_first)
        earlier(store)
        later.join()
        store.confirm("", "a")
    with SqliteStore(path) as store:
        assert near_content(store, 1, 0) == [("a", 0)]
